// SPDX-License-Identifier: MIT
// The plots of a report: each draws itself (svg.h) and has a title, and a sentence that says what to see.
#ifndef FRONTEND_BENCH_PLOTS_H
#define FRONTEND_BENCH_PLOTS_H

#include <stdio.h>

#include "comparison.h"

// What all of them are drawn from.
struct plot_data {
    const struct comparison *c;
    struct {
        double *typical; // of every frame of all works, the median of its runs; typical_count of them
        size_t typical_count;
        double *sorted; // every frame of every run
        size_t sorted_count;
        double *passes; // CPU seconds
    } sides[2];
};

void plot_data_make(struct plot_data *data, const struct comparison *c);
void plot_data_free(struct plot_data *data);

struct plot {
    const char *title;
    bool wide; // as wide as two, and as high as it needs to be
    bool of_frames; // there has to be one that counts, on both sides
    void (*draw)(const struct plot_data *data, FILE *to);
    char *(*sentence)(const struct plot_data *data); // on the heap
};

// Whether there is anything to draw.
bool plot_possible(const struct plot *plot, const struct plot_data *data);
// Its size in pixels.
unsigned plot_width(const struct plot *plot);
unsigned plot_height(const struct plot *plot, const struct plot_data *data);

enum { PLOTS = 5 };
extern const struct plot plots[PLOTS];

#endif
