// SPDX-License-Identifier: MIT
#include "stand.h"

#include <string.h>

#include "frontend/base/clock.h"
#include "frontend/base/text.h"
#include "session_internal.h"

#define TIC_NS 28571429 // a 35th of a second

// Whether the machine is not to run on for now. The lock is held.
static bool is_to_stand(const struct session *s)
{
    return !s->stop && (s->call_count || s->rewinding || (s->paused && !s->steps));
}

bool stand_is_due(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool stands = is_to_stand(s);
    pthread_mutex_unlock(&s->lock);
    return stands;
}

bool stand_runs_ahead(const struct session *s)
{
    return s->run_ahead && s->timeline.on && s->callbacks.wake && !s->enough;
}

// What the game would show a little later is seen in its place.
static void run_ahead(struct session *s)
{
    struct machine_frame frame;
    struct error error;
    s->ahead = true;
    bool shown = machine_run_ahead(s->machine, s->run_ahead, &error);
    s->ahead = false;
    if (!shown && machine_get_frame(s->machine, &frame)) {
        session_show(s, &frame);
    }
    if (*error.text) {
        session_tell(s, "nothing is shown ahead any more: %s", error.text);
        s->run_ahead = 0;
    }
    s->callbacks.wake(s->callbacks.user);
}

void stand_at_frame(struct session *s)
{
    struct error error;
    s->stands_at_frame = false;
    if (s->timeline.on && !timeline_add(&s->timeline, s->machine, s->state.frames, &error)) {
        session_tell(s, "the game cannot be gone back in any more: %s", error.text);
    }
    if (stand_runs_ahead(s)) {
        run_ahead(s);
    }
}

// Whoever looks sees the game as it is now.
static void show_jump(struct session *s)
{
    struct machine_frame frame;
    if (!machine_get_frame(s->machine, &frame)) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    figures_jump(&s->figures, s->machine, clock_now_ns());
    s->state.frames = frame.number;
    s->state.jumps++;
    pthread_mutex_unlock(&s->lock);
    if (s->callbacks.wake) {
        session_show(s, &frame);
        s->callbacks.wake(s->callbacks.user);
    }
}

// One step; returns the frame that the game stands behind now, 0 if it has stayed where it was.
static uint32_t step_back(struct session *s)
{
    struct error error;
    uint32_t frame = timeline_back(&s->timeline, s->machine, &error);
    if (frame) {
        inputs_cut(&s->inputs, s->machine, frame);
        show_jump(s);
    }
    return frame;
}

// Goes back as long as that is wanted. The lock is held.
static void go_back(struct session *s)
{
    uint32_t frame = 0;
    int64_t due = clock_now_ns();
    if (!s->timeline.on || s->replaying) {
        s->rewinding = false;
        pthread_mutex_unlock(&s->lock);
        session_tell(s, "the game cannot be gone back in%s", s->replaying ? ": it is a replay" : "");
        pthread_mutex_lock(&s->lock);
        return;
    }
    s->state.rewinding = true;
    while (s->rewinding && !s->stop) {
        pthread_mutex_unlock(&s->lock);
        uint32_t back = step_back(s);
        frame = back ? back : frame;
        due += atomic_load(&s->speed) || !back ? s->timeline.every * TIC_NS / 2 : 0;
        struct timespec until = {due / 1000000000, due % 1000000000};
        pthread_mutex_lock(&s->lock);
        while (s->rewinding && !s->stop && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0) {
        }
    }
    s->state.rewinding = false;
    s->state.jumps++; // what was pressed meanwhile is to be told to the game
    pthread_mutex_unlock(&s->lock);
    if (frame) {
        session_post(s, &(struct device_event){.type = DEVICE_EVENT_RELEASE_ALL});
        if (s->callbacks.rewound) {
            s->callbacks.rewound(s->callbacks.user, s, frame);
        }
    }
    pthread_mutex_lock(&s->lock);
}

static struct call take_call(struct session *s)
{
    struct call call = s->calls[0];
    s->call_count--;
    memmove(s->calls, s->calls + 1, s->call_count * sizeof call);
    return call;
}

void stand(struct session *s)
{
    int64_t from = clock_now_ns();
    pthread_mutex_lock(&s->lock);
    if (!is_to_stand(s)) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    machine_set_clock_paused(s->machine, true);
    while (is_to_stand(s)) {
        if (s->call_count) {
            struct call call = take_call(s);
            pthread_mutex_unlock(&s->lock);
            call.call(call.user, s);
            pthread_mutex_lock(&s->lock);
        } else if (s->rewinding) {
            go_back(s);
        } else {
            pthread_cond_wait(&s->changed, &s->lock);
        }
    }
    machine_set_clock_paused(s->machine, false);
    int64_t now = clock_now_ns();
    if (s->figures.last_frame_ns < from) { // else it has become another game meanwhile
        s->figures.paused_ns += now - from;
    } else {
        s->figures.paused_ns = now - s->figures.last_frame_ns;
    }
    pthread_mutex_unlock(&s->lock);
}

void session_leave_out(struct session *s, void (*wait)(void *user), void *user)
{
    int64_t from = clock_now_ns();
    machine_set_clock_paused(s->machine, true);
    wait(user);
    machine_set_clock_paused(s->machine, false);
    pthread_mutex_lock(&s->lock);
    figures_leave_out(&s->figures, clock_now_ns() - from);
    pthread_mutex_unlock(&s->lock);
}

void session_call(struct session *s, void (*call)(void *user, struct session *s), void *user)
{
    pthread_mutex_lock(&s->lock);
    s->calls = memory_resize(s->calls, (s->call_count + 1) * sizeof *s->calls);
    s->calls[s->call_count++] = (struct call){call, user};
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    machine_request_stop(s->machine);
}

static void keep_past(void *user, struct session *s)
{
    (void)user;
    struct error error;
    unsigned every = s->run_ahead ? 1 : TIMELINE_FRAMES;
    if (!timeline_keep(&s->timeline, s->machine, s->past_bytes, every, &error)) {
        session_tell(s, "the game cannot be gone back in: %s", error.text);
    }
    if (s->timeline.on && !s->logs && !s->inputs.on) {
        inputs_begin(&s->inputs, s->machine);
    }
}

bool session_load(struct session *s, const struct machine_bytes *bytes, struct error *error)
{
    if (s->logs) {
        return error_set(error, "a recording of input is under way: no state is loaded");
    }
    // What came before is no past of the game that is loaded.
    timeline_keep(&s->timeline, s->machine, 0, 1, error);
    bool good = machine_load(s->machine, bytes->data, bytes->size, error);
    inputs_cut(&s->inputs, s->machine, 0);
    keep_past(NULL, s);
    if (good) {
        show_jump(s);
        session_post(s, &(struct device_event){.type = DEVICE_EVENT_RELEASE_ALL});
    }
    return good;
}

void session_keep_past(struct session *s, size_t bytes, unsigned run_ahead)
{
    s->past_bytes = bytes;
    s->run_ahead = run_ahead;
    session_call(s, keep_past, NULL);
}

void session_rewind(struct session *s, bool on)
{
    pthread_mutex_lock(&s->lock);
    s->rewinding = on;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    machine_request_stop(s->machine);
}
