// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "split.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/base/clock.h"
#include "frontend/base/text.h"

#define LOOK_NS 50000000 // whoever waits looks so often whether the other side has ended
#define FINISH_NS 3000000000

struct side {
    double ms[SPLIT_FRAMES]; // a ring
    uint32_t frames; // presented here
    uint32_t number; // of the last one
    int64_t left_ns; // CPU time of its thread when it last went back to the guest,
    uint64_t idle_ns; // and what of that has gone into the guest's waits
    bool warming;
};

// What has reached the left machine up to the end of a frame.
struct piece {
    uint8_t *bytes;
    size_t size;
};

struct split {
    struct split_host host;
    struct session *right;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock:
    struct piece pieces[SPLIT_AHEAD + 1]; // not taken yet, the first first
    unsigned count;
    struct side sides[2];
    unsigned speed; // of both, as session_set_speed has it
    bool waited[SPLIT_FRAMES]; // a ring, as the left side's
    uint32_t same, differs; // see struct split_view
    char why[160]; // it differs, in the machine's words
    bool closing; // no more is handed on

    struct piece taken; // the right side's thread: that which its machine reads
};

// ---- the figures ----

static void begin_frame(struct side *side, const machine *m, const struct frame_figures *figures)
{
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    int64_t ns = clock_cpu_ns() - side->left_ns - (int64_t)(stats.idle_cpu_ns - side->idle_ns);
    side->idle_ns = stats.idle_cpu_ns;
    side->ms[side->frames++ % SPLIT_FRAMES] = (double)ns / 1e6;
    side->number = figures->number;
    side->warming = figures->warming;
}

