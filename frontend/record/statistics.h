// SPDX-License-Identifier: MIT
// Figures of frame times, and whether one of two things is faster. Nothing here looks at a clock, a file or a
// machine: the same numbers give the same figures, to the last bit.
#ifndef FRONTEND_STATISTICS_H
#define FRONTEND_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A frame of DOOM: 1/35 s. One that takes no longer keeps up with the game.
#define STATISTICS_TIC_MS (1000.0 / 35)

// Frame times, of one run or of several.
struct frame_sample {
    double *ms;
    size_t count, room;
    double stuttering_ms; // spent in frames that stutter
};

// Adds the frames of a run, in their order. A frame stutters if it takes over 2.5 times the mean of the 35
// frames before it in that run, or of as many as there are; the first never does.
void frame_sample_add(struct frame_sample *sample, const double *ms, size_t count);
void frame_sample_free(struct frame_sample *sample);

struct frame_statistics {
    size_t frames;
    double seconds;
    double average_fps; // frames / seconds, never a mean of rates
    double p50, p95, p99, p99_9, max; // ms: the smallest that so many per cent of the frames do not exceed
    double low1_percentile_fps; // 1000 / p99
    double low1_average_fps; // of the slowest 1 % of the frames, rounded up
    double stutter_percent; // of the time: in frames that stutter
    double stable_percent; // of the frames: they took at most STATISTICS_TIC_MS
};

// Sorts sample->ms. All figures are 0 where there is no frame.
void frame_statistics_take(struct frame_sample *sample, struct frame_statistics *statistics);

// Sorts count numbers; their median, the mean of the two in the middle if count is even; 0 if it is 0.
double statistics_median(double *values, size_t count);

// The mean of these frame times without those that took over three times the median, which say more of the
// host than of what ran; and its standard error. Sorts them. 0 of fewer than two.
struct frame_mean {
    double ms, error;
};
struct frame_mean frame_mean_take(double *ms, size_t count);

// By how much b is faster than a, with its 95 % interval.
struct interval {
    double ratio; // a / b: how many times as fast b is
    double low, high;
};

// The fewest of what is resampled below that an interval is given for.
enum { INTERVAL_LEAST = 6 };

// Times of two sides that were taken in turns: block k holds each values of a, from a[k * each] on, and of b.
// They are compared within their block only, sum by sum, so that what changes between blocks, however much,
// counts for neither; of the blocks' ratios it is the geometric mean of the middle half. The interval is that
// of a percentile bootstrap of whole blocks, widened for their number as Hesterberg says
// ("What teachers should know about the bootstrap", 2015, 3.3): its quantiles are those at which a normal
// distribution stands where Student's t stands at 2.5 %, times the root of blocks / (blocks - 1); with one
// degree less than the middle half has blocks, as Yuen's test has it for such means. False: fewer than
// INTERVAL_LEAST blocks, *interval has a ratio only (0 with none).
bool interval_of_blocks(const double *a, const double *b, size_t blocks, size_t each, uint32_t seed,
                        struct interval *interval);

// The same for times that were taken apart: the ratio of such means of all values of a and of b, each drawn
// by itself; the widening is that for the smaller number of values.
bool interval_of_groups(const double *a, size_t a_count, const double *b, size_t b_count, uint32_t seed,
                        struct interval *interval);

// Whether it lies on one side of 1: else no difference was found.
bool interval_tells(const struct interval *interval);

// Numbers as they come with a seed: x' = 48271 x mod 2^31 - 1, which any language with doubles can repeat.
struct draw {
    uint32_t state;
};
struct draw draw_start(uint32_t seed);
// The next one, from 0 to below count.
size_t draw_next(struct draw *draw, size_t count);

#endif
