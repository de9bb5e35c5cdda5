// SPDX-License-Identifier: MIT
#include "again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "game_states.h"

enum { FRAMES_MOST = 350, FRAMES_LEAST = 70, FRAMES_A_SECOND = 35 };

static unsigned seconds(uint32_t frames)
{
    return (frames + FRAMES_A_SECOND / 2) / FRAMES_A_SECOND;
}

// ---- begin ----

const char *again_missing(const struct app *app)
{
    return app->launch.replayed         ? "not of a replay"
           : app->launch.timed_demo     ? "not of a timed demo"
           : app->options->record_input ? "not while input is being recorded to a file"
           : !game_states_kept(app)     ? "needs rewinding, which the settings have switched off"
                                        : NULL;
}

// On the emulation thread, while the game stands.
static void take(void *user, struct session *s)
{
    struct app *app = user;
    struct again *again = &app->again;
    past_take(s, FRAMES_MOST, FRAMES_LEAST, &again->past, &again->why);
    atomic_store(&again->taken, true);
    app_wake(app);
}

static void ask(struct app *app)
{
    struct again *again = &app->again;
    switch_sides_choose_busy(&again->sides, app);
    if (again->sides.action == ACTION_IDLE) {
        toast_add(&app->toasts, "%s: there is nothing to switch: see neurodoom --doctor",
                  action_table[ACTION_AGAIN].label);
        return;
    }
    again->asked = true;
    again->done = 0;
    atomic_store(&again->taken, false);
    session_call(app->session, take, app);
}

static char *side_text(const struct switches *s)
{
    return text_format(RERUN_SIDE, machine_engine_name(s->engine), machine_dispatch_names[s->dispatch],
                       s->loops ? "on" : "off");
}

static void say(struct app *app, const char *text)
{
    snprintf(app->again.said, sizeof app->again.said, "%s", text);
    toast_add(&app->toasts, "%s", text);
    app->dirty = true;
}

static void start(struct app *app)
{
    struct again *again = &app->again;
    char *a = side_text(&again->sides.of[0]), *b = side_text(&again->sides.of[1]);
    struct instant_orders orders = {.options = app->options,
                                    .launch = &app->launch,
                                    .kept = path_user(PATH_DATA, "benchmarks"),
                                    .sides = text_format("%s;%s", a, b),
                                    .wake = app_wake,
                                    .user = app};
    char *text =
        text_format("Your last %u s are run again; the same key ends that", seconds(again->past.frames));
    again->instant = instant_start(&orders, &again->past);
    say(app, again->instant ? text : "There can be no instant replay: the host denied a thread");
    free(text);
    free(a);
    free(b);
}

// ---- end ----

static void stop(struct app *app)
{
    instant_end(app->again.instant);
    app->again.instant = NULL;
    app->dirty = true;
}

void again_toggle(struct app *app)
{
    struct again *again = &app->again;
    if (!again->asked && !again->instant) {
        ask(app);
        return;
    }
    again->dropped = again->asked;
    stop(app);
    toast_add(&app->toasts, "the instant replay is over: nothing was compared");
}

void again_close(struct app *app)
{
    stop(app);
    past_free(&app->again.past);
    app->again.asked = app->again.dropped = false;
}

// ---- meanwhile ----

static void tell_verdict(struct app *app, const struct instant_state *s)
{
    char times[160];
    const struct side_names *names = switch_sides_names(app->again.sides.action);
    turns_tell_times((const double *const[2]){s->ms[0], s->ms[1]}, s->blocks, names->words, true, times,
                     sizeof times);
    char *text = s->run_frames == s->frames
                     ? text_copy("")
                     : text_format(", the first %u s of them timed", seconds(s->run_frames));
    snprintf(app->again.verdict, sizeof app->again.verdict,
             "Your last %u s again%s: %s. Same picture: %u of %u frames", seconds(s->frames), text, times,
             s->frames, s->frames);
    free(text);
}

static void tell_difference(struct app *app, const struct instant_state *s)
{
    struct again *again = &app->again;
    snprintf(again->verdict, sizeof again->verdict,
             "Your last %u s again, %s: not the same from frame %u of %u on. Kept: %s", seconds(s->frames),
             switch_sides_names(again->sides.action)->words[s->differing], s->frame, s->frames, s->text);
    if (!*again->difference) {
        memcpy(again->difference, again->verdict, sizeof again->difference);
    }
}

static void tell_failure(struct app *app, const struct instant_state *s)
{
    snprintf(app->again.verdict, sizeof app->again.verdict, "%s: %s", action_table[ACTION_AGAIN].label,
             s->text);
}

// All the time, unless somebody else has something to say.
static void tell_progress(struct app *app, const struct instant_state *s)
{
    struct again *again = &app->again;
    const struct toasts *t = &app->toasts;
    bool measures = s->stage == INSTANT_MEASURES,
         own = t->count && strcmp(t->items[t->count - 1].text, again->said) == 0;
    if (t->count && !(own && measures && s->done != again->done)) {
        return;
    }
    again->done = measures ? s->done : again->done;
    char *text = measures ? text_format("Running your last %u s again: %u of %u", seconds(s->frames), s->done,
                                        s->planned)
                          : text_copy(again->said);
    say(app, text);
    free(text);
}

static void follow_instant(struct app *app)
{
    struct again *again = &app->again;
    struct instant_state state;
    instant_get(again->instant, &state);
    if (!state.over) {
        tell_progress(app, &state);
        return;
    }
    stop(app);
    switch (state.stage) {
    case INSTANT_DONE: tell_verdict(app, &state); break;
    case INSTANT_DIFFERS: tell_difference(app, &state); break;
    default: tell_failure(app, &state); break;
    }
    log_line(state.stage == INSTANT_DONE ? LOG_INFO : LOG_ERROR, "instant replay: %s", again->verdict);
    toast_add(&app->toasts, "%s", again->verdict);
}

void again_follow(struct app *app)
{
    struct again *again = &app->again;
    if (again->asked && atomic_load(&again->taken)) {
        again->asked = false;
        if (again->dropped) {
            past_free(&again->past);
        } else if (again->past.frames) {
            start(app);
        } else {
            toast_add(&app->toasts, "%s: %s", action_table[ACTION_AGAIN].label, again->why.text);
            app->dirty = true;
        }
        again->dropped = false;
    }
    if (again->instant) {
        follow_instant(app);
    }
}

void again_progress(const struct app *app, char value[24])
{
    struct instant_state state = {0};
    if (app->again.instant) {
        instant_get(app->again.instant, &state);
    }
    if (state.planned) {
        snprintf(value, 24, "%u of %u", state.done, state.planned);
    } else {
        snprintf(value, 24, "%s", app->again.asked || app->again.instant ? "on" : "off");
    }
}
