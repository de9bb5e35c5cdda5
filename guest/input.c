// SPDX-License-Identifier: GPL-2.0-or-later
// Input: the host writes keys, mouse and pad into the event ring of the device page; here they
// become the engine's events, once a tic.
#include <ctype.h>
#include <string.h>

#include "d_event.h"
#include "doomkeys.h"
#include "doomstat.h"
#include "i_input.h"
#include "i_joystick.h"
#include "i_system.h"
#include "i_timer.h"
#include "i_video.h"
#include "m_argv.h"
#include "m_config.h"
#include "m_controls.h"
#include "m_menu.h"

#include "platform.h"

// The engine's own queue holds 64 events: what does not fit into one tic waits in the ring.
#define EVENTS_A_TIC 32

#define KEYS 256
#define CODES (DEVICE_CONTROLS << 8) // what a key's event has as its code

// Keys that no keyboard has: one that does nothing, and where the engine's configuration has none.
enum { KEY_NOTHING = 0xfe, KEY_PREVIOUS_WEAPON = 0xe0, KEY_NEXT_WEAPON = 0xe1 };

static int *const control_keys[DEVICE_CONTROLS] = {
#define CONTROL(id, name, label, variable, bound) [DEVICE_CONTROL_##id] = &variable,
#include "controls.def"
#undef CONTROL
};

// Configuration, under the engine's names.
int usemouse = 1;
int vanilla_keyboard_mapping = 0; // 0: typed text is what the host's keyboard layout says
float mouse_acceleration = 2.0f;
int mouse_threshold = 10;
static int novert;
static int use_joystick = 1; // the host decides whether there is a pad

static unsigned char held_as[CODES]; // the engine's key that went down for it, or 0
static unsigned char holders[KEYS]; // how many hold that key of the engine's
static uint32_t pressed_in[CODES]; // the tic in which it went down last
static uint32_t tic_number;

// The engine wants to hear of a stick every tic, except while a menu lets it rest (joywait).
unsigned int joywait;
static struct {
    boolean present;
    unsigned buttons;
    int left_x, left_y, right_x;
} pad;

// What this tic has taken from the ring so far.
struct tic {
    int mouse_x, mouse_y;
};

static void post(evtype_t type, int data1, int data2, int data3, int data4)
{
    event_t event = {.type = type, .data1 = data1, .data2 = data2, .data3 = data3, .data4 = data4};
    D_PostEvent(&event);
}

// Is it the engine's key for something that is bound elsewhere?
static boolean is_control_key(unsigned key)
{
    for (int control = 1; control < DEVICE_CONTROLS; control++) {
        if (*control_keys[control] == (int)key) {
            return true;
        }
    }
    return false;
}

// The engine's key for a code. In menus keys are what their labels say.
static unsigned engine_key(unsigned code)
{
    unsigned key = code % KEYS, control = code / KEYS;

    if (menuactive) {
        return key;
    }
    if (control == DEVICE_CONTROL_NONE) {
        return is_control_key(key) ? KEY_NOTHING : key;
    }
    return (unsigned)*control_keys[control] % KEYS;
}

static void press(unsigned code, uint32_t typed, boolean repeated)
{
    boolean character = typed >= ' ' && typed < 0x7f;
    unsigned key = code % KEYS, as = engine_key(code);
    // The key as its label says, without Shift; and the text it makes, which Enter and Backspace
    // need too.
    int label = character ? tolower((int)typed) : (int)key;
    int text = character ? (int)typed : key < 0x80 ? (int)key : 0;

    if (!repeated) {
        pressed_in[code] = tic_number;
        held_as[code] = (unsigned char)as;
        holders[as]++;
    }
    if (as != 0) {
        post(ev_keydown, (int)as, label, text, 0);
    }
}

static void release(unsigned code)
{
    unsigned as = held_as[code];

    held_as[code] = 0;
    if (as != 0 && holders[as] > 0 && --holders[as] == 0) {
        post(ev_keyup, (int)as, 0, 0, 0);
    }
}

static void release_all(void)
{
    for (unsigned key = 1; key < KEYS; key++) {
        if (holders[key] > 0) {
            holders[key] = 0;
            post(ev_keyup, (int)key, 0, 0, 0);
        }
    }
    memset(held_as, 0, sizeof held_as);
    pad.buttons = 0;
    pad.left_x = pad.left_y = pad.right_x = 0;
}

