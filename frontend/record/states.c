// SPDX-License-Identifier: MIT
#include "states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/log.h"
#include "frontend/session/state_file.h"

struct states {
    const struct options *options;
    const struct launch *launch;
    struct state_identity identity; // read if it is needed
    struct state_summary summary; // its picture is that of the frame that is due
    uint32_t due; // the frame behind which something is to be saved, 0 = none
    bool failed;
    bool done[]; // by options->saves
};

struct states *states_open(const struct options *options, const struct launch *launch,
                           struct failure *failure)
{
    if (options->state && options->replay_input) {
        fail(failure, STATUS_USAGE,
             "--replay-input: the recording says how the game begins; leave out --state");
        return NULL;
    }
    size_t size = sizeof(struct states) + options->saves.count * sizeof(bool);
    struct states *st = memory_zeroed(size);
    st->options = options;
    st->launch = launch;
    if ((options->state || options->saves.count) &&
        !state_identity_read(&st->identity, launch->program, &launch->wads, failure)) {
        free(st);
        return NULL;
    }
    return st;
}

static bool load(machine *m, const char *path, const struct machine_bytes *bytes, struct failure *failure)
{
    struct error error;
    return machine_load(m, bytes->data, bytes->size, &error) ||
           fail(failure, STATUS_USAGE, "the state %s cannot be loaded: %s", path, error.text);
}

bool states_begin(struct states *st, machine *m, struct input_writer *input, struct failure *failure)
{
    const struct input_file *replayed = st->launch->replayed;
    const char *path = st->options->state;
    struct machine_bytes bytes = {0};
    if (replayed && replayed->state.data) {
        return load(m, st->options->replay_input, &replayed->state, failure);
    }
    bool good = !path || (state_file_read(path, &st->identity, NULL, &bytes, failure) &&
                          load(m, path, &bytes, failure));
    if (good && input && !input_writer_begin(input, m, path ? &bytes : NULL)) {
        good = fail(failure, STATUS_USAGE, "cannot write %s: %s", st->options->record_input, strerror(errno));
    }
    free(bytes.data);
    return good;
}

void states_frame(struct states *st, struct session *s, const struct machine_frame *frame)
{
    const struct frame_orders *saves = &st->options->saves;
    bool due = false;
    for (size_t i = 0; i < saves->count; i++) {
        due |= saves->items[i].frame == frame->number;
    }
    if (due) {
        st->due = frame->number;
        memcpy(st->summary.picture, frame->indices, sizeof st->summary.picture);
        memcpy(st->summary.palette, frame->palette, sizeof st->summary.palette);
        session_ask_between(s);
    }
}

static bool save(struct states *st, machine *m, const char *path, struct failure *failure)
{
    struct state_summary *summary = memory_resize(NULL, sizeof *summary);
    struct machine_bytes bytes;
    struct error error;
    state_summary_of(summary, m, st->launch->iwad);
    memcpy(summary->picture, st->summary.picture, sizeof summary->picture);
    memcpy(summary->palette, st->summary.palette, sizeof summary->palette);
    bool good = machine_save(m, &bytes, &error);
    if (good) {
        good = state_file_write(path, &st->identity, summary, &bytes, failure);
        free(bytes.data);
    } else {
        fail(failure, STATUS_USAGE, "the state cannot be saved in %s: %s", path, error.text);
    }
    free(summary);
    return good;
}

void states_between(struct states *st, struct session *s)
{
    const struct frame_orders *saves = &st->options->saves;
    for (size_t i = 0; st->due && i < saves->count; i++) {
        struct failure failure = {0};
        if (saves->items[i].frame != st->due) {
            continue;
        }
        st->done[i] = true;
        if (!save(st, session_machine(s), saves->items[i].path, &failure)) {
            log_line(LOG_ERROR, "%s", failure.text);
            free(failure.text);
            st->failed = true;
        }
    }
    st->due = 0;
}

void states_free(struct states *st)
{
    free(st);
}

bool states_close(struct states *st)
{
    const struct frame_orders *saves = &st->options->saves;
    bool good = !st->failed;
    for (size_t i = 0; i < saves->count; i++) {
        if (!st->done[i]) {
            log_line(LOG_ERROR, "%s: the game ended before frame %u", saves->items[i].path,
                     saves->items[i].frame);
            good = false;
        }
    }
    states_free(st);
    return good;
}
