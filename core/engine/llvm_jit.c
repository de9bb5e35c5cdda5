// SPDX-License-Identifier: MIT
// Builds a region's IR by copying the instruction definitions (bitcode.c) with their operands filled in, then
// runs LLVM's passes over it. The only file that includes llvm-c.
//
// Each part of the guest's state that a region uses is a local variable of it, which LLVM turns into SSA
// values. The registers of struct passed come and go in host registers; the rest is read from guest_cpu at
// the entry and after calls, and written to it, where it may have changed, before calls and exits.
#include "llvm_jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../isa/cpu.h"

extern const unsigned char translate_bitcode[], translate_bitcode_end[];

enum {
    REGCALL = 92, // llvm::CallingConv::X86_RegCall
    PASSED = 10, // parameters of a region; its result has the next pc behind them
    MAX_TEMPLATE_VALUES = 2048,
    MAX_TEMPLATE_BLOCKS = 256,
};

// ---- the guest's state as variables ----

enum {
    VAR_X = 0, // 0..30 and SP
    VAR_FLAGS_A = 32,
    VAR_FLAGS_B,
    VAR_FLAGS_KIND,
    VAR_FPCR,
    VAR_FPSR,
    VAR_TPIDR,
    VAR_EXCLUSIVE, // address and two values
    VAR_BUDGET = VAR_EXCLUSIVE + 3,
    VAR_PC, // of an exit
    VAR_V, // 0..31
    VAR_COUNT = VAR_V + 32,
};

typedef struct {
    uint64_t bits[2];
} var_set;

static void set_add(var_set *s, unsigned var)
{
    s->bits[var / 64] |= 1ull << var % 64;
}

static bool set_has(const var_set *s, unsigned var)
{
    return s->bits[var / 64] >> var % 64 & 1;
}

static bool set_join(var_set *s, const var_set *other)
{
    var_set old = *s;
    s->bits[0] |= other->bits[0];
    s->bits[1] |= other->bits[1];
    return old.bits[0] != s->bits[0] || old.bits[1] != s->bits[1];
}

// The passed registers in the order of struct passed, behind the budget.
static const uint8_t passed_vars[PASSED] = {VAR_BUDGET, REG_SP, 30, 0, 1, 19, 20, 21, 22, 29};

static bool is_passed(unsigned var)
{
    for (unsigned i = 0; i < PASSED; i++)
        if (passed_vars[i] == var)
            return true;
    return false;
}

static uint32_t var_offset(unsigned var)
{
    if (var < VAR_X + 32)
        return (uint32_t)(offsetof(cpu, x) + 8 * (var - VAR_X));
    if (var >= VAR_V)
        return (uint32_t)(offsetof(cpu, v) + 16 * (var - VAR_V));
    switch (var) {
    case VAR_FLAGS_A: return offsetof(cpu, flags.a);
    case VAR_FLAGS_B: return offsetof(cpu, flags.b);
    case VAR_FLAGS_KIND: return offsetof(cpu, flags.kind);
    case VAR_FPCR: return offsetof(cpu, fpcr);
    case VAR_FPSR: return offsetof(cpu, fpsr);
    case VAR_TPIDR: return offsetof(cpu, tpidr);
    case VAR_EXCLUSIVE: return offsetof(cpu, exclusive_address);
    case VAR_EXCLUSIVE + 1: return offsetof(cpu, exclusive_value[0]);
    default: return offsetof(cpu, exclusive_value[1]);
    }
}

static unsigned var_size(unsigned var)
{
    return var >= VAR_V ? 16 : var == VAR_FLAGS_KIND || var == VAR_FPCR || var == VAR_FPSR ? 4 : 8;
}

// The variable that holds the byte at offset of struct cpu; VAR_COUNT if translated code has none.
static unsigned var_at(uint32_t offset)
{
    uint32_t x = offset - (uint32_t)offsetof(cpu, x), v = offset - (uint32_t)offsetof(cpu, v);
    if (x < 32 * 8)
        return VAR_X + x / 8;
    if (v < 32 * 16)
        return VAR_V + v / 16;
    for (unsigned var = VAR_FLAGS_A; var < VAR_BUDGET; var++)
        if (offset - var_offset(var) < var_size(var))
            return var;
    return VAR_COUNT;
}

// ---- templates: the definitions as LLVM functions ----

struct template
{
    LLVMValueRef function;
    LLVMBasicBlockRef *order; // reverse postorder
    unsigned block_count;
    bool checked, usable;
    bool reads_flags, writes_flags;
};

struct jit {
    LLVMContextRef context;
    LLVMModuleRef templates;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    struct template template[INSN_COUNT];
    LLVMTypeRef i8, i32, i64, v2i64, ptr, passed_type, region_type;
};

