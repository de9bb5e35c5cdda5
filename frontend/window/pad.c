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
        if (p->open[i]) {
            SDL_GameControllerClose(p->open[i]);
        }
    }
    memset(p->open, 0, sizeof p->open);
}

static void add(struct pads *p, int device)
{
    int free_place = 0;
    SDL_GameController *pad = SDL_GameControllerOpen(device);
    for (int i = 0; i < PADS && pad; i++) {
        if (p->open[i] == pad) { // opened a second time
            SDL_GameControllerClose(pad);
            return;
        }
    }
    while (free_place < PADS && p->open[free_place]) {
        free_place++;
    }
    if (!pad || free_place == PADS) {
        log_line(LOG_WARNING, "a pad cannot be used: %s", pad ? "there are too many" : SDL_GetError());
        SDL_GameControllerClose(pad);
        return;
    }
    p->open[free_place] = pad;
    p->changed = true; // the guest hears that there is one
    log_line(LOG_INFO, "pad: %s", SDL_GameControllerName(pad));
}

static bool drop(struct pads *p, SDL_JoystickID which)
{
    SDL_GameController *pad = SDL_GameControllerFromInstanceID(which);
    for (int i = 0; pad && i < PADS; i++) {
        if (p->open[i] == pad) {
            SDL_GameControllerClose(pad);
            p->open[i] = NULL;
            pads_rest(p);
            return true;
        }
    }
    return false;
}

static unsigned axis(struct pads *p, const SDL_ControllerAxisEvent *event, bool *down)
{
    if (event->axis != SDL_CONTROLLER_AXIS_TRIGGERLEFT && event->axis != SDL_CONTROLLER_AXIS_TRIGGERRIGHT) {
        if (event->axis < SDL_CONTROLLER_AXIS_MAX) {
            p->axes[event->axis] = event->value;
            p->changed = true;
        }
        return 0;
    }
    bool right = event->axis == SDL_CONTROLLER_AXIS_TRIGGERRIGHT;
    bool pulled = event->value >= (p->triggers[right] ? LET_GO : PULLED);
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
    double dead = p->dead_zone / 100.0;
    *x = (double)p->axes[x_axis] / AXIS_MOST;
    *y = (double)p->axes[x_axis + 1] / AXIS_MOST;
    double distance = sqrt(*x * *x + *y * *y);
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
    memset(p->axes, 0, sizeof p->axes);
    memset(p->triggers, 0, sizeof p->triggers);
    p->answers = 0;
    p->changed = true;
}

void pads_hurt(struct pads *p, int points)
{
    int strength = 0x3000 + points * 0x800;
    for (int i = 0; p->rumble && i < PADS; i++) {
        if (p->open[i]) {
            SDL_GameControllerRumble(p->open[i], (Uint16)(strength < 0xffff ? strength : 0xffff),
                                     (Uint16)(strength < 0xffff ? strength : 0xffff),
                                     (Uint32)(points < 50 ? 100 + 6 * points : 400));
        }
    }
}
