// SPDX-License-Identifier: MIT
#include "plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "svg.h"
#include "verdict.h"

enum { POINTS = 1400, BINS = 48 };

// ---- data ----

static void make_typical(struct plot_data *data, size_t side)
{
    const struct comparison *c = data->c;
    for (size_t w = 0; w < c->work_count; w++) {
        size_t count, before = data->sides[side].typical_count;
        double *medians = figures_frame_medians(c, side, w, &count);
        double *all = memory_resize(data->sides[side].typical, (before + count + 1) * sizeof *all);
        if (count) {
            memcpy(all + before, medians, count * sizeof *all);
        }
        data->sides[side].typical = all;
        data->sides[side].typical_count = before + count;
        free(medians);
    }
}

void plot_data_make(struct plot_data *data, const struct comparison *c)
{
    *data = (struct plot_data){.c = c};
    for (size_t side = 0; side < 2; side++) {
        struct frame_sample sample;
        struct frame_statistics statistics;
        make_typical(data, side);
        figures_sample(c, side, &sample);
        frame_statistics_take(&sample, &statistics); // sorts them
        data->sides[side].sorted = sample.ms;
        data->sides[side].sorted_count = sample.count;
        size_t count = (size_t)c->blocks * PASSES;
        double *cpu = memory_resize(NULL, (2 * count + 1) * sizeof *cpu), *start = cpu + count;
        figures_passes(c, side, cpu, start);
        for (size_t i = 0; i < count; i++) {
            cpu[i] -= start[i];
        }
        data->sides[side].passes = cpu;
    }
}

void plot_data_free(struct plot_data *data)
{
    for (size_t side = 0; side < 2; side++) {
        free(data->sides[side].typical);
        free(data->sides[side].sorted);
        free(data->sides[side].passes);
    }
}

// The value that so many of 1000 of a side's frames do not exceed.
static double at_share(const struct plot_data *data, size_t side, unsigned permille)
{
    size_t count = data->sides[side].sorted_count, rank = (count * permille + 999) / 1000;
    return data->sides[side].sorted[rank ? rank - 1 : 0];
}

static const char *name(const struct plot_data *data, size_t side)
{
    return data->c->sides[side].name;
}

// ---- frame by frame ----

// How many frames a point stands for: a plot has no room for more points.
static size_t frames_a_point(const struct plot_data *data)
{
    return (data->sides[0].typical_count + POINTS - 1) / POINTS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Above that the few slowest frames are cut off, so that the others can be told apart.
static double highest(const struct plot_data *data)
{
    double most = 0;
    for (size_t side = 0; side < 2; side++) {
        size_t count = data->sides[side].typical_count;
        double *sorted = memory_resize(NULL, count * sizeof *sorted);
        memcpy(sorted, data->sides[side].typical, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_value);
        most = fmax(most, 1.1 * sorted[(count - 1) * 998 / 1000]);
        free(sorted);
    }
    return round_up(most);
}

static void draw_time(const struct plot_data *data, FILE *to)
{
    size_t count = data->sides[0].typical_count, each = frames_a_point(data),
           points = (count + each - 1) / each;
    struct axes axes = {.to = to, .x0 = 1, .x1 = (double)points, .y0 = 0, .y1 = highest(data)};
    char *number = verdict_number((double)count), *under = text_format("frame 1 … %s", number);
    axes_begin(&axes, "ms a frame", under);
    double *slowest = memory_resize(NULL, points * sizeof *slowest);
    for (unsigned side = 0; side < 2; side++) {
        memset(slowest, 0, points * sizeof *slowest);
        for (size_t i = 0; i < count && i < data->sides[side].typical_count; i++) {
            slowest[i / each] = fmax(slowest[i / each], data->sides[side].typical[i]);
        }
        axes_curve(&axes, NULL, slowest, points, side);
    }
    free(slowest);
    free(under);
    free(number);
}

static char *say_time(const struct plot_data *data)
{
    size_t each = frames_a_point(data), wins = 0, count = data->sides[0].typical_count;
    for (size_t i = 0; i < count && i < data->sides[1].typical_count; i++) {
        wins += data->sides[1].typical[i] < data->sides[0].typical[i];
    }
    char *points = each > 1 ? text_format("the slowest of %zu frames, each ", each) : text_copy("");
    char *text =
        text_format("The same pictures on both sides; %sthe median of its %u runs. In %.0f %% of the frames "
                    "%s is faster.",
                    points, data->c->blocks * PASSES, 100.0 * (double)wins / (double)count, name(data, 1));
    free(points);
    return text;
}

// ---- run by run ----

static void draw_runs(const struct plot_data *data, FILE *to)
{
    const struct comparison *c = data->c;
    size_t count = (size_t)c->blocks * PASSES;
    double most = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        most = fmax(most, data->sides[i % 2].passes[i / 2]);
    }
    struct axes axes = {.to = to, .x0 = 0.5, .x1 = (double)count + 0.5, .y0 = 0, .y1 = round_up(most * 1.05)};
    axes_begin(&axes, "CPU seconds behind the start", "in the order they ran");
    for (size_t i = 0; i < count; i++) {
        axes_point(&axes, (double)i + 1, data->sides[0].passes[i], 0);
        axes_point(&axes, (double)i + 1, data->sides[1].passes[i], 1);
    }
}

