// SPDX-License-Identifier: MIT
#include "pad.h"

#include <math.h>
#include <string.h>

#include "frontend/base/log.h"
#include "keys.h"

// How far a trigger is pulled to count, and let go to count no more.
enum { PULLED = 12000, LET_GO = 8000, AXIS_MOST = 32767 };

void pads_open(struct pads *p, int dead_zone, bool rumble)
{
    *p = (struct pads){.dead_zone = dead_zone, .rumble = rumble};
    if (SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) != 0) {
        log_line(LOG_WARNING, "no pads: %s", SDL_GetError());
    }
}

void pads_close(struct pads *p)
{
    for (int i = 0; i < PADS; i++) {
        if (p->pads[i].controller) {
            SDL_GameControllerClose(p->pads[i].controller);
        }
    }
    memset(p->pads, 0, sizeof p->pads);
}

// The place of a controller, or with NULL a free one; NULL: there is none.
static struct pad *place_of(struct pads *p, const SDL_GameController *controller)
{
    for (int i = 0; i < PADS; i++) {
        if (p->pads[i].controller == controller) {
            return &p->pads[i];
        }
    }
    return NULL;
}

// The pad of an event, or NULL.
static struct pad *pad_of(struct pads *p, SDL_JoystickID which)
{
    SDL_GameController *controller = SDL_GameControllerFromInstanceID(which);
    return controller ? place_of(p, controller) : NULL;
}

static void add(struct pads *p, int device)
{
    SDL_GameController *pad = SDL_GameControllerOpen(device);
    if (pad && place_of(p, pad)) { // opened a second time
        SDL_GameControllerClose(pad);
        return;
    }
    struct pad *place = place_of(p, NULL);
    if (!pad || !place) {
        log_line(LOG_WARNING, "a pad cannot be used: %s", pad ? "there are too many" : SDL_GetError());
        SDL_GameControllerClose(pad);
        return;
    }
    *place = (struct pad){.controller = pad};
    p->changed = true; // the guest hears that there is one
    log_line(LOG_INFO, "pad: %s", SDL_GameControllerName(pad));
}

static bool drop(struct pads *p, SDL_JoystickID which)
{
    struct pad *pad = pad_of(p, which);
    if (!pad) {
        return false;
    }
    SDL_GameControllerClose(pad->controller);
    pad->controller = NULL;
    pads_rest(p);
    return true;
}

static int furthest(const struct pads *p, unsigned axis)
{
    int value = 0;
    for (int i = 0; i < PADS; i++) {
        value = p->pads[i].axes[axis] > value ? p->pads[i].axes[axis] : value;
    }
    return value;
}

static unsigned axis(struct pads *p, const SDL_ControllerAxisEvent *event, bool *down)
{
    struct pad *pad = pad_of(p, event->which);
    if (!pad || event->axis >= SDL_CONTROLLER_AXIS_MAX) {
        return 0;
    }
    pad->axes[event->axis] = event->value;
    if (event->axis != SDL_CONTROLLER_AXIS_TRIGGERLEFT && event->axis != SDL_CONTROLLER_AXIS_TRIGGERRIGHT) {
        p->changed = true;
        return 0;
    }
    bool right = event->axis == SDL_CONTROLLER_AXIS_TRIGGERRIGHT;
    bool pulled = furthest(p, event->axis) >= (p->triggers[right] ? LET_GO : PULLED);
    if (pulled == p->triggers[right]) {
        return 0;
    }
    p->triggers[right] = *down = pulled;
    return right ? INPUT_PAD_RT : INPUT_PAD_LT;
}

unsigned pads_event(struct pads *p, const SDL_Event *event, bool *down, bool *gone)
{
    *gone = false;
    switch (event->type) {
    case SDL_CONTROLLERDEVICEADDED: add(p, event->cdevice.which); return 0;
    case SDL_CONTROLLERDEVICEREMOVED: *gone = drop(p, event->cdevice.which); return 0;
    case SDL_CONTROLLERAXISMOTION: return axis(p, &event->caxis, down);
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP: break;
    default: return 0;
    }
    *down = event->type == SDL_CONTROLLERBUTTONDOWN;
    return event->cbutton.button < SDL_CONTROLLER_BUTTON_MAX ? INPUT_PAD + event->cbutton.button : 0;
}

void pads_answer(struct pads *p, unsigned input, bool held)
{
    unsigned answer = input == INPUT_PAD + SDL_CONTROLLER_BUTTON_A   ? 1
                      : input == INPUT_PAD + SDL_CONTROLLER_BUTTON_B ? 2
                                                                     : 0;
    p->answers = held ? p->answers | answer : p->answers & ~answer;
    p->changed |= answer != 0;
}

// A stick: nothing within the dead zone, which is round, and from its edge on 0 to 1.
static void position(const struct pads *p, SDL_GameControllerAxis x_axis, double *x, double *y)
{
    double dead = p->dead_zone / 100.0, distance = 0;
    *x = *y = 0;
    for (int i = 0; i < PADS; i++) {
        double of_x = (double)p->pads[i].axes[x_axis] / AXIS_MOST;
        double of_y = (double)p->pads[i].axes[x_axis + 1] / AXIS_MOST;
        double of_pad = sqrt(of_x * of_x + of_y * of_y);
        if (of_pad > distance) {
            distance = of_pad;
            *x = of_x;
            *y = of_y;
        }
    }
    double strength = distance <= dead ? 0 : fmin((distance - dead) / (1 - dead), 1);
    double scale = distance > 0 ? strength / distance : 0;
    *x *= scale;
    *y *= scale;
}

static int16_t steps(double strength)
{
    return (int16_t)lrint(strength * AXIS_MOST);
}

void pads_flush(struct pads *p, struct session *s, bool covered)
{
    if (covered ? p->covered : !p->changed && !p->covered) {
        return;
    }
    p->covered = covered;
    if (covered) {
        session_post(s, &(struct device_event){.type = DEVICE_EVENT_PAD});
        return;
    }
    double x, y, turn, look;
    p->changed = false;
    position(p, SDL_CONTROLLER_AXIS_LEFTX, &x, &y);
    position(p, SDL_CONTROLLER_AXIS_RIGHTX, &turn, &look);
    // Squared: aiming takes fine steps near the middle.
    session_post(s, &(struct device_event){.type = DEVICE_EVENT_PAD,
                                           .code = (uint16_t)p->answers,
                                           .dx = steps(x),
                                           .dy = steps(y),
                                           .ch = (uint16_t)steps(turn * fabs(turn))});
}

void pads_rest(struct pads *p)
{
    for (int i = 0; i < PADS; i++) {
        memset(p->pads[i].axes, 0, sizeof p->pads[i].axes);
    }
    memset(p->triggers, 0, sizeof p->triggers);
    p->answers = 0;
    p->changed = true;
}

void pads_resend(struct pads *p)
{
    p->changed = true;
}

void pads_hurt(struct pads *p, int points)
{
    int strength = 0x3000 + points * 0x800;
    for (int i = 0; p->rumble && i < PADS; i++) {
        if (p->pads[i].controller) {
            SDL_GameControllerRumble(p->pads[i].controller, (Uint16)(strength < 0xffff ? strength : 0xffff),
                                     (Uint16)(strength < 0xffff ? strength : 0xffff),
                                     (Uint32)(points < 50 ? 100 + 6 * points : 400));
        }
    }
}