static unsigned held(const struct side *side)
{
    return side->frames < SPLIT_FRAMES ? side->frames : SPLIT_FRAMES;
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ms(const struct side *side)
{
    double ms[SPLIT_FRAMES];
    unsigned count = held(side);
    memcpy(ms, side->ms, count * sizeof *ms);
    qsort(ms, count, sizeof *ms, compare_ms);
    return count ? ms[count / 2] : 0;
}

// ---- whoever waits; the lock is held ----

static void wait_a_while(struct split *p)
{
    int64_t until_ns = clock_now_ns() + LOOK_NS;
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static void note_difference(struct split *p, uint32_t frame)
{
    const char *why;
    machine_get_replay(session_machine(p->right), &why);
    p->differs = frame;
    snprintf(p->why, sizeof p->why, "%s", *why ? why : "the program ended there");
}

// Whether the right side has ended; if it has by itself, it has done something else than the left one.
static bool has_ended(struct split *p)
{
    struct session_state state;
    session_get_state(p->right, &state);
    if (state.end != SESSION_RUNNING && !p->differs && !p->closing) {
        note_difference(p, p->sides[1].number + 1);
    }
    return state.end != SESSION_RUNNING;
}

// ---- the left side ----

void split_frame(struct split *p, struct session *left, const struct frame_figures *figures)
{
    struct piece piece;
    machine *m = session_machine(left);
    machine_take_input(m, &piece.bytes, &piece.size);
    pthread_mutex_lock(&p->lock);
    struct side *side = &p->sides[0];
    bool *waited = &p->waited[side->frames % SPLIT_FRAMES];
    begin_frame(side, m, figures);
    *waited = false;
    if (figures->speed != p->speed) { // or the right side would come in bursts
        p->speed = figures->speed;
        session_set_speed(p->right, p->speed);
    }
    if (p->closing || p->differs) {
        free(piece.bytes);
        pthread_mutex_unlock(&p->lock);
        return;
    }
    p->pieces[p->count++] = piece;
    pthread_cond_broadcast(&p->changed);
    if (p->count >= SPLIT_AHEAD) {
        *waited = true;
        machine_set_clock_paused(m, true);
        while (p->count >= SPLIT_AHEAD && !p->closing && !has_ended(p)) {
            wait_a_while(p);
        }
        machine_set_clock_paused(m, false);
    }
    pthread_mutex_unlock(&p->lock);
}

void split_frame_ends(struct split *p)
{
    p->sides[0].left_ns = clock_cpu_ns();
}

// ---- the right side ----

static bool begin(void *user, machine *m, struct failure *failure)
{
    struct split *p = user;
    return p->host.begin(p->host.user, m, failure);
}

static void wake(void *user)
{
    struct split *p = user;
    p->host.wake(p->host.user);
}

static void drop_audio(void *user, const int16_t (*samples)[2], size_t count)
{
    (void)user;
    (void)samples;
    (void)count;
}

static bool more_input(void *user, const void **log, size_t *size)
{
    struct split *p = user;
    free(p->taken.bytes);
    p->taken = (struct piece){0};
    pthread_mutex_lock(&p->lock);
    while (!p->count && !p->closing) {
        pthread_cond_wait(&p->changed, &p->lock);
    }
    bool there = p->count > 0;
    if (there) {
        p->taken = p->pieces[0];
        p->count--;
        memmove(p->pieces, p->pieces + 1, p->count * sizeof *p->pieces);
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    *log = p->taken.bytes;
    *size = p->taken.size;
    return there;
}

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    struct split *p = user;
    const char *why;
    pthread_mutex_lock(&p->lock);
    if (p->closing) { // on its way out it may present once more
        pthread_mutex_unlock(&p->lock);
        return true;
    }
    begin_frame(&p->sides[1], session_machine(s), figures);
    if (machine_get_replay(session_machine(s), &why) != MACHINE_REPLAY_DIVERGED) {
        p->same++;
    } else if (!p->differs) {
        p->differs = frame->number;
        snprintf(p->why, sizeof p->why, "%s", why);
    }
    pthread_cond_broadcast(&p->changed);
    p->sides[1].left_ns = clock_cpu_ns();
    pthread_mutex_unlock(&p->lock);
    return true;
}

struct split *split_start(const struct machine_config *config, unsigned speed, bool hears,
                          const struct split_host *host, struct failure *failure)
{
    struct split *p = memory_zeroed(sizeof *p);
    p->host = *host;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const struct session_callbacks callbacks = {.user = p,
                                                .begin = begin,
                                                .frame = take_frame,
                                                .audio = hears ? drop_audio : NULL,
                                                .more_input = more_input,
                                                .silent = true,
                                                .wake = wake};
    p->speed = speed;
    p->right = session_start(config, speed, &callbacks, failure);
    if (!p->right) {
        split_end(p);
        return NULL;
    }
    return p;
}

struct session *split_right(struct split *p)
{
    return p->right;
}

void split_look(struct split *p, struct split_view *view)
{
    unsigned waits = 0;
    pthread_mutex_lock(&p->lock);
    has_ended(p);
    const struct side *left = &p->sides[0], *right = &p->sides[1];
    for (unsigned i = 0; i < held(left); i++) {
        waits += p->waited[i];
    }
    *view = (struct split_view){
        .sides = {{median_ms(left), left->warming}, {median_ms(right), right->warming}},
        .same = p->same,
        .differs = p->differs,
        .waits = left->frames >= SPLIT_FRAMES && waits > SPLIT_FRAMES / 2,
    };
    pthread_mutex_unlock(&p->lock);
}

// ---- the end ----

void split_finish(struct split *p)
{
    int64_t until = clock_now_ns() + FINISH_NS;
    pthread_mutex_lock(&p->lock);
    while (p->sides[1].frames < p->sides[0].frames && !has_ended(p) && clock_now_ns() < until) {
        wait_a_while(p);
    }
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    session_stop(p->right);
}

bool split_conclude(struct split *p, const char *const names[2], struct failure *failure)
{
    struct machine_stats stats;
    machine_get_stats(session_machine(p->right), &stats);
    if (p->differs) {
        return fail(failure, STATUS_DIFFERS,
                    "--split: %s and %s differ from frame %u on: %s.\n"
                    "If it is a loop, neurodoom --verify names it",
                    names[0], names[1], p->differs, p->why);
    }
    return !stats.verify_failures ||
           fail(failure, STATUS_DIFFERS,
                "--verify: %llu entries of replaced loops on the right side (%s) did not do what the plain "
                "loop does; those loops were switched off, and are named above and in the log",
                (unsigned long long)stats.verify_failures, names[1]);
}

void split_end(struct split *p)
{
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->right) {
        session_end(p->right);
    }
    for (unsigned i = 0; i < p->count; i++) {
        free(p->pieces[i].bytes);
    }
    free(p->taken.bytes);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
