// SPDX-License-Identifier: MIT
// Live A/B: while a game is played, a switch is thrown every few seconds, and what frames take on both sides
// is compared (turns.h). It is the switch that was thrown last, loops at first. Main thread only.
#ifndef FRONTEND_LIVE_H
#define FRONTEND_LIVE_H

#include <stdbool.h>

#include "frontend/record/turns.h"
#include "switch_sides.h"

struct app;

struct live {
    bool on;
    struct switch_sides sides;
    uint32_t from; // the last frame before it began
    uint32_t seen; // the last one that was taken
    bool told; // the verdict, once it had an interval
    struct turns turns;
    char text[160]; // what is known; stays until the next switch
};

// Begins, or ends: then everything is as it was before.
void live_toggle(struct app *app);
// Ends if it is on: another switch is about to be thrown, or there is enough.
void live_end(struct app *app);
// Takes the frames that have come, and swaps when it is time. Once for each round of the main loop.
void live_follow(struct app *app);
// What the side is called whose turn it is, "" while it is off.
const char *live_side(const struct live *live);

#endif
