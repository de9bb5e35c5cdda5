// SPDX-License-Identifier: MIT
#include "headless.h"

#include <stdio.h>

#include "interrupt.h"
#include "launch.h"
#include "log.h"
#include "output.h"

// How long a guest that was asked to quit may take to save its configuration.
#define QUIT_MS 2000

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    return output_frame(user, s, frame, figures);
}

static void print_timing(const struct session_timing *t)
{
    printf("timed demo: %u frames, %u tics in %.3f s: %.1f frames a second\n"
           "guest: %llu instructions in %.3f s of emulating: %.0f MIPS\n",
           t->frames, t->tics, t->seconds, t->seconds > 0 ? t->frames / t->seconds : 0,
           (unsigned long long)t->retired, t->emulating_seconds,
           t->emulating_seconds > 0 ? (double)t->retired / t->emulating_seconds / 1e6 : 0);
    if (t->credited) {
        printf("loops: %llu more instructions credited to kernels: %.0f MIPS effective\n",
               (unsigned long long)t->credited,
               t->emulating_seconds > 0 ? (double)(t->retired + t->credited) / t->emulating_seconds / 1e6
                                        : 0);
    }
    fflush(stdout);
}

enum status conclude(struct session *s, bool interrupted, struct failure *failure)
{
    struct session_state state;
    struct session_timing timing;
    session_get_state(s, &state);
    if (session_get_timing(s, &timing)) {
        print_timing(&timing);
    }
    if (state.end == SESSION_FAULTED) {
        fail(failure, STATUS_FAULT, "the guest did something impossible and was stopped\n%s",
             session_end_text(s));
        return STATUS_FAULT;
    }
    if (state.end == SESSION_EXITED && state.exit_status != 0) {
        const char *text = session_end_text(s);
        fail(failure, STATUS_ENGINE, "the engine ended with status %d\n%s", state.exit_status, text);
        return STATUS_ENGINE;
    }
    struct machine_stats stats;
    session_get_stats(s, &stats);
    if (stats.verify_failures) {
        fail(failure, STATUS_DIFFERS,
             "--verify: %llu entries of replaced loops did not do what the plain loop does; those loops were "
             "switched off, and are named above and in the log",
             (unsigned long long)stats.verify_failures);
        return STATUS_DIFFERS;
    }
    return interrupted ? STATUS_INTERRUPTED : STATUS_OK;
}

// Runs the session to its end or to a signal; returns the exit status.
static int run(struct session *s, struct output *output, const struct launch *launch)
{
    bool interrupted = false;
    while (!session_wait(s, 100) && !interrupted) {
        output_renew_stats(output, s);
        interrupted = interrupt_seen();
    }
    if (interrupted) {
        session_ask_to_quit(s);
        session_wait(s, QUIT_MS);
    }
    session_stop(s);
    struct failure failure = {0};
    enum status status = conclude(s, interrupted, &failure);
    if (failure.text) {
        failure_report(&failure);
    }
    launch_finish(launch);
    return output_close(output, s) || status != STATUS_OK ? (int)status : STATUS_USAGE;
}

int headless_run(const struct options *options, struct settings *settings)
{
    struct failure failure = {0};
    struct launch launch = {0};
    int status = STATUS_OK;
    struct output *output = NULL;
    if (launch_prepare(&launch, options, settings, &failure)) {
        output = output_open(options, settings, &launch, &failure);
    }
    if (output) {
        struct session_callbacks callbacks = {.user = output, .frame = take_frame};
        struct session *s = session_start(&launch.machine, (unsigned)launch.speed, &callbacks, &failure);
        if (s) {
            status = run(s, output, &launch);
            session_end(s);
        } else {
            output_close(output, NULL);
        }
    }
    launch_free(&launch);
    return failure.text ? failure_report(&failure) : status;
}
