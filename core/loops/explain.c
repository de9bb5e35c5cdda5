// SPDX-License-Identifier: MIT
#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/isa/isa.h"
#include "core/loops/guard/guard_text.h"

enum { SUMMARY_TEXT = 1 << 16, LINE = 128 };

static void add_code(struct text *t, const struct loop *loop)
{
    for (uint32_t i = 0; i < loop->body.length; i++) {
        const uint32_t pc = loop->body.pc + i * 4;
        char line[LINE];
        isa_disassemble(loop->body.words[i], pc, line, sizeof line);
        text_add(t, "  %#" PRIx32 "  %08" PRIx32 "  %s\n", pc, loop->body.words[i], line);
    }
}

static void add_guess(struct text *t, const struct loop_guess *g)
{
    text_add(t, "nets: %s, confidence %.2f; ", loop_class_names[g->class], (double)g->confidence);
    text_add(t, "trips: %s, 2^%.1f expected\n", loop_type_names[g->type], (double)g->predicted_trips);
}

static void add_summary(struct text *t, const struct loop_summary *s)
{
    char *summary = malloc(SUMMARY_TEXT);
    if (summary) {
        loop_summary_print(s, summary, SUMMARY_TEXT);
        text_add(t, "summary: %s", summary);
    }
    free(summary);
}

static void add_forms(struct text *t, const struct loop *loop)
{
    const struct guard *g = plan_guard(loop->plan);
    if (loop->guess.class == LOOP_POLL) {
        text_add(t, "both engines stop at its header until somebody else writes what it looks at\n");
        return;
    }
    text_add(t, "interpreter: a kernel, behind %s\n",
             plan_is_fast(loop->plan) ? "the guard's compiled form" : "the whole guard");
    const bool counts = guard_counts_by_registers(g), anew = counts && g->length;
    const char *kernel = !plan_prefers_kernel(loop->plan) ? ""
                         : counts                         ? "the kernel, if there are many iterations; "
                                                          : "the kernel, once it has turned out to go on; ";
    text_add(t, "translated code: %s%s\n", kernel,
             anew ? "compiled anew, what is invariant loaded before it, where registers tell the trip count"
                  : "else the plain loop");
}

static void add_proof(struct text *t, const struct loop *loop)
{
    add_summary(t, loop->summary);
    text_add(t, "proved; guard:\n");
    guard_text_add(t, plan_guard(loop->plan));
    add_forms(t, loop);
}

void explain_loop(struct text *t, const struct loops *l, uint32_t header)
{
    const struct loop *loop = loops_find(l, header);
    if (!loop) {
        text_add(t, "no loop that begins at %#" PRIx32 " has become hot\n", header);
        return;
    }
    text_add(t, "loop %#" PRIx32 "..%#" PRIx32 "\n", loop->header, loop->branch);
    add_code(t, loop);
    switch (atomic_load_explicit(&loop->state, memory_order_acquire)) {
    case LOOP_QUEUED: text_add(t, "not examined before the end of the run\n"); break;
    case LOOP_STALE: text_add(t, "its code has changed since it was examined\n"); break;
    case LOOP_EARLIER: text_add(t, "proved in an earlier run, whose translated code was used\n"); break;
    default:
        add_guess(t, &loop->guess);
        if (loop->plan)
            add_proof(t, loop);
        else
            text_add(t, "not replaced: %s\n",
                     loop->reason[0] ? loop->reason : "the nets take it for nothing that has a kernel");
    }
    if (loop->failed)
        text_add(t, "switched off: a check found a difference\n");
    text_add(t,
             "entries %" PRIu64 ", iterations %" PRIu64 ", skipped %" PRIu64
             ", instructions credited %" PRIu64 "\n",
             loop->cell.entries, loop->cell.iterations, loop->cell.skipped, loop->cell.credited);
}
