// SPDX-License-Identifier: MIT
// The architectural state of one AArch64 core at EL0, and the lazily kept flags.
#ifndef CORE_ISA_CPU_H
#define CORE_ISA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op.h"

// Indices into cpu.x beyond the 31 general registers. Register number 31 is resolved to one of
// these by the decoder, so that no instruction has to branch on it.
enum {
    REG_LR = 30, // link register, X30
    REG_SP = 31, // stack pointer
    REG_ZERO = 32, // XZR/WZR as a source: always zero
    REG_SINK = 33, // XZR/WZR as a destination: never read
    REG_COUNT = 34,
};

typedef uint64_t u64x2 __attribute__((vector_size(16)));

// How flags.a and flags.b stand for NZCV. 32-bit operands are kept zero-extended; each width is compared as
// what it is, which is what compilers turn into one compare.
enum flags_kind {
    FLAGS_SUB, // of a - b (CMP, SUBS)
    FLAGS_SUB32,
    FLAGS_ADD, // of a + b (CMN, ADDS; ANDS keeps b = 0)
    FLAGS_ADD32,
    FLAGS_NZCV, // a holds N Z C V in bits 31..28, as the NZCV register does
};

struct flags {
    uint64_t a, b;
    uint32_t kind; // enum flags_kind
};

// FPCR and FPSR bits (Arm ARM C5.2.7, C5.2.8) that ARMv8.0-A implements.
enum {
    FPCR_AHP = 1u << 26, // alternative half precision
    FPCR_DN = 1u << 25, // default NaN
    FPCR_FZ = 1u << 24, // flush denormals to zero
    FPCR_RMODE_SHIFT = 22,
    FPCR_MASK = FPCR_AHP | FPCR_DN | FPCR_FZ | 3u << FPCR_RMODE_SHIFT,
    FPSR_IOC = 1u << 0, // invalid operation
    FPSR_DZC = 1u << 1, // division by zero
    FPSR_OFC = 1u << 2, // overflow
    FPSR_UFC = 1u << 3, // underflow
    FPSR_IXC = 1u << 4, // inexact
    FPSR_IDC = 1u << 7, // input denormal
    FPSR_QC = 1u << 27, // saturation
    FPSR_MASK = FPSR_QC | FPSR_IDC | 0x1f,
};

// Why an engine left its run loop.
enum stop_reason {
    STOP_NONE,
    STOP_BUDGET, // the granted instructions are used up
    STOP_SVC, // SVC: pc is that of the next instruction
    STOP_SERVED, // a system call has been made, or stale code left; pc is where to go on
    STOP_BRK, // BRK: pc is that of the BRK
    STOP_UNDEFINED, // no instruction of this core at pc
    STOP_DISPATCH, // the dispatch net gave the instruction at pc to a kernel that refused it
    STOP_WAIT, // nothing but waiting until a word changes that the host writes: pc is a loop's header
    STOP_RETURN, // an indirect branch went to cpu.return_pc
    STOP_FAULT, // a load, a store or a fetch failed: pc, fault_address, fault_kind
    STOP_BACK, // translated code came to a fault, and everything is as it was at exact_pc, in front of it
};

enum fault_kind {
    FAULT_MAPPING, // nothing is mapped there
    FAULT_PERMISSION, // mapped, but not for this kind of access
    FAULT_ALIGNMENT, // an access that has to be aligned, or a pc that is not
    FAULT_FILE_END, // behind the end of a mapped file
};

// How often a conditional branch has gone either way, where it was interpreted. BRANCH_COUNT_MAX of one of
// them is enough; more may have been counted. Where BR has led, that counts as taken, too:
// of an instruction that is no conditional branch it is all that does. Instructions that lie 1 GiB apart
// share them, so that a displacement of 32 bits reaches all.
struct branch_counts {
    uint32_t not_taken, taken;
};
#define BRANCH_COUNT_MAX UINT16_MAX
#define BRANCH_COUNTS (1u << 28) // of them; which are those of pc:
#define BRANCH_COUNTS_AT(pc) ((pc) / 4 % BRANCH_COUNTS)

