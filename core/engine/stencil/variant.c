// SPDX-License-Identifier: MIT
#include "variant.h"

#include <limits.h>

#include "core/state/memory.h"

enum { NO_VARIANTS, COMPARING, INDEXED, EXTRACTING, SHIFTED, EXTENDED, SELECTING, SIZED };
static const uint8_t classes[INSN_COUNT] = {
#define CLASS(name) [INSN_##name] = COMPARING,
    STENCILS_COMPARING(CLASS)
#undef CLASS
#define CLASS(name, scale)                                                                                   \
    [INSN_##name##_reg] = INDEXED, [INSN_##name##_uxtw] = INDEXED, [INSN_##name##_sxtw] = INDEXED,
        STENCILS_INDEXED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = EXTRACTING,
            STENCILS_EXTRACTING(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = SHIFTED,
                STENCILS_SHIFTED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = EXTENDED,
                    STENCILS_EXTENDED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = SELECTING,
                        STENCILS_SELECTING(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = SIZED,
                            STENCILS_SIZED(CLASS) STENCILS_OF_NUMBERS(CLASS) STENCILS_OF_BYTES(CLASS)
#undef CLASS
};

// What a load or store accesses: Xn + imm, or Xn, which is then changed by imm.
enum { NOT_NEAR, OFFSET, PRE_INDEXED, POST_INDEXED };
static const uint8_t addressing[INSN_COUNT] = {
#define ADDRESSING(kind)                                                                                     \
    [INSN_##kind##_uimm] = OFFSET, [INSN_##kind##_unscaled] = OFFSET, [INSN_##kind##_pre] = PRE_INDEXED,     \
    [INSN_##kind##_post] = POST_INDEXED,
    STENCILS_SINGLE(ADDRESSING)
#undef ADDRESSING
#define ADDRESSING(kind)                                                                                     \
    [INSN_##kind##_offset] = OFFSET, [INSN_##kind##_pre] = PRE_INDEXED, [INSN_##kind##_post] = POST_INDEXED,
        STENCILS_PAIR(ADDRESSING)
#undef ADDRESSING
};

// 1 + the kind of flags that an instruction leaves, where that is always the same.
static const uint8_t flags_left[INSN_COUNT] = {
#define OPERANDS(name, kind)                                                                                 \
    [INSN_##name##_imm] = 1 + (kind), [INSN_##name] = 1 + (kind), [INSN_##name##_lsl] = 1 + (kind),          \
    [INSN_##name##_shift] = 1 + (kind), [INSN_##name##_ext] = 1 + (kind)
    OPERANDS(subs_x, FLAGS_SUB),         OPERANDS(subs_w, FLAGS_SUB32),
    OPERANDS(adds_x, FLAGS_ADD),         OPERANDS(adds_w, FLAGS_ADD32),
#undef OPERANDS
    [INSN_ands_x_imm] = 1 + FLAGS_ADD,   [INSN_ands_x] = 1 + FLAGS_ADD,
    [INSN_ands_x_shift] = 1 + FLAGS_ADD, [INSN_bics_x] = 1 + FLAGS_ADD,
    [INSN_bics_x_shift] = 1 + FLAGS_ADD, [INSN_ands_w_imm] = 1 + FLAGS_ADD32,
    [INSN_ands_w] = 1 + FLAGS_ADD32,     [INSN_ands_w_shift] = 1 + FLAGS_ADD32,
    [INSN_bics_w] = 1 + FLAGS_ADD32,     [INSN_bics_w_shift] = 1 + FLAGS_ADD32,
    [INSN_fcmp_s] = 1 + FLAGS_SUB,       [INSN_fcmp_s_zero] = 1 + FLAGS_SUB,
    [INSN_fcmpe_s] = 1 + FLAGS_SUB,      [INSN_fcmpe_s_zero] = 1 + FLAGS_SUB,
    [INSN_fcmp_d] = 1 + FLAGS_SUB,       [INSN_fcmp_d_zero] = 1 + FLAGS_SUB,
    [INSN_fcmpe_d] = 1 + FLAGS_SUB,      [INSN_fcmpe_d_zero] = 1 + FLAGS_SUB,
};

static unsigned flags_behind(enum insn id, unsigned before)
{
    if (!(isa_info[id].writes & NZCV))
        return before;
    return flags_left[id] ? flags_left[id] - 1u : FLAGS_UNKNOWN;
}

static bool is_near(enum insn id, const op *o, const struct known *k)
{
    int64_t at = addressing[id] == POST_INDEXED ? 0 : (int64_t)o->imm;
    if (!addressing[id] || !(k->accessed >> o->n & 1))
        return false;
    return at - k->distance[o->n] <= MEMORY_NEAR && k->distance[o->n] - at <= MEMORY_NEAR;
}

static unsigned number_of(enum insn id, const op *o, const struct known *k)
{
    switch (isa_info[id].kind) {
    case KIND_CONDITION: return k->flags == FLAGS_UNKNOWN ? 0 : 1 + k->flags;
    case KIND_JUMP: return o->disp <= 0;
    default: break;
    }
    if (addressing[id])
        return is_near(id, o, k);
    switch (classes[id]) {
    case COMPARING: return o->d == REG_SINK;
    case INDEXED: return o->imm ? 2 : 1;
    case EXTRACTING: return o->a ? 1 + (o->n == o->m) : 0;
    case SHIFTED:
    case EXTENDED: return 1u + o->a;
    case SELECTING: return o->a >= STENCIL_CONDITIONS ? 0 : 1 + STENCIL_CONDITIONS * k->flags + o->a;
    case SIZED: return 1u + o->q + 2u * o->size;
    default: return 0;
    }
}

// The form for the register where it is read and at hand, else FORM_PLAIN.
static unsigned form_of(const struct known *k, uint32_t reads, uint32_t operand, unsigned number,
                        enum stencil_form first)
{
    if (!(reads & operand))
        return FORM_PLAIN;
    return number == k->at_hand[0] ? first : number == k->at_hand[1] ? first + 1u : FORM_PLAIN;
}

unsigned variant_choose(const struct stencils *l, enum insn id, const op *o, const struct known *k)
{
    if (!l->first[id])
        return 0;
    const uint16_t *numbers = l->numbers + l->first[id] + FORM_COUNT * number_of(id, o, k);
    const uint32_t reads = isa_info[id].reads;
    const unsigned forms[] = {form_of(k, reads, Xn, o->n, FORM_N), form_of(k, reads, Xd, o->d, FORM_D),
                              form_of(k, reads, Xm, o->m, FORM_M)};
    const bool is_wide = isa_info[id].kind == KIND_OP && (int64_t)o->imm != (int32_t)o->imm;
    for (unsigned i = 0; i < sizeof forms / sizeof *forms && !is_wide; i++)
        if (forms[i] != FORM_PLAIN && numbers[forms[i]])
            return numbers[forms[i]];
    if (numbers[FORM_PLAIN] && !is_wide)
        return numbers[FORM_PLAIN];
    // A variant that would be too long is not there at all; the general one may be.
    return numbers[FORM_WIDE] ? numbers[FORM_WIDE] : l->numbers[l->first[id] + FORM_WIDE];
}

struct usage variant_usage(enum insn id, const op *o)
{
    const bool nowhere = classes[id] == COMPARING && o->d == REG_SINK;
    const uint32_t written = isa_info[id].writes & ~(nowhere ? (uint32_t)Xd : 0);
    return (struct usage){written, isa_registers(isa_info[id].reads, o).x, isa_registers(written, o).x};
}

// Where memory has been accessed behind the instruction.
static void learn_access(enum insn id, const op *o, const struct usage *u, struct known *k)
{
    const uint32_t writes = isa_info[id].writes;
    k->accessed &= ~u->writes;
    if (!addressing[id] || (writes & Xd && o->d == o->n) || (writes & Xm && o->m == o->n))
        return;
    k->accessed |= 1u << o->n;
    k->distance[o->n] = addressing[id] == OFFSET         ? (int64_t)o->imm
                        : addressing[id] == POST_INDEXED ? -(int64_t)o->imm
                                                         : 0;
}

// See OP_WRITING: what is written goes to the first register at hand, and to the second only what else is.
static bool writes_second(uint32_t written)
{
    return written & Xd && written & (Xm | Xn);
}

static void learn_at_hand(const struct usage *u, const op *o, struct known *k)
{
    const uint32_t written = u->written;
    for (unsigned i = 0; i < 2; i++)
        if (k->at_hand[i] <= REG_SP && u->writes >> k->at_hand[i] & 1)
            k->at_hand[i] = NO_REGISTER;
    if (written & (Xd | Xn))
        k->at_hand[0] = written & Xd ? o->d : o->n;
    if (writes_second(written))
        k->at_hand[1] = written & Xm ? o->m : o->n;
    // What an instruction writes twice is not at hand as it is in the end.
    if (writes_second(written) && ((written & Xn && o->d == o->n) || (written & Xm && o->d == o->m)))
        k->at_hand[0] = k->at_hand[1] = NO_REGISTER;
}

bool variant_should_keep(const struct known *k, const struct usage *u, unsigned count)
{
    unsigned when[2] = {UINT_MAX, UINT_MAX};
    for (unsigned which = 0; which < 2; which++) {
        const unsigned number = k->at_hand[which];
        bool is_written = number > REG_SP;
        for (unsigned i = 0; i < count && !is_written && when[which] == UINT_MAX; i++) {
            if (u[i].reads >> number & 1 && (i || which == 1)) // the first instruction finds both
                when[which] = i;
            is_written = u[i].writes >> number & 1;
        }
    }
    return u->written & (Xd | Xn) && !writes_second(u->written) && when[0] < when[1];
}

struct known variant_known_first(void)
{
    return (struct known){.flags = FLAGS_UNKNOWN, .at_hand = {NO_REGISTER, NO_REGISTER}};
}

void variant_learn(struct known *k, enum insn id, const op *o, const struct usage *u, bool is_called)
{
    learn_access(id, o, u, k);
    k->flags = flags_behind(id, k->flags);
    if (is_called)
        k->at_hand[0] = k->at_hand[1] = NO_REGISTER;
    else
        learn_at_hand(u, o, k);
}
