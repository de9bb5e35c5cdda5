// SPDX-License-Identifier: MIT
// The way back in front of a fault, of a guest that handles faults itself: its handler has to find every
// register, all of memory and the count of instructions as they are there, and translated code keeps neither
// registers nor the count in order for that. So before it is entered, a moment is noted: the registers, a
// journal of the pages that change from then on (state/journal.h), and a log of what system calls and
// counters have told the guest. A fault puts all that back. From there the guest comes to the fault once
// more, by the interpreter and by precise code (engine/translate/llvm_exact.h), with the log's answers in
// place of the host's, and runs so from then on: who has had one fault may live on them.
//
// (Rollback and replay, as in Srinivasan et al.: Flashback, USENIX 2004.)
#ifndef CORE_WAY_BACK_H
#define CORE_WAY_BACK_H

#include "core.h"
#include "core/state/memory.h"
#include "core/state/saved.h"

struct way_back {
    bool there;
    bool has_journal; // the memory's is for this
    bool denied;
    uint64_t retired; // stats.retired where it leads to
    // The registers and counters there, and what has come from outside since. It is read while the guest
    // comes to the fault once more.
    struct saved log;
    struct memory_effects effects; // of the system call under way, behind which pc is
    uint64_t pc;
    uint64_t begin; // of the guest's first, CLOCK_MONOTONIC
    uint64_t cost; // of all of them, ns
};

void way_back_destroy(machine *m);

// Whether the guest's faults have to be precise at once: there is no way back from them.
bool way_back_is_denied(const machine *m);

// Guest code is about to go on, its state being in the cpu: sees to it that there is a way back, if it may
// need one, not too long, or that it is denied.
void way_back_keep(machine *m);
// Whether there is something to see to, for which the state has to be in the cpu.
bool way_back_is_due(const machine *m);
// From now on.
void way_back_deny(machine *m);
// What has happened to the guest cannot be taken back: nothing leads further back than to now.
void way_back_lose(machine *m);

// Goes back in front of a fault; who cannot be where it was any more is ended. False if there is no way.
bool way_back_take(machine *m);

// Whether it is coming to the fault once more: nothing new may reach the guest then.
bool way_back_is_answering(const machine *m);
// Then: answers the system call behind which cpu.pc is. False: there is nothing to answer.
bool way_back_answer(machine *m);

// Around every other system call.
void way_back_begin_call(machine *m);
void way_back_end_call(machine *m);

// CNTVCT_EL0 for the guest.
uint64_t way_back_counter(machine *m);

#endif
