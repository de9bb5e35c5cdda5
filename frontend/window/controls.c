// SPDX-License-Identifier: MIT
#include "controls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/paths.h"
#include "game_states.h"
#include "pages.h"

// How long a guest that was asked to quit may take to save its configuration.
#define QUIT_MS 2000

static const unsigned speeds[] = {10, 25, 50, 75, 100, 125, 150, 200, 300, 400, 600, 800, 1000, SPEED_MAX};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

bool controls_paused(const struct app *app)
{
    return app->paused || app->unfocused_pause;
}

void controls_apply_pause(struct app *app)
{
    session_pause(app->session, controls_paused(app));
    app->dirty = true;
}

void controls_quit(struct app *app)
{
    uint64_t now = SDL_GetTicks64();
    app->quit_deadline = app->quitting ? now : now + QUIT_MS;
    app->quitting = true;
    app->paused = app->unfocused_pause = false;
    if (app->session) {
        session_ask_to_quit(app->session);
    }
}

void controls_play_next(struct app *app)
{
    const struct options *o = app->options;
    app->dirty = true;
    if (app->session &&
        (o->csv || o->json || o->frame_hash || o->wav || o->audio_hash || o->record_input ||
         o->replay_input || o->screenshots.count || o->saves.count || o->profile || o->count)) {
        toast_add(&app->toasts, "not while this game is being written to files");
        text_list_free(&app->next);
    } else if (app->session) {
        app->panel.open = false;
        controls_quit(app);
    }
}

// A switch has been thrown: seen in the graph, and in what is being recorded.
static void mark(struct app *app, const char *label)
{
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, label);
}

// The same of one that may change how long a frame takes: words say it to people, label in files.
// action: what threw it.
static void mark_switch(struct app *app, enum action action, const char *words, const char *label)
{
    app->switched_loop = 0;
    app->switched = action == ACTION_VERIFY ? app->switched : action;
    overlay_mark(&app->overlay, app->session, words);
    output_marker(app->output, label);
    toast_add(&app->toasts, "%s", words);
}

static void set_speed(struct app *app, unsigned speed)
{
    char label[24];
    app->speed = speed;
    session_set_speed(app->session, speed);
    if (speed == SPEED_MAX) {
        toast_add(&app->toasts, "as fast as possible");
        mark(app, "speed=max");
    } else {
        toast_add(&app->toasts, "speed %u %%", speed);
        snprintf(label, sizeof label, "speed=%u", speed);
        mark(app, label);
    }
}

static void fast_forward(struct app *app, bool on)
{
    app->fast_forward = on;
    session_set_speed(app->session, on ? SPEED_MAX : app->speed);
}

void controls_release(struct app *app)
{
    if (app->fast_forward) {
        fast_forward(app, false);
    }
    if (app->rewinding) {
        game_states_rewind(app, false);
    }
}

// The next speed of the list in that direction; max counts as the fastest.
static void change_speed(struct app *app, int direction)
{
    int at = 0;
    while (at < SPEEDS - 1 && (app->speed == SPEED_MAX || speeds[at] < app->speed)) {
        at++;
    }
    bool listed = speeds[at] == app->speed;
    at += direction > 0 ? listed : -1;
    at = at < 0 ? 0 : at >= SPEEDS ? SPEEDS - 1 : at;
    set_speed(app, speeds[at]);
}

static void toggle_recording(struct app *app)
{
    char *saved, *told;
    if (output_toggle_recording(app->output, &saved, &told)) {
        app->markers = 0;
        toast_add(&app->toasts, "recording frame times");
    } else if (saved) {
        char *shown = path_shown(saved);
        toast_add(&app->toasts, "%s: %s", told, shown);
        free(shown);
    } else {
        toast_add(&app->toasts, "the recording could not be written: see the terminal or the log");
    }
    free(saved);
    free(told);
}

static void set_marker(struct app *app)
{
    char label[24];
    snprintf(label, sizeof label, "m%u", ++app->markers);
    mark(app, label);
    toast_add(&app->toasts, "marker %u", app->markers);
}

static void pause_or_go(struct app *app)
{
    // A game that stands because the focus was lost goes on; otherwise it would take two keys.
    bool pause = !controls_paused(app);
    app->paused = pause;
    app->unfocused_pause = false;
    controls_apply_pause(app);
    mark(app, pause ? "pause" : "go");
}

static void step(struct app *app)
{
    app->paused = true;
    session_step(app->session);
}