// Depth first; finished blocks are appended to *done in postorder.
static void visit(LLVMBasicBlockRef block, LLVMBasicBlockRef *seen, unsigned *seen_count,
                  LLVMBasicBlockRef *done, unsigned *done_count)
{
    for (unsigned i = 0; i < *seen_count; i++)
        if (seen[i] == block)
            return;
    if (*seen_count == MAX_TEMPLATE_BLOCKS)
        return;
    seen[(*seen_count)++] = block;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned i = 0; i < n; i++)
        visit(LLVMGetSuccessor(end, i), seen, seen_count, done, done_count);
    done[(*done_count)++] = block;
}

// Whether copying can express the value: constants and constant tables, but no address computed from a
// table's.
static bool is_plain_operand(LLVMValueRef v)
{
    return !LLVMIsAConstantExpr(v);
}

static bool is_usable_instruction(LLVMValueRef i)
{
    if (LLVMIsACallInst(i)) {
        unsigned arguments = LLVMGetNumArgOperands(i);
        for (unsigned a = 0; a < arguments; a++)
            if (LLVMIsAArgument(LLVMGetOperand(i, a)) || !is_plain_operand(LLVMGetOperand(i, a)))
                return false;
        return LLVMIsAFunction(LLVMGetCalledValue(i)) != NULL;
    }
    int operands = LLVMGetNumOperands(i);
    for (int k = 0; k < operands; k++)
        if (!is_plain_operand(LLVMGetOperand(i, (unsigned)k)))
            return false;
    return true;
}

// Whether i accesses the flags of cpu, the function's first parameter: their address is a constant distance
// from it.
static bool accesses_flags(LLVMValueRef function, LLVMValueRef address, LLVMTargetDataRef layout)
{
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetOperand(address, 0) != LLVMGetParam(function, 0) ||
        LLVMGetNumOperands(address) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(address, 1)))
        return false;
    uint64_t offset = LLVMConstIntGetZExtValue(LLVMGetOperand(address, 1)) *
                      LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(address));
    return offset - offsetof(cpu, flags) < sizeof(struct flags);
}

static struct template *template_of(struct jit *j, unsigned insn)
{
    struct template *t = &j->template[insn];
    if (t->checked)
        return t;
    t->checked = true;
    char name[64];
    snprintf(name, sizeof name, "op_%s", isa_info[insn].name);
    t->function = LLVMGetNamedFunction(j->templates, name);
    if (!t->function)
        return t;
    LLVMBasicBlockRef seen[MAX_TEMPLATE_BLOCKS], done[MAX_TEMPLATE_BLOCKS];
    unsigned seen_count = 0, done_count = 0, values = 0;
    visit(LLVMGetEntryBasicBlock(t->function), seen, &seen_count, done, &done_count);
    t->usable = seen_count < MAX_TEMPLATE_BLOCKS;
    for (unsigned b = 0; b < done_count && t->usable; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(done[b]); i && t->usable;
             i = LLVMGetNextInstruction(i)) {
            t->usable = is_usable_instruction(i);
            t->reads_flags |=
                LLVMIsALoadInst(i) && accesses_flags(t->function, LLVMGetOperand(i, 0), j->layout);
            t->writes_flags |=
                LLVMIsAStoreInst(i) && accesses_flags(t->function, LLVMGetOperand(i, 1), j->layout);
            values++;
        }
    }
    t->usable = t->usable && values < MAX_TEMPLATE_VALUES / 2;
    t->order = malloc(done_count * sizeof *t->order);
    if (!t->order)
        t->usable = false;
    for (unsigned b = 0; t->order && b < done_count; b++)
        t->order[b] = done[done_count - 1 - b];
    t->block_count = done_count;
    return t;
}

// ---- building a region ----

struct block_build {
    LLVMBasicBlockRef start, body, end; // what leads here goes to, its ops' first and last LLVM block
    LLVMValueRef result; // of its last op: the condition or the target
    var_set written, dirty; // by its ops; possibly newer than guest_cpu at its start
    bool flags_live; // at its start: read before they are written
};

// What a value of a template stands for in the copy: a value, or an address within cpu or op.
struct mapped {
    LLVMValueRef value;
    uint32_t offset;
    enum { BASE_NONE, BASE_CPU, BASE_OP } base;
};

