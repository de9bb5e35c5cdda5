// SPDX-License-Identifier: MIT
// The two sides of a switch, for whoever compares them: the switch that was thrown last, loops at first. Main
// thread only.
#ifndef FRONTEND_SWITCH_SIDES_H
#define FRONTEND_SWITCH_SIDES_H

#include "frontend/command/actions.h"
#include "switches.h"

struct app;

struct switch_sides {
    enum action action; // which switch
    struct switches before, of[2]; // as it was; on, off
};

void switch_sides_choose(struct switch_sides *sides, const struct app *app);
// The same, where the game does not wait: not waiting.
void switch_sides_choose_busy(struct switch_sides *sides, const struct app *app);

struct side_names {
    const char *words[2]; // for people: on, off
    const char *labels[2]; // in files
};
const struct side_names *switch_sides_names(enum action action);

#endif
