// SPDX-License-Identifier: MIT
// What the user and the window system do while the game runs. Main thread only.
#ifndef FRONTEND_EVENTS_H
#define FRONTEND_EVENTS_H

#include "app.h"

void events_take(struct app *app, const SDL_Event *event);

// The same before there is a game, while one is picked.
void events_pick(struct app *app, const SDL_Event *event);

// After the renderer has lost its textures.
void events_renew(struct app *app);

#endif
