// SPDX-License-Identifier: MIT
#include "optimizer_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/forks.h"
#include "core/devices/devices.h"
#include "core/loops/expr/semantics.h"
#include "core/loops/propose/online_log.h"
#include "core/loops/prove/prove.h"
#include "trace.h"

enum { BATCH = 64 };

// Loops that are gone round fewer times than this are not worth a guard, if the net is right: log2.
#define WORTH_TRIPS 1.0f

// ---- the table ----

static unsigned index_of(uint32_t header)
{
    return (header / 4 * 2654435761u) >> 19 & (INDEX_SIZE - 1);
}

struct loop *loops_find(const struct loops *l, uint32_t header)
{
    for (unsigned i = index_of(header);; i = (i + 1) & (INDEX_SIZE - 1)) {
        uint16_t number = atomic_load_explicit(&l->index[i], memory_order_acquire);
        if (number == 0)
            return NULL;
        if (l->loops[number - 1].header == header)
            return &l->loops[number - 1];
    }
}

// Under the lock. NULL if the table is full.
static struct loop *add_loop(struct loops *l, uint32_t header, uint32_t branch)
{
    uint32_t count = atomic_load(&l->count);
    if (count == LOOPS_MAX)
        return NULL;
    struct loop *loop = &l->loops[count];
    loop->header = header;
    loop->branch = branch;
    unsigned i = index_of(header);
    while (atomic_load(&l->index[i]))
        i = (i + 1) & (INDEX_SIZE - 1);
    atomic_store_explicit(&l->index[i], (uint16_t)(count + 1), memory_order_release);
    atomic_store(&l->count, count + 1);
    return loop;
}

// The end of the code from header to branch, as much as the nets look at.
static void place_body(struct loop *loop)
{
    uint32_t length = (loop->branch - loop->header) / 4 + 1;
    uint32_t cut = length > LOOP_BODY_MAX ? length - LOOP_BODY_MAX : 0;
    loop->body.pc = loop->header + cut * 4;
    loop->body.length = length - cut;
}

static void take_body(struct loop *loop, const uint32_t *words)
{
    place_body(loop);
    memcpy(loop->body.words, words + (loop->body.pc - loop->header) / 4, loop->body.length * sizeof *words);
}

// From memory. What a file no longer holds, since it was decoded, are zeroes: no loop.
static void read_body(struct loops *l, struct loop *loop)
{
    place_body(loop);
    uint32_t size = loop->body.length * (uint32_t)sizeof *loop->body.words;
    if (!memory_read(&l->guest->memory, loop->body.pc, loop->body.words, size))
        memset(loop->body.words, 0, size);
}

// ---- verdicts ----

static void log_refused(struct loops *l)
{
    struct error why;
    if (proposals_refused(l->proposals, &why))
        guest_log(l->guest, "%s", why.text);
}

// Has the nets guess what these loops are, as far as that is not known. False if they cannot be had.
static bool guess(struct loops *l, struct loop *const *loops, unsigned count)
{
    struct loop_body bodies[BATCH];
    struct error error;
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        if (!proposals_find(l->proposals, &loops[i]->body))
            bodies[n++] = loops[i]->body;
    bool asked = !n || proposals_ask(l->proposals, bodies, n, &error);
    log_refused(l);
    if (!asked) {
        if (error.text[0])
            guest_log(l->guest, "no loop is replaced: %s", error.text);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct loop_guess *found = proposals_find(l->proposals, &loops[i]->body);
        if (!found)
            return false; // there are too many
        loops[i]->guess = *found;
    }
    return true;
}

// Proves the proposal, or says why not.
static void judge(struct loop *loop)
{
    loop->verdict = MACHINE_LOOP_REJECTED;
    loop->proposed = loop->guess.class < LOOP_OTHER;
    loop->reason = "";
    loop->found = LOOP_NONE;
    if (!loop->proposed)
        return;
    // Of those that only the data end, the engines find out whether they are worth it.
    if (loop->entered && loop->guess.type != LOOP_TYPE_DATA && loop->guess.predicted_trips < WORTH_TRIPS) {
        loop->reason = "too few iterations are expected";
        return;
    }
    if (loop->body.pc != loop->header) {
        loop->reason = "more instructions than a summary holds";
        return;
    }
    struct loop_summary *s = malloc(sizeof *s);
    if (s && loop_summarize(s, loop->header, loop->body.words, loop->body.length, &loop->reason)) {
        loop->found = prove_class(s);
        loop->plan = prove_plan(s, loop->guess.class, &loop->reason);
    }
    if (!loop->plan) {
        free(s);
        return;
    }
    loop->summary = s;
    loop->reason = "";
    loop->verdict = MACHINE_LOOP_PROVED;
}