static char *say_runs(const struct plot_data *data)
{
    size_t outliers = figures_outliers(data->c);
    return text_format("Sides take turns, so what changes in the machine meets both. %s",
                       outliers == 0   ? "No run is an outlier."
                       : outliers == 1 ? "One run is an outlier."
                                       : "Some runs are outliers; medians leave them be.");
}

// ---- sorted ----

// Shares of frames so that 90, 99 and 99.9 % are as far apart as 0 and 90: the slow ones get the room.
static double share_at(double share)
{
    return -log10(1 - share);
}

static void draw_sorted(const struct plot_data *data, FILE *to)
{
    static const struct {
        double share;
        const char *word;
    } marks[] = {{0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}};
    size_t count = data->sides[0].sorted_count;
    double least = fmin(at_share(data, 0, 10), at_share(data, 1, 10));
    double most =
        fmax(data->sides[0].sorted[count - 1], data->sides[1].sorted[data->sides[1].sorted_count - 1]);
    struct axes axes = {.to = to,
                        .x0 = 0,
                        .x1 = share_at(1 - 0.5 / (double)count),
                        .y0 = fmax(least, 1e-4),
                        .y1 = round_up(fmax(most, 2 * least)),
                        .log_y = true};
    axes_begin(&axes, "ms", "share of the frames that take no longer");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        axes_mark(&axes, share_at(marks[i].share), marks[i].word);
    }
    double *x = memory_resize(NULL, (POINTS + 1) * sizeof *x),
           *y = memory_resize(NULL, (POINTS + 1) * sizeof *y);
    for (unsigned side = 0; side < 2; side++) {
        size_t of_side = data->sides[side].sorted_count;
        for (size_t i = 0; i <= POINTS; i++) {
            x[i] = axes.x1 * (double)i / POINTS;
            double share = 1 - pow(10, -x[i]);
            size_t rank = (size_t)(share * (double)of_side);
            y[i] = data->sides[side].sorted[rank < of_side ? rank : of_side - 1];
        }
        axes_curve(&axes, x, y, POINTS + 1, side);
    }
    free(x);
    free(y);
}

static char *say_sorted(const struct plot_data *data)
{
    return text_format(
        "Every frame of every run, the slow ones on the right: 99 %% take at most %.2f ms (%s) and "
        "%.2f ms (%s).",
        at_share(data, 0, 990), name(data, 0), at_share(data, 1, 990), name(data, 1));
}

// ---- histogram ----

static void draw_histogram(const struct plot_data *data, FILE *to)
{
    double most = round_up(1.3 * fmax(at_share(data, 0, 950), at_share(data, 1, 950))), bins[2][BINS] = {0};
    double tallest = 0;
    for (size_t side = 0; side < 2; side++) {
        size_t count = data->sides[side].sorted_count;
        for (size_t i = 0; i < count; i++) {
            size_t bin = (size_t)(data->sides[side].sorted[i] / most * BINS);
            bins[side][bin < BINS ? bin : BINS - 1] += 100 / (double)count;
        }
        for (size_t i = 0; i < BINS; i++) {
            tallest = fmax(tallest, bins[side][i]);
        }
    }
    struct axes axes = {.to = to, .x0 = 0, .x1 = BINS, .y0 = 0, .y1 = round_up(tallest)};
    char *under = text_format("0 … %g ms, and more", most);
    axes_begin(&axes, "% of the frames", under);
    double width = (axes.right - axes.left) / BINS, x[2 * BINS], y[2 * BINS];
    for (size_t i = 0; i < BINS; i++) {
        double top = axes_y(&axes, bins[0][i]);
        fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                axes_x(&axes, (double)i), top, width, axes.bottom - top, series_colour(0));
        x[2 * i] = (double)i;
        x[2 * i + 1] = (double)i + 1;
        y[2 * i] = y[2 * i + 1] = bins[1][i];
    }
    axes_curve(&axes, x, y, 2 * BINS, 1);
    free(under);
}

static char *say_histogram(const struct plot_data *data)
{
    return text_format(
        "Further left is faster. Filled: %s, half of the frames within %.3f ms; outline: %s, within "
        "%.3f ms.",
        name(data, 0), at_share(data, 0, 500), name(data, 1), at_share(data, 1, 500));
}

// ---- ratios ----

struct ratio {
    char *label;
    struct interval interval;
    bool enough;
};