static void switch_engine(struct app *app)
{
    bool interpreting = machine_get_engine(session_machine(app->session)) == MACHINE_ENGINE_INTERP;
    enum machine_engine engine = interpreting ? MACHINE_ENGINE_TRANSLATE : MACHINE_ENGINE_INTERP;
    session_set_engine(app->session, engine);
    char label[24];
    snprintf(label, sizeof label, "engine=%s", machine_engine_name(engine));
    mark_switch(app, ACTION_ENGINE, interpreting ? "translated" : "interpreted", label);
}

// The next value of a choice setting.
static void cycle(struct app *app, const char *name, int *value, int choices)
{
    *value = (*value + 1) % choices;
    toast_add(&app->toasts, "%s %s", strchr(name, '.') + 1, config_choice_name(name, *value));
}

static void toggle(struct app *app, const char *name, bool *value)
{
    *value = !*value;
    toast_add(&app->toasts, "%s %s", name, *value ? "on" : "off");
}

// The next of the steps from least to most, which are percent; then the least again.
static void step_number(struct app *app, const char *name, int *value, int least, int most, int by)
{
    *value = *value >= most || *value < least ? least : *value - *value % by + by;
    *value = *value > most ? most : *value;
    toast_add(&app->toasts, "%s %d %%", name, *value);
}

static void set_dispatch(struct app *app, enum machine_dispatch dispatch)
{
    if (!machine_has_dispatch(session_machine(app->session))) {
        toast_add(&app->toasts, "there is no dispatch net: see neurodoom --doctor");
        return;
    }
    session_set_dispatch(app->session, dispatch);
    char words[24], label[24];
    snprintf(words, sizeof words, "dispatch %s", machine_dispatch_names[dispatch]);
    snprintf(label, sizeof label, "dispatch=%s", machine_dispatch_names[dispatch]);
    mark_switch(app, ACTION_DISPATCH, words, label);
}

static void toggle_loops(struct app *app)
{
    machine *m = session_machine(app->session);
    if (!machine_has_loops(m)) {
        toast_add(&app->toasts, "no loop can be replaced: see neurodoom --doctor");
        return;
    }
    bool on = !machine_get_loops(m);
    machine_set_loops(m, on);
    mark_switch(app, ACTION_LOOPS, on ? "loops on" : "loops off", on ? "loops=on" : "loops=off");
}

static void toggle_verify(struct app *app)
{
    machine *m = session_machine(app->session);
    if (!machine_has_loops(m)) {
        toast_add(&app->toasts, "no loop can be replaced: see neurodoom --doctor");
        return;
    }
    bool on = !machine_get_verify(m);
    machine_set_verify(m, on);
    mark_switch(app, ACTION_VERIFY, on ? "checking on" : "checking off", on ? "verify=on" : "verify=off");
    if (on && !machine_get_loops(m)) {
        toast_add(&app->toasts, "loops are off: there is nothing to check");
    }
}

void controls_switch_loop(struct app *app)
{
    const struct machine_loop_explanation *e = &app->loop_page.explanation;
    const char *name = *e->loop.function ? e->loop.function : "loop";
    const char *missing = split_screen_refuses(app, ACTION_LOOPS);
    if (!e->known || app->loop_page.traced || (!e->in_use && !e->unwanted)) {
        return;
    }
    if (missing) {
        toast_add(&app->toasts, "%s", missing);
        return;
    }
    bool on = e->unwanted;
    char words[48], label[48];
    live_end(app);
    machine_set_loop(session_machine(app->session), e->loop.header, on);
    snprintf(words, sizeof words, "%s %s", name, on ? "on" : "off");
    snprintf(label, sizeof label, "%s=%s", name, on ? "on" : "off");
    mark_switch(app, ACTION_LOOPS, words, label);
    app->switched_loop = e->loop.header;
}

static void toggle_idle(struct app *app)
{
    machine *m = session_machine(app->session);
    bool on = !machine_get_idle(m);
    machine_set_idle(m, on);
    mark_switch(app, ACTION_IDLE, on ? "waiting on" : "waiting off", on ? "idle=on" : "idle=off");
}

enum neural controls_neural(const struct app *app)
{
    machine *m = session_machine(app->session);
    if (!machine_has_dispatch(m) && !machine_has_loops(m)) {
        return NEURAL_MISSING;
    }
    bool dispatch = machine_has_dispatch(m) && machine_get_dispatch(m) != MACHINE_DISPATCH_OFF;
    bool loops = machine_has_loops(m) && machine_get_loops(m);
    return dispatch && loops ? NEURAL_ON : dispatch ? NEURAL_DISPATCH : loops ? NEURAL_LOOPS : NEURAL_OFF;
}

