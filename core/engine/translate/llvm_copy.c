// SPDX-License-Identifier: MIT
#include "llvm_copy.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "core/isa/cpu.h"
#include "core/loops/expr/summary.h"
#include "llvm_late.h"
#include "llvm_near.h"

static unsigned key_slot(const struct build *u, LLVMValueRef v)
{
    unsigned slot = (unsigned)((uintptr_t)v >> 4) * 2654435761u >> 7;
    for (slot %= TEMPLATE_VALUES_MAX;; slot = (slot + 1) % TEMPLATE_VALUES_MAX)
        if (u->key_generation[slot] != u->generation || u->key[slot] == v)
            return slot;
}

static void map_to(struct build *u, LLVMValueRef from, struct mapped to)
{
    unsigned slot = key_slot(u, from);
    u->key[slot] = from;
    u->key_generation[slot] = u->generation;
    u->mapped[slot] = to;
}

static void map_value(struct build *u, LLVMValueRef from, LLVMValueRef to)
{
    map_to(u, from, (struct mapped){.value = to});
}

static struct mapped map_of(struct build *u, LLVMValueRef v)
{
    if (LLVMIsAGlobalVariable(v)) { // a constant table, which the glue holds
        size_t length;
        return (struct mapped){.value =
                                   build_global(u, LLVMGetValueName2(v, &length), LLVMGlobalGetValueType(v))};
    }
    if (LLVMIsAConstant(v))
        return (struct mapped){.value = v};
    unsigned slot = key_slot(u, v);
    if (u->key_generation[slot] != u->generation) {
        u->failed = true;
        return (struct mapped){.value = LLVMGetUndef(LLVMTypeOf(v))};
    }
    return u->mapped[slot];
}

static LLVMValueRef value_of(struct build *u, LLVMValueRef v)
{
    struct mapped m = map_of(u, v);
    if (m.base != BASE_NONE) {
        u->failed = true;
        return LLVMGetUndef(LLVMTypeOf(v));
    }
    return m.value;
}

static void copy_address(struct build *u, LLVMValueRef i)
{
    struct mapped m = map_of(u, LLVMGetOperand(i, 0));
    LLVMTypeRef type = LLVMGetGEPSourceElementType(i);
    int operands = LLVMGetNumOperands(i);
    for (int k = 1; k < operands; k++) {
        LLVMValueRef index = value_of(u, LLVMGetOperand(i, (unsigned)k));
        if (!LLVMIsAConstantInt(index) || (k > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind)) {
            u->failed = true;
            return;
        }
        if (k > 1)
            type = LLVMGetElementType(type);
        m.offset +=
            (uint32_t)LLVMConstIntGetSExtValue(index) * (uint32_t)LLVMABISizeOfType(u->j->layout, type);
    }
    map_to(u, i, m);
}

// The bytes of the op at offset as a constant.
static void copy_op_load(struct build *u, LLVMValueRef i, const op *o, uint32_t offset)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    uint64_t value = 0, size = LLVMABISizeOfType(u->j->layout, type);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || offset + size > sizeof *o) {
        u->failed = true;
        return;
    }
    memcpy(&value, (const char *)o + offset, size);
    map_value(u, i, LLVMConstInt(type, value, false));
}

// The address of a part of a variable; NULL for the zero register and the sink, which have none.
static LLVMValueRef part_of_variable(struct build *u, uint32_t offset, LLVMTypeRef type, bool is_store)
{
    uint32_t zero = (uint32_t)(offsetof(cpu, x) + 8 * REG_ZERO);
    if (offset - zero < 16)
        return NULL;
    unsigned var = var_at(offset);
    uint32_t within = var < VAR_COUNT ? offset - var_offset(var) : 0;
    if (var == VAR_COUNT || within + LLVMStoreSizeOfType(u->j->layout, type) > var_size(var)) {
        u->failed = true;
        return NULL;
    }
    var_add(&u->used, var);
    late_note(u, var, is_store && LLVMStoreSizeOfType(u->j->layout, type) == var_size(var));
    if (is_store) {
        var_add(&u->newer, var);
        var_add(&u->written, var);
    }
    LLVMValueRef address = build_var(u, var), index = LLVMConstInt(u->j->i32, within, false);
    return within ? LLVMBuildInBoundsGEP2(u->at, u->j->i8, address, &index, 1, "") : address;
}