struct build {
    struct jit *j;
    const struct region *r;
    LLVMModuleRef module;
    LLVMValueRef function;
    LLVMBuilderRef at; // where code is being added
    LLVMBuilderRef entry; // in the entry block, for variables
    LLVMValueRef var[VAR_COUNT];
    LLVMValueRef guest_cpu;
    var_set used, written; // variables of the region; of the current block
    struct block_build block[REGION_BLOCKS_MAX];
    LLVMBasicBlockRef leave; // returns VAR_PC and the passed registers
    LLVMMetadataRef scope; // for debug locations, whose line is the guest pc / 4
    bool failed; // a template turned out not to be usable; it is marked, and the region is built again
    // the current template's values
    LLVMValueRef key[MAX_TEMPLATE_VALUES];
    struct mapped mapped[MAX_TEMPLATE_VALUES];
    unsigned generation, key_generation[MAX_TEMPLATE_VALUES];
};

static LLVMTypeRef var_type(const struct jit *j, unsigned var)
{
    return var >= VAR_V ? j->v2i64 : var_size(var) == 4 ? j->i32 : j->i64;
}

static LLVMValueRef variable(struct build *u, unsigned var)
{
    if (!u->var[var])
        u->var[var] = LLVMBuildAlloca(u->entry, var_type(u->j, var), "");
    return u->var[var];
}

static LLVMValueRef get_var(struct build *u, unsigned var)
{
    return LLVMBuildLoad2(u->at, var_type(u->j, var), variable(u, var), "");
}

static void set_var(struct build *u, unsigned var, LLVMValueRef value)
{
    LLVMBuildStore(u->at, value, variable(u, var));
}

static LLVMValueRef constant64(const struct build *u, uint64_t value)
{
    return LLVMConstInt(u->j->i64, value, false);
}

static LLVMValueRef cpu_field(struct build *u, uint32_t offset)
{
    LLVMValueRef index = LLVMConstInt(u->j->i32, offset, false);
    return LLVMConstInBoundsGEP2(u->j->i8, u->guest_cpu, &index, 1);
}

// What another object defines, at an address below 2 GiB.
static LLVMValueRef global(struct build *u, const char *name, LLVMTypeRef type)
{
    LLVMValueRef g = LLVMGetNamedGlobal(u->module, name);
    if (!g) {
        g = LLVMAddGlobal(u->module, type, name);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetVisibility(g, LLVMHiddenVisibility);
    }
    return g;
}

// ---- copying a template ----

