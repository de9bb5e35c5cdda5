// SPDX-License-Identifier: MIT
// The state of a run in a window, shared by the files that make it up: window.c (events and the main loop),
// controls.c (what actions do) and draw.c (what is seen). Main thread only.
#ifndef FRONTEND_APP_H
#define FRONTEND_APP_H

#include <SDL.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "audio.h"
#include "canvas.h"
#include "frontend/command/config.h"
#include "frontend/command/launch.h"
#include "frontend/command/options.h"
#include "frontend/record/output.h"
#include "frontend/session/session.h"
#include "input.h"
#include "overlay.h"
#include "panel.h"
#include "toast.h"
#include "video.h"

struct app {
    const struct options *options;
    struct settings *settings;
    struct launch launch;
    struct output *output;
    struct session *session; // NULL before and after the game
    struct video *video;
    struct audio *audio; // NULL: no sound
    struct canvas *canvas;
    struct input input;
    struct overlay overlay;
    struct panel panel;
    struct toasts toasts;

    unsigned speed; // percent, SPEED_MAX
    unsigned markers; // set so far
    bool paused; // by the user
    bool unfocused_pause; // because the window lost the focus
    bool focused;
    bool show_keys; // the page of keys
    bool screenshot; // take one at the next drawing
    bool quitting; // the guest has been asked to
    uint64_t quit_deadline; // SDL_GetTicks64
    bool dirty; // something to be drawn has changed
    uint32_t wake_event; // tells the main loop that there is something new
    atomic_bool wake_queued;

    // A page in place of the game, or NULL.
    const char *page_title, *page_choices;
    char *page_text;
};

// controls.c

// Does what a key or a row of the panel stands for.
void app_perform(struct app *app, enum action action);
// The nets as a whole: on if any of what they switch is.
enum neural { NEURAL_MISSING, NEURAL_OFF, NEURAL_ON };
enum neural app_neural(const struct app *app);
// The state of every switch, for the panel.
void app_values(const struct app *app, char values[ACTION_COUNT][24]);
// Is the game standing still, for whatever reason?
bool app_paused(const struct app *app);
// After app->paused or app->unfocused_pause has changed.
void app_apply_pause(struct app *app);
// Asks the guest to end; a second request ends it at once.
void app_quit(struct app *app);

// draw.c

// Takes the newest picture over and draws everything, if anything has changed.
void app_draw(struct app *app);

#endif
