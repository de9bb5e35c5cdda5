// SPDX-License-Identifier: MIT
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/base/log.h"

static void print_code(FILE *out, const struct machine_loop_explanation *e)
{
    for (unsigned i = 0; i < e->code_count; i++) {
        const struct machine_loop_code *c = &e->code[i];
        fprintf(out, "  %#" PRIx32 "  %08" PRIx32 "  %-32s %s\n", c->pc, c->word, c->text, c->meaning);
    }
}

static void print_all(FILE *out, const struct machine_loop_explanation *e)
{
    const struct machine_loop *loop = &e->loop;
    fprintf(out, "loop %#" PRIx32 "..%#" PRIx32 "%s%s: %s\n", loop->header, e->branch,
            *loop->function ? " in " : "", loop->function, e->verdict);
    print_code(out, e);
    if (e->guessed) {
        fprintf(out, "nets: %s, confidence %.2f; trips: %s", loop->class_name, e->confidence, e->counts);
        if (e->counter >= 0) {
            fprintf(out, " in x%d", e->counter);
        }
        fprintf(out, ", %.0f and %.0f expected\n", e->detector_trips, e->predicted_trips);
    }
    if (*e->proof) {
        fprintf(out, "proof: %s\n", e->proof);
    }
    for (unsigned i = 0; i < e->check_count; i++) {
        fprintf(out, "%s  %s\n", i ? "" : "checked at every entry:\n", e->checks[i]);
    }
    fprintf(out, "%s", e->details);
    fprintf(out,
            "entries %" PRIu64 ", iterations %" PRIu64 ", skipped %" PRIu64 ", instructions credited %" PRIu64
            ", %.2f %% of all\n",
            loop->entries, loop->iterations, e->skipped, loop->credited, 100 * loop->share);
}

void explain_print(const machine *m, uint64_t address)
{
    struct machine_loop_explanation *e = address ? malloc(sizeof *e) : NULL;
    FILE *out = log_result();
    if (!e) {
        return;
    }
    if (!machine_explain_loop(m, address, e)) {
        fprintf(out, "no loop is replaced: the nets are off or could not be had\n");
    } else if (!e->known) {
        fprintf(out, "no loop that begins at %#" PRIx64 " has become hot\n", address);
    } else {
        print_all(out, e);
    }
    fflush(out);
    free(e);
}

void explain_idle_verify(const machine *m)
{
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    if (machine_has_loops(m) && machine_get_loops(m) && machine_get_verify(m) && !stats.loops_proved) {
        log_line(LOG_WARNING, "--verify: no loop was replaced in this run, so nothing was compared");
    }
}
