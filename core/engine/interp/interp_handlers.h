// SPDX-License-Identifier: MIT
// What the interpreter's handlers are made of: the hooks of sem.h, branches, and what an instruction does by
// kind.
//
// A handler runs one instruction, or a sequence of them, and jumps to the next op's. They are compiled in
// several files: interp.c (integer instructions, memory), interp_vector.c (the others), interp_sequences.c.
#ifndef CORE_ENGINE_INTERP_HANDLERS_H
#define CORE_ENGINE_INTERP_HANDLERS_H

#include "core/devices/devices.h"
#include "core/engine/engine.h"
#include "core/engine/translate/translate.h"
#include "core/isa/isa.h"
#include "core/state/fault.h"

// ---- the hooks of sem.h ----

// A fault leaves by a jump from a signal handler: nothing may move across the access.
#define BARRIER() __asm__ volatile("" ::: "memory")

// Code that is made for one op has accessors of its own.
#ifndef ACCESSORS
// The host address of a guest address. The top byte is ignored (TBI), the next three have to be zero;
// whatever is not mapped behind the rest faults on the host; see fault.c. cpu.current has been set by the
// handler.
static inline __attribute__((always_inline)) uint8_t *access_at(const cpu *c, uint64_t address, bool is_store)
{
    if (__builtin_expect((address & 0x00ffffff00000000) != 0, 0))
        fault_raise(FAULT_MAPPING, untagged_address(address), is_store);
    return c->memory + (uint32_t)address;
}

#define ACCESSORS(bits, type)                                                                                \
    static inline __attribute__((always_inline))                                                             \
    type load##bits(cpu *c, __attribute__((unused)) const op *o, uint64_t address)                           \
    {                                                                                                        \
        typedef type unaligned __attribute__((aligned(1), may_alias));                                       \
        const unaligned *p = (const unaligned *)access_at(c, address, false);                                \
        BARRIER();                                                                                           \
        type value = *(const volatile unaligned *)p;                                                         \
        BARRIER();                                                                                           \
        return value;                                                                                        \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void store##bits(                                           \
        cpu *c, __attribute__((unused)) const op *o, uint64_t address, type value)                           \
    {                                                                                                        \
        typedef type unaligned __attribute__((aligned(1), may_alias));                                       \
        unaligned *p = (unaligned *)access_at(c, address, true);                                             \
        BARRIER();                                                                                           \
        *(volatile unaligned *)p = value;                                                                    \
        BARRIER();                                                                                           \
    }

static inline __attribute__((always_inline)) void require_aligned(__attribute__((unused)) cpu *c,
                                                                  __attribute__((unused)) const op *o,
                                                                  uint64_t address, unsigned size,
                                                                  bool is_store)
{
    if (__builtin_expect((address & (size - 1)) != 0, 0))
        fault_raise(FAULT_ALIGNMENT, untagged_address(address), is_store);
}

