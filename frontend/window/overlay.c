// SPDX-License-Identifier: MIT
#include "overlay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/record/record.h"

#define REFRESH_MS 500
#define TIC_MS (1000.0 / 35)
#define AVERAGED_MS 2000.0

// Characters across, of the strip and of the panel below it.
enum { COLUMNS = 48, LABEL_COLUMNS = 12, HOT_LOOPS = 5, REJECTED_LOOPS = 3 };

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

    unsigned graphed = count < OVERLAY_GRAPH_FRAMES ? count : OVERLAY_GRAPH_FRAMES;
    double times[OVERLAY_GRAPH_FRAMES];
    for (unsigned i = 0; i < graphed; i++) {
        times[i] = frames[count - graphed + i].frame_ms;
    }
    struct record_summary summary;
    record_summarize(times, graphed, &summary);
    f->p50 = summary.p50;
    f->p99 = summary.p99;
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
    o->history_count = session_get_history(s, o->history);
    o->loop_count = machine_list_loops(session_machine(s), o->loops, OVERLAY_LOOPS);
    struct session_state state;
    session_get_state(s, &state);
    struct overlay_figures f = {.total = stats, .sound = state.sound};
    double emulating = (double)(stats.emulating_ns - o->last.emulating_ns) / 1e9;
    if (seconds > 0) {
        double retired = (double)(stats.retired - o->last.retired);
        double credited = (double)(stats.credited - o->last.credited);
        f.ips = emulating > 0 ? retired / emulating : 0;
        f.ips_effective = emulating > 0 ? (retired + credited) / emulating : 0;
        f.credited = credited / seconds;
        f.skipped = (double)(stats.iterations_skipped - o->last.iterations_skipped) / seconds;
        f.idle = (double)(stats.idle_ns - o->last.idle_ns) / 1e7 / seconds;
        f.calls = (double)(stats.system_calls - o->last.system_calls) / seconds;
    }
    f.idle = f.idle > 100 ? 100 : f.idle;
    average_frames(o, &f);
    o->last = stats;
    o->figures = f;
    return true;
}

void overlay_reset(struct overlay *o, struct session *s)
{
    struct session_state state;
    session_get_state(s, &state);
    o->reset_frame = state.frames;
    memset(o->marks, 0, sizeof o->marks);
}

void overlay_mark(struct overlay *o, struct session *s, char letter)
{
    struct session_state state;
    session_get_state(s, &state);
    unsigned slot = o->next_mark++ % OVERLAY_MARKS;
    o->marks[slot].frame = state.frames;
    o->marks[slot].letter = letter;
}

struct pen {
    struct canvas *canvas;
    int x, y; // top left of the next line
};

