// SPDX-License-Identifier: MIT
// Each instruction once more, as host code to be copied (copy-and-patch: Xu and Kjolstad, OOPSLA 2021). clang
// compiles this file for each level, in four parts side by side (PART_integers, …: stencil.cmake);
// stencil_gen.c takes the machine code of its functions, which are never called themselves, with the holes
// that it has: the addresses of the symbols below.
//
// A stencil is a handler of the interpreter (interp_handlers.h) that knows where its registers are, and what
// comes next. Between two of them, and in memory at any time, the state is that of the interpreter; in place
// of the op there is the first one of the block.
extern char hole_xd[], hole_xn[], hole_xm[], hole_xa[], hole_vd[], hole_vn[], hole_vm[], hole_va[];
extern char hole_imm[], hole_op[], hole_target[], hole_bias[], hole_counts[], hole_pc[], hole_offset[];
extern char hole_self[];

#define V(slot) (*(u64x2 *)((char *)c + offsetof(cpu, v) + (intptr_t)hole_v##slot))
#define BRANCH_TARGET(o) ((op *)((char *)block + (intptr_t)hole_target))
#define BRANCH_BIAS(o) ((intptr_t)hole_bias)

// Only called, never emitted: interp_stencil_functions.c has them.
#define FP_LINKAGE extern inline __attribute__((gnu_inline))

#include "core/isa/cpu.h"

#include "core/engine/stencil/stencil.h"

// An op, and behind it where its semantic function finds general registers: copies of those that it writes or
// that are at hand, the others themselves.
struct operands {
    op o;
    uint64_t *xd, *xn, *xm, *xa;
    bool is_near; // what it accesses is near to what has been accessed
    struct pinned pinned;
};
#define X(slot) (*((struct operands *)(uintptr_t)o)->x##slot)

// Whatever makes an instruction do otherwise than access memory at a plain address, be it a tag, is seldom:
// then the block is left for the interpreter's handler of it. A jump that the compiler does not know of, but
// for what stencils keep where it is, keeps what is done for that out of the way. So far nothing has been
// done that would not be done alike again.
#define ASIDE_IF_ANY(value, mask, pinned)                                                                    \
    do {                                                                                                     \
        register const char *r12 __asm__("r12") = (pinned).code;                                             \
        register uint64_t r13 __asm__("r13") = (pinned).beyond;                                              \
        register char *r14 __asm__("r14") = (pinned).counts;                                                 \
        register uint8_t *r15 __asm__("r15") = (pinned).memory;                                              \
        uint64_t bits = (value);                                                                             \
        __asm__ volatile("test %1, %0\n\tjne stencil_aside"                                                  \
                         :                                                                                   \
                         : "r"(bits), "re"((uint64_t)(mask)), "r"(r12), "r"(r13), "r"(r14), "r"(r15)         \
                         : "memory");                                                                        \
    } while (0)
