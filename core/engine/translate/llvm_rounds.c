// SPDX-License-Identifier: MIT
#include "llvm_rounds.h"

#include <llvm-c/Core.h>
#include <stddef.h>
#include <stdint.h>

enum { SET_MAX = 256, ROUNDS_MAX = 16 };

// A set without order: adds the member, unless it is one already, or there is no room.
static unsigned add_to_set(void *set[], unsigned count, void *member)
{
    for (unsigned i = 0; i < count; i++)
        if (set[i] == member)
            return count;
    if (count < SET_MAX)
        set[count++] = member;
    return count;
}

// Whether the value is the budget, less what has run: guest code never sees that. It is passed in as the
// first of all, and comes back so from other regions, which return what this one does.
static bool is_budget(LLVMValueRef function, LLVMValueRef value)
{
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    void *from[SET_MAX] = {value};
    unsigned count = 1;
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef v = from[i];
        if (v == LLVMGetParam(function, 0) ||
            (LLVMIsAExtractValueInst(v) && LLVMTypeOf(LLVMGetOperand(v, 0)) == result &&
             *LLVMGetIndices(v) == 0))
            return true;
        if (LLVMIsAPHINode(v))
            for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
                count = add_to_set(from, count, LLVMGetIncomingValue(v, k));
        else if (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAdd)
            count = add_to_set(from, count, LLVMGetOperand(v, 0));
    }
    return false;
}

// Whether the block ends with a look at the budget, and the condition is true if there is enough of it.
enum look { NO_LOOK, TRUE_IF_ENOUGH, FALSE_IF_ENOUGH };

static enum look look_of(LLVMValueRef function, LLVMBasicBlockRef b)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(b);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
        return NO_LOOK;
    LLVMValueRef condition = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(condition) || !LLVMIsAConstantInt(LLVMGetOperand(condition, 1)) ||
        !is_budget(function, LLVMGetOperand(condition, 0)))
        return NO_LOOK;
    switch (LLVMGetICmpPredicate(condition)) {
    case LLVMIntSGT: return TRUE_IF_ENOUGH;
    case LLVMIntSLT: return FALSE_IF_ENOUGH;
    default: return NO_LOOK;
    }
}

// Whether some way from header leads to the end of block that comes by no other look at the budget.
static bool is_reached_unseen(LLVMValueRef function, LLVMBasicBlockRef header, LLVMBasicBlockRef block)
{
    void *seen[SET_MAX] = {header};
    unsigned count = 1;
    for (unsigned i = 0; i < count; i++) {
        if (i && look_of(function, seen[i]))
            continue;
        if (seen[i] == block || count == SET_MAX)
            return true;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(seen[i]);
        for (unsigned k = LLVMGetNumSuccessors(end); k-- > 0;)
            count = add_to_set(seen, count, LLVMGetSuccessor(end, k));
    }
    return false;
}

static unsigned int_width(LLVMValueRef v) // in bits; 0 if it is no integer
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

// What the expression comes to while the variable has that value; false if more than constants is needed.
static bool evaluate(LLVMValueRef e, LLVMValueRef variable, uint64_t value, uint64_t *result)
{
    const unsigned bits = int_width(e);
    uint64_t a, b;
    if (bits == 0 || bits > 64) {
        return false;
    } else if (e == variable) {
        a = value;
    } else if (LLVMIsAConstantInt(e)) {
        a = LLVMConstIntGetZExtValue(e);
    } else {
        const LLVMOpcode opcode = LLVMIsAInstruction(e) ? LLVMGetInstructionOpcode(e) : LLVMUnreachable;
        if (opcode != LLVMAdd && opcode != LLVMAnd && opcode != LLVMTrunc && opcode != LLVMZExt)
            return false;
        if (!evaluate(LLVMGetOperand(e, 0), variable, value, &a))
            return false;
        if (opcode == LLVMAdd || opcode == LLVMAnd) {
            if (!LLVMIsAConstantInt(LLVMGetOperand(e, 1)))
                return false;
            b = LLVMConstIntGetZExtValue(LLVMGetOperand(e, 1));
            a = opcode == LLVMAdd ? a + b : a & b;
        }
    }
    *result = a & UINT64_MAX >> (64 - bits);
    return true;
}

// Whether a loop ends after a few rounds whose variable is first in front of it, and then what next comes to,
// until the branch at its end leaves.
static bool ends_soon(LLVMValueRef variable, LLVMValueRef first, LLVMValueRef next, LLVMValueRef branch,
                      LLVMBasicBlockRef header)
{
    LLVMValueRef condition = LLVMGetCondition(branch);
    const LLVMIntPredicate leaves = LLVMGetSuccessor(branch, 0) == header ? LLVMIntNE : LLVMIntEQ;
    uint64_t value, compared, last;
    if (!LLVMIsAICmpInst(condition) || LLVMGetICmpPredicate(condition) != leaves ||
        !evaluate(LLVMGetOperand(condition, 1), NULL, 0, &last) || !evaluate(first, NULL, 0, &value))
        return false;
    for (unsigned n = 0; n < ROUNDS_MAX; n++) {
        if (!evaluate(LLVMGetOperand(condition, 0), variable, value, &compared))
            return false;
        if (compared == last)
            return true;
        if (!evaluate(next, variable, value, &value))
            return false;
    }
    return false;
}

static bool ends_after_few_rounds(LLVMValueRef function, LLVMBasicBlockRef header)
{
    for (LLVMValueRef v = LLVMGetFirstInstruction(header); v && LLVMIsAPHINode(v);
         v = LLVMGetNextInstruction(v)) {
        if (LLVMCountIncoming(v) != 2)
            return false;
        for (unsigned back = 0; back < 2; back++) {
            LLVMValueRef branch = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(v, back));
            if (LLVMIsABranchInst(branch) && LLVMIsConditional(branch) &&
                ends_soon(v, LLVMGetIncomingValue(v, !back), LLVMGetIncomingValue(v, back), branch, header))
                return !is_reached_unseen(function, header, LLVMGetIncomingBlock(v, !back));
        }
    }
    return false;
}

bool rounds_free_of_budget(LLVMValueRef function)
{
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        const enum look look = look_of(function, b);
        if (look == NO_LOOK || !ends_after_few_rounds(function, b))
            continue;
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(b);
        LLVMSetCondition(branch,
                         LLVMConstInt(LLVMTypeOf(LLVMGetCondition(branch)), look == TRUE_IF_ENOUGH, false));
        any = true;
    }
    return any;
}
