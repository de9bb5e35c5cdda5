// SPDX-License-Identifier: MIT
// Samples of the emulation thread, by a timer of its CPU time: a signal, whose handler copies registers, the
// top of the stack, guest.activity, and what tells who called (profile_callers.h); what these say is found
// out later, on the emulation thread, between two slices. A sample is taken where the thread uses its
// processor, as often as the host looks at such timers (250 times a second on Debian); waits have none, and
// on Linux 5.11 or later no system call is cut short.
//
// Where instructions are counted (counts.h), they are told here by the same places.
//
// The signal is SIGBUS: with SIGSEGV it belongs to the engine (fault.h), so that no guest can block, ignore
// or see it; and a fault that meets a sample is raised again when the sample is taken.
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include "core/base/error.h"
#include "core/state/guest.h"
#include "core/state/machine_profile.h"

struct profile;

// NULL with *error. Samples are taken if g->config.profile says so.
struct profile *profile_create(struct guest *g, struct error *error);
void profile_destroy(struct profile *p); // NULL is ignored

// The calling thread is the emulation thread, and at work: its time counts from the first call on.
void profile_begin(struct profile *p);
// It goes on with something else.
void profile_end(struct profile *p);
// Finds out what has been sampled, or counted of code that has changed, so far, while the guest's code and
// symbols are still those. Emulation thread, or when that has ended.
void profile_take(struct profile *p);
// The guest's code has changed. Async-signal-safe.
void profile_forget(struct profile *p);

// What came of it so far: as machine_get_profile.
void profile_get(struct profile *p, struct machine_profile *profile);

// For fault_init: takes a sample, if the signal asks for one. Async-signal-safe.
bool profile_note_signal(const void *siginfo, void *context);

#endif
