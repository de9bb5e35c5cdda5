// SPDX-License-Identifier: MIT
// What is told of loops: counters, the list of those with a verdict, and a copy of one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimizer_internal.h"

void loops_name_functions(struct loops *l)
{
    uint32_t count = atomic_load(&l->count);
    for (uint32_t i = 0; i < count; i++) {
        struct loop *loop = &l->loops[i];
        uint64_t offset;
        const char *symbol =
            loop->function[0] ? NULL : l->guest->host->symbol(l->guest, loop->header, &offset);
        if (symbol)
            snprintf(loop->function, sizeof loop->function, "%s", symbol);
    }
}

// Whether the verdict may be read.
static bool has_verdict(const struct loop *loop)
{
    uint32_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
    return state == LOOP_EXAMINED || state == LOOP_EARLIER;
}

void loops_get_stats(const struct loops *l, struct machine_stats *stats)
{
    stats->credited = stats->iterations_skipped = 0;
    stats->loops_detected = stats->loops_proved = stats->loops_rejected = 0;
    stats->verify_failures = l->failures;
    uint32_t count = atomic_load(&l->count);
    for (uint32_t i = 0; i < count; i++) {
        const struct loop *loop = &l->loops[i];
        stats->credited += loop->cell.credited;
        stats->iterations_skipped += loop->cell.skipped;
        if (!has_verdict(loop) || !loop->proposed)
            continue;
        stats->loops_detected++;
        stats->loops_proved += loop->verdict == MACHINE_LOOP_PROVED;
        stats->loops_rejected += loop->verdict == MACHINE_LOOP_REJECTED;
    }
}

static void describe_loop(const struct loops *l, const struct loop *loop, struct machine_loop *out)
{
    *out = (struct machine_loop){.header = loop->header,
                                 .class_name = loop_class_names[loop->guess.class],
                                 .verdict = loop->verdict,
                                 .entries = loop->cell.entries,
                                 .iterations = loop->cell.skipped + loop->cell.plain,
                                 .credited = loop->cell.credited};
    snprintf(out->function, sizeof out->function, "%s", loop->function);
    snprintf(out->reason, sizeof out->reason, "%s",
             loop->failed        ? "a check found a difference"
             : has_verdict(loop) ? loop->reason
                                 : "");
    double all = (double)(l->guest->stats.retired + l->guest->stats.credited);
    out->share = all > 0 ? (double)loop->cell.credited / all : 0;
}

static int by_share(const void *a, const void *b)
{
    double x = ((const struct machine_loop *)a)->share, y = ((const struct machine_loop *)b)->share;
    return (x < y) - (x > y);
}

size_t loops_list(struct loops *l, struct machine_loop *list, size_t max)
{
    if (l->guest->state == MACHINE_RUNNING)
        atomic_store_explicit(&l->list_wanted, true, memory_order_relaxed);
    else
        loops_name_functions(l);
    uint32_t count = atomic_load(&l->count);
    struct machine_loop *all = malloc((count + 1) * sizeof *all);
    size_t n = 0;
    for (uint32_t i = 0; all && i < count; i++)
        if (has_verdict(&l->loops[i]) && l->loops[i].proposed)
            describe_loop(l, &l->loops[i], &all[n++]);
    if (n)
        qsort(all, n, sizeof *all, by_share);
    if (n > max)
        n = max;
    if (n)
        memcpy(list, all, n * sizeof *all);
    free(all);
    return n;
}

bool loops_copy(struct loops *l, uint32_t header, struct loop_copy *copy)
{
    if (l->guest->state != MACHINE_RUNNING)
        loops_name_functions(l);
    pthread_mutex_lock(&l->lock); // a body is only replaced under it
    const struct loop *loop = loops_find(l, header);
    if (loop) {
        const uint32_t state = atomic_load_explicit(&loop->state, memory_order_acquire);
        *copy = (struct loop_copy){.header = header,
                                   .branch = loop->branch,
                                   .state = (enum loop_state)state,
                                   .failed = loop->failed,
                                   .on = loop->cell.on != 0,
                                   .unwanted = atomic_load_explicit(&loop->unwanted, memory_order_relaxed),
                                   .reason = "",
                                   .body = loop->body,
                                   .guess = {.class = LOOP_OTHER},
                                   .skipped = loop->cell.skipped};
        if (has_verdict(loop)) {
            copy->verdict = loop->verdict;
            copy->reason = loop->reason;
            copy->guess = loop->guess;
        }
        describe_loop(l, loop, &copy->described);
    }
    pthread_mutex_unlock(&l->lock);
    return loop != NULL;
}