static void row(struct pen *pen, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void row(struct pen *pen, const char *label, const char *format, ...)
{
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    canvas_text(pen->canvas, pen->x, pen->y, INK_LABEL, label);
    canvas_text(pen->canvas, pen->x + LABEL_COLUMNS * canvas_advance(pen->canvas), pen->y, INK_TEXT, text);
    pen->y += canvas_line_height(pen->canvas);
}

static void head(struct pen *pen, const char *text)
{
    canvas_text(pen->canvas, pen->x, pen->y, INK_LABEL, text);
    pen->y += canvas_line_height(pen->canvas);
}

// A row without a label.
static void text_row(struct pen *pen, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void text_row(struct pen *pen, const char *format, ...)
{
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    canvas_text(pen->canvas, pen->x, pen->y, INK_TEXT, text);
    pen->y += canvas_line_height(pen->canvas);
}

// Rows that stay free, so that what follows does not move.
static void empty_rows(struct pen *pen, unsigned rows)
{
    pen->y += (int)rows * canvas_line_height(pen->canvas);
}

// The strip, fixed fields: `NEURAL [N/A]  speed 100%  max 412%  2.31 ms`.
static void draw_strip(const struct overlay *o, struct pen *pen, const struct overlay_status *status)
{
    struct canvas *c = pen->canvas;
    char text[40];
    int x = canvas_text(c, pen->x, pen->y, INK_LABEL, "NEURAL ");
    snprintf(text, sizeof text, "[%s]  ", status->neural);
    x = canvas_text(c, x, pen->y,
                    strcmp(status->neural, "ON") == 0    ? INK_ON
                    : strcmp(status->neural, "OFF") == 0 ? INK_OFF
                                                         : INK_TEXT,
                    text);
    x = canvas_text(c, x, pen->y, INK_LABEL, "speed ");
    if (status->paused) {
        x = canvas_text(c, x, pen->y, INK_MARK, "PAUSED");
    } else {
        snprintf(text, sizeof text, "%4.0f%% ", o->figures.speed);
        x = canvas_text(c, x, pen->y, INK_TEXT, text);
    }
    x = canvas_text(c, x, pen->y, INK_LABEL, "  max ");
    snprintf(text, sizeof text, o->figures.most > 0 ? "%5.0f%%" : "   N/A", o->figures.most);
    x = canvas_text(c, x, pen->y, INK_TEXT, text);
    snprintf(text, sizeof text, "%7.2f ms", o->figures.emu_ms);
    canvas_text(c, x, pen->y, INK_TEXT, text);
    pen->y += canvas_line_height(c);
}

static void dashed(struct canvas *c, int x, int y, int width, uint32_t colour)
{
    for (int at = 0; at < width; at += 8) {
        canvas_box(c, x + at, y, at + 4 <= width ? 4 : width - at, 1, colour);
    }
}

// Frame times of the last 150 frames from the left, 0 at the bottom. The scale reaches to 40 ms or, in steps,
// to what p99 needs.
static void draw_graph(struct overlay *o, struct pen *pen, int width)
{
    struct canvas *c = pen->canvas;
    int height = canvas_line_height(c) * 4;
    const struct frame_figures *frames;
    unsigned count = fresh_frames(o, &frames);
    if (count > OVERLAY_GRAPH_FRAMES) {
        frames += count - OVERLAY_GRAPH_FRAMES;
        count = OVERLAY_GRAPH_FRAMES;
    }
    double range = 40;
    while (range < o->figures.p99 * 1.1 && range < 10000) {
        range *= 2;
    }
    int bottom = pen->y + height;
    canvas_box(c, pen->x, bottom, width, 1, INK_LABEL);
    SDL_FPoint points[OVERLAY_GRAPH_FRAMES];
    for (unsigned i = 0; i < count; i++) {
        double ms = frames[i].frame_ms < range ? frames[i].frame_ms : range;
        points[i].x = (float)(pen->x + (double)i * width / OVERLAY_GRAPH_FRAMES);
        points[i].y = (float)(bottom - ms * height / range);
        for (int k = 0; k < OVERLAY_MARKS; k++) {
            if (o->marks[k].frame && o->marks[k].frame == frames[i].number) {
                char letter[2] = {o->marks[k].letter, '\0'};
                canvas_box(c, (int)points[i].x, pen->y, 1, height, INK_MARK);
                canvas_text(c, (int)points[i].x + 3, pen->y, INK_MARK, letter);
            }
        }
    }
    if (count > 1) {
        canvas_lines(c, points, (int)count, INK_ON);
    }
    dashed(c, pen->x, bottom - (int)(TIC_MS * height / range), width, INK_LABEL);
    pen->y = bottom + canvas_line_height(c) / 4;
    char text[80];
    snprintf(text, sizeof text, "0-%.0f ms  -- 28.6  p50 %5.1f  p99 %5.1f", range, o->figures.p50,
             o->figures.p99);
    canvas_text(c, pen->x, pen->y, INK_LABEL, text);
    pen->y += canvas_line_height(c);
}

// Never rounded up: 100 means that not one of n was wrong.
static void draw_dispatch(struct pen *pen, const struct overlay_figures *f,
                          const struct overlay_status *status)
{
    uint64_t n = f->total.dispatch_total, hit = f->total.dispatch_hit;
    if (n == 0) {
        row(pen, "dispatch", "    N/A accuracy  %s", status->dispatch);
        return;
    }
    double percent = 100 * (double)hit / (double)n;
    if (hit < n && percent > 99.999) {
        percent = 99.999;
    }
    row(pen, "dispatch", "%7.*f %% of n %7.1f M  %s", hit == n ? 0 : 3, percent, (double)n / 1e6,
        status->dispatch);
}

static void draw_loop_figures(struct pen *pen, const struct overlay_figures *f,
                              const struct overlay_status *status)
{
    if (!status->has_loops) {
        row(pen, "guest IPS", "%7.1f M/s  effective     N/A", f->ips / 1e6);
        row(pen, "loops", "    N/A detected     N/A proved");
        row(pen, "skipped", "    N/A iterations");
        row(pen, "credited", "    N/A instructions");
        return;
    }
    const struct machine_stats *total = &f->total;
    row(pen, "guest IPS", "%7.1f M/s  effective %7.1f M/s", f->ips / 1e6, f->ips_effective / 1e6);
    row(pen, "loops", "%7" PRIu64 " detected %7" PRIu64 " proved  %s", total->loops_detected,
        total->loops_proved, status->loops ? "on" : "off");
    row(pen, "skipped", "%7.2f M iterations/s,%7.1f M all", f->skipped / 1e6,
        (double)total->iterations_skipped / 1e6);
    row(pen, "credited", "%7.1f M/s,%18.1f M all", f->credited / 1e6, (double)total->credited / 1e6);
}

static const char *loop_name(const struct machine_loop *loop)
{
    return *loop->function ? loop->function : "?";
}

// A share as a percentage in six characters.
static void percentage(char text[8], double share)
{
    snprintf(text, 8, share >= 0.9995 ? "%5.0f%%" : "%5.2f%%", 100 * share);
}

// The hottest loops that are not refused: address, function, class, trips, what their replacement saves; then
// the hottest of the others, and why.
static void draw_loops(const struct overlay *o, struct pen *pen, const struct overlay_status *status)
{
    const struct machine_stats *total = &o->figures.total;
    double all = (double)(total->retired + total->credited);
    unsigned shown = 0;
    if (!status->has_loops) {
        row(pen, "hot loops", "    N/A");
        row(pen, "rejected", "    N/A");
        return;
    }
    head(pen, "hot loops                class      trips  saved");
    for (size_t i = 0; i < o->loop_count && shown < HOT_LOOPS; i++) {
        const struct machine_loop *loop = &o->loops[i];
        if (loop->verdict == MACHINE_LOOP_REJECTED) {
            continue;
        }
        char saved[8] = "     -";
        if (loop->verdict == MACHINE_LOOP_PROVED && all > 0) {
            percentage(saved, (double)loop->credited / all);
        }
        double trips = loop->entries ? (double)loop->iterations / (double)loop->entries : 0;
        text_row(pen, "%8" PRIx32 " %-15.15s %-9.9s %6.*f %s", loop->header, loop_name(loop),
                 loop->class_name, trips < 10000 ? 1 : 0, trips, saved);
        shown++;
    }
    empty_rows(pen, HOT_LOOPS - shown);
    char title[40];
    snprintf(title, sizeof title, "rejected %10" PRIu64, total->loops_rejected);
    head(pen, title);
    shown = 0;
    for (size_t i = 0; i < o->loop_count && shown < REJECTED_LOOPS; i++) {
        const struct machine_loop *loop = &o->loops[i];
        if (loop->verdict == MACHINE_LOOP_REJECTED) {
            text_row(pen, "%8" PRIx32 " %s", loop->header, loop_name(loop));
            text_row(pen, "%9s%.39s", "", loop->reason);
            shown++;
        }
    }
    empty_rows(pen, 2 * (REJECTED_LOOPS - shown));
}

static void draw_rows(struct overlay *o, struct pen *pen, bool full, const struct overlay_status *status)
{
    const struct overlay_figures *f = &o->figures;
    row(pen, "engine", "%s", status->engine);
    draw_loop_figures(pen, f, status);
    draw_dispatch(pen, f, status);
    row(pen, "idle", "%7.1f %%  %s", f->idle, status->idle ? "on" : "off");
    if (!full) {
        return;
    }
    draw_loops(o, pen, status);
    row(pen, "calls", "%7.0f /s", f->calls);
    if (f->sound.heard) {
        row(pen, "sound", "%7.1f ms late, %" PRIu32 " gaps", f->sound.latency_ms, f->sound.under_runs);
    } else {
        row(pen, "sound", "%10s", "none");
    }
    row(pen, "memory", "%7.1f MiB mapped", (double)f->total.memory_mapped / (1 << 20));
    row(pen, "overlay", "%7.3f ms a drawing", o->cost_ms);
}

static int rows_shown(const struct settings *settings, const struct overlay_status *status)
{
    int rows = 1 + status->recording;
    if (settings->overlay >= OVERLAY_STD) {
        rows += 7 + (settings->graph ? 6 : 0);
    }
    if (settings->overlay == OVERLAY_FULL) {
        rows += 6 + (status->has_loops ? HOT_LOOPS + 2 * REJECTED_LOOPS : 0);
    }
    return rows;
}

void overlay_draw(struct overlay *o, struct session *s, struct canvas *c, SDL_Renderer *renderer, int width,
                  const struct settings *settings, const struct overlay_status *status)
{
    if (settings->overlay == OVERLAY_OFF) {
        return;
    }
    // What has been drawn so far is not the overlay's cost.
    SDL_RenderFlush(renderer);
    uint64_t before = SDL_GetPerformanceCounter();
    bool large = settings->overlay >= OVERLAY_STD;
    if (large && settings->graph) {
        o->history_count = session_get_history(s, o->history);
    }
    int pad = canvas_line_height(c) / 3, inner = COLUMNS * canvas_advance(c);
    int height = rows_shown(settings, status) * canvas_line_height(c) + 2 * pad;
    struct pen pen = {c, width - inner - 2 * pad, pad};
    canvas_box(c, pen.x - pad, 0, inner + 3 * pad, height, INK_PANEL);
    draw_strip(o, &pen, status);
    if (status->recording) {
        char text[48];
        snprintf(text, sizeof text, "RECORDING  %u frames", status->recorded);
        canvas_text(c, pen.x, pen.y, INK_MARK, text);
        pen.y += canvas_line_height(c);
    }
    if (large) {
        draw_rows(o, &pen, settings->overlay == OVERLAY_FULL, status);
    }
    if (large && settings->graph) {
        pen.y += canvas_line_height(c) / 4;
        draw_graph(o, &pen, inner);
    }
    SDL_RenderFlush(renderer);
    double ms = (double)(SDL_GetPerformanceCounter() - before) * 1000 / (double)SDL_GetPerformanceFrequency();
    o->cost_ms += (ms - o->cost_ms) * (o->cost_ms > 0 ? 0.05 : 1);
}
