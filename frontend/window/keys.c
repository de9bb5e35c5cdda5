// SPDX-License-Identifier: MIT
#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "frontend/base/text.h"

// DOOM's keys that are not ASCII: 0x80 + the scan code of a PC keyboard, but for the arrows and Pause.
#define PC(code) (0x80 + (code))

static const unsigned char doom_keys[INPUTS] = {
    [SDL_SCANCODE_A] = 'a',
    [SDL_SCANCODE_B] = 'b',
    [SDL_SCANCODE_C] = 'c',
    [SDL_SCANCODE_D] = 'd',
    [SDL_SCANCODE_E] = 'e',
    [SDL_SCANCODE_F] = 'f',
    [SDL_SCANCODE_G] = 'g',
    [SDL_SCANCODE_H] = 'h',
    [SDL_SCANCODE_I] = 'i',
    [SDL_SCANCODE_J] = 'j',
    [SDL_SCANCODE_K] = 'k',
    [SDL_SCANCODE_L] = 'l',
    [SDL_SCANCODE_M] = 'm',
    [SDL_SCANCODE_N] = 'n',
    [SDL_SCANCODE_O] = 'o',
    [SDL_SCANCODE_P] = 'p',
    [SDL_SCANCODE_Q] = 'q',
    [SDL_SCANCODE_R] = 'r',
    [SDL_SCANCODE_S] = 's',
    [SDL_SCANCODE_T] = 't',
    [SDL_SCANCODE_U] = 'u',
    [SDL_SCANCODE_V] = 'v',
    [SDL_SCANCODE_W] = 'w',
    [SDL_SCANCODE_X] = 'x',
    [SDL_SCANCODE_Y] = 'y',
    [SDL_SCANCODE_Z] = 'z',
    [SDL_SCANCODE_1] = '1',
    [SDL_SCANCODE_2] = '2',
    [SDL_SCANCODE_3] = '3',
    [SDL_SCANCODE_4] = '4',
    [SDL_SCANCODE_5] = '5',
    [SDL_SCANCODE_6] = '6',
    [SDL_SCANCODE_7] = '7',
    [SDL_SCANCODE_8] = '8',
    [SDL_SCANCODE_9] = '9',
    [SDL_SCANCODE_0] = '0',
    [SDL_SCANCODE_RETURN] = 13,
    [SDL_SCANCODE_ESCAPE] = 27,
    [SDL_SCANCODE_BACKSPACE] = 0x7f,
    [SDL_SCANCODE_TAB] = 9,
    [SDL_SCANCODE_SPACE] = ' ',
    [SDL_SCANCODE_MINUS] = '-',
    [SDL_SCANCODE_EQUALS] = '=',
    [SDL_SCANCODE_LEFTBRACKET] = '[',
    [SDL_SCANCODE_RIGHTBRACKET] = ']',
    [SDL_SCANCODE_BACKSLASH] = '\\',
    [SDL_SCANCODE_NONUSHASH] = '\\',
    [SDL_SCANCODE_NONUSBACKSLASH] = '\\',
    [SDL_SCANCODE_SEMICOLON] = ';',
    [SDL_SCANCODE_APOSTROPHE] = '\'',
    [SDL_SCANCODE_GRAVE] = '`',
    [SDL_SCANCODE_COMMA] = ',',
    [SDL_SCANCODE_PERIOD] = '.',
    [SDL_SCANCODE_SLASH] = '/',
    [SDL_SCANCODE_CAPSLOCK] = PC(0x3a),
    [SDL_SCANCODE_F1] = PC(0x3b),
    [SDL_SCANCODE_F2] = PC(0x3c),
    [SDL_SCANCODE_F3] = PC(0x3d),
    [SDL_SCANCODE_F4] = PC(0x3e),
    [SDL_SCANCODE_F5] = PC(0x3f),
    [SDL_SCANCODE_F6] = PC(0x40),
    [SDL_SCANCODE_F7] = PC(0x41),
    [SDL_SCANCODE_F8] = PC(0x42),
    [SDL_SCANCODE_F9] = PC(0x43),
    [SDL_SCANCODE_F10] = PC(0x44),
    [SDL_SCANCODE_F11] = PC(0x57),
    [SDL_SCANCODE_F12] = PC(0x58),
    [SDL_SCANCODE_PRINTSCREEN] = PC(0x59),
    [SDL_SCANCODE_SCROLLLOCK] = PC(0x46),
    [SDL_SCANCODE_PAUSE] = 0xff,
    [SDL_SCANCODE_INSERT] = PC(0x52),
    [SDL_SCANCODE_HOME] = PC(0x47),
    [SDL_SCANCODE_PAGEUP] = PC(0x49),
    [SDL_SCANCODE_DELETE] = PC(0x53),
    [SDL_SCANCODE_END] = PC(0x4f),
    [SDL_SCANCODE_PAGEDOWN] = PC(0x51),
    [SDL_SCANCODE_RIGHT] = 0xae,
    [SDL_SCANCODE_LEFT] = 0xac,
    [SDL_SCANCODE_DOWN] = 0xaf,
    [SDL_SCANCODE_UP] = 0xad,
    [SDL_SCANCODE_NUMLOCKCLEAR] = PC(0x45),
    [SDL_SCANCODE_KP_DIVIDE] = '/',
    [SDL_SCANCODE_KP_MULTIPLY] = '*',
    [SDL_SCANCODE_KP_MINUS] = '-',
    [SDL_SCANCODE_KP_PLUS] = '+',
    [SDL_SCANCODE_KP_ENTER] = 13,
    [SDL_SCANCODE_KP_EQUALS] = '=',
    [SDL_SCANCODE_KP_1] = PC(0x4f),
    [SDL_SCANCODE_KP_2] = 0xaf,
    [SDL_SCANCODE_KP_3] = PC(0x51),
    [SDL_SCANCODE_KP_4] = 0xac,
    [SDL_SCANCODE_KP_5] = PC(0x4c),
    [SDL_SCANCODE_KP_0] = PC(0x52),
    [SDL_SCANCODE_KP_6] = 0xae,
    [SDL_SCANCODE_KP_7] = PC(0x47),
    [SDL_SCANCODE_KP_8] = 0xad,
    [SDL_SCANCODE_KP_9] = PC(0x49),
    [SDL_SCANCODE_LCTRL] = PC(0x1d),
    [SDL_SCANCODE_RCTRL] = PC(0x1d),
    [SDL_SCANCODE_LSHIFT] = PC(0x36),
    [SDL_SCANCODE_RSHIFT] = PC(0x36),
    [SDL_SCANCODE_LALT] = PC(0x38),
    [SDL_SCANCODE_RALT] = PC(0x38),
    // Of a pad what a menu takes; two more of its buttons answer there (DEVICE_EVENT_PAD).
    [INPUT_PAD + SDL_CONTROLLER_BUTTON_DPAD_UP] = 0xad,
    [INPUT_PAD + SDL_CONTROLLER_BUTTON_DPAD_DOWN] = 0xaf,
    [INPUT_PAD + SDL_CONTROLLER_BUTTON_DPAD_LEFT] = 0xac,
    [INPUT_PAD + SDL_CONTROLLER_BUTTON_DPAD_RIGHT] = 0xae,
    [INPUT_PAD + SDL_CONTROLLER_BUTTON_START] = 27,
};

