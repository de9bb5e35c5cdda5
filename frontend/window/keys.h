// SPDX-License-Identifier: MIT
// The inputs that something can be bound to, as numbers: SDL's scancodes, then the mouse's buttons and wheel,
// then a pad's buttons and triggers.
#ifndef FRONTEND_KEYS_H
#define FRONTEND_KEYS_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/command/bindings.h"

enum {
    INPUT_MOUSE = SDL_NUM_SCANCODES, // + SDL_BUTTON_LEFT …
    INPUT_WHEEL_UP = INPUT_MOUSE + SDL_BUTTON_X2 + 1,
    INPUT_WHEEL_DOWN,
    INPUT_PAD, // + SDL_GameControllerButton
    INPUT_PAD_LT = INPUT_PAD + SDL_CONTROLLER_BUTTON_MAX,
    INPUT_PAD_RT,
    INPUTS
};

// The DOOM key (doomkeys.h) of an input where it is not bound, and in menus; 0 if it is none there.
unsigned keys_doom(unsigned input);

// By its name in a list of the settings; 0 if there is none of that name.
unsigned keys_by_name(const char *name, bool *alt);
// Its name; false if it has none, and cannot be bound.
bool keys_name(unsigned input, bool alt, char name[BINDING_NAME]);

#endif
