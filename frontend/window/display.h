// SPDX-License-Identifier: MIT
// Is there a screen to show a window on?
#ifndef FRONTEND_DISPLAY_H
#define FRONTEND_DISPLAY_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/base/status.h"

// Starts SDL's video. False: *failure (STATUS_NO_DISPLAY), and SDL is shut down again. Without a display SDL
// quietly takes a driver that shows nothing; that counts as none, unless SDL_VIDEODRIVER asks for it.
bool display_open(struct failure *failure);

// From now on the loss of the display that shows the window, at the end of a desktop session for one, is an
// interrupt. SDL's windows are not to be closed then: it would wait for the display's answer.
void display_watch(SDL_Window *window);
// From any thread.
bool display_is_lost(void);

void display_close(void);

#endif
