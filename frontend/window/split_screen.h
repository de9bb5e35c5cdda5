// SPDX-License-Identifier: MIT
// A split screen in the window: the right side beside the game, and what stands below both pictures. Main
// thread only.
#ifndef FRONTEND_SPLIT_SCREEN_H
#define FRONTEND_SPLIT_SCREEN_H

#include "frontend/command/actions.h"
#include "frontend/command/twin.h"
#include "frontend/record/states.h"
#include "frontend/session/split.h"
#include "sheet.h"

struct app;

struct split_screen {
    struct twin twin; // open as long as the program runs
    struct states *states; // brings the right side to where options have the game start
    struct split *split; // of this game; NULL: there is no right side
    struct split_view view; // as of the last look
    bool told; // that the sides differ
};

// Before the game's session is started: starts the right side. hears: see split_start. False: *failure.
bool split_screen_start(struct app *app, bool hears, struct failure *failure);
// Once for each round of the main loop. look: it is time for new figures. Returns whether anything is to be
// drawn anew.
bool split_screen_follow(struct app *app, bool look);
// When the game's session has been stopped: says what came out. False: the sides have differed; *failure.
bool split_screen_conclude(struct app *app, struct failure *failure);
void split_screen_end(struct app *app);

// Why the action makes no sense with two sides, or NULL.
const char *split_screen_refuses(const struct app *app, enum action action);

// Height in pixels of what stands below the pictures, and that.
int split_screen_height(const struct fonts *f);
void split_screen_layout(struct sheet *s, const SDL_Rect pictures[2], const char *const names[2],
                         const struct split_view *view);

#endif