static unsigned key_slot(const struct build *u, LLVMValueRef v)
{
    unsigned slot = (unsigned)((uintptr_t)v >> 4) * 2654435761u >> 7;
    for (slot %= MAX_TEMPLATE_VALUES;; slot = (slot + 1) % MAX_TEMPLATE_VALUES)
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
        return (struct mapped){.value = global(u, LLVMGetValueName2(v, &length), LLVMGlobalGetValueType(v))};
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
    set_add(&u->used, var);
    if (is_store)
        set_add(&u->written, var);
    LLVMValueRef address = variable(u, var), index = LLVMConstInt(u->j->i32, within, false);
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

static void copy_call(struct build *u, LLVMValueRef i)
{
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
            map_value(u, i,
                      part ? LLVMBuildLoad2(u->at, LLVMTypeOf(i), part, "") : LLVMConstNull(LLVMTypeOf(i)));
        } else {
            LLVMInstructionSetDebugLoc(copy_plainly(u, i), LLVMDIBuilderCreateDebugLocation(
                                                               u->j->context, o->pc / 4, 0, u->scope, NULL));
        }
        return;
    }
    case LLVMStore: {
        struct mapped m = map_of(u, LLVMGetOperand(i, 1));
        if (m.base == BASE_NONE) {
            LLVMInstructionSetDebugLoc(copy_plainly(u, i), LLVMDIBuilderCreateDebugLocation(
                                                               u->j->context, o->pc / 4, 0, u->scope, NULL));
        } else {
            LLVMValueRef value = value_of(u, LLVMGetOperand(i, 0));
            LLVMValueRef part = m.base == BASE_CPU ? part_of_variable(u, m.offset, LLVMTypeOf(value), true)
                                                   : (u->failed = true, NULL);
            if (part)
                LLVMBuildStore(u->at, value, part);
        }
        return;
    }
    case LLVMCall: copy_call(u, i); return;
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
    LLVMBasicBlockRef block[MAX_TEMPLATE_BLOCKS];
    bool reached[MAX_TEMPLATE_BLOCKS];
    struct {
        uint16_t from, to;
    } edge[MAX_TEMPLATE_BLOCKS * 4];
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
        c->block[k] = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    c->reached[k] = true;
    if (c->edge_count < MAX_TEMPLATE_BLOCKS * 4) {
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

static void copy_phi(struct build *u, struct copy *c, LLVMValueRef i, unsigned to)
{
    unsigned n = LLVMCountIncoming(i), live = 0;
    LLVMValueRef only = NULL;
    bool is_loop = false;
    for (unsigned k = 0; k < n; k++) {
        unsigned from = order_of(c->t, LLVMGetIncomingBlock(i, k));
        is_loop |= from >= to;
        if (has_edge(c, from, to)) {
            live++;
            only = LLVMGetIncomingValue(i, k);
        }
    }
    if (!is_loop && live == 1) {
        map_to(u, i, map_of(u, only));
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
            LLVMBasicBlockRef yes = copy_edge(u, c, from, LLVMGetSuccessor(i, 0));
            LLVMBuildCondBr(u->at, condition, yes, copy_edge(u, c, from, LLVMGetSuccessor(i, 1)));
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

// Adds the meaning of o where u->at stands; returns what its function returns, or NULL.
static LLVMValueRef copy_template(struct build *u, const struct region_op *o)
{
    struct template *t = template_of(u->j, o->insn);
    struct copy c;
    c.t = t;
    memset(c.block, 0, t->block_count * sizeof c.block[0]);
    memset(c.reached, 0, t->block_count * sizeof c.reached[0]);
    c.edge_count = c.loop_phi_count = c.return_count = 0;
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
    LLVMPositionBuilderAtEnd(u->at, c.returned_from[0]);
    if (c.return_count == 1)
        return c.returned[0];
    LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
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

// ---- leaving and calling ----

// Writes to guest_cpu what may be newer in variables, but for the passed registers.
static void store_dirty(struct build *u, const var_set *dirty)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (set_has(dirty, var) && !is_passed(var))
            LLVMBuildStore(u->at, get_var(u, var), cpu_field(u, var_offset(var)));
}

// Fills the variables that the region uses, but for the passed registers, from guest_cpu.
static void load_used(struct build *u)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (set_has(&u->used, var) && !is_passed(var))
            set_var(u, var, LLVMBuildLoad2(u->at, var_type(u->j, var), cpu_field(u, var_offset(var)), ""));
}

// Without the flags: where what follows sets them before it reads them.
static var_set but_flags(const var_set *s)
{
    var_set rest = *s;
    for (unsigned var = VAR_FLAGS_A; var <= VAR_FLAGS_KIND; var++)
        rest.bits[var / 64] &= ~(1ull << var % 64);
    return rest;
}

static void leave_for(struct build *u, LLVMValueRef pc, const var_set *dirty)
{
    store_dirty(u, dirty);
    set_var(u, VAR_PC, pc);
    LLVMBuildBr(u->at, u->leave);
}

static LLVMValueRef glue(struct build *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f) {
        f = LLVMAddFunction(u->module, name, u->j->region_type);
        LLVMSetFunctionCallConv(f, REGCALL);
        LLVMSetVisibility(f, LLVMHiddenVisibility);
    }
    return f;
}

// Calls code with the passed registers; they are up to date in the variables afterwards. Returns the next pc.
static LLVMValueRef call_code(struct build *u, LLVMValueRef code)
{
    LLVMValueRef arguments[PASSED];
    for (unsigned i = 0; i < PASSED; i++)
        arguments[i] = get_var(u, passed_vars[i]);
    LLVMValueRef call = LLVMBuildCall2(u->at, u->j->region_type, code, arguments, PASSED, "");
    LLVMSetInstructionCallConv(call, REGCALL);
    for (unsigned i = 0; i < PASSED; i++)
        set_var(u, passed_vars[i], LLVMBuildExtractValue(u->at, call, i, ""));
    return LLVMBuildExtractValue(u->at, call, PASSED, "");
}

// After a call: goes on at the block if the callee returned to its pc, else leaves.
static void go_on_after_call(struct build *u, LLVMValueRef pc, const struct region_block *b,
                             uint32_t return_pc)
{
    static const var_set nothing;
    LLVMBasicBlockRef elsewhere = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMBasicBlockRef back = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    if (b->next >= 0) {
        LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntEQ, pc, constant64(u, return_pc), ""), back,
                        elsewhere);
        LLVMPositionBuilderAtEnd(u->at, back);
        load_used(u);
        LLVMBuildBr(u->at, u->block[b->next].start);
    } else {
        LLVMDeleteBasicBlock(back);
        LLVMBuildBr(u->at, elsewhere);
    }
    LLVMPositionBuilderAtEnd(u->at, elsewhere);
    leave_for(u, pc, &nothing);
}

