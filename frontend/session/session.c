// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "session.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/base/clock.h"
#include "frontend/base/log.h"
#include "frontend/base/text.h"
#include "stand.h"
#include "session_internal.h"

// A slice bounds how long a request waits even where the machine misses the request to stop; it is long
// enough for its cost (a lock, twice) not to show.
#define SLICE_INSTRUCTIONS 64000000u

// With the virtual clock a frame is 29 ms of guest time, whatever the host does.
#define VIRTUAL_FRAME_NS 29000000u

// How long a guest that was asked to end after enough frames may take: it saves its settings, or a demo.
#define END_NS 2000000000

void session_show(struct session *s, const struct machine_frame *frame)
{
    struct session_picture *picture = &s->pictures[s->filling];
    memcpy(picture->indices, frame->indices, sizeof picture->indices);
    memcpy(picture->palette, frame->palette, sizeof picture->palette);
    picture->number = frame->number;
    picture->gametic = frame->gametic;
    picture->traced_loop = frame->traced ? frame->traced_loop : 0;
    if (frame->traced) {
        memcpy(picture->traced, frame->traced, sizeof picture->traced);
    }
    s->filling = atomic_exchange_explicit(&s->between, s->filling | FRESH, memory_order_acq_rel) & ~FRESH;
}

const struct session_picture *session_take_picture(struct session *s)
{
    if (!(atomic_load_explicit(&s->between, memory_order_relaxed) & FRESH)) {
        return NULL;
    }
    s->drawing = atomic_exchange_explicit(&s->between, s->drawing, memory_order_acq_rel) & ~FRESH;
    return &s->pictures[s->drawing];
}

// The virtual clock runs as fast as the host can; at a speed, frames are held back here.
static void hold_back(struct session *s)
{
    unsigned speed = atomic_load_explicit(&s->speed, memory_order_relaxed);
    if (!s->virtual_clock || speed == 0) {
        return;
    }
    int64_t now = clock_now_ns(), frame = (int64_t)VIRTUAL_FRAME_NS * 100 / speed;
    s->due_ns += frame;
    if (s->due_ns < now - 4 * frame || s->due_ns > now + frame) {
        s->due_ns = now; // late beyond catching up, or the speed has changed
    }
    struct timespec until = {s->due_ns / 1000000000, s->due_ns % 1000000000};
    pthread_mutex_lock(&s->lock);
    while (!s->stop && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0) {
    }
    pthread_mutex_unlock(&s->lock);
}

// text is the session's from now on.
static void set_message(struct session *s, char *text)
{
    pthread_mutex_lock(&s->lock);
    free(s->message);
    s->message = text;
    pthread_mutex_unlock(&s->lock);
}

void session_tell(struct session *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    log_line(LOG_INFO, "%s", text);
    set_message(s, text);
    if (s->callbacks.wake) {
        s->callbacks.wake(s->callbacks.user);
    }
}

static void machine_says(void *user, const char *line)
{
    log_line(LOG_WARNING, "%s", line);
    set_message(user, text_copy(line));
}

// Whether a recording is replayed; at its end the guest goes on with what the user does.
static void follow_replay(struct session *s)
{
    const char *why;
    if (s->replaying && machine_get_replay(s->machine, &why) == MACHINE_REPLAY_NONE) {
        pthread_mutex_lock(&s->lock);
        s->replaying = s->logs = false;
        pthread_mutex_unlock(&s->lock);
        machine_says(s, "the recording ends here: from now on the game is live");
    }
}

// A guest that is replayed does not hear of it: it has to be stopped.
static void ask_to_end(struct session *s)
{
    session_post(s, &(struct device_event){.type = DEVICE_EVENT_QUIT});
    pthread_mutex_lock(&s->lock);
    s->stop |= s->replaying;
    pthread_mutex_unlock(&s->lock);
}

static void measure(struct session *s, const struct machine_frame *frame, int64_t now,
                    struct frame_figures *figures)
{
    unsigned speed = atomic_load_explicit(&s->speed, memory_order_relaxed);
    pthread_mutex_lock(&s->lock);
    figures_take(&s->figures, s->machine, frame, now, speed, figures);
    s->state.frames = frame->number;
    if (s->state.first_frame_ms == 0) {
        s->state.first_frame_ms = figures->at_ms;
    }
    if (s->steps) {
        s->steps--;
    }
    pthread_mutex_unlock(&s->lock);
}

