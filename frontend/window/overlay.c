// SPDX-License-Identifier: MIT
#include "overlay.h"

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_MS 500
#define TIC_MS (1000.0 / 35)
#define AVERAGED_MS 2000.0
#define CERTAIN 3 // standard errors that a difference has to have
#define LEAST_BEFORE 20 // frames, for a comparison
#define WARM_SHARE 0.1 // of the time, that the compile thread works

// The frames since the last reset, oldest first; returns how many.
static unsigned fresh_frames(const struct overlay *o, const struct frame_figures **first)
{
    unsigned start = 0;
    while (start < o->history_count && o->history[start].number <= o->reset_frame) {
        start++;
    }
    *first = o->history + start;
    return o->history_count - start;
}

static void average_frames(struct overlay *o, struct overlay_figures *f)
{
    const struct frame_figures *frames;
    unsigned count = fresh_frames(o, &frames), first = count;
    double time = 0, emulating = 0;
    while (first > 0 && time < AVERAGED_MS) {
        first--;
        time += frames[first].frame_ms;
        emulating += frames[first].emu_ms;
    }
    unsigned averaged = count - first;
    if (averaged < 2 || time <= 0) {
        return;
    }
    // A frame is a tic, unless the host is too slow: then tics are left out of the frames. While the screen
    // melts frames come without tics.
    unsigned tics = frames[count - 1].gametic - frames[first].gametic + 1;
    unsigned steps = tics > averaged && tics < 20 * averaged ? tics : averaged;
    f->speed = steps * TIC_MS * 100 / time;
    f->emu_ms = emulating / averaged;
    f->most = emulating > 0 ? steps * TIC_MS * 100 / emulating : 0;
}

// The mean of these frames' emulating time.
static struct frame_mean emulating_mean(const struct frame_figures *frames, unsigned count)
{
    double times[OVERLAY_COMPARED];
    for (unsigned i = 0; i < count; i++) {
        times[i] = frames[i].emu_ms;
    }
    return frame_mean_take(times, count);
}

// The frames after the switch, as far as they are known; while code is being compiled they say nothing.
static void compare(struct overlay *o, bool warming)
{
    struct overlay_switch *w = &o->change;
    if (!*w->label || w->seen >= OVERLAY_COMPARED) {
        return;
    }
    if (warming && o->history_count) {
        w->frame = o->history[o->history_count - 1].number;
    }
    unsigned first = 0, count;
    while (first < o->history_count && o->history[first].number <= w->frame) {
        first++;
    }
    count = o->history_count - first;
    w->seen = count < OVERLAY_COMPARED ? count : OVERLAY_COMPARED;
    w->after = emulating_mean(o->history + first, w->seen);
}

bool overlay_refresh(struct overlay *o, struct session *s)
{
    uint64_t now = SDL_GetTicks64();
    if (o->refreshed && now - o->refreshed < REFRESH_MS) {
        return false;
    }
    double seconds = o->refreshed ? (double)(now - o->refreshed) / 1000 : 0;
    o->refreshed = now;
    struct machine_stats stats;
    machine_get_stats(session_machine(s), &stats);
    o->loop_count = machine_list_loops(session_machine(s), o->loops, OVERLAY_LOOPS);
    struct session_state state;
    session_get_state(s, &state);
    struct overlay_figures f = {.total = stats, .sound = state.sound};
    if (stats.retired < o->last.retired) { // an earlier state of the game: there is nothing to compare
        o->last = stats;
    }
    double emulating = (double)(stats.emulating_ns - o->last.emulating_ns) / 1e9;
    if (emulating <= 0) { // paused: what was last
        f.ips = o->figures.ips;
        f.ips_effective = o->figures.ips_effective;
        f.skipped = o->figures.skipped;
        f.idle = o->figures.idle;
        f.calls = o->figures.calls;
    } else if (seconds > 0) {
        double retired = (double)(stats.retired - o->last.retired);
        double credited = (double)(stats.credited - o->last.credited);
        f.ips = retired / emulating;
        f.ips_effective = (retired + credited) / emulating;
        f.skipped = (double)(stats.iterations_skipped - o->last.iterations_skipped) / seconds;
        f.idle = (double)(stats.idle_ns - o->last.idle_ns) / 1e7 / seconds;
        f.calls = (double)(stats.system_calls - o->last.system_calls) / seconds;
        f.warming = (double)(stats.compile_ns - o->last.compile_ns) / 1e9 > WARM_SHARE * seconds;
    }
    f.idle = f.idle > 100 ? 100 : f.idle;
    overlay_look(o, s);
    average_frames(o, &f);
    compare(o, f.warming);
    plot_scale(&o->plot);
    o->last = stats;
    o->figures = f;
    return true;
}

