// SPDX-License-Identifier: MIT
#include "live.h"

#include <stdio.h>

#include "app.h"
#include "frontend/base/log.h"

struct side_names {
    const char *words[2]; // for people: on, off
    const char *labels[2]; // in files
};

static const struct side_names *names(enum action action)
{
    static const struct side_names loops = {{"loops on", "loops off"}, {"loops=on", "loops=off"}},
                                   dispatch = {{"dispatch on", "dispatch off"},
                                               {"dispatch=on", "dispatch=off"}},
                                   idle = {{"waiting on", "waiting off"}, {"idle=on", "idle=off"}},
                                   engine = {{"translated", "interpreted"},
                                             {"engine=translate", "engine=interp"}},
                                   neural = {{"neural on", "neural off"}, {"neural=on", "neural=off"}};
    switch (action) {
    case ACTION_DISPATCH: return &dispatch;
    case ACTION_IDLE: return &idle;
    case ACTION_ENGINE: return &engine;
    case ACTION_NEURAL: return &neural;
    default: return &loops;
    }
}

const char *live_side(const struct live *live)
{
    return live->on ? names(live->action)->words[live->turns.side] : "";
}

// The two sides of a switch: on and off, everything else as it is.
static void set_sides(struct live *live, const machine *m, const struct settings *settings)
{
    struct switches *on = &live->sides[0], *off = &live->sides[1];
    *on = *off = live->before;
    switch (live->action) {
    case ACTION_DISPATCH:
        on->dispatch = on->dispatch == MACHINE_DISPATCH_OFF ? MACHINE_DISPATCH_HYBRID : live->before.dispatch;
        off->dispatch = MACHINE_DISPATCH_OFF;
        break;
    case ACTION_IDLE:
        on->idle = true;
        off->idle = false;
        break;
    case ACTION_ENGINE:
        on->engine = MACHINE_ENGINE_TRANSLATE;
        off->engine = MACHINE_ENGINE_INTERP;
        break;
    case ACTION_NEURAL:
        *off = switches_neural(m, settings, false);
        *on = live->before.loops || live->before.dispatch != MACHINE_DISPATCH_OFF
                  ? live->before
                  : switches_neural(m, settings, true);
        break;
    default:
        on->loops = true;
        off->loops = false;
        break;
    }
}

// The switch that was thrown last, else loops; where there are none, the first that there is.
static enum action choose(const struct app *app)
{
    const machine *m = session_machine(app->session);
    if (app->switched != ACTION_NONE) {
        return app->switched;
    }
    return machine_has_loops(m)                    ? ACTION_LOOPS
           : machine_has_dispatch(m)               ? ACTION_DISPATCH
           : action_missing(ACTION_ENGINE) == NULL ? ACTION_ENGINE
                                                   : ACTION_IDLE;
}

static void tell(struct live *live, bool over)
{
    turns_tell(&live->turns, names(live->action)->words, over, live->text, sizeof live->text);
}

static void tell_overlay(struct app *app)
{
    const struct live *live = &app->live;
    app->dirty = true;
    app->overlay.sides = (struct overlay_sides){
        .on = live->on, .from = live->from, .off = live->sides[1], .is_off = live->turns.side};
    snprintf(app->overlay.sides.text, sizeof app->overlay.sides.text, "%s", live->text);
}

static void start(struct app *app)
{
    struct live *live = &app->live;
    machine *m = session_machine(app->session);
    struct session_state state;
    session_get_state(app->session, &state);
    *live = (struct live){.on = true,
                          .action = choose(app),
                          .before = switches_get(m),
                          .from = state.frames,
                          .seen = state.frames};
    set_sides(live, m, app->settings);
    turns_start(&live->turns, !switches_same(&live->before, &live->sides[0]));
    switches_set(app->session, &live->sides[live->turns.side]);
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, "ab=on");
    output_marker(app->output, names(live->action)->labels[live->turns.side]);
    tell(live, false);
    tell_overlay(app);
    toast_add(&app->toasts, "Live A/B: %s; the same key ends it", live->text);
}

void live_end(struct app *app)
{
    struct live *live = &app->live;
    if (!live->on) {
        return;
    }
    live->on = false;
    switches_set(app->session, &live->before);
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, "ab=off");
    tell(live, true);
    log_line(LOG_INFO, "live A/B: %s", live->text);
    tell_overlay(app);
    toast_add(&app->toasts, "%s", live->text);
}

void live_toggle(struct app *app)
{
    if (app->live.on) {
        live_end(app);
    } else {
        start(app);
    }
}

static void swap(struct app *app)
{
    struct live *live = &app->live;
    switches_set(app->session, &live->sides[live->turns.side]);
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, names(live->action)->labels[live->turns.side]);
}

// A block has been added: the first verdict that has an interval is told at once.
static void renew(struct app *app)
{
    struct live *live = &app->live;
    tell(live, false);
    if (live->turns.blocks >= INTERVAL_LEAST && !live->told) {
        live->told = true;
        toast_add(&app->toasts, "%s", live->text);
    }
    if (turns_full(&live->turns)) {
        live_end(app);
    }
}

void live_follow(struct app *app)
{
    static struct frame_figures frames[SESSION_HISTORY];
    struct live *live = &app->live;
    struct session_state state;
    if (!live->on) {
        return;
    }
    session_get_state(app->session, &state);
    if (state.frames == live->seen) {
        return;
    }
    unsigned count = session_get_history(app->session, frames);
    uint32_t last = state.frames < live->seen ? 0 : live->seen; // the game may have been gone back in
    size_t blocks = live->turns.blocks;
    unsigned side = live->turns.side;
    live->seen = state.frames;
    for (unsigned i = 0; i < count && side == live->turns.side; i++) {
        if (frames[i].number > last) {
            live->seen = frames[i].number;
            turns_frame(&live->turns, &frames[i],
                        !frames[i].warming && switches_made(&live->sides[side], &frames[i]));
        }
    }
    if (side != live->turns.side) {
        swap(app);
    }
    if (blocks != live->turns.blocks) {
        renew(app);
    }
    if (side != live->turns.side || blocks != live->turns.blocks) {
        tell_overlay(app);
    }
}