enum { BAR_HEIGHT = 26, RATIOS_MOST = 8, LABEL_WIDTH = 200, WIDE = 2 * PLOT_WIDTH + 20 };

static size_t make_ratios(const struct comparison *c, struct ratio *ratios)
{
    size_t count = 1;
    ratios[0].label = text_copy(c->work_count > 1 ? "all together" : "CPU time");
    ratios[0].enough = figures_compare_cpu(c, 0, 1, c->work_count, &ratios[0].interval);
    if (c->work_count == 1) {
        ratios[1].label = text_copy("median frame");
        ratios[1].enough = figures_compare_frames(c, 0, 1, &ratios[1].interval);
        return 2;
    }
    for (size_t w = 0; w < c->work_count && count < RATIOS_MOST; w++, count++) {
        ratios[count].label = text_copy(c->works[w].name);
        ratios[count].enough = figures_compare_cpu(c, 0, 1, w, &ratios[count].interval);
    }
    return count;
}

static void draw_ratio(const struct axes *axes, const struct ratio *r, double y)
{
    FILE *to = axes->to;
    double one = axes_x(axes, 1), end = axes_x(axes, r->interval.ratio);
    fprintf(to, "<text x=\"0\" y=\"%.1f\" class=\"tick\">", y + 4);
    write_escaped(to, r->label);
    fprintf(to, "</text><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\" fill=\"%s\"/>",
            fmin(one, end), y - 5, fabs(end - one), series_colour(r->interval.ratio >= 1));
    if (r->enough) {
        double low = axes_x(axes, r->interval.low), high = axes_x(axes, r->interval.high);
        fprintf(to, "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv10M%.1f %.1fv10\" class=\"whisker\"/>", low, y, high,
                low, y - 5, high, y - 5);
    }
    fprintf(to, "<text x=\"%d\" y=\"%.1f\" class=\"tick end\">%.3f</text>\n", WIDE, y + 4, r->interval.ratio);
}

static void draw_ratios(const struct plot_data *data, FILE *to)
{
    struct ratio ratios[RATIOS_MOST];
    size_t count = make_ratios(data->c, ratios);
    double reach = 0.02;
    for (size_t i = 0; i < count; i++) {
        const struct interval *v = &ratios[i].interval;
        reach = fmax(reach, fabs(v->ratio - 1));
        reach = ratios[i].enough ? fmax(reach, fmax(v->high - 1, 1 - v->low)) : reach;
    }
    reach = round_up(reach);
    struct axes axes = {.to = to, .x0 = 1 - reach, .x1 = 1 + reach, .left = LABEL_WIDTH, .right = WIDE - 60};
    static const char *const words[] = {"slower", "1", "faster"};
    static const char *const anchors[] = {"", " middle", " end"};
    double bottom = 24 + BAR_HEIGHT * (double)count;
    for (int i = 0; i < 3; i++) {
        double x = axes_x(&axes, 1 + reach * (i - 1));
        fprintf(to,
                "<line x1=\"%.1f\" y1=\"20\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>"
                "<text x=\"%.1f\" y=\"12\" class=\"tick%s\">%s</text>"
                "<text x=\"%.1f\" y=\"%.1f\" class=\"tick%s\">%g</text>\n",
                x, x, bottom, i == 1 ? "one" : "grid", x, anchors[i], words[i], x, bottom + 14, anchors[i],
                1 + reach * (i - 1));
    }
    for (size_t i = 0; i < count; i++) {
        draw_ratio(&axes, &ratios[i], 34 + BAR_HEIGHT * (double)i);
        free(ratios[i].label);
    }
}

static size_t count_ratios(const struct comparison *c)
{
    size_t count = c->work_count > 1 ? c->work_count + 1 : 2;
    return count < RATIOS_MOST ? count : RATIOS_MOST;
}

bool plot_possible(const struct plot *plot, const struct plot_data *data)
{
    return !plot->of_frames || (data->sides[0].sorted_count && data->sides[1].sorted_count);
}

unsigned plot_width(const struct plot *plot)
{
    return plot->wide ? WIDE : PLOT_WIDTH;
}

unsigned plot_height(const struct plot *plot, const struct plot_data *data)
{
    return plot->wide ? (unsigned)(44 + BAR_HEIGHT * count_ratios(data->c)) : PLOT_HEIGHT;
}

static char *say_ratios(const struct plot_data *data)
{
    return text_format(
        "Right of 1: %s is faster than %s. The thin line is the 95 %% interval; where it crosses 1, no "
        "difference was found.",
        name(data, 1), name(data, 0));
}

const struct plot plots[PLOTS] = {
    {"How many times as fast", true, false, draw_ratios, say_ratios},
    {"Run by run", false, false, draw_runs, say_runs},
    {"Frame by frame", false, true, draw_time, say_time},
    {"Sorted: how bad are the bad ones", false, true, draw_sorted, say_sorted},
    {"How often", false, true, draw_histogram, say_histogram},
};
