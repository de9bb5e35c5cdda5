// SPDX-License-Identifier: MIT
#include "dispatch_modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/state/memory.h"
#include "dispatch_model.h"

_Static_assert((int)GROUP_ARITH == DISPATCH_ARITHMETIC && (int)GROUP_LOGIC == DISPATCH_LOGICAL &&
                   (int)GROUP_LDST == DISPATCH_LOAD_STORE && (int)GROUP_BRANCH == DISPATCH_BRANCH &&
                   (int)GROUP_MULDIV == DISPATCH_MULTIPLY && (int)GROUP_SHIFT == DISPATCH_SHIFT &&
                   (int)GROUP_SYSTEM == DISPATCH_SYSTEM,
               "the kernels are the groups of the instruction tables");

enum { PAGE_WORDS = GUEST_PAGE / 4 };

// What is known of a page of code.
enum page_state { PAGE_UNKNOWN, PAGE_TRUSTED, PAGE_MISNAMED };

// Open addressing over 32-bit keys; key 0 is an empty place. (Word 0 is no instruction, and nothing is ever
// mapped at address 0.)
struct table {
    uint32_t *keys, *values;
    size_t room, used; // room: a power of two, more than twice used
};

struct dispatch {
    struct dispatch_net net;
    uint64_t identity; // of the net
    enum machine_dispatch mode;
    struct table named; // by 1 + vector: 1 + the kernel that the net names, 0 if it is being asked
    struct table words; // distinct words decoded, and their groups
    struct table handlers; // by pc, of ops whose own handler counts
    uint8_t *pages; // enum page_state of each guest page
    struct dispatch_counts counts;
};

// ---- tables ----

static size_t place_of(const struct table *t, uint32_t key)
{
    size_t place = key * 0x9e3779b1u >> 7 & (t->room - 1);
    while (t->keys[place] != 0 && t->keys[place] != key)
        place = (place + 1) & (t->room - 1);
    return place;
}

static void no_memory(void)
{
    fputs("neurodoom: no memory for the dispatch net's counters\n", stderr);
    abort();
}

static void grow(struct table *t)
{
    struct table bigger = {.room = t->room ? 2 * t->room : 4096, .used = t->used};
    bigger.keys = calloc(bigger.room, sizeof bigger.keys[0]);
    bigger.values = calloc(bigger.room, sizeof bigger.values[0]);
    if (!bigger.keys || !bigger.values)
        no_memory();
    for (size_t i = 0; i < t->room; i++) {
        if (t->keys[i] == 0)
            continue;
        size_t place = place_of(&bigger, t->keys[i]);
        bigger.keys[place] = t->keys[i];
        bigger.values[place] = t->values[i];
    }
    free(t->keys);
    free(t->values);
    *t = bigger;
}

// The value of key, 0 if that is new.
static uint32_t *find_or_add(struct table *t, uint32_t key, bool *is_new)
{
    if (2 * (t->used + 1) > t->room)
        grow(t);
    size_t place = place_of(t, key);
    *is_new = t->keys[place] == 0;
    t->used += *is_new;
    t->keys[place] = key;
    return &t->values[place];
}

static void clear(struct table *t)
{
    free(t->keys);
    free(t->values);
    *t = (struct table){0};
}

// ---- life ----

struct dispatch *dispatch_create(const char *base, struct error *error)
{
    struct dispatch *d = calloc(1, sizeof *d);
    if (d) {
        d->pages = calloc(GUEST_SPACE / GUEST_PAGE, 1);
    }
    if (!d || !d->pages) {
        error_set(error, "no memory for the dispatch net");
    } else if (dispatch_load(base, &d->net, error)) {
        d->identity = XXH3_64bits(&d->net, sizeof d->net);
        return d;
    }
    dispatch_destroy(d);
    return NULL;
}

void dispatch_destroy(struct dispatch *d)
{
    if (!d)
        return;
    clear(&d->words);
    clear(&d->handlers);
    clear(&d->named);
    free(d->pages);
    free(d);
}

void dispatch_set_mode(struct dispatch *d, enum machine_dispatch mode)
{
    d->mode = mode;
    clear(&d->handlers);
}

enum machine_dispatch dispatch_mode(const struct dispatch *d)
{
    return d ? d->mode : MACHINE_DISPATCH_OFF;
}

uint64_t dispatch_identity(const struct dispatch *d)
{
    return dispatch_mode(d) == MACHINE_DISPATCH_OFF ? 0 : d->identity;
}

// ---- asking the net ----

static void ask(struct dispatch *d, const uint32_t *vectors, size_t count)
{
    uint8_t kernels[PAGE_WORDS];
    bool is_new;
    dispatch_predict_vectors(&d->net, vectors, count, kernels, NULL);
    for (size_t i = 0; i < count; i++)
        *find_or_add(&d->named, 1 + vectors[i], &is_new) = 1u + kernels[i];
}

