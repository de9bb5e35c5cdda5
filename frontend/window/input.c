// SPDX-License-Identifier: MIT
#include "input.h"

#include <string.h>

#include "guest/device_page.h"

// DOOM's keys that are not ASCII: 0x80 + the scan code of a PC keyboard, but for the arrows and Pause.
#define PC(code) (0x80 + (code))

static const unsigned char doom_keys[SDL_NUM_SCANCODES] = {
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
};

unsigned input_doom_key(SDL_Scancode code)
{
    return code < SDL_NUM_SCANCODES ? doom_keys[code] : 0;
}

static bool bind_key(struct key_binding *binding, const char *name, const char *setting,
                     struct failure *failure)
{
    *binding = (struct key_binding){0};
    if (strcmp(name, "-") == 0 || *name == '\0') {
        return true;
    }
    if (strncmp(name, "Alt+", 4) == 0) {
        binding->alt = true;
        name += 4;
    }
    binding->code = SDL_GetScancodeFromName(name);
    if (binding->code == SDL_SCANCODE_UNKNOWN) {
        return fail(
            failure, STATUS_USAGE,
            "the setting %s: there is no key \"%s\"; names are as in A, 5, F1, PageUp, Return, Space, `",
            setting, name);
    }
    return true;
}

bool input_bind(struct input *in, const struct settings *settings, struct failure *failure)
{
    *in = (struct input){0};
    struct key_binding leader;
    if (!bind_key(&leader, settings->leader_key, "leader.key", failure)) {
        return false;
    }
    in->leader = leader.code;
    for (int i = 0; i < ACTION_COUNT; i++) {
        const char *name = action_table[i].name;
        if (!bind_key(&in->after_leader[i], settings->leader[i], name, failure) ||
            !bind_key(&in->direct[i], settings->direct[i], name, failure)) {
            return false;
        }
    }
    return true;
}

static enum action look_up(const struct key_binding bindings[ACTION_COUNT], const SDL_KeyboardEvent *key)
{
    bool alt = key->keysym.mod & KMOD_ALT;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (bindings[i].code == key->keysym.scancode && bindings[i].code != SDL_SCANCODE_UNKNOWN &&
            bindings[i].alt == alt) {
            return (enum action)i;
        }
    }
    return ACTION_NONE;
}

enum action input_after_leader(const struct input *in, const SDL_KeyboardEvent *key)
{
    return look_up(in->after_leader, key);
}

enum action input_direct(const struct input *in, const SDL_KeyboardEvent *key)
{
    return look_up(in->direct, key);
}

// The character that a key press has typed: SDL queues its text right behind it.
static uint32_t typed_character(void)
{
    SDL_Event next;
    if (SDL_PeepEvents(&next, 1, SDL_PEEKEVENT, SDL_FIRSTEVENT, SDL_LASTEVENT) == 1 &&
        next.type == SDL_TEXTINPUT) {
        unsigned char first = (unsigned char)next.text.text[0];
        return first >= ' ' && first < 0x7f ? first : 0;
    }
    return 0;
}

void input_key(struct input *in, struct session *s, const SDL_KeyboardEvent *key, bool repeats)
{
    SDL_Scancode code = key->keysym.scancode;
    unsigned doom_key = input_doom_key(code);
    if (!doom_key) {
        return;
    }
    struct device_event event = {.code = (uint16_t)doom_key};
    if (key->type == SDL_KEYDOWN) {
        if (key->repeat && !repeats) {
            return;
        }
        in->forwarded[code] = true;
        event.type = DEVICE_EVENT_KEY_DOWN;
        event.ch = typed_character();
    } else {
        // A key that went down while it was the host's means nothing to the guest.
        if (!in->forwarded[code]) {
            return;
        }
        in->forwarded[code] = false;
        event.type = DEVICE_EVENT_KEY_UP;
    }
    session_post(s, &event);
}

static int16_t limit(int motion)
{
    return (int16_t)(motion > INT16_MAX ? INT16_MAX : motion < INT16_MIN ? INT16_MIN : motion);
}

static void send_mouse(struct input *in, struct session *s)
{
    session_post(s, &(struct device_event){.type = DEVICE_EVENT_MOUSE,
                                           .code = (uint16_t)in->mouse_buttons,
                                           .dx = limit(in->motion_x),
                                           .dy = limit(in->motion_y)});
    in->motion_x = in->motion_y = 0;
}

void input_flush(struct input *in, struct session *s)
{
    if (in->motion_x || in->motion_y) {
        send_mouse(in, s);
    }
}

void input_mouse(struct input *in, struct session *s, const SDL_Event *event)
{
    if (!in->mouse_captured) {
        return;
    }
    if (event->type == SDL_MOUSEMOTION) {
        in->motion_x += event->motion.xrel;
        in->motion_y += event->motion.yrel;
        return;
    }
    unsigned bit = event->button.button == SDL_BUTTON_LEFT     ? 1
                   : event->button.button == SDL_BUTTON_RIGHT  ? 2
                   : event->button.button == SDL_BUTTON_MIDDLE ? 4
                                                               : 0;
    if (event->type == SDL_MOUSEBUTTONDOWN) {
        in->mouse_buttons |= bit;
    } else {
        in->mouse_buttons &= ~bit;
    }
    if (bit) {
        send_mouse(in, s);
    }
}

void input_capture_mouse(struct input *in, bool capture)
{
    if (capture != in->mouse_captured) {
        in->mouse_captured = capture;
        SDL_SetRelativeMouseMode(capture ? SDL_TRUE : SDL_FALSE);
        in->motion_x = in->motion_y = 0;
    }
}

void input_release_all(struct input *in, struct session *s)
{
    memset(in->forwarded, 0, sizeof in->forwarded);
    in->mouse_buttons = 0;
    in->motion_x = in->motion_y = 0;
    in->leader_held = false;
    session_post(s, &(struct device_event){.type = DEVICE_EVENT_RELEASE_ALL});
}