static void present(void *user, const struct machine_frame *frame)
{
    struct session *s = user;
    if (s->enough) {
        return; // on its way out the guest may present once more
    }
    if (s->ahead) {
        session_show(s, frame);
        return;
    }
    int64_t now = clock_now_ns();
    struct frame_figures figures;
    measure(s, frame, now, &figures);
    if (s->callbacks.wake && !stand_runs_ahead(s)) {
        session_show(s, frame);
    }
    if (s->inputs.on) {
        inputs_take(&s->inputs, s->machine, frame->number);
    }
    follow_replay(s);
    if (s->callbacks.frame && !s->callbacks.frame(s->callbacks.user, s, frame, &figures)) {
        s->enough = true;
        s->enough_until_ns = now + END_NS;
        if (!s->between_asked) {
            ask_to_end(s);
        }
    }
    if (s->callbacks.wake) {
        s->callbacks.wake(s->callbacks.user);
    }
    s->figures.last_present_ns = clock_now_ns() - s->figures.last_frame_ns;
    hold_back(s);
    s->stands_at_frame = s->between_asked || s->timeline.on;
    if (s->stands_at_frame || stand_is_due(s)) {
        machine_request_stop(s->machine);
    }
}

static void take_audio(void *user, const int16_t (*samples)[2], size_t count)
{
    struct session *s = user;
    s->callbacks.audio(s->callbacks.user, samples, count);
}

static bool more_input(void *user, const void **log, size_t *size)
{
    struct session *s = user;
    return s->callbacks.more_input(s->callbacks.user, log, size);
}

static void guest_writes(void *user, int fd, const char *text, size_t length)
{
    struct session *s = user;
    if (!s->callbacks.silent) {
        log_guest(fd, text, length);
    }
    struct tail *tail = &s->tails[fd == 2];
    if (length > TAIL_SIZE) {
        text += length - TAIL_SIZE;
        length = TAIL_SIZE;
    }
    size_t excess = tail->length + length > TAIL_SIZE ? tail->length + length - TAIL_SIZE : 0;
    memmove(tail->text, tail->text + excess, tail->length - excess);
    memcpy(tail->text + tail->length - excess, text, length);
    tail->length += length - excess;
    tail->text[tail->length] = '\0';
}

static bool stopping(struct session *s)
{
    const char *why;
    pthread_mutex_lock(&s->lock);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return stop || machine_get_replay(s->machine, &why) == MACHINE_REPLAY_DIVERGED;
}

static void finish(struct session *s, enum machine_state state)
{
    pthread_mutex_lock(&s->lock);
    s->state.end = state == MACHINE_EXITED    ? SESSION_EXITED
                   : state == MACHINE_FAULTED ? SESSION_FAULTED
                                              : SESSION_STOPPED;
    s->state.exit_status = state == MACHINE_RUNNING ? 0 : machine_exit_status(s->machine);
    s->state.seconds = (double)(clock_now_ns() - s->figures.started_ns) / 1e9;
    figures_end(&s->figures, s->machine);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->callbacks.wake) {
        s->callbacks.wake(s->callbacks.user);
    }
}

void session_ask_between(struct session *s)
{
    s->between_asked = true;
}

// The guest is asked to end only now, so that no state holds that.
static void go_between(struct session *s)
{
    s->between_asked = false;
    s->callbacks.between(s->callbacks.user, s);
    if (s->enough) {
        ask_to_end(s);
    }
}

static void *emulate(void *user)
{
    struct session *s = user;
    enum machine_state state = MACHINE_RUNNING;
    while (state == MACHINE_RUNNING && !stopping(s) && !(s->enough && clock_now_ns() > s->enough_until_ns)) {
        stand(s);
        state = machine_run(s->machine, SLICE_INSTRUCTIONS);
        if (s->stands_at_frame && state == MACHINE_RUNNING) {
            if (s->between_asked) {
                go_between(s);
            }
            stand_at_frame(s);
        }
    }
    finish(s, state);
    return NULL;
}