// About all words of a page at once.
static void ask_page(struct dispatch *d, const uint32_t *words)
{
    uint32_t vectors[PAGE_WORDS];
    size_t unasked = 0;
    for (size_t i = 0; i < PAGE_WORDS; i++) {
        uint32_t vector = dispatch_vector(words[i]);
        bool is_new;
        find_or_add(&d->named, 1 + vector, &is_new);
        if (is_new)
            vectors[unasked++] = vector;
    }
    ask(d, vectors, unasked);
}

static enum insn_group named_kernel(struct dispatch *d, uint32_t word)
{
    uint32_t vector = dispatch_vector(word);
    bool is_new;
    uint32_t named = *find_or_add(&d->named, 1 + vector, &is_new);
    if (is_new) {
        ask(d, &vector, 1);
        named = *find_or_add(&d->named, 1 + vector, &is_new);
    }
    return (enum insn_group)(named - 1);
}

bool dispatch_trusts_page(struct dispatch *d, uint64_t pc, const uint32_t *words)
{
    if (dispatch_mode(d) == MACHINE_DISPATCH_OFF)
        return true;
    uint8_t *state = &d->pages[pc / GUEST_PAGE];
    if (*state == PAGE_UNKNOWN) {
        op ignored;
        ask_page(d, words);
        *state = PAGE_TRUSTED;
        for (size_t i = 0; i < PAGE_WORDS; i++) {
            enum insn id = isa_decode(words[i], 0, &ignored);
            if (id != INSN_UNDEFINED && isa_info[id].group != named_kernel(d, words[i]))
                *state = PAGE_MISNAMED;
        }
    }
    return *state == PAGE_TRUSTED;
}

void dispatch_forget(struct dispatch *d, uint64_t address, uint64_t length)
{
    if (d && length)
        memset(d->pages + address / GUEST_PAGE, PAGE_UNKNOWN,
               (address + length - 1) / GUEST_PAGE - address / GUEST_PAGE + 1);
}

// ---- decoding ----

static void count_word(struct dispatch *d, uint32_t word, enum insn_group group, bool misnamed)
{
    bool is_new;
    uint32_t *value = find_or_add(&d->words, word, &is_new);
    if (!is_new)
        return;
    *value = group;
    d->counts.words++;
    d->counts.words_wrong += misnamed;
}

enum insn dispatch_decode(struct dispatch *d, uint32_t word, uint32_t pc, op *out,
                          enum dispatch_verdict *verdict)
{
    *verdict = DISPATCH_FINE;
    if (!d || d->mode == MACHINE_DISPATCH_OFF)
        return isa_decode(word, pc, out);
    enum insn_group named = named_kernel(d, word);
    enum insn id = d->mode == MACHINE_DISPATCH_PURE ? isa_decode_in(named, word, pc, out) : INSN_UNDEFINED;
    if (id == INSN_UNDEFINED) {
        id = isa_decode(word, pc, out);
        if (id == INSN_UNDEFINED)
            return id;
        if (d->mode == MACHINE_DISPATCH_PURE)
            *verdict = DISPATCH_FAULT;
        else if (isa_info[id].group != named)
            *verdict = DISPATCH_MISNAMED;
    }
    count_word(d, word, isa_info[id].group, *verdict != DISPATCH_FINE);
    return *verdict == DISPATCH_FAULT ? INSN_UNDEFINED : id;
}

void dispatch_remember(struct dispatch *d, uint64_t pc, uint32_t handler)
{
    bool is_new;
    *find_or_add(&d->handlers, (uint32_t)pc, &is_new) = handler;
}

uint32_t dispatch_recall(const struct dispatch *d, uint64_t pc)
{
    return d->handlers.values[place_of(&d->handlers, (uint32_t)pc)];
}

// ---- counting ----

void dispatch_executed_wrong(struct dispatch *d)
{
    d->counts.wrong++;
}

void dispatch_live(struct dispatch *d, uint32_t word)
{
    uint8_t named;
    dispatch_predict(&d->net, &word, 1, &named);
    d->counts.wrong += named != d->words.values[place_of(&d->words, word)];
}

void dispatch_get_counts(const struct dispatch *d, struct dispatch_counts *counts)
{
    *counts = d->counts;
}

void dispatch_describe_fault(struct dispatch *d, uint32_t word, char *text, size_t size)
{
    op ignored;
    enum insn id = isa_decode(word, 0, &ignored);
    snprintf(
        text, size,
        "the dispatch net gave the instruction 0x%08x to the kernel %s, which refused it: it belongs to %s",
        word, dispatch_kernel_names[named_kernel(d, word)], dispatch_kernel_names[isa_info[id].group]);
}
