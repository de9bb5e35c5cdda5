// SPDX-License-Identifier: MIT
#include "llvm_leave.h"

#include <llvm-c/Core.h>
#include <stddef.h>

#include "core/isa/cpu.h"
#include "llvm_exact.h"
#include "llvm_flow.h"
#include "llvm_jit.h"
#include "llvm_late.h"

enum { REGCALL = 92 }; // llvm::CallingConv::X86_RegCall

static LLVMAttributeRef saves_nothing(const struct jit *j)
{
    static const char name[] = "no_callee_saved_registers";
    return LLVMCreateStringAttribute(j->context, name, sizeof name - 1, "", 0);
}

void leave_set_convention(const struct jit *j, LLVMValueRef function)
{
    LLVMSetFunctionCallConv(function, REGCALL);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, saves_nothing(j));
}

void leave_set_call_convention(const struct jit *j, LLVMValueRef call)
{
    LLVMSetInstructionCallConv(call, REGCALL);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, saves_nothing(j));
}

static bool is_stored(const struct build *u, unsigned var)
{
    return u->r->precise || !var_is_passed(var);
}

// In precise code in order with guest accesses (llvm_exact.h).
static void store_variable(struct build *u, unsigned var)
{
    LLVMSetVolatile(LLVMBuildStore(u->at, build_get(u, var), build_cpu_field(u, var_offset(var))),
                    u->r->precise);
}

void leave_store(struct build *u, const var_set *dirty)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (var_has(dirty, var) && is_stored(u, var))
            store_variable(u, var);
}

void leave_load(struct build *u, const var_set *wanted)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (var_has(wanted, var) && !var_is_passed(var))
            build_set(
                u, var,
                LLVMBuildLoad2(u->at, build_var_type(u->j, var), build_cpu_field(u, var_offset(var)), ""));
}

void leave_load_for(struct build *u, unsigned block)
{
    var_set wanted = u->used;
    var_remove(&wanted, &u->block[block].absent);
    leave_load(u, &wanted);
}

void leave_to(struct build *u, LLVMValueRef pc, const var_set *dirty)
{
    leave_store(u, dirty);
    build_set(u, VAR_PC, pc);
    LLVMBuildBr(u->at, u->leave);
}

LLVMValueRef leave_glue(struct build *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f) {
        f = LLVMAddFunction(u->module, name, u->j->region_type);
        leave_set_convention(u->j, f);
        LLVMSetVisibility(f, LLVMHiddenVisibility);
    }
    return f;
}

static LLVMValueRef call_passing(struct build *u, LLVMValueRef code)
{
    LLVMValueRef arguments[GLUE_PASSED_COUNT];
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        arguments[i] = build_get(u, var_passed[i]);
    LLVMValueRef call = LLVMBuildCall2(u->at, u->j->region_type, code, arguments, GLUE_PASSED_COUNT, "");
    leave_set_call_convention(u->j, call);
    return call;
}

LLVMValueRef leave_call(struct build *u, LLVMValueRef code)
{
    LLVMValueRef call = call_passing(u, code);
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        build_set(u, var_passed[i], LLVMBuildExtractValue(u->at, call, i, ""));
    return LLVMBuildExtractValue(u->at, call, GLUE_PASSED_COUNT, "");
}

void leave_jump(struct build *u, LLVMValueRef code)
{
    LLVMValueRef call = call_passing(u, code);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    LLVMBuildRet(u->at, call);
}

void leave_go_on(struct build *u, LLVMValueRef pc, const struct region_block *b, uint32_t return_pc)
{
    static const var_set nothing;
    LLVMBasicBlockRef elsewhere = build_block(u);
    LLVMBasicBlockRef back = build_block(u);
    if (b->next >= 0) {
        build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntEQ, pc, build_constant(u, return_pc), ""), back,
                            elsewhere);
        LLVMPositionBuilderAtEnd(u->at, back);
        leave_load_for(u, (unsigned)b->next);
        LLVMBuildBr(u->at, u->block[b->next].start);
    } else {
        LLVMDeleteBasicBlock(back);
        LLVMBuildBr(u->at, elsewhere);
    }
    LLVMPositionBuilderAtEnd(u->at, elsewhere);
    leave_to(u, pc, &nothing);
}

