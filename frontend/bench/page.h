// SPDX-License-Identifier: MIT
// The report for people: one HTML file that needs nothing else, no script and no network.
#ifndef FRONTEND_BENCH_PAGE_H
#define FRONTEND_BENCH_PAGE_H

#include "comparison.h"

// False: errno tells why.
bool page_write(const struct comparison *c, const char *path);
// Its plots alone, as one SVG.
bool page_write_plots(const struct comparison *c, const char *path);

#endif