static void toggle_neural(struct app *app)
{
    enum neural neural = controls_neural(app);
    if (neural == NEURAL_MISSING) {
        toast_add(&app->toasts, "there are no nets: see neurodoom --doctor");
        return;
    }
    bool on = neural == NEURAL_OFF;
    struct switches to = switches_neural(session_machine(app->session), app->settings, on);
    switches_set(app->session, &to);
    mark_switch(app, ACTION_NEURAL, on ? "neural on" : "neural off", on ? "neural=on" : "neural=off");
}

// Whether it changes how long a frame takes to emulate, for good.
static bool throws_switch(enum action action)
{
    return action == ACTION_NEURAL || action == ACTION_DISPATCH || action == ACTION_LOOPS ||
           action == ACTION_IDLE || action == ACTION_ENGINE || action == ACTION_VERIFY;
}

const char *controls_missing(const struct app *app, enum action action)
{
    const char *missing = action_missing(action);
    missing = missing ? missing : split_screen_refuses(app, action);
    return missing || action != ACTION_AGAIN ? missing : again_missing(app);
}

void controls_perform(struct app *app, enum action action, unsigned input)
{
    struct settings *settings = app->settings;
    app->dirty = true;
    const char *missing = controls_missing(app, action);
    if (missing) {
        toast_add(&app->toasts, "%s: %s", action_table[action].label, missing);
        return;
    }
    if (throws_switch(action)) {
        live_end(app);
    }
    switch (action) {
    case ACTION_COMPARE: live_toggle(app); break;
    case ACTION_AGAIN: again_toggle(app); break;
    case ACTION_NEURAL: toggle_neural(app); break;
    case ACTION_DISPATCH:
        set_dispatch(app, (machine_get_dispatch(session_machine(app->session)) + 1) % MACHINE_DISPATCH_MODES);
        break;
    case ACTION_LOOPS: toggle_loops(app); break;
    case ACTION_IDLE: toggle_idle(app); break;
    case ACTION_ENGINE: switch_engine(app); break;
    case ACTION_VERIFY: toggle_verify(app); break;
    case ACTION_OVERLAY:
        settings->overlay = (settings->overlay + 1) % OVERLAY_CHOICES;
        toast_add(&app->toasts, "overlay %s", config_choice_name("overlay.preset", settings->overlay));
        break;
    case ACTION_GRAPH:
        toggle(app, "graph", &settings->graph);
        if (settings->graph && settings->overlay < OVERLAY_STD) {
            settings->overlay = OVERLAY_STD; // where the graph is
        }
        break;
    case ACTION_RECORD: toggle_recording(app); break;
    case ACTION_MARKER: set_marker(app); break;
    case ACTION_RESET:
        overlay_reset(&app->overlay, app->session);
        toast_add(&app->toasts, "figures reset");
        break;
    case ACTION_SLOWER: change_speed(app, -1); break;
    case ACTION_FASTER: change_speed(app, 1); break;
    case ACTION_NORMAL_SPEED: set_speed(app, 100); break;
    case ACTION_MAX_SPEED: set_speed(app, SPEED_MAX); break;
    case ACTION_FAST_FORWARD: fast_forward(app, true); break;
    case ACTION_REWIND: game_states_rewind(app, true); break;
    case ACTION_SAVE_STATE:
    case ACTION_LOAD_STATE:
    case ACTION_SLOT:
    case ACTION_UNDO_STATE: game_states_perform(app, action, input); break;
    case ACTION_PAUSE: pause_or_go(app); break;
    case ACTION_STEP: step(app); break;
    case ACTION_SCREENSHOT: app->screenshot = SCREENSHOT_SEEN; break;
    case ACTION_CLEAN_SCREENSHOT: app->screenshot = SCREENSHOT_CLEAN; break;
    case ACTION_FULLSCREEN:
        settings->fullscreen = !settings->fullscreen;
        video_apply(app->video);
        break;
    case ACTION_SCALE: cycle(app, "window.scale", &settings->scale, SCALE_CHOICES); break;
    case ACTION_ASPECT: cycle(app, "window.aspect", &settings->aspect, ASPECT_CHOICES); break;
    case ACTION_FILTER: cycle(app, "window.filter", &settings->filter, FILTER_CHOICES); break;
    case ACTION_VSYNC:
        toggle(app, "vsync", &settings->vsync);
        video_apply(app->video);
        break;
    case ACTION_CORNER: cycle(app, "overlay.corner", &settings->overlay_corner, CORNER_CHOICES); break;
    case ACTION_OPACITY: step_number(app, "overlay opacity", &settings->overlay_opacity, 40, 100, 20); break;
    case ACTION_OVERLAY_SCALE: step_number(app, "overlay size", &settings->overlay_scale, 50, 200, 25); break;
    case ACTION_VOLUME: step_number(app, "volume", &settings->volume, 0, 100, 10); break;
    case ACTION_MUTE_UNFOCUSED: toggle(app, "mute without focus", &settings->mute_unfocused); break;
    case ACTION_PAUSE_UNFOCUSED: toggle(app, "pause without focus", &settings->pause_unfocused); break;
    case ACTION_LOOP_PAGE:
        input_release_all(&app->input, app->session);
        pages_open_loop(app, 0);
        break;
    case ACTION_HELP:
        input_release_all(&app->input, app->session);
        panel_open(&app->panel, PAGES_HELP, PAGES_COUNT, false);
        break;
    case ACTION_ALL_KEYS:
        if (strcmp(settings->direct[action], "-") == 0) {
            toast_add(&app->toasts, "all-keys needs a key of its own, to end it");
            break;
        }
        app->all_keys = !app->all_keys;
        toast_add(&app->toasts, app->all_keys ? "all keys go to the game; %s ends that" : "our keys are back",
                  settings->direct[action]);
        input_release_all(&app->input, app->session);
        pads_resend(&app->pads);
        break;
    case ACTION_QUIT: controls_quit(app); break;
    default: break;
    }
}

