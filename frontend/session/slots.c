// SPDX-License-Identifier: MIT
#include "slots.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/base/paths.h"

enum work { NOTHING, SAVING, LOADING };

struct slots {
    char *folder, *program;
    struct text_list wads;
    // Of what is under way: whoever works on it has all of it.
    atomic_bool busy;
    struct session *session;
    enum work work;
    unsigned slot;
    pthread_t thread;
    bool joined;
    struct state_identity identity;
    bool identified;
    struct state_summary summary;
    struct machine_bytes bytes;
    // What undo would undo.
    enum work last;
    unsigned last_slot;
    bool had_before; // the slot that was saved to
    struct machine_bytes before; // the game that was there when another was loaded
};

struct slots *slots_open(const char *folder, const char *program, const struct text_list *wads)
{
    struct slots *slots = memory_zeroed(sizeof *slots);
    slots->folder = text_copy(folder);
    slots->program = text_copy(program);
    slots->joined = true;
    for (size_t i = 0; i < wads->count; i++) {
        text_list_add(&slots->wads, text_copy(wads->items[i]));
    }
    return slots;
}

static void join(struct slots *slots)
{
    if (!slots->joined) {
        pthread_join(slots->thread, NULL);
        slots->joined = true;
    }
}

void slots_close(struct slots *slots)
{
    if (!slots) {
        return;
    }
    join(slots);
    free(slots->folder);
    free(slots->program);
    text_list_free(&slots->wads);
    free(slots->bytes.data);
    free(slots->before.data);
    free(slots);
}

// ---- one thing at a time ----

// False: something is under way.
static bool begin(struct slots *slots, struct session *s, enum work work, unsigned slot)
{
    if (atomic_exchange(&slots->busy, true)) {
        session_tell(s, "the last state is still being read or written");
        return false;
    }
    join(slots);
    slots->session = s;
    slots->work = work;
    slots->slot = slot;
    return true;
}

static void end(struct slots *slots)
{
    free(slots->bytes.data);
    slots->bytes = (struct machine_bytes){0};
    atomic_store(&slots->busy, false);
}

static void end_badly(struct slots *slots, struct failure *failure)
{
    session_tell(slots->session, "slot %u: %s", slots->slot, failure->text);
    free(failure->text);
    end(slots);
}

static bool start_thread(struct slots *slots, void *(*run)(void *))
{
    slots->joined = pthread_create(&slots->thread, NULL, run, slots) != 0;
    if (slots->joined) {
        session_tell(slots->session, "the host denied a thread for files");
        end(slots);
    }
    return !slots->joined;
}

static bool identify(struct slots *slots, struct failure *failure)
{
    slots->identified =
        slots->identified || state_identity_read(&slots->identity, slots->program, &slots->wads, failure);
    return slots->identified;
}

static char *path_of(const struct slots *slots, unsigned slot, const char *suffix)
{
    return text_format("%s/slot-%u.state%s", slots->folder, slot, suffix);
}

// "E1M2, 4:31"
static void describe(const struct state_summary *summary, char text[48])
{
    snprintf(text, 48, "%s%s%u:%02u", summary->level, *summary->level ? ", " : "", summary->seconds / 60,
             summary->seconds % 60);
}

// ---- saving ----

// Gives the file of a slot a second name, or a second copy where files cannot have two. False: neither will
// do.
static bool keep(const char *path, const char *kept)
{
    unlink(kept);
    return link(path, kept) == 0 || copy_file(path, kept);
}

static void *write_slot(void *user)
{
    struct slots *slots = user;
    struct failure failure = {0};
    char *path = path_of(slots, slots->slot, ""), *before = path_of(slots, slots->slot, ".before");
    char *kept = path_of(slots, slots->slot, ".kept");
    if (!path_make_folder(slots->folder)) {
        fail(&failure, STATUS_USAGE, "the folder %s cannot be made: %s", slots->folder, strerror(errno));
    } else if (identify(slots, &failure)) {
        // The old file stays under its name until the new one is there, and the one before it until then.
        bool had_before = path_is_file(path), is_kept = had_before && keep(path, kept);
        if (!state_file_write(path, &slots->identity, &slots->summary, &slots->bytes, &failure)) {
            unlink(kept);
        } else {
            bool can_undo = !had_before || (is_kept && rename(kept, before) == 0);
            slots->last = can_undo ? SAVING : NOTHING;
            slots->last_slot = slots->slot;
            slots->had_before = had_before;
            char what[48];
            describe(&slots->summary, what);
            session_tell(slots->session, "Saved to slot %u: %s", slots->slot, what);
        }
    }
    free(path);
    free(before);
    free(kept);
    if (failure.text) {
        end_badly(slots, &failure);
    } else {
        end(slots);
    }
    return NULL;
}

