// SPDX-License-Identifier: MIT
// Makes the tables of semantics.h, as C, from the bitcode of semantics_definitions.c. Runs at build time.
// usage: semantics_gen BITCODE OUTPUT
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "semantics.h"

enum { CONSTANTS = 4096, VALUES = 2048 };

static const char *const names[INSN_COUNT] = {
    "undefined",
#define INSN(name, ...) #name,
#include "core/isa/insns.def"
#undef INSN
};

static uint64_t constants[CONSTANTS];
static unsigned constant_count;

// What a pointer points at: a part of cpu or op.
enum base { BASE_NONE, BASE_CPU, BASE_OP };
struct value {
    LLVMValueRef key;
    enum base base; // BASE_NONE: operation k
    uint16_t k, index; // of a pointer: offset + scale x index
    int64_t offset;
    uint64_t scale;
};

struct definition {
    LLVMTargetDataRef layout;
    LLVMBasicBlockRef block[SEMANTICS_BLOCKS];
    unsigned block_count;
    struct semantics_op ops[SEMANTICS_OPS];
    unsigned count;
    struct value values[VALUES];
    unsigned value_count;
    bool failed;
};

static uint16_t add_constant(uint64_t value)
{
    unsigned k = 0;
    while (k < constant_count && constants[k] != value)
        k++;
    if (k == CONSTANTS) {
        fprintf(stderr, "semantics_gen: too many constants\n");
        exit(1);
    }
    constants[k] = value;
    constant_count += k == constant_count;
    return (uint16_t)(SEMANTICS_CONSTANT + k);
}

static uint16_t emit(struct definition *d, enum semantics_code code, unsigned bits, unsigned a, unsigned b,
                     unsigned c)
{
    if (d->count == SEMANTICS_OPS || bits > 64) {
        d->failed = true;
        return 0;
    }
    d->ops[d->count] =
        (struct semantics_op){(uint8_t)code, (uint8_t)bits, (uint16_t)a, (uint16_t)b, (uint16_t)c};
    return (uint16_t)d->count++;
}

static struct value *find(struct definition *d, LLVMValueRef v)
{
    for (unsigned k = d->value_count; k-- > 0;)
        if (d->values[k].key == v)
            return &d->values[k];
    return NULL;
}

static void define(struct definition *d, struct value value)
{
    if (d->value_count == VALUES)
        d->failed = true;
    else
        d->values[d->value_count++] = value;
}

static unsigned bits_of(struct definition *d, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64) {
        d->failed = true;
        return 0;
    }
    return LLVMGetIntTypeWidth(type);
}

static uint16_t operand(struct definition *d, LLVMValueRef v)
{
    if (LLVMIsAConstantInt(v) && bits_of(d, LLVMTypeOf(v)))
        return add_constant(LLVMConstIntGetZExtValue(v));
    struct value *known = find(d, v);
    if (known && known->base == BASE_NONE)
        return known->k;
    d->failed = true;
    return 0;
}

static unsigned block_number(const struct definition *d, LLVMBasicBlockRef block)
{
    unsigned k = 0;
    while (k < d->block_count && d->block[k] != block)
        k++;
    return k;
}

// The blocks that can be reached from this one, last one first.
static void order_blocks(struct definition *d, LLVMBasicBlockRef block, LLVMBasicBlockRef *done,
                         unsigned *count)
{
    for (unsigned k = 0; k < *count; k++)
        if (done[k] == block)
            return;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = LLVMGetNumSuccessors(end); k-- > 0;)
        order_blocks(d, LLVMGetSuccessor(end, k), done, count);
    if (*count == SEMANTICS_BLOCKS)
        d->failed = true;
    else
        done[(*count)++] = block;
}

static struct value pointer(struct definition *d, LLVMValueRef v)
{
    struct value *known = find(d, v);
    if (known && known->base != BASE_NONE)
        return *known;
    d->failed = true;
    return (struct value){0};
}

static void address_of_part(struct definition *d, LLVMValueRef i)
{
    struct value p = pointer(d, LLVMGetOperand(i, 0));
    LLVMTypeRef type = LLVMGetGEPSourceElementType(i);
    unsigned operands = (unsigned)LLVMGetNumOperands(i);
    for (unsigned k = 1; k < operands && !d->failed; k++) {
        LLVMValueRef index = LLVMGetOperand(i, k);
        if (k > 1) {
            if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
                unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
                p.offset += (int64_t)LLVMOffsetOfElement(d->layout, type, field);
                type = LLVMStructGetTypeAtIndex(type, field);
                continue;
            }
            type = LLVMGetElementType(type);
        }
        uint64_t size = LLVMABISizeOfType(d->layout, type);
        if (LLVMIsAConstantInt(index)) {
            p.offset += LLVMConstIntGetSExtValue(index) * (int64_t)size;
        } else if (p.scale == 0) {
            p.scale = size;
            p.index = operand(d, index);
        } else {
            d->failed = true;
        }
    }
    p.key = i;
    define(d, p);
}

