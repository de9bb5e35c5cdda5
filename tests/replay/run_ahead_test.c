// SPDX-License-Identifier: MIT
// run_ahead_test ARG…: plays what the arguments of neurodoom say, with pictures 0, 1 and 2 frames ahead, once
// with a key that goes down and once without. How many frames later is it seen? What the game itself presents
// has to be the same however far ahead is looked.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "frontend/command/doom_options.h"
#include "frontend/command/launch.h"
#include "frontend/record/output.h"
#include "frontend/session/session.h"

enum { FRAMES = 160, PRESSED = 120 };

struct run {
    bool presses;
    uint32_t now; // frame
    uint64_t real[FRAMES + 1], seen[FRAMES + 1], instructions[FRAMES + 1];
    struct session *session;
};

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    struct run *r = user;
    r->now = frame->number;
    r->session = s;
    r->real[r->now] = output_frame_hash(frame);
    r->instructions[r->now] = figures->retired + figures->credited;
    if (r->presses && r->now == PRESSED)
        session_post(
            s, &(struct device_event){.type = DEVICE_EVENT_KEY_DOWN, .code = DEVICE_CONTROL_TURN_RIGHT << 8});
    return r->now < FRAMES;
}

// On the emulation thread, which alone takes pictures here.
static void wake(void *user)
{
    struct run *r = user;
    const struct session_picture *p = r->session ? session_take_picture(r->session) : NULL;
    if (p)
        r->seen[r->now] = output_frame_hash(&(struct machine_frame){
            .indices = p->indices, .palette = p->palette, .number = p->number, .gametic = p->gametic});
}

static bool play(struct run *r, int argc, char **argv, unsigned ahead, bool presses)
{
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    struct launch launch;
    *r = (struct run){.presses = presses};
    const struct config_sources sources = {.command_line = &options.settings};
    if (!doom_options_parse(&options, argc, argv, &failure) || !config_load(&settings, &sources, &failure) ||
        !launch_prepare(&launch, &options, &settings, &failure)) {
        failure_report(&failure);
        return false;
    }
    const struct session_callbacks callbacks = {.user = r, .frame = take_frame, .wake = wake};
    struct session *s = session_start(&launch.setup.config, SPEED_MAX, &callbacks, &failure);
    if (s) {
        session_keep_past(s, 16 << 20, ahead);
        session_wait(s, 60000);
        session_stop(s);
        session_end(s);
    } else {
        failure_report(&failure);
    }
    launch_free(&launch);
    config_free(&settings);
    options_free(&options);
    return s && r->now == FRAMES;
}

// Frames from the key to the first picture that is another one with it than without.
static unsigned lag(const struct run *with, const struct run *without)
{
    unsigned frame = PRESSED;
    while (frame < FRAMES && with->seen[frame] == without->seen[frame])
        frame++;
    return frame - PRESSED;
}

int main(int argc, char **argv)
{
    static struct run with[3], without[3];
    unsigned lags[3], wrong = 0;
    for (unsigned ahead = 0; ahead <= 2; ahead++) {
        if (!play(&with[ahead], argc, argv, ahead, true) || !play(&without[ahead], argc, argv, ahead, false))
            return 1;
        lags[ahead] = lag(&with[ahead], &without[ahead]);
        bool same = memcmp(with[ahead].real, with[0].real, sizeof with[0].real) == 0 &&
                    memcmp(without[ahead].real, without[0].real, sizeof without[0].real) == 0 &&
                    memcmp(with[ahead].instructions + 40, with[0].instructions + 40, (FRAMES - 40) * 8) == 0;
        printf("%u ahead: seen %u frames after the key; the game is %s\n", ahead, lags[ahead],
               same ? "the same" : "another one");
        wrong += !same || lags[ahead] != (lags[0] > ahead ? lags[0] - ahead : 0);
    }
    return wrong || lags[0] == 0 || lags[0] > 3;
}
