// SPDX-License-Identifier: MIT
// The interpreter: threaded code over pre-decoded ops.
//
// Each instruction has a handler, made from its definition in insns.def, and so have frequent sequences of
// them (interp_sequences.h); it ends in a jump to the next op's handler. The op array parallels guest memory,
// so that pc and op convert by arithmetic alone; an op that is all zeroes has not been decoded, and handler 0
// decodes it.
#include "core/engine/engine.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices/devices.h"
#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/translate/translate.h"
#include "core/isa/isa.h"
#include "core/loops/optimizer.h"
#include "core/loops/watch.h"
#include "core/state/fault.h"

// ---- the hooks of sem.h ----

// The host address of a guest address. The top byte is ignored (TBI), the next three have to be zero;
// whatever is not mapped behind the rest faults on the host; see fault.c. cpu.current has been set by the
// handler.
static inline __attribute__((always_inline)) uint8_t *access_at(const cpu *c, uint64_t address, bool is_store)
{
    if (__builtin_expect((address & 0x00ffffff00000000) != 0, 0))
        fault_raise(FAULT_MAPPING, address << 8 >> 8, is_store);
    return c->memory + (uint32_t)address;
}

// A fault leaves by a jump from a signal handler: nothing may move across the access.
#define BARRIER() __asm__ volatile("" ::: "memory")

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

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)
ACCESSORS(128, u64x2)

static inline __attribute__((always_inline)) void require_aligned(__attribute__((unused)) cpu *c,
                                                                  __attribute__((unused)) const op *o,
                                                                  uint64_t address, unsigned size,
                                                                  bool is_store)
{
    if (__builtin_expect((address & (size - 1)) != 0, 0))
        fault_raise(FAULT_ALIGNMENT, address << 8 >> 8, is_store);
}

static uint64_t read_counter(cpu *c)
{
    return devices_clock_ns(guest_of(c)->devices);
}

static void invalidate_code(cpu *c, uint64_t address)
{
    memory_forget_code(&guest_of(c)->memory, address << 8 >> 8, 1);
}

#include "core/isa/sem.h"

// ---- handlers ----

// code is the address that op.handler counts from. A handler returns the op to go on with, or NULL at a stop.
typedef op *handler_function(cpu *c, op *o, const char *code);

static handler_function decode_first, do_enter;

#define HANDLER(o) ((handler_function *)(code + (int32_t)(o)->handler))

static uint32_t handler_offset(handler_function *f)
{
    return (uint32_t)((const char *)f - (const char *)decode_first);
}

// Threaded: a handler jumps to the next one. This needs the compiler to make sibling calls, which it does not
// without optimisation or with a sanitizer; then, and for the long-winded SIMD and FP handlers, whose locals
// may forbid it, the loop in interp_run goes on.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(INTERP_UNTHREADED)
#define GO_ON(next)                                                                                          \
    do {                                                                                                     \
        op *next_op = (next);                                                                                \
        return HANDLER(next_op)(c, next_op, code);                                                           \
    } while (0)
#else
#define GO_ON(next) return (next)
#endif

// Who includes this file with INTERP_UNTHREADED may look at each op that is about to run.
#ifndef ON_DISPATCH
#define ON_DISPATCH(c, o)
#endif

#define DEFINE(name) static op *name(cpu *c, op *o, __attribute__((unused)) const char *code)

static __attribute__((noinline, cold)) op *stop_at(cpu *c, op *next, enum stop_reason reason)
{
    c->current = next;
    c->stop = reason;
    return NULL;
}

static inline __attribute__((always_inline)) op *op_at(const cpu *c, uint64_t pc)
{
    return (op *)(c->memory + MEMORY_OPS_OFFSET + pc * (sizeof(op) / 4));
}

static uint64_t pc_of(const cpu *c, const op *o)
{
    return (uint64_t)((const uint8_t *)o - c->memory - MEMORY_OPS_OFFSET) / (sizeof(op) / 4);
}

static void wake_loop(cpu *c, op *header);

// The target of a branch has become hot: it is asked for, then run as before.
static __attribute__((noinline, cold)) op *hot_target(cpu *c, op *target,
                                                      __attribute__((unused)) const char *code)
{
    struct guest *g = guest_of(c);
    if (g->translating)
        translate_request(g->translator, (uint32_t)pc_of(c, target));
    GO_ON(target);
}

// Likewise for the loop that the branch at o closes.
static __attribute__((noinline, cold)) op *hot_loop(cpu *c, const op *o, op *target, const char *code)
{
    struct guest *g = guest_of(c);
    if (g->loops && g->stats.retired >= LOOPS_WARM_UP) {
        loops_request(g->loops, (uint32_t)pc_of(c, target), (uint32_t)pc_of(c, o));
        wake_loop(c, target);
    }
    return hot_target(c, target, code);
}

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

// Every loop has a backward or an indirect branch: only these look at the budget. Backward ones count how
// often they are taken, so that hot loops can be found.
#define TAKE_FORWARD(o)                                                                                      \
    do {                                                                                                     \
        c->retired_bias += (int64_t)sizeof(op) * (1 - (int64_t)(o)->disp);                                   \
        GO_ON((o) + (o)->disp);                                                                              \
    } while (0)
