// SPDX-License-Identifier: MIT
// Drawing plots as SVG: a pair of axes, and what lies between them.
#ifndef FRONTEND_BENCH_SVG_H
#define FRONTEND_BENCH_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Of a plot, in its own pixels.
enum { PLOT_WIDTH = 520, PLOT_HEIGHT = 200 };

struct axes {
    FILE *to;
    double x0, x1, y0, y1; // the values at the ends
    bool log_y; // by the logarithm: y0 and y1 are above 0
    double left, top, right, bottom; // where the axes lie
};

// Axes as large as the plot, with lines at round values of y; unit stands above them, under below, at the
// right.
void axes_begin(struct axes *axes, const char *unit, const char *under);
double axes_x(const struct axes *axes, double x);
double axes_y(const struct axes *axes, double y); // what lies outside is drawn at the edge
// A dashed line at x, with a word at its top.
void axes_mark(const struct axes *axes, double x, const char *word);
// A curve through count points; x may be NULL: 1, 2, 3, …
void axes_curve(const struct axes *axes, const double *x, const double *y, size_t count, unsigned series);
// A point of a series: each has a shape of its own.
void axes_point(const struct axes *axes, double x, double y, unsigned series);

// Colours, from light to dark, so that they differ in grey, too.
const char *series_colour(unsigned series);
// The shape of a series as a small picture in a line of text.
void series_key(FILE *to, unsigned series);

// The next number above value that is 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.
double round_up(double value);

// Text with what HTML would take for markup written so that it does not.
void write_escaped(FILE *to, const char *text);

#endif
