// SPDX-License-Identifier: MIT
#include "draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "controls.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "page.h"

static void save_screenshot(struct app *app)
{
    char *folder = launch_data_folder("screenshots");
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
    if (video_save(app->video, path)) {
        char *shown = path_shown(path);
        toast_add(&app->toasts, "screenshot: %s", shown);
        free(shown);
    } else {
        toast_add(&app->toasts, "no screenshot: %s", strerror(errno));
    }
    free(path);
    free(folder);
}

static void draw_overlay(struct app *app, int width)
{
    static const char *const neural[] = {[NEURAL_MISSING] = "N/A", [NEURAL_OFF] = "OFF", [NEURAL_ON] = "ON"};
    machine *m = session_machine(app->session);
    struct overlay_status status = {
        .paused = controls_paused(app),
        .engine = machine_engine_name(machine_get_engine(m)),
        .neural = neural[controls_neural(app)],
        .dispatch = machine_has_dispatch(m) ? machine_dispatch_names[machine_get_dispatch(m)] : "",
        .has_loops = machine_has_loops(m),
        .loops = machine_get_loops(m),
        .idle = machine_get_idle(m),
    };
    status.recording = output_recording(app->output, &status.recorded);
    overlay_draw(&app->overlay, app->session, app->canvas, video_renderer(app->video), width, app->settings,
                 &status);
}

static void draw_over(struct app *app, int width, int height)
{
    SDL_Rect picture = video_picture_area(app->video);
    if (app->page_text) {
        page_draw(app->canvas, width, height, app->page_title, app->page_text, app->page_choices);
        return;
    }
    draw_overlay(app, width);
    toast_draw(&app->toasts, app->canvas, &picture);
    if (app->show_keys) {
        char *text = page_keys(app->settings);
        page_draw(app->canvas, width, height, "keys", text, "any key: back");
        free(text);
    }
    if (app->panel.open) {
        char values[ACTION_COUNT][24];
        controls_values(app, values);
        panel_draw(&app->panel, app->canvas, width, height, app->settings, (const char(*)[24])values);
    }
}

static void set_text_size(struct app *app, int height, double pixel_ratio)
{
    double size = height / pixel_ratio / 48;
    size = (size < 12 ? 12 : size) * app->settings->overlay_scale / 100 * pixel_ratio;
    canvas_set_size(app->canvas, size < 8 ? 8 : size > 200 ? 200 : (int)(size + 0.5));
}

void draw_all(struct app *app)
{
    const struct session_picture *picture = app->session ? session_take_picture(app->session) : NULL;
    if (picture) {
        video_set_picture(app->video, picture);
    } else if (!app->dirty) {
        return;
    }
    app->dirty = false;
    int width, height;
    double pixel_ratio;
    video_size(app->video, &width, &height, &pixel_ratio);
    set_text_size(app, height, pixel_ratio);
    video_draw(app->video);
    draw_over(app, width, height);
    if (app->screenshot) {
        app->screenshot = false;
        save_screenshot(app);
        app->dirty = true; // for the toast
    }
    video_show(app->video);
}