typedef struct cpu {
    // What the interpreter touches all the time comes first, within short displacements.
    _Alignas(8) uint8_t *memory; // host address of guest address 0
    _Alignas(8) const op *current; // the op whose memory access is under way, but for made code, of which a
                                   // fault tells; or, at a stop, the one that comes next
    // sizeof(op) x (instructions retired - the budget), less the address of the current op. Straight-line
    // code leaves it alone, a taken branch from o to t adds (o + 1) - t, and it is exact at every access that
    // may fault.
    int64_t retired_bias;
    struct flags flags;
    uint64_t x[REG_COUNT];
    // SIMD and floating point
    u64x2 v[32];
    uint32_t fpcr, fpsr;
    uint32_t fp_fast; // set only while both allow the host's arithmetic: see update_fp_fast
    // system registers
    uint64_t tpidr;
    // the exclusive monitor (Arm ARM B2.9): address of the marked block and what was loaded from it
    uint64_t exclusive_address; // EXCLUSIVE_NONE when open
    uint64_t exclusive_value[2];
    // what translated code and the host tell each other
    int64_t budget; // instructions left
    uint64_t cold_pc; // the callee that is not translated, or the instruction to step
    uint64_t return_pc; // the interpreter stops at an indirect branch to here; NO_RETURN_PC = nowhere
    uint64_t stack_limit; // translated code makes no call with its stack pointer below
    _Alignas(8) const op *stepping; // the op that a copy of is run for translated code, else NULL
    _Alignas(8) uint32_t *call_counts; // of functions, by hash of their address; CALL_COUNTS of them
    _Alignas(8) struct branch_counts *branch_counts; // BRANCH_COUNTS; NULL without a translator
    // set when an engine stops
    _Alignas(8) uint64_t pc;
    uint64_t wild_pc; // the target of an indirect branch that no op can have, else 0
    uint32_t stop; // enum stop_reason
    uint64_t fault_address;
    uint32_t fault_kind; // enum fault_kind
    bool fault_is_store;
    uint64_t wild_address; // where translated code raises a fault beyond the 4 GiB; 0 = nowhere
    uint64_t exact_pc; // in precise translated code: where this, budget included, was the guest's state last
    bool shares_memory; // with other processes, so that atomic accesses have to be atomic on the host
} cpu;

// Translated code, whose pointers have 32 bits, sees the same layout.
_Static_assert(offsetof(cpu, x) == 48 && offsetof(cpu, pc) == 936, "layout of struct cpu");

// What is left of the instructions granted where o comes next: what retired_bias stands for. Less than 0 if
// more have retired.
static inline __attribute__((always_inline, unused)) int64_t cpu_budget_at(const cpu *c, const op *o)
{
    return -(c->retired_bias + (int64_t)(intptr_t)o) / (int64_t)sizeof(op);
}

static inline __attribute__((always_inline, unused)) void cpu_set_budget_at(cpu *c, const op *o, int64_t left)
{
    c->retired_bias = -left * (int64_t)sizeof(op) - (int64_t)(intptr_t)o;
}

#define EXCLUSIVE_NONE (~(uint64_t)0)
#define CALL_COUNTS 16384u
#define NO_RETURN_PC (~(uint64_t)0)

// Follows FPCR and FPSR: the host's arithmetic can be right if FZ and RMode are zero and IXC is set, so that
// raising it again changes nothing (softfloat.h). Writing them otherwise may leave fp_fast at 0, never at 1.
static inline __attribute__((always_inline, unused)) void update_fp_fast(cpu *c)
{
    c->fp_fast = ((c->fpcr & (FPCR_FZ | 3u << FPCR_RMODE_SHIFT)) | (~c->fpsr & FPSR_IXC)) == 0;
}

// ---- flags: inlined everywhere, so that a constant kind or condition folds ----

#define FLAGS_FUNCTION static inline __attribute__((always_inline, unused))

FLAGS_FUNCTION void set_flags_sub64(cpu *c, uint64_t a, uint64_t b)
{
    c->flags = (struct flags){a, b, FLAGS_SUB};
}

FLAGS_FUNCTION void set_flags_sub32(cpu *c, uint32_t a, uint32_t b)
{
    c->flags = (struct flags){a, b, FLAGS_SUB32};
}

FLAGS_FUNCTION void set_flags_add64(cpu *c, uint64_t a, uint64_t b)
{
    c->flags = (struct flags){a, b, FLAGS_ADD};
}

FLAGS_FUNCTION void set_flags_add32(cpu *c, uint32_t a, uint32_t b)
{
    c->flags = (struct flags){a, b, FLAGS_ADD32};
}

// nzcv: N Z C V in bits 31..28; lower bits are ignored.
FLAGS_FUNCTION void set_flags_nzcv(cpu *c, uint32_t nzcv)
{
    c->flags = (struct flags){nzcv & 0xf0000000u, 0, FLAGS_NZCV};
}