#define ORDER_ACCESSES
static inline __attribute__((always_inline)) void order_accesses(cpu *c, __attribute__((unused)) const op *o)
{
    if (__builtin_expect(c->shares_memory, 0))
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define ATOMIC_ACCESSORS(bits)                                                                               \
    static inline __attribute__((always_inline)) bool replace##bits(                                         \
        cpu *c, const op *o, uint64_t address, uint##bits##_t old, uint##bits##_t value)                     \
    {                                                                                                        \
        typedef uint##bits##_t __attribute__((may_alias)) word;                                              \
        if (__builtin_expect(!c->shares_memory, 1)) {                                                        \
            store##bits(c, o, address, value);                                                               \
            return true;                                                                                     \
        }                                                                                                    \
        word *p = (word *)access_at(c, address, true);                                                       \
        BARRIER();                                                                                           \
        bool done = __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
        BARRIER();                                                                                           \
        return done;                                                                                         \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void store_last##bits(                                      \
        cpu *c, const op *o, uint64_t address, uint##bits##_t value)                                         \
    {                                                                                                        \
        store##bits(c, o, address, value);                                                                   \
        order_accesses(c, o);                                                                                \
    }
#endif

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)
ACCESSORS(128, u64x2)

static uint64_t read_counter(cpu *c)
{
    return guest_of(c)->host->counter(guest_of(c));
}

// IC IVAU: what has been decoded or translated of the code at the guest's address is forgotten, and left if
// it waits for this. Then it does not return.
void interp_invalidate_code(cpu *c, uint64_t address);

static void invalidate_code(cpu *c, uint64_t address)
{
    interp_invalidate_code(c, untagged_address(address));
}

#include "core/isa/sem.h"

// ---- handlers ----

// code is the address that op.handler counts from. A handler returns the op to go on with, or NULL at a stop.
typedef op *handler_function(cpu *c, op *o, const char *code);

#define HANDLER(o) ((handler_function *)(code + (int32_t)(o)->handler))

// Threaded: a handler jumps to the next one. This needs the compiler to make sibling calls, which it does not
// without optimisation or with a sanitizer; then, and behind the handlers of interp_vector.c, the loop in
// run_from goes on.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(INTERP_UNTHREADED)
#define GO_ON(next)                                                                                          \
    do {                                                                                                     \
        op *next_op = (next);                                                                                \
        return HANDLER(next_op)(c, next_op, code);                                                           \
    } while (0)
#else
#define GO_ON(next) return (next)
#endif

// Where a branch is taken. Code that is made for one op may know a shorter way.
#ifndef GO_TO
#define GO_TO GO_ON
#endif

// Runs the handler of the op that comes next, which may be a block, and what follows up to a stop, or to the
// op that it returns.
#ifdef TRANSLATE
op *interp_enter(cpu *c, op *o, const char *code);
#else
static inline op *interp_enter(cpu *c, op *o, const char *code)
{
    return HANDLER(o)(c, o, code);
}
#endif

#define HANDLER_FUNCTION(name) op *name(cpu *c, op *o, __attribute__((unused)) const char *code)
#define DEFINE(name) static HANDLER_FUNCTION(name)

static inline __attribute__((always_inline)) op *op_at(const cpu *c, uint64_t pc)
{
    return (op *)(c->memory + MEMORY_OPS_OFFSET + pc * (sizeof(op) / 4));
}

static inline uint64_t pc_of(const cpu *c, const op *o)
{
    return (uint64_t)((const uint8_t *)o - c->memory - MEMORY_OPS_OFFSET) / (sizeof(op) / 4);
}

// ---- branches ----

// The way out of a handler: run_from ends for this reason, next is the op that comes next. NULL.
op *interp_stop_at(cpu *c, op *next, enum stop_reason reason);
// The target of a branch has become hot: it is asked for, then run as before.
op *interp_hot_target(cpu *c, op *target, const char *code);
// Likewise for the loop that the branch at o closes.
op *interp_hot_loop(cpu *c, const op *o, op *target, const char *code);
// Goes on with the instruction at pc of the guest that runs, which a block leaves to this handler, by its
// offset.
op *interp_aside(intptr_t pc, intptr_t handler);
// The branch at o goes to where no op can be: it retires, then the fetch faults. Does not return; a handler
// that ends in it has no frame for its sake.
op *interp_wild_target(cpu *c, const op *o, uint64_t target);

// Counts a call of target; true when it has just become hot. Functions may share a counter.
static inline __attribute__((always_inline)) bool call_is_hot(cpu *c, const op *target)
{
    uint32_t *count = &c->call_counts[((uintptr_t)target / sizeof(op)) % CALL_COUNTS];
    return __builtin_expect(++*count % HOT_CALL == 0, 0);
}

// Accounts for the branch from o to target; true if the budget is used up.
static inline __attribute__((always_inline)) bool branch_ends_budget(cpu *c, const op *o, const op *target)
{
    int64_t bias = c->retired_bias + (int64_t)(intptr_t)(o + 1);
    c->retired_bias = bias - (int64_t)(intptr_t)target;
    return bias >= 0;
}

// Where the direct branch at o goes, and what it adds to retired_bias. Code that is made for one op knows.
#ifndef BRANCH_TARGET
#define BRANCH_TARGET(o) ((o) + (o)->disp)
#define BRANCH_BIAS(o) ((int64_t)sizeof(op) * (1 - (int64_t)(o)->disp))
#endif

// Every loop has a backward or an indirect branch: only these look at the budget. Backward ones count how
// often they are taken, so that hot loops can be found.
#define TAKE_FORWARD(o)                                                                                      \
    do {                                                                                                     \
        c->retired_bias += BRANCH_BIAS(o);                                                                   \
        GO_TO(BRANCH_TARGET(o));                                                                             \
    } while (0)
// To the target, by GO there.
#define TAKE_BACKWARD_TO(o, to, GO)                                                                          \
    do {                                                                                                     \
        op *target = (to);                                                                                   \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0)) {                                         \
            (o)->count++;                                                                                    \
            return interp_stop_at(c, target, STOP_BUDGET);                                                   \
        }                                                                                                    \
        if (__builtin_expect(++(o)->count % HOT_LOOP == 0, 0))                                               \
            return interp_hot_loop(c, o, target, code);                                                      \
        GO(target);                                                                                          \
    } while (0)
