// SPDX-License-Identifier: MIT
// The interpreter: threaded code over pre-decoded ops.
//
// Each instruction has a handler, made from its definition in insns.def, and so have frequent sequences of
// them (interp_sequences.c); it ends in a jump to the next op's handler. The op array parallels guest memory,
// so that pc and op convert by arithmetic alone; an op that is all zeroes has not been decoded, and handler 0
// decodes it.
#include "interp_handlers.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/level.h"
#include "core/engine/stencil/block.h"
#include "core/loops/optimizer.h"
#include "core/loops/trace.h"
#include "core/loops/watch.h"
#include "core/state/counts.h"
#include "interp_vector.h"
#include "sequences.h"

static handler_function decode_first, decode_later, do_enter, do_counted;

static uint32_t handler_offset(handler_function *f)
{
    return (uint32_t)((const char *)f - (const char *)decode_first);
}

// Who includes this file with INTERP_UNTHREADED may look at each op that is about to run.
#ifndef ON_DISPATCH
#define ON_DISPATCH(c, o)
#endif

__attribute__((cold)) op *interp_stop_at(cpu *c, op *next, enum stop_reason reason)
{
    c->current = next;
    c->stop = reason;
    return NULL;
}

static void wake_loop(cpu *c, op *header);

// The code at o is hot, which comes next.
static void request_code(cpu *c, const op *o)
{
    struct guest *g = guest_of(c);
    uint64_t interpreted = g->interpreted + (uint64_t)(g->interpreting_since - cpu_budget_at(c, o));
    translate_request(g->translator, (uint32_t)pc_of(c, o), interpreted);
}

__attribute__((cold)) op *interp_hot_target(cpu *c, op *target, __attribute__((unused)) const char *code)
{
    if (guest_of(c)->translating)
        request_code(c, target);
    GO_ON(target);
}

__attribute__((cold)) op *interp_hot_loop(cpu *c, const op *o, op *target, const char *code)
{
    struct guest *g = guest_of(c);
    if (g->loops && g->stats.retired >= LOOPS_WARM_UP) {
        loops_request(g->loops, (uint32_t)pc_of(c, target), (uint32_t)pc_of(c, o));
        wake_loop(c, target);
    }
    return interp_hot_target(c, target, code);
}

__attribute__((cold)) op *interp_wild_target(cpu *c, const op *o, uint64_t target)
{
    c->current = o + 1;
    c->wild_pc = untagged_address(target);
    fault_raise(target & 3 ? FAULT_ALIGNMENT : FAULT_MAPPING, c->wild_pc, false);
}

void interp_invalidate_code(cpu *c, uint64_t address)
{
    struct guest *g = guest_of(c);
    memory_invalidate_code(&g->memory, address);
    if (!g->translator || !translate_is_stale(g->translator))
        return;
    c->current = (c->stepping ? c->stepping : c->current) + 1;
    c->stop = STOP_SERVED;
    fault_leave();
}

// For the translator: counts what the conditional branch at o does; true when that has been often enough, or
// there is no translator any more.
static inline __attribute__((always_inline)) bool count_branch(cpu *c, const op *o, bool taken)
{
    if (!c->branch_counts)
        return true;
    struct branch_counts *counts = &c->branch_counts[BRANCH_COUNTS_AT(pc_of(c, o))];
    uint32_t *count = taken ? &counts->taken : &counts->not_taken;
    return ++*count >= BRANCH_COUNT_MAX;
}

// Whether the one at pc is: the translator runs, and has not seen enough of it.
static bool branch_is_counted(cpu *c, uint64_t pc)
{
    if (!guest_of(c)->translating || !c->branch_counts)
        return false;
    const struct branch_counts *counts = &c->branch_counts[BRANCH_COUNTS_AT(pc)];
    return counts->taken < BRANCH_COUNT_MAX && counts->not_taken < BRANCH_COUNT_MAX;
}

// A handler for each instruction, by kind. _back is the form whose target lies behind; _counted is the form
// of a conditional branch that counts, until that has been often enough: then it is decoded anew.
#define HANDLER_OP(name)                                                                                     \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_OP(name);                                                                                        \
        GO_ON(o + 1);                                                                                        \
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
#define HANDLER_JUMP(name)                                                                                   \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_JUMP(name, false);                                                                               \
    }                                                                                                        \
    DEFINE(do_##name##_back)                                                                                 \
    {                                                                                                        \
        RUN_JUMP(name, true);                                                                                \
    }
#define HANDLER_INDIRECT(name)                                                                               \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_INDIRECT(name);                                                                                  \
    }
#define HANDLER_STOP(name)                                                                                   \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        enum stop_reason reason = sem_##name(c, o);                                                          \
        return interp_stop_at(c, reason == STOP_SVC ? o + 1 : o, reason);                                    \
    }

#define INSN(name, kind, ...) HANDLER_##kind(name)
#include "core/isa/insns_int.def"
#include "core/isa/insns_mem.def"
#undef INSN

#include "interp_sequences.inc"

DEFINE(do_undefined)
{
    return interp_stop_at(c, o, STOP_UNDEFINED);
}

DEFINE(do_dispatch_fault)
{
    return interp_stop_at(c, o, STOP_DISPATCH);
}

// An op that the dispatch net names wrongly: counts, then runs what it stands for.
DEFINE(do_misnamed)
{
    struct dispatch *d = guest_of(c)->dispatch;
    dispatch_executed_wrong(d);
    return ((handler_function *)(code + (int32_t)dispatch_recall(d, pc_of(c, o))))(c, o, code);
}