// On the emulation thread.
static void take_state(void *user, struct session *s)
{
    struct slots *slots = user;
    machine *m = session_machine(s);
    struct machine_frame frame;
    struct error error;
    state_summary_of(&slots->summary, m, slots->wads.items[0]);
    if (machine_get_frame(m, &frame)) {
        memcpy(slots->summary.picture, frame.indices, sizeof slots->summary.picture);
        memcpy(slots->summary.palette, frame.palette, sizeof slots->summary.palette);
    }
    if (machine_save(m, &slots->bytes, &error)) {
        start_thread(slots, write_slot);
    } else {
        session_tell(s, "not saved: %s", error.text);
        end(slots);
    }
}

void slots_save(struct slots *slots, struct session *s, unsigned slot)
{
    if (begin(slots, s, SAVING, slot)) {
        session_call(s, take_state, slots);
    }
}

// ---- loading ----

// On the emulation thread.
static void put_state(void *user, struct session *s)
{
    struct slots *slots = user;
    machine *m = session_machine(s);
    struct machine_bytes before = {0};
    struct error error;
    if (!machine_save(m, &before, &error) || !session_load(s, &slots->bytes, &error)) {
        free(before.data);
        session_tell(s, "slot %u: %s", slots->slot, error.text);
    } else {
        free(slots->before.data);
        slots->before = before;
        slots->last = LOADING;
        slots->last_slot = slots->slot;
        char what[48];
        describe(&slots->summary, what);
        session_tell(s, "Loaded slot %u: %s", slots->slot, what);
    }
    end(slots);
}

static void *read_slot(void *user)
{
    struct slots *slots = user;
    struct failure failure = {0};
    char *path = path_of(slots, slots->slot, "");
    if (!path_is_file(path)) {
        fail(&failure, STATUS_USAGE, "it is empty");
    } else if (identify(slots, &failure)) {
        state_file_read(path, &slots->identity, &slots->summary, &slots->bytes, &failure);
    }
    free(path);
    if (failure.text) {
        end_badly(slots, &failure);
    } else {
        session_call(slots->session, put_state, slots);
    }
    return NULL;
}

void slots_load(struct slots *slots, struct session *s, unsigned slot)
{
    if (begin(slots, s, LOADING, slot)) {
        start_thread(slots, read_slot);
    }
}

// ---- undoing ----

static void put_back_game(void *user, struct session *s)
{
    struct slots *slots = user;
    struct error error;
    if (session_load(s, &slots->before, &error)) {
        session_tell(s, "Back to where the game was before slot %u was loaded", slots->slot);
    } else {
        session_tell(s, "%s", error.text);
    }
    free(slots->before.data);
    slots->before = (struct machine_bytes){0};
    end(slots);
}

static void put_back_file(struct slots *slots)
{
    char *path = path_of(slots, slots->slot, ""), *before = path_of(slots, slots->slot, ".before");
    bool good = slots->had_before ? rename(before, path) == 0 : unlink(path) == 0;
    session_tell(slots->session, good ? "Slot %u is what it was before" : "Slot %u cannot be put back",
                 slots->slot);
    free(path);
    free(before);
    end(slots);
}

void slots_undo(struct slots *slots, struct session *s)
{
    if (!begin(slots, s, NOTHING, 0)) {
        return;
    }
    enum work last = slots->last;
    slots->last = NOTHING;
    slots->slot = slots->last_slot;
    if (last == SAVING) {
        put_back_file(slots);
    } else if (last == LOADING) {
        session_call(s, put_back_game, slots);
    } else {
        session_tell(s, "no state was saved or loaded: there is nothing to undo");
        end(slots);
    }
}

// ---- looking ----

bool slots_look(const struct slots *slots, unsigned slot, struct state_summary *summary)
{
    struct failure failure = {0};
    char *path = path_of(slots, slot, "");
    bool good = path_is_file(path) && state_file_look(path, NULL, summary, &failure);
    free(failure.text);
    free(path);
    return good;
}