// Returns where the guest's address is.
static inline __attribute__((always_inline)) void *plain_access(const op *o, uint64_t address)
{
    struct operands *with = (struct operands *)(uintptr_t)o;
    if (!with->is_near)
        ASIDE_IF_ANY(address, with->pinned.beyond, with->pinned);
    with->is_near = true; // what else it accesses
    return with->pinned.memory + address;
}
#define ACCESSORS(bits, type)                                                                                \
    typedef type guest##bits __attribute__((aligned(1), may_alias));                                         \
    static inline __attribute__((always_inline)) type load##bits(cpu *c, const op *o, uint64_t address)      \
    {                                                                                                        \
        type value = *(const volatile guest##bits *)plain_access(o, address);                                \
        BARRIER();                                                                                           \
        return value;                                                                                        \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((always_inline)) void store##bits(cpu *c, const op *o, uint64_t address, type value)   \
    {                                                                                                        \
        *(volatile guest##bits *)plain_access(o, address) = value;                                           \
        BARRIER();                                                                                           \
    }
static inline __attribute__((always_inline)) void require_aligned(cpu *c, const op *o, uint64_t address,
                                                                  unsigned size, bool is_store)
{
    // What is aligned is atomic.
    ASIDE_IF_ANY((address & (size - 1)) | c->shares_memory, ~(uint64_t)0,
                 ((struct operands *)(uintptr_t)o)->pinned);
}
#define ORDER_ACCESSES
static inline __attribute__((always_inline)) void order_accesses(cpu *c, const op *o)
{
    ASIDE_IF_ANY(c->shares_memory, 1, ((struct operands *)(uintptr_t)o)->pinned);
}

// Where a branch is taken: the next block begins there, or who knows what.
#define GO_TO(target)                                                                                        \
    do {                                                                                                     \
        block = (target);                                                                                    \
        SIBLING(stencil_exit, first, second, flag_a, flag_b);                                                \
    } while (0)

#include "core/engine/interp/interp_handlers.h"

STENCIL_FUNCTION(stencil_function);
extern stencil_function stencil_next; // what follows in the block
extern stencil_function stencil_start; // the block's first instruction
extern stencil_function stencil_aside; // what is seldom done for this instruction, behind the block
extern stencil_function stencil_exit; // what begins at the op block: the door of a block, or dispatch
extern stencil_function stencil_dispatch; // what goes on with the handler of the op block
extern stencil_function stencil_none; // nothing: what leads there is no stencil
extern handler_function stencil_handler; // the interpreter's of this instruction

#define STENCIL(name, variant, form)                                                                         \
    STENCIL_CALL op *stencil__##name##__##variant##__##form(STENCIL_PARAMETERS)
// Whatever is in rcx is passed on.
#define SIBLING(function, first, second, flag_a, flag_b)                                                     \
    do {                                                                                                     \
        __asm__("" : "=c"(nothing));                                                                         \
        __attribute__((musttail)) return function(code, beyond, counts, memory, c, block, first, nothing,    \
                                                  second, flag_a, flag_b);                                   \
    } while (0)

#define BEGIN UNUSED op *o = (op *)((char *)block + (intptr_t)hole_op)

#define REGISTER(slot) (*(uint64_t *)((char *)c + offsetof(cpu, x) + (intptr_t)hole_x##slot))
#define USES(name, register) ((reads_##name | writes_##name) & (register))
#define WRITES(name, register) (writes_##name & (register))
#define COPY(name, slot, which)                                                                              \
    uint64_t copy_##slot = (which) == 1            ? first                                                   \
                           : (which) == 2          ? second                                                  \
                           : WRITES(name, X##slot) ? REGISTER(slot)                                          \
                                                   : 0
#define OPERAND(name, slot, which) ((which) || WRITES(name, X##slot) ? &copy_##slot : &REGISTER(slot))
// What an instruction does not read is never at hand for it (variant.c).
#define READS_AT_HAND(name, form)                                                                            \
    ((!FORM_HAS(form, FORM_N) || (reads_##name & Xn)) && (!FORM_HAS(form, FORM_M) || (reads_##name & Xm)) && \
     (!FORM_HAS(form, FORM_D) || (reads_##name & Xd)))
#define BEGIN_FORM(name, form)                                                                               \
    if (!READS_AT_HAND(name, form))                                                                          \
        SIBLING(stencil_none, first, second, flag_a, flag_b);                                                \
    BEGIN;                                                                                                   \
    COPY(name, d, FORM_HAS(form, FORM_D));                                                                   \
    COPY(name, n, FORM_HAS(form, FORM_N));                                                                   \
    COPY(name, m, FORM_HAS(form, FORM_M));                                                                   \
    COPY(name, a, 0);                                                                                        \
    struct operands with = {*o,                                                                              \
                            OPERAND(name, d, FORM_HAS(form, FORM_D)),                                        \
                            OPERAND(name, n, FORM_HAS(form, FORM_N)),                                        \
                            OPERAND(name, m, FORM_HAS(form, FORM_M)),                                        \
                            OPERAND(name, a, 0),                                                             \
                            false,                                                                           \
                            {code, beyond, counts, memory}};                                                 \
    if ((form) != FORM_WIDE)                                                                                 \
    with.o.imm = (uint64_t)(intptr_t)hole_imm

// What a variant takes for granted (stencil.h).
#define GIVEN(condition) __builtin_assume(condition)
#define GIVEN_FLAGS(flags_kind)                                                                              \
    GIVEN(c->flags.kind == (flags_kind));                                                                    \
    GIVEN(c->flags.a == flag_a);                                                                             \
    GIVEN(c->flags.b == flag_b)
// Of what is compared one is a copy: else, where both are equal, the compiler takes one for the other behind
// it.
#define GIVEN_COMPARED                                                                                       \
    uint64_t compared = flag_b;                                                                              \
    __asm__("" : "+r"(compared));                                                                            \
    GIVEN(c->flags.kind == FLAGS_SUB);                                                                       \
    GIVEN(c->flags.a == flag_a);                                                                             \
    GIVEN(c->flags.b == compared)
#define GIVEN_A(value) with.o.a = (value)
#define GIVEN_IMM(value) with.o.imm = (value)
#define GIVEN_NEAR with.is_near = true

// written: those of writes_##name that are of use. Xn comes last: what is written back wins.
#define OP_WRITING(name, variant, given, form, written)                                                      \
    STENCIL(name, variant, form)                                                                             \
    {                                                                                                        \
        BEGIN_FORM(name, form);                                                                              \
        if (USES(name, ICACHE | CLOCK))                                                                      \
            c->current = o;                                                                                  \
        given;                                                                                               \
        sem_##name(c, &with.o);                                                                              \
        if ((written)&NZCV)                                                                                  \
            flag_a = c->flags.a, flag_b = c->flags.b;                                                        \
        if ((written)&Xd)                                                                                    \
            REGISTER(d) = copy_d;                                                                            \
        if ((written)&Xa)                                                                                    \
            REGISTER(a) = copy_a;                                                                            \
        if ((written)&Xm)                                                                                    \
            REGISTER(m) = copy_m;                                                                            \
        if ((written)&Xn)                                                                                    \
            REGISTER(n) = copy_n;                                                                            \
        if ((written)&Xd && (written) & (Xm | Xn))                                                           \
            second = (written)&Xm ? copy_m : copy_n;                                                         \
        if ((written) & (Xd | Xn))                                                                           \
            first = (written)&Xd ? copy_d : copy_n;                                                          \
        SIBLING(stencil_next, first, second, flag_a, flag_b);                                                \
    }
#define OP_FORM(name, variant, given, form) OP_WRITING(name, variant, given, form, writes_##name)
// Forms are enum stencil_form's, whose numbers the functions' names have.
#define OP_FEW_FORMS(name, variant, given)                                                                   \
    OP_FORM(name, variant, given, 0)                                                                         \
    OP_FORM(name, variant, given, 1)                                                                         \
    OP_FORM(name, variant, given, 3)
#define OP_FORMS(name, variant, given)                                                                       \
    OP_FEW_FORMS(name, variant, given)                                                                       \
    OP_FORM(name, variant, given, 2)                                                                         \
    OP_FORM(name, variant, given, 4)                                                                         \
    OP_FORM(name, variant, given, 5)                                                                         \
    OP_FORM(name, variant, given, 6)
#define CONDITION_FORM(name, variant, given, form)                                                           \
    STENCIL(name, variant, form)                                                                             \
    {                                                                                                        \
        BEGIN_FORM(name, form);                                                                              \
        given;                                                                                               \
        if (sem_##name(c, &with.o))                                                                          \
            SIBLING(stencil_aside, first, second, flag_a, flag_b);                                           \
        SIBLING(stencil_next, first, second, flag_a, flag_b);                                                \
    }
#define CONDITION_VARIANT(name, variant, given)                                                              \
    CONDITION_FORM(name, variant, given, 0)                                                                  \
    CONDITION_FORM(name, variant, given, 5)                                                                  \
    CONDITION_FORM(name, variant, given, 6)

#define STENCIL_OP(name)                                                                                     \
    OP_FORMS(name, 0, )                                                                                      \
    OP_FORM(name, 0, , 7)
#define STENCIL_CONDITION(name)                                                                              \
    CONDITION_VARIANT(name, 0, )                                                                             \
    CONDITION_VARIANT(name, 1, GIVEN_COMPARED)                                                               \
    CONDITION_VARIANT(name, 2, GIVEN_FLAGS(FLAGS_SUB32))                                                     \
    CONDITION_VARIANT(name, 3, GIVEN_FLAGS(FLAGS_ADD))                                                       \
    CONDITION_VARIANT(name, 4, GIVEN_FLAGS(FLAGS_ADD32))
#define STENCIL_JUMP(name)                                                                                   \
    STENCIL(name, 0, 7)                                                                                      \
    {                                                                                                        \
        BEGIN;                                                                                               \
        RUN_JUMP(name, false);                                                                               \
    }                                                                                                        \
    STENCIL(name, 1, 7)                                                                                      \
    {                                                                                                        \
        BEGIN;                                                                                               \
        RUN_JUMP(name, true);                                                                                \
    }
#define STENCIL_INDIRECT(name)                                                                               \
    STENCIL(name, 0, 7)                                                                                      \
    {                                                                                                        \
        BEGIN_FORM(name, 7);                                                                                 \
        TAKE_INDIRECT(o, sem_##name(c, &with.o), INSN_##name);                                               \
    }
#define STENCIL_STOP(name)

#define EXTRACTING(name)                                                                                     \
    OP_FEW_FORMS(name, 1, GIVEN(with.o.a != 0))                                                              \
    OP_FEW_FORMS(name, 2, GIVEN_ROTATION)
#define GIVEN_ROTATION                                                                                       \
    GIVEN(with.o.a != 0);                                                                                    \
    with.xm = with.xn
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
// (The general variant cannot stand in for form 7: what it writes, nowhere, would be taken to be at hand.)
#define COMPARING(name)                                                                                      \
    OP_WRITING(name, 1, , 0, NZCV)                                                                           \
    OP_WRITING(name, 1, , 1, NZCV)                                                                           \
    OP_WRITING(name, 1, , 2, NZCV)                                                                           \
    OP_WRITING(name, 1, , 3, NZCV)                                                                           \
    OP_WRITING(name, 1, , 4, NZCV)                                                                           \
    OP_WRITING(name, 1, , 7, NZCV)
#define INDEXED(kind, scale)                                                                                 \
    INDEXED_BY(kind##_reg, scale)                                                                            \
    INDEXED_BY(kind##_uxtw, scale)                                                                           \
    INDEXED_BY(kind##_sxtw, scale)
#define INDEXED_BY(name, scale)                                                                              \
    OP_FEW_FORMS(name, 1, GIVEN_IMM(0))                                                                      \
    OP_FEW_FORMS(name, 2, GIVEN_IMM(scale))
#define NEAR_FORMS(name) OP_FORMS(name, 1, GIVEN_NEAR)
#define NEAR_SINGLE(kind)                                                                                    \
    NEAR_FORMS(kind##_uimm)                                                                                  \
    NEAR_FORMS(kind##_unscaled)                                                                              \
    NEAR_FORMS(kind##_post)                                                                                  \
    NEAR_FORMS(kind##_pre)
#define NEAR_PAIR(kind)                                                                                      \
    NEAR_FORMS(kind##_offset)                                                                                \
    NEAR_FORMS(kind##_post)                                                                                  \
    NEAR_FORMS(kind##_pre)
#define GIVEN_SIZE(elements, full)                                                                           \
    with.o.size = (elements);                                                                                \
    with.o.q = (full)
#define OF_SIZE(name, half, full, elements)                                                                  \
    OP_FORM(name, half, GIVEN_SIZE(elements, 0), 7)                                                          \
    OP_FORM(name, full, GIVEN_SIZE(elements, 1), 7)
#define OF_BYTES(name) OF_SIZE(name, 1, 2, 0)
#define OF_NUMBERS(name)                                                                                     \
    OF_SIZE(name, 1, 2, 0)                                                                                   \
    OF_SIZE(name, 3, 4, 1)
#define SIZED(name)                                                                                          \
    OF_NUMBERS(name)                                                                                         \
    OF_SIZE(name, 5, 6, 2)                                                                                   \
    OF_SIZE(name, 7, 8, 3)
// 14 conditions and NV, which holds like AL, of each kind of flags, and of any.
#define GIVEN_BOTH(flags_kind, value)                                                                        \
    GIVEN_FLAGS(flags_kind);                                                                                 \
    GIVEN_A(value)
#define SELECTING(name)                                                                                      \
    SELECTING_BY(name, FLAGS_SUB, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)                             \
    SELECTING_BY(name, FLAGS_SUB32, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)                  \
    SELECTING_BY(name, FLAGS_ADD, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42)                    \
    SELECTING_BY(name, FLAGS_ADD32, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56)                  \
    OP_FORM(name, 57, GIVEN_A(0), 7)                                                                         \
    OP_FORM(name, 58, GIVEN_A(1), 7)                                                                         \
    OP_FORM(name, 59, GIVEN_A(2), 7)                                                                         \
    OP_FORM(name, 60, GIVEN_A(3), 7)                                                                         \
    OP_FORM(name, 61, GIVEN_A(4), 7)                                                                         \
    OP_FORM(name, 62, GIVEN_A(5), 7)                                                                         \
    OP_FORM(name, 63, GIVEN_A(6), 7)                                                                         \
    OP_FORM(name, 64, GIVEN_A(7), 7)                                                                         \
    OP_FORM(name, 65, GIVEN_A(8), 7)                                                                         \
    OP_FORM(name, 66, GIVEN_A(9), 7)                                                                         \
    OP_FORM(name, 67, GIVEN_A(10), 7)                                                                        \
    OP_FORM(name, 68, GIVEN_A(11), 7)                                                                        \
    OP_FORM(name, 69, GIVEN_A(12), 7)                                                                        \
    OP_FORM(name, 70, GIVEN_A(13), 7)
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

// ---- of each instruction, part by part ----

#define INSN(name, kind, ...) STENCIL_##kind(name)
#ifdef PART_integers
#include "core/isa/insns_int.def"
STENCILS_COMPARING(COMPARING)
STENCILS_EXTRACTING(EXTRACTING)
STENCILS_SHIFTED(SHIFTED)
STENCILS_EXTENDED(EXTENDED)
#endif
#ifdef PART_accesses
#include "core/isa/insns_mem.def"
STENCILS_INDEXED(INDEXED)
STENCILS_SINGLE(NEAR_SINGLE)
STENCILS_PAIR(NEAR_PAIR)
#endif
#ifdef PART_selecting
STENCILS_SELECTING(SELECTING)
#endif
#ifdef PART_others
#undef STENCIL_OP
#define STENCIL_OP(name) OP_FORM(name, 0, , 7)
#include "core/isa/insns_crypto.def"
#include "core/isa/insns_fp.def"
#include "core/isa/insns_simd.def"
#include "core/isa/insns_simd_mem.def"
STENCILS_SIZED(SIZED)
STENCILS_OF_NUMBERS(OF_NUMBERS)
STENCILS_OF_BYTES(OF_BYTES)

// ---- of no instruction ----

// Counts for the translator how often a branch goes this way.
#define COUNT(way) (((struct branch_counts *)(counts + (intptr_t)hole_counts))->way++)

// Behind the last instruction of a block, which hole_op is of.
STENCIL(end, 0, 7)
{
    BEGIN;
    GO_TO(o + 1);
}

// What exits lead to, unless a block is known that begins there.
STENCIL(dispatch, 0, 7)
{
    GO_ON(block);
}

// In front of a block, for those who know of it: what begins there may be something else by now.
STENCIL(door, 0, 7)
{
    if (block->handler != (uint32_t)(uintptr_t)hole_self)
        SIBLING(stencil_dispatch, first, second, flag_a, flag_b);
    SIBLING(stencil_next, first, second, flag_a, flag_b);
}

// Keeps what is at hand first as the second.
STENCIL(keep, 0, 7)
{
    SIBLING(stencil_next, first, first, flag_a, flag_b);
}

// Behind a conditional branch that is not taken.
STENCIL(not_taken, 0, 7)
{
    COUNT(not_taken);
    SIBLING(stencil_next, first, second, flag_a, flag_b);
}

// What has no stencil, or too long a one.
STENCIL(call, 0, 7)
{
    BEGIN;
    stencil_handler(c, o, code);
    SIBLING(stencil_next, 0, 0, c->flags.a, c->flags.b);
}

// What is aside of an access: the interpreter runs the instruction, and what follows.
STENCIL(leave, 0, 7)
{
    return interp_aside((intptr_t)hole_pc, (intptr_t)hole_offset);
}

// What is aside of a conditional branch: it is taken, forward, backward, or to where the block begins. Should
// something else have come to stand there, it is come to when the loop is hot once more, or has been left.
#define GO_TO_START(block) SIBLING(stencil_start, first, second, flag_a, flag_b)
#define TAKEN(variant, TAKE)                                                                                 \
    STENCIL(taken, variant, 7)                                                                               \
    {                                                                                                        \
        BEGIN;                                                                                               \
        COUNT(taken);                                                                                        \
        TAKE;                                                                                                \
    }
TAKEN(0, TAKE_FORWARD(o))
TAKEN(1, TAKE_BACKWARD(o))
TAKEN(2, TAKE_BACKWARD_TO(o, block, GO_TO_START))
#endif