static LLVMValueRef copy_plainly(struct build *u, LLVMValueRef i)
{
    LLVMValueRef copy = LLVMInstructionClone(i);
    int operands = LLVMGetNumOperands(i);
    for (int k = 0; k < operands; k++)
        LLVMSetOperand(copy, (unsigned)k, value_of(u, LLVMGetOperand(i, (unsigned)k)));
    LLVMInsertIntoBuilder(u->at, copy);
    map_value(u, i, copy);
    return copy;
}

// Nothing in the code, but unlike every other: accesses of different instructions are not merged.
static void mark(struct build *u, uint32_t pc)
{
    LLVMTypeRef function = LLVMFunctionType(LLVMVoidTypeInContext(u->j->context), &u->j->i64, 1, false);
    LLVMValueRef number = build_constant(u, pc);
    LLVMValueRef nothing =
        LLVMGetInlineAsm(function, "", 0, "i", 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(u->at, function, nothing, &number, 1, "");
}

// An access to guest memory, which keeps its place in program order; or what was loaded for it before the
// loop.
static void copy_access(struct build *u, LLVMValueRef i, const struct region_op *o)
{
    if (u->in_fast_loop && u->next_access < SUMMARY_ACCESSES) {
        const struct hoisted *h = &u->hoisted[u->next_access++];
        if (h->chosen && h->pc == o->pc && LLVMIsALoadInst(i) && LLVMTypeOf(i) == LLVMTypeOf(h->value)) {
            map_value(u, i, h->value);
            return;
        }
    }
    LLVMValueRef copy = copy_plainly(u, i);
    near_note_access(u, LLVMGetOperand(copy, LLVMIsALoadInst(copy) ? 0 : 1));
    // Apart, so that the access is no part of another instruction of the host's, which would also store, and
    // stands for no other of the guest's.
    if (LLVMIsALoadInst(i) && isa_info[o->insn].writes & MEMORY)
        map_value(u, i, build_in_register(u, copy));
}

// What follows in the definition is never reached.
static void add_side_exit(struct build *u, uint32_t pc)
{
    if (u->in_fast_loop || u->exit_count == REGION_OPS_MAX) {
        u->failed = true;
        return;
    }
    u->exits[u->exit_count++] = (struct side_exit){
        LLVMGetInsertBlock(u->at),
        {(uint16_t)u->block_index, (uint16_t)u->ops_left, pc, u->block[u->block_index].synchronized,
         u->newer},
    };
    LLVMPositionBuilderAtEnd(u->at, build_block(u));
}

// Whether the access that comes next has been done before the loop, whose guard has looked at its address.
static bool is_hoisted(const struct build *u, const struct region_op *o)
{
    const struct hoisted *h = &u->hoisted[u->next_access];
    return u->in_fast_loop && u->next_access < SUMMARY_ACCESSES && h->chosen && h->pc == o->pc;
}

static void copy_is_wild(struct build *u, LLVMValueRef i, const struct region_op *o)
{
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef address = value_of(u, LLVMGetOperand(i, 0));
    if (!u->r->checked || is_hoisted(u, o) || near_covers(u, address)) {
        map_value(u, i, LLVMConstNull(type));
        return;
    }
    LLVMValueRef beyond = LLVMBuildAnd(u->at, address, build_constant(u, WILD_BITS), "");
    LLVMValueRef is_wild = LLVMBuildICmp(u->at, LLVMIntNE, beyond, build_constant(u, 0), "");
    near_note_check(u, is_wild);
    map_value(u, i, is_wild);
}

// An access that faults, as nothing is mapped there, once the address is noted. The instruction's mark comes
// last, so that such ends of different instructions are not merged.
static void copy_raise_wild(struct build *u, LLVMValueRef i, const struct region_op *o)
{
    LLVMValueRef noted = build_cpu_field(u, offsetof(cpu, wild_address));
    LLVMSetVolatile(LLVMBuildStore(u->at, value_of(u, LLVMGetOperand(i, 0)), noted), true);
    LLVMValueRef nowhere = LLVMConstNull(LLVMPointerTypeInContext(u->j->context, ADDRESS_SPACE_GUEST));
    bool is_store = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));
    LLVMSetVolatile(is_store ? LLVMBuildStore(u->at, LLVMConstNull(u->j->i8), nowhere)
                             : LLVMBuildLoad2(u->at, u->j->i8, nowhere, ""),
                    true);
    mark(u, o->pc);
}

static void copy_is_shared(struct build *u, LLVMValueRef i)
{
    LLVMValueRef shares =
        LLVMBuildLoad2(u->at, u->j->i8, build_cpu_field(u, offsetof(cpu, shares_memory)), "");
    map_value(u, i, LLVMBuildICmp(u->at, LLVMIntNE, shares, LLVMConstNull(u->j->i8), ""));
}

