// SPDX-License-Identifier: MIT
// What a comparison comes to, in words that claim no more than its interval.
#ifndef FRONTEND_BENCH_VERDICT_H
#define FRONTEND_BENCH_VERDICT_H

#include "comparison.h"

// One sentence; on the heap.
char *verdict_text(const struct comparison *c);

// What it rests on, a word for those who skim and a sentence: that all runs showed the same, that times had
// settled, that the machine was quiet.
struct gate {
    const char *word;
    char *text; // on the heap
    bool good;
};
enum { GATES = 3 };
void verdict_gates(const struct comparison *c, struct gate gates[GATES]);
void verdict_free_gates(struct gate gates[GATES]);

// Adds what a reader has to know to c->warnings, once all runs are made.
void verdict_warn(struct comparison *c);

// A number as people write it, 1,234,567; on the heap.
char *verdict_number(double value);

#endif
