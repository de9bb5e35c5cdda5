// SPDX-License-Identifier: MIT
#include "input.h"

#include <string.h>

#include "guest/device_page.h"

// What is bound to the inputs of a list; what came first stays (bindings_conflicts tells).
static bool bind_list(const char *list, const char *setting, const char *key, short *at, short *at_with_alt,
                      short value, struct failure *failure)
{
    char name[BINDING_NAME];
    while (bindings_name(&list, name)) {
        bool alt;
        unsigned input = keys_by_name(name, &alt);
        if (!input || (alt && !at_with_alt)) {
            return fail(
                failure, STATUS_USAGE,
                "the setting %s.%s: there is no key \"%s\"%s; names are as in A, 5, F1, PageUp, Return, "
                "Space, Left Ctrl, Mouse Left, Wheel Up, Pad A, with a comma and a blank between",
                setting, key, name, alt ? " here" : "");
        }
        short *place = alt ? &at_with_alt[input] : &at[input];
        *place = *place == UNBOUND ? value : *place;
    }
    return true;
}

bool input_bind(struct input *in, const struct settings *settings, struct failure *failure)
{
    bool alt;
    unsigned leader = keys_by_name(settings->leader_key, &alt);
    in->leader = (SDL_Scancode)leader;
    if (!leader || alt || leader >= INPUT_MOUSE) {
        return fail(failure, STATUS_USAGE,
                    "the setting leader.key: there is no key \"%s\"; names are as in `, 5, F1, ScrollLock",
                    settings->leader_key);
    }
    const char *button = settings->leader_button;
    bool none = !*button || strcmp(button, "-") == 0;
    in->leader_button = none ? 0 : keys_by_name(button, &alt);
    if (!none && (in->leader_button < INPUT_MOUSE || alt)) {
        return fail(
            failure, STATUS_USAGE,
            "the setting leader.button: there is no button \"%s\"; names are as in Pad Back, Mouse 4; "
            "none is -",
            button);
    }
    in->mouse_vertical = settings->mouse_vertical;
    for (unsigned i = 0; i < INPUTS; i++) {
        in->control_at[i] = in->leader_at[i] = in->direct_at[false][i] = in->direct_at[true][i] = UNBOUND;
    }
    for (short i = 0; i < ACTION_COUNT; i++) {
        const char *name = action_table[i].name;
        if (!bind_list(settings->leader[i], "leader", name, in->leader_at, in->leader_at, i, failure) ||
            !bind_list(settings->direct[i], "direct", name, in->direct_at[false], in->direct_at[true], i,
                       failure)) {
            return false;
        }
    }
    for (short i = 1; i < DEVICE_CONTROLS; i++) {
        if (!bind_list(settings->control[i], "control", control_table[i].name, in->control_at, NULL, i,
                       failure)) {
            return false;
        }
    }
    return true;
}

enum action input_after_leader(const struct input *in, const SDL_KeyboardEvent *key)
{
    return (enum action)in->leader_at[key->keysym.scancode];
}

enum action input_direct(const struct input *in, const SDL_KeyboardEvent *key)
{
    return (enum action)in->direct_at[(key->keysym.mod & KMOD_ALT) != 0][key->keysym.scancode];
}

enum action input_button(const struct input *in, unsigned input)
{
    return (enum action)in->direct_at[false][input];
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

static void send_button(struct input *in, struct session *s, unsigned input, bool down, bool repeated,
                        uint32_t typed)
{
    short control = in->control_at[input] == UNBOUND ? DEVICE_CONTROL_NONE : in->control_at[input];
    unsigned code = keys_doom(input) | (unsigned)control << 8;
    // What went down while it was the host's means nothing to the guest.
    if (!code || (!down && !in->forwarded[input])) {
        return;
    }
    if (!down) { // as it went down, whatever has been bound since
        code = in->forwarded[input];
    }
    in->forwarded[input] = (uint16_t)(down ? code : 0);
    session_post(s, &(struct device_event){.type = down ? DEVICE_EVENT_KEY_DOWN : DEVICE_EVENT_KEY_UP,
                                           .code = (uint16_t)code,
                                           .dx = repeated,
                                           .ch = typed});
}

void input_key(struct input *in, struct session *s, const SDL_KeyboardEvent *key, bool repeats)
{
    bool down = key->type == SDL_KEYDOWN;
    if (!key->repeat || repeats) {
        send_button(in, s, key->keysym.scancode, down, key->repeat, down ? typed_character() : 0);
    }
}

void input_press(struct input *in, struct session *s, unsigned input, bool down)
{
    send_button(in, s, input, down, false, 0);
}

static int16_t limit(int motion)
{
    return (int16_t)(motion > INT16_MAX ? INT16_MAX : motion < INT16_MIN ? INT16_MIN : motion);
}

void input_flush(struct input *in, struct session *s)
{
    if (in->motion_x || in->motion_y) {
        session_post(s, &(struct device_event){.type = DEVICE_EVENT_MOUSE,
                                               .dx = limit(in->motion_x),
                                               .dy = in->mouse_vertical ? limit(in->motion_y) : 0});
        in->motion_x = in->motion_y = 0;
    }
}

void input_mouse(struct input *in, const SDL_MouseMotionEvent *motion)
{
    if (in->mouse_captured) {
        in->motion_x += motion->xrel;
        in->motion_y += motion->yrel;
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

void input_resend(const struct input *in, struct session *s)
{
    for (unsigned input = 0; input < INPUTS; input++) {
        if (in->forwarded[input]) {
            session_post(s,
                         &(struct device_event){.type = DEVICE_EVENT_KEY_DOWN, .code = in->forwarded[input]});
        }
    }
}

void input_release_all(struct input *in, struct session *s)
{
    memset(in->forwarded, 0, sizeof in->forwarded);
    in->motion_x = in->motion_y = 0;
    in->leader_held = false;
    session_post(s, &(struct device_event){.type = DEVICE_EVENT_RELEASE_ALL});
}
