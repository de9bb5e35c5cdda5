// SPDX-License-Identifier: MIT
// split_test same|other ARG…: plays what the arguments of neurodoom say, with --split, on two machines; keys
// go down and up. same: both have to show the same pictures, as is looked up here besides. other: the right
// side plays with -nomonsters, and that it shows something else has to be told.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "frontend/command/doom_options.h"
#include "frontend/command/twin.h"
#include "frontend/record/output.h"
#include "frontend/session/split.h"

enum { FRAMES = 250, OTHER_FRAMES = 1000, WORDS = 40 };

static struct {
    struct split *split;
    uint32_t frames; // to be played
    uint64_t left[OTHER_FRAMES + 1], right[OTHER_FRAMES + 1]; // hashes by frame
} run;

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    (void)user;
    split_frame(run.split, s, figures);
    run.left[frame->number] = output_frame_hash(frame);
    if (frame->number % 20 == 0) {
        session_post(s, &(struct device_event){.type = frame->number % 40 ? DEVICE_EVENT_KEY_DOWN
                                                                          : DEVICE_EVENT_KEY_UP,
                                               .code = DEVICE_CONTROL_TURN_RIGHT << 8});
    }
    split_frame_ends(run.split);
    return frame->number < run.frames;
}

static bool begin(void *user, machine *m, struct failure *failure)
{
    (void)user;
    (void)m;
    (void)failure;
    return true;
}

// On the right side's thread, which alone takes its pictures here.
static void wake(void *user)
{
    (void)user;
    const struct session_picture *p = run.split ? session_take_picture(split_right(run.split)) : NULL;
    if (p && p->number <= run.frames) {
        run.right[p->number] = output_frame_hash(&(struct machine_frame){
            .indices = p->indices, .palette = p->palette, .number = p->number, .gametic = p->gametic});
    }
}

static bool play(struct launch *launch, struct twin *twin, struct split_view *view, struct failure *failure)
{
    const struct split_host host = {.begin = begin, .wake = wake};
    const struct session_callbacks callbacks = {.frame = take_frame};
    run.split = split_start(&twin->setup.config, (unsigned)launch->speed, false, &host, failure);
    struct session *s =
        run.split ? session_start(&launch->setup.config, (unsigned)launch->speed, &callbacks, failure) : NULL;
    if (!s) {
        return false;
    }
    session_wait(s, 120000);
    session_stop(s);
    split_finish(run.split);
    split_look(run.split, view);
    session_end(s);
    split_end(run.split);
    return true;
}

// The right side's command line is another one.
static void play_otherwise(struct machine_config *config, const char *words[WORDS])
{
    int n = 0;
    for (; config->argv[n] && n < WORDS - 2; n++) {
        words[n] = config->argv[n];
    }
    words[n] = "-nomonsters";
    words[n + 1] = NULL;
    config->argv = words;
}

int main(int argc, char **argv)
{
    bool other = argc > 1 && strcmp(argv[1], "other") == 0;
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    struct launch launch = {0};
    struct twin twin = {0};
    struct split_view view = {0};
    const char *words[WORDS];
    const struct config_sources sources = {.command_line = &options.settings};
    run.frames = other ? OTHER_FRAMES : FRAMES;
    bool good =
        argc > 1 && doom_options_parse(&options, argc - 1, argv + 1, &failure) && options.split &&
        config_load(&settings, &sources, &failure) && twin_open(&twin, &options, &settings, &failure) &&
        launch_prepare(&launch, &options, &settings, &failure) && twin_prepare(&twin, &launch, &failure);
    if (good && other) {
        play_otherwise(&twin.setup.config, words);
    }
    good = good && play(&launch, &twin, &view, &failure);
    if (failure.text) {
        failure_report(&failure);
    }
    twin_free(&twin);
    launch_free(&launch);
    config_free(&settings);
    options_free(&options);
    uint32_t equal = 0;
    for (uint32_t i = 1; i <= run.frames; i++) {
        equal += run.left[i] && run.left[i] == run.right[i];
    }
    printf("%u frames are said to be the same, and %u are; the first that differs: %u; %.2f and %.2f ms a "
           "frame\n",
           view.same, equal, view.differs, view.sides[0].ms, view.sides[1].ms);
    if (!good || view.sides[0].ms <= 0 || view.sides[1].ms <= 0) {
        return 1;
    }
    if (other) {
        return !view.differs || view.same != view.differs - 1 || equal != view.same;
    }
    return view.differs || view.same != FRAMES || equal != FRAMES;
}
