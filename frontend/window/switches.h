// SPDX-License-Identifier: MIT
// How the machine is switched, as a value. Main thread only.
#ifndef FRONTEND_SWITCHES_H
#define FRONTEND_SWITCHES_H

#include "frontend/command/config.h"
#include "frontend/session/session.h"

struct switches {
    enum machine_engine engine;
    enum machine_dispatch dispatch;
    bool loops, idle;
};

// As last set; what a machine lacks is off.
struct switches switches_get(const machine *m);
// Takes effect soon.
void switches_set(struct session *s, const struct switches *to);
bool switches_same(const struct switches *a, const struct switches *b);
// Whether this frame ran so.
bool switches_made(const struct switches *s, const struct frame_figures *frame);

// All that nets switch, and waiting: on as the settings have it, everything if they have nothing; or off. The
// engine stays.
struct switches switches_neural(const machine *m, const struct settings *settings, bool on);

#endif
