// SPDX-License-Identifier: MIT
// Each instruction once more, as host code to be copied (copy-and-patch: Xu and Kjolstad, OOPSLA 2021). clang
// compiles this file for each level; stencil_gen.c takes the machine code of its functions, which are never
// called themselves, with the holes that it has: the addresses of the symbols below.
//
// A stencil is a handler of the interpreter (interp_handlers.h) that knows where its registers are, and what
// comes next. Between two of them, and in memory at any time, the state is that of the interpreter; in place
// of the op there is the first one of the block.
extern char hole_xd[], hole_xn[], hole_xm[], hole_xa[], hole_vd[], hole_vn[], hole_vm[], hole_va[];
extern char hole_imm[], hole_op[], hole_target[], hole_bias[], hole_counts[], hole_pc[];

#define X(slot) (*(uint64_t *)((char *)c + offsetof(cpu, x) + (intptr_t)hole_x##slot))
#define V(slot) (*(u64x2 *)((char *)c + offsetof(cpu, v) + (intptr_t)hole_v##slot))
#define BRANCH_TARGET(o) ((op *)((char *)block + (intptr_t)hole_target))
#define BRANCH_BIAS(o) ((intptr_t)hole_bias)

// Only called, never emitted: interp_stencil_functions.c has them.
#define FP_LINKAGE extern inline __attribute__((gnu_inline))

#include "core/isa/cpu.h"

// Guest memory counts from gs. Whatever makes the instruction do otherwise than access memory at a plain
// address, be it a tag, is seldom: then the block is left for the interpreter's handler of it. A jump that
// the compiler does not know of keeps what is done for that out of the way. So far nothing has been done that
// would not be done alike again.
#define ASIDE_UNLESS_EQUAL(one, other)                                                                       \
    do {                                                                                                     \
        uint64_t a = (one), b = (other);                                                                     \
        __asm__ volatile("cmp %1, %0\n\tjne stencil_aside" : : "r"(a), "re"(b) : "memory");                  \
    } while (0)
