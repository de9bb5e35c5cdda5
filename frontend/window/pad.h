// SPDX-License-Identifier: MIT
// Game pads: any number may come and go, all are the one player's. Main thread only.
#ifndef FRONTEND_PAD_H
#define FRONTEND_PAD_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/session/session.h"

enum { PADS = 8 };

struct pad {
    SDL_GameController *controller; // NULL: none
    int16_t axes[SDL_CONTROLLER_AXIS_MAX];
};

// Of two pads that move the same stick or trigger, the one counts that moves it further.
struct pads {
    struct pad pads[PADS];
    bool triggers[2]; // pulled
    unsigned answers; // held for menus: bit 0 yes, 1 back
    bool changed, covered; // since, and at, the last pads_flush
    int dead_zone; // percent of the way of a stick
    bool rumble;
};

// Starts SDL's part; pads that are there come as events.
void pads_open(struct pads *p, int dead_zone, bool rumble);
void pads_close(struct pads *p);

// A controller event. Returns the input (keys.h) that has gone down or up, or 0; a pad that goes takes
// everything along: *gone.
unsigned pads_event(struct pads *p, const SDL_Event *event, bool *down, bool *gone);

// Of an input of pads_event: whether the game's menus are answered by it from now on.
void pads_answer(struct pads *p, unsigned input, bool held);

// Tells the guest where the sticks are, if that has changed; that all is at rest while something covers the
// game.
void pads_flush(struct pads *p, struct session *s, bool covered);
// Lets the sticks rest until they are moved again.
void pads_rest(struct pads *p);
// The guest has forgotten where the sticks are: it is told again.
void pads_resend(struct pads *p);

// Shakes all pads after a loss of so many points of health.
void pads_hurt(struct pads *p, int points);

#endif
