// SPDX-License-Identifier: MIT
// What an instruction does to a loop's variables: from its line in the instruction tables (core/isa), and,
// for what these do not say, from the two tables below: of accesses to memory and of values that are sums.
#include "loop_code.h"

#include <string.h>

#include "core/isa/cpu.h"

enum { EQ, NE, GE = 10, LT = 11, ALWAYS = 14 };
_Static_assert(INSN_b_le - INSN_b_eq == 13 && INSN_b_ne - INSN_b_eq == NE && INSN_b_ge - INSN_b_eq == GE &&
                   INSN_b_lt - INSN_b_eq == LT,
               "B.cond in the order of its conditions");

// ---- loads and stores ----

static const struct access {
    uint8_t size; // bytes; 0: no access
    bool extends_sign, pair, structure;
    bool after, indexed; // the address is n, before the addition; or n + (m << imm)
    uint8_t registers; // of a structure, if that is what the base moves on by
} accesses[INSN_COUNT] = {
#include "loop_accesses.def"
};

static void add_access(struct code_insn *i)
{
    const struct access *a = &accesses[i->id];
    i->size = a->size;
    i->extends_sign = a->extends_sign;
    i->pair = a->pair;
    i->structure = a->structure;
    i->after = a->after;
    i->writes_back = isa_info[i->id].writes & Xn;
    i->constant = a->structure ? a->registers * (i->op.q ? 16 : 8) : (int64_t)i->op.imm;
    if (a->indexed) {
        i->m_factor = (int64_t)1 << i->op.imm;
        i->constant = 0;
    }
}

// ---- sums ----

static void linear(struct code_insn *i, int64_t n_factor, int64_t m_factor, int64_t constant)
{
    i->linear = true;
    i->n_factor = n_factor;
    i->m_factor = m_factor;
    i->constant = constant;
}

// UBFM keeps the bits of imm of n, rotated right by a: LSL, or a word that is extended and shifted.
static void add_unsigned_field(struct code_insn *i, unsigned width)
{
    uint64_t mask = i->op.imm, lowest = mask & -mask;
    bool is_shift = lowest > 1 && mask >> (width - 1) & 1;
    bool is_word = mask / lowest == UINT32_MAX && i->op.a == (-__builtin_ctzll(mask) & (int)(width - 1));
    if (is_shift || is_word)
        linear(i, (int64_t)lowest, 0, 0);
}

// SBFM shifts n left by m, then right by a: a word that is extended and shifted.
static void add_signed_field(struct code_insn *i, unsigned width)
{
    unsigned above = width - 32;
    if (i->op.m == above && i->op.a <= above && (i->op.a > 0 || above == 0))
        linear(i, (int64_t)1 << (above - i->op.a), 0, 0);
}

// Of a shifted operand that is none to the left: 0 = LSL.
static void add_shifted(struct code_insn *i)
{
    if (i->op.a != 0 && i->op.imm != 0)
        i->extracts = 1 << CODE_M;
}

