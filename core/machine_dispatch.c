// SPDX-License-Identifier: MIT
// The dispatch net of a machine: its mode, and what is counted of it.
#include <string.h>

#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/engine.h"
#include "machine_internal.h"

void machine_count_dispatch(machine *m)
{
    struct guest *g = &m->guest;
    struct dispatch_counts counts;
    if (!g->dispatch)
        return;
    dispatch_get_counts(g->dispatch, &counts);
    g->stats.dispatch_total = m->dispatch_before;
    if (dispatch_mode(g->dispatch) != MACHINE_DISPATCH_OFF)
        g->stats.dispatch_total += g->stats.retired - m->dispatch_since;
    g->stats.dispatch_hit = g->stats.dispatch_total - counts.wrong - m->wrong_before;
    g->stats.dispatch_words = counts.words;
    g->stats.dispatch_words_hit = counts.words - counts.words_wrong;
}

bool machine_wants_dispatch(const machine *m)
{
    const struct dispatch *d = m->guest.dispatch;
    return d && machine_get_dispatch(m) != dispatch_mode(d);
}

void machine_follow_dispatch(machine *m)
{
    struct guest *g = &m->guest;
    if (!machine_wants_dispatch(m))
        return;
    machine_count_dispatch(m);
    m->dispatch_before = g->stats.dispatch_total;
    m->dispatch_since = g->stats.retired;
    interp_switch_dispatch(g, machine_get_dispatch(m));
}

const char *const machine_dispatch_names[MACHINE_DISPATCH_MODES] = {"off", "hybrid", "pure", "live"};

bool machine_dispatch_by_name(const char *name, enum machine_dispatch *dispatch)
{
    for (int i = 0; i < MACHINE_DISPATCH_MODES; i++) {
        if (strcmp(name, machine_dispatch_names[i]) == 0) {
            *dispatch = (enum machine_dispatch)i;
            return true;
        }
    }
    return false;
}

bool machine_check_dispatch(const char *base, struct error *error)
{
    struct dispatch *d = dispatch_create(base, error);
    dispatch_destroy(d);
    return d != NULL;
}

bool machine_has_dispatch(const machine *m)
{
    return m->guest.dispatch != NULL;
}

void machine_set_dispatch(machine *m, enum machine_dispatch dispatch)
{
    if (m->guest.dispatch)
        atomic_store_explicit(&m->dispatch_wanted, (int)dispatch, memory_order_relaxed);
}

enum machine_dispatch machine_get_dispatch(const machine *m)
{
    return (enum machine_dispatch)atomic_load_explicit(&m->dispatch_wanted, memory_order_relaxed);
}
