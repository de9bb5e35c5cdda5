// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "runner.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/clock.h"
#include "frontend/base/interrupt.h"
#include "frontend/record/statistics.h"
#include "profiles.h"
#include "stage.h"

// --bench ends within a minute on a machine that does the demo in a second.
static const double quick_seconds = 55, quick_warm_up_seconds = 20, full_warm_up_seconds = 300;

// Where others keep the core busy, blocks take longer than was planned: behind that it is enough.
static const double late_seconds = 70;

enum { ROUNDS_LEAST = 2, ROUNDS_MOST = 12, BLOCKS_FULL = 10, BLOCKS_MOST = 30 };
enum { PROFILED_MOST = 20, PROFILED_FEW = 2 }; // passes

// For looking where time goes.
static const double profile_seconds = 8;

// A turn of the faster side: short beside the times for which a processor keeps its speed, long beside what
// it takes to change from one process to the other.
static const double turn_seconds = 0.003;

// Times have settled when the round before took no side over 5 % more, and translating next to none of it.
static const double settled_share = 0.95, compiling_share = 0.01;

static double since(int64_t start)
{
    return (double)(clock_now_ns() - start) / 1e9;
}

// Makes runs, together, and keeps them. False: *failure, or interrupted.
static bool make_runs(struct comparison *c, const struct workshop *shop, enum errand errand, struct run *runs,
                      size_t count, struct failure *failure)
{
    bool good = child_run(c, shop, errand, runs, count, failure);
    bool kept = good && (errand == ERRAND_TIMES || errand == ERRAND_WARM_UP);
    for (size_t i = 0; i < count; i++) {
        struct run *run = &runs[i];
        if (!kept || run->block == 0) {
            free(run->rows);
            run->rows = NULL;
        }
        if (!kept) {
            free(run->frame_ms);
        }
    }
    if (kept) {
        c->runs = memory_resize(c->runs, (c->run_count + count) * sizeof *c->runs);
        memcpy(c->runs + c->run_count, runs, count * sizeof *runs);
        c->run_count += count;
    }
    return good;
}

// One by itself, on any core.
static bool make_run(struct comparison *c, const struct workshop *shop, enum errand errand, struct run run,
                     struct failure *failure)
{
    run.core = -1;
    return make_runs(c, shop, errand, &run, 1, failure);
}

static bool go_on(const struct comparison *c)
{
    return !c->difference.found && !interrupt_seen();
}

// The gate for what is heard: it takes runs of its own, since the synthesizer's chip takes longer than the
// game.
static bool compare_sound(struct comparison *c, const struct workshop *shop, struct failure *failure)
{
    stage_begin("comparing sound", c->side_count * c->work_count);
    for (size_t w = 0, done = 0; w < c->work_count; w++) {
        for (size_t s = 0; s < c->side_count && go_on(c); s++) {
            if (!make_run(c, shop, ERRAND_SOUND, (struct run){.side = s, .work = w}, failure)) {
                return false;
            }
            stage_tell(++done, 0);
        }
    }
    return true;
}

// CPU seconds of a side in the last round of the warm-up, and the least in those before it.
static bool side_settled(const struct comparison *c, size_t side, unsigned rounds)
{
    double least = 0, last = 0, compiling = 0;
    for (unsigned round = 1; round <= rounds; round++) {
        double sum = 0;
        compiling = 0;
        for (size_t i = 0; i < c->run_count; i++) {
            if (c->runs[i].side == side && c->runs[i].pass == round) {
                sum += c->runs[i].cpu_s;
                compiling += c->runs[i].compile_s;
            }
        }
        least = round == 1 || (round < rounds && sum < least) ? sum : least;
        last = sum;
    }
    return last >= settled_share * least && compiling <= compiling_share * last;
}

static bool settled(const struct comparison *c, unsigned rounds)
{
    bool all = rounds >= ROUNDS_LEAST;
    for (size_t s = 0; s < c->side_count; s++) {
        all &= side_settled(c, s, rounds);
    }
    return all;
}

