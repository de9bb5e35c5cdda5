// SPDX-License-Identifier: MIT
// What actions do: every switch of the panel and every key of our own. Main thread only.
#ifndef FRONTEND_CONTROLS_H
#define FRONTEND_CONTROLS_H

#include "app.h"

// Does what a key or a row of the panel stands for.
// input: the key or button (keys.h) for it, or 0.
void controls_perform(struct app *app, enum action action, unsigned input);
// Why the action cannot be had now, or NULL.
const char *controls_missing(const struct app *app, enum action action);
// The key of an action that lasts while it is held has gone up.
void controls_release(struct app *app);
// Which of what the nets switch is on.
enum neural controls_neural(const struct app *app);
// The loop whose page is open: on or off.
void controls_switch_loop(struct app *app);
// The state of every switch, for the panel.
void controls_values(const struct app *app, char values[ACTION_COUNT][24]);
// Is the game standing still, for whatever reason?
bool controls_paused(const struct app *app);
// After app->paused or app->unfocused_pause has changed.
void controls_apply_pause(struct app *app);
// Ends the game that runs, for what is in app->next.
void controls_play_next(struct app *app);
// Asks the guest to end; a second request ends it at once.
void controls_quit(struct app *app);

#endif
