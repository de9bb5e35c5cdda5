// SPDX-License-Identifier: MIT
// The state of a run in a window, which the parts of the main loop share: window.c makes and ends it,
// events.c takes what the user does, controls.c does what actions ask for, draw.c shows it. Main thread only,
// but for what is atomic.
#ifndef FRONTEND_APP_H
#define FRONTEND_APP_H

#include <SDL.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "again.h"
#include "audio.h"
#include "canvas.h"
#include "frontend/command/config.h"
#include "frontend/command/launch.h"
#include "frontend/command/options.h"
#include "frontend/record/output.h"
#include "frontend/session/session.h"
#include "frontend/session/slots.h"
#include "input.h"
#include "live.h"
#include "loop_page.h"
#include "overlay.h"
#include "pad.h"
#include "panel.h"
#include "sheet.h"
#include "split_screen.h"
#include "toast.h"
#include "video.h"

struct app {
    struct options *options;
    struct settings *settings;
    struct launch launch;
    struct text_list next; // files to be played when this game has ended
    struct output *output;
    struct session *session; // NULL before and after the game
    pid_t beside; // translates the game ahead while it runs, or 0
    struct video *video;
    struct audio *audio; // NULL: no sound
    struct fonts *fonts;
    struct canvas *canvas;
    struct sheet sheet; // what was drawn last over the picture
    struct input input;
    struct pads pads;
    int health; // of the player at the last look, 0: nobody plays
    struct overlay overlay;
    struct panel panel;
    bool binding_waits; // for an input to be bound to:
    struct binding binding;
    struct loop_page loop_page;
    uint32_t switched_loop; // header of the one whose switch is overlay.change; 0: that is another switch
    enum action switched; // what live A/B would throw: the last one, ACTION_NONE: none yet
    struct live live;
    struct split_screen split;
    struct again again;
    struct toasts toasts;

    unsigned speed; // percent, SPEED_MAX
    unsigned markers; // set so far
    unsigned held_input; // of the action that lasts while it is held
    bool fast_forward, rewinding; // such ones
    struct slots *slots;
    unsigned slot; // the chosen one
    uint32_t jumps; // of the session, that the keys know of
    bool paused; // by the user
    bool unfocused_pause; // because the window lost the focus
    bool focused;
    bool all_keys; // go to the game, but for the one that ends this
    enum { SCREENSHOT_NONE, SCREENSHOT_SEEN, SCREENSHOT_CLEAN } screenshot; // to be taken at the next drawing
    bool quitting; // the guest has been asked to
    uint64_t quit_deadline; // SDL_GetTicks64
    bool dirty; // something to be drawn has changed
    uint32_t wake_event; // tells the main loop that there is something new
    atomic_bool wake_queued;

    // A page in place of the game, or NULL.
    const char *page_title, *page_choices;
    char *page_text;
};

// Any thread: the main loop is to look what there is. Takes what callbacks are given, a struct app.
void app_wake(void *app);

// Whether the panel or the loop page lies over the game and takes the input.
bool app_covered(const struct app *app);

#endif
