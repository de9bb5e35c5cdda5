// SPDX-License-Identifier: MIT
// What runs guest code. An engine starts at cpu.pc and leaves the state as if it had stepped one instruction
// at a time.
#ifndef CORE_ENGINE_ENGINE_H
#define CORE_ENGINE_ENGINE_H

#include "core/state/guest.h"

// Runs about budget instructions (it stops at the first taken branch behind it) and says why it stopped.
// cpu.pc is where to go on: behind an SVC, at the instruction itself for every other reason. Adds to
// g->stats.retired exactly the instructions that completed.
enum stop_reason interp_run(struct guest *g, uint64_t budget);

// What translated code needs of the interpreter. Both take cpu.cold_pc and cpu.budget and leave cpu.pc and
// cpu.budget. Runs the function at cold_pc until it returns to X30; anything else that ends the run leaves
// all frames of translated code behind, to interp_run.
void interp_call(struct guest *g);
// Runs the one instruction at cold_pc, which is no branch.
void interp_step(struct guest *g);
// The SVC at cold_pc: makes the system call, or leaves as above.
void interp_svc(struct guest *g);
// Translated code that could go on but for cpu.budget: adds to that what the machine grants.
void interp_more(struct guest *g);
// From now on the op at pc, if it is decoded, enters translated code.
void interp_patch_entry(struct guest *g, uint64_t pc);
// No longer.
void interp_restore_entry(struct guest *g, uint64_t pc);

// Runs the plan of the loop whose header is at cold_pc, if its guard holds; pc stays there. A loop that waits
// ends the run, as interp_call may.
void interp_loop(struct guest *g);
// With guest.verify, around what translated code does in place of the loop at cold_pc: see
// interp_verify.inc.
void interp_begin_check(struct guest *g);
void interp_end_check(struct guest *g);
// From now on the op at the loop's header lets its plan run, or no longer does.
struct loop;
void interp_patch_loop(struct guest *g, struct loop *loop, bool replaced);
// From now on the interpreter takes down what the loop of guest.trace stores, as soon as its header is
// decoded, or no longer does. Not while guest code runs.
void interp_patch_trace(struct guest *g, bool traced);

// What has been decoded is decoded again, for the engine that is in use now. Not while guest code runs.
void interp_decode_anew(struct guest *g);
// Puts the mode in force: everything is decoded again, and translated code goes where the net is not to be
// trusted. Not while guest code runs.
void interp_switch_dispatch(struct guest *g, enum machine_dispatch mode);

#endif
