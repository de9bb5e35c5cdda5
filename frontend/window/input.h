// SPDX-License-Identifier: MIT
// Keyboard and mouse: which keys are the host's, and what the guest gets of the others. Main thread only.
#ifndef FRONTEND_INPUT_H
#define FRONTEND_INPUT_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/command/actions.h"
#include "frontend/command/config.h"
#include "frontend/session/session.h"

struct key_binding {
    SDL_Scancode code; // SDL_SCANCODE_UNKNOWN: none
    bool alt;
};

struct input {
    SDL_Scancode leader;
    struct key_binding after_leader[ACTION_COUNT], direct[ACTION_COUNT];
    bool leader_held; // and whether a key was pressed meanwhile:
    bool leader_used;
    bool forwarded[SDL_NUM_SCANCODES]; // keys that are down in the guest
    bool mouse_captured;
    unsigned mouse_buttons; // as the guest has them
    int motion_x, motion_y; // not sent yet
};

// Reads the key settings. False: *failure names the one that is no key.
bool input_bind(struct input *in, const struct settings *settings, struct failure *failure);

// The action on that key after the leader key, or alone; ACTION_NONE if there is none.
enum action input_after_leader(const struct input *in, const SDL_KeyboardEvent *key);
enum action input_direct(const struct input *in, const SDL_KeyboardEvent *key);

// A key for the guest. repeats: the guest wants repeated keys too (it is in a menu).
void input_key(struct input *in, struct session *s, const SDL_KeyboardEvent *key, bool repeats);

// Mouse events count only while the mouse is captured; motion is sent by input_flush.
void input_mouse(struct input *in, struct session *s, const SDL_Event *event);
void input_flush(struct input *in, struct session *s);
void input_capture_mouse(struct input *in, bool capture);

// Everything goes up in the guest.
void input_release_all(struct input *in, struct session *s);

// The DOOM key (doomkeys.h) of a position on the keyboard, 0 if DOOM has none.
unsigned input_doom_key(SDL_Scancode code);

#endif