// The code for an indirect branch to target: from the table, or the glue that finds it out.
static LLVMValueRef code_for(struct build *u, LLVMValueRef target)
{
    struct jit *j = u->j;
    LLVMValueRef table = global(u, "indirect_table", j->i64);
    LLVMValueRef index =
        LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, target, constant64(u, 2), ""), j->i32, "");
    index = LLVMBuildAnd(u->at, index, LLVMConstInt(j->i32, INDIRECT_ENTRIES - 1, false), "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(u->at, j->i64, table, &index, 1, "");
    LLVMValueRef found = LLVMBuildLoad2(u->at, j->i64, at, "");
    LLVMValueRef pc = LLVMBuildAnd(u->at, found, constant64(u, 0xffffffff), "");
    LLVMValueRef code = LLVMBuildIntToPtr(
        u->at, LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, found, constant64(u, 32), ""), j->i32, ""), j->ptr,
        "");
    LLVMBuildStore(u->at, target, cpu_field(u, offsetof(cpu, cold_pc)));
    return LLVMBuildSelect(u->at, LLVMBuildICmp(u->at, LLVMIntEQ, pc, target, ""), code,
                           glue(u, "__regcall3__cold_call"), "");
}

static void add_terminator(struct build *u, unsigned index)
{
    struct jit *j = u->j;
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    var_set dirty = x->dirty;
    set_join(&dirty, &x->written);
    LLVMPositionBuilderAtEnd(u->at, x->end);
    switch ((enum region_end)b->end) {
    case END_NEXT: LLVMBuildBr(u->at, u->block[b->next].start); break;
    case END_BRANCH:
        LLVMBuildCondBr(u->at, x->result, u->block[b->taken].start, u->block[b->next].start);
        break;
    case END_CALL: {
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, CALL_SYMBOL, b->target_pc);
        if (b->flags_dead)
            dirty = but_flags(&dirty);
        store_dirty(u, &dirty);
        LLVMValueRef code = LLVMBuildLoad2(u->at, j->ptr, global(u, name, j->i32), "");
        go_on_after_call(u, call_code(u, code), b, u->r->ops[b->first + b->count - 1].pc + 4);
        break;
    }
    case END_CALL_INDIRECT:
        store_dirty(u, &dirty);
        go_on_after_call(u, call_code(u, code_for(u, x->result)), b, b->target_pc);
        break;
    case END_INDIRECT:
        if (u->r->ops[b->first + b->count - 1].insn == INSN_ret) {
            leave_for(u, x->result, &dirty);
        } else {
            static const var_set nothing;
            store_dirty(u, &dirty);
            leave_for(u, call_code(u, code_for(u, x->result)), &nothing);
        }
        break;
    case END_RETURN: {
        LLVMBasicBlockRef elsewhere = LLVMAppendBasicBlockInContext(j->context, u->function, "");
        LLVMValueRef expected = LLVMBuildICmp(u->at, LLVMIntEQ, x->result, constant64(u, b->target_pc), "");
        LLVMBuildCondBr(u->at, expected, u->block[b->next].start, elsewhere);
        LLVMPositionBuilderAtEnd(u->at, elsewhere);
        leave_for(u, x->result, &dirty);
        break;
    }
    case END_STEP:
        store_dirty(u, &dirty);
        LLVMBuildStore(u->at, constant64(u, b->target_pc), cpu_field(u, offsetof(cpu, cold_pc)));
        go_on_after_call(u, call_code(u, glue(u, "__regcall3__cold_step")), b, b->target_pc + 4);
        break;
    case END_STOP: leave_for(u, constant64(u, b->target_pc), &dirty); break;
    case END_EXIT: {
        static const var_set nothing;
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, EXIT_SYMBOL, b->target_pc);
        store_dirty(u, &dirty);
        leave_for(u, call_code(u, LLVMBuildLoad2(u->at, j->ptr, global(u, name, j->i32), "")), &nothing);
        break;
    }
    }
}

// ---- a whole region ----

// What happens where guest code is entered or loops: leaves if fewer instructions are left than the block
// has.
static void check_budget(struct build *u, unsigned index)
{
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    LLVMBasicBlockRef enough = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMBasicBlockRef spent = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMPositionBuilderAtEnd(u->at, x->start);
    LLVMValueRef left = get_var(u, VAR_BUDGET), length = constant64(u, b->count);
    LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntSLT, left, length, ""), spent, enough);
    LLVMPositionBuilderAtEnd(u->at, spent);
    var_set dirty = x->flags_live ? x->dirty : but_flags(&x->dirty);
    leave_for(u, constant64(u, b->pc), &dirty);
    LLVMPositionBuilderAtEnd(u->at, enough);
}

static bool makes_calls(const struct region *r)
{
    for (unsigned i = 0; i < r->block_count; i++)
        if (r->blocks[i].end == END_CALL || r->blocks[i].end == END_CALL_INDIRECT)
            return true;
    return false;
}

