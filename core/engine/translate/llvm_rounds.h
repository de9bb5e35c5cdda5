// SPDX-License-Identifier: MIT
// Loops that go round as often as constants say, which is not often, need not look at the budget each time:
// what they may overrun it by is bounded, as it is of code without loops. Then LLVM lays out the rounds one
// behind another.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_ROUNDS_H
#define CORE_ENGINE_TRANSLATE_LLVM_ROUNDS_H

#include <llvm-c/Types.h>
#include <stdbool.h>

// Of a region's function once its variables are values: looks at the budget in the headers of such loops find
// enough of it from now on. Returns whether there are any.
bool rounds_free_of_budget(LLVMValueRef function);

#endif