struct session *session_start(const struct machine_config *config, unsigned speed,
                              const struct session_callbacks *callbacks, struct failure *failure)
{
    struct session *s = memory_zeroed(sizeof *s);
    s->callbacks = *callbacks;
    s->virtual_clock = config->clock == MACHINE_CLOCK_VIRTUAL;
    s->replaying = config->replay_input || callbacks->more_input;
    s->logs = config->record_input || s->replaying;
    s->filling = 0;
    s->drawing = 1;
    atomic_init(&s->between, 2);
    atomic_init(&s->speed, speed);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);

    struct machine_config own = *config;
    own.user = s;
    own.present = present;
    own.audio = s->callbacks.audio ? take_audio : NULL;
    own.more_input = s->callbacks.more_input ? more_input : NULL;
    own.log = machine_says;
    own.output = guest_writes;
    s->figures.started_ns = s->figures.last_frame_ns = clock_now_ns();
    struct error error;
    s->machine = machine_create(&own, &error);
    if (!s->machine) {
        fail(failure, STATUS_USAGE, "%s%s", error.text,
             error.kind == ERROR_HOST ? "" : "\nThe game's program is built by: ./play --build-only");
        s->joined = true;
        session_end(s);
        return NULL;
    }
    if (!s->virtual_clock) {
        machine_set_speed(s->machine, speed);
    }
    if (s->callbacks.begin && !s->callbacks.begin(s->callbacks.user, s->machine, failure)) {
        s->joined = true;
        session_end(s);
        return NULL;
    }
    machine_get_stats(s->machine, &s->figures.last_stats);
    int error_number = pthread_create(&s->thread, NULL, emulate, s);
    if (error_number) {
        fail(failure, STATUS_USAGE, "cannot start the emulation thread: %s", strerror(error_number));
        s->joined = true;
        session_end(s);
        return NULL;
    }
    return s;
}

machine *session_machine(struct session *s)
{
    return s->machine;
}

void session_get_state(struct session *s, struct session_state *state)
{
    pthread_mutex_lock(&s->lock);
    *state = s->state;
    state->paused = s->paused;
    if (state->end == SESSION_RUNNING) {
        state->seconds = (double)(clock_now_ns() - s->figures.started_ns) / 1e9;
    }
    pthread_mutex_unlock(&s->lock);
}

unsigned session_get_history(struct session *s, struct frame_figures figures[SESSION_HISTORY])
{
    pthread_mutex_lock(&s->lock);
    unsigned count = figures_copy(&s->figures, figures);
    pthread_mutex_unlock(&s->lock);
    return count;
}

void session_set_sound(struct session *s, const struct session_sound *sound)
{
    pthread_mutex_lock(&s->lock);
    s->state.sound = *sound;
    pthread_mutex_unlock(&s->lock);
}

bool session_get_timing(struct session *s, struct session_timing *timing)
{
    pthread_mutex_lock(&s->lock);
    bool timed = s->figures.demo_timed;
    *timing = s->figures.timing;
    pthread_mutex_unlock(&s->lock);
    return timed;
}

const char *session_end_text(struct session *s)
{
    struct session_state state;
    session_get_state(s, &state);
    if (state.end == SESSION_FAULTED) {
        return machine_get_fault(s->machine)->report;
    }
    return s->tails[s->tails[1].length > 0].text;
}

void session_post(struct session *s, const struct device_event *event)
{
    // A full ring means that the guest has not looked at its keys for 256 events: dropping is right then.
    machine_post_event(s->machine, event);
}

// Changes what the emulation thread waits for, and gets it out of the guest.
static void request(struct session *s, bool paused, unsigned more_steps)
{
    pthread_mutex_lock(&s->lock);
    s->paused = paused;
    s->steps = paused ? s->steps + more_steps : 0;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    machine_request_stop(s->machine);
}

void session_pause(struct session *s, bool paused)
{
    request(s, paused, 0);
}

void session_step(struct session *s)
{
    request(s, true, 1);
}

void session_set_speed(struct session *s, unsigned percent)
{
    atomic_store_explicit(&s->speed, percent, memory_order_relaxed);
    if (!s->virtual_clock) {
        machine_set_speed(s->machine, percent);
    }
}

void session_set_engine(struct session *s, enum machine_engine engine)
{
    machine_set_engine(s->machine, engine);
    machine_request_stop(s->machine);
}

char *session_take_message(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    char *message = s->message;
    s->message = NULL;
    pthread_mutex_unlock(&s->lock);
    return message;
}

void session_set_dispatch(struct session *s, enum machine_dispatch dispatch)
{
    machine_set_dispatch(s->machine, dispatch);
    machine_request_stop(s->machine);
}

void session_ask_to_quit(struct session *s)
{
    ask_to_end(s);
    session_pause(s, false);
}

bool session_wait(struct session *s, unsigned milliseconds)
{
    int64_t until_ns = clock_now_ns() + (int64_t)milliseconds * 1000000;
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    pthread_mutex_lock(&s->lock);
    while (s->state.end == SESSION_RUNNING && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0) {
    }
    bool ended = s->state.end != SESSION_RUNNING;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

void session_stop(struct session *s)
{
    if (s->joined) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    machine_request_stop(s->machine);
    pthread_join(s->thread, NULL);
    s->joined = true;
}

bool session_end(struct session *s)
{
    session_stop(s);
    const bool kept = !s->machine || machine_destroy(s->machine);
    inputs_end(&s->inputs);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->message);
    free(s->calls);
    free(s);
    return kept;
}
