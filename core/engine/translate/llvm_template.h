// SPDX-License-Identifier: MIT
// Part of llvm_jit.c: the guest's state as variables of a region, and the instructions' definitions as LLVM
// functions (templates): what can be copied, and what it does.
#ifndef CORE_ENGINE_LLVM_TEMPLATE_H
#define CORE_ENGINE_LLVM_TEMPLATE_H

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
    VAR_FP_FAST,
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
    case VAR_FP_FAST: return offsetof(cpu, fp_fast);
    case VAR_TPIDR: return offsetof(cpu, tpidr);
    case VAR_EXCLUSIVE: return offsetof(cpu, exclusive_address);
    case VAR_EXCLUSIVE + 1: return offsetof(cpu, exclusive_value[0]);
    default: return offsetof(cpu, exclusive_value[1]);
    }
}

static unsigned var_size(unsigned var)
{
    return var >= VAR_V ? 16 : var >= VAR_FLAGS_KIND && var <= VAR_FP_FAST ? 4 : 8;
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
    bool loads, stores; // guest memory
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

static bool is_side_exit(LLVMValueRef call)
{
    size_t length;
    return strcmp(LLVMGetValueName2(LLVMGetCalledValue(call), &length), "interpret_instead") == 0;
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
            t->loads |= LLVMIsALoadInst(i) && LLVMGetVolatile(i);
            t->stores |= LLVMIsAStoreInst(i) && LLVMGetVolatile(i);
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

#endif