// False if the event must wait for the next tic: a key or button that went down in this tic may
// not go up in it too, or the game, which looks once a tic, would never see a quick tap.
static boolean take(const struct device_event *event, struct tic *tic)
{
    unsigned code = event->code;

    switch (event->type) {
    case DEVICE_EVENT_KEY_DOWN:
        if (code > 0 && code < CODES) {
            press(code, event->ch, event->dx != 0);
        }
        return true;
    case DEVICE_EVENT_KEY_UP:
        if (code >= CODES) {
            return true;
        }
        if (held_as[code] && pressed_in[code] == tic_number) {
            return false;
        }
        release(code);
        return true;
    case DEVICE_EVENT_MOUSE:
        if (usemouse && !M_ParmExists("-nomouse")) {
            tic->mouse_x += event->dx;
            tic->mouse_y += event->dy;
        }
        return true;
    case DEVICE_EVENT_PAD:
        pad.present = true;
        pad.buttons = event->code;
        pad.left_x = event->dx;
        pad.left_y = event->dy;
        pad.right_x = (int16_t)event->ch;
        return true;
    case DEVICE_EVENT_RELEASE_ALL: release_all(); return true;
    case DEVICE_EVENT_QUIT: I_Quit(); return true;
    default: return true;
    }
}

// Fast motion counts more, as with the mouse drivers of the time.
static int accelerate(int motion)
{
    int distance = motion < 0 ? -motion : motion;
    if (distance > mouse_threshold) {
        distance = (int)((float)(distance - mouse_threshold) * mouse_acceleration) + mouse_threshold;
    }
    return motion < 0 ? -distance : distance;
}

static void take_events(void)
{
    struct device_ring *ring = &page->ring;
    struct tic tic;
    uint32_t tail = ring->event_tail;
    uint32_t head = __atomic_load_n(&ring->event_head, __ATOMIC_ACQUIRE);

    if (head == tail) {
        return;
    }
    memset(&tic, 0, sizeof tic);
    tic_number++;
    for (int taken = 0; tail != head && taken < EVENTS_A_TIC; taken++) {
        if (!take(&ring->events[tail % DEVICE_EVENTS], &tic)) {
            break;
        }
        tail++;
    }
    __atomic_store_n(&ring->event_tail, tail, __ATOMIC_RELEASE);
    if (tic.mouse_x != 0 || tic.mouse_y != 0) {
        post(ev_mouse, 0, accelerate(tic.mouse_x), novert ? 0 : -accelerate(tic.mouse_y), 0);
    }
}

// In a menu the left stick moves, and two buttons answer; in the game it walks and the right one turns.
static void post_pad(void)
{
    int buttons = 0;

    if (menuactive && pad.buttons & 1 && joybfire >= 0) {
        buttons |= 1 << joybfire;
    }
    if (menuactive && pad.buttons & 2 && joybuse >= 0) {
        buttons |= 1 << joybuse;
    }
    // 32768 is as far as it goes, for the engine FRACUNIT.
    post(ev_joystick, buttons, 2 * (menuactive ? pad.left_x : pad.right_x), 2 * pad.left_y,
         menuactive ? 0 : 2 * pad.left_x);
}

void I_StartTic(void)
{
    take_events();
    if (pad.present && use_joystick && joywait < (unsigned)I_GetTime()) {
        post_pad();
    }
}

void I_BindInputVariables(void)
{
    M_BindFloatVariable("mouse_acceleration", &mouse_acceleration);
    M_BindIntVariable("mouse_threshold", &mouse_threshold);
    M_BindIntVariable("vanilla_keyboard_mapping", &vanilla_keyboard_mapping);
    M_BindIntVariable("novert", &novert);
}

void I_BindJoystickVariables(void)
{
    M_BindIntVariable("use_joystick", &use_joystick);
}

// Typed characters come with every key, and pad events through the same ring: nothing to start.

void I_StartTextInput(int x1, int y1, int x2, int y2)
{
    (void)x1;
    (void)y1;
    (void)x2;
    (void)y2;
}

void I_StopTextInput(void)
{
}

void I_InitJoystick(void)
{
    // The configuration has been read.
    key_prevweapon = key_prevweapon ? key_prevweapon : KEY_PREVIOUS_WEAPON;
    key_nextweapon = key_nextweapon ? key_nextweapon : KEY_NEXT_WEAPON;
}
