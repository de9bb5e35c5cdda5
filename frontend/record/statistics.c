// SPDX-License-Identifier: MIT
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"

enum { WINDOW = 35, RESAMPLES = 10000 };

static const double stutter_factor = 2.5;

void frame_sample_add(struct frame_sample *sample, const double *ms, size_t count)
{
    if (sample->count + count > sample->room) {
        sample->room = 2 * (sample->count + count);
        sample->ms = memory_resize(sample->ms, sample->room * sizeof *sample->ms);
    }
    for (size_t i = 0; i < count; i++) {
        size_t before = i < WINDOW ? i : WINDOW;
        double sum = 0;
        for (size_t k = 1; k <= before; k++) {
            sum += ms[i - k];
        }
        if (before && ms[i] * (double)before > stutter_factor * sum) {
            sample->stuttering_ms += ms[i];
        }
        sample->ms[sample->count++] = ms[i];
    }
}

void frame_sample_free(struct frame_sample *sample)
{
    free(sample->ms);
    *sample = (struct frame_sample){0};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The smallest value that at least permille of the values do not exceed.
static double nearest_rank(const double *sorted, size_t count, unsigned permille)
{
    size_t rank = (count * permille + 999) / 1000;
    return sorted[rank ? rank - 1 : 0];
}

void frame_statistics_take(struct frame_sample *sample, struct frame_statistics *statistics)
{
    size_t count = sample->count;
    *statistics = (struct frame_statistics){.frames = count};
    if (count == 0) {
        return;
    }
    const double *ms = sample->ms;
    qsort(sample->ms, count, sizeof *ms, by_value);
    size_t slow = (count + 99) / 100, stable = 0;
    double sum = 0, slowest = 0;
    for (size_t i = 0; i < count; i++) {
        sum += ms[i];
        slowest += i >= count - slow ? ms[i] : 0;
        stable += ms[i] <= STATISTICS_TIC_MS;
    }
    statistics->seconds = sum / 1000;
    statistics->average_fps = sum > 0 ? (double)count * 1000 / sum : 0;
    statistics->p50 = nearest_rank(ms, count, 500);
    statistics->p95 = nearest_rank(ms, count, 950);
    statistics->p99 = nearest_rank(ms, count, 990);
    statistics->p99_9 = nearest_rank(ms, count, 999);
    statistics->max = ms[count - 1];
    statistics->low1_percentile_fps = statistics->p99 > 0 ? 1000 / statistics->p99 : 0;
    statistics->low1_average_fps = slowest > 0 ? (double)slow * 1000 / slowest : 0;
    statistics->stutter_percent = sum > 0 ? 100 * sample->stuttering_ms / sum : 0;
    statistics->stable_percent = 100 * (double)stable / (double)count;
}

double statistics_median(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

struct draw draw_start(uint32_t seed)
{
    return (struct draw){.state = 1 + seed % 2147483646};
}

size_t draw_next(struct draw *draw, size_t count)
{
    draw->state = (uint32_t)((uint64_t)draw->state * 48271 % 2147483647);
    return (size_t)((uint64_t)draw->state * count / 2147483647);
}

// A value, and what is drawn when it is: its block, or itself.
struct drawn {
    double value;
    size_t unit;
};

// One side: its values in order, and how many units they are drawn in.
struct side {
    struct drawn *values;
    size_t count, units;
};

static int by_drawn_value(const void *a, const void *b)
{
    return by_value(&((const struct drawn *)a)->value, &((const struct drawn *)b)->value);
}

static struct side make_side(const double *values, size_t units, size_t each)
{
    struct side side = {.count = units * each, .units = units};
    side.values = memory_resize(NULL, (side.count + 1) * sizeof *side.values);
    for (size_t i = 0; i < side.count; i++) {
        side.values[i] = (struct drawn){.value = values[i], .unit = i / each};
    }
    qsort(side.values, side.count, sizeof *side.values, by_drawn_value);
    return side;
}

// Their median when unit u was drawn times[u] times.
static double drawn_median(const struct side *side, const uint32_t *times)
{
    size_t passed = 0, i = 0;
    for (; passed + times[side->values[i].unit] < (side->count + 1) / 2; i++) {
        passed += times[side->values[i].unit];
    }
    double lower = side->values[i].value;
    for (; passed + times[side->values[i].unit] < side->count / 2 + 1; i++) {
        passed += times[side->values[i].unit];
    }
    return (lower + side->values[i].value) / 2;
}

static void draw_units(struct draw *draw, uint32_t *times, size_t units)
{
    memset(times, 0, units * sizeof *times);
    for (size_t i = 0; i < units; i++) {
        times[draw_next(draw, units)]++;
    }
}

// How many of the resampled ratios lie outside on each side.
static size_t outside(size_t units)
{
    // Student's t, 97.5 %, by degrees of freedom.
    static const double student[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                     2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                                     2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
                                     2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    enum { DEGREES = sizeof student / sizeof *student };
    double n = (double)units;
    double t = units - 1 < DEGREES ? student[units - 1] : 1.96 + 2.46 / (n - 1);
    double share = erfc(t * sqrt(n / (n - 1)) / sqrt(2)) / 2;
    return (size_t)(share * RESAMPLES);
}

// together: what is drawn of a is drawn of b.
static bool resample(struct side *a, struct side *b, bool together, uint32_t seed, struct interval *interval)
{
    size_t least = a->units < b->units ? a->units : b->units;
    bool enough = least >= INTERVAL_LEAST;
    if (enough) {
        double *ratios = memory_resize(NULL, RESAMPLES * sizeof *ratios);
        uint32_t *of_a = memory_resize(NULL, a->units * sizeof *of_a);
        uint32_t *of_b = memory_resize(NULL, b->units * sizeof *of_b);
        struct draw draw = draw_start(seed);
        for (size_t i = 0; i < RESAMPLES; i++) {
            draw_units(&draw, of_a, a->units);
            if (!together) {
                draw_units(&draw, of_b, b->units);
            }
            ratios[i] = drawn_median(a, of_a) / drawn_median(b, together ? of_a : of_b);
        }
        qsort(ratios, RESAMPLES, sizeof *ratios, by_value);
        interval->low = ratios[outside(least)];
        interval->high = ratios[RESAMPLES - 1 - outside(least)];
        free(ratios);
        free(of_a);
        free(of_b);
    }
    free(a->values);
    free(b->values);
    return enough;
}

static double median_of(const struct side *side)
{
    size_t n = side->count;
    return n ? (side->values[(n - 1) / 2].value + side->values[n / 2].value) / 2 : 0;
}

static struct interval bare_ratio(const struct side *a, const struct side *b)
{
    double divisor = median_of(b), ratio = divisor > 0 ? median_of(a) / divisor : 0;
    return (struct interval){.ratio = ratio};
}

bool interval_of_blocks(const double *a, const double *b, size_t blocks, size_t each, uint32_t seed,
                        struct interval *interval)
{
    struct side first = make_side(a, blocks, each), second = make_side(b, blocks, each);
    *interval = bare_ratio(&first, &second);
    return resample(&first, &second, true, seed, interval);
}

bool interval_of_groups(const double *a, size_t a_count, const double *b, size_t b_count, uint32_t seed,
                        struct interval *interval)
{
    struct side first = make_side(a, a_count, 1), second = make_side(b, b_count, 1);
    *interval = bare_ratio(&first, &second);
    return resample(&first, &second, false, seed, interval);
}

bool interval_tells(const struct interval *interval)
{
    return interval->low > 1 || interval->high < 1;
}