#define TAKE_BACKWARD(o)                                                                                     \
    do {                                                                                                     \
        op *target = (o) + (o)->disp;                                                                        \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0)) {                                         \
            (o)->count++;                                                                                    \
            return stop_at(c, target, STOP_BUDGET);                                                          \
        }                                                                                                    \
        if (__builtin_expect(++(o)->count % HOT_LOOP == 0, 0))                                               \
            return hot_loop(c, o, target, code);                                                             \
        GO_ON(target);                                                                                       \
    } while (0)
#define CALL_BACKWARD(o)                                                                                     \
    do {                                                                                                     \
        op *target = (o) + (o)->disp;                                                                        \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0))                                           \
            return stop_at(c, target, STOP_BUDGET);                                                          \
        if (call_is_hot(c, target))                                                                          \
            return hot_target(c, target, code);                                                              \
        GO_ON(target);                                                                                       \
    } while (0)

// An indirect branch to where no op can be: the branch retires, then the fetch faults.
static __attribute__((noinline, cold)) _Noreturn void wild_target(cpu *c, const op *o, uint64_t target)
{
    c->current = o + 1;
    c->wild_pc = target << 8 >> 8;
    fault_raise(target & 3 ? FAULT_ALIGNMENT : FAULT_MAPPING, c->wild_pc, false);
}

#define TAKE_INDIRECT(o, address, is_call)                                                                   \
    do {                                                                                                     \
        uint64_t to = (address);                                                                             \
        if (__builtin_expect((to & 0x00ffffff00000003) != 0, 0))                                             \
            wild_target(c, o, to);                                                                           \
        op *target = op_at(c, (uint32_t)to);                                                                 \
        if (__builtin_expect(branch_ends_budget(c, o, target), 0))                                           \
            return stop_at(c, target, STOP_BUDGET);                                                          \
        if (__builtin_expect(to == c->return_pc, 0))                                                         \
            return stop_at(c, target, STOP_RETURN);                                                          \
        if ((is_call) && call_is_hot(c, target))                                                             \
            return hot_target(c, target, code);                                                              \
        GO_ON(target);                                                                                       \
    } while (0)

// For the translator: counts what the conditional branch at o does; true when that has been often enough, or
// there is no translator any more.
static inline __attribute__((always_inline)) bool count_branch(cpu *c, const op *o, bool taken)
{
    if (!c->branch_counts)
        return true;
    struct branch_counts *counts = &c->branch_counts[pc_of(c, o) / 4];
    uint16_t *count = taken ? &counts->taken : &counts->not_taken;
    return *count == BRANCH_COUNT_MAX || ++*count == BRANCH_COUNT_MAX;
}

// Whether the one at pc is: the translator runs, and has not seen enough of it.
static bool branch_is_counted(cpu *c, uint64_t pc)
{
    if (!guest_of(c)->translating || !c->branch_counts)
        return false;
    const struct branch_counts *counts = &c->branch_counts[pc / 4];
    return counts->taken != BRANCH_COUNT_MAX && counts->not_taken != BRANCH_COUNT_MAX;
}

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

// A handler for each instruction, by kind. _back is the form whose target lies behind; _counted is the form
// of a conditional branch that counts, until that has been often enough: then it is decoded anew.
#define HANDLER_OP(name)                                                                                     \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_OP(name);                                                                                        \
        GO_ON(o + 1);                                                                                        \
    }
#define HANDLER_LONG_OP(name)                                                                                \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_OP(name);                                                                                        \
        return o + 1;                                                                                        \
    }
