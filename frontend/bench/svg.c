// SPDX-License-Identifier: MIT
#include "svg.h"

#include <math.h>

static const char *const colours[] = {"#E69F00", "#0072B2", "#555555", "#009E73"};
enum { SERIES = sizeof colours / sizeof *colours, TICKS = 5 };

const char *series_colour(unsigned series)
{
    return colours[series % SERIES];
}

double round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    if (!(value > 0)) {
        return 1;
    }
    double power = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] * power >= value * (1 - 1e-9)) {
            return steps[i] * power;
        }
    }
    return 10 * power;
}

void write_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc(*text, to);
        }
    }
}

double axes_x(const struct axes *a, double x)
{
    double share = (x - a->x0) / (a->x1 - a->x0);
    return a->left + fmin(fmax(share, 0), 1) * (a->right - a->left);
}

double axes_y(const struct axes *a, double y)
{
    double share =
        a->log_y ? log(fmax(y, a->y0) / a->y0) / log(a->y1 / a->y0) : (y - a->y0) / (a->y1 - a->y0);
    return a->bottom - fmin(fmax(share, 0), 1) * (a->bottom - a->top);
}

static void write_line(const struct axes *a, double value)
{
    double y = axes_y(a, value);
    fprintf(a->to,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" class=\"tick end\">%.4g</text>\n",
            a->left, y, a->right, y, a->left - 6, y + 4, value);
}

void axes_begin(struct axes *a, const char *unit, const char *under)
{
    a->left = 44, a->top = 20, a->right = PLOT_WIDTH - 4, a->bottom = PLOT_HEIGHT - 20;
    if (a->log_y) {
        static const double steps[] = {1, 2, 5};
        for (double power = pow(10, floor(log10(a->y0))); power <= a->y1; power *= 10) {
            for (size_t i = 0; i < 3; i++) {
                if (steps[i] * power >= a->y0 * 0.999 && steps[i] * power <= a->y1 * 1.001) {
                    write_line(a, steps[i] * power);
                }
            }
        }
    } else {
        double step = round_up((a->y1 - a->y0) / TICKS);
        for (double value = a->y0; value <= a->y1 * 1.0001; value += step) {
            write_line(a, value);
        }
    }
    fprintf(a->to, "<text x=\"%.1f\" y=\"10\" class=\"tick\">%s</text>\n", a->left, unit);
    fprintf(a->to, "<text x=\"%.1f\" y=\"%d\" class=\"tick end\">%s</text>\n", a->right, PLOT_HEIGHT - 4,
            under);
}

void axes_mark(const struct axes *a, double x, const char *word)
{
    double at = axes_x(a, x);
    fprintf(a->to,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"mark\"/>"
            "<text x=\"%.1f\" y=\"%.1f\" class=\"tick end\">%s</text>\n",
            at, a->top, at, a->bottom, at - 3, a->top + 10, word);
}

void axes_curve(const struct axes *a, const double *x, const double *y, size_t count, unsigned series)
{
    fprintf(a->to, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.2\" points=\"",
            series_colour(series));
    for (size_t i = 0; i < count; i++) {
        fprintf(a->to, "%.1f,%.1f ", axes_x(a, x ? x[i] : (double)(i + 1)), axes_y(a, y[i]));
    }
    fputs("\"/>\n", a->to);
}

static void write_shape(FILE *to, double x, double y, unsigned series)
{
    const char *colour = series_colour(series);
    switch (series % SERIES) {
    case 0: fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>", x, y, colour); break;
    case 1:
        fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"6\" height=\"6\" fill=\"%s\"/>", x - 3, y - 3,
                colour);
        break;
    case 2: fprintf(to, "<path d=\"M%.1f %.1fl4 7h-8z\" fill=\"%s\"/>", x, y - 4, colour); break;
    default: fprintf(to, "<path d=\"M%.1f %.1fl4 4l-4 4l-4 -4z\" fill=\"%s\"/>", x, y - 4, colour);
    }
}

void axes_point(const struct axes *a, double x, double y, unsigned series)
{
    write_shape(a->to, axes_x(a, x), axes_y(a, y), series);
    fputc('\n', a->to);
}

void series_key(FILE *to, unsigned series)
{
    fputs("<svg class=\"key\" width=\"10\" height=\"10\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">", to);
    write_shape(to, 5, 5, series);
    fputs("</svg>", to);
}
