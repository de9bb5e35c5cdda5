// SPDX-License-Identifier: MIT
#include "explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/isa/isa.h"
#include "core/loops/guard/guard_text.h"
#include "core/loops/prove/prove.h"

static void take_code(struct machine_loop_explanation *e, const struct loop_body *body)
{
    e->code_count = body->length;
    for (uint32_t i = 0; i < body->length; i++) {
        struct machine_loop_code *c = &e->code[i];
        c->pc = body->pc + i * 4;
        c->word = body->words[i];
        isa_disassemble(c->word, c->pc, c->text, sizeof c->text);
    }
}

static void take_guess(struct machine_loop_explanation *e, const struct loop_guess *g)
{
    e->guessed = true;
    e->confidence = (double)g->confidence;
    e->counts = loop_type_names[g->type];
    e->counter = g->counter < 31 ? (int)g->counter : -1;
    e->detector_trips = pow(10, (double)g->detector_trips);
    e->predicted_trips = exp2((double)g->predicted_trips);
}

static void add_forms(struct text *t, const struct loop_plan *plan, enum loop_class class)
{
    const struct guard *g = plan_guard(plan);
    struct lookup_loop lookup;
    if (class == LOOP_POLL) {
        text_add(t, "both engines stop at its header until somebody else writes what it looks at\n");
        return;
    }
    text_add(t, "interpreter: a kernel, behind %s\n",
             plan_is_fast(plan) ? "the guard's compiled form" : "the whole guard");
    const bool counts = guard_counts_by_registers(g), anew = counts && g->length;
    const char *kernel = !plan_prefers_kernel(plan) ? ""
                         : counts                   ? "the kernel, if there are many iterations; "
                                                    : "the kernel, once it has turned out to go on; ";
    text_add(t, "translated code: %s%s%s\n", kernel,
             anew ? "compiled anew, what is invariant loaded before it, where registers tell the trip count"
                  : "else the plain loop",
             anew && plan_looks_up(plan, &lookup) ? "; sixteen iterations at once on hosts with AVX-512 VBMI"
                                                  : "");
}

// Summarises and proves it anew: what the examination made of it may be forgotten at any time.
static void prove_again(struct machine_loop_explanation *e, const struct loop_copy *loop)
{
    struct text t = {e->details, sizeof e->details};
    struct loop_summary *s = malloc(sizeof *s);
    const char *reason = "";
    if (!s || loop->body.pc != loop->header ||
        !loop_summarize(s, loop->header, loop->body.words, loop->body.length, &reason)) {
        free(s);
        return;
    }
    explain_code(e, s);
    text_add(&t, "summary: ");
    loop_summary_print(s, t.at, t.left);
    const size_t used = strlen(t.at);
    t.at += used;
    t.left -= used;
    // Of a loop from an earlier run the nets' opinion may not be known.
    const enum loop_class class = loop->guess.class == LOOP_OTHER ? prove_class(s) : loop->guess.class;
    struct loop_plan *plan =
        loop->verdict == MACHINE_LOOP_PROVED && !loop->failed ? prove_plan(s, class, &reason) : NULL;
    if (plan) {
        explain_proof(e, s, plan_guard(plan));
        text_add(&t, "proved; guard:\n");
        guard_text_add(&t, plan_guard(plan));
        add_forms(&t, plan, class);
        plan_free(plan);
    }
    free(s);
}

static void tell_verdict(struct machine_loop_explanation *e, const struct loop_copy *loop)
{
    const char *what = "waits to be examined";
    if (loop->failed)
        what = "switched off: a check found a difference";
    else if (loop->unwanted)
        what = "switched off by you";
    else if (loop->state == LOOP_STALE)
        what = "its code has changed since it was examined";
    else if (loop->state == LOOP_EARLIER)
        what = e->in_use ? "proved in an earlier run, in use" : "proved in an earlier run, not in use";
    else if (loop->state == LOOP_EXAMINED && loop->verdict == MACHINE_LOOP_PROVED)
        what = e->in_use ? "proved, in use" : "proved, not in use";
    else if (loop->state == LOOP_EXAMINED && !loop->reason[0])
        what = "the nets take it for nothing that has a kernel";
    if (loop->state == LOOP_EXAMINED && loop->reason[0] && !loop->failed)
        snprintf(e->verdict, sizeof e->verdict, "refused: %s", loop->reason);
    else
        snprintf(e->verdict, sizeof e->verdict, "%s", what);
}

void explain_loop(struct loops *l, uint32_t header, struct machine_loop_explanation *e)
{
    struct loop_copy loop;
    *e = (struct machine_loop_explanation){.known = loops_copy(l, header, &loop)};
    if (!e->known)
        return;
    e->loop = loop.described;
    e->skipped = loop.skipped;
    e->branch = loop.branch;
    e->in_use = loop.on;
    e->unwanted = loop.unwanted;
    take_code(e, &loop.body);
    tell_verdict(e, &loop);
    if (loop.state == LOOP_EXAMINED || (loop.state == LOOP_EARLIER && loop.guess.class != LOOP_OTHER))
        take_guess(e, &loop.guess);
    prove_again(e, &loop);
}
