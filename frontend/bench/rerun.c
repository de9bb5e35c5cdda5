// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "rerun.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <xxhash.h>

#include "frontend/base/clock.h"
#include "frontend/base/log.h"
#include "frontend/command/launch.h"
#include "frontend/record/png.h"
#include "frontend/record/statistics.h"

#define MOMENT_BYTES ((size_t)256 << 20)

// What the user waits for: until times have settled, and for the blocks.
static const double warm_up_seconds = 8, measuring_seconds = 12, measuring_seconds_most = 24;
static const double settled_share = 0.95, compiling_share = 0.01;
enum { ROUNDS_LEAST = 2, FRAMES_LEAST = 35, NICE = 10 };

struct side {
    enum machine_engine engine;
    enum machine_dispatch dispatch;
    bool loops;
};

struct picture {
    uint32_t frame; // whose; 0: there is none
    uint8_t indices[DEVICE_FRAME_HEIGHT * DEVICE_FRAME_WIDTH];
    uint8_t palette[256][3];
};

struct rerun {
    machine *m;
    uint64_t moment; // where the recording begins
    const uint8_t *log; // what has reached the game from there on
    size_t log_size;
    uint32_t recorded; // frames
    struct side sides[2];
    uint32_t frames; // of a run
    // Of the present one:
    uint32_t seen;
    int64_t cpu_ns, from_ns; // so far; since when
    XXH3_state_t *samples;
    uint32_t wanted; // frame of which there is to be a picture
    struct picture picture; // of it, or of the first one that is not what it was
    // Of the first one:
    bool has_sound;
    uint64_t sound;
    // Of the difference:
    uint32_t differs; // the frame, 0: there is none
    char why[200];
};

static int64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- one run ----

static void present(void *user, const struct machine_frame *frame)
{
    struct rerun *r = user;
    const char *why;
    r->cpu_ns += cpu_now_ns() - r->from_ns;
    r->seen++;
    bool diverged = machine_get_replay(r->m, &why) == MACHINE_REPLAY_DIVERGED;
    if (!r->picture.frame && (r->seen == r->wanted || diverged)) {
        r->picture.frame = r->seen;
        memcpy(r->picture.indices, frame->indices, sizeof r->picture.indices);
        memcpy(r->picture.palette, frame->palette, sizeof r->picture.palette);
    }
    if (r->seen == r->frames || diverged) {
        machine_request_stop(r->m);
    }
    r->from_ns = cpu_now_ns();
}

static void hear(void *user, const int16_t (*samples)[2], size_t count)
{
    struct rerun *r = user;
    XXH3_64bits_update(r->samples, samples, count * sizeof *samples);
}

static void ignore_output(void *user, int fd, const char *text, size_t length)
{
    (void)user;
    (void)fd;
    (void)text;
    (void)length;
}

static void say(void *user, const char *line)
{
    (void)user;
    log_line(LOG_WARNING, "%s", line);
}

// The run has ended: is it what was recorded, and what the others were?
static void judge(struct rerun *r, enum machine_state state)
{
    const char *why;
    uint64_t sound = XXH3_64bits_digest(r->samples);
    bool diverged = machine_get_replay(r->m, &why) == MACHINE_REPLAY_DIVERGED, whole = r->seen == r->frames;
    if (diverged) {
        r->differs = r->picture.frame ? r->picture.frame : r->seen + 1;
        snprintf(r->why, sizeof r->why, "%s", why);
    } else if (!whole) {
        r->differs = r->seen + 1;
        snprintf(r->why, sizeof r->why, "the program %s",
                 state == MACHINE_FAULTED ? "did something impossible" : "ended");
    } else if (r->frames == r->recorded && r->has_sound && sound != r->sound) {
        r->differs = r->frames;
        snprintf(r->why, sizeof r->why, "another sound");
    } else if (r->frames == r->recorded) {
        r->has_sound = true;
        r->sound = sound;
    }
}

