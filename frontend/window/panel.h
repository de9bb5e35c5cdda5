// SPDX-License-Identifier: MIT
// The panel: every switch in a list, with its state and its keys, for keyboard and mouse. Main thread only.
#ifndef FRONTEND_PANEL_H
#define FRONTEND_PANEL_H

#include <SDL.h>
#include <stdbool.h>

#include "canvas.h"
#include "frontend/command/actions.h"
#include "frontend/command/config.h"

struct panel {
    bool open;
    int selected, first; // rows: actions; first is the topmost shown
    // Where the rows were drawn last, for the mouse.
    int rows_x, rows_y, rows_width, row_height, rows_shown;
};

enum panel_answer {
    PANEL_NOTHING, // not for the panel
    PANEL_MOVED,
    PANEL_CLOSED,
    PANEL_CHOSEN, // the selected action is wanted
};

void panel_open(struct panel *p);
// Arrows, Page up and down, Home, End, Enter, Esc.
enum panel_answer panel_key(struct panel *p, SDL_Scancode code);
// Motion, clicks and wheel; pixel_ratio: pixels of the drawing area to a unit of the events' coordinates.
enum panel_answer panel_mouse(struct panel *p, const SDL_Event *event, double pixel_ratio);

// values: the state of each action's switch as text, "" for those that only do something.
void panel_draw(struct panel *p, struct canvas *c, int width, int height, const struct settings *settings,
                const char values[ACTION_COUNT][24]);

#endif
