// SPDX-License-Identifier: MIT
#include "llvm_region.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/isa/cpu.h"
#include "llvm_copy.h"
#include "llvm_early.h"
#include "llvm_exact.h"
#include "llvm_flow.h"
#include "llvm_jit.h"
#include "llvm_late.h"
#include "llvm_leave.h"
#include "llvm_loops.h"
#include "llvm_near.h"

static const struct region_loop *loop_of_header(const struct region *r, unsigned block)
{
    for (unsigned i = 0; i < r->loop_count; i++)
        if (r->loops[i].blocks[0] == (int)block)
            return &r->loops[i];
    return NULL;
}

// Likewise, to where the block begins: going round a loop misses the guard in front of it, unless it polls.
static LLVMBasicBlockRef edge_to(struct build *u, unsigned from, int to)
{
    const struct region_loop *loop = loop_of_header(u->r, (unsigned)to);
    bool round = loop && !loop->polls && loop->blocks[loop->count - 1] == (int)from;
    return leave_edge(u, from, to, round ? u->block[to].back : u->block[to].start);
}
static void add_terminator(struct build *u, unsigned index)
{
    struct jit *j = u->j;
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    var_set dirty = flow_dirty_at_end(u, index);
    LLVMPositionBuilderAtEnd(u->at, x->end);
    switch ((enum region_end)b->end) {
    case END_NEXT: LLVMBuildBr(u->at, edge_to(u, index, b->next)); break;
    case END_BRANCH:
        build_branch_as_seen(u, x->result, edge_to(u, index, b->taken), edge_to(u, index, b->next), b->seen);
        break;
    case END_CALL: {
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, CALL_SYMBOL, b->target_pc);
        if (b->flags_dead && !u->r->precise)
            dirty = var_but_flags(&dirty);
        leave_store(u, &dirty);
        exact_at(u, build_constant(u, b->target_pc));
        LLVMValueRef code = LLVMBuildLoad2(u->at, j->ptr, build_global(u, name, j->i32), "");
        leave_go_on(u, leave_call(u, code), b, u->r->ops[b->first + b->count - 1].pc + 4);
        break;
    }
    case END_CALL_INDIRECT:
        leave_store(u, &dirty);
        exact_at(u, x->result);
        leave_go_on(u, leave_call(u, leave_code_for(u, x->result, GLUE_FIND(call))), b, b->target_pc);
        break;
    case END_INDIRECT:
        if (u->r->ops[b->first + b->count - 1].insn == INSN_ret) {
            leave_to(u, x->result, &dirty);
        } else {
            leave_store(u, &dirty);
            exact_at(u, x->result);
            leave_jump(u, leave_code_for(u, x->result, GLUE_FIND(jump)));
        }
        break;
    case END_RETURN: {
        LLVMBasicBlockRef elsewhere = build_block(u);
        LLVMValueRef expected =
            LLVMBuildICmp(u->at, LLVMIntEQ, x->result, build_constant(u, b->target_pc), "");
        build_branch_mostly(u, expected, edge_to(u, index, b->next), elsewhere);
        LLVMPositionBuilderAtEnd(u->at, elsewhere);
        leave_seldom_to(u, x->result, &dirty);
        break;
    }
    case END_STEP:
    case END_SVC: {
        const char *way = b->end == END_SVC ? GLUE_WAY_BACK(svc) : GLUE_WAY_BACK(step);
        leave_store(u, &dirty);
        exact_at(u, build_constant(u, b->target_pc));
        LLVMBuildStore(u->at, build_constant(u, b->target_pc), build_cpu_field(u, offsetof(cpu, cold_pc)));
        leave_go_on(u, leave_call(u, leave_glue(u, way)), b, b->target_pc + 4);
        break;
    }
    case END_STOP: leave_to(u, build_constant(u, b->target_pc), &dirty); break;
    case END_EXIT: {
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, EXIT_SYMBOL, b->target_pc);
        leave_seldom_by(u, build_global(u, name, j->i32), b->target_pc, &dirty);
        break;
    }
    }
}

// ---- a whole region ----

