// SPDX-License-Identifier: MIT
// The panel's pages: what rows there are, and what they do. Main thread only.
#ifndef FRONTEND_PAGES_H
#define FRONTEND_PAGES_H

#include "app.h"

enum {
    PAGES_NEURAL,
    PAGES_PLAY,
    PAGES_STATES,
    PAGES_PICTURE,
    PAGES_COMPARE,
    PAGES_LOOPS,
    PAGES_HELP,
    PAGES_KEYS,
    PAGES_GAMES,
    PAGES_COUNT
};
extern const struct panel_page *const pages[PAGES_COUNT];

// The rows of the open page, which live until the next call; *count of them.
const struct panel_row *pages_rows(struct app *app, size_t *count);
// Lays the open page out.
void pages_layout(struct app *app, struct sheet *s);
// Shows a loop's page: of the loop at header, or of the by-th after the one that it shows.
void pages_open_loop(struct app *app, uint32_t header);
void pages_turn_loop(struct app *app, int by);
// Shows what the loop draws instead of its code, or no longer; pages_follow_trace tells the machine.
void pages_trace_loop(struct app *app, bool on);
// Traces the loop of the page while that shows what it draws, and else none.
void pages_follow_trace(struct app *app);
// Brings it up to date.
void pages_refresh_loop(struct app *app);

// The selected row is wanted.
void pages_choose(struct app *app);

#endif
