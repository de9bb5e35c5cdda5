// SPDX-License-Identifier: MIT
// Compiled once for each level, LEVEL.
#include "interp_vector.h"

// Their locals may forbid a jump to the next handler: run_from goes on.
#define HANDLER_OP(name)                                                                                     \
    DEFINE(do_##name)                                                                                        \
    {                                                                                                        \
        RUN_OP(name);                                                                                        \
        return o + 1;                                                                                        \
    }

#define INSN(name, kind, ...) HANDLER_##kind(name)
#include "core/isa/insns_fp.def"
#include "core/isa/insns_simd.def"
#include "core/isa/insns_simd_mem.def"
#include "core/isa/insns_crypto.def"
#undef INSN

#define TABLE_OF(level) interp_vector_##level
#define TABLE(level) TABLE_OF(level)

handler_function *const TABLE(LEVEL)[INSN_COUNT] = {
#define INSN(name, ...) [INSN_##name] = do_##name,
#include "core/isa/insns_fp.def"
#include "core/isa/insns_simd.def"
#include "core/isa/insns_simd_mem.def"
#include "core/isa/insns_crypto.def"
#undef INSN
};