// The hot loops of a side that replaces them: the last one that was seen stays.
static void keep_loops(struct comparison *c, const struct workshop *shop)
{
    cJSON *counters = child_counters(shop);
    const cJSON *loops = cJSON_GetObjectItem(counters, "loops");
    if (loops && cJSON_IsString(loops) && strcmp(loops->valuestring, "on") == 0) {
        cJSON_Delete(c->loops);
        c->loops = counters;
    } else {
        cJSON_Delete(counters);
    }
}

static bool warm_up(struct comparison *c, const struct workshop *shop, double seconds,
                    struct failure *failure)
{
    int64_t start = clock_now_ns();
    size_t each = c->side_count * c->work_count;
    stage_begin("warming up", ROUNDS_MOST * each);
    for (unsigned round = 1; round <= ROUNDS_MOST && !c->settled; round++) {
        for (size_t i = 0; i < each && go_on(c); i++) {
            struct run run = {.pass = round, .work = i / c->side_count, .side = i % c->side_count};
            if (!make_run(c, shop, ERRAND_WARM_UP, run, failure)) {
                return false;
            }
            if (c->sides[run.side].kind == SIDE_OURS) {
                keep_loops(c, shop);
            }
            stage_tell(c->run_count, 0);
        }
        c->warm_rounds = round;
        c->settled = settled(c, round);
        if (round >= ROUNDS_LEAST && since(start) > seconds) {
            break;
        }
    }
    return true;
}

// What a block will take, by the last round.
static double block_seconds(const struct comparison *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->run_count; i++) {
        sum += c->runs[i].pass == c->warm_rounds ? PASSES * c->runs[i].wall_s : 0;
    }
    return sum;
}

// The last round tells how many frames a turn has.
static void plan_turns(struct comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++) {
        const struct run *run = &c->runs[i];
        struct work *w = &c->works[run->work];
        if (run->pass == c->warm_rounds && run->side < TOGETHER) {
            double frames = (double)run->frame_count * turn_seconds / run->wall_s;
            uint32_t turn = frames < 1 ? 1 : (uint32_t)frames;
            w->turn = turn > w->turn ? turn : w->turn;
        }
    }
}

// What a work executes is the same on both sides: one run of each tells.
static bool count_instructions(struct comparison *c, const struct workshop *shop, struct failure *failure)
{
    stage_begin("counting instructions", c->work_count);
    for (size_t w = 0; w < c->work_count && go_on(c); w++) {
        if (!make_run(c, shop, ERRAND_COUNT, (struct run){.work = w}, failure)) {
            return false;
        }
        cJSON *report = child_profile(shop);
        profiles_add_counts(&c->profiles, report);
        cJSON_Delete(report);
        stage_tell(w + 1, 0);
    }
    return true;
}

// Where time goes, of settled sides: of runs by themselves, as taking samples takes time, too.
static bool profile(struct comparison *c, const struct workshop *shop, const struct runner_orders *orders,
                    struct failure *failure)
{
    const unsigned most = orders->runs ? PROFILED_FEW : PROFILED_MOST;
    double fit = profile_seconds / (block_seconds(c) / PASSES);
    unsigned passes = fit < 1 ? 1 : fit > most ? most : (unsigned)fit;
    size_t each = 2 * c->work_count, all = passes * each;
    stage_begin("looking where time goes", all);
    for (size_t i = 0; i < all; i++) {
        struct run run = {.work = i % each / 2, .side = i % 2};
        if (!go_on(c)) {
            return true;
        }
        if (!make_run(c, shop, ERRAND_PROFILE, run, failure)) {
            return false;
        }
        cJSON *report = child_profile(shop);
        profiles_add(&c->profiles, run.side, report);
        cJSON_Delete(report);
        stage_tell(i + 1, 0);
    }
    bool good = count_instructions(c, shop, failure);
    profiles_end(&c->profiles, passes);
    return good;
}

// Decided before anything is measured: who stops where the figures please him proves nothing.
static unsigned count_blocks(const struct comparison *c, const struct runner_orders *orders, double seconds)
{
    if (orders->runs) {
        return (orders->runs + PASSES - 1) / PASSES;
    }
    if (orders->full) {
        return BLOCKS_FULL;
    }
    double fit = seconds / block_seconds(c);
    return fit < INTERVAL_LEAST ? INTERVAL_LEAST : fit > BLOCKS_MOST ? BLOCKS_MOST : (unsigned)fit;
}