// At the entry of a region that calls: leaves when the host's stack is nearly used up.
static void check_stack(struct build *u)
{
    static const var_set nothing;
    struct jit *j = u->j;
    unsigned id = LLVMLookupIntrinsicID("llvm.read_register", strlen("llvm.read_register"));
    LLVMTypeRef type = LLVMIntrinsicGetType(j->context, id, &j->i64, 1);
    LLVMValueRef read = LLVMGetIntrinsicDeclaration(u->module, id, &j->i64, 1);
    LLVMMetadataRef name = LLVMMDStringInContext2(j->context, "rsp", 3);
    LLVMValueRef rsp = LLVMMetadataAsValue(j->context, LLVMMDNodeInContext2(j->context, &name, 1));
    LLVMValueRef stack = LLVMBuildCall2(u->at, type, read, &rsp, 1, "");
    LLVMValueRef limit = LLVMBuildLoad2(u->at, j->i64, cpu_field(u, offsetof(cpu, stack_limit)), "");
    LLVMBasicBlockRef deep = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    LLVMBasicBlockRef fine = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntULT, stack, limit, ""), deep, fine);
    LLVMPositionBuilderAtEnd(u->at, deep);
    leave_for(u, constant64(u, u->r->entry), &nothing);
    LLVMPositionBuilderAtEnd(u->at, fine);
}

static void add_leave_block(struct build *u)
{
    LLVMPositionBuilderAtEnd(u->at, u->leave);
    LLVMValueRef result = LLVMGetUndef(u->j->passed_type);
    for (unsigned i = 0; i < PASSED; i++)
        result = LLVMBuildInsertValue(u->at, result, get_var(u, passed_vars[i]), i, "");
    LLVMBuildRet(u->at, LLVMBuildInsertValue(u->at, result, get_var(u, VAR_PC), PASSED, ""));
}

// Which variables may be newer than guest_cpu at the start of each block: forward over the region's edges.
static void find_dirty(struct build *u)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < u->r->block_count; i++) {
            const struct region_block *b = &u->r->blocks[i];
            if (b->end != END_NEXT && b->end != END_BRANCH && b->end != END_RETURN)
                continue; // calls and exits store everything
            var_set out = u->block[i].dirty;
            set_join(&out, &u->block[i].written);
            if (b->next >= 0)
                again |= set_join(&u->block[b->next].dirty, &out);
            if (b->end == END_BRANCH && b->taken >= 0)
                again |= set_join(&u->block[b->taken].dirty, &out);
        }
    }
}

// Whether the flags are live at the start of each block: backward over the region's edges; live where they
// leave it.
static void find_live_flags(struct build *u)
{
    const struct region *r = u->r;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = r->block_count; i-- > 0;) {
            const struct region_block *b = &r->blocks[i];
            bool live = b->end != END_CALL || !b->flags_dead;
            if (b->end == END_NEXT || b->end == END_RETURN)
                live = u->block[b->next].flags_live;
            else if (b->end == END_BRANCH)
                live = u->block[b->next].flags_live || u->block[b->taken].flags_live;
            for (unsigned k = b->count; k-- > 0;) {
                const struct template *t = template_of(u->j, r->ops[b->first + k].insn);
                live = t->reads_flags || (live && !t->writes_flags);
            }
            again |= live != u->block[i].flags_live;
            u->block[i].flags_live = live;
        }
    }
}

static void copy_blocks(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++)
        u->block[i].start = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    for (unsigned i = 0; i < r->block_count && !u->failed; i++) {
        const struct region_block *b = &r->blocks[i];
        LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
        u->written = (var_set){0};
        LLVMPositionBuilderAtEnd(u->at, body);
        if (b->count) {
            LLVMValueRef left = get_var(u, VAR_BUDGET);
            set_var(u, VAR_BUDGET, LLVMBuildSub(u->at, left, constant64(u, b->count), ""));
        }
        for (unsigned k = 0; k < b->count && !u->failed; k++)
            u->block[i].result = copy_template(u, &r->ops[b->first + k]);
        u->block[i].end = LLVMGetInsertBlock(u->at);
        u->block[i].written = u->written;
        u->block[i].body = body;
    }
}

