// SPDX-License-Identifier: MIT
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"

enum { WINDOW = 35, RESAMPLES = 10000, SPIKE = 3 };

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

struct frame_mean frame_mean_take(double *ms, size_t count)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    qsort(ms, count, sizeof *ms, by_value);
    for (; n < count && ms[n] <= SPIKE * ms[count / 2]; n++) {
        sum += ms[n];
        squares += ms[n] * ms[n];
    }
    if (n < 2) {
        return (struct frame_mean){0};
    }
    double frames = (double)n, mean = sum / frames;
    double variance = (squares - frames * mean * mean) / (frames - 1);
    return (struct frame_mean){mean, sqrt(fmax(variance, 0) / frames)};
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
    size_t degrees = units - 2 * (units / 4) - 1;
    double t = degrees < DEGREES ? student[degrees] : 1.96 + 2.46 / (double)degrees;
    double share = erfc(t * sqrt(n / (n - 1)) / sqrt(2)) / 2;
    return (size_t)(share * RESAMPLES);
}

// The mean of the middle half, which the odd outlier does not move; sorts them.
static double middle_mean(double *values, size_t count)
{
    size_t cut = count / 4;
    double sum = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = cut; i < count - cut; i++) {
        sum += values[i];
    }
    return count ? sum / (double)(count - 2 * cut) : 0;
}

static double drawn_mean(const double *values, size_t count, struct draw *draw, double *room)
{
    for (size_t i = 0; i < count; i++) {
        room[i] = values[draw_next(draw, count)];
    }
    return middle_mean(room, count);
}

static double logarithm(double value)
{
    return value > 0 ? log(value) : 0;
}

// The difference of two sets of logarithms; b may be empty.
static bool resample(const double *a, size_t a_count, const double *b, size_t b_count, uint32_t seed,
                     struct interval *interval)
{
    size_t least = b_count && b_count < a_count ? b_count : a_count;
    size_t most = b_count > a_count ? b_count : a_count;
    double *room = memory_resize(NULL, (most + 1) * sizeof *room);
    *interval = (struct interval){0};
    for (size_t side = 0; a_count && side < 1 + (b_count > 0); side++) {
        memcpy(room, side ? b : a, (side ? b_count : a_count) * sizeof *room);
        double mean = middle_mean(room, side ? b_count : a_count);
        interval->ratio += side ? -mean : mean;
    }
    interval->ratio = a_count ? exp(interval->ratio) : 0;
    bool enough = least >= INTERVAL_LEAST;
    if (enough) {
        double *drawn = memory_resize(NULL, RESAMPLES * sizeof *drawn);
        struct draw draw = draw_start(seed);
        for (size_t i = 0; i < RESAMPLES; i++) {
            drawn[i] = drawn_mean(a, a_count, &draw, room);
            drawn[i] -= b_count ? drawn_mean(b, b_count, &draw, room) : 0;
        }
        qsort(drawn, RESAMPLES, sizeof *drawn, by_value);
        interval->low = exp(drawn[outside(least)]);
        interval->high = exp(drawn[RESAMPLES - 1 - outside(least)]);
        free(drawn);
    }
    free(room);
    return enough;
}

bool interval_of_blocks(const double *a, const double *b, size_t blocks, size_t each, uint32_t seed,
                        struct interval *interval)
{
    double *ratios = memory_resize(NULL, (blocks + 1) * sizeof *ratios);
    for (size_t i = 0; i < blocks; i++) {
        double of_a = 0, of_b = 0;
        for (size_t k = 0; k < each; k++) {
            of_a += a[i * each + k];
            of_b += b[i * each + k];
        }
        ratios[i] = logarithm(of_a) - logarithm(of_b);
    }
    bool enough = resample(ratios, blocks, NULL, 0, seed, interval);
    free(ratios);
    return enough;
}

bool interval_of_groups(const double *a, size_t a_count, const double *b, size_t b_count, uint32_t seed,
                        struct interval *interval)
{
    double *logarithms = memory_resize(NULL, (a_count + b_count + 1) * sizeof *logarithms);
    for (size_t i = 0; i < a_count + b_count; i++) {
        logarithms[i] = logarithm(i < a_count ? a[i] : b[i - a_count]);
    }
    bool both = a_count && b_count;
    bool enough = resample(logarithms, both ? a_count : 0, logarithms + a_count, b_count, seed, interval);
    free(logarithms);
    return enough && both;
}

bool interval_tells(const struct interval *interval)
{
    return interval->low > 1 || interval->high < 1;
}
