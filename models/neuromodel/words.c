// SPDX-License-Identifier: MIT
#include "words.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/isa/isa.h"
#include "core/nn/progress.h"

_Static_assert((int)GROUP_ARITH == DISPATCH_ARITHMETIC && (int)GROUP_LOGIC == DISPATCH_LOGICAL &&
                   (int)GROUP_LDST == DISPATCH_LOAD_STORE && (int)GROUP_BRANCH == DISPATCH_BRANCH &&
                   (int)GROUP_MULDIV == DISPATCH_MULTIPLY && (int)GROUP_SHIFT == DISPATCH_SHIFT &&
                   (int)GROUP_SYSTEM == DISPATCH_SYSTEM,
               "the kernels are the groups of the instruction tables");

enum { LOW_BITS = 21, BUCKETS_IN_TOP_BYTE = 8 };

// ---- which bits of a word its decoding can depend on ----

// Fields that no finishing step looks at: register numbers (of which every value is allocated).
static bool is_register(const char *name, size_t length)
{
    static const char *const names[] = {"Rd",   "Rd_sp", "Rt", "Rts", "Rn", "Rn_sp", "Rm",  "Ra", "Rt2",
                                        "Rt2s", "Rs",    "Vd", "Vt",  "Vn", "Vm",    "Vt2", "Va"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    return false;
}

// Finishing steps that compute operands and refuse nothing.
static bool never_refuses(const char *step, size_t length)
{
    static const char *const names[] = {"wide", "imm12", "adr", "adrp", "link", "link_imm", "literal", "bit"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], step, length) == 0)
            return true;
    return false;
}

static unsigned field_width(const char *name, size_t length)
{
    static const struct {
        const char *name;
        unsigned width;
    } fields[] = {
#define FIELD(name, width, place) {#name, width},
#include "core/isa/fields.def"
#undef FIELD
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
            return fields[i].width;
    return 0;
}

struct pattern_bits {
    uint32_t mask, match; // literal bits
    uint32_t relevant; // of those and all others, what may decide whether the pattern fits
};

// The pattern's grammar is that of core/isa/decode.c.
static struct pattern_bits pattern_bits(const char *pattern)
{
    struct pattern_bits bits = {0, 0, 0};
    uint32_t fields = 0, excluding = 0;
    bool refuses = false;
    unsigned bit = 32;
    for (const char *p = pattern; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (bit == 0) {
            refuses |= !never_refuses(p, length);
        } else if (strspn(p, "01x") == length) {
            for (size_t i = 0; i < length; i++) {
                bit--;
                if (p[i] == 'x')
                    continue;
                bits.mask |= 1u << bit;
                bits.match |= (uint32_t)(p[i] - '0') << bit;
            }
        } else {
            size_t name = strcspn(p, " :!*");
            unsigned width =
                p[name] == ':' ? (unsigned)strtoul(p + name + 1, NULL, 10) : field_width(p, name);
            bit -= width;
            assert(bit < 32);
            uint32_t place = (width == 32 ? ~0u : (1u << width) - 1) << bit;
            if (memchr(p, '!', length))
                excluding |= place;
            if (!is_register(p, name))
                fields |= place;
        }
        p += length;
    }
    bits.relevant = bits.mask | excluding | (refuses ? fields : 0);
    return bits;
}

uint32_t words_relevant_bits(uint32_t bucket)
{
    uint32_t high = ~0u << LOW_BITS, relevant = 0;
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        struct pattern_bits bits = pattern_bits(isa_texts[id].pattern);
        if ((bucket << LOW_BITS & bits.mask & high) == (bits.match & high))
            relevant |= bits.relevant;
    }
    return relevant & ~high;
}

static uint32_t feature_bits(void)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < DISPATCH_FEATURES; i++)
        bits |= ((1u << dispatch_features[i].width) - 1) << dispatch_features[i].lsb;
    return bits & ~(~0u << LOW_BITS);
}

// ---- counting ----

struct shared {
    struct word_census *census;
    enum words_method method;
    atomic_uint next_top_byte;
    atomic_bool interrupted;
    pthread_mutex_t lock; // of census and progress
    struct progress progress;
    bool reports;
    uint64_t done;
};

// Words whose bits 20..0 lie within mask; each stands for all words that agree with it there.
static void count_bucket(struct word_census *c, uint32_t bucket, uint32_t mask)
{
    uint32_t stands_for = 1u << (LOW_BITS - __builtin_popcount(mask)), low = 0;
    op ignored;
    do {
        uint32_t word = bucket << LOW_BITS | low;
        enum insn id = isa_decode(word, 0, &ignored);
        if (id != INSN_UNDEFINED) {
            c->count[dispatch_vector(word)][isa_info[id].group] += stands_for;
            c->by_kernel[isa_info[id].group] += stands_for;
            c->allocated += stands_for;
        }
        c->words += stands_for;
        c->decoded++;
        low = (low - mask) & mask;
    } while (low != 0);
}

// Takes one top byte after the other; no two threads share a vector.
static void *count_some(void *argument)
{
    struct shared *s = argument;
    struct word_census own = {.count = s->census->count};
    uint32_t features = feature_bits(), top;
    while ((top = atomic_fetch_add(&s->next_top_byte, 1)) < 256) {
        if (interrupt_noted()) {
            atomic_store(&s->interrupted, true);
            break;
        }
        for (uint32_t b = top * BUCKETS_IN_TOP_BYTE; b < (top + 1) * BUCKETS_IN_TOP_BYTE; b++)
            count_bucket(&own, b,
                         s->method == WORDS_EVERY ? ~(~0u << LOW_BITS) : words_relevant_bits(b) | features);
        pthread_mutex_lock(&s->lock);
        s->done += 1u << 24;
        if (s->reports)
            progress_update(&s->progress, s->done, NULL);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_lock(&s->lock);
    struct word_census *all = s->census;
    all->words += own.words;
    all->decoded += own.decoded;
    all->allocated += own.allocated;
    for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
        all->by_kernel[k] += own.by_kernel[k];
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool words_count(struct word_census *census, enum words_method method, unsigned threads, FILE *report,
                 struct error *error)
{
    enum { MOST_THREADS = 64 };
    double start = clock_seconds();
    memset(census, 0, sizeof *census);
    census->count = calloc(DISPATCH_VECTORS, sizeof census->count[0]);
    if (!census->count)
        return error_set(error, "no memory to count the instruction words");
    struct shared shared = {
        .census = census, .method = method, .lock = PTHREAD_MUTEX_INITIALIZER, .reports = report != NULL};
    if (report)
        progress_begin(&shared.progress, report, "decoding", "words", 1ull << 32, 0);
    pthread_t thread[MOST_THREADS];
    unsigned started = 0;
    while (started + 1 < threads && started < MOST_THREADS &&
           pthread_create(&thread[started], NULL, count_some, &shared) == 0)
        started++;
    count_some(&shared);
    while (started > 0)
        pthread_join(thread[--started], NULL);
    if (report)
        progress_end(&shared.progress);
    census->seconds = clock_seconds() - start;
    if (atomic_load(&shared.interrupted)) {
        words_free(census);
        return error_set(error, "interrupted");
    }
    return true;
}

void words_free(struct word_census *census)
{
    free(census->count);
    census->count = NULL;
}

bool words_conflict(const struct word_census *census, uint32_t *vector)
{
    for (uint32_t v = 0; v < DISPATCH_VECTORS; v++) {
        unsigned kernels = 0;
        for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
            kernels += census->count[v][k] != 0;
        if (kernels > 1) {
            *vector = v;
            return true;
        }
    }
    return false;
}

unsigned words_threads(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}
