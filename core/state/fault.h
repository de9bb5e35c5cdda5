// SPDX-License-Identifier: MIT
// Host signals on guest memory become guest faults.
#ifndef CORE_STATE_FAULT_H
#define CORE_STATE_FAULT_H

#include "guest.h"

// Installs the process-wide handlers that turn host SIGSEGV and SIGBUS on guest memory into guest faults.
// Once; any thread. Signals that are none of ours go to the handler that was there before, but for those that
// a process has sent: note_sample and note_sent (siginfo_t, ucontext_t) say whether they take them, the first
// one first. Async-signal-safe.
typedef bool fault_taker(const void *siginfo, void *context);
void fault_init(fault_taker *note_sample, fault_taker *note_sent);

// The calling thread may take host faults from here to the next fault_end: they end at the setjmp on env,
// with the cpu's fault fields filled. Contexts nest.
struct fault_context {
    struct guest *guest;
    struct fault_context *outer;
    void *env[5]; // __builtin_setjmp
};
void fault_begin(struct fault_context *context, struct guest *g);
void fault_end(struct fault_context *context);

// The guest of the innermost context of the calling thread.
struct guest *fault_guest(void);

// Leaves guest code for the reason in cpu.stop, to the innermost context of the calling thread.
_Noreturn void fault_leave(void);

// Leaves guest code with this fault of the innermost context's guest, to that context.
_Noreturn void fault_raise(enum fault_kind kind, uint64_t address, bool is_store);

#endif