// Returns CPU ms a frame, 0 if it differs, or if the machine cannot be brought back: *failure.
static double run(struct rerun *r, unsigned side, struct failure *failure)
{
    const struct side *s = &r->sides[side];
    enum machine_state state = MACHINE_RUNNING;
    const char *why;
    struct error error;
    machine_set_engine(r->m, s->engine);
    machine_set_dispatch(r->m, s->dispatch);
    machine_set_loops(r->m, s->loops);
    XXH3_64bits_reset(r->samples);
    r->seen = 0;
    r->picture.frame = 0;
    r->cpu_ns = 0;
    r->from_ns = cpu_now_ns();
    while (r->seen < r->frames && state == MACHINE_RUNNING &&
           machine_get_replay(r->m, &why) == MACHINE_REPLAY_ON) {
        state = machine_run(r->m, UINT64_MAX);
    }
    double ms = r->seen ? (double)r->cpu_ns / 1e6 / r->seen : 0;
    judge(r, state);
    machine_replay_input(r->m, r->log, r->log_size);
    if (!machine_return_to(r->m, r->moment, &error)) {
        fail(failure, STATUS_USAGE, "--rerun: %s", error.text);
        return 0;
    }
    return r->differs ? 0 : ms;
}

// ---- all of them ----

static uint64_t compiled_ns(const struct rerun *r)
{
    struct machine_stats stats;
    machine_get_stats(r->m, &stats);
    return stats.compile_ns;
}

static double since(int64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e9;
}

// Runs both sides until their times have settled. *seconds: what a run of each takes together. False:
// *failure, or a difference.
static bool warm_up(struct rerun *r, double *seconds, struct failure *failure)
{
    int64_t start = clock_now_ns();
    double least[2] = {0}, ms[2];
    bool settled = false;
    for (unsigned round = 1; !settled && since(start) < warm_up_seconds; round++) {
        int64_t round_start = clock_now_ns();
        settled = round >= ROUNDS_LEAST;
        for (unsigned side = 0; side < 2; side++) {
            uint64_t compiled = compiled_ns(r);
            ms[side] = run(r, side, failure);
            if (ms[side] <= 0) {
                return false;
            }
            double compiling = (double)(compiled_ns(r) - compiled) / 1e6 / r->frames;
            settled &= ms[side] >= settled_share * least[side] && compiling <= compiling_share * ms[side];
            least[side] = round == 1 || ms[side] < least[side] ? ms[side] : least[side];
            printf("warm %u %.6f\n", side, ms[side]);
        }
        *seconds = since(round_start);
    }
    return true;
}

// As many blocks as there is time for. Where that is fewer than an interval needs, runs are cut short.
static unsigned plan(struct rerun *r, double seconds)
{
    double fit = measuring_seconds / seconds, most = measuring_seconds_most / seconds;
    uint32_t fewer = (uint32_t)(r->frames * most / INTERVAL_LEAST);
    fewer = fewer < FRAMES_LEAST ? FRAMES_LEAST : fewer;
    r->frames = fewer < r->frames ? fewer : r->frames;
    return fit < INTERVAL_LEAST ? INTERVAL_LEAST : fit > RERUN_BLOCKS ? RERUN_BLOCKS : (unsigned)fit;
}

static bool measure(struct rerun *r, unsigned blocks, struct failure *failure)
{
    printf("blocks %u %u\n", blocks, r->frames);
    for (unsigned i = 0; i < 2 * blocks; i++) {
        unsigned block = i / 2, side = (i + block) % 2;
        double ms = run(r, side, failure);
        if (ms <= 0) {
            return false;
        }
        printf("run %u %u %.6f\n", block + 1, side, ms);
    }
    printf("end\n");
    return true;
}

static bool write_picture(const struct rerun *r, const char *path)
{
    return png_write_frame(path, r->picture.indices, (const uint8_t(*)[3])r->picture.palette);
}

// The first frame that differs, as both sides show it; nothing, if there is no picture of it.
static void picture_difference(struct rerun *r, unsigned side, const char *folder)
{
    struct failure failure = {0};
    char *paths[2] = {text_format("%s/a.png", folder), text_format("%s/b.png", folder)};
    char *both = text_format("%s/difference.png", folder);
    if (r->picture.frame && write_picture(r, paths[side])) {
        r->wanted = r->differs;
        r->frames = r->differs;
        run(r, !side, &failure);
        if (r->picture.frame == r->wanted && write_picture(r, paths[!side])) {
            png_join(paths[0], paths[1], both);
        }
    }
    free(failure.text);
    free(paths[0]);
    free(paths[1]);
    free(both);
}

// ---- what is asked for ----

static bool read_side(const char *text, struct side *side)
{
    char engine[24], dispatch[24], loops[8];
    if (sscanf(text, "%23[^,],%23[^,],%7[^;]", engine, dispatch, loops) != 3 ||
        !machine_engine_by_name(engine, &side->engine) ||
        !machine_dispatch_by_name(dispatch, &side->dispatch)) {
        return false;
    }
    side->loops = strcmp(loops, "on") == 0;
    return side->loops || strcmp(loops, "off") == 0;
}

