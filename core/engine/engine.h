// SPDX-License-Identifier: MIT
// What runs guest code. An engine starts at cpu.pc and leaves the state as if it had stepped one instruction
// at a time.
#ifndef CORE_ENGINE_ENGINE_H
#define CORE_ENGINE_ENGINE_H

#include "core/isa/cpu.h"
#include "core/machine.h"

// Runs about budget instructions (it stops at the first taken branch behind it) and says why it stopped.
// cpu.pc is where to go on: behind an SVC, at the instruction itself for every other reason. Adds to
// m->stats.retired exactly the instructions that completed.
enum stop_reason interp_run(struct machine *m, uint64_t budget);

// What translated code needs of the interpreter. Both take cpu.cold_pc and cpu.budget and leave cpu.pc and
// cpu.budget. Runs the function at cold_pc until it returns to X30; anything else that ends the run leaves
// all frames of translated code behind, to interp_run.
void interp_call(struct machine *m);
// Runs the one instruction at cold_pc, which is no branch.
void interp_step(struct machine *m);
// From now on the op at pc enters translated code.
void interp_patch_entry(struct machine *m, uint64_t pc);
// No longer.
void interp_restore_entry(struct machine *m, uint64_t pc);

// Runs the plan of the loop whose header is at cold_pc, if its guard holds; pc stays there. A loop that waits
// ends the run, as interp_call may.
void interp_loop(struct machine *m);
// With config.verify, around what translated code does in place of the loop at cold_pc: see interp_loops.h.
void interp_begin_check(struct machine *m);
void interp_end_check(struct machine *m);
// From now on the op at the loop's header lets its plan run, or no longer does.
struct loop;
void interp_patch_loop(struct machine *m, struct loop *loop, bool replaced);

// Puts what m->dispatch_wanted says in force: everything is decoded again, and translated code goes where the
// net is not to be trusted. Not while guest code runs.
void interp_switch_dispatch(struct machine *m);

// Installs the process-wide handlers that turn host SIGSEGV and SIGBUS on guest memory into guest faults.
// Once; any thread. Signals that are none of ours go to the handler that was there before.
void fault_init(void);

// The calling thread may take host faults from here to the next fault_end: they end at the setjmp on env,
// with the cpu's fault fields filled. Contexts nest.
struct fault_context {
    struct machine *machine;
    struct fault_context *outer;
    void *env[5]; // __builtin_setjmp
};
void fault_begin(struct fault_context *context, struct machine *m);
void fault_end(struct fault_context *context);

// Leaves guest code for the reason in cpu.stop, to the innermost context of the calling thread.
_Noreturn void fault_leave(void);

// Leaves guest code with this fault of the innermost context's machine, to that context.
_Noreturn void fault_raise(enum fault_kind kind, uint64_t address, bool is_store);

#endif
