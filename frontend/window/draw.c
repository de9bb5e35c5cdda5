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
    struct device_info info;
    bool known = machine_get_device_info(m, &info);
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
        .fixed = split_screen_refuses(app, ACTION_LOOPS),
        .leader = app->settings->leader_key,
        .side = live_side(&app->live),
        .written_over =
            known && (info.game_state == DEVICE_GAME_INTERMISSION || info.game_state == DEVICE_GAME_FINALE),
    };
    status.recording = output_recording(app->output, &status.recorded);
    overlay_layout(&app->sheet, &app->overlay, &status);
}

static void layout_captions(struct app *app)
{
    const struct split_screen *screen = &app->split;
    const SDL_Rect pictures[] = {video_picture_area(app->video, 0), video_picture_area(app->video, 1)};
    const char *const names[] = {screen->twin.sides[0].name, screen->twin.sides[1].name};
    split_screen_layout(&app->sheet, pictures, names, &screen->view);
}

// Lays everything over the picture out. Of two sides the overlay is the left one's.
static void layout(struct app *app, int width, int height)
{
    struct sheet *s = &app->sheet;
    bool covers = app->page_text || !app->session || app->loop_page.open || app->panel.open;
    bool split = app->split.split && !covers;
    SDL_Rect area = video_picture_area(app->video, 0);
    if (split) {
        width = area.x + area.w;
        height -= split_screen_height(app->fonts);
    } else if (app->split.split) {
        area = (SDL_Rect){0, 0, width, height}; // what covers one picture covers both
    }
    sheet_begin(s, app->fonts, width, height, area);
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
        if (split) {
            layout_captions(app);
        }
        toast_layout(&app->toasts, s, covers);
    }
}

// How large text is, and how much of the window the pictures may have.
static void measure(struct app *app)
{
    int width, height;
    double pixel_ratio;
    video_size(app->video, &width, &height, &pixel_ratio);
    video_reserve(app->video, 0);
    fonts_set_scale(app->fonts, sheet_best_scale(width, height, video_picture_area(app->video, 0),
                                                 app->settings->overlay_scale, pixel_ratio));
    if (app->split.split) {
        video_reserve(app->video, split_screen_height(app->fonts));
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

// Takes what the sides have presented; returns whether there was anything.
static bool take_pictures(struct app *app)
{
    const struct session_picture *left = app->session ? session_take_picture(app->session) : NULL;
    const struct session_picture *right =
        app->split.split ? session_take_picture(split_right(app->split.split)) : NULL;
    if (left) {
        video_set_picture(app->video, 0, left, loop_page_look(&app->loop_page, left));
    }
    if (right) {
        video_set_picture(app->video, 1, right, false);
    }
    return left || right;
}

void draw_all(struct app *app)
{
    bool changed = app->dirty;
    if (!take_pictures(app) && !changed) {
        return;
    }
    app->dirty = false;
    if (changed) {
        measure(app);
    }
    video_draw(app->video);
    draw_over(app, changed);
    if (app->screenshot) {
        save_screenshot(app);
        app->screenshot = SCREENSHOT_NONE;
        app->dirty = true; // for the toast
    }
    video_show(app->video);
}
