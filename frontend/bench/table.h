// SPDX-License-Identifier: MIT
#ifndef FRONTEND_BENCH_TABLE_H
#define FRONTEND_BENCH_TABLE_H

#include <stdio.h>

#include "comparison.h"

// The verdict, what it rests on, and the figures, for a terminal.
void table_print(const struct comparison *c, FILE *stream);

#endif
