// SPDX-License-Identifier: MIT
// The loop optimizer: engines report hot loops; nets propose what they are; the prover makes a plan of it or
// refuses; engines then run the plan. Who asks whom, when, is here.
//
// Hot loops are examined on a thread of their own, in batches, and plans are installed by the emulation
// thread between two slices. What the nets said is kept on disk: a later run of the program asks them
// nothing.
#ifndef CORE_LOOPS_OPTIMIZER_H
#define CORE_LOOPS_OPTIMIZER_H

#include <stdatomic.h>

#include "cell.h"
#include "core/base/error.h"
#include "core/loops/prove/plan.h"
#include "core/loops/expr/summary.h"
#include "core/state/guest.h"

// Instructions that a program has to run before its loops are looked at: the nets have to be loaded for it.
#define LOOPS_WARM_UP 20000000u

enum loop_state {
    LOOP_QUEUED, // for the nets and the prover
    LOOP_EXAMINED, // verdict, guess and reason are there; the plan, too, if it was proved
    LOOP_STALE, // its code has changed since
    LOOP_EARLIER, // proved in an earlier run, whose translated code is in use
};

// A hot loop. Lies below 2 GiB, where translated code can count in it.
struct loop {
    struct loop_cell cell;
    uint32_t header, branch; // pc of the first instruction, and of the branch back to it
    _Atomic uint32_t state; // enum loop_state; what the prover writes is complete at LOOP_EXAMINED
    enum machine_loop_verdict verdict;
    bool proposed; // the nets take it for something that can be replaced
    bool failed; // a check has found a difference
    atomic_bool unwanted; // the user has switched it off
    bool installed;
    bool entered; // the body's registers are those of an entry
    uint32_t handler; // the interpreter's own: of the header's op
    bool rests; // the interpreter's own: the header is not patched, for the plan has not paid lately
    uint32_t skip; // the interpreter's own: arrivals at the header that are part of a plain run
    struct loop_body body;
    struct loop_guess guess;
    enum loop_class found; // that its summary shows; LOOP_NONE without one
    char function[32]; // that it is in; filled in once somebody has asked for the list
    const char *reason; // of a rejection
    struct loop_plan *plan; // NULL unless proved
    struct loop_summary *summary; // likewise
};

struct loops;

// folder: of the nets' files. NULL with *error if there are none, or this build cannot summarise.
struct loops *loops_create(struct guest *g, const char *folder, struct error *error);
void loops_destroy(struct loops *l);

// Takes over what the nets said of the program's loops in earlier runs from folder, and leaves there what
// they say in this one. Once, when the program has been loaded.
void loops_load_cache(struct loops *l, const char *folder);

// The loop at header, or NULL. Any thread.
struct loop *loops_find(const struct loops *l, uint32_t header);

// The branch at branch has gone back to header often: has the loop examined, unless that was done before.
// Emulation thread.
void loops_request(struct loops *l, uint32_t header, uint32_t branch);

// Between slices: takes over what has been examined, and machine_set_loops. Calls install for each loop that
// has to be patched into the interpreter, or out of it. Emulation thread.
void loops_update(struct loops *l);
// Whether that has something to do.
bool loops_want_update(const struct loops *l);

// Takes every replacement out of the interpreter, until the next loops_update. Emulation thread.
void loops_uninstall(struct loops *l);

// The loop that code translated in an earlier run has replaced: known from then on. NULL if there are too
// many, or the process is forked and does not know it. Emulation thread.
struct loop *loops_reserve(struct loops *l, uint32_t header, uint32_t branch);

// What the compile thread needs of a proved loop: a copy, since the loop may be forgotten at any time.
struct loop_proof {
    struct guard guard;
    bool prefers_kernel; // see plan_prefers_kernel
    bool polls; // it only waits
    bool looks_up; // lookup is filled in
    struct lookup_loop lookup;
};
// Whether the loop is proved: examines it now if need be. The compile thread.
bool loops_examine(struct loops *l, uint32_t header, uint32_t branch, const uint32_t *words,
                   struct loop_proof *proof);

// The code in [address, address + length) is gone. Async-signal-safe; emulation thread.
void loops_forget(struct loops *l, uint64_t address, uint64_t length);

// A check found a difference between a replacement and the plain loop: it is switched off for good.
void loops_fail(struct loops *l, struct loop *loop, const char *what);

// See machine_set_loop. Any thread.
void loops_set(struct loops *l, uint32_t header, bool on);

// Adds the loops' part to the counters. Emulation thread.
void loops_get_stats(const struct loops *l, struct machine_stats *stats);
// See machine_list_loops.
size_t loops_list(struct loops *l, struct machine_loop *list, size_t max);

// What is told of one loop, at one moment.
struct loop_copy {
    uint32_t header, branch;
    enum loop_state state;
    enum machine_loop_verdict verdict;
    bool failed, on, unwanted;
    const char *reason;
    struct loop_body body;
    struct loop_guess guess;
    uint64_t skipped;
    struct machine_loop described;
};
// False if no loop at header is known. Any thread.
bool loops_copy(struct loops *l, uint32_t header, struct loop_copy *copy);

#endif
