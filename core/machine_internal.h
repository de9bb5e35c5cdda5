// SPDX-License-Identifier: MIT
// The machine's inside, for the files of core/ itself: machine.c, machine_dispatch.c, machine_engine.c,
// machine_state.c, moments.c.
#ifndef CORE_MACHINE_INTERNAL_H
#define CORE_MACHINE_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "core.h"
#include "core/state/guest.h"
#include "core/state/saved.h"
#include "way_back.h"

struct moments;
struct profile;

struct machine {
    struct guest guest; // first: the guest_host functions find the machine by it
    atomic_int engine; // enum machine_engine that is wanted
    atomic_int dispatch_wanted; // enum machine_dispatch, to be in force from the next slice on
    atomic_bool verify_wanted; // machine_set_verify
    _Atomic uint32_t trace_wanted; // machine_trace_loop: the header, or 0
    bool is_settled; // the last slice was hardly interpreted
    uint64_t run_end; // stats.retired at which machine_run returns
    uint32_t trace_tried; // the one that guest.trace is of, if it can be
    uint64_t dispatch_since, dispatch_before; // retired when counting began; instructions counted before
    // Of a state that has been loaded, less what had been counted here until then.
    uint64_t wrong_before, credited_before, skipped_before;
    uint32_t call_counts[CALL_COUNTS]; // the cpu's
    uint64_t counted_ns, counted_idle_ns; // host time and idle up to which emulating_ns counts
    pthread_mutex_t publish_lock;
    struct machine_stats published; // what other threads read, under publish_lock
    struct moments *moments; // NULL: none are kept
    struct way_back way_back;
    struct profile *profile; // NULL: no samples are taken
    char
        program[PATH_MAX]; // the host path of one that has taken the place of config.program; empty: none has
};
_Static_assert(offsetof(struct machine, guest) == 0, "the host of a guest");

// Brings emulating_ns up to now and lets other threads see the counters.
void machine_publish(machine *m);

// Between slices: brings into force what is wanted of the engine, the checks of loops included; whether there
// is anything of that.
void machine_follow_engine(machine *m);
bool machine_wants_engine(const machine *m);
// At the end of a run, of a forked process's too: keeps what is translated for later ones, and returns how
// long (ns) was interpreted what these could have translated; then that is left to config.leave_rest.
uint64_t machine_keep_code(machine *m);
void machine_leave_rest(machine *m, uint64_t interpreted_ns);

// Likewise the mode of dispatch.
void machine_follow_dispatch(machine *m);
bool machine_wants_dispatch(const machine *m);
// Brings what is counted of dispatch up to date in guest.stats.
void machine_count_dispatch(machine *m);

// Whether translated code may be entered: its faults are as precise as the guest has to have them.
bool machine_may_enter(const machine *m);

// The registers and what the guest's way counts.
void machine_save_progress(machine *m, struct saved *s);
void machine_load_progress(machine *m, struct saved *s); // which has not failed

// Everything but memory. Nothing has changed when s has failed.
void machine_save_rest(machine *m, struct saved *s);
struct rest_plan;
struct rest_plan *machine_plan_rest(machine *m, struct saved *s);
void machine_load_rest(machine *m, struct rest_plan *plan); // frees plan
void machine_free_rest(struct rest_plan *plan);

// The host has denied memory while the machine was being put together: it is none any more. Returns false.
bool machine_break(machine *m, struct error *error);

void moments_destroy(machine *m);

#endif
