// SPDX-License-Identifier: MIT
#include "draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "controls.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "games.h"
#include "page.h"
#include "pages.h"

static void save_screenshot(struct app *app)
{
    const char *wanted = app->settings->screenshots;
    char *folder = *wanted && path_make_folder(wanted) ? text_copy(wanted)
                   : *wanted                           ? NULL
                                                       : launch_data_folder("screenshots");
    bool clean = app->screenshot == SCREENSHOT_CLEAN;
    if (!folder) {
        toast_add(&app->toasts, "no screenshot: its folder cannot be created");
        return;
    }
    char stamp[32];
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    // Two within a second are told apart by the milliseconds.
    char *path = text_format("%s/%s-%03ld.png", folder, stamp, now.tv_nsec / 1000000);
    if (clean ? video_save_picture(app->video, path) : video_save(app->video, path)) {
        char *shown = path_shown(path);
        toast_add(&app->toasts, "screenshot: %s", shown);
        free(shown);
    } else {
        toast_add(&app->toasts, "no screenshot: %s", strerror(errno));
    }
    free(path);
    free(folder);
}

static void layout_overlay(struct app *app)
{
    machine *m = session_machine(app->session);
    struct overlay_status status = {
        .preset = (enum overlay_choice)app->settings->overlay,
        .corner = app->settings->overlay_corner,
        .opacity = app->settings->overlay_opacity,
        .graph = app->settings->graph,
        .paused = controls_paused(app),
        .unfocused = app->unfocused_pause,
        .speed = app->fast_forward ? SPEED_MAX : app->speed,
        .neural = controls_neural(app),
        .engine = machine_engine_name(machine_get_engine(m)),
        .dispatch = machine_has_dispatch(m) ? machine_dispatch_names[machine_get_dispatch(m)] : "",
        .has_loops = machine_has_loops(m),
        .loops = machine_get_loops(m),
        .verify = machine_has_loops(m) && machine_get_verify(m),
        .idle = machine_get_idle(m),
        .leader = app->settings->leader_key,
        .side = live_side(&app->live),
    };
    status.recording = output_recording(app->output, &status.recorded);
    overlay_layout(&app->sheet, &app->overlay, &status);
}

// Lays everything over the picture out.
static void layout(struct app *app, int width, int height)
{
    struct sheet *s = &app->sheet;
    sheet_begin(s, app->fonts, width, height, video_picture_area(app->video));
    if (app->page_text) {
        page_layout(s, app->page_title, app->page_text, app->page_choices);
    } else {
        if (!app->session) {
            games_layout(app, s);
        } else if (app->loop_page.open) {
            loop_page_layout(&app->loop_page, s);
        } else if (app->panel.open) {
            pages_layout(app, s);
        } else {
            layout_overlay(app);
        }
        toast_layout(&app->toasts, s);
    }
}

// Draws it, with the graph as it is by now. What that costs is told: what has been drawn so far is not part
// of it.
static void draw_over(struct app *app, bool changed)
{
    struct overlay *o = &app->overlay;
    canvas_flush(app->canvas);
    uint64_t before = SDL_GetPerformanceCounter();
    if (changed) {
        int width, height;
        double pixel_ratio;
        video_size(app->video, &width, &height, &pixel_ratio);
        fonts_set_scale(app->fonts, sheet_best_scale(height, video_picture_area(app->video),
                                                     app->settings->overlay_scale, pixel_ratio));
        layout(app, width, height);
    }
    if (app->session && sheet_has_plot(&app->sheet)) {
        overlay_look(o, app->session);
    }
    sheet_draw(&app->sheet, app->canvas);
    canvas_flush(app->canvas);
    double ms = (double)(SDL_GetPerformanceCounter() - before) * 1000 / (double)SDL_GetPerformanceFrequency();
    o->cost_ms += (ms - o->cost_ms) * (o->cost_ms > 0 ? 0.05 : 1);
}

void draw_all(struct app *app)
{
    const struct session_picture *picture = app->session ? session_take_picture(app->session) : NULL;
    bool changed = app->dirty;
    if (picture) {
        video_set_picture(app->video, picture, loop_page_look(&app->loop_page, picture));
    } else if (!changed) {
        return;
    }
    app->dirty = false;
    video_draw(app->video);
    draw_over(app, changed);
    if (app->screenshot) {
        save_screenshot(app);
        app->screenshot = SCREENSHOT_NONE;
        app->dirty = true; // for the toast
    }
    video_show(app->video);
}
