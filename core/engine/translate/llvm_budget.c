// SPDX-License-Identifier: MIT
#include "llvm_budget.h"

#include <llvm-c/Core.h>

enum { SET_MAX = 256 };

static bool is_in_set(void *const set[], unsigned count, const void *member)
{
    for (unsigned i = 0; i < count; i++)
        if (set[i] == member)
            return true;
    return false;
}

// Adds the member, unless it is one already, or there is no room. Returns how many there are.
static unsigned add_to_set(void *set[], unsigned count, void *member)
{
    if (count < SET_MAX && !is_in_set(set, count, member))
        set[count++] = member;
    return count;
}

static unsigned add_successors(void *set[], unsigned count, LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        count = add_to_set(set, count, LLVMGetSuccessor(end, i));
    return count;
}

// Whether the value is the budget, less what has run: guest code never sees that. It is passed in as the
// first of all, and comes back so from other regions, which return what this one does. (Not what the host has
// granted: who is refused has to leave.)
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

// Whether some way leads from the one block to the other and comes by no look in between, as far as is known.
static bool is_reached(void *looks[], unsigned look_count, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    void *seen[SET_MAX];
    unsigned count = add_successors(seen, 0, from);
    for (unsigned i = 0; i < count; i++) {
        if (seen[i] == to || count == SET_MAX)
            return true;
        if (!is_in_set(looks, look_count, seen[i]))
            count = add_successors(seen, count, seen[i]);
    }
    return false;
}

bool budget_drop_looks(LLVMValueRef function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    void *looks[SET_MAX];
    unsigned count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (look_of(function, b))
            count = add_to_set(looks, count, b);
    const unsigned all = count;
    for (unsigned i = 0; i < count;) {
        const bool comes_in = looks[i] == entry ||
                              (!is_in_set(looks, count, entry) && is_reached(looks, count, entry, looks[i]));
        if (comes_in || is_reached(looks, count, looks[i], looks[i])) {
            i++;
            continue;
        }
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(looks[i]);
        LLVMSetCondition(branch, LLVMConstInt(LLVMTypeOf(LLVMGetCondition(branch)),
                                              look_of(function, looks[i]) == TRUE_IF_ENOUGH, false));
        looks[i] = looks[--count];
    }
    return count < all;
}