#define TAKE_BACKWARD(o) TAKE_BACKWARD_TO(o, BRANCH_TARGET(o), GO_TO)
#define CALL_BACKWARD(o)                                                                                     \
    do {                                                                                                     \
        op *target = BRANCH_TARGET(o);                                                                       \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0))                                           \
            return interp_stop_at(c, target, STOP_BUDGET);                                                   \
        if (call_is_hot(c, target))                                                                          \
            return interp_hot_target(c, target, code);                                                       \
        GO_TO(target);                                                                                       \
    } while (0)

#define TAKE_INDIRECT(o, address, insn)                                                                      \
    do {                                                                                                     \
        uint64_t to = (address);                                                                             \
        if (__builtin_expect((to & 0x00ffffff00000003) != 0, 0))                                             \
            return interp_wild_target(c, o, to);                                                             \
        op *target = op_at(c, (uint32_t)to);                                                                 \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0))                                           \
            return interp_stop_at(c, target, STOP_BUDGET);                                                   \
        if (__builtin_expect(to == c->return_pc, 0))                                                         \
            return interp_stop_at(c, target, STOP_RETURN);                                                   \
        if ((insn) == INSN_blr && call_is_hot(c, target))                                                    \
            return interp_hot_target(c, target, code);                                                       \
        if ((insn) == INSN_br && c->branch_counts)                                                           \
            c->branch_counts[BRANCH_COUNTS_AT((uint32_t)to)].taken++;                                        \
        GO_ON(target);                                                                                       \
    } while (0)

// ---- instructions by kind ----

// The columns of insns.def as constants.
#define INSN(name, kind, group, reads, writes, ...) enum { reads_##name = reads, writes_##name = writes };
#include "core/isa/insns.def"
#undef INSN
// Whether an instruction may leave its handler by a fault, or have the host look at the guest: it says where
// the guest is, first.
#define ACCESSES(name) (((reads_##name | writes_##name) & (MEMORY | ICACHE | CLOCK)) != 0)
#define RUN_OP(name)                                                                                         \
    do {                                                                                                     \
        if (ACCESSES(name))                                                                                  \
            c->current = o;                                                                                  \
        sem_##name(c, o);                                                                                    \
    } while (0)
#define RUN_JUMP(name, is_back)                                                                              \
    do {                                                                                                     \
        sem_##name(c, o);                                                                                    \
        if (!(is_back) && INSN_##name == INSN_bl && call_is_hot(c, BRANCH_TARGET(o))) {                      \
            c->retired_bias += BRANCH_BIAS(o);                                                               \
            return interp_hot_target(c, BRANCH_TARGET(o), code);                                             \
        }                                                                                                    \
        if (!(is_back))                                                                                      \
            TAKE_FORWARD(o);                                                                                 \
        if (INSN_##name == INSN_bl)                                                                          \
            CALL_BACKWARD(o);                                                                                \
        TAKE_BACKWARD(o);                                                                                    \
    } while (0)
#define RUN_INDIRECT(name) TAKE_INDIRECT(o, sem_##name(c, o), INSN_##name)

#endif
