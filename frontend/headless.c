// SPDX-License-Identifier: MIT
#include "headless.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/command/launch.h"
#include "frontend/record/explain.h"
#include "frontend/record/output.h"
#include "frontend/session/conclude.h"

// How long a guest that was asked to quit may take to save its configuration.
#define QUIT_MS 2000

#define PROGRESS_SECONDS 2

struct callee {
    struct output *output;
    uint32_t turns; // of so many frames, or 0
};

// Says on standard input, a socket, that the turn is over, and waits to be told the same: then, or when
// nobody is there any more, the next one has come.
static void wait_for_turn(void *user)
{
    char byte = 0;
    (void)user;
    if (write(STDIN_FILENO, &byte, 1) == 1) {
        while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR && !interrupt_seen()) {
        }
    }
}

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    const struct callee *c = user;
    bool more = output_frame(c->output, s, frame, figures);
    if (more && c->turns && frame->number % c->turns == 0) {
        session_leave_out(s, wait_for_turn, NULL);
    }
    return more;
}

static bool begin(void *user, machine *m, struct failure *failure)
{
    return output_begin(((struct callee *)user)->output, m, failure);
}

static void between(void *user, struct session *s)
{
    output_between(((struct callee *)user)->output, s);
}

static void take_audio(void *user, const int16_t (*samples)[2], size_t count)
{
    output_audio(((struct callee *)user)->output, samples, count);
}

// --verify takes its time: a line every few seconds. *told: when the last one was, in seconds.
static void tell_progress(struct session *s, const struct launch *launch, double *told)
{
    struct session_state state;
    session_get_state(s, &state);
    if (!launch->setup.config.verify || state.seconds < *told + PROGRESS_SECONDS) {
        return;
    }
    *told = state.seconds;
    struct machine_stats stats;
    machine_get_stats(session_machine(s), &stats);
    log_line(LOG_INFO, "--verify: %.0f s, frame %u; %llu loops replaced and compared, %llu differences",
             state.seconds, state.frames, (unsigned long long)stats.loops_proved,
             (unsigned long long)stats.verify_failures);
}

// Runs the session to its end or to a signal; returns the exit status.
static int run(struct session *s, struct output *output, const struct launch *launch, uint64_t explain_loop)
{
    bool interrupted = false;
    double told = 0;
    while (!session_wait(s, 100) && !interrupted) {
        output_renew_stats(output, s);
        tell_progress(s, launch, &told);
        interrupted = interrupt_seen();
    }
    if (interrupted) {
        session_ask_to_quit(s);
        session_wait(s, QUIT_MS);
    }
    session_stop(s);
    explain_print(session_machine(s), explain_loop);
    explain_idle_verify(session_machine(s));
    struct failure failure = {0};
    enum status status = session_conclude(s, interrupted, &failure);
    if (status == STATUS_FAULT || status == STATUS_ENGINE) {
        launch_blame_wads(launch, &failure);
    }
    if (failure.text) {
        failure_report(&failure);
    }
    demo_files_finish(&launch->recording);
    return output_close(output, s) || status != STATUS_OK ? (int)status : STATUS_USAGE;
}

int headless_run(struct options *options, struct settings *settings)
{
    struct failure failure = {0};
    struct launch launch = {0};
    int status = STATUS_OK;
    struct output *output = NULL;
    if (launch_prepare(&launch, options, settings, &failure)) {
        output = output_open(options, settings, &launch, &failure);
    }
    if (output) {
        struct callee callee = {output, options->turns};
        struct session_callbacks callbacks = {
            .user = &callee, .begin = begin, .between = between, .frame = take_frame};
        if (output_wants_audio(output)) {
            callbacks.audio = take_audio;
        }
        struct session *s = session_start(&launch.setup.config, (unsigned)launch.speed, &callbacks, &failure);
        if (s) {
            status = run(s, output, &launch, options->explain_loop);
            session_end(s);
        } else {
            output_abandon(output);
        }
    }
    launch_free(&launch);
    return failure.text ? failure_report(&failure) : status;
}