LLVMValueRef leave_code_for(struct build *u, LLVMValueRef target, const char *otherwise)
{
    struct jit *j = u->j;
    LLVMValueRef table = build_global(u, "indirect_table", j->i64);
    LLVMValueRef index =
        LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, target, build_constant(u, 2), ""), j->i32, "");
    index = LLVMBuildAnd(u->at, index, LLVMConstInt(j->i32, INDIRECT_ENTRIES - 1, false), "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(u->at, j->i64, table, &index, 1, "");
    LLVMValueRef found = LLVMBuildLoad2(u->at, j->i64, at, "");
    LLVMValueRef pc = LLVMBuildAnd(u->at, found, build_constant(u, 0xffffffff), "");
    LLVMValueRef code = LLVMBuildIntToPtr(
        u->at, LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, found, build_constant(u, 32), ""), j->i32, ""),
        j->ptr, "");
    LLVMBuildStore(u->at, target, build_cpu_field(u, offsetof(cpu, cold_pc)));
    return LLVMBuildSelect(u->at, LLVMBuildICmp(u->at, LLVMIntEQ, pc, target, ""), code,
                           leave_glue(u, otherwise), "");
}

// ---- ways out that are seldom taken ----

enum { LEAVES, JUMPS, ROOTS }; // in u->ways_out

static void begin_ways_out(struct build *u)
{
    if (u->way_out_count)
        return;
    u->ways_out[LEAVES].block = u->leave;
    u->way_out_count = ROOTS;
}

static void begin_jumps(struct build *u)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->at);
    u->exit_cell = LLVMBuildAlloca(u->entry, u->j->ptr, "");
    u->ways_out[JUMPS].block = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, u->ways_out[JUMPS].block);
    exact_at(u, build_get(u, VAR_PC));
    LLVMValueRef cell = LLVMBuildLoad2(u->at, u->j->ptr, u->exit_cell, "");
    leave_jump(u, LLVMBuildLoad2(u->at, u->j->ptr, cell, ""));
    LLVMPositionBuilderAtEnd(u->at, here);
}

// The way that writes var and goes on as the parent does; the parent itself if there is no room for one more.
static unsigned way_out_with(struct build *u, unsigned parent, unsigned var)
{
    for (unsigned i = u->ways_out[parent].child; i; i = u->ways_out[i].sibling)
        if (u->ways_out[i].var == var)
            return i;
    if (u->way_out_count == WAYS_OUT_MAX)
        return parent;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->at), block = build_block(u);
    unsigned added = u->way_out_count++;
    u->ways_out[added] =
        (struct way_out){.block = block, .sibling = u->ways_out[parent].child, .var = (uint8_t)var};
    u->ways_out[parent].child = (uint16_t)added;
    LLVMPositionBuilderAtEnd(u->at, block);
    store_variable(u, var);
    LLVMBuildBr(u->at, u->ways_out[parent].block);
    LLVMPositionBuilderAtEnd(u->at, here);
    return added;
}

// Writes what is dirty and takes the root's way. Of the flags, which differ most from way to way, least is
// shared.
static void take_way_out(struct build *u, unsigned root, const var_set *dirty)
{
    unsigned way = root;
    var_set rest = {{0}};
    for (unsigned n = VAR_COUNT; n-- > 0;) {
        unsigned var = (n + VAR_FLAGS_A) % VAR_COUNT;
        if (!var_has(dirty, var) || !is_stored(u, var))
            continue;
        unsigned with = way_out_with(u, way, var);
        if (with == way)
            var_add(&rest, var);
        way = with;
    }
    leave_store(u, &rest);
    LLVMBuildBr(u->at, u->ways_out[way].block);
}

void leave_seldom_to(struct build *u, LLVMValueRef pc, const var_set *dirty)
{
    begin_ways_out(u);
    build_set(u, VAR_PC, pc);
    take_way_out(u, LEAVES, dirty);
}

void leave_seldom_by(struct build *u, LLVMValueRef cell, uint32_t pc, const var_set *dirty)
{
    begin_ways_out(u);
    build_set(u, VAR_PC, build_constant(u, pc));
    if (!u->exit_cell)
        begin_jumps(u);
    LLVMBuildStore(u->at, cell, u->exit_cell);
    take_way_out(u, JUMPS, dirty);
}

LLVMBasicBlockRef leave_edge(struct build *u, unsigned from, int to, LLVMBasicBlockRef target)
{
    const struct block_build *x = &u->block[to];
    var_set out = flow_leaving_dirty(u, from);
    var_remove(&out, &x->dirty);
    if (!x->flags_live)
        out = var_but_flags(&out);
    var_set in = late_absent_at_end(u, from);
    var_remove(&in, &x->absent);
    if (!out.bits[0] && !out.bits[1] && !in.bits[0] && !in.bits[1])
        return target;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->at);
    LLVMBasicBlockRef edge = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, edge);
    if (u->r->precise)
        out = flow_leaving_dirty(u, from);
    leave_store(u, &out);
    leave_load(u, &in);
    exact_at(u, build_constant(u, u->r->blocks[to].pc));
    LLVMBuildBr(u->at, target);
    LLVMPositionBuilderAtEnd(u->at, here);
    return edge;
}
