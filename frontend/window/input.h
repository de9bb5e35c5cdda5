// SPDX-License-Identifier: MIT
// Keys and buttons: which are the host's, and what the guest gets of the others. Main thread only.
#ifndef FRONTEND_INPUT_H
#define FRONTEND_INPUT_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/command/actions.h"
#include "frontend/command/config.h"
#include "frontend/session/session.h"
#include "keys.h"

enum { UNBOUND = ACTION_NONE };

struct input {
    SDL_Scancode leader;
    unsigned leader_button; // opens the panel, too; 0: none
    bool mouse_vertical; // the mouse also walks
    // What each input (keys.h) does: an action, or one of DOOM's controls, or UNBOUND.
    short leader_at[INPUTS]; // after the leader key
    short direct_at[2][INPUTS]; // without Alt, and with it
    short control_at[INPUTS];
    bool leader_held; // and whether a key was pressed meanwhile:
    bool leader_used;
    uint16_t forwarded[INPUTS]; // the code under which it is down in the guest, or 0
    bool mouse_captured;
    int motion_x, motion_y; // not sent yet
};

// Reads the lists of the settings, at the start and when they have changed. False: *failure names the one
// with something that is no key.
bool input_bind(struct input *in, const struct settings *settings, struct failure *failure);

// The action on that key after the leader key, or alone; ACTION_NONE if there is none.
enum action input_after_leader(const struct input *in, const SDL_KeyboardEvent *key);
enum action input_direct(const struct input *in, const SDL_KeyboardEvent *key);
// The same of another input than a key, alone.
enum action input_button(const struct input *in, unsigned input);

// A key for the guest. repeats: the guest wants repeated keys too (it is in a menu).
void input_key(struct input *in, struct session *s, const SDL_KeyboardEvent *key, bool repeats);
// A button of the mouse or of a pad, or a step of the wheel, for the guest.
void input_press(struct input *in, struct session *s, unsigned input, bool down);

// Mouse motion counts only while the mouse is captured; it is sent by input_flush.
void input_mouse(struct input *in, const SDL_MouseMotionEvent *motion);
void input_flush(struct input *in, struct session *s);
void input_capture_mouse(struct input *in, bool capture);

// The guest is told again what is down.
void input_resend(const struct input *in, struct session *s);

// Everything goes up in the guest.
void input_release_all(struct input *in, struct session *s);

#endif