// The budget once the host has been asked for more. A call that LLVM knows nothing of: so nothing has to be
// out of the way for it, and a function without others needs no frame. The red zone is stepped over.
static LLVMValueRef ask_for_more(struct build *u, LLVMValueRef left)
{
    static const char code[] = "leaq -128(%rsp), %rsp\n\tcallq " GLUE_MORE "\n\tleaq 128(%rsp), %rsp",
                      constraints[] = "={rax},{rax},~{dirflag},~{fpsr},~{flags}";
    LLVMTypeRef type = LLVMFunctionType(u->j->i64, &u->j->i64, 1, false);
    LLVMValueRef ask = LLVMGetInlineAsm(type, code, sizeof code - 1, constraints, sizeof constraints - 1,
                                        true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(u->at, type, ask, &left, 1, "");
}

// What happens where guest code is entered or loops: leaves if fewer instructions are left than the block
// has, and the host grants no more. (One that has none is stepped by the interpreter.) In precise code the
// budget belongs to the last place where the state was exact: it leaves. So does the game's, whose accesses
// are not checked: at the end of a slice its devices are looked at.
static void check_budget(struct build *u, unsigned index)
{
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    LLVMBasicBlockRef enough = build_block(u);
    LLVMBasicBlockRef spent = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, x->again);
    LLVMValueRef left = build_get(u, VAR_BUDGET), length = build_constant(u, b->count ? b->count : 1);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntSGE, left, length, ""), enough, spent);
    LLVMPositionBuilderAtEnd(u->at, spent);
    if (u->r->checked && !u->r->precise) {
        left = ask_for_more(u, left);
        build_set(u, VAR_BUDGET, left);
        LLVMBasicBlockRef refused = build_block(u);
        LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntSGE, left, length, ""), enough, refused);
        LLVMPositionBuilderAtEnd(u->at, refused);
    }
    var_set dirty = x->flags_live ? x->dirty : var_but_flags(&x->dirty);
    leave_seldom_to(u, build_constant(u, b->pc), &dirty);
    LLVMPositionBuilderAtEnd(u->at, enough);
}

static bool makes_calls(const struct region *r)
{
    for (unsigned i = 0; i < r->block_count; i++)
        if (r->blocks[i].end == END_CALL || r->blocks[i].end == END_CALL_INDIRECT)
            return true;
    return false;
}

// At an entry of a region that calls: leaves when the host's stack is nearly used up.
static void check_stack(struct build *u, uint32_t pc)
{
    static const var_set nothing;
    struct jit *j = u->j;
    unsigned id = LLVMLookupIntrinsicID("llvm.read_register", strlen("llvm.read_register"));
    LLVMTypeRef type = LLVMIntrinsicGetType(j->context, id, &j->i64, 1);
    LLVMValueRef read = LLVMGetIntrinsicDeclaration(u->module, id, &j->i64, 1);
    LLVMMetadataRef name = LLVMMDStringInContext2(j->context, "rsp", 3);
    LLVMValueRef rsp = LLVMMetadataAsValue(j->context, LLVMMDNodeInContext2(j->context, &name, 1));
    LLVMValueRef stack = LLVMBuildCall2(u->at, type, read, &rsp, 1, "");
    LLVMValueRef limit = LLVMBuildLoad2(u->at, j->i64, build_cpu_field(u, offsetof(cpu, stack_limit)), "");
    LLVMBasicBlockRef deep = build_block(u);
    LLVMBasicBlockRef fine = build_block(u);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntUGE, stack, limit, ""), fine, deep);
    LLVMPositionBuilderAtEnd(u->at, deep);
    leave_to(u, build_constant(u, pc), &nothing);
    LLVMPositionBuilderAtEnd(u->at, fine);
}

static void add_leave_block(struct build *u)
{
    LLVMPositionBuilderAtEnd(u->at, u->leave);
    exact_at(u, build_get(u, VAR_PC));
    LLVMValueRef result = LLVMGetUndef(u->j->passed_type);
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        result = LLVMBuildInsertValue(u->at, result, build_get(u, var_passed[i]), i, "");
    LLVMBuildRet(u->at, LLVMBuildInsertValue(u->at, result, build_get(u, VAR_PC), GLUE_PASSED_COUNT, ""));
}

