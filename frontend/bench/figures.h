// SPDX-License-Identifier: MIT
// The figures of a comparison, out of its runs: of whole blocks only, the warm-up is in none.
#ifndef FRONTEND_BENCH_FIGURES_H
#define FRONTEND_BENCH_FIGURES_H

#include "comparison.h"
#include "frontend/record/statistics.h"

struct side_figures {
    double cpu_s, wall_s; // medians of the passes
    bool has_frames; // a side of our own; else what follows is 0
    double start_s; // likewise, of the first turns
    struct frame_statistics frames; // of all runs together, their first tics left out
    double mips,
        mips_effective; // million instructions a second of emulating, without and with those credited
    double retired, credited, skipped; // of a pass, on average
    double dispatch_accuracy; // share; below 0: the net was not asked
};

void figures_of_side(const struct comparison *c, size_t side, struct side_figures *figures);

// By how much b is faster than a, by CPU time: of the two that run together behind the first turns, else of
// whole processes; work: of that one alone, or c->work_count: of passes. False: fewer blocks than an interval
// needs, *interval has a ratio only.
bool figures_compare_cpu(const struct comparison *c, size_t a, size_t b, size_t work,
                         struct interval *interval);
// The same by the median frame of each run (of each pass: the sum over the works).
bool figures_compare_frames(const struct comparison *c, size_t a, size_t b, struct interval *interval);

// The CPU seconds of each pass of a side, in the order they ran, and of its first turns (c->blocks * PASSES).
void figures_passes(const struct comparison *c, size_t side, double *cpu, double *start);

// How many runs lie further than 5 robust standard deviations (1.4826 times the median absolute deviation)
// above their side's median of the work.
size_t figures_outliers(const struct comparison *c);

// Every frame of a work: its median over the runs of a side. On the heap, *count of them, NULL without any.
double *figures_frame_medians(const struct comparison *c, size_t side, size_t work, size_t *count);

// The frame times that count, of all runs of a side, sorted. frame_sample_free is due.
void figures_sample(const struct comparison *c, size_t side, struct frame_sample *sample);

#endif
