// SPDX-License-Identifier: MIT
// The interpreter again, under names of its own, and by the single instruction.
#ifndef TESTS_LOCKSTEP_STEPPER_H
#define TESTS_LOCKSTEP_STEPPER_H

#define INTERP_UNTHREADED
#ifndef SEQUENCES_DEF
#define SEQUENCES_DEF "/dev/null"
#endif
#define interp_stop_at stepper_stop_at
#define interp_hot_target stepper_hot_target
#define interp_hot_loop stepper_hot_loop
#define interp_wild_target stepper_wild_target
#define interp_aside stepper_aside
#define interp_invalidate_code stepper_invalidate_code
#define interp_run stepper_run
#define interp_call stepper_call
#define interp_step stepper_step
#define interp_svc stepper_svc
#define interp_more stepper_more
#define interp_patch_entry stepper_patch_entry
#define interp_decode_anew stepper_decode_anew
#define interp_switch_dispatch stepper_switch_dispatch
#define interp_restore_entry stepper_restore_entry
#define interp_loop stepper_loop
#define interp_patch_loop stepper_patch_loop
#define interp_patch_trace stepper_patch_trace
#define interp_begin_check stepper_begin_check
#define interp_end_check stepper_end_check
#include "../../core/engine/interp/interp.c"

// Steps by the instruction at cpu.pc; false at one that only the machine can do. A fault leaves for the
// innermost fault_context.
static inline bool step(struct guest *g)
{
    cpu *c = &g->cpu;
    op pair[2] = {{0}};
    enum dispatch_verdict unused;
    enum insn id = decode_at(c, c->pc, &pair[0], &unused);
    if (isa_info[id].kind == KIND_STOP)
        return false;
    c->retired_bias = INT64_MIN / 2;
    c->current = op_at(c, c->pc);
    c->return_pc = NO_RETURN_PC;
    c->stepping = op_at(c, c->pc);
    const struct forms forms = forms_of(id);
    op *next =
        (is_backward(id, &pair[0]) ? forms.back : forms.forward)(c, &pair[0], (const char *)decode_first);
    c->stepping = NULL;
    uint64_t offset = (uint64_t)((const uint8_t *)next - c->memory);
    if (offset - MEMORY_OPS_OFFSET < GUEST_SPACE / 4 * sizeof(op))
        c->pc = pc_of(c, next);
    else
        c->pc += (uint64_t)(next - &pair[0]) * 4;
    return true;
}

#endif