static bool read_sides(struct rerun *r, const struct options *options, struct failure *failure)
{
    const char *text = options->bench.rerun, *second = strchr(text, ';');
    if (!options->replay_input) {
        return fail(failure, STATUS_USAGE, "--rerun runs the recording that --replay-input names");
    }
    return (second && read_side(text, &r->sides[0]) && read_side(second + 1, &r->sides[1])) ||
           fail(failure, STATUS_USAGE,
                "--rerun takes two sides with a semicolon between, each ENGINE,DISPATCH,LOOPS, such as\n"
                "    --rerun 'translate,hybrid,on;translate,hybrid,off'\n"
                "not \"%s\"",
                text);
}

// Before the first frame the machine is still being set up: a recording that has that, too, begins behind it.
static void skip_first_frame(struct rerun *r)
{
    struct machine_input first;
    const char *why;
    r->frames = 1;
    XXH3_64bits_reset(r->samples);
    while (r->seen < r->frames && machine_get_replay(r->m, &why) == MACHINE_REPLAY_ON &&
           machine_run(r->m, UINT64_MAX) == MACHINE_RUNNING) {
    }
    machine_measure_input(r->log, r->log_size, 1, &first);
    r->log += first.size;
    r->log_size -= first.size;
    r->recorded--;
}

// Creates the machine, and brings it to where the recording begins.
static bool begin(struct rerun *r, const struct launch *launch, struct failure *failure)
{
    struct machine_config config = launch->setup.config;
    const struct input_file *f = launch->replayed;
    struct error error;
    config.user = r;
    config.present = present;
    config.audio = hear; // as while it was recorded
    config.output = ignore_output;
    config.log = say;
    config.verify = false;
    config.engine = r->sides[0].engine;
    r->log = f->log;
    r->log_size = f->extent.size;
    r->recorded = (uint32_t)f->extent.frames;
    r->m = machine_create(&config, &error);
    if (!r->m) {
        return fail(failure, STATUS_USAGE, "%s", error.text);
    }
    machine_set_speed(r->m, SPEED_MAX);
    bool good = !f->state.data || machine_load(r->m, f->state.data, f->state.size, &error);
    if (good && !f->state.data) {
        skip_first_frame(r);
    }
    good = good && machine_keep_moments(r->m, MOMENT_BYTES, &error);
    r->moment = good ? machine_add_moment(r->m, &error) : 0;
    if (r->moment) {
        machine_replay_input(r->m, r->log, r->log_size);
        good = machine_return_to(r->m, r->moment, &error);
    }
    r->frames = r->recorded;
    return (good && r->moment && r->frames) || fail(failure, STATUS_USAGE, "--rerun: %s", error.text);
}

static enum status compare(struct rerun *r, const char *folder, struct failure *failure)
{
    double seconds = 0;
    printf("frames %u\n", r->frames);
    bool good = warm_up(r, &seconds, failure) && measure(r, plan(r, seconds), failure);
    if (!r->differs) {
        return good ? STATUS_OK : STATUS_USAGE;
    }
    // The one that runs now is the one that differs.
    unsigned side = machine_get_loops(r->m) == r->sides[1].loops &&
                    machine_get_dispatch(r->m) == r->sides[1].dispatch &&
                    machine_get_engine(r->m) == r->sides[1].engine;
    uint32_t frame = r->differs;
    char why[sizeof r->why];
    memcpy(why, r->why, sizeof why);
    if (folder) {
        picture_difference(r, side, folder);
    }
    printf("differs %u %u %s\n", side, frame, why);
    return STATUS_DIFFERS;
}

int rerun_run(const struct options *options, const struct settings *settings)
{
    struct failure failure = {0};
    struct launch launch = {0};
    struct rerun *r = memory_zeroed(sizeof *r);
    int status = STATUS_USAGE;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, NICE);
    setvbuf(stdout, NULL, _IOLBF, 0);
    r->samples = XXH3_createState();
    if (read_sides(r, options, &failure) && launch_prepare(&launch, options, settings, &failure) &&
        begin(r, &launch, &failure)) {
        status = compare(r, options->bench.out, &failure);
    }
    machine_destroy(r->m);
    XXH3_freeState(r->samples);
    free(r);
    launch_free(&launch);
    return failure.text ? failure_report(&failure) : status;
}
