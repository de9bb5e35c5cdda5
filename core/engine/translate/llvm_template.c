// SPDX-License-Identifier: MIT
#include "llvm_template.h"

#include <llvm-c/Core.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/cpu.h"

// Depth first; finished blocks are appended to *done in postorder.
static void visit(LLVMBasicBlockRef block, LLVMBasicBlockRef *seen, unsigned *seen_count,
                  LLVMBasicBlockRef *done, unsigned *done_count)
{
    for (unsigned i = 0; i < *seen_count; i++)
        if (seen[i] == block)
            return;
    if (*seen_count == TEMPLATE_BLOCKS_MAX)
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

bool template_calls(LLVMValueRef call, const char *hook)
{
    size_t length;
    return strcmp(LLVMGetValueName2(LLVMGetCalledValue(call), &length), hook) == 0;
}

void template_read(struct jit *j, LLVMValueRef function)
{
    LLVMRunFunctionPassManager(j->reader, function); // has no passes, but reads what it is run on
}

struct template *template_of(struct jit *j, unsigned insn)
{
    struct template *t = &j->template[insn];
    if (t->checked)
        return t;
    t->checked = true;
    char name[64];
    snprintf(name, sizeof name, "op_%s", isa_texts[insn].name);
    t->function = LLVMGetNamedFunction(j->templates, name);
    if (!t->function)
        return t;
    template_read(j, t->function);
    LLVMBasicBlockRef seen[TEMPLATE_BLOCKS_MAX], done[TEMPLATE_BLOCKS_MAX];
    unsigned seen_count = 0, done_count = 0, values = 0;
    visit(LLVMGetEntryBasicBlock(t->function), seen, &seen_count, done, &done_count);
    t->usable = seen_count < TEMPLATE_BLOCKS_MAX;
    for (unsigned b = 0; b < done_count && t->usable; b++) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(done[b]); i && t->usable;
             i = LLVMGetNextInstruction(i)) {
            t->usable = is_usable_instruction(i);
            values++;
        }
    }
    t->usable = t->usable && values < TEMPLATE_VALUES_MAX / 2;
    t->order = malloc(done_count * sizeof *t->order);
    if (!t->order)
        t->usable = false;
    for (unsigned b = 0; t->order && b < done_count; b++)
        t->order[b] = done[done_count - 1 - b];
    t->block_count = done_count;
    return t;
}
