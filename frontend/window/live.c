// SPDX-License-Identifier: MIT
#include "live.h"

#include <stdio.h>

#include "app.h"
#include "frontend/base/log.h"

const char *live_side(const struct live *live)
{
    return live->on ? switch_sides_names(live->sides.action)->words[live->turns.side] : "";
}

static void tell(struct live *live, bool over)
{
    turns_tell(&live->turns, switch_sides_names(live->sides.action)->words, over, live->text,
               sizeof live->text);
}

static void tell_overlay(struct app *app)
{
    const struct live *live = &app->live;
    app->dirty = true;
    app->overlay.sides = (struct overlay_sides){
        .on = live->on, .from = live->from, .off = live->sides.of[1], .is_off = live->turns.side};
    snprintf(app->overlay.sides.text, sizeof app->overlay.sides.text, "%s", live->text);
}

static void start(struct app *app)
{
    struct live *live = &app->live;
    struct session_state state;
    session_get_state(app->session, &state);
    *live = (struct live){.on = true, .from = state.frames, .seen = state.frames};
    switch_sides_choose(&live->sides, app);
    turns_start(&live->turns, !switches_same(&live->sides.before, &live->sides.of[0]));
    switches_set(app->session, &live->sides.of[live->turns.side]);
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, "ab=on");
    output_marker(app->output, switch_sides_names(live->sides.action)->labels[live->turns.side]);
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
    switches_set(app->session, &live->sides.before);
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
    switches_set(app->session, &live->sides.of[live->turns.side]);
    overlay_mark(&app->overlay, app->session, NULL);
    output_marker(app->output, switch_sides_names(live->sides.action)->labels[live->turns.side]);
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
                        !frames[i].warming && switches_made(&live->sides.of[side], &frames[i]));
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