#define CONDITION_FORM(form, name, TAKE)                                                                     \
    DEFINE(form)                                                                                             \
    {                                                                                                        \
        if (sem_##name(c, o))                                                                                \
            TAKE(o);                                                                                         \
        GO_ON(o + 1);                                                                                        \
    }                                                                                                        \
    DEFINE(form##_counted)                                                                                   \
    {                                                                                                        \
        bool taken = sem_##name(c, o);                                                                       \
        if (__builtin_expect(count_branch(c, o, taken), 0) && o->handler == handler_offset(form##_counted))  \
            o->handler = 0;                                                                                  \
        if (taken)                                                                                           \
            TAKE(o);                                                                                         \
        GO_ON(o + 1);                                                                                        \
    }
#define HANDLER_CONDITION(name)                                                                              \
    CONDITION_FORM(do_##name, name, TAKE_FORWARD)                                                            \
    CONDITION_FORM(do_##name##_back, name, TAKE_BACKWARD)
#define RUN_JUMP(name, is_back)                                                                              \
    do {                                                                                                     \
        sem_##name(c, o);                                                                                    \
        if (!(is_back) && INSN_##name == INSN_bl && call_is_hot(c, o + o->disp)) {                           \
            c->retired_bias += (int64_t)sizeof(op) * (1 - (int64_t)o->disp);                                 \
            return hot_target(c, o + o->disp, code);                                                         \
        }                                                                                                    \
        if (!(is_back))                                                                                      \
            TAKE_FORWARD(o);                                                                                 \
        if (INSN_##name == INSN_bl)                                                                          \
            CALL_BACKWARD(o);                                                                                \
        TAKE_BACKWARD(o);                                                                                    \
    } while (0)
#define HANDLER_JUMP(name)                                                                                   \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_JUMP(name, false);                                                                               \
    }                                                                                                        \
    DEFINE(do_##name##_back)                                                                                 \
    {                                                                                                        \
        RUN_JUMP(name, true);                                                                                \
    }
#define RUN_INDIRECT(name) TAKE_INDIRECT(o, sem_##name(c, o), INSN_##name == INSN_blr)
#define HANDLER_INDIRECT(name)                                                                               \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_INDIRECT(name);                                                                                  \
    }
#define HANDLER_STOP(name)                                                                                   \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        enum stop_reason reason = sem_##name(c, o);                                                          \
        return stop_at(c, reason == STOP_SVC ? o + 1 : o, reason);                                           \
    }

#define INSN(name, kind, ...) HANDLER_##kind(name)
#include "core/isa/insns_int.def"
#include "core/isa/insns_mem.def"
#undef INSN
#define INSN(name, kind, ...) HANDLER_LONG_##kind(name)
#include "core/isa/insns_fp.def"
#include "core/isa/insns_simd.def"
#include "core/isa/insns_simd_mem.def"
#include "core/isa/insns_crypto.def"
#undef INSN

#include "interp_sequences.inc"

DEFINE(do_undefined)
{
    return stop_at(c, o, STOP_UNDEFINED);
}

DEFINE(do_dispatch_fault)
{
    return stop_at(c, o, STOP_DISPATCH);
}

// An op that the dispatch net names wrongly: counts, then runs what it stands for.
DEFINE(do_misnamed)
{
    struct dispatch *d = guest_of(c)->dispatch;
    dispatch_executed_wrong(d);
    return ((handler_function *)(code + (int32_t)dispatch_recall(d, pc_of(c, o))))(c, o, code);
}

static uint32_t word_at(const cpu *c, const op *o)
{
    uint32_t word;
    __builtin_memcpy(&word, c->memory + pc_of(c, o), sizeof word);
    return word;
}

// Every op of mode live: asks the net, then runs what it stands for.
DEFINE(do_live)
{
    struct dispatch *d = guest_of(c)->dispatch;
    dispatch_live(d, word_at(c, o));
    return ((handler_function *)(code + (int32_t)dispatch_recall(d, pc_of(c, o))))(c, o, code);
}

// Runs from o until a stop.
static void run_from(cpu *c, op *o)
{
    const char *code = (const char *)decode_first;
    while (o) {
        ON_DISPATCH(c, o);
        o = HANDLER(o)(c, o, code);
    }
}

#include "interp_loops.inc"
#include "interp_decode.inc"
#include "interp_translated.inc"

// ---- the dispatch mode ----

void interp_switch_dispatch(struct guest *g, enum machine_dispatch mode)
{
    struct memory *memory = &g->memory;
    uint32_t enter = handler_offset(do_enter);
    dispatch_set_mode(g->dispatch, mode);
    for (uint64_t page = 0; page < GUEST_SPACE; page += GUEST_PAGE) {
        if (!(memory->pages[page / GUEST_PAGE] & MEMORY_CODE))
            continue;
        if (!dispatch_trusts_page(g->dispatch, page, (const uint32_t *)(memory->base + page))) {
            memory_forget_code(memory, page, GUEST_PAGE);
            continue;
        }
        // The entries of translated code stay; everything else is decoded anew.
        for (op *o = op_at(&g->cpu, page); o < op_at(&g->cpu, page + GUEST_PAGE); o++)
            if (o->handler != enter)
                *o = (op){0};
    }
}

// ---- running ----

enum stop_reason interp_run(struct guest *g, uint64_t budget)
{
    const uint64_t most = 1ull << 40; // keeps the arithmetic of retired_bias far from overflow
    const int64_t granted = (int64_t)(budget < most ? budget : most);
    cpu *c = &g->cpu;
    struct fault_context context;
    fault_begin(&context, g);
    c->wild_pc = 0;
    c->return_pc = NO_RETURN_PC;
    c->stepping = NULL;
    update_fp_fast(c);
    c->stop = STOP_FAULT;
    if (__builtin_setjmp(context.env) == 0) {
        uint64_t pc = c->pc;
        op *o = op_at(c, pc & (GUEST_SPACE - 4));
        c->current = o;
        cpu_set_budget_at(c, o, granted);
        if (pc >= GUEST_SPACE || pc & 3) {
            c->wild_pc = pc;
            fault_raise(pc & 3 ? FAULT_ALIGNMENT : FAULT_MAPPING, pc, false);
        }
        run_from(c, o);
    }
    fault_end(&context);
    g->stats.retired += (uint64_t)(granted - cpu_budget_at(c, c->current));
    c->pc = c->wild_pc ? c->wild_pc : pc_of(c, c->current);
    return c->stop;
}