static void add_value(struct code_insn *i)
{
    int64_t imm = (int64_t)i->op.imm;
    switch (i->id) {
        CODE_W_AND_X(add, _imm) : CODE_W_AND_X(adds, _imm) : linear(i, 1, 0, imm);
        break;
        CODE_W_AND_X(sub, _imm) : CODE_W_AND_X(subs, _imm) : linear(i, 1, 0, -imm);
        break;
        CODE_W_AND_X(movz, ) : linear(i, 0, 0, imm);
        break;
        CODE_W_AND_X(movn, ) : linear(i, 0, 0, ~imm);
        break;

        CODE_W_AND_X(add, ) : CODE_W_AND_X(adds, ) : linear(i, 1, 1, 0);
        break;
        CODE_W_AND_X(sub, ) : CODE_W_AND_X(subs, ) : linear(i, 1, -1, 0);
        break;
        CODE_W_AND_X(add, _lsl) : CODE_W_AND_X(adds, _lsl) : linear(i, 1, (int64_t)(1ull << imm), 0);
        break;
        CODE_W_AND_X(sub, _lsl) : CODE_W_AND_X(subs, _lsl) : linear(i, 1, -(int64_t)(1ull << imm), 0);
        break;
        // UXTB and SXTB alone are parts of a register here.
        CODE_W_AND_X(add, _ext)
            : CODE_W_AND_X(adds, _ext) : if (i->op.a & 3) linear(i, 1, (int64_t)1 << imm, 0);
        break;
        CODE_W_AND_X(sub, _ext)
            : CODE_W_AND_X(subs, _ext) : if (i->op.a & 3) linear(i, 1, -((int64_t)1 << imm), 0);
        break;
        CODE_W_AND_X(orr, )
            : // MOV
              if (i->op.n == REG_ZERO) linear(i, 0, 1, 0);
        break;
        CODE_W_AND_X(orr, _shift)
            : if (i->op.n == REG_ZERO && i->op.a == 0) linear(i, 0, (int64_t)(1ull << imm), 0);
        add_shifted(i);
        break;

        CODE_W_AND_X(add, _shift)
            : CODE_W_AND_X(adds, _shift)
            : CODE_W_AND_X(sub, _shift)
            : CODE_W_AND_X(subs, _shift)
            : CODE_W_AND_X(and, _shift)
            : CODE_W_AND_X(ands, _shift)
            : CODE_W_AND_X(bic, _shift)
            : CODE_W_AND_X(bics, _shift)
            : CODE_W_AND_X(orn, _shift)
            : CODE_W_AND_X(eor, _shift) : CODE_W_AND_X(eon, _shift) : add_shifted(i);
        break;
        CODE_W_AND_X(bfm, ) : i->extracts = 1 << CODE_N | 1 << CODE_D;
        break;
    case INSN_ubfm_w: add_unsigned_field(i, 32); break;
    case INSN_ubfm_x: add_unsigned_field(i, 64); break;
    case INSN_sbfm_w: add_signed_field(i, 32); break;
    case INSN_sbfm_x:
        add_signed_field(i, 64);
        break;

        CODE_W_AND_X(madd, ) : case INSN_smaddl : case INSN_umaddl : i->multiplies = true;
        i->m_factor = 1;
        break;
        CODE_W_AND_X(msub, ) : case INSN_smsubl : case INSN_umsubl : i->multiplies = true;
        i->m_factor = -1;
        break;
    default: break;
    }
}

// ---- branches ----

static void add_branch(struct code_insn *i)
{
    const struct insn_info *info = &isa_info[i->id];
    i->target = i->op.disp;
    i->conditional = info->kind == KIND_CONDITION;
    i->tests = info->reads & Xd;
    i->condition = ALWAYS;
    if (!i->conditional)
        return;
    if (!i->tests) {
        i->condition = (uint8_t)(i->id - INSN_b_eq);
        return;
    }
    bool one_bit = i->id == INSN_tbz || i->id == INSN_tbnz;
    bool set = i->id == INSN_tbnz || i->id == INSN_cbnz_w || i->id == INSN_cbnz_x;
    if (one_bit)
        i->bit = i->op.a;
    // The sign decides as a comparison with 0 does.
    bool sign = i->bit == 63 || i->bit == 31;
    i->wide = one_bit ? i->bit == 63 : i->id == INSN_cbz_x || i->id == INSN_cbnz_x;
    i->condition = sign ? (set ? LT : GE) : (set ? NE : EQ);
}

// ---- all ----

// Narrowing instructions, which keep the other half of d only in their second form (XTN2, …).
static bool is_narrowing(enum insn id)
{
    switch (id) {
    case INSN_xtn_v:
    case INSN_sqxtn_v:
    case INSN_sqxtun_v:
    case INSN_uqxtn_v:
    case INSN_fcvtn_v:
    case INSN_fcvtxn_v:
    case INSN_addhn_v:
    case INSN_raddhn_v:
    case INSN_subhn_v:
    case INSN_rsubhn_v:
    case INSN_shrn_vi:
    case INSN_rshrn_vi:
    case INSN_sqshrn_vi:
    case INSN_sqrshrn_vi:
    case INSN_sqshrun_vi:
    case INSN_sqrshrun_vi:
    case INSN_uqshrn_vi:
    case INSN_uqrshrn_vi: return true;
    default: return false;
    }
}