static void copy_call(struct build *u, LLVMValueRef i, const struct region_op *o)
{
    if (template_calls(i, "interpret_instead")) {
        add_side_exit(u, o->pc);
        return;
    }
    if (template_calls(i, "is_shared")) {
        copy_is_shared(u, i);
        return;
    }
    if (template_calls(i, "is_wild")) {
        copy_is_wild(u, i, o);
        return;
    }
    if (template_calls(i, "raise_wild")) {
        copy_raise_wild(u, i, o);
        return;
    }
    LLVMValueRef callee = LLVMGetCalledValue(i), copy = LLVMInstructionClone(i);
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    LLVMValueRef here = LLVMGetNamedFunction(u->module, name);
    if (!here) {
        here = LLVMAddFunction(u->module, name, LLVMGlobalGetValueType(callee));
        LLVMSetFunctionCallConv(here, LLVMGetFunctionCallConv(callee));
    }
    unsigned arguments = LLVMGetNumArgOperands(i);
    for (unsigned a = 0; a < arguments; a++)
        LLVMSetOperand(copy, a, value_of(u, LLVMGetOperand(i, a)));
    LLVMSetOperand(copy, arguments, here);
    LLVMInsertIntoBuilder(u->at, copy);
    map_value(u, i, copy);
}

// Copies an instruction that is neither phi nor terminator; constants fold on the way.
static void copy_instruction(struct build *u, LLVMValueRef i, const struct region_op *o)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    switch (opcode) {
    case LLVMGetElementPtr:
        if (map_of(u, LLVMGetOperand(i, 0)).base != BASE_NONE)
            copy_address(u, i);
        else
            copy_plainly(u, i);
        return;
    case LLVMLoad: {
        struct mapped m = map_of(u, LLVMGetOperand(i, 0));
        if (m.base == BASE_OP) {
            copy_op_load(u, i, &o->op, m.offset);
        } else if (m.base == BASE_CPU) {
            LLVMValueRef part = part_of_variable(u, m.offset, LLVMTypeOf(i), false);
            LLVMValueRef value =
                part ? LLVMBuildLoad2(u->at, LLVMTypeOf(i), part, "") : LLVMConstNull(LLVMTypeOf(i));
            if (part)
                near_note_load(u, m.offset, value);
            map_value(u, i, value);
        } else {
            copy_access(u, i, o);
        }
        return;
    }
    case LLVMStore: {
        struct mapped m = map_of(u, LLVMGetOperand(i, 1));
        if (m.base == BASE_NONE) {
            copy_access(u, i, o);
        } else {
            LLVMValueRef value = value_of(u, LLVMGetOperand(i, 0));
            LLVMValueRef part = m.base == BASE_CPU ? part_of_variable(u, m.offset, LLVMTypeOf(value), true)
                                                   : (u->failed = true, NULL);
            if (part) {
                near_note_store(u, m.offset, value);
                LLVMBuildStore(u->at, value, part);
            }
        }
        return;
    }
    case LLVMCall: copy_call(u, i, o); return;
    case LLVMAlloca: {
        LLVMValueRef local = LLVMBuildAlloca(u->entry, LLVMGetAllocatedType(i), "");
        LLVMSetAlignment(local, LLVMGetAlignment(i));
        map_value(u, i, local);
        return;
    }
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        map_value(u, i,
                  LLVMBuildBinOp(u->at, opcode, value_of(u, LLVMGetOperand(i, 0)),
                                 value_of(u, LLVMGetOperand(i, 1)), ""));
        return;
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
        map_value(u, i, LLVMBuildCast(u->at, opcode, value_of(u, LLVMGetOperand(i, 0)), LLVMTypeOf(i), ""));
        return;
    case LLVMICmp:
        map_value(u, i,
                  LLVMBuildICmp(u->at, LLVMGetICmpPredicate(i), value_of(u, LLVMGetOperand(i, 0)),
                                value_of(u, LLVMGetOperand(i, 1)), ""));
        return;
    case LLVMSelect: {
        LLVMValueRef condition = value_of(u, LLVMGetOperand(i, 0));
        if (LLVMIsAConstantInt(condition))
            map_to(u, i, map_of(u, LLVMGetOperand(i, LLVMConstIntGetZExtValue(condition) ? 1 : 2)));
        else
            copy_plainly(u, i);
        return;
    }
    case LLVMFreeze: {
        LLVMValueRef value = value_of(u, LLVMGetOperand(i, 0));
        if (LLVMIsAConstantInt(value))
            map_value(u, i, value);
        else
            copy_plainly(u, i);
        return;
    }
    default: copy_plainly(u, i); return;
    }
}