unsigned keys_doom(unsigned input)
{
    return input < INPUTS ? doom_keys[input] : 0;
}

static const char *const names[INPUTS - INPUT_MOUSE] = {
#define NAME(input) [(input)-INPUT_MOUSE]
#define PAD(button) NAME(INPUT_PAD + SDL_CONTROLLER_BUTTON_##button)
    NAME(INPUT_MOUSE + SDL_BUTTON_LEFT) = "Mouse Left",
    NAME(INPUT_MOUSE + SDL_BUTTON_MIDDLE) = "Mouse Middle",
    NAME(INPUT_MOUSE + SDL_BUTTON_RIGHT) = "Mouse Right",
    NAME(INPUT_MOUSE + SDL_BUTTON_X1) = "Mouse 4",
    NAME(INPUT_MOUSE + SDL_BUTTON_X2) = "Mouse 5",
    NAME(INPUT_WHEEL_UP) = "Wheel Up",
    NAME(INPUT_WHEEL_DOWN) = "Wheel Down",
    PAD(A) = "Pad A",
    PAD(B) = "Pad B",
    PAD(X) = "Pad X",
    PAD(Y) = "Pad Y",
    PAD(BACK) = "Pad Back",
    PAD(GUIDE) = "Pad Guide",
    PAD(START) = "Pad Start",
    PAD(LEFTSTICK) = "Pad LS",
    PAD(RIGHTSTICK) = "Pad RS",
    PAD(LEFTSHOULDER) = "Pad LB",
    PAD(RIGHTSHOULDER) = "Pad RB",
    PAD(DPAD_UP) = "Pad Up",
    PAD(DPAD_DOWN) = "Pad Down",
    PAD(DPAD_LEFT) = "Pad Left",
    PAD(DPAD_RIGHT) = "Pad Right",
    NAME(INPUT_PAD_LT) = "Pad LT",
    NAME(INPUT_PAD_RT) = "Pad RT",
#undef PAD
#undef NAME
};

unsigned keys_by_name(const char *name, bool *alt)
{
    *alt = strncmp(name, "Alt+", 4) == 0;
    name += *alt ? 4 : 0;
    for (unsigned i = 0; i < INPUTS - INPUT_MOUSE; i++) {
        if (names[i] && text_same(names[i], name)) {
            return INPUT_MOUSE + i;
        }
    }
    return text_same(name, "Minus") ? SDL_SCANCODE_MINUS : SDL_GetScancodeFromName(name);
}

bool keys_name(unsigned input, bool alt, char name[BINDING_NAME])
{
    const char *bare = input == SDL_SCANCODE_MINUS ? "Minus"
                       : input < INPUT_MOUSE       ? SDL_GetScancodeName((SDL_Scancode)input)
                       : input < INPUTS            ? names[input - INPUT_MOUSE]
                                                   : NULL;
    snprintf(name, BINDING_NAME, "%s%s", alt ? "Alt+" : "", bare ? bare : "");
    return bare && *bare;
}
