// SPDX-License-Identifier: MIT
// The panel: pages of rows, for keyboard and mouse. What rows there are and what they do is the pages' own
// (pages.h); here is how one moves among them and how they are laid out. Main thread only.
#ifndef FRONTEND_PANEL_H
#define FRONTEND_PANEL_H

#include <SDL.h>
#include <stdbool.h>

#include "sheet.h"

enum { PANEL_ROWS = 160, PANEL_KEYS = 120 };

// A row's value "on" or "off" is shown as a switch.
struct panel_row {
    int id; // the page's own
    char label[48], meaning[112], value[24], keys[PANEL_KEYS];
    bool missing; // it cannot be used
    const uint32_t *picture; // a small picture in front (ARGB), or NULL; it lives until the next list
    int picture_width, picture_height;
};

struct app;
struct panel_page {
    const char *title;
    bool graph; // shown beside what the row is doing now
    // Fills in at most `most` rows; returns how many.
    size_t (*list)(struct app *app, struct panel_row *rows, size_t most);
    // Enter or a click on a row. NULL: nothing.
    void (*choose)(struct app *app, const struct panel_row *row);
    // What the row is doing now, in a sentence or two. NULL: nothing.
    void (*tell)(struct app *app, const struct panel_row *row, char *text, size_t size);
    // A key before the panel gets it; true: it was for the page. NULL: none are.
    bool (*key)(struct app *app, const struct panel_row *row, const SDL_KeyboardEvent *key);
};

struct panel {
    bool open;
    // Opened by the leader key and not used yet: a key that follows the leader key means what it always does,
    // Enter and arrows among them, and no row is chosen.
    bool fresh;
    unsigned page, pages; // the open one, and how many there are
    size_t selected, first; // rows; first is the topmost shown
    size_t shown; // rows, at the last drawing
};

// At the page, one of so many.
void panel_open(struct panel *p, unsigned page, unsigned pages, bool fresh);

enum panel_answer {
    PANEL_NOTHING, // not for the panel
    PANEL_MOVED,
    PANEL_CLOSED,
    PANEL_CHOSEN, // the selected row is wanted
};
// Arrows, Tab, Page up and down, Home, End, Enter, Esc; count: of rows.
enum panel_answer panel_key(struct panel *p, const SDL_KeyboardEvent *key, size_t count);
// Whether that key means something to every panel.
bool panel_uses(unsigned scancode);
// Motion, clicks and wheel, at the choice of the sheet that panel_layout made.
enum panel_answer panel_mouse(struct panel *p, const SDL_Event *event, int choice, size_t count);

// What is shown of the page; the strings are the caller's.
struct panel_view {
    const char *hint; // what can be done here, if it is not the usual; else NULL
    const char *const *titles; // of all pages
    const struct panel_row *rows;
    size_t count;
    const char *now; // what the selected row is doing; "": nothing; NULL: rows of this page do nothing
    const struct plot *plot; // beside it, or NULL
};
void panel_layout(struct panel *p, struct sheet *s, const struct panel_view *view);

#endif