static enum code_kind kind_of(const struct insn_info *info)
{
    switch (info->kind) {
    case KIND_CONDITION: return CODE_BRANCH;
    case KIND_JUMP: return info->writes & LR ? CODE_LEAVES : CODE_BRANCH;
    case KIND_INDIRECT:
    case KIND_STOP: return CODE_LEAVES;
    default: break;
    }
    if (info->group != GROUP_LDST)
        return CODE_COMPUTE;
    return info->reads & MEMORY && !(info->reads & MONITOR) ? CODE_LOAD
           : info->writes & MEMORY                          ? CODE_STORE
                                                            : CODE_COMPUTE;
}

static void add_register(struct code_insn *i, unsigned field, uint8_t index, uint32_t states,
                         uint32_t general, uint32_t vectors, uint8_t *accessed)
{
    if (!(states & (general | vectors)))
        return;
    *accessed |= (uint8_t)(1 << field);
    i->var[field] = states & vectors ? (uint8_t)(CODE_V0 + index) : index <= REG_SP ? index : CODE_NO_VAR;
    i->vector |= (states & vectors) != 0;
}

static void add_registers(struct code_insn *i, uint32_t states, uint8_t *accessed)
{
    add_register(i, CODE_D, i->op.d, states, Xd, Vd | Vd2 | Vd3 | Vd4, accessed);
    add_register(i, CODE_N, i->op.n, states, Xn, Vn | Vn_list, accessed);
    add_register(i, CODE_M, i->op.m, states, Xm, Vm, accessed);
    add_register(i, CODE_A, i->op.a, states, Xa, Va, accessed);
}

void code_decode(uint32_t word, struct code_insn *i)
{
    *i = (struct code_insn){.bit = 64};
    memset(i->var, CODE_NO_VAR, sizeof i->var);
    i->id = isa_decode(word, 0, &i->op);
    const struct insn_info *info = &isa_info[i->id];
    i->kind = kind_of(info);
    i->known = i->id != INSN_UNDEFINED && !(info->reads & (Xd_pair | Xa_pair));
    if (!i->known)
        return;
    add_registers(i, is_narrowing(i->id) && !i->op.q ? info->reads & ~Vd : info->reads, &i->reads);
    add_registers(i, info->writes, &i->writes);
    i->reads_flags = info->reads & NZCV;
    i->sets_flags = info->writes & NZCV;
    i->compares = i->sets_flags && !i->reads_flags && !i->vector && info->group == GROUP_ARITH;
    i->wide = i->vector || word >> 31;
    if (i->kind == CODE_BRANCH)
        add_branch(i);
    else if (i->kind == CODE_LOAD || i->kind == CODE_STORE)
        add_access(i);
    else
        add_value(i);
}

static uint32_t set_bits(uint32_t word, struct isa_bits at, uint32_t value)
{
    uint32_t mask = (uint32_t)(((uint64_t)1 << at.count) - 1) << at.low;
    return (word & ~mask) | (value << at.low & mask);
}

uint32_t code_set_register(uint32_t word, const struct code_insn *i, unsigned field, unsigned number)
{
    return set_bits(word, isa_register_bits(i->id, (enum insn_state)(Xd << field)), number);
}

uint32_t code_set_displacement(uint32_t word, const struct code_insn *i, uint32_t displacement)
{
    return set_bits(word, isa_displacement_bits(i->id), displacement);
}

uint32_t code_without_address(uint32_t word, const struct code_insn *i)
{
    if (i->id == INSN_adr || i->id == INSN_adrp)
        return word & ~(3u << 29 | 0x7ffffu << 5); // immlo, immhi
    return code_set_displacement(word, i, 0);
}
