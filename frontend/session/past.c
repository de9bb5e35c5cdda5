// SPDX-License-Identifier: MIT
#include "past.h"

#include <stdlib.h>

#include "session_internal.h"

#define PAST_BYTES ((size_t)1 << 30) // limit of a machine that goes back once

// The oldest moment from which on everything is known, at most so many frames ago: its place among those that
// are kept. False: there is none.
static bool find_start(const struct session *s, uint32_t most, size_t *at)
{
    const struct timeline *t = &s->timeline;
    const struct inputs *in = &s->inputs;
    struct machine_moments moments;
    machine_get_moments(s->machine, &moments);
    for (*at = 0; *at < t->count; ++*at) {
        uint32_t frame = t->kept[*at].frame;
        if (moments.first && t->kept[*at].moment >= moments.first && frame >= inputs_first(in) &&
            frame + most >= in->last) {
            return true;
        }
    }
    return false;
}

bool past_take(struct session *s, uint32_t most, uint32_t least, struct past *past, struct error *error)
{
    size_t at;
    *past = (struct past){0};
    if (!s->inputs.on || !s->timeline.on) {
        return error_set(error, "the game does not keep its last seconds");
    }
    if (!find_start(s, most, &at) || s->inputs.last < s->timeline.kept[at].frame + least) {
        return error_set(error,
                         "too little has been played since it began, or became another: %u frames "
                         "are needed",
                         least);
    }
    uint32_t frame = s->timeline.kept[at].frame;
    past->moment = s->timeline.kept[at].moment;
    past->frames = s->inputs.last - frame;
    past->log = inputs_copy(&s->inputs, frame, &past->log_size, &past->since_ns);
    bool good = machine_add_moment(s->machine, error) && machine_save(s->machine, &past->state, error) &&
                machine_save_moments(s->machine, past->moment, &past->moments, error);
    if (!good) {
        past_free(past);
    }
    return good;
}

bool past_begin(const struct past *past, machine *m, struct error *error)
{
    return machine_load(m, past->state.data, past->state.size, error) &&
           machine_keep_moments(m, PAST_BYTES, error) &&
           machine_load_moments(m, past->moments.data, past->moments.size, error) &&
           machine_return_to(m, past->moment, error);
}

void past_free(struct past *past)
{
    free(past->state.data);
    free(past->moments.data);
    free(past->log);
    *past = (struct past){0};
}
