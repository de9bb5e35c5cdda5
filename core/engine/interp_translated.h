// SPDX-License-Identifier: MIT
// Part of interp.c: the ways into translated code, and what that has the interpreter do.
#ifndef CORE_ENGINE_INTERP_TRANSLATED_H
#define CORE_ENGINE_INTERP_TRANSLATED_H

// The handler of the instruction at o alone. Apart from do_enter for the reason that decode_op is from
// decode_first.
static __attribute__((noinline)) handler_function *plain_handler(cpu *c, const op *o)
{
    op plain;
    enum dispatch_verdict verdict;
    enum insn id = decode_at(c, pc_of(c, o), &plain, &verdict);
    if (dispatch_mode(machine_of(c)->dispatch) == MACHINE_DISPATCH_LIVE)
        dispatch_live(machine_of(c)->dispatch, word_at(c, o));
    return is_backward(id, &plain) ? handlers[id].back : handlers[id].forward;
}

// Has the op at o run as what it is, whatever stands there: also one that only translated code has run so
// far, which is not decoded, and which decoding would have patched.
static void set_plain_handler(cpu *c, op *o)
{
    enum dispatch_verdict verdict;
    if (o->handler == 0)
        decode_at(c, pc_of(c, o), o, &verdict);
    o->handler = handler_offset(plain_handler(c, o));
}

// Stands in for the handler of an op at which translated code starts; the op keeps its operands.
DEFINE(do_enter)
{
    struct machine *m = machine_of(c);
    int64_t left = -(c->retired_bias + (int64_t)(intptr_t)o) / (int64_t)sizeof(op);
    c->pc = pc_of(c, o);
    c->budget = left;
    if (m->entering && dispatch_mode(m->dispatch) != MACHINE_DISPATCH_LIVE &&
        translate_enter(m->translator) && (c->budget != left || c->pc != pc_of(c, o))) {
        op *next = op_at(c, (uint32_t)c->pc & ~3u);
        c->retired_bias = -c->budget * (int64_t)sizeof(op) - (int64_t)(intptr_t)next;
        if (c->pc & 0x00ffffff00000003)
            wild_target(c, next - 1, c->pc);
        if (c->budget <= 0)
            return stop_at(c, next, STOP_BUDGET);
        if (c->pc == c->return_pc)
            return stop_at(c, next, STOP_RETURN);
        if (call_is_hot(c, next)) // where translated code ends again and again
            return hot_target(c, next, code);
        GO_ON(next);
    }
    // Not now, or not even one block of it fits in the budget: the instruction itself.
    return plain_handler(c, o)(c, o, code);
}

void interp_patch_entry(struct machine *m, uint64_t pc)
{
    cpu *c = &m->cpu;
    op *o = op_at(c, pc);
    enum dispatch_verdict verdict;
    if (o->handler == 0)
        decode_at(c, pc, o, &verdict);
    o->handler = handler_offset(do_enter);
}

void interp_restore_entry(struct machine *m, uint64_t pc)
{
    op *o = op_at(&m->cpu, pc);
    if (m->memory.pages[pc / GUEST_PAGE] & MEMORY_CODE && o->handler == handler_offset(do_enter))
        o->handler = 0;
}

void interp_call(struct machine *m)
{
    cpu *c = &m->cpu;
    uint64_t outer = c->return_pc, target = c->cold_pc;
    if (target & 0x00ffffff00000003) {
        c->retired_bias = -c->budget * (int64_t)sizeof(op) - (int64_t)(intptr_t)op_at(c, 0);
        wild_target(c, op_at(c, 0) - 1, target);
    }
    op *o = op_at(c, (uint32_t)target);
    c->retired_bias = -c->budget * (int64_t)sizeof(op) - (int64_t)(intptr_t)o;
    c->current = o;
    c->return_pc = c->x[REG_LR];
    if (call_is_hot(c, o))
        translate_request(m->translator, (uint32_t)target);
    run_from(c, o);
    if (c->stop != STOP_RETURN)
        fault_leave();
    c->return_pc = outer;
    c->pc = pc_of(c, c->current);
    c->budget = -(c->retired_bias + (int64_t)(intptr_t)c->current) / (int64_t)sizeof(op);
}

DEFINE(step_end)
{
    (void)c;
    (void)o;
    return NULL;
}

void interp_step(struct machine *m)
{
    cpu *c = &m->cpu;
    uint64_t pc = c->cold_pc;
    op *at = op_at(c, pc);
    op pair[2] = {{0}, {.handler = handler_offset(step_end)}};
    enum dispatch_verdict verdict; // fine: translated code is used where the net can be trusted
    enum insn id = decode_at(c, pc, &pair[0], &verdict);
    c->retired_bias = -c->budget * (int64_t)sizeof(op) - (int64_t)(intptr_t)at;
    c->stepping = at;
    handlers[id].forward(c, &pair[0], (const char *)decode_first);
    c->stepping = NULL;
    c->pc = pc + 4;
    c->budget--;
}

#endif