static uint16_t read_part(struct definition *d, LLVMValueRef i)
{
    struct value p = pointer(d, LLVMGetOperand(i, 0));
    unsigned bits = bits_of(d, LLVMTypeOf(i));
    if (p.base == BASE_OP && p.scale == 0)
        return emit(d, SEMANTICS_OP_FIELD, bits, (unsigned)p.offset, 0, 0);
    d->failed |= p.base == BASE_OP;
    return emit(d, SEMANTICS_READ, bits, (unsigned)p.offset, p.scale ? p.index : SEMANTICS_NONE,
                (unsigned)p.scale);
}

static void write_part(struct definition *d, LLVMValueRef i)
{
    struct value p = pointer(d, LLVMGetOperand(i, 1));
    LLVMValueRef value = LLVMGetOperand(i, 0);
    d->failed |= p.base != BASE_CPU;
    emit(d, SEMANTICS_WRITE, bits_of(d, LLVMTypeOf(value)), (unsigned)p.offset,
         p.scale ? p.index : SEMANTICS_NONE, (unsigned)p.scale);
    emit(d, SEMANTICS_ARGUMENT, 0, operand(d, value), 0, 0);
}

static uint16_t call(struct definition *d, LLVMValueRef i)
{
    static const struct {
        const char *name;
        enum semantics_code code;
        unsigned operands;
    } known[] = {
        {"guest_load", SEMANTICS_LOAD, 1},        {"llvm.ctlz.", SEMANTICS_CLZ, 1},
        {"llvm.bswap.", SEMANTICS_BSWAP, 1},      {"llvm.bitreverse.", SEMANTICS_BITREVERSE, 1},
        {"llvm.fshl.", SEMANTICS_FUNNEL_LEFT, 3}, {"llvm.fshr.", SEMANTICS_FUNNEL_RIGHT, 3},
        {"llvm.umax.", SEMANTICS_UMAX, 2},        {"llvm.umin.", SEMANTICS_UMIN, 2},
        {"llvm.smax.", SEMANTICS_SMAX, 2},        {"llvm.smin.", SEMANTICS_SMIN, 2},
    };
    size_t length;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
    if (strncmp(name, "guest_store", 11) == 0) {
        LLVMValueRef value = LLVMGetOperand(i, 1);
        return emit(d, SEMANTICS_STORE, bits_of(d, LLVMTypeOf(value)), operand(d, LLVMGetOperand(i, 0)),
                    operand(d, value), 0);
    }
    if (strcmp(name, "guest_aligned") == 0)
        return emit(d, SEMANTICS_ALIGN, 64, operand(d, LLVMGetOperand(i, 0)),
                    operand(d, LLVMGetOperand(i, 1)), 0);
    if (strstr(name, ".with.overflow."))
        return 0; // what is extracted counts
    for (unsigned k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strncmp(name, known[k].name, strlen(known[k].name)) == 0) {
            uint16_t v[3] = {0};
            for (unsigned n = 0; n < known[k].operands; n++)
                v[n] = operand(d, LLVMGetOperand(i, n));
            return emit(d, known[k].code, bits_of(d, LLVMTypeOf(i)), v[0], v[1], v[2]);
        }
    d->failed = true;
    return 0;
}

// One of the two results of an operation that says whether it overflowed.
static uint16_t extract(struct definition *d, LLVMValueRef i)
{
    static const struct {
        const char *name;
        enum semantics_code result, overflows;
    } known[] = {
        {"llvm.sadd.", SEMANTICS_ADD, SEMANTICS_SADD_OVERFLOWS},
        {"llvm.ssub.", SEMANTICS_SUB, SEMANTICS_SSUB_OVERFLOWS},
        {"llvm.uadd.", SEMANTICS_ADD, SEMANTICS_UADD_OVERFLOWS},
        {"llvm.usub.", SEMANTICS_SUB, SEMANTICS_USUB_OVERFLOWS},
    };
    LLVMValueRef of = LLVMGetOperand(i, 0);
    size_t length;
    const char *name = LLVMIsACallInst(of) ? LLVMGetValueName2(LLVMGetCalledValue(of), &length) : "";
    for (unsigned k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strncmp(name, known[k].name, strlen(known[k].name)) == 0) {
            LLVMValueRef a = LLVMGetOperand(of, 0), b = LLVMGetOperand(of, 1);
            return emit(d, LLVMGetIndices(i)[0] ? known[k].overflows : known[k].result,
                        bits_of(d, LLVMTypeOf(a)), operand(d, a), operand(d, b), 0);
        }
    d->failed = true;
    return 0;
}

