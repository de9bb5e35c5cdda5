// SPDX-License-Identifier: GPL-2.0-or-later
// Input: the host writes keys, mouse and pad into the event ring of the device page; here they
// become the engine's events, once a tic.
#include <ctype.h>
#include <string.h>

#include "d_event.h"
#include "doomkeys.h"
#include "i_input.h"
#include "i_joystick.h"
#include "i_system.h"
#include "i_timer.h"
#include "i_video.h"
#include "m_argv.h"
#include "m_config.h"

#include "platform.h"

// The engine's own queue holds 64 events: what does not fit into one tic waits in the ring.
#define EVENTS_A_TIC 32

#define KEYS 256
#define PAD_DEAD_ZONE (32768 / 3)

// Configuration, under the engine's names.
int usemouse = 1;
int vanilla_keyboard_mapping = 0; // 0: typed text is what the host's keyboard layout says
float mouse_acceleration = 2.0f;
int mouse_threshold = 10;
static int novert;
static int use_joystick = 1; // the host decides whether there is a pad

static boolean held[KEYS];
static unsigned mouse_buttons;

// The engine wants to hear of a stick every tic, except while a menu lets it rest (joywait).
unsigned int joywait;
static struct {
    boolean present;
    int buttons, x, y;
} pad;

// What this tic has taken from the ring so far.
struct tic {
    boolean pressed[KEYS];
    unsigned mouse_pressed;
    int mouse_x, mouse_y;
};

static void post(evtype_t type, int data1, int data2, int data3)
{
    event_t event = {.type = type, .data1 = data1, .data2 = data2, .data3 = data3};
    D_PostEvent(&event);
}

static void key_down(unsigned key, uint32_t typed)
{
    boolean character = typed >= ' ' && typed < 0x7f;
    // The key as its label says, without Shift; and the text it makes, which Enter and Backspace
    // need too.
    int label = character ? tolower((int)typed) : (int)key;
    int text = character ? (int)typed : key < 0x80 ? (int)key : 0;

    held[key] = true;
    post(ev_keydown, (int)key, label, text);
}

static void key_up(unsigned key)
{
    if (held[key]) {
        held[key] = false;
        post(ev_keyup, (int)key, 0, 0);
    }
}

static void set_mouse_buttons(unsigned buttons)
{
    if (buttons != mouse_buttons) {
        mouse_buttons = buttons;
        post(ev_mouse, (int)buttons, 0, 0);
    }
}

// The engine asks for a direction, not a strength.
static int pad_direction(int axis)
{
    return axis > PAD_DEAD_ZONE ? 1 : axis < -PAD_DEAD_ZONE ? -1 : 0;
}

static void release_all(void)
{
    for (unsigned key = 0; key < KEYS; key++) {
        key_up(key);
    }
    set_mouse_buttons(0);
    pad.buttons = pad.x = pad.y = 0;
}

// False if the event must wait for the next tic: a key or button that went down in this tic may
// not go up in it too, or the game, which looks once a tic, would never see a quick tap.
static boolean take(const struct device_event *event, struct tic *tic)
{
    unsigned key = event->code;
    boolean mouse = usemouse && !M_ParmExists("-nomouse");

    switch (event->type) {
    case DEVICE_EVENT_KEY_DOWN:
        if (key > 0 && key < KEYS) {
            tic->pressed[key] = true;
            key_down(key, event->ch);
        }
        return true;
    case DEVICE_EVENT_KEY_UP:
        if (key >= KEYS) {
            return true;
        }
        if (tic->pressed[key]) {
            return false;
        }
        key_up(key);
        return true;
    case DEVICE_EVENT_MOUSE:
        if (!mouse) {
            return true;
        }
        if (tic->mouse_pressed & ~event->code) {
            return false;
        }
        tic->mouse_pressed |= event->code & ~mouse_buttons;
        set_mouse_buttons(event->code);
        tic->mouse_x += event->dx;
        tic->mouse_y += event->dy;
        return true;
    case DEVICE_EVENT_PAD:
        pad.present = true;
        pad.buttons = event->code;
        pad.x = pad_direction(event->dx);
        pad.y = pad_direction(event->dy);
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
    for (int taken = 0; tail != head && taken < EVENTS_A_TIC; taken++) {
        if (!take(&ring->events[tail % DEVICE_EVENTS], &tic)) {
            break;
        }
        tail++;
    }
    __atomic_store_n(&ring->event_tail, tail, __ATOMIC_RELEASE);
    if (tic.mouse_x != 0 || tic.mouse_y != 0) {
        post(ev_mouse, (int)mouse_buttons, accelerate(tic.mouse_x), novert ? 0 : -accelerate(tic.mouse_y));
    }
}

void I_StartTic(void)
{
    take_events();
    if (pad.present && use_joystick && joywait < (unsigned)I_GetTime()) {
        post(ev_joystick, pad.buttons, pad.x, pad.y);
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
}