// What made a frame: of two sides that are compared the one or the other, else loops.
static enum plot_state made_by(const struct overlay *o, const struct frame_figures *f)
{
    if (o->sides.on && f->number > o->sides.from) {
        return switches_made(&o->sides.off, f) ? PLOT_OFF : PLOT_ON;
    }
    return !f->has_loops ? PLOT_NEITHER : f->replaces_loops ? PLOT_ON : PLOT_OFF;
}

enum plot_state overlay_state(const struct overlay *o, const struct overlay_status *status)
{
    if (o->sides.on) {
        return o->sides.is_off ? PLOT_OFF : PLOT_ON;
    }
    return !status->has_loops ? PLOT_NEITHER : status->loops ? PLOT_ON : PLOT_OFF;
}

void overlay_look(struct overlay *o, struct session *s)
{
    o->history_count = session_get_history(s, o->history);
    const struct frame_figures *frames;
    unsigned count = fresh_frames(o, &frames);
    if (count > PLOT_FRAMES) {
        frames += count - PLOT_FRAMES;
        count = PLOT_FRAMES;
    }
    o->plot.count = count;
    for (unsigned i = 0; i < count; i++) {
        struct plot_frame *p = &o->plot.frames[i];
        p->emulating = (float)frames[i].emu_ms;
        p->interval = (float)frames[i].frame_ms;
        p->state = made_by(o, &frames[i]);
        p->mark = false;
        for (int k = 0; k < OVERLAY_MARKS; k++) {
            p->mark |= o->marks[k] && o->marks[k] == frames[i].number;
        }
    }
}

void overlay_reset(struct overlay *o, struct session *s)
{
    struct session_state state;
    session_get_state(s, &state);
    o->reset_frame = state.frames;
    memset(o->marks, 0, sizeof o->marks);
    o->change = (struct overlay_switch){0};
    o->sides.text[0] = '\0';
    o->plot = (struct plot){0};
}

void overlay_mark(struct overlay *o, struct session *s, const char *label)
{
    struct session_state state;
    session_get_state(s, &state);
    o->marks[o->next_mark++ % OVERLAY_MARKS] = state.frames;
    if (!label) {
        return;
    }
    o->sides.text[0] = '\0';
    overlay_look(o, s);
    const struct frame_figures *frames;
    unsigned count = fresh_frames(o, &frames), first = 0;
    while (first < count && (frames[first].number <= o->change.frame || count - first > OVERLAY_COMPARED)) {
        first++;
    }
    count -= first;
    o->change = (struct overlay_switch){.frame = state.frames};
    if (count >= LEAST_BEFORE && !o->figures.warming) {
        o->change.before = emulating_mean(frames + first, count);
    }
    snprintf(o->change.label, sizeof o->change.label, "%s", label);
}

void overlay_tell_switch(const struct overlay *o, char *text, size_t size)
{
    const struct overlay_switch *w = &o->change;
    double before = w->before.ms, after = w->after.ms;
    if (!*w->label || before <= 0) {
        snprintf(text, size, "%s", w->label);
    } else if (w->seen < OVERLAY_COMPARED) {
        snprintf(text, size, "%s: before %.2f ms, %u of %d frames", w->label, before, w->seen,
                 OVERLAY_COMPARED);
    } else if (fabs(after - before) < CERTAIN * hypot(w->before.error, w->after.error)) {
        snprintf(text, size, "%s: %.2f → %.2f ms, no difference", w->label, before, after);
    } else {
        bool faster = after < before;
        snprintf(text, size, "%s: %.2f → %.2f ms, %.2f× %s", w->label, before, after,
                 faster ? before / after : after / before, faster ? "faster" : "slower");
    }
}