static uint16_t compare(struct definition *d, LLVMValueRef i)
{
    LLVMValueRef left = LLVMGetOperand(i, 0), right = LLVMGetOperand(i, 1);
    unsigned bits = bits_of(d, LLVMTypeOf(left));
    uint16_t a = d->failed ? 0 : operand(d, left), b = d->failed ? 0 : operand(d, right);
    switch (LLVMGetICmpPredicate(i)) {
    case LLVMIntEQ: return emit(d, SEMANTICS_EQ, bits, a, b, 0);
    case LLVMIntNE: return emit(d, SEMANTICS_NE, bits, a, b, 0);
    case LLVMIntULT: return emit(d, SEMANTICS_ULT, bits, a, b, 0);
    case LLVMIntUGT: return emit(d, SEMANTICS_ULT, bits, b, a, 0);
    case LLVMIntULE: return emit(d, SEMANTICS_ULE, bits, a, b, 0);
    case LLVMIntUGE: return emit(d, SEMANTICS_ULE, bits, b, a, 0);
    case LLVMIntSLT: return emit(d, SEMANTICS_SLT, bits, a, b, 0);
    case LLVMIntSGT: return emit(d, SEMANTICS_SLT, bits, b, a, 0);
    case LLVMIntSLE: return emit(d, SEMANTICS_SLE, bits, a, b, 0);
    default: return emit(d, SEMANTICS_SLE, bits, b, a, 0);
    }
}

static void phi(struct definition *d, LLVMValueRef i)
{
    unsigned n = LLVMCountIncoming(i);
    define(d, (struct value){.key = i, .k = emit(d, SEMANTICS_PHI, bits_of(d, LLVMTypeOf(i)), n, 0, 0)});
    for (unsigned k = 0; k < n; k++) {
        unsigned from = block_number(d, LLVMGetIncomingBlock(i, k));
        emit(d, SEMANTICS_ARGUMENT, 0, from, operand(d, LLVMGetIncomingValue(i, k)), 0);
    }
}

static void terminator(struct definition *d, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMRet:
        emit(d, SEMANTICS_RETURN, 0,
             LLVMGetNumOperands(i) ? operand(d, LLVMGetOperand(i, 0)) : SEMANTICS_NONE, 0, 0);
        return;
    case LLVMBr:
        if (LLVMIsConditional(i))
            emit(d, SEMANTICS_BRANCH, 0, operand(d, LLVMGetCondition(i)),
                 block_number(d, LLVMGetSuccessor(i, 0)), block_number(d, LLVMGetSuccessor(i, 1)));
        else
            emit(d, SEMANTICS_JUMP, 0, block_number(d, LLVMGetSuccessor(i, 0)), 0, 0);
        return;
    case LLVMSwitch: {
        unsigned n = LLVMGetNumSuccessors(i);
        LLVMValueRef value = LLVMGetOperand(i, 0);
        emit(d, SEMANTICS_SWITCH, bits_of(d, LLVMTypeOf(value)), operand(d, value),
             block_number(d, LLVMGetSwitchDefaultDest(i)), n - 1);
        for (unsigned k = 1; k < n; k++)
            emit(d, SEMANTICS_ARGUMENT, 0, operand(d, LLVMGetOperand(i, 2 * k)),
                 block_number(d, LLVMGetSuccessor(i, k)), 0);
        return;
    }
    default: d->failed = true; return;
    }
}