static void copy_blocks(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++) {
        struct block_build *x = &u->block[i];
        x->start = x->again = x->back = build_block(u);
    }
    for (unsigned i = 0; i < r->loop_count; i++)
        llvm_loop_place(u, &r->loops[i]);
    uint16_t order[REGION_BLOCKS_MAX];
    near_order(u, order);
    for (unsigned n = 0; n < r->block_count && !u->failed; n++) {
        unsigned i = order[n];
        const struct region_block *b = &r->blocks[i];
        LLVMBasicBlockRef body = u->block[i].body = build_block(u);
        u->newer = (var_set){0};
        LLVMPositionBuilderAtEnd(u->at, body);
        if (b->count) {
            LLVMValueRef left = build_get(u, VAR_BUDGET);
            LLVMSetCurrentDebugLocation2(u->at, build_location(u, i, b->pc, COLUMN_BLOCK));
            left = LLVMBuildSub(u->at, left, build_constant(u, b->count), "");
            LLVMSetCurrentDebugLocation2(u->at, NULL);
            build_set(u, VAR_BUDGET, left);
        }
        u->block_index = i;
        near_begin_block(u, i);
        exact_begin_block(u);
        for (unsigned k = 0; k < b->count && !u->failed; k++) {
            const struct region_op *o = &r->ops[b->first + k];
            u->ops_left = b->count - k;
            exact_before(u, o);
            u->block[i].result = copy_template(u, o);
            early_note(u);
            exact_after(u, o);
        }
        u->block[i].end = LLVMGetInsertBlock(u->at);
        u->block[i].newer = u->newer;
        near_end_block(u, i);
    }
}

// The interpreter goes on at the instruction, which has not been retired.
static void add_side_exits(struct build *u)
{
    for (unsigned i = 0; i < u->exit_count; i++) {
        const struct place *place = &u->exits[i].place;
        const var_set dirty = flow_dirty_at(u, place);
        LLVMPositionBuilderAtEnd(u->at, u->exits[i].block);
        build_set(u, VAR_BUDGET,
                  LLVMBuildAdd(u->at, build_get(u, VAR_BUDGET), build_constant(u, place->left), ""));
        leave_seldom_to(u, build_constant(u, place->pc), &dirty);
    }
}

// What every entry but the first has to look at: that one's block does so itself.
static void check_entry_budget(struct build *u, unsigned index)
{
    static const var_set nothing;
    const struct region_block *b = &u->r->blocks[index];
    if (!b->count || b->loop_header)
        return;
    LLVMBasicBlockRef enough = build_block(u);
    LLVMBasicBlockRef spent = build_block(u);
    LLVMValueRef left = build_get(u, VAR_BUDGET), length = build_constant(u, b->count);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntSGE, left, length, ""), enough, spent);
    LLVMPositionBuilderAtEnd(u->at, spent);
    leave_to(u, build_constant(u, b->pc), &nothing);
    LLVMPositionBuilderAtEnd(u->at, enough);
}

static LLVMBasicBlockRef add_entry(struct build *u, unsigned index)
{
    LLVMBasicBlockRef begin = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, begin);
    if (makes_calls(u->r))
        check_stack(u, u->r->entries[index]);
    leave_load_for(u, index);
    if (index)
        check_entry_budget(u, index);
    LLVMBuildBr(u->at, u->block[index].start);
    return begin;
}

// A function for an entry of a region that has several: passes which one it is behind the passed registers.
// (What calls it passes nothing there.)
static void add_way_in(struct build *u, LLVMTypeRef type, unsigned index)
{
    char name[JIT_SYMBOL_MAX];
    LLVMValueRef arguments[GLUE_PASSED_COUNT + 1];
    snprintf(name, sizeof name, REGION_SYMBOL, u->r->entries[index]);
    LLVMValueRef f = LLVMAddFunction(u->module, name, type);
    leave_set_convention(u->j, f);
    LLVMPositionBuilderAtEnd(u->at, LLVMAppendBasicBlockInContext(u->j->context, f, ""));
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        arguments[i] = LLVMGetParam(f, i);
    arguments[GLUE_PASSED_COUNT] = build_constant(u, index);
    LLVMValueRef call = LLVMBuildCall2(u->at, type, u->function, arguments, GLUE_PASSED_COUNT + 1, "");
    leave_set_call_convention(u->j, call);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    LLVMBuildRet(u->at, call);
}

