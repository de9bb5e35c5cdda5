// SPDX-License-Identifier: MIT
// The way into the handlers where some of them are made of stencils. clang compiles this file, which knows
// how these are called.
#include "core/engine/interp/interp_handlers.h"
#include "core/engine/stencil/stencil.h"

STENCIL_FUNCTION(stencil_function);

op *interp_enter(cpu *c, op *o, const char *code)
{
    stencil_function *handler = (stencil_function *)HANDLER(o); // which finds its operands where C has them
    return handler(code, STENCIL_BEYOND, (char *)c->branch_counts, c->memory, c, o, (uint64_t)(uintptr_t)code,
                   0, 0, 0, 0);
}