static void build_region(struct build *u)
{
    struct jit *j = u->j;
    const struct region *r = u->r;
    char name[JIT_SYMBOL_MAX];
    snprintf(name, sizeof name, REGION_SYMBOL, r->entry);
    u->function = LLVMAddFunction(u->module, name, j->region_type);
    LLVMSetFunctionCallConv(u->function, REGCALL);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(u->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->context, nounwind, 0));
    u->guest_cpu = global(u, "guest_cpu", j->i8);

    LLVMDIBuilderRef debug = LLVMCreateDIBuilder(u->module);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(debug, "guest", 5, ".", 1);
    LLVMDIBuilderCreateCompileUnit(debug, LLVMDWARFSourceLanguageC, file, "", 0, true, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(debug, file, NULL, 0, LLVMDIFlagZero);
    u->scope = LLVMDIBuilderCreateFunction(debug, file, name, strlen(name), name, strlen(name), file, 1, type,
                                           false, true, 1, LLVMDIFlagZero, true);
    LLVMSetSubprogram(u->function, u->scope);

    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    u->leave = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    LLVMPositionBuilderAtEnd(u->entry, entry);
    for (unsigned i = 0; i < PASSED; i++)
        LLVMBuildStore(u->entry, LLVMGetParam(u->function, i), variable(u, passed_vars[i]));
    copy_blocks(u);
    if (!u->failed) {
        find_dirty(u);
        find_live_flags(u);
        for (unsigned i = 0; i < r->block_count; i++) {
            add_terminator(u, i);
            if ((i == 0 || r->blocks[i].loop_header) && r->blocks[i].count)
                check_budget(u, i);
            else
                LLVMPositionBuilderAtEnd(u->at, u->block[i].start);
            LLVMBuildBr(u->at, u->block[i].body);
        }
        add_leave_block(u);
        LLVMBasicBlockRef begin = LLVMAppendBasicBlockInContext(j->context, u->function, "");
        LLVMPositionBuilderAtEnd(u->at, begin);
        if (makes_calls(r))
            check_stack(u);
        load_used(u);
        LLVMBuildBr(u->at, u->block[0].start);
        LLVMBuildBr(u->entry, begin);
    }
    LLVMDIBuilderFinalize(debug);
    LLVMDisposeDIBuilder(debug);
}

static bool emit(struct jit *j, LLVMModuleRef module, struct jit_object *object)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    if (LLVMTargetMachineEmitToMemoryBuffer(j->machine, module, LLVMObjectFile, &message, &buffer)) {
        LLVMDisposeMessage(message);
        return false;
    }
    object->size = LLVMGetBufferSize(buffer);
    object->bytes = malloc(object->size);
    if (object->bytes)
        memcpy(object->bytes, LLVMGetBufferStart(buffer), object->size);
    LLVMDisposeMemoryBuffer(buffer);
    return object->bytes != NULL;
}

static bool run_passes(struct jit *j, LLVMModuleRef module, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, j->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    return !error;
}

static void dump_region(const struct build *u, const char *folder, const char *stage)
{
    char path[600];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".%s.ll", folder, u->r->entry, stage);
    LLVMPrintModuleToFile(u->module, path, NULL);
}

static void dump_guest_code(const struct region *r, const char *folder)
{
    char path[600], line[128];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".guest", folder, r->entry);
    FILE *f = fopen(path, "w");
    for (unsigned i = 0; f && i < r->block_count; i++) {
        const struct region_block *b = &r->blocks[i];
        fprintf(f, "block %u context %u end %u next %d taken %d%s\n", i, b->context, b->end, b->next,
                b->taken, b->loop_header ? " loop" : "");
        for (unsigned k = 0; k < b->count; k++) {
            const struct region_op *o = &r->ops[b->first + k];
            for (unsigned p = 0; p < r->page_count; p++) {
                if (o->pc - r->pages[p].address < sizeof r->pages[p].bytes) {
                    uint32_t word;
                    memcpy(&word, r->pages[p].bytes + (o->pc - r->pages[p].address), sizeof word);
                    isa_disassemble(word, o->pc, line, sizeof line);
                    fprintf(f, "  %08x  %s\n", o->pc, line);
                }
            }
        }
    }
    if (f)
        fclose(f);
}

static void dump_object(const struct region *r, const char *folder, const struct jit_object *object)
{
    char path[600];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".o", folder, r->entry);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(object->bytes, 1, object->size, f);
        fclose(f);
    }
}

static bool jit_usable(struct jit *j, unsigned insn)
{
    return template_of(j, insn)->usable;
}

static enum flags_use jit_flags_use(struct jit *j, unsigned insn)
{
    const struct template *t = template_of(j, insn);
    return t->reads_flags ? FLAGS_READ : t->writes_flags ? FLAGS_WRITTEN : FLAGS_UNUSED;
}