static void instruction(struct definition *d, LLVMValueRef i)
{
    static const struct {
        LLVMOpcode opcode;
        enum semantics_code code;
    } plain[] = {
        {LLVMAdd, SEMANTICS_ADD},   {LLVMSub, SEMANTICS_SUB},       {LLVMMul, SEMANTICS_MUL},
        {LLVMAnd, SEMANTICS_AND},   {LLVMOr, SEMANTICS_OR},         {LLVMXor, SEMANTICS_XOR},
        {LLVMShl, SEMANTICS_SHL},   {LLVMLShr, SEMANTICS_LSHR},     {LLVMAShr, SEMANTICS_ASHR},
        {LLVMUDiv, SEMANTICS_UDIV}, {LLVMSDiv, SEMANTICS_SDIV},     {LLVMZExt, SEMANTICS_ZEXT},
        {LLVMSExt, SEMANTICS_SEXT}, {LLVMSelect, SEMANTICS_SELECT}, {LLVMTrunc, SEMANTICS_TRUNC},
    };
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    uint16_t k = 0;
    switch (opcode) {
    case LLVMGetElementPtr: address_of_part(d, i); return;
    case LLVMStore: write_part(d, i); return;
    case LLVMLoad: k = read_part(d, i); break;
    case LLVMCall: k = call(d, i); break;
    case LLVMExtractValue: k = extract(d, i); break;
    case LLVMICmp: k = compare(d, i); break;
    case LLVMFreeze: k = operand(d, LLVMGetOperand(i, 0)); break;
    default: {
        unsigned n = 0, operands = (unsigned)LLVMGetNumOperands(i);
        while (n < sizeof plain / sizeof plain[0] && plain[n].opcode != opcode)
            n++;
        unsigned bits = bits_of(d, LLVMTypeOf(i));
        d->failed |= n == sizeof plain / sizeof plain[0] || operands > 3;
        if (d->failed)
            return;
        uint16_t v[3] = {0};
        for (unsigned o = 0; o < operands; o++)
            v[o] = operand(d, LLVMGetOperand(i, o));
        k = emit(d, plain[n].code, bits, v[0], v[1], v[2]);
    }
    }
    define(d, (struct value){.key = i, .k = k});
}

// False if the definition cannot be expressed.
static bool make_definition(struct definition *d, LLVMValueRef function)
{
    LLVMBasicBlockRef done[SEMANTICS_BLOCKS];
    d->block_count = d->count = d->value_count = 0;
    d->failed = false;
    order_blocks(d, LLVMGetEntryBasicBlock(function), done, &d->block_count);
    for (unsigned k = 0; k < d->block_count; k++)
        d->block[k] = done[d->block_count - 1 - k];
    define(d, (struct value){.key = LLVMGetParam(function, 0), .base = BASE_CPU});
    define(d, (struct value){.key = LLVMGetParam(function, 1), .base = BASE_OP});
    for (unsigned k = 0; k < d->block_count && !d->failed; k++) {
        emit(d, SEMANTICS_BLOCK, 0, k, 0, 0);
        for (LLVMValueRef i = LLVMGetFirstInstruction(d->block[k]); i && !d->failed;
             i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAPHINode(i))
                phi(d, i);
            else if (LLVMIsATerminatorInst(i))
                terminator(d, i);
            else
                instruction(d, i);
        }
    }
    // A loop would have an edge that does not lead forward.
    for (unsigned k = 0; k < d->block_count && !d->failed; k++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(d->block[k]);
        for (unsigned n = LLVMGetNumSuccessors(end); n-- > 0;)
            d->failed |= block_number(d, LLVMGetSuccessor(end, n)) <= k;
    }
    return !d->failed;
}

int main(int argc, char **argv)
{
    static struct definition d;
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef file;
    LLVMModuleRef module;
    char *message = NULL;
    if (argc != 3 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &file, &message) ||
        LLVMParseBitcodeInContext2(context, file, &module)) {
        fprintf(stderr, "semantics_gen: no bitcode: %s\n", message ? message : "");
        return 1;
    }
    FILE *out = fopen(argv[2], "w");
    if (!out) {
        perror(argv[2]);
        return 1;
    }
    d.layout = LLVMGetModuleDataLayout(module);
    static struct semantics table[INSN_COUNT];
    unsigned total = 0;
    fprintf(out, "#include \"semantics.h\"\nconst bool semantics_exists = true;\nconst struct semantics_op "
                 "semantics_ops[] = {\n");
    for (unsigned insn = 1; insn < INSN_COUNT; insn++) {
        char name[80];
        snprintf(name, sizeof name, "op_%s", names[insn]);
        LLVMValueRef function = LLVMGetNamedFunction(module, name);
        if (!function || !make_definition(&d, function))
            continue;
        table[insn] = (struct semantics){total, (uint16_t)d.count};
        total += d.count;
        fprintf(out, "// %s\n", names[insn]);
        for (unsigned k = 0; k < d.count; k++)
            fprintf(out, "{%u,%u,%u,%u,%u},\n", d.ops[k].code, d.ops[k].bits, d.ops[k].a, d.ops[k].b,
                    d.ops[k].c);
    }
    fprintf(out, "};\nconst uint64_t semantics_constants[] = {\n");
    for (unsigned k = 0; k < constant_count; k++)
        fprintf(out, "0x%llx,\n", (unsigned long long)constants[k]);
    fprintf(out, "};\nconst struct semantics semantics_of[INSN_COUNT] = {\n");
    for (unsigned insn = 1; insn < INSN_COUNT; insn++)
        if (table[insn].count)
            fprintf(out, "[INSN_%s] = {%u, %u},\n", names[insn], table[insn].first, table[insn].count);
    fprintf(out, "};\n");
    return fclose(out) != 0;
}
