// SPDX-License-Identifier: MIT
// Saved states and going back, as the player meets them. Main thread only.
#ifndef FRONTEND_GAME_STATES_H
#define FRONTEND_GAME_STATES_H

#include "app.h"

// After the session has started, and after it has stopped.
void game_states_open(struct app *app);
// Whether the game can be gone back in: it is kept what is needed for that.
bool game_states_kept(const struct app *app);
void game_states_close(struct app *app);

// Does what one of these actions asks for. input: the key for it (keys.h), or 0.
void game_states_perform(struct app *app, enum action action, unsigned input);
void game_states_rewind(struct app *app, bool on);
// Once the game has become another one than it was, it is told which keys are held. Called again and again.
void game_states_follow(struct app *app);

extern const struct panel_page game_states_page;

#endif
