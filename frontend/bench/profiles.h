// SPDX-License-Identifier: MIT
// Where the time of the compared sides goes, function by function, of runs made for that alone (--profile).
#ifndef FRONTEND_BENCH_PROFILES_H
#define FRONTEND_BENCH_PROFILES_H

#include <stdio.h>

#include "comparison.h"

// Adds the report of a run (JSON, of record/profile.c) of one of the first two sides.
void profiles_add(struct profiles *p, size_t side, const cJSON *report);
// Adds the report of a work's run in which instructions were counted.
void profiles_add_counts(struct profiles *p, const cJSON *report);
// All runs of so many passes have been added.
void profiles_end(struct profiles *p, unsigned passes);
void profiles_free(struct profiles *p);

// The section of the page; nothing without a pass.
void profiles_write_page(FILE *to, const struct comparison *c);
// For the report; null without a pass.
cJSON *profiles_json(const struct comparison *c);

#endif
