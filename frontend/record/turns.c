// SPDX-License-Identifier: MIT
#include "turns.h"

#include <stdio.h>
#include <string.h>

#define SETTLING_MS 500.0
#define FIRST_MS 2000.0
#define LAST_MS (1000.0 * TURNS_SECONDS - SETTLING_MS - FIRST_MS)
#define LEAST_FRAMES 10 // of a part: a frame that hangs is none

static void begin_part(struct turns *t)
{
    t->part.frames = 0;
    t->part.lasted_ms = 0;
}

static void begin_turn(struct turns *t)
{
    begin_part(t);
    t->unsettled_ms = SETTLING_MS;
    t->ends = false;
}

void turns_start(struct turns *t, unsigned side)
{
    *t = (struct turns){.side = side};
    begin_turn(t);
}

// Puts them in another order.
static double mean(struct turns_part *part)
{
    return frame_mean_take(part->emu_ms, part->frames < TURNS_FRAMES ? part->frames : TURNS_FRAMES).ms;
}

// The first part of this turn is complete.
static void add_block(struct turns *t)
{
    if (t->before > 0 && !turns_full(t)) {
        t->ms[t->side][t->blocks] = mean(&t->part);
        t->ms[!t->side][t->blocks] = t->before;
        t->blocks++;
    }
    t->before = 0;
    begin_part(t);
    t->ends = true;
}

bool turns_frame(struct turns *t, const struct frame_figures *frame, bool steady)
{
    struct turns_part *part = &t->part;
    if (t->last && frame->number != t->last + 1) {
        t->before = 0;
        begin_turn(t);
    }
    t->last = frame->number;
    if (!steady) {
        t->unsettled_ms = SETTLING_MS;
    }
    if (t->unsettled_ms > 0) {
        t->unsettled_ms -= frame->frame_ms;
        return false;
    }
    part->lasted_ms += frame->frame_ms;
    part->emu_ms[part->frames % TURNS_FRAMES] = frame->emu_ms;
    part->frames++;
    if (part->lasted_ms < (t->ends ? LAST_MS : FIRST_MS) || part->frames < LEAST_FRAMES) {
        return false;
    }
    if (!t->ends) {
        add_block(t);
        return false;
    }
    t->before = mean(part);
    t->side = !t->side;
    begin_turn(t);
    return true;
}

bool turns_full(const struct turns *t)
{
    return t->blocks == TURNS_BLOCKS;
}

static double median(const double *values, size_t count)
{
    double room[TURNS_BLOCKS];
    memcpy(room, values, count * sizeof *room);
    return statistics_median(room, count);
}

// Without the words that it has in common with the other: after "loops on" only "off".
static const char *short_name(const char *name, const char *other)
{
    const char *rest = name;
    for (const char *at = name; *at && *at == *other; at++, other++) {
        rest = *at == ' ' ? at + 1 : rest;
    }
    return rest;
}

// Three digits.
static int digits(double ms)
{
    return ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : 2;
}

void turns_tell(const struct turns *t, const char *const names[2], bool over, char *text, size_t size)
{
    if (t->blocks) {
        turns_tell_times((const double *const[2]){t->ms[0], t->ms[1]}, t->blocks, names, over, text, size);
    } else {
        const char *other = short_name(names[1], names[0]);
        snprintf(text, size,
                 over ? "%s, %s: too few turns to say anything" : "%s and %s take turns, %d s each", names[0],
                 other, TURNS_SECONDS);
    }
}

void turns_tell_times(const double *const ms[2], size_t blocks, const char *const names[2], bool over,
                      char *text, size_t size)
{
    struct interval i;
    bool enough = interval_of_blocks(ms[1], ms[0], blocks, 1, 1, &i);
    bool second = i.ratio < 1;
    const char *fast = names[second], *slow = short_name(names[!second], fast);
    double fast_ms = median(ms[second], blocks), slow_ms = median(ms[!second], blocks);
    double times = second ? 1 / i.ratio : i.ratio, low = second ? 1 / i.high : i.low,
           high = second ? 1 / i.low : i.high;
    int length = snprintf(text, size, "%s %.*f, %s %.*f ms", fast, digits(fast_ms), fast_ms, slow,
                          digits(slow_ms), slow_ms);
    text += length;
    size -= (size_t)length;
    if (!enough) {
        snprintf(text, size, over ? ": too few turns to say more" : " so far, %zu of %d swaps", blocks,
                 INTERVAL_LEAST);
    } else if (!interval_tells(&i)) {
        snprintf(text, size, ": no difference found (%.2f to %.2f)", low, high);
    } else {
        int places = times < 1.1 ? 3 : times < 10 ? 2 : 1;
        snprintf(text, size, ": %.*f× as fast (%.*f to %.*f)", places, times, places, low, places, high);
    }
}
