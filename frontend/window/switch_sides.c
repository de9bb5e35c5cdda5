// SPDX-License-Identifier: MIT
#include "switch_sides.h"

#include "app.h"

const struct side_names *switch_sides_names(enum action action)
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

// The two sides of a switch: on and off, everything else as it is.
static void set(struct switch_sides *sides, const machine *m, const struct settings *settings)
{
    struct switches *on = &sides->of[0], *off = &sides->of[1];
    *on = *off = sides->before;
    switch (sides->action) {
    case ACTION_DISPATCH:
        on->dispatch =
            on->dispatch == MACHINE_DISPATCH_OFF ? MACHINE_DISPATCH_HYBRID : sides->before.dispatch;
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
        *on = sides->before.loops || sides->before.dispatch != MACHINE_DISPATCH_OFF
                  ? sides->before
                  : switches_neural(m, settings, true);
        break;
    default:
        on->loops = true;
        off->loops = false;
        break;
    }
}

// The switch that was thrown last, else loops; where there are none, the first that there is.
static enum action choose(const struct app *app, enum action switched)
{
    const machine *m = session_machine(app->session);
    if (switched != ACTION_NONE) {
        return switched;
    }
    return machine_has_loops(m)                    ? ACTION_LOOPS
           : machine_has_dispatch(m)               ? ACTION_DISPATCH
           : action_missing(ACTION_ENGINE) == NULL ? ACTION_ENGINE
                                                   : ACTION_IDLE;
}

static void make(struct switch_sides *sides, const struct app *app, enum action action)
{
    const machine *m = session_machine(app->session);
    *sides = (struct switch_sides){.action = action, .before = switches_get(m)};
    set(sides, m, app->settings);
}

void switch_sides_choose(struct switch_sides *sides, const struct app *app)
{
    make(sides, app, choose(app, app->switched));
}

void switch_sides_choose_busy(struct switch_sides *sides, const struct app *app)
{
    make(sides, app, choose(app, app->switched == ACTION_IDLE ? ACTION_NONE : app->switched));
}
