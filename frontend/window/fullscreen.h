// SPDX-License-Identifier: MIT
// Fullscreen on and off, on X11 also where no window manager does it.
#ifndef FRONTEND_FULLSCREEN_H
#define FRONTEND_FULLSCREEN_H

#include <SDL.h>
#include <stdbool.h>

// windowed: the rectangle to come back to.
void fullscreen_set(SDL_Window *window, bool on, const SDL_Rect *windowed);

#endif