#define ACCESSORS(bits, type)                                                                                \
    typedef type guest##bits __attribute__((address_space(256), aligned(1), may_alias));                     \
    static inline __attribute__((always_inline)) type load##bits(cpu *c, const op *o, uint64_t address)      \
    {                                                                                                        \
        ASIDE_UNLESS_EQUAL(address, (uint32_t)address);                                                      \
        type value = *(const volatile guest##bits *)(uintptr_t)(uint32_t)address;                            \
        BARRIER();                                                                                           \
        return value;                                                                                        \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((always_inline)) void store##bits(cpu *c, const op *o, uint64_t address, type value)   \
    {                                                                                                        \
        ASIDE_UNLESS_EQUAL(address, (uint32_t)address);                                                      \
        *(volatile guest##bits *)(uintptr_t)(uint32_t)address = value;                                       \
        BARRIER();                                                                                           \
    }
static inline __attribute__((always_inline)) void require_aligned(cpu *c, const op *o, uint64_t address,
                                                                  unsigned size, bool is_store)
{
    ASIDE_UNLESS_EQUAL(address & (size - 1), 0);
}

#include "core/engine/interp/interp_handlers.h"
#include "core/engine/stencil/stencil.h"

// Besides what a handler has, the two registers that were written last are at hand: a value on its way
// through memory takes some cycles.
typedef op *stencil_function(cpu *c, op *block, const char *code, uint64_t last, uint64_t before);
extern stencil_function stencil_next; // what follows in the block
extern stencil_function stencil_start; // the block
extern stencil_function stencil_aside; // what is seldom done for this instruction, behind the block
extern handler_function stencil_handler; // the interpreter's of this instruction

#define STENCIL(name, variant, form)                                                                         \
    op *stencil__##name##__##variant##__##form(cpu *c, op *block, UNUSED const char *code,                   \
                                               UNUSED uint64_t last, UNUSED uint64_t before)
#define BEGIN op *o = (op *)((char *)block + (intptr_t)hole_op)
// The same, with an immediate that is known.
#define BEGIN_FORM(form)                                                                                     \
    BEGIN;                                                                                                   \
    op known = *o;                                                                                           \
    if ((form) != FORM_WIDE)                                                                                 \
    known.imm = (uint64_t)(intptr_t)hole_imm
#define SIBLING(function, ...) __attribute__((musttail)) return function(c, __VA_ARGS__)
#undef HANDLER
#define HANDLER(o) ((stencil_function *)(code + (int32_t)(o)->handler))
#undef GO_ON
#define GO_ON(next)                                                                                          \
    do {                                                                                                     \
        op *next_op = (next);                                                                                \
        SIBLING(HANDLER(next_op), next_op, code, last, before);                                              \
    } while (0)

// What is at hand behind an instruction.
#define WRITES(name, register) (writes_##name & (register))
#define LAST_OF(name) (WRITES(name, Xd) ? X(d) : WRITES(name, Xn) ? X(n) : last)
#define BEFORE_OF(name)                                                                                      \
    (WRITES(name, Xd) && WRITES(name, Xm)   ? X(m)                                                           \
     : WRITES(name, Xd) && WRITES(name, Xn) ? X(n)                                                           \
     : WRITES(name, Xd | Xn)                ? last                                                           \
                                            : before)

// What a variant takes for granted, and a form (stencil.h).
#define GIVEN(condition) __builtin_assume(condition)
#define GIVEN_FLAGS(flags_kind) GIVEN(c->flags.kind == (flags_kind))
#define GIVEN_A(value) GIVEN(known.a == (value))
#define GIVEN_AT_HAND(slot, which) GIVEN((which) == 0 || X(slot) == ((which) == 1 ? last : before))
#define GIVEN_FORM(form)                                                                                     \
    GIVEN_AT_HAND(n, FORM_HAS_N(form));                                                                      \
    GIVEN_AT_HAND(m, FORM_HAS_M(form));                                                                      \
    GIVEN_AT_HAND(d, FORM_HAS_D(form))

#define OP_FORM(name, variant, given, form)                                                                  \
    STENCIL(name, variant, form)                                                                             \
    {                                                                                                        \
        BEGIN_FORM(form);                                                                                    \
        if ((reads_##name | writes_##name) & (ICACHE | CLOCK))                                               \
            c->current = o;                                                                                  \
        given;                                                                                               \
        GIVEN_FORM(form);                                                                                    \
        sem_##name(c, &known);                                                                               \
        SIBLING(stencil_next, block, code, LAST_OF(name), BEFORE_OF(name));                                  \
    }
#define OP_FEW_FORMS(name, variant, given)                                                                   \
    OP_FORM(name, variant, given, 0)                                                                         \
    OP_FORM(name, variant, given, 1)                                                                         \
    OP_FORM(name, variant, given, 3)                                                                         \
    OP_FORM(name, variant, given, 15)
#define OP_ALL_FORMS(name, variant, given)                                                                   \
    OP_FEW_FORMS(name, variant, given)                                                                       \
    OP_FORM(name, variant, given, 2)                                                                         \
    OP_FORM(name, variant, given, 4)                                                                         \
    OP_FORM(name, variant, given, 5)                                                                         \
    OP_FORM(name, variant, given, 6)                                                                         \
    OP_FORM(name, variant, given, 7)                                                                         \
    OP_FORM(name, variant, given, 8)                                                                         \
    OP_FORM(name, variant, given, 9)                                                                         \
    OP_FORM(name, variant, given, 10)                                                                        \
    OP_FORM(name, variant, given, 11)                                                                        \
    OP_FORM(name, variant, given, 12)                                                                        \
    OP_FORM(name, variant, given, 13)                                                                        \
    OP_FORM(name, variant, given, 14)
// Which way is expected decides which of them the code falls through to.
#define CONDITION_FORM(name, variant, given, form)                                                           \
    STENCIL(name, variant, form)                                                                             \
    {                                                                                                        \
        BEGIN;                                                                                               \
        given;                                                                                               \
        GIVEN_AT_HAND(d, FORM_HAS_D(form));                                                                  \
        if (__builtin_expect(sem_##name(c, o), 1))                                                           \
            SIBLING(stencil_aside, block, code, last, before);                                               \
        SIBLING(stencil_next, block, code, last, before);                                                    \
    }
#define CONDITION_VARIANT(name, variant, given)                                                              \
    CONDITION_FORM(name, variant, given, 0)                                                                  \
    CONDITION_FORM(name, variant, given, 9)                                                                  \
    CONDITION_FORM(name, variant, given, 12)

#define STENCIL_OP(name) OP_ALL_FORMS(name, 0, )
#define STENCIL_CONDITION(name)                                                                              \
    CONDITION_VARIANT(name, 0, )                                                                             \
    CONDITION_VARIANT(name, 1, GIVEN_FLAGS(FLAGS_SUB))                                                       \
    CONDITION_VARIANT(name, 2, GIVEN_FLAGS(FLAGS_SUB32))                                                     \
    CONDITION_VARIANT(name, 3, GIVEN_FLAGS(FLAGS_ADD))                                                       \
    CONDITION_VARIANT(name, 4, GIVEN_FLAGS(FLAGS_ADD32))
#define STENCIL_JUMP(name)                                                                                   \
    STENCIL(name, 0, 15)                                                                                     \
    {                                                                                                        \
        BEGIN;                                                                                               \
        RUN_JUMP(name, false);                                                                               \
    }                                                                                                        \
    STENCIL(name, 1, 15)                                                                                     \
    {                                                                                                        \
        BEGIN;                                                                                               \
        RUN_JUMP(name, true);                                                                                \
    }
#define STENCIL_INDIRECT(name)                                                                               \
    STENCIL(name, 0, 15)                                                                                     \
    {                                                                                                        \
        BEGIN;                                                                                               \
        RUN_INDIRECT(name);                                                                                  \
    }
#define STENCIL_STOP(name)

#define INSN(name, kind, ...) STENCIL_##kind(name)
#include "core/isa/insns_int.def"
#include "core/isa/insns_mem.def"
#undef STENCIL_OP
#define STENCIL_OP(name) OP_FORM(name, 0, , 15)
#include "core/isa/insns_crypto.def"
#include "core/isa/insns_fp.def"
#include "core/isa/insns_simd.def"
#include "core/isa/insns_simd_mem.def"
#undef INSN

#define SHIFTED(name)                                                                                        \
    OP_FEW_FORMS(name, 1, GIVEN_A(0))                                                                        \
    OP_FEW_FORMS(name, 2, GIVEN_A(1))                                                                        \
    OP_FEW_FORMS(name, 3, GIVEN_A(2))                                                                        \
    OP_FEW_FORMS(name, 4, GIVEN_A(3))
#define EXTENDED(name)                                                                                       \
    SHIFTED(name)                                                                                            \
    OP_FEW_FORMS(name, 5, GIVEN_A(4))                                                                        \
    OP_FEW_FORMS(name, 6, GIVEN_A(5))                                                                        \
    OP_FEW_FORMS(name, 7, GIVEN_A(6))                                                                        \
    OP_FEW_FORMS(name, 8, GIVEN_A(7))
// 14 conditions and NV, which holds like AL, of each kind of flags.
#define GIVEN_BOTH(flags_kind, value)                                                                        \
    GIVEN_FLAGS(flags_kind);                                                                                 \
    GIVEN_A(value)
#define SELECTING(name)                                                                                      \
    SELECTING_BY(name, FLAGS_SUB, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)                             \
    SELECTING_BY(name, FLAGS_SUB32, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)                  \
    SELECTING_BY(name, FLAGS_ADD, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42)                    \
    SELECTING_BY(name, FLAGS_ADD32, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56)
#define SELECTING_BY(name, kind, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le)                     \
    OP_FEW_FORMS(name, eq, GIVEN_BOTH(kind, 0))                                                              \
    OP_FEW_FORMS(name, ne, GIVEN_BOTH(kind, 1))                                                              \
    OP_FEW_FORMS(name, cs, GIVEN_BOTH(kind, 2))                                                              \
    OP_FEW_FORMS(name, cc, GIVEN_BOTH(kind, 3))                                                              \
    OP_FEW_FORMS(name, mi, GIVEN_BOTH(kind, 4))                                                              \
    OP_FEW_FORMS(name, pl, GIVEN_BOTH(kind, 5))                                                              \
    OP_FEW_FORMS(name, vs, GIVEN_BOTH(kind, 6))                                                              \
    OP_FEW_FORMS(name, vc, GIVEN_BOTH(kind, 7))                                                              \
    OP_FEW_FORMS(name, hi, GIVEN_BOTH(kind, 8))                                                              \
    OP_FEW_FORMS(name, ls, GIVEN_BOTH(kind, 9))                                                              \
    OP_FEW_FORMS(name, ge, GIVEN_BOTH(kind, 10))                                                             \
    OP_FEW_FORMS(name, lt, GIVEN_BOTH(kind, 11))                                                             \
    OP_FEW_FORMS(name, gt, GIVEN_BOTH(kind, 12))                                                             \
    OP_FEW_FORMS(name, le, GIVEN_BOTH(kind, 13))
STENCILS_SHIFTED(SHIFTED)
STENCILS_EXTENDED(EXTENDED)
STENCILS_SELECTING(SELECTING)

// Counts for the translator how often a branch goes this way.
#define COUNT(way) (((struct branch_counts *)((char *)c->branch_counts + (intptr_t)hole_counts))->way++)

// Behind the last instruction of a block: no branch, or a conditional one that is not taken.
STENCIL(end, 0, 15)
{
    BEGIN;
    GO_ON(o + 1);
}
STENCIL(not_taken, 0, 15)
{
    BEGIN;
    COUNT(not_taken);
    GO_ON(o + 1);
}

// What has no stencil, or too long a one.
STENCIL(call, 0, 15)
{
    BEGIN;
    stencil_handler(c, o, code);
    SIBLING(stencil_next, block, code, 0, 0);
}

// What is aside of an access: the interpreter runs the instruction, and what follows.
STENCIL(leave, 0, 15)
{
    return interp_aside((intptr_t)hole_pc);
}

// What is aside of a conditional branch: it is taken, forward, backward, or to where the block begins. Should
// something else have come to stand there, it is come to when the loop is hot once more, or has been left.
#define GO_TO_START(block) SIBLING(stencil_start, block, code, last, before)
#define TAKEN(variant, TAKE)                                                                                 \
    STENCIL(taken, variant, 15)                                                                              \
    {                                                                                                        \
        BEGIN;                                                                                               \
        COUNT(taken);                                                                                        \
        TAKE;                                                                                                \
    }
TAKEN(0, TAKE_FORWARD(o))
TAKEN(1, TAKE_BACKWARD(o))
TAKEN(2, TAKE_BACKWARD_TO(o, block, GO_TO_START))
