// SPDX-License-Identifier: MIT
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OUTLIER_DEVIATIONS = 5 };

static size_t pass_index(const struct run *run)
{
    return (run->block - 1) * PASSES + run->pass - 1;
}

static double cpu_of(const struct run *run)
{
    return run->cpu_s;
}

static double start_of(const struct run *run)
{
    return run->start_s;
}

static double played_of(const struct run *run)
{
    return run->cpu_s - run->start_s;
}

static double wall_of(const struct run *run)
{
    return run->wall_s;
}

static double median_frame_of(const struct run *run)
{
    size_t count = run->frame_count - run->warm;
    double *ms = memory_resize(NULL, (count + 1) * sizeof *ms);
    memcpy(ms, run->frame_ms + run->warm, count * sizeof *ms);
    double median = statistics_median(ms, count);
    free(ms);
    return median;
}

// A value of each pass: the sum over the runs of that work, or of all.
static double *passes(const struct comparison *c, size_t side, size_t work,
                      double (*value)(const struct run *run))
{
    size_t count = (size_t)c->blocks * PASSES;
    double *values = memory_zeroed((count + 1) * sizeof *values);
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        if (run->block && run->side == side && (work == c->work_count || run->work == work)) {
            values[pass_index(run)] += value(run);
        }
    }
    return values;
}

static void copy_passes(const struct comparison *c, size_t side, double (*value)(const struct run *run),
                        double *values)
{
    double *all = passes(c, side, c->work_count, value);
    memcpy(values, all, (size_t)c->blocks * PASSES * sizeof *values);
    free(all);
}

void figures_passes(const struct comparison *c, size_t side, double *cpu, double *start)
{
    copy_passes(c, side, cpu_of, cpu);
    copy_passes(c, side, start_of, start);
}

static double median_of_passes(const struct comparison *c, size_t side,
                               double (*value)(const struct run *run))
{
    double *values = passes(c, side, c->work_count, value);
    double median = statistics_median(values, (size_t)c->blocks * PASSES);
    free(values);
    return median;
}

void figures_sample(const struct comparison *c, size_t side, struct frame_sample *sample)
{
    *sample = (struct frame_sample){0};
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        if (run->block && run->side == side) {
            frame_sample_add(sample, run->frame_ms + run->warm, run->frame_count - run->warm);
        }
    }
}

void figures_of_side(const struct comparison *c, size_t side, struct side_figures *figures)
{
    *figures = (struct side_figures){.has_frames = c->sides[side].kind == SIDE_OURS};
    figures->cpu_s = median_of_passes(c, side, cpu_of);
    figures->start_s = median_of_passes(c, side, start_of);
    figures->wall_s = median_of_passes(c, side, wall_of);
    if (!figures->has_frames || !c->blocks) {
        return;
    }
    struct frame_sample sample;
    figures_sample(c, side, &sample);
    frame_statistics_take(&sample, &figures->frames);
    frame_sample_free(&sample);
    // Divided once, at the end: counts are sums of integers until then, and exact.
    double emulating = 0, asked = 0, right = 0, retired = 0, credited = 0, skipped = 0;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        if (run->block && run->side == side) {
            emulating += run->emulating_s;
            asked += run->dispatch_total;
            right += run->dispatch_hit;
            retired += run->retired;
            credited += run->credited;
            skipped += run->skipped;
        }
    }
    figures->dispatch_accuracy = asked > 0 ? right / asked : -1;
    const double of_passes = (double)c->blocks * PASSES;
    figures->retired = retired / of_passes;
    figures->credited = credited / of_passes;
    figures->skipped = skipped / of_passes;
    figures->mips = emulating > 0 ? retired / emulating / 1e6 : 0;
    figures->mips_effective = emulating > 0 ? (retired + credited) / emulating / 1e6 : 0;
}

static bool compare(const struct comparison *c, size_t a, size_t b, size_t work,
                    double (*value)(const struct run *run), struct interval *interval)
{
    double *of_a = passes(c, a, work, value), *of_b = passes(c, b, work, value);
    bool enough = interval_of_blocks(of_a, of_b, c->blocks, PASSES, c->seed, interval);
    free(of_a);
    free(of_b);
    return enough;
}

bool figures_compare_cpu(const struct comparison *c, size_t a, size_t b, size_t work,
                         struct interval *interval)
{
    bool together = a < TOGETHER && b < TOGETHER;
    return compare(c, a, b, work, together ? played_of : cpu_of, interval);
}

bool figures_compare_frames(const struct comparison *c, size_t a, size_t b, struct interval *interval)
{
    return compare(c, a, b, c->work_count, median_frame_of, interval);
}

static size_t outliers_of(const struct comparison *c, size_t side, size_t work)
{
    size_t count = (size_t)c->blocks * PASSES, outliers = 0;
    double *values = passes(c, side, work, played_of), *sorted = passes(c, side, work, played_of);
    double median = statistics_median(sorted, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = fabs(values[i] - median);
    }
    double limit = OUTLIER_DEVIATIONS * 1.4826 * statistics_median(sorted, count);
    for (size_t i = 0; i < count; i++) {
        outliers += values[i] - median > limit;
    }
    free(values);
    free(sorted);
    return outliers;
}

size_t figures_outliers(const struct comparison *c)
{
    size_t outliers = 0;
    for (size_t i = 0; i < c->side_count * c->work_count; i++) {
        outliers += outliers_of(c, i % c->side_count, i / c->side_count);
    }
    return outliers;
}

double *figures_frame_medians(const struct comparison *c, size_t side, size_t work, size_t *count)
{
    size_t runs = (size_t)c->blocks * PASSES;
    const struct run **of_side = memory_resize(NULL, (runs + 1) * sizeof(struct run *));
    size_t found = 0;
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        if (run->block && run->side == side && run->work == work) {
            of_side[found++] = run;
        }
    }
    *count = found ? of_side[0]->frame_count - of_side[0]->warm : 0;
    double *medians = *count ? memory_resize(NULL, *count * sizeof *medians) : NULL;
    double *values = memory_resize(NULL, (found + 1) * sizeof *values);
    for (size_t f = 0; f < *count; f++) {
        for (size_t i = 0; i < found; i++) {
            values[i] = of_side[i]->frame_ms[of_side[i]->warm + f];
        }
        medians[f] = statistics_median(values, found);
    }
    free(values);
    free(of_side);
    return medians;
}
