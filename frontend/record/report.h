// SPDX-License-Identifier: MIT
// What the reports of a recording and of a comparison have in common, as JSON; frontend/bench/README.md says
// what each field means.
#ifndef FRONTEND_REPORT_H
#define FRONTEND_REPORT_H

#include <cjson/cJSON.h>

#include "statistics.h"

#define REPORT_SCHEMA "neurodoom-benchmark-2"

// A text from outside, such as a name of a file. JSON is UTF-8: each byte that is not gets a mark in its
// place.
cJSON *report_text(const char *text);
// What an object has under that name: 0, and "", if there is no number, no text. The text is the object's.
double report_number_at(const cJSON *object, const char *name);
const char *report_text_at(const cJSON *object, const char *name);

void report_add_program(cJSON *root);
void report_add_machine(cJSON *root);
// The SHA-256 of a file; null if it cannot be read.
void report_add_hash(cJSON *object, const char *name, const char *path);
// Figures of frame times, to the object of a variant.
void report_add_times(cJSON *variant, const struct frame_statistics *statistics);

#endif
