// SPDX-License-Identifier: MIT
// The games on this machine: a page of the panel with their title pictures, and the question which one to
// play where there are several and none is known. Main thread only.
#ifndef FRONTEND_GAMES_H
#define FRONTEND_GAMES_H

#include "app.h"

extern const struct panel_page games_page;

// How many there are. They are looked for once.
size_t games_count(void);
// Only that page, where no game runs yet.
void games_layout(struct app *app, struct sheet *s);
// That row has been chosen: app->next.
void games_choose(struct app *app, size_t row);
void games_free(void);

// Files dropped on the window go to app->next; when the last is there they are played.
void games_drop(struct app *app, const SDL_Event *event);

#endif
