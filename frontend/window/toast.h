// SPDX-License-Identifier: MIT
// Short messages, bottom left above DOOM's status bar, each for a few seconds. Main thread only.
#ifndef FRONTEND_TOAST_H
#define FRONTEND_TOAST_H

#include <SDL.h>
#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"

enum { TOASTS = 4, TOAST_SIZE = 160 };

struct toasts {
    struct {
        char text[TOAST_SIZE];
        uint64_t until; // SDL_GetTicks64; 0: unused
    } items[TOASTS]; // oldest first
};

void toast_add(struct toasts *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Drops what is over; returns whether something was dropped.
bool toast_expire(struct toasts *t);

// When the next one is over, or UINT64_MAX.
uint64_t toast_next(const struct toasts *t);

// picture: where the guest's picture is.
void toast_draw(const struct toasts *t, struct canvas *c, const SDL_Rect *picture);

#endif