// What ends in a branch, where everything is counted.
DEFINE(do_counted)
{
    uint32_t handler = counts_come_to(guest_of(c)->counts, c, o);
    return ((handler_function *)(code + (int32_t)handler))(c, o, code);
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

// Whether the branch, which is id, is taken; what else it does is done.
static bool is_taken(cpu *c, const op *o, enum insn id)
{
#define TAKEN_OP(name)
#define TAKEN_STOP(name)
#define TAKEN_INDIRECT(name)
#define TAKEN_CONDITION(name)                                                                                \
    if (id == INSN_##name)                                                                                   \
        return sem_##name(c, o);
#define TAKEN_JUMP(name)                                                                                     \
    if (id == INSN_##name)                                                                                   \
        sem_##name(c, o);
#define INSN(name, kind, ...) TAKEN_##kind(name)
#include "core/isa/insns_int.def"
#undef INSN
    return true;
}

// Apart from its handler for the reason that decode_op is from decode_first.
static __attribute__((noinline)) void leave_space(cpu *c, const op *o)
{
    op plain;
    const uint64_t pc = pc_of(c, o);
    const enum insn id = isa_decode(word_at(c, o), (uint32_t)pc, &plain);
    if (is_taken(c, &plain, id))
        interp_wild_target(c, o, pc + (uint64_t)((int64_t)plain.disp * 4));
}

// A direct branch to where no op can be.
DEFINE(do_leave_space)
{
    leave_space(c, o);
    GO_ON(o + 1);
}

// Runs from o until a stop. What blocks find in registers takes time to put there: a vector instruction's
// handler comes back here each time.
static void run_from(cpu *c, op *o)
{
    const struct guest *g = guest_of(c);
    const char *code = (const char *)decode_first;
    while (o) {
        ON_DISPATCH(c, o);
        o = g->translating || g->blocks ? interp_enter(c, o, code) : HANDLER(o)(c, o, code);
    }
}

#include "interp_loops.inc"
#include "interp_verify.inc"
#include "interp_decode.inc"
#include "interp_translated.inc"
#include "interp_trace.inc"

// ---- what has been decoded ----

void interp_decode_anew(struct guest *g)
{
    struct memory *memory = &g->memory;
    uint32_t enter = handler_offset(do_enter);
    for (uint64_t page = 0; page < GUEST_SPACE; page += GUEST_PAGE) {
        if (!(memory->pages[page / GUEST_PAGE] & MEMORY_CODE))
            continue;
        uint32_t words[GUEST_PAGE / 4];
        if (!memory_read(memory, page, words, sizeof words) ||
            !dispatch_trusts_page(g->dispatch, page, words)) {
            memory_forget_code(memory, page, GUEST_PAGE);
            continue;
        }
        // The entries of translated code stay; everything else is decoded anew.
        for (op *o = op_at(&g->cpu, page); o < op_at(&g->cpu, page + GUEST_PAGE); o++)
            if (o->handler != enter)
                *o = (op){0};
    }
}

void interp_switch_dispatch(struct guest *g, enum machine_dispatch mode)
{
    dispatch_set_mode(g->dispatch, mode);
    interp_decode_anew(g);
}

// ---- running ----

// Adds to stats.retired what has completed in front of cpu.current.
static void note_retired(struct guest *g)
{
    int64_t left = cpu_budget_at(&g->cpu, g->cpu.current);
    g->stats.retired += (uint64_t)(g->granted - left);
    g->granted = left;
}

// Runs from pc with so many instructions left until a stop, cpu.stop.
static void run_until_stop(struct guest *g, uint64_t pc, int64_t left)
{
    cpu *c = &g->cpu;
    struct fault_context context;
    fault_begin(&context, g);
    g->interpreting_since = left;
    c->wild_pc = 0;
    c->return_pc = NO_RETURN_PC;
    c->stepping = NULL;
    update_fp_fast(c);
    guest_make_current(g);
    c->stop = STOP_FAULT;
    if (__builtin_setjmp(context.env) == 0) {
        op *o = op_at(c, pc & (GUEST_SPACE - 4));
        c->current = o;
        cpu_set_budget_at(c, o, left);
        if (g->counts)
            counts_start(g->counts, c, o);
        if (pc >= GUEST_SPACE || pc & 3) {
            c->wild_pc = pc;
            fault_raise(pc & 3 ? FAULT_ALIGNMENT : FAULT_MAPPING, pc, false);
        }
        run_from(c, o);
        g->interpreted += (uint64_t)(g->interpreting_since - cpu_budget_at(c, c->current));
    }
    fault_end(&context);
}

enum stop_reason interp_run(struct guest *g, uint64_t budget)
{
    const uint64_t most = 1ull << 40; // keeps the arithmetic of retired_bias far from overflow
    cpu *c = &g->cpu;
    g->granted = (int64_t)(budget < most ? budget : most);
    run_until_stop(g, c->pc, g->granted);
    if (c->stop == STOP_BACK) { // into the fault again
        const bool entering = g->entering;
        g->entering = false;
        run_until_stop(g, c->exact_pc, c->budget);
        g->entering = entering;
    }
    if (g->counts)
        counts_stop(g->counts, c);
    note_retired(g);
    c->pc = c->wild_pc ? c->wild_pc : pc_of(c, c->current);
    return c->stop;
}
