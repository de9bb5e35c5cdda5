// SPDX-License-Identifier: MIT
#include "table.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "verdict.h"

enum { LABEL = 40 };

// The rows; figure: offset of a double in struct side_figures.
static const struct {
    const char *label, *format;
    size_t figure;
    bool of_frames; // what only sides of our own have
} rows[] = {
#define FRAMES(field) offsetof(struct side_figures, frames) + offsetof(struct frame_statistics, field), true
    {"CPU seconds a pass, median", "%.4f", offsetof(struct side_figures, cpu_s), false},
    {"of these until the first turn was over", "%.4f", offsetof(struct side_figures, start_s), true},
    {"wall seconds a pass, median", "%.4f", offsetof(struct side_figures, wall_s), false},
    {"ms a frame, median", "%.4f", FRAMES(p50)},
    {"ms, 95 % of the frames at most (p95)", "%.4f", FRAMES(p95)},
    {"ms, 99 % (p99)", "%.4f", FRAMES(p99)},
    {"ms, 99.9 % (p99.9)", "%.4f", FRAMES(p99_9)},
    {"ms, the slowest frame", "%.4f", FRAMES(max)},
    {"frames a second, all", "%.1f", FRAMES(average_fps)},
    {"frames a second, 1 % low by percentile", "%.1f", FRAMES(low1_percentile_fps)},
    {"frames a second, 1 % low by average", "%.1f", FRAMES(low1_average_fps)},
    {"% of the time in frames that stutter", "%.2f", FRAMES(stutter_percent)},
    {"% of the frames within 1/35 s", "%.2f", FRAMES(stable_percent)},
    {"million guest instructions a second", "%.1f", offsetof(struct side_figures, mips), true},
    {"the same, with those left out", "%.1f", offsetof(struct side_figures, mips_effective), true},
    {"instructions left out (credited), pass", "%.0f", offsetof(struct side_figures, credited), true},
    {"rounds of loops skipped, pass", "%.0f", offsetof(struct side_figures, skipped), true},
};

static int width_of(const struct comparison *c, size_t side)
{
    size_t length = strlen(c->sides[side].name);
    return 2 + (int)(length > 11 ? length : 11);
}

static void print_figures(const struct comparison *c, FILE *stream)
{
    struct side_figures *figures = memory_resize(NULL, c->side_count * sizeof *figures);
    fprintf(stream, "\n%-*s", LABEL, "");
    for (size_t s = 0; s < c->side_count; s++) {
        figures_of_side(c, s, &figures[s]);
        fprintf(stream, "%*s", width_of(c, s), c->sides[s].name);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fprintf(stream, "%-*s", LABEL, rows[i].label);
        for (size_t s = 0; s < c->side_count; s++) {
            char text[32] = "-";
            if (figures[s].has_frames || !rows[i].of_frames) {
                double value = *(double *)((char *)&figures[s] + rows[i].figure);
                snprintf(text, sizeof text, rows[i].format, value);
            }
            fprintf(stream, "%*s", width_of(c, s), text);
        }
        fputc('\n', stream);
    }
    free(figures);
}

static void print_ratio(FILE *stream, const char *what, const char *a, const char *b, bool enough,
                        const struct interval *i)
{
    fprintf(stream, "%s: %s / %s %.4f", what, a, b, i->ratio);
    if (enough) {
        fprintf(stream, ", 95 %% interval %.4f to %.4f", i->low, i->high);
    }
    fputc('\n', stream);
}

static void print_ratios(const struct comparison *c, FILE *stream)
{
    struct interval i;
    fputc('\n', stream);
    bool enough = figures_compare_cpu(c, 0, 1, c->work_count, &i);
    print_ratio(stream, "CPU time", c->sides[0].name, c->sides[1].name, enough, &i);
    enough = figures_compare_frames(c, 0, 1, &i);
    print_ratio(stream, "median frame", c->sides[0].name, c->sides[1].name, enough, &i);
    for (size_t w = 0; c->work_count > 1 && w < c->work_count; w++) {
        enough = figures_compare_cpu(c, 0, 1, w, &i);
        print_ratio(stream, c->works[w].name, c->sides[0].name, c->sides[1].name, enough, &i);
    }
    for (size_t s = 2; s < c->side_count; s++) {
        enough = figures_compare_cpu(c, 1, s, c->work_count, &i);
        print_ratio(stream, "CPU time", c->sides[1].name, c->sides[s].name, enough, &i);
    }
}

void table_print(const struct comparison *c, FILE *stream)
{
    char *verdict = verdict_text(c);
    struct gate gates[GATES];
    fprintf(stream, "%s\n", verdict);
    free(verdict);
    verdict_gates(c, gates);
    for (size_t i = 0; i < GATES && c->blocks; i++) {
        fprintf(stream, "%s %s: %s\n", gates[i].good ? "  ok" : "  !!", gates[i].word, gates[i].text);
    }
    verdict_free_gates(gates);
    if (c->blocks && !c->difference.found) {
        print_figures(c, stream);
        print_ratios(c, stream);
    }
    for (size_t i = 0; i < c->warnings.count; i++) {
        fprintf(stream, "warning: %s\n", c->warnings.items[i]);
    }
}
