// SPDX-License-Identifier: MIT
// What regions, the glue between them and the host (bitcode.c), and the host agree on. Three compilers see
// it: the host's, clang for x32, and, by numbers, LLVM at run time.
#ifndef CORE_ENGINE_TRANSLATE_GLUE_H
#define CORE_ENGINE_TRANSLATE_GLUE_H

#include "core/isa/cpu.h"
#include "core/loops/cell.h"

// The guest's registers that regions pass to each other in registers of the host, in this order behind the
// budget; a result has the next pc behind them. X(name, index into cpu.x)
#define GLUE_PASSED(X)                                                                                       \
    X(sp, REG_SP) X(x30, REG_LR) X(x0, 0) X(x1, 1) X(x2, 2) X(x3, 3) X(x19, 19) X(x20, 20) X(x21, 21)

#define GLUE_ONE_MORE(name, index) +1
enum { GLUE_PASSED_COUNT = 1 GLUE_PASSED(GLUE_ONE_MORE) }; // the budget is the first
#undef GLUE_ONE_MORE

// The ways back to the host, which finds the whole state in guest_cpu: regions call __regcall3__cold_<name>
// (but cold_call only by find_call), which calls host_<name>, which is interp_<name> (engine.h).
#define GLUE_WAYS_BACK(X) X(call) X(step) X(svc) X(loop) X(begin_check) X(end_check)
#define GLUE_WAY_BACK(name) "__regcall3__cold_" #name
// Where the code for cold_pc is not at hand. find_call and find_jump ask host_code for it, and go on there;
// without any the one calls host_call, the other leaves for who has entered. Thunks, which stand in cells,
// come to them with the pc in r15.
#define GLUE_FIND(name) "__regcall3__find_" #name
#define GLUE_THUNK(name) "thunk_" #name
// The host's functions: the ways back; host_code, which returns the address of the code for cold_pc, or 0;
// and host_more, which is asked when the budget is used up, by GLUE_MORE: that takes and returns the budget
// in rax, and changes nothing else but the flags.
#define GLUE_HOST(X) GLUE_WAYS_BACK(X) X(code) X(more)
#define GLUE_MORE "more_budget"

// The rest of the guest's state that translated code works on, but for cpu.x and cpu.v. X(name, field of cpu,
// its offset)
#define GLUE_STATE(X)                                                                                        \
    X(FLAGS_A, flags.a, 24)                                                                                  \
    X(FLAGS_B, flags.b, 32)                                                                                  \
    X(FLAGS_KIND, flags.kind, 40)                                                                            \
    X(FPCR, fpcr, 832)                                                                                       \
    X(FPSR, fpsr, 836)                                                                                       \
    X(FP_FAST, fp_fast, 840)                                                                                 \
    X(TPIDR, tpidr, 848)                                                                                     \
    X(EXCLUSIVE_ADDRESS, exclusive_address, 856)                                                             \
    X(EXCLUSIVE_LOW, exclusive_value[0], 864)                                                                \
    X(EXCLUSIVE_HIGH, exclusive_value[1], 872)                                                               \
    X(BUDGET, budget, 880)

#define GLUE_ASSERT(name, field, offset) _Static_assert(offsetof(cpu, field) == (offset), #name);
GLUE_STATE(GLUE_ASSERT)
#undef GLUE_ASSERT
_Static_assert(offsetof(cpu, x) == 48 && offsetof(cpu, v) == 320, "the register files");
_Static_assert(offsetof(cpu, cold_pc) == 888 && offsetof(cpu, stack_limit) == 904 && offsetof(cpu, pc) == 936,
               "what regions and the host tell each other");
_Static_assert(sizeof(op) == 16 && offsetof(op, d) == 4 && offsetof(op, imm) == 8 &&
                   offsetof(op, disp) == 8 && offsetof(op, link) == 12 && offsetof(op, q) == 12,
               "operands, which are filled in by their offset");
_Static_assert(offsetof(struct loop_cell, on) == 0 && offsetof(struct loop_cell, entries) == 8 &&
                   offsetof(struct loop_cell, skipped) == 16 && offsetof(struct loop_cell, credited) == 32,
               "what is counted of a loop");

#endif
