// SPDX-License-Identifier: MIT
#include "switches.h"

struct switches switches_get(const machine *m)
{
    return (struct switches){
        .engine = machine_get_engine(m),
        .dispatch = machine_has_dispatch(m) ? machine_get_dispatch(m) : MACHINE_DISPATCH_OFF,
        .loops = machine_has_loops(m) && machine_get_loops(m),
        .idle = machine_get_idle(m),
    };
}

void switches_set(struct session *s, const struct switches *to)
{
    machine *m = session_machine(s);
    if (to->engine != machine_get_engine(m)) {
        session_set_engine(s, to->engine);
    }
    session_set_dispatch(s, to->dispatch);
    machine_set_loops(m, to->loops);
    machine_set_idle(m, to->idle);
}

bool switches_same(const struct switches *a, const struct switches *b)
{
    return a->engine == b->engine && a->dispatch == b->dispatch && a->loops == b->loops && a->idle == b->idle;
}

bool switches_made(const struct switches *s, const struct frame_figures *frame)
{
    return s->engine == frame->engine && s->dispatch == frame->dispatch &&
           s->loops == frame->replaces_loops && s->idle == frame->idle;
}

struct switches switches_neural(const machine *m, const struct settings *settings, bool on)
{
    struct switches to = {.engine = machine_get_engine(m)};
    if (!on) {
        return to;
    }
    to.dispatch = machine_has_dispatch(m) ? (enum machine_dispatch)settings->dispatch : MACHINE_DISPATCH_OFF;
    to.loops = machine_has_loops(m) && settings->loops;
    to.idle = settings->idle;
    if (to.dispatch == MACHINE_DISPATCH_OFF && !to.loops) {
        to.dispatch = machine_has_dispatch(m) ? MACHINE_DISPATCH_HYBRID : MACHINE_DISPATCH_OFF;
        to.loops = machine_has_loops(m);
        to.idle = true;
    }
    return to;
}