FLAGS_FUNCTION bool flag_n(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return (int64_t)(c->flags.a - c->flags.b) < 0;
    case FLAGS_SUB32: return (int32_t)(c->flags.a - c->flags.b) < 0;
    case FLAGS_ADD: return (int64_t)(c->flags.a + c->flags.b) < 0;
    case FLAGS_ADD32: return (int32_t)(c->flags.a + c->flags.b) < 0;
    default: return c->flags.a >> 31 & 1;
    }
}

FLAGS_FUNCTION bool flag_z(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return c->flags.a == c->flags.b;
    case FLAGS_SUB32: return (uint32_t)c->flags.a == (uint32_t)c->flags.b;
    case FLAGS_ADD: return c->flags.a + c->flags.b == 0;
    case FLAGS_ADD32: return (uint32_t)(c->flags.a + c->flags.b) == 0;
    default: return c->flags.a >> 30 & 1;
    }
}

FLAGS_FUNCTION bool flag_c(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return c->flags.a >= c->flags.b;
    case FLAGS_SUB32: return (uint32_t)c->flags.a >= (uint32_t)c->flags.b;
    case FLAGS_ADD: return c->flags.a + c->flags.b < c->flags.a;
    case FLAGS_ADD32: return (uint32_t)(c->flags.a + c->flags.b) < (uint32_t)c->flags.a;
    default: return c->flags.a >> 29 & 1;
    }
}

FLAGS_FUNCTION bool flag_v(const cpu *c)
{
    int64_t unused64;
    int32_t unused32;
    switch (c->flags.kind) {
    case FLAGS_SUB: return __builtin_sub_overflow((int64_t)c->flags.a, (int64_t)c->flags.b, &unused64);
    case FLAGS_SUB32: return __builtin_sub_overflow((int32_t)c->flags.a, (int32_t)c->flags.b, &unused32);
    case FLAGS_ADD: return __builtin_add_overflow((int64_t)c->flags.a, (int64_t)c->flags.b, &unused64);
    case FLAGS_ADD32: return __builtin_add_overflow((int32_t)c->flags.a, (int32_t)c->flags.b, &unused32);
    default: return c->flags.a >> 28 & 1;
    }
}

// Tags (Arm ARM, "Address tagging"): bits 63 to 56 do not count. What Linux tells of an access where nothing
// is has none in the lower half of the address space; in the upper one, which is the kernel's, they stay.
static inline uint64_t untagged_address(uint64_t address)
{
    return address & (uint64_t)((int64_t)(address << 8) >> 8);
}

// The flags as the NZCV register holds them, bits 31..28.
FLAGS_FUNCTION uint32_t get_nzcv(const cpu *c)
{
    return (uint32_t)flag_n(c) << 31 | (uint32_t)flag_z(c) << 30 | (uint32_t)flag_c(c) << 29 |
           (uint32_t)flag_v(c) << 28;
}

FLAGS_FUNCTION bool flags_lt(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return (int64_t)c->flags.a < (int64_t)c->flags.b;
    case FLAGS_SUB32: return (int32_t)c->flags.a < (int32_t)c->flags.b;
    default: return flag_n(c) != flag_v(c);
    }
}

FLAGS_FUNCTION bool flags_le(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return (int64_t)c->flags.a <= (int64_t)c->flags.b;
    case FLAGS_SUB32: return (int32_t)c->flags.a <= (int32_t)c->flags.b;
    default: return flag_z(c) || flag_n(c) != flag_v(c);
    }
}

FLAGS_FUNCTION bool flags_ls(const cpu *c)
{
    switch (c->flags.kind) {
    case FLAGS_SUB: return c->flags.a <= c->flags.b;
    case FLAGS_SUB32: return (uint32_t)c->flags.a <= (uint32_t)c->flags.b;
    default: return !flag_c(c) || flag_z(c);
    }
}

// ConditionHolds (Arm ARM, shared/functions/system): cond is the 4-bit field.
FLAGS_FUNCTION bool condition_holds(const cpu *c, unsigned cond)
{
    bool holds;
    switch (cond >> 1) {
    case 0: holds = flag_z(c); break; // EQ NE
    case 1: holds = flag_c(c); break; // CS CC
    case 2: holds = flag_n(c); break; // MI PL
    case 3: holds = flag_v(c); break; // VS VC
    case 4: return flags_ls(c) == (cond & 1); // HI LS
    case 5: return flags_lt(c) == (cond & 1); // GE LT
    case 6: return flags_le(c) == (cond & 1); // GT LE
    default: return true; // AL NV
    }
    return holds != (cond & 1);
}

#endif
