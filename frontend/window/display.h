// SPDX-License-Identifier: MIT
// Is there a screen to show a window on?
#ifndef FRONTEND_DISPLAY_H
#define FRONTEND_DISPLAY_H

#include <stdbool.h>

#include "frontend/base/status.h"

// Starts SDL's video. False: *failure (STATUS_NO_DISPLAY), and SDL is shut down again. Without a display SDL
// quietly takes a driver that shows nothing; that counts as none, unless SDL_VIDEODRIVER asks for it.
bool display_open(struct failure *failure);
void display_close(void);

#endif