// Under `examining`.
static void examine(struct loops *l, struct loop *const *loops, unsigned count)
{
    if (!guess(l, loops, count))
        return;
    for (unsigned i = 0; i < count; i++) {
        judge(loops[i]);
        atomic_store_explicit(&loops[i]->state, LOOP_EXAMINED, memory_order_release);
    }
    atomic_store_explicit(&l->has_examined, true, memory_order_release);
}

static void *examine_thread(void *user)
{
    struct loops *l = user;
    guest_refuse_signals();
    pthread_mutex_lock(&l->lock);
    while (!l->quit) {
        struct loop *batch[BATCH];
        unsigned count = 0;
        while (l->queue_head != l->queue_tail && count < BATCH)
            batch[count++] = l->queue[l->queue_head++ % LOOPS_MAX];
        if (count == 0) {
            pthread_cond_wait(&l->wake, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        pthread_mutex_lock(&l->examining);
        unsigned kept = 0;
        for (unsigned i = 0; i < count; i++)
            if (atomic_load_explicit(&batch[i]->state, memory_order_acquire) == LOOP_QUEUED)
                batch[kept++] = batch[i];
        if (kept)
            examine(l, batch, kept);
        pthread_mutex_unlock(&l->examining);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

// ---- requests ----

// Under the lock.
static void enqueue(struct loops *l, struct loop *loop)
{
    atomic_store_explicit(&loop->state, LOOP_QUEUED, memory_order_release);
    if (!l->has_thread)
        l->has_thread = pthread_create(&l->thread, NULL, examine_thread, l) == 0;
    if (l->queue_tail - l->queue_head < LOOPS_MAX) {
        l->queue[l->queue_tail++ % LOOPS_MAX] = loop;
        pthread_cond_signal(&l->wake);
    }
}

void loops_request(struct loops *l, uint32_t header, uint32_t branch)
{
    struct loop *loop = loops_find(l, header);
    uint32_t state = loop ? atomic_load_explicit(&loop->state, memory_order_acquire) : LOOP_STALE;
    if (forks_count() || (state != LOOP_STALE && state != LOOP_EARLIER))
        return;
    pthread_mutex_lock(&l->lock);
    if (loop) {
        plan_free(loop->plan);
        free(loop->summary);
        loop->plan = NULL;
        loop->summary = NULL;
        loop->installed = false;
        loop->branch = branch;
    } else {
        loop = add_loop(l, header, branch);
    }
    if (loop) {
        read_body(l, loop);
        memcpy(loop->body.x, l->guest->cpu.x, sizeof loop->body.x);
        loop->entered = true;
        enqueue(l, loop);
    }
    pthread_mutex_unlock(&l->lock);
}

static bool is_on(const struct loops *l, const struct loop *loop)
{
    const struct loop_trace *trace = l->guest->trace; // such a loop runs plainly
    return l->on && !loop->failed && !(trace && trace->header == loop->header) &&
           !atomic_load_explicit(&loop->unwanted, memory_order_relaxed) &&
           (l->waits || loop->guess.class != LOOP_POLL);
}

void loops_set(struct loops *l, uint32_t header, bool on)
{
    struct loop *loop = loops_find(l, header);
    if (loop) {
        atomic_store_explicit(&loop->unwanted, !on, memory_order_relaxed);
        atomic_store_explicit(&l->has_examined, true, memory_order_release); // loops_update looks at all
    }
}

struct loop *loops_reserve(struct loops *l, uint32_t header, uint32_t branch)
{
    struct loop *loop = loops_find(l, header);
    if (loop || forks_count())
        return loop;
    pthread_mutex_lock(&l->lock);
    loop = add_loop(l, header, branch);
    if (loop) {
        read_body(l, loop);
        loop->verdict = MACHINE_LOOP_PROVED;
        loop->proposed = true;
        loop->reason = "";
        const struct loop_guess *known = proposals_find(l->proposals, &loop->body);
        if (known)
            loop->guess = *known;
        else
            loop->guess.class = LOOP_OTHER;
        loop->cell.on = is_on(l, loop);
        atomic_store_explicit(&loop->state, LOOP_EARLIER, memory_order_release);
    }
    pthread_mutex_unlock(&l->lock);
    return loop;
}

bool loops_examine(struct loops *l, uint32_t header, uint32_t branch, const uint32_t *words,
                   struct loop_proof *proof)
{
    pthread_mutex_lock(&l->lock);
    struct loop *loop = loops_find(l, header);
    if (!loop) {
        loop = add_loop(l, header, branch);
        if (loop)
            take_body(loop, words);
    }
    pthread_mutex_unlock(&l->lock);
    if (!loop || loop->branch != branch)
        return false;
    pthread_mutex_lock(&l->examining);
    uint32_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
    if (state == LOOP_QUEUED || state == LOOP_EARLIER)
        examine(l, &loop, 1);
    pthread_mutex_unlock(&l->examining);
    pthread_mutex_lock(&l->lock); // against loops_request, which frees what has become stale
    bool proved = atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED && loop->plan &&
                  memcmp(loop->summary->words, words, loop->body.length * sizeof *words) == 0;
    if (proved) {
        *proof = (struct loop_proof){.guard = *plan_guard(loop->plan),
                                     .prefers_kernel = plan_prefers_kernel(loop->plan),
                                     .polls = loop->guess.class == LOOP_POLL};
        proof->looks_up = plan_looks_up(loop->plan, &proof->lookup);
    }
    pthread_mutex_unlock(&l->lock);
    return proved;
}

// ---- the emulation thread's part ----

// Whether the code that was examined is still there, decoded.
static bool is_current(const struct loops *l, const struct loop *loop)
{
    struct memory *memory = &l->guest->memory;
    uint32_t words[LOOP_BODY_MAX];
    for (uint64_t page = loop->header / GUEST_PAGE; page <= loop->branch / GUEST_PAGE; page++)
        if (!(memory->pages[page] & MEMORY_CODE))
            return false;
    return memory_read(memory, loop->header, words, loop->body.length * sizeof *words) &&
           memcmp(loop->body.words, words, loop->body.length * sizeof *words) == 0;
}

// Whether loops have been examined, or switched, since the last loops_update.
static bool has_news(const struct loops *l)
{
    return atomic_load_explicit(&l->guest->loops_wanted, memory_order_relaxed) != l->on ||
           devices_may_wait(l->guest) != l->waits ||
           atomic_load_explicit(&l->has_examined, memory_order_relaxed);
}

bool loops_want_update(const struct loops *l)
{
    return has_news(l) || atomic_load_explicit(&l->list_wanted, memory_order_relaxed);
}

void loops_update(struct loops *l)
{
    if (atomic_exchange_explicit(&l->list_wanted, false, memory_order_relaxed))
        loops_name_functions(l);
    if (!has_news(l))
        return;
    atomic_exchange_explicit(&l->has_examined, false, memory_order_acquire);
    l->on = atomic_load_explicit(&l->guest->loops_wanted, memory_order_relaxed);
    l->waits = devices_may_wait(l->guest);
    uint32_t count = atomic_load(&l->count);
    for (uint32_t i = 0; i < count; i++) {
        struct loop *loop = &l->loops[i];
        uint32_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
        if (state == LOOP_EARLIER)
            loop->cell.on = is_on(l, loop);
        if (state != LOOP_EXAMINED)
            continue;
        if (!loop->installed && loop->plan && !is_current(l, loop)) {
            loop->cell.on = 0;
            atomic_store_explicit(&loop->state, LOOP_STALE, memory_order_release);
            continue;
        }
        loop->cell.on = loop->plan && is_on(l, loop);
        if (loop->installed != (loop->cell.on != 0)) {
            loop->installed = loop->cell.on != 0;
            l->guest->host->patch_loop(l->guest, loop, loop->installed);
        }
    }
}

void loops_uninstall(struct loops *l)
{
    uint32_t count = atomic_load(&l->count);
    for (uint32_t i = 0; i < count; i++) {
        struct loop *loop = &l->loops[i];
        if (loop->installed && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED) {
            loop->installed = false;
            l->guest->host->patch_loop(l->guest, loop, false);
        }
    }
    atomic_store_explicit(&l->has_examined, true, memory_order_release); // loops_update looks at all
}

void loops_forget(struct loops *l, uint64_t address, uint64_t length)
{
    uint32_t count = atomic_load(&l->count);
    for (uint32_t i = 0; i < count; i++) {
        struct loop *loop = &l->loops[i];
        if (loop->header < address + length && loop->branch + 4 > address &&
            atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED) {
            loop->cell.on = 0;
            atomic_store_explicit(&loop->state, LOOP_STALE, memory_order_release);
        }
    }
}

void loops_fail(struct loops *l, struct loop *loop, const char *what)
{
    uint64_t offset;
    const char *symbol = l->guest->host->symbol(l->guest, loop->header, &offset);
    loop->failed = true;
    loop->cell.on = 0;
    l->failures++;
    guest_log(
        l->guest,
        "the replacement of the loop at %#x (%s+%#llx, %s) differs from the loop: %s; it is switched off",
        loop->header, symbol ? symbol : "?", (unsigned long long)(symbol ? offset : 0),
        loop_class_names[loop->guess.class], what);
}

// ---- creation, and what is kept on disk ----

struct loops *loops_create(struct guest *g, const char *folder, struct error *error)
{
    if (!semantics_exists) {
        error_set(error,
                  "this build has no definitions to summarise loops from: it was made without LLVM 19");
        return NULL;
    }
    struct proposals *proposals = proposals_create(folder, error);
    if (!proposals)
        return NULL;
    struct loops *l = calloc(1, sizeof *l);
    void *loops = mmap(NULL, LOOPS_MAX * sizeof(struct loop), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_NORESERVE, -1, 0);
    if (!l || loops == MAP_FAILED) {
        error_set(error, "the host denied memory for loops: %s", strerror(errno));
        if (loops != MAP_FAILED)
            munmap(loops, LOOPS_MAX * sizeof(struct loop));
        proposals_destroy(proposals, error);
        free(l);
        return NULL;
    }
    l->guest = g;
    l->loops = loops;
    l->proposals = proposals;
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->examining, NULL);
    pthread_cond_init(&l->wake, NULL);
    forks_watch();
    return l;
}

void loops_load_cache(struct loops *l, const char *folder)
{
    struct error error;
    proposals_keep(l->proposals, folder, l->guest->config.prepared_folder, &error);
    guest_log_unkept(l->guest, &error);
    log_refused(l);
    l->kept = strdup(folder);
}

// The proposals that the checker has confirmed or refuted.
static void log_online(const struct loops *l)
{
    struct online_loop *found = malloc(LOOPS_MAX * sizeof *found);
    unsigned count = 0;
    for (uint32_t i = 0; found && i < l->count; i++) {
        const struct loop *loop = &l->loops[i];
        if (loop->entered && loop->state == LOOP_EXAMINED && loop->found != LOOP_NONE)
            found[count++] = (struct online_loop){&loop->body, loop->found};
    }
    struct error error;
    if (count && !online_log_add(l->kept, found, count, &error))
        guest_log_unkept(l->guest, &error);
    free(found);
}

void loops_destroy(struct loops *l)
{
    if (!l)
        return;
    if (l->has_thread) {
        pthread_mutex_lock(&l->lock);
        l->quit = true;
        pthread_cond_signal(&l->wake);
        pthread_mutex_unlock(&l->lock);
        pthread_join(l->thread, NULL);
    }
    if (l->kept && proposals_are_new(l->proposals))
        log_online(l);
    free(l->kept);
    struct error error;
    if (!proposals_destroy(l->proposals, &error))
        guest_log_unkept(l->guest, &error);
    for (uint32_t i = 0; i < l->count; i++) {
        plan_free(l->loops[i].plan);
        free(l->loops[i].summary);
    }
    munmap(l->loops, LOOPS_MAX * sizeof(struct loop));
    free(l);
}
