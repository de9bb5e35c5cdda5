// SPDX-License-Identifier: MIT
#include "llvm_exact.h"

#include <llvm-c/Core.h>
#include <stddef.h>

#include "core/isa/cpu.h"
#include "llvm_flow.h"
#include "llvm_leave.h"

// Volatile, as guest accesses are: they keep their order.
static void store(struct build *u, LLVMValueRef value, uint32_t offset)
{
    LLVMSetVolatile(LLVMBuildStore(u->at, value, build_cpu_field(u, offset)), true);
}

static void note_exact(struct build *u, LLVMValueRef pc, LLVMValueRef budget)
{
    store(u, pc, offsetof(cpu, exact_pc));
    store(u, budget, offsetof(cpu, budget));
}

void exact_at(struct build *u, LLVMValueRef pc)
{
    if (u->r->precise)
        note_exact(u, pc, build_get(u, VAR_BUDGET));
}

static void synchronize(struct build *u, uint32_t pc, unsigned left)
{
    if (u->synchronization_count == REGION_OPS_MAX) {
        u->failed = true;
        return;
    }
    struct block_build *x = &u->block[u->block_index];
    struct synchronization *s = &u->synchronizations[u->synchronization_count++];
    *s = (struct synchronization){
        .block = build_block(u),
        .next = build_block(u),
        .place = {(uint16_t)u->block_index, (uint16_t)left, pc, x->synchronized, u->newer},
    };
    LLVMBuildBr(u->at, s->block);
    LLVMPositionBuilderAtEnd(u->at, s->next);
    x->synchronized = true;
    u->newer = (var_set){{0}};
    u->has_loaded = false;
}

void exact_begin_block(struct build *u)
{
    u->has_loaded = true; // there may be a way here on which it has
}

void exact_before(struct build *u, const struct region_op *o)
{
    if (u->r->precise && isa_info[o->insn].writes & MEMORY && u->has_loaded)
        synchronize(u, o->pc, u->ops_left);
}

void exact_after(struct build *u, const struct region_op *o)
{
    const bool loads = isa_info[o->insn].reads & MEMORY;
    u->has_loaded |= loads;
    if (u->r->precise && loads && isa_info[o->insn].writes & MEMORY)
        synchronize(u, o->pc + 4, u->ops_left - 1);
}

void exact_complete(struct build *u)
{
    for (unsigned i = 0; i < u->synchronization_count; i++) {
        const struct synchronization *s = &u->synchronizations[i];
        const var_set dirty = flow_dirty_at(u, &s->place);
        LLVMPositionBuilderAtEnd(u->at, s->block);
        leave_store(u, &dirty);
        note_exact(u, build_constant(u, s->place.pc),
                   LLVMBuildAdd(u->at, build_get(u, VAR_BUDGET), build_constant(u, s->place.left), ""));
        LLVMBuildBr(u->at, s->next);
    }
}
