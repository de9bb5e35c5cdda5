// SPDX-License-Identifier: MIT
// Copying an instruction's definition, with its operands filled in, to where a region is being built.
// Constants fold on the way, so that only what the operands leave of a definition is copied.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_COPY_H
#define CORE_ENGINE_TRANSLATE_LLVM_COPY_H

#include "llvm_build.h"

// Adds the meaning of o where u->at stands; returns what its function returns, or NULL. On a definition that
// cannot be copied: sets u->failed, and the template is not usable from then on.
LLVMValueRef copy_template(struct build *u, const struct region_op *o);

#endif
