// SPDX-License-Identifier: MIT
// Instant replay A/B: the last seconds of the game are run again with both sides of a switch
// (switch_sides.h), beside the game, which goes on. Main thread only.
#ifndef FRONTEND_AGAIN_H
#define FRONTEND_AGAIN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "frontend/bench/instant.h"
#include "switch_sides.h"

struct app;

struct again {
    bool asked, dropped; // the game has been asked for its past; nobody wants it any more
    atomic_bool taken; // it has answered: with past, or why not
    struct past past;
    struct error why;
    struct instant *instant; // NULL: none runs
    struct switch_sides sides;
    unsigned done; // runs that have been told of
    char said[64]; // the last words about them
    char verdict[600]; // of the last one, or ""
    char difference[600]; // the first that was found in this game, or ""
};

// Why there is nothing to be run again in this game, or NULL.
const char *again_missing(const struct app *app);
// Begins, or ends it without a verdict.
void again_toggle(struct app *app);
// Looks what has become of it. Once for each round of the main loop.
void again_follow(struct app *app);
// The session has stopped: ends it.
void again_close(struct app *app);
// How far it is, for the panel.
void again_progress(const struct app *app, char value[24]);

#endif