// The copy of one template with several blocks: which are reached, by which edges.
struct copy {
    struct template *t;
    LLVMBasicBlockRef block[TEMPLATE_BLOCKS_MAX];
    bool reached[TEMPLATE_BLOCKS_MAX];
    struct {
        uint16_t from, to;
    } edge[TEMPLATE_BLOCKS_MAX * 4];
    unsigned edge_count;
    LLVMValueRef loop_phi[32]; // of the template, to be completed at the end
    unsigned loop_phi_count;
    LLVMValueRef returned[16];
    LLVMBasicBlockRef returned_from[16];
    unsigned return_count;
};

static unsigned order_of(const struct template *t, LLVMBasicBlockRef block)
{
    unsigned k = 0;
    while (k < t->block_count && t->order[k] != block)
        k++;
    return k;
}

static LLVMBasicBlockRef copy_edge(struct build *u, struct copy *c, unsigned from, LLVMBasicBlockRef to)
{
    unsigned k = order_of(c->t, to);
    if (!c->block[k])
        c->block[k] = build_block(u);
    c->reached[k] = true;
    if (c->edge_count < TEMPLATE_BLOCKS_MAX * 4) {
        c->edge[c->edge_count].from = (uint16_t)from;
        c->edge[c->edge_count++].to = (uint16_t)k;
    } else {
        u->failed = true;
    }
    return c->block[k];
}

static bool has_edge(const struct copy *c, unsigned from, unsigned to)
{
    for (unsigned e = 0; e < c->edge_count; e++)
        if (c->edge[e].from == from && c->edge[e].to == to)
            return true;
    return false;
}

static void add_incoming(struct build *u, struct copy *c, LLVMValueRef from_phi, LLVMValueRef phi,
                         unsigned to)
{
    unsigned n = LLVMCountIncoming(from_phi);
    for (unsigned k = 0; k < n; k++) {
        unsigned from = order_of(c->t, LLVMGetIncomingBlock(from_phi, k));
        if (has_edge(c, from, to)) {
            LLVMValueRef value = value_of(u, LLVMGetIncomingValue(from_phi, k));
            LLVMAddIncoming(phi, &value, &c->block[from], 1);
        }
    }
}

// What arrives by the edges that there are; if that is one value, as an operand of o loaded twice, it is
// that.
static void copy_phi(struct build *u, struct copy *c, LLVMValueRef i, unsigned to)
{
    unsigned n = LLVMCountIncoming(i);
    struct mapped first = {0};
    bool is_loop = false, is_one = true, any = false;
    for (unsigned k = 0; k < n; k++)
        is_loop |= order_of(c->t, LLVMGetIncomingBlock(i, k)) >= to;
    for (unsigned k = 0; k < n && !is_loop; k++) {
        if (!has_edge(c, order_of(c->t, LLVMGetIncomingBlock(i, k)), to))
            continue;
        struct mapped m = map_of(u, LLVMGetIncomingValue(i, k));
        is_one &= !any || (m.value == first.value && m.base == first.base && m.offset == first.offset);
        first = any ? first : m;
        any = true;
    }
    if (!is_loop && is_one) {
        map_to(u, i, first);
        return;
    }
    LLVMValueRef phi = LLVMBuildPhi(u->at, LLVMTypeOf(i), "");
    map_value(u, i, phi);
    if (!is_loop)
        add_incoming(u, c, i, phi, to);
    else if (c->loop_phi_count < 32)
        c->loop_phi[c->loop_phi_count++] = i;
    else
        u->failed = true;
}

