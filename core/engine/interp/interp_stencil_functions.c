// SPDX-License-Identifier: MIT
// The functions that stencils call: the core of floating point, with names that the linker sees. Nothing else
// calls them by these, so there are no declarations.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define FP_LINKAGE

#include "core/engine/interp/interp_handlers.h"
