// SPDX-License-Identifier: MIT
// What a run asked to have translated and could not wait for, translated when it has ended, in a process of
// its own and at the lowest priority: the run itself pays for no more than what pays for it, and the next one
// is fast.
#ifndef FRONTEND_TRANSLATE_BEHIND_H
#define FRONTEND_TRANSLATE_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "frontend/base/status.h"

// Whether that is wanted: it can be forbidden by the environment.
bool translate_behind_is_wanted(void);

// The command line, from argv[0] on to its end, and where in it PROGRAM is.
struct translate_behind {
    char *const *argv, *const *program;
};

// Starts that process, silently, if a run that interpreted for so long is worth it
// (machine_config.leave_rest; user: a struct translate_behind): a64run with the option for
// translate_behind_run and the arguments of this one, or for program, if not NULL, that in place of PROGRAM.
// Does not wait.
void translate_behind_start(void *user, const char *program, uint64_t interpreted_ns);

// That process's work, on a machine that is made of config and not run, when it is its turn: one is at work
// at a time. False if there is nowhere to keep it, or another process waits for its turn with the same
// program.
bool translate_behind_run(const struct machine_config *config, struct failure *failure);

#endif
