// SPDX-License-Identifier: MIT
// rewind_test FRAMES BYTES ARG…: plays so many frames of what the arguments of neurodoom say, keeping that
// many bytes of their past, goes back as far as that reaches, and plays on. Every frame that is seen again,
// backwards and forwards, has to be what it was.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/command/doom_options.h"
#include "frontend/command/launch.h"
#include "frontend/record/output.h"
#include "frontend/session/session.h"
#include "frontend/session/timeline.h"

#define MOST 20000
#define AGAIN 100 // frames past the turning point

static uint64_t hashes[MOST], retired[MOST];
static unsigned frames, differ, again, rewound_to;
static bool told;
static struct machine_moments moments;

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    (void)user;
    uint32_t n = frame->number;
    if (n >= MOST)
        return false;
    uint64_t hash = output_frame_hash(frame), total = figures->retired + figures->credited;
    if (hashes[n]) {
        again++;
        // Once the game is told that no key is held any more.
        bool same = hashes[n] == hash && (retired[n] == total || !told);
        told |= retired[n] != total;
        differ += !same;
        if (!same)
            printf("frame %u is another one: %" PRIx64 " %" PRIu64 ", it was %" PRIx64 " %" PRIu64 "\n", n,
                   hash, total, hashes[n], retired[n]);
    }
    hashes[n] = hash;
    retired[n] = total;
    machine_get_moments(session_machine(s), &moments);
    if (n == frames && !rewound_to)
        session_pause(s, true);
    return n < frames + AGAIN;
}

static void rewound(void *user, struct session *s, uint32_t frame)
{
    (void)user, (void)s;
    rewound_to = frame;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t frame_now(struct session *s)
{
    struct session_state state;
    session_get_state(s, &state);
    return state.end == SESSION_RUNNING ? state.frames : UINT32_MAX;
}

static void rest(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000l}, NULL);
}

// Backwards to the beginning of what is kept; every picture is compared.
static unsigned go_back(struct session *s)
{
    unsigned pictures = 0;
    session_rewind(s, true);
    double until = seconds(CLOCK_MONOTONIC) + 60;
    while (frame_now(s) > TIMELINE_FRAMES && seconds(CLOCK_MONOTONIC) < until) { // the first moment is there
        const struct session_picture *p = session_take_picture(s);
        if (p) {
            const struct machine_frame frame = {
                .indices = p->indices, .palette = p->palette, .number = p->number, .gametic = p->gametic};
            pictures++;
            differ += hashes[p->number] != output_frame_hash(&frame);
        }
        rest(1);
    }
    session_rewind(s, false);
    while (!rewound_to)
        rest(1);
    return pictures;
}

static void wake(void *user)
{
    (void)user;
}

int main(int argc, char **argv)
{
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    struct launch launch;
    if (argc < 3)
        return 2;
    frames = (unsigned)atoi(argv[1]);
    size_t bytes = (size_t)atoll(argv[2]);
    argv[2] = argv[0];
    const struct config_sources sources = {.command_line = &options.settings};
    if (!doom_options_parse(&options, argc - 2, argv + 2, &failure) ||
        !config_load(&settings, &sources, &failure) ||
        !launch_prepare(&launch, &options, &settings, &failure))
        return failure_report(&failure);
    const struct session_callbacks callbacks = {.frame = take_frame, .rewound = rewound, .wake = wake};
    struct session *s = session_start(&launch.setup.config, SPEED_MAX, &callbacks, &failure);
    if (!s)
        return failure_report(&failure);
    if (bytes)
        session_keep_past(s, bytes, 0);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (frame_now(s) < frames)
        rest(10);
    rest(100);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%u frames in %.2f s of CPU time; %.1f MB of moments\n", frames, cpu, (double)moments.bytes / 1e6);
    if (bytes) {
        double from = seconds(CLOCK_MONOTONIC);
        unsigned pictures = go_back(s);
        printf("back to frame %u: %u frames, %u pictures in %.2f s\n", rewound_to, frames - rewound_to,
               pictures, seconds(CLOCK_MONOTONIC) - from);
    }
    session_pause(s, false);
    while (frame_now(s) < frames + AGAIN)
        rest(10);
    session_stop(s);
    session_end(s);
    printf("%u frames came again, %u differ\n", again, differ);
    launch_free(&launch);
    config_free(&settings);
    options_free(&options);
    return differ || (bytes && again < frames - rewound_to);
}