static void shuffle(size_t *items, size_t count, struct draw *draw)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = i;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = draw_next(draw, i), kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

static void reverse(size_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        size_t kept = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = kept;
    }
}

static void drop_block(struct comparison *c, size_t from)
{
    while (c->run_count > from) {
        struct run *run = &c->runs[--c->run_count];
        free(run->frame_ms);
        free(run->rows);
    }
}

// One of those that we may run on; -1, if there are more of them than can be told.
static int draw_core(struct draw *draw)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return -1;
    }
    size_t left = draw_next(draw, (size_t)CPU_COUNT(&set));
    for (int core = 0;; core++) {
        if (CPU_ISSET((size_t)core, &set) && left-- == 0) {
            return core;
        }
    }
}

// An order of all sides in which those two that run together are neighbours.
static void order(size_t *sides, size_t count, struct draw *draw)
{
    size_t groups[8], at = 0;
    shuffle(groups, count - 1, draw);
    for (size_t i = 0; i < count - 1; i++) {
        if (groups[i]) {
            sides[at++] = groups[i] + 1;
        } else {
            size_t first = draw_next(draw, TOGETHER);
            sides[at++] = first;
            sides[at++] = !first;
        }
    }
}

static bool make_pass(struct comparison *c, const struct workshop *shop, const struct run *as,
                      const size_t *sides, struct failure *failure)
{
    struct run runs[TOGETHER];
    bool good = true;
    for (size_t i = 0, count; good && i < c->side_count; i += count) {
        count = sides[i] < TOGETHER ? TOGETHER : 1;
        for (size_t k = 0; k < count; k++) {
            runs[k] = *as;
            runs[k].side = sides[i + k];
        }
        good = go_on(c) && make_runs(c, shop, ERRAND_TIMES, runs, count, failure);
    }
    return good;
}

static bool make_block(struct comparison *c, const struct workshop *shop, unsigned block, struct draw *draw,
                       int64_t start, struct failure *failure)
{
    size_t sides[8], *works = memory_resize(NULL, c->work_count * sizeof *works);
    size_t all = c->work_count * PASSES, done = all * (block - 1);
    bool good = true;
    shuffle(works, c->work_count, draw);
    struct run run = {.block = block, .core = draw_core(draw)};
    for (size_t i = 0; good && i < all; i++, done++) {
        if (i % PASSES == 0) {
            order(sides, c->side_count, draw);
        } else {
            reverse(sides, c->side_count);
        }
        run.work = works[i / PASSES];
        run.pass = 1 + (unsigned)(i % PASSES);
        stage_tell(done * c->side_count,
                   done ? since(start) / (double)done * (double)(all * c->planned - done) : 0);
        good = make_pass(c, shop, &run, sides, failure);
    }
    free(works);
    return good;
}

// seconds: after so many no further block is begun, once there is an interval.
static bool measure(struct comparison *c, const struct workshop *shop, double seconds,
                    struct failure *failure)
{
    struct draw draw = draw_start(c->seed);
    int64_t start = clock_now_ns();
    stage_begin("measuring", (size_t)c->planned * c->side_count * c->work_count * PASSES);
    for (unsigned block = 1; block <= c->planned && (block <= INTERVAL_LEAST || since(start) < seconds);
         block++) {
        size_t from = c->run_count;
        if (!make_block(c, shop, block, &draw, start, failure)) {
            drop_block(c, from);
            break;
        }
        c->blocks = block;
    }
    return failure->text == NULL;
}

bool runner_run(struct comparison *c, const struct workshop *shop, const struct runner_orders *orders,
                struct failure *failure)
{
    int64_t start = clock_now_ns();
    double most = orders->full ? full_warm_up_seconds : quick_warm_up_seconds;
    bool good = compare_sound(c, shop, failure) && (!go_on(c) || warm_up(c, shop, most, failure)) &&
                (!go_on(c) || profile(c, shop, orders, failure));
    if (good && go_on(c)) {
        plan_turns(c);
        c->planned = count_blocks(c, orders, quick_seconds - since(start));
        bool timed = !orders->full && !orders->runs;
        good = measure(c, shop, timed ? late_seconds - since(start) : INFINITY, failure);
    }
    stage_end();
    c->interrupted = interrupt_seen();
    return good || (c->interrupted && !failure->text);
}