static void copy_terminator(struct build *u, struct copy *c, LLVMValueRef i, unsigned from)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMRet:
        if (c->return_count == 16) {
            u->failed = true;
            return;
        }
        c->returned[c->return_count] = LLVMGetNumOperands(i) ? value_of(u, LLVMGetOperand(i, 0)) : NULL;
        c->returned_from[c->return_count++] = LLVMGetInsertBlock(u->at);
        return;
    case LLVMBr: {
        if (!LLVMIsConditional(i)) {
            LLVMBuildBr(u->at, copy_edge(u, c, from, LLVMGetSuccessor(i, 0)));
            return;
        }
        LLVMValueRef condition = value_of(u, LLVMGetCondition(i));
        if (LLVMIsAConstantInt(condition)) {
            bool yes = LLVMConstIntGetZExtValue(condition);
            LLVMBuildBr(u->at, copy_edge(u, c, from, LLVMGetSuccessor(i, yes ? 0 : 1)));
        } else {
            near_note_branch(u, condition);
            LLVMBasicBlockRef yes = copy_edge(u, c, from, LLVMGetSuccessor(i, 0));
            LLVMBasicBlockRef no = copy_edge(u, c, from, LLVMGetSuccessor(i, 1));
            unsigned weights = LLVMGetMDKindIDInContext(u->j->context, "prof", 4);
            LLVMSetMetadata(LLVMBuildCondBr(u->at, condition, yes, no), weights, LLVMGetMetadata(i, weights));
        }
        return;
    }
    case LLVMSwitch: {
        LLVMValueRef value = value_of(u, LLVMGetOperand(i, 0));
        unsigned cases = LLVMGetNumSuccessors(i); // the default is successor 0
        if (LLVMIsAConstantInt(value)) {
            LLVMBasicBlockRef to = LLVMGetSwitchDefaultDest(i);
            for (unsigned k = 1; k < cases; k++)
                if (LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2 * k)) == LLVMConstIntGetZExtValue(value))
                    to = LLVMGetSuccessor(i, k);
            LLVMBuildBr(u->at, copy_edge(u, c, from, to));
            return;
        }
        near_note_branch(u, NULL);
        LLVMValueRef copy =
            LLVMBuildSwitch(u->at, value, copy_edge(u, c, from, LLVMGetSwitchDefaultDest(i)), cases - 1);
        for (unsigned k = 1; k < cases; k++)
            LLVMAddCase(copy, LLVMGetOperand(i, 2 * k), copy_edge(u, c, from, LLVMGetSuccessor(i, k)));
        return;
    }
    case LLVMUnreachable: LLVMBuildUnreachable(u->at); return;
    default: u->failed = true; return;
    }
}

LLVMValueRef copy_template(struct build *u, const struct region_op *o)
{
    struct template *t = template_of(u->j, o->insn);
    struct copy c;
    c.t = t;
    memset(c.block, 0, t->block_count * sizeof c.block[0]);
    memset(c.reached, 0, t->block_count * sizeof c.reached[0]);
    c.edge_count = c.loop_phi_count = c.return_count = 0;
    // An access may end in the host's instruction for what follows it in the definition.
    LLVMMetadataRef location = NULL;
    if ((isa_info[o->insn].reads | isa_info[o->insn].writes) & MEMORY)
        location = build_location(u, u->block_index, o->pc, COLUMN_ACCESS);
    LLVMSetCurrentDebugLocation2(u->at, location);
    near_begin_op(u);
    u->generation++;
    map_to(u, LLVMGetParam(t->function, 0), (struct mapped){.base = BASE_CPU});
    map_to(u, LLVMGetParam(t->function, 1), (struct mapped){.base = BASE_OP});
    c.block[0] = LLVMGetInsertBlock(u->at);
    c.reached[0] = true;
    for (unsigned k = 0; k < t->block_count && !u->failed; k++) {
        if (!c.reached[k])
            continue;
        LLVMPositionBuilderAtEnd(u->at, c.block[k]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->order[k]); i && !u->failed;
             i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAPHINode(i))
                copy_phi(u, &c, i, k);
            else if (LLVMIsATerminatorInst(i))
                copy_terminator(u, &c, i, k);
            else
                copy_instruction(u, i, o);
        }
    }
    for (unsigned k = 0; k < c.loop_phi_count && !u->failed; k++) {
        LLVMValueRef phi = map_of(u, c.loop_phi[k]).value;
        add_incoming(u, &c, c.loop_phi[k], phi, order_of(t, LLVMGetInstructionParent(c.loop_phi[k])));
    }
    u->failed |= c.return_count == 0;
    if (u->failed) {
        t->usable = false;
        return NULL;
    }
    LLVMSetCurrentDebugLocation2(u->at, NULL);
    LLVMPositionBuilderAtEnd(u->at, c.returned_from[0]);
    if (c.return_count == 1)
        return c.returned[0];
    LLVMBasicBlockRef join = build_block(u);
    for (unsigned k = 0; k < c.return_count; k++) {
        LLVMPositionBuilderAtEnd(u->at, c.returned_from[k]);
        LLVMBuildBr(u->at, join);
    }
    LLVMPositionBuilderAtEnd(u->at, join);
    if (!c.returned[0])
        return NULL;
    LLVMValueRef phi = LLVMBuildPhi(u->at, LLVMTypeOf(c.returned[0]), "");
    LLVMAddIncoming(phi, c.returned, c.returned_from, c.return_count);
    return phi;
}
