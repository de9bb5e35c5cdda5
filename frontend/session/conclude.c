// SPDX-License-Identifier: MIT
#include "conclude.h"

#include <stdio.h>

#include "frontend/base/log.h"

static void print_timing(const struct session_timing *t)
{
    FILE *stream = log_result();
    fprintf(stream,
            "timed demo: %u frames, %u tics in %.3f s: %.1f frames a second\n"
            "guest: %llu instructions in %.3f s of emulating: %.0f MIPS\n",
            t->frames, t->tics, t->seconds, t->seconds > 0 ? t->frames / t->seconds : 0,
            (unsigned long long)t->retired, t->emulating_seconds,
            t->emulating_seconds > 0 ? (double)t->retired / t->emulating_seconds / 1e6 : 0);
    if (t->credited) {
        fprintf(stream, "loops: %llu more instructions credited to kernels: %.0f MIPS effective\n",
                (unsigned long long)t->credited,
                t->emulating_seconds > 0 ? (double)(t->retired + t->credited) / t->emulating_seconds / 1e6
                                         : 0);
    }
    fflush(stream);
}

enum status session_conclude(struct session *s, bool interrupted, struct failure *failure)
{
    struct session_state state;
    struct session_timing timing;
    session_get_state(s, &state);
    if (session_get_timing(s, &timing)) {
        print_timing(&timing);
    }
    const char *why;
    if (machine_get_replay(session_machine(s), &why) == MACHINE_REPLAY_DIVERGED) {
        fail(failure, STATUS_DIFFERS, "--replay-input: %s", why);
        return STATUS_DIFFERS;
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
    machine_get_stats(session_machine(s), &stats);
    if (stats.verify_failures) {
        fail(failure, STATUS_DIFFERS,
             "--verify: %llu entries of replaced loops did not do what the plain loop does; those loops were "
             "switched off, and are named above and in the log",
             (unsigned long long)stats.verify_failures);
        return STATUS_DIFFERS;
    }
    return interrupted ? STATUS_INTERRUPTED : STATUS_OK;
}