static enum jit_result jit_compile(struct jit *j, const struct region *r, const char *dump,
                                   struct jit_object *object)
{
    // Threading comes early: a conditional compare leaves the kind of its flags open until the branches that
    // tell it are joined with those that test it.
    static const char passes[] = "function(sroa,early-cse<memssa>,jump-threading,simplifycfg,"
                                 "instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,dse,simplifycfg)";
    struct build *u = calloc(1, sizeof *u);
    if (!u)
        return JIT_FAILED;
    u->j = j;
    u->r = r;
    u->module = LLVMModuleCreateWithNameInContext("region", j->context);
    LLVMSetTarget(u->module, LLVMGetTarget(j->templates));
    LLVMSetDataLayout(u->module, LLVMGetDataLayoutStr(j->templates));
    u->at = LLVMCreateBuilderInContext(j->context);
    u->entry = LLVMCreateBuilderInContext(j->context);
    build_region(u);
    enum jit_result result = u->failed ? JIT_AGAIN : JIT_FAILED;
    if (!u->failed) {
        if (dump) {
            dump_guest_code(r, dump);
            dump_region(u, dump, "built");
        }
        if (run_passes(j, u->module, passes)) {
            if (dump)
                dump_region(u, dump, "optimized");
            if (emit(j, u->module, object))
                result = JIT_DONE;
            if (dump && result == JIT_DONE)
                dump_object(r, dump, object);
        }
    }
    LLVMDisposeBuilder(u->at);
    LLVMDisposeBuilder(u->entry);
    LLVMDisposeModule(u->module);
    free(u);
    return result;
}

static bool jit_compile_glue(struct jit *j, struct jit_object *object)
{
    LLVMModuleRef module = LLVMCloneModule(j->templates);
    for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        next = LLVMGetNextFunction(f);
        if (strncmp(name, "op_", 3) == 0)
            LLVMDeleteFunction(f);
        else if (!LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMExternalLinkage);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g))
            LLVMSetLinkage(g, LLVMExternalLinkage);
    bool done = run_passes(j, module, "globaldce") && emit(j, module, object);
    LLVMDisposeModule(module);
    return done;
}

// ---- creation ----

static void jit_destroy(struct jit *j)
{
    if (!j)
        return;
    for (unsigned i = 0; i < INSN_COUNT; i++)
        free(j->template[i].order);
    if (j->layout)
        LLVMDisposeTargetData(j->layout);
    if (j->machine)
        LLVMDisposeTargetMachine(j->machine);
    if (j->templates)
        LLVMDisposeModule(j->templates);
    LLVMContextDispose(j->context);
    free(j);
}

static struct jit *jit_create(char *error, size_t size)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j) {
        snprintf(error, size, "no memory for the translator");
        return NULL;
    }
    isa_init();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    j->context = LLVMContextCreate();
    LLVMMemoryBufferRef bitcode = LLVMCreateMemoryBufferWithMemoryRange(
        (const char *)translate_bitcode, (size_t)(translate_bitcode_end - translate_bitcode), "bitcode",
        false);
    char *message = NULL;
    LLVMTargetRef target = NULL;
    if (LLVMParseBitcodeInContext2(j->context, bitcode, &j->templates)) {
        snprintf(error, size, "LLVM cannot read the translator's bitcode");
    } else if (LLVMGetTargetFromTriple(LLVMGetTarget(j->templates), &target, &message)) {
        snprintf(error, size, "LLVM has no x86-64 target: %s", message);
        LLVMDisposeMessage(message);
    } else {
        char *cpu_name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
        j->machine = LLVMCreateTargetMachine(target, LLVMGetTarget(j->templates), cpu_name, features,
                                             LLVMCodeGenLevelDefault, LLVMRelocStatic, LLVMCodeModelSmall);
        LLVMDisposeMessage(cpu_name);
        LLVMDisposeMessage(features);
        j->layout = LLVMCreateTargetDataLayout(j->machine);
    }
    LLVMDisposeMemoryBuffer(bitcode);
    if (!j->machine) {
        jit_destroy(j);
        return NULL;
    }
    j->i8 = LLVMInt8TypeInContext(j->context);
    j->i32 = LLVMInt32TypeInContext(j->context);
    j->i64 = LLVMInt64TypeInContext(j->context);
    j->v2i64 = LLVMVectorType(j->i64, 2);
    j->ptr = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef words[PASSED + 1];
    for (unsigned i = 0; i <= PASSED; i++)
        words[i] = j->i64;
    j->passed_type = LLVMStructTypeInContext(j->context, words, PASSED + 1, false);
    j->region_type = LLVMFunctionType(j->passed_type, words, PASSED, false);
    return j;
}

__attribute__((visibility("default"))) extern const struct jit_functions jit_functions;
const struct jit_functions jit_functions = {jit_create,    jit_destroy, jit_usable,
                                            jit_flags_use, jit_compile, jit_compile_glue};