static void set_value(char value[24], const char *text)
{
    snprintf(value, 24, "%s", text);
}

void controls_values(const struct app *app, char values[ACTION_COUNT][24])
{
    const struct settings *settings = app->settings;
    uint32_t frames;
    bool recording = output_recording(app->output, &frames);
    for (int i = 0; i < ACTION_COUNT; i++) {
        set_value(values[i], action_missing((enum action)i) ? "N/A" : "");
    }
    machine *m = session_machine(app->session);
    static const char *const neural[] = {[NEURAL_MISSING] = "N/A",
                                         [NEURAL_OFF] = "off",
                                         [NEURAL_LOOPS] = "partly",
                                         [NEURAL_DISPATCH] = "partly",
                                         [NEURAL_ON] = "on"};
    set_value(values[ACTION_NEURAL], neural[controls_neural(app)]);
    set_value(values[ACTION_DISPATCH],
              machine_has_dispatch(m) ? machine_dispatch_names[machine_get_dispatch(m)] : "N/A");
    set_value(values[ACTION_LOOPS], !machine_has_loops(m) ? "N/A" : machine_get_loops(m) ? "on" : "off");
    set_value(values[ACTION_IDLE], machine_get_idle(m) ? "on" : "off");
    set_value(values[ACTION_ENGINE], machine_engine_name(machine_get_engine(m)));
    set_value(values[ACTION_VERIFY], !machine_has_loops(m) ? "N/A" : machine_get_verify(m) ? "on" : "off");
    set_value(values[ACTION_OVERLAY], config_choice_name("overlay.preset", settings->overlay));
    set_value(values[ACTION_GRAPH], settings->graph ? "on" : "off");
    set_value(values[ACTION_COMPARE], app->live.on ? live_side(&app->live) : "off");
    if (!controls_missing(app, ACTION_AGAIN)) {
        again_progress(app, values[ACTION_AGAIN]);
    }
    set_value(values[ACTION_RECORD], recording ? "on" : "off");
    snprintf(values[ACTION_SLOT], 24, "%u", app->slot);
    set_value(values[ACTION_PAUSE], controls_paused(app) ? "on" : "off");
    set_value(values[ACTION_FULLSCREEN], settings->fullscreen ? "on" : "off");
    set_value(values[ACTION_SCALE], config_choice_name("window.scale", settings->scale));
    set_value(values[ACTION_ASPECT], config_choice_name("window.aspect", settings->aspect));
    set_value(values[ACTION_FILTER], config_choice_name("window.filter", settings->filter));
    set_value(values[ACTION_ALL_KEYS], app->all_keys ? "on" : "off");
    set_value(values[ACTION_VSYNC], settings->vsync ? "on" : "off");
    set_value(values[ACTION_CORNER], config_choice_name("overlay.corner", settings->overlay_corner));
    snprintf(values[ACTION_OPACITY], 24, "%d %%", settings->overlay_opacity);
    snprintf(values[ACTION_OVERLAY_SCALE], 24, "%d %%", settings->overlay_scale);
    snprintf(values[ACTION_VOLUME], 24, "%d %%", settings->volume);
    set_value(values[ACTION_MUTE_UNFOCUSED], settings->mute_unfocused ? "on" : "off");
    set_value(values[ACTION_PAUSE_UNFOCUSED], settings->pause_unfocused ? "on" : "off");
    if (app->speed == SPEED_MAX) {
        set_value(values[ACTION_MAX_SPEED], "on");
    } else {
        snprintf(values[ACTION_NORMAL_SPEED], 24, "%u %%", app->speed);
    }
}
