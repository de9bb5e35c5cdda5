// SPDX-License-Identifier: MIT
// A region looks at the budget where it is entered, and where loops of the guest begin: once on each way
// round would do. In a loop that LLVM has unrolled there is no way round any more, and ways round an outer
// loop come by the look of an inner one that is always entered. What may be overrun without the others is
// bounded, as in code that has no loops.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_BUDGET_H
#define CORE_ENGINE_TRANSLATE_LLVM_BUDGET_H

#include <llvm-c/Types.h>
#include <stdbool.h>

// Of a region's function, optimized: looks at the budget find enough of it from now on if all ways round from
// there come by others, as do all ways in. Returns whether there are any.
bool budget_drop_looks(LLVMValueRef function);

#endif
