// SPDX-License-Identifier: MIT
#include "figures.h"

#include <math.h>

#define LATELY_MS 500
#define WARM_SHARE 0.1 // of that time, that the compile thread works

static double milliseconds(int64_t ns)
{
    return (double)ns / 1e6;
}

// Keeps the first and the last frame of a timed demo in mind. The engine says only at the end that the demo
// was timed, and by then has presented nothing more.
static void follow_demo(struct figures *f, const machine *m, int64_t now, const struct machine_stats *stats)
{
    struct device_info info;
    if (!machine_get_device_info(m, &info) || !info.demo_playing) {
        return;
    }
    if (!f->demo_seen) {
        f->demo_seen = true;
        f->demo_first_ns = now;
        f->demo_first = *stats;
        f->demo_frames = 0;
    } else {
        f->demo_frames++;
    }
    f->demo_last_ns = now;
    f->demo_last = *stats;
}

// By how much value exceeds what it has been at most.
static uint64_t rise(uint64_t *most, uint64_t value)
{
    uint64_t by = value > *most ? value - *most : 0;
    *most += by;
    return by;
}

// Whether the compile thread has worked for much of the last half second.
static bool follow_compiling(struct figures *f, const struct machine_stats *stats, double interval_ms)
{
    f->compiled_ms *= exp(-interval_ms / LATELY_MS);
    f->compiled_ms += milliseconds((int64_t)(stats->compile_ns - f->last_stats.compile_ns));
    return f->compiled_ms > WARM_SHARE * LATELY_MS;
}

void figures_take(struct figures *f, machine *m, const struct machine_frame *frame, int64_t now,
                  unsigned speed, struct frame_figures *figures)
{
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    int64_t interval = now - f->last_frame_ns - f->paused_ns;
    f->paused_ns = 0;
    *figures = (struct frame_figures){
        .number = frame->number,
        .gametic = frame->gametic,
        .at_ms = milliseconds(now - f->started_ns),
        .frame_ms = milliseconds(interval),
        .emu_ms = milliseconds((int64_t)(stats.emulating_ns - f->last_stats.emulating_ns)),
        .present_ms = milliseconds(f->last_present_ns),
        .idle_ms = milliseconds((int64_t)(stats.idle_ns - f->last_stats.idle_ns)),
        .retired = stats.retired - f->last_stats.retired,
        .engine = machine_get_engine(m),
        .dispatch = machine_get_dispatch(m),
        .replaces_loops = machine_has_loops(m) && machine_get_loops(m),
        .idle = machine_get_idle(m),
        .verify = machine_get_verify(m),
        .warming = follow_compiling(f, &stats, milliseconds(interval)),
        .speed = speed,
        .dispatch_total = stats.dispatch_total - f->last_stats.dispatch_total,
        .dispatch_hit = stats.dispatch_hit - f->last_stats.dispatch_hit,
        .has_loops = machine_has_loops(m),
        .credited = stats.credited - f->last_stats.credited,
        .iterations_skipped = stats.iterations_skipped - f->last_stats.iterations_skipped,
        .loops_active = machine_get_loops(m) ? stats.loops_proved : 0,
        .loops_new = rise(&f->most_detected, stats.loops_detected),
        .loops_rejected = rise(&f->most_rejected, stats.loops_rejected),
    };
    double rest = figures->frame_ms - figures->emu_ms - figures->present_ms;
    figures->sleep_ms = rest > 0 ? rest : 0;
    f->history[f->history_count++ % SESSION_HISTORY] = *figures;
    follow_demo(f, m, now, &stats);
    f->last_stats = stats;
    f->last_frame_ns = now;
}

void figures_jump(struct figures *f, machine *m, int64_t now)
{
    machine_get_stats(m, &f->last_stats);
    f->last_frame_ns = now;
    f->paused_ns = 0;
    f->history_count = 0;
    f->demo_seen = false;
}

void figures_leave_out(struct figures *f, int64_t ns)
{
    f->started_ns += ns;
    f->last_frame_ns += ns;
    f->demo_first_ns += ns;
    f->demo_last_ns += ns;
}

void figures_end(struct figures *f, const machine *m)
{
    struct device_info info;
    if (!machine_get_device_info(m, &info) || !info.timed_demo_tics || !f->demo_seen) {
        return;
    }
    f->demo_timed = true;
    f->timing = (struct session_timing){
        .frames = f->demo_frames,
        .tics = info.timed_demo_tics,
        .seconds = (double)(f->demo_last_ns - f->demo_first_ns) / 1e9,
        .emulating_seconds = (double)(f->demo_last.emulating_ns - f->demo_first.emulating_ns) / 1e9,
        .retired = f->demo_last.retired - f->demo_first.retired,
        .credited = f->demo_last.credited - f->demo_first.credited,
    };
}

unsigned figures_copy(const struct figures *f, struct frame_figures to[SESSION_HISTORY])
{
    unsigned count = f->history_count < SESSION_HISTORY ? (unsigned)f->history_count : SESSION_HISTORY;
    for (unsigned i = 0; i < count; i++) {
        to[i] = f->history[(f->history_count - count + i) % SESSION_HISTORY];
    }
    return count;
}
