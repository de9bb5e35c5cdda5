// SPDX-License-Identifier: MIT
#include "verdict.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "frontend/base/paths.h"

// A machine is busy if others used more than half a core of it, or its host took that share of its time.
static const double busy_load = 0.5, busy_steal_percent = 2, few_frames = 1000, waiting_share = 0.1;

char *verdict_number(double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.0f", value);
    size_t length = strlen(digits), commas = (length - 1) / 3;
    char *text = memory_resize(NULL, length + commas + 1), *to = text;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static char *difference_text(const struct comparison *c)
{
    const struct difference *d = &c->difference;
    return text_format("No speed: %s and %s do not %s the same, from %s %u of %s on.", c->sides[d->a].name,
                       d->a == d->b ? "another run of it" : c->sides[d->b].name,
                       d->of_sound ? "sound" : "show", d->of_sound ? "second" : "frame", d->frame,
                       c->works[d->work].name);
}

static char *sentence(const struct comparison *c)
{
    if (c->difference.found) {
        return difference_text(c);
    }
    if (!c->blocks) {
        return text_copy("Interrupted before anything was measured.");
    }
    struct interval i;
    bool enough = figures_compare_cpu(c, 0, 1, c->work_count, &i);
    bool second = i.ratio >= 1;
    const char *fast = c->sides[second].name, *slow = c->sides[!second].name;
    double times = second ? i.ratio : 1 / i.ratio;
    if (!enough) {
        return text_format("%s took %.3f times the CPU time of %s: too few runs to say more.", slow, times,
                           fast);
    }
    if (!interval_tells(&i)) {
        return text_format("No difference found between %s and %s (%.3f to %.3f).", c->sides[0].name,
                           c->sides[1].name, i.low, i.high);
    }
    return text_format("%s is %.3f times as fast as %s (%.3f to %.3f).", fast, times, slow,
                       second ? i.low : 1 / i.high, second ? i.high : 1 / i.low);
}

char *verdict_text(const struct comparison *c)
{
    char *text = sentence(c);
    *text = (char)toupper((unsigned char)*text);
    return text;
}

static size_t measured_runs(const struct comparison *c)
{
    return (size_t)c->blocks * PASSES * c->side_count * c->work_count;
}

static char *same_text(const struct comparison *c)
{
    if (c->difference.found) {
        return difference_text(c);
    }
    if (!measured_runs(c)) {
        return text_copy("it ended before the first runs had");
    }
    double frames = 0;
    unsigned seconds = 0;
    for (size_t i = 0; i < c->work_count; i++) {
        frames += (double)c->works[i].frame_count;
        seconds += c->works[i].sound_seconds;
    }
    char *number = verdict_number(frames);
    char *text = text_format(
        "all %s frames are equal to the bit in all %zu runs, and %u seconds of sound on all sides", number,
        measured_runs(c), seconds);
    free(number);
    return text;
}

static bool is_quiet(const struct comparison *c)
{
    return c->load < busy_load && c->steal_percent < busy_steal_percent;
}

void verdict_gates(const struct comparison *c, struct gate gates[GATES])
{
    size_t outliers = c->blocks ? figures_outliers(c) : 0;
    gates[0] = (struct gate){.word = c->difference.found ? "Not the same"
                                     : measured_runs(c)  ? "Same picture"
                                                         : "Nothing compared",
                             .text = same_text(c),
                             .good = !c->difference.found && measured_runs(c)};
    gates[1] = (struct gate){
        .word = c->settled ? "Settled" : "Not settled",
        .text = text_format("%u rounds of warm-up%s", c->warm_rounds, c->settled ? "" : " were not enough"),
        .good = c->settled};
    gates[2] =
        (struct gate){.word = is_quiet(c) ? "Quiet machine" : "Busy machine",
                      .text = text_format("load %.1f at first, %.1f %% of its time went to other guests "
                                          "of the host, %zu of %zu runs outliers",
                                          c->load, c->steal_percent, outliers, measured_runs(c)),
                      .good = is_quiet(c)};
}

void verdict_free_gates(struct gate gates[GATES])
{
    for (size_t i = 0; i < GATES; i++) {
        free(gates[i].text);
    }
}

void verdict_warn(struct comparison *c)
{
    struct text_list *w = &c->warnings;
    double frames = 0, cpu = 0, wall = 0;
    bool counted = false;
    for (size_t i = 0; i < c->work_count; i++) {
        frames += (double)c->works[i].frame_count;
    }
    for (size_t i = 0; i < c->run_count; i++) {
        cpu += c->runs[i].cpu_s;
        wall += c->runs[i].wall_s;
        counted |= c->runs[i].frame_count > c->runs[i].warm;
    }
    if (c->interrupted) {
        text_list_add(w, text_format("interrupted: %u of %u blocks were measured", c->blocks, c->planned));
    }
    if (!is_quiet(c)) {
        text_list_add(w,
                      text_copy("the machine was busy with other things: differences are found less easily"));
    }
    if (c->blocks && !c->settled) {
        text_list_add(
            w, text_copy("times had not settled after the warm-up: code was still being translated, or "
                         "the machine changed; run it again, or neurodoom --prepare first"));
    }
    if (wall > 0 && wall - cpu > waiting_share * wall) {
        text_list_add(
            w, text_format("runs waited for a processor %.0f %% of their time: CPU seconds leave that out, "
                           "frame times do not",
                           100 * (wall - cpu) / wall));
    }
    if (c->blocks && !counted) {
        text_list_add(w, text_format("no frame counts: all lie in the first %u tics of their run (--warmup)",
                                     c->warm_tics));
    } else if (frames < few_frames) {
        text_list_add(w, text_copy("fewer than 1,000 frames: 99.9 % and the slowest say little"));
    }
    if (c->blocks && c->blocks < INTERVAL_LEAST) {
        text_list_add(w, text_format("fewer than %u blocks: no interval", INTERVAL_LEAST));
    }
}
