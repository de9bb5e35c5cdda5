// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <string.h>

bool timeline_keep(struct timeline *t, machine *m, size_t bytes, unsigned every, struct error *error)
{
    t->count = 0;
    t->every = every;
    t->on = machine_keep_moments(m, bytes, error) && bytes;
    return t->on || !bytes;
}

// Forgets what the machine has.
static void drop_old(struct timeline *t, const machine *m)
{
    struct machine_moments moments;
    machine_get_moments(m, &moments);
    size_t gone = 0;
    while (gone < t->count && (t->kept[gone].moment < moments.first || moments.first == 0)) {
        gone++;
    }
    t->count -= gone;
    memmove(t->kept, t->kept + gone, t->count * sizeof *t->kept);
}

bool timeline_add(struct timeline *t, machine *m, uint32_t frame, struct error *error)
{
    t->stands = false;
    if (!t->on || ++t->frames < t->every) {
        return true;
    }
    t->frames = 0;
    uint64_t moment = machine_add_moment(m, error);
    if (!moment) {
        machine_keep_moments(m, 0, NULL);
        t->on = false;
        t->count = 0;
        return false;
    }
    if (t->count == TIMELINE_MOST) { // far more than there is room for
        t->count--;
        memmove(t->kept, t->kept + 1, t->count * sizeof *t->kept);
    }
    t->kept[t->count].moment = moment;
    t->kept[t->count].frame = frame;
    t->count++;
    t->stands = true;
    return true;
}

uint32_t timeline_back(struct timeline *t, machine *m, struct error *error)
{
    drop_old(t, m);
    if (t->count < (t->stands ? 2u : 1u)) {
        error_set(error, "the game goes back no further");
        return 0;
    }
    t->count -= t->stands;
    if (!machine_return_to(m, t->kept[t->count - 1].moment, error)) {
        return 0;
    }
    t->stands = true;
    t->frames = 0;
    return t->kept[t->count - 1].frame;
}
