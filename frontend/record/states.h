// SPDX-License-Identifier: MIT
// --state and --save-state: a run that starts from a saved state, or leaves some behind.
#ifndef FRONTEND_STATES_H
#define FRONTEND_STATES_H

#include "frontend/command/input_file.h"
#include "frontend/command/launch.h"
#include "frontend/command/options.h"
#include "frontend/session/session.h"

struct states;

// NULL: *failure. The arguments have to outlive it.
struct states *states_open(const struct options *options, const struct launch *launch,
                           struct failure *failure);
// Brings a machine that has not run to where it is to start from. input: the recording of its input, or NULL.
// False: *failure.
bool states_begin(struct states *st, machine *m, struct input_writer *input, struct failure *failure);
// Takes a presented frame: on the emulation thread.
void states_frame(struct states *st, struct session *s, const struct machine_frame *frame);
// Saves what is due: see session_callbacks.between.
void states_between(struct states *st, struct session *s);
// Frees st. False if one could not be written, or the game has ended before: that has been logged.
bool states_close(struct states *st);
// Frees st where nothing has been saved.
void states_free(struct states *st);

#endif
