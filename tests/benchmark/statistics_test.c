// SPDX-License-Identifier: MIT
// frontend/record/statistics.h: the values expected here were worked out by hand, as is said with each.
#include "frontend/record/statistics.h"

#include <math.h>
#include <stdio.h>

static void expect(const char *what, double value, double expected)
{
    bool good = fabs(value - expected) <= 1e-9 * (1 + fabs(expected));
    printf("%s %s%s", good ? "ok" : "not ok", what, good ? "\n" : "");
    if (!good) {
        printf(" (%.12g, not %.12g)\n", value, expected);
    }
}

// 200 frames of 1, 2, ... 200 ms, in an order that makes none of them stutter.
static void test_ranks(void)
{
    double ms[200];
    for (int i = 0; i < 200; i++) {
        ms[i] = 200 - i;
    }
    struct frame_sample sample = {0};
    struct frame_statistics s;
    frame_sample_add(&sample, ms, 200);
    frame_statistics_take(&sample, &s);
    expect("the median of 1 to 200 by nearest rank", s.p50, 100);
    expect("95 % of 200 are 190", s.p95, 190);
    expect("99 % are 198", s.p99, 198);
    expect("99.9 % are 199.8, so rank 200", s.p99_9, 200);
    expect("the slowest", s.max, 200);
    expect("1 + ... + 200 ms are 20.1 s", s.seconds, 20.1);
    expect("frames a second of all time, 200 / 20.1", s.average_fps, 200 / 20.1);
    expect("the 1 % low as a percentile, 1000 / 198", s.low1_percentile_fps, 1000.0 / 198);
    expect("as an average of the slowest two, 199.5 ms", s.low1_average_fps, 1000 / 199.5);
    expect("28 of 200 last at most 28.57 ms", s.stable_percent, 14);
    expect("falling times never stutter", s.stutter_percent, 0);
    frame_sample_free(&sample);
}

static void test_stutter(void)
{
    // Before the 25 stand 10s: exactly 2.5 times is none yet. 26 is one, though the 25 has raised the mean to
    // 10.75 by then: 26 / 10.75 is below 2.5. So it is none; 28, after 25 and 26, stands over a mean of
    // (18 * 10 + 25 + 26) / 20 = 11.55, 2.42 times. 40 is over (18 * 10 + 25 + 26 + 28) / 21 = 12.33, 3.24
    // times.
    double ms[25];
    for (int i = 0; i < 18; i++) {
        ms[i] = 10;
    }
    ms[18] = 25, ms[19] = 26, ms[20] = 28, ms[21] = 40, ms[22] = ms[23] = ms[24] = 10;
    struct frame_sample sample = {0};
    struct frame_statistics s;
    frame_sample_add(&sample, ms, 25);
    expect("40 ms stutter, 25, 26 and 28 do not", sample.stuttering_ms, 40);
    frame_statistics_take(&sample, &s);
    expect("that is 40 of 329 ms", s.stutter_percent, 100 * 40.0 / 329);
    expect("24 of 25 keep up", s.stable_percent, 96);
    frame_sample_free(&sample);

    // A run begins anew: its first frame is compared with none of the run before. 100 frames of 1 ms, then
    // one of 3: over the mean of the last 35, whatever stood before those.
    double quick[101];
    for (int i = 0; i < 101; i++) {
        quick[i] = i < 65 ? 1000 : i < 100 ? 1 : 3;
    }
    double slow = 50;
    frame_sample_add(&sample, quick, 101);
    frame_sample_add(&sample, &slow, 1);
    expect("only the 35 frames before count, and only those of the run", sample.stuttering_ms, 3);
    frame_sample_free(&sample);
    frame_statistics_take(&sample, &s);
    expect("no frame, no figure", s.p50 + s.average_fps + s.stutter_percent + s.stable_percent, 0);
}

static void test_median(void)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    expect("the median of 1, 3, 5", statistics_median(odd, 3), 3);
    expect("of 1, 2, 3, 4", statistics_median(even, 4), 2.5);
    expect("of nothing", statistics_median(NULL, 0), 0);
}

static void test_draw(void)
{
    // x' = 48271 x mod 2^31 - 1 from 1: 48271, then 48271 * 48271 = 2330089441 = 2147483647 + 182605794.
    struct draw draw = draw_start(0);
    draw_next(&draw, 10);
    expect("the first number drawn", draw.state, 48271);
    expect("the second one of ten", (double)draw_next(&draw, 10), 0);
    expect("is", draw.state, 182605794);
}

static void test_interval(void)
{
    // Whatever is drawn of equal blocks has the same medians: 6 / 4.
    double a[16], b[16];
    struct interval i;
    for (int k = 0; k < 16; k++) {
        a[k] = 6;
        b[k] = 4;
    }
    bool enough = interval_of_blocks(a, b, 8, 2, 1, &i);
    expect("equal blocks have an interval", enough, 1);
    expect("6 to 4 is 1.5 times as fast", i.ratio, 1.5);
    expect("for sure", i.high - i.low, 0);
    expect("which tells a difference", interval_tells(&i), 1);

    // Where both sides of a block share what disturbs it, no drawing of blocks makes them differ: a drift of
    // the machine is no difference of the sides.
    for (int k = 0; k < 16; k++) {
        a[k] = b[k] = 1 + k / 2;
    }
    interval_of_blocks(a, b, 8, 2, 1, &i);
    expect("a drift that both share is no difference", i.high - i.low, 0);
    expect("it says so", interval_tells(&i), 0);

    // Nor is it one that some blocks were disturbed for one side: the middle half of eight leaves two out on
    // each side.
    a[0] = a[15] = 100;
    interval_of_blocks(a, b, 8, 2, 1, &i);
    expect("two blocks of eight that stand out are left out", i.ratio, 1);
    a[0] = 1, a[15] = 8;

    // Taken apart, the same times tell nothing either, but not for sure. No ratio leaves 1/8 to 8.
    enough = interval_of_groups(a, 16, b, 16, 1, &i);
    expect("apart they have an interval, too", enough && i.low < 1 && i.high > 1, 1);
    expect("within what there is", i.low >= 0.125 && i.high <= 8, 1);
    expect("which tells nothing", interval_tells(&i), 0);

    enough = interval_of_blocks(a, b, INTERVAL_LEAST - 1, 2, 1, &i);
    expect("fewer blocks have none", enough, 0);
    // The first five blocks of two: 1 1 2 2 3 3 4 4 5 5.
    expect("but a ratio", i.ratio, 1);

    // Of six blocks the middle half is four: the geometric mean of 2, 3, 4, 5. 3 degrees: 3.182 * sqrt(6 / 5)
    // = 3.486, beyond which a normal distribution has 0.00024 on each side. Four or more of six draws are the
    // smallest with a chance of (15 * 25 + 6 * 5 + 1) / 6^6 = 0.0087; then at most one of the middle four is
    // none, and the mean is at most the fourth root of 6. Likewise it is at least that of 216.
    double values[] = {1, 2, 3, 4, 5, 6}, ones[] = {1, 1, 1, 1, 1, 1};
    interval_of_blocks(values, ones, 6, 1, 1, &i);
    expect("the mean of the middle half", i.ratio, pow(120, 0.25));
    expect("six blocks that differ so much tell little below", i.low >= 1 && i.low <= pow(6, 0.25) + 1e-9, 1);
    expect("and above", i.high >= pow(216, 0.25) - 1e-9 && i.high <= 6, 1);
}

int main(void)
{
    test_ranks();
    test_stutter();
    test_median();
    test_draw();
    test_interval();
    return 0;
}
