// SPDX-License-Identifier: MIT
// Short messages above DOOM's status bar, or on it below a page that covers the rest, one at a time, each for
// a few seconds. Main thread only.
#ifndef FRONTEND_TOAST_H
#define FRONTEND_TOAST_H

#include <stdbool.h>
#include <stdint.h>

#include "sheet.h"

enum { TOASTS = 4, TOAST_SIZE = 240 };

struct toasts {
    struct {
        char text[TOAST_SIZE];
        char hint[48]; // behind it, smaller
    } items[TOASTS]; // the first is shown
    unsigned count;
    uint64_t until; // SDL_GetTicks64: for so long the first is shown; 0: not yet
};

// Takes the place of the one that is shown; what has not been shown yet comes before it.
void toast_add(struct toasts *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

// One with a hint behind it, which is shown for a long time.
void toast_add_hint(struct toasts *t, const char *text, const char *hint);
// Drops that, shown or not yet; returns whether there was one.
bool toast_drop_hint(struct toasts *t);

// Drops what is over; returns whether anything is to be drawn anew.
bool toast_expire(struct toasts *t);

// When the present one is over, or UINT64_MAX.
uint64_t toast_next(const struct toasts *t);

// covered: a page has all the room above the status bar.
void toast_layout(const struct toasts *t, struct sheet *s, bool covered);

#endif