// From the function's begin to the blocks where the region is entered.
static void add_entries(struct build *u, LLVMTypeRef type)
{
    const struct region *r = u->r;
    LLVMBasicBlockRef begin[REGION_ENTRIES_MAX];
    begin[0] = add_entry(u, 0);
    for (unsigned i = 1; i < r->entry_count; i++)
        begin[i] = add_entry(u, i);
    if (r->entry_count == 1) {
        LLVMBuildBr(u->entry, begin[0]);
        return;
    }
    LLVMValueRef which = LLVMGetParam(u->function, GLUE_PASSED_COUNT);
    LLVMValueRef choice = LLVMBuildSwitch(u->entry, which, begin[0], r->entry_count - 1);
    for (unsigned i = 1; i < r->entry_count; i++)
        LLVMAddCase(choice, build_constant(u, i), begin[i]);
    for (unsigned i = 0; i < r->entry_count; i++)
        add_way_in(u, type, i);
}

void llvm_region_build(struct build *u)
{
    struct jit *j = u->j;
    const struct region *r = u->r;
    char name[JIT_SYMBOL_MAX];
    LLVMTypeRef function_type = r->entry_count == 1 ? j->region_type : j->several_type;
    snprintf(name, sizeof name, REGION_SYMBOL, r->entries[0]);
    // Comes first in the object: the line table counts from its start.
    u->function = LLVMAddFunction(u->module, r->entry_count == 1 ? name : "body", function_type);
    if (r->entry_count > 1)
        LLVMSetLinkage(u->function, LLVMInternalLinkage);
    leave_set_convention(j, u->function);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(u->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->context, nounwind, 0));
    u->guest_cpu = build_global(u, "guest_cpu", j->i8);

    LLVMDIBuilderRef debug = LLVMCreateDIBuilder(u->module);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(debug, "guest", 5, ".", 1);
    LLVMDIBuilderCreateCompileUnit(debug, LLVMDWARFSourceLanguageC, file, "", 0, true, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(debug, file, NULL, 0, LLVMDIFlagZero);
    u->scope = LLVMDIBuilderCreateFunction(debug, file, name, strlen(name), name, strlen(name), file, 1, type,
                                           false, true, 1, LLVMDIFlagZero, true);
    LLVMSetSubprogram(u->function, u->scope);

    LLVMBasicBlockRef entry = build_block(u);
    u->leave = build_block(u);
    LLVMPositionBuilderAtEnd(u->entry, entry);
    for (unsigned i = 0; i < GLUE_PASSED_COUNT; i++)
        LLVMBuildStore(u->entry, LLVMGetParam(u->function, i), build_var(u, var_passed[i]));
    copy_blocks(u);
    if (!u->failed) {
        early_add_stores(u);
        flow_find_dirty(u);
        flow_find_live_flags(u);
        late_add_loads(u);
        for (unsigned i = 0; i < r->block_count; i++) {
            add_terminator(u, i);
            if ((i == 0 && r->blocks[i].count) || r->blocks[i].loop_header)
                check_budget(u, i);
            else
                LLVMPositionBuilderAtEnd(u->at, u->block[i].again);
            LLVMBuildBr(u->at, u->block[i].body);
        }
        for (unsigned i = 0; i < r->loop_count && !u->failed; i++)
            llvm_loop_add(u, &r->loops[i]);
        add_side_exits(u);
        exact_complete(u);
        add_leave_block(u);
        add_entries(u, function_type);
    }
    LLVMDIBuilderFinalize(debug);
    LLVMDisposeDIBuilder(debug);
}
