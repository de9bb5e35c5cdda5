// SPDX-License-Identifier: MIT
// Fields of A64 instructions (Arm ARM C4.1), as far as loop bodies need them.
#include "loop_code.h"

#include <string.h>

const uint8_t code_field_shift[CODE_FIELDS] = {0, 5, 16, 10};

enum { D = 1 << CODE_D, N = 1 << CODE_N, M = 1 << CODE_M, A = 1 << CODE_A };
enum { EQ, NE, GE = 10, LT = 11, ALWAYS = 14 };

static uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & ((2u << (high - low)) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned high, unsigned low)
{
    unsigned width = high - low + 1;
    return (int64_t)((uint64_t)bits(word, high, low) << (64 - width)) >> (64 - width);
}

// General registers in those fields; number 31 is SP in those of sp and ZR in the others.
static void general(struct code_insn *i, uint32_t word, unsigned reads, unsigned writes, unsigned sp)
{
    i->general |= reads | writes;
    i->reads |= reads;
    i->writes |= writes;
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if ((reads | writes) >> f & 1) {
            unsigned r = word >> code_field_shift[f] & 31;
            i->var[f] = r < 31 || (sp >> f & 1) ? r : CODE_NO_VAR;
        }
}

static void vectors(struct code_insn *i, uint32_t word, unsigned reads, unsigned writes)
{
    i->vector = true;
    i->reads |= reads;
    i->writes |= writes;
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if ((reads | writes) >> f & 1)
            i->var[f] = CODE_V0 + (word >> code_field_shift[f] & 31);
}

static void linear(struct code_insn *i, int64_t n_factor, int64_t m_factor, int64_t constant)
{
    i->linear = true;
    i->n_factor = n_factor;
    i->m_factor = m_factor;
    i->constant = constant;
}

static void decode_immediate(struct code_insn *i, uint32_t word)
{
    bool set;
    switch (bits(word, 25, 23)) {
    case 0:
    case 1: // ADR, ADRP: no number that would be the same in another place
        general(i, word, 0, D, 0);
        i->wide = true;
        return;
    case 2: { // ADD, SUB
        set = bits(word, 29, 29);
        int64_t constant = (int64_t)bits(word, 21, 10) << 12 * bits(word, 22, 22);
        bool subtract = bits(word, 30, 30);
        general(i, word, N, D, set ? N : N | D);
        linear(i, 1, 0, subtract ? -constant : constant);
        i->sets_flags = i->compares = set;
        return;
    }
    case 4: // AND, ORR, EOR, ANDS
        set = bits(word, 30, 29) == 3;
        general(i, word, N, D, set ? 0 : D);
        i->sets_flags = set;
        return;
    case 5: { // MOVN, MOVZ, MOVK
        int64_t constant = (int64_t)((uint64_t)bits(word, 20, 5) << 16 * bits(word, 22, 21));
        unsigned opcode = bits(word, 30, 29);
        general(i, word, opcode == 3 ? D : 0, D, 0);
        if (opcode == 2)
            linear(i, 0, 0, constant);
        else if (opcode == 0)
            linear(i, 0, 0, ~constant);
        return;
    }
    case 6: { // SBFM, BFM, UBFM
        unsigned opcode = bits(word, 30, 29), immr = bits(word, 21, 16), imms = bits(word, 15, 10);
        general(i, word, opcode == 1 ? N | D : N, D, 0);
        i->extracts = opcode == 1 ? N | D : 0;
        unsigned top = i->wide ? 63 : 31;
        if (opcode == 2 && imms != top && imms + 1 == immr)
            linear(i, (int64_t)1 << (top - imms), 0, 0); // LSL
        else if (opcode != 1 && imms == 31 && immr == 0)
            linear(i, 1, 0, 0); // SXTW, UXTW
        else if (opcode != 1 && i->wide && immr > 0 && imms == 31 && 64 - immr < 32)
            linear(i, (int64_t)1 << (64 - immr), 0, 0); // SBFIZ, UBFIZ of a word
        return;
    }
    case 7: // EXTR
        general(i, word, N | M, D, 0);
        return;
    default: i->known = false;
    }
}

// Of a shifted operand.
static uint8_t shifts_right(uint32_t word)
{
    return bits(word, 23, 22) && bits(word, 15, 10) ? M : 0;
}

static void decode_register(struct code_insn *i, uint32_t word)
{
    bool subtract = bits(word, 30, 30), set = bits(word, 29, 29);
    if (!bits(word, 28, 28) && !bits(word, 24, 24)) { // logical, shifted
        set = bits(word, 30, 29) == 3;
        general(i, word, N | M, D, 0);
        i->sets_flags = set;
        i->extracts = shifts_right(word);
        if (bits(word, 30, 29) == 1 && !bits(word, 21, 21) && bits(word, 9, 5) == 31 &&
            bits(word, 23, 22) == 0)
            linear(i, 0, (int64_t)1 << bits(word, 15, 10), 0); // MOV
    } else if (!bits(word, 28, 28)) { // ADD, SUB
        bool extended = bits(word, 21, 21);
        general(i, word, N | M, D, !extended ? 0 : set ? N : N | D);
        unsigned shift = extended ? bits(word, 12, 10) : bits(word, 15, 10);
        int64_t factor = (int64_t)((uint64_t)1 << (shift & 63));
        if (extended ? bits(word, 14, 14) || bits(word, 13, 13) : bits(word, 23, 22) == 0)
            linear(i, 1, subtract ? -factor : factor, 0);
        i->extracts = extended ? 0 : shifts_right(word);
        i->sets_flags = set;
        i->compares = set;
    } else if (bits(word, 24, 24)) { // MADD and its kin
        unsigned opcode = bits(word, 23, 21);
        bool high = opcode == 2 || opcode == 6;
        general(i, word, high ? N | M : N | M | A, D, 0);
        i->multiplies = !high;
        i->m_factor = bits(word, 15, 15) ? -1 : 1;
    } else {
        switch (bits(word, 23, 21)) {
        case 0: // ADC, SBC
            general(i, word, N | M, D, 0);
            i->reads_flags = true;
            i->sets_flags = set;
            break;
        case 2: // CCMN, CCMP
            general(i, word, bits(word, 11, 11) ? N : N | M, 0, 0);
            i->reads_flags = i->sets_flags = true;
            break;
        case 4: // CSEL and its kin
            general(i, word, N | M, D, 0);
            i->reads_flags = true;
            break;
        case 6: general(i, word, bits(word, 30, 30) ? N : N | M, D, 0); break;
        default: i->known = false;
        }
    }
}

static void decode_branch(struct code_insn *i, uint32_t word)
{
    i->kind = CODE_BRANCH;
    i->condition = ALWAYS;
    if (bits(word, 30, 26) == 5) { // B, BL
        i->target = (int32_t)signed_bits(word, 25, 0);
        if (word >> 31)
            i->kind = CODE_LEAVES;
    } else if (bits(word, 30, 25) == 0x1a || bits(word, 30, 25) == 0x1b) { // CBZ, CBNZ, TBZ, TBNZ
        bool bit = bits(word, 25, 25), set = bits(word, 24, 24);
        general(i, word, D, 0, 0);
        i->conditional = i->tests = true;
        i->target = (int32_t)(bit ? signed_bits(word, 18, 5) : signed_bits(word, 23, 5));
        if (bit)
            i->bit = (uint8_t)(word >> 31 << 5 | bits(word, 23, 19));
        // The sign decides as a comparison with 0 does.
        bool sign = i->bit == 63 || i->bit == 31;
        i->wide = bit ? i->bit == 63 : word >> 31;
        i->condition = sign ? (set ? LT : GE) : (set ? NE : EQ);
    } else if (word >> 24 == 0x54) {
        i->conditional = i->reads_flags = true;
        i->condition = bits(word, 3, 0);
        i->target = (int32_t)signed_bits(word, 23, 5);
        if (i->condition >= ALWAYS)
            i->conditional = i->reads_flags = false;
    } else if (word >> 25 == 0x6b) { // BR, BLR, RET
        general(i, word, N, 0, 0);
        i->kind = CODE_LEAVES;
        i->returns = bits(word, 24, 21) == 2;
    } else if ((word & 0xfffff01f) == 0xd503201f || (word & 0xfffff01f) == 0xd503301f) { // hints, barriers
        i->kind = CODE_COMPUTE;
    } else if (word >> 22 == 0x354) { // MSR, MRS, SYS
        bool read = bits(word, 21, 21);
        i->kind = CODE_COMPUTE;
        general(i, word, read ? 0 : D, read ? D : 0, 0);
    } else {
        i->kind = CODE_LEAVES; // SVC, BRK, what is not allocated
    }
}

// The register or registers that are loaded or stored.
static void data(struct code_insn *i, uint32_t word, bool vector, bool load, unsigned fields)
{
    i->kind = load ? CODE_LOAD : CODE_STORE;
    if (vector)
        vectors(i, word, load ? 0 : fields, load ? fields : 0);
    else
        general(i, word, load ? 0 : fields, load ? fields : 0, 0);
}

static void decode_memory(struct code_insn *i, uint32_t word)
{
    bool vector = bits(word, 26, 26);
    unsigned size = bits(word, 31, 30), opcode = bits(word, 23, 22);
    i->wide = true;
    switch (bits(word, 29, 28)) {
    case 0:
        if (vector) { // LD1 … ST4
            data(i, word, true, bits(word, 22, 22), D);
            i->size = 16;
            general(i, word, N, 0, N);
            i->writes_back = i->after = bits(word, 23, 23);
            i->pair = true;
            if (i->writes_back && bits(word, 20, 16) != 31)
                general(i, word, M, 0, 0);
            else if (i->writes_back && !bits(word, 24, 24)) {
                static const uint8_t registers[16] = {4, 4, 4, 3, 3, 3, 3, 1, 2, 2, 2};
                i->constant = registers[bits(word, 15, 12)] * (bits(word, 30, 30) ? 16 : 8);
            }
            if (i->writes_back)
                i->writes |= N;
            return;
        }
        // LDXR, STXR, LDAR, STLR, CAS
        if (size < 2 && !bits(word, 23, 23) && bits(word, 21, 21)) { // CASP
            i->known = false;
            return;
        }
        data(i, word, false, bits(word, 22, 22), D);
        general(i, word, N, 0, N);
        if (bits(word, 23, 23) == 0 && !bits(word, 22, 22))
            general(i, word, 0, M, 0); // the status
        else if (bits(word, 23, 23) && bits(word, 21, 21))
            general(i, word, M, M, 0);
        if (bits(word, 21, 21) && !bits(word, 23, 23))
            general(i, word, bits(word, 22, 22) ? 0 : A, bits(word, 22, 22) ? A : 0, 0);
        i->size = (uint8_t)(1 << size);
        return;
    case 1: // literal
        if (bits(word, 24, 24)) {
            i->known = false;
            return;
        }
        if (size == 3 && !vector) // PRFM
            return;
        data(i, word, vector, true, D);
        i->size = vector ? (uint8_t)(4 << size) : size == 1 ? 8 : 4;
        return;
    case 2: { // pairs
        unsigned mode = bits(word, 24, 23);
        data(i, word, vector, bits(word, 22, 22), D | A);
        general(i, word, N, mode == 1 || mode == 3 ? N : 0, N);
        i->size = (uint8_t)(vector ? 4 << size : size & 2 ? 8 : 4);
        i->pair = true;
        i->writes_back = mode == 1 || mode == 3;
        i->after = mode == 1;
        i->constant = signed_bits(word, 21, 15) * i->size;
        return;
    }
    default: break;
    }
    bool load = vector ? opcode & 1 : opcode != 0;
    i->size = (uint8_t)(vector && opcode & 2 ? 16 : 1 << size);
    i->extends_sign = !vector && opcode > 1;
    bool by_register = bits(word, 21, 21) && !bits(word, 24, 24);
    if (!vector && size == 3 && opcode == 2 && (!by_register || bits(word, 11, 10) == 2)) { // PRFM
        general(i, word, by_register ? N | M : N, 0, N);
        return;
    }
    if (bits(word, 24, 24)) {
        data(i, word, vector, load, D);
        general(i, word, N, 0, N);
        i->constant = (int64_t)bits(word, 21, 10) * i->size;
    } else if (!bits(word, 21, 21)) {
        unsigned mode = bits(word, 11, 10);
        data(i, word, vector, load, D);
        general(i, word, N, mode & 1 ? N : 0, N);
        i->constant = signed_bits(word, 20, 12);
        i->writes_back = mode & 1;
        i->after = mode == 1;
    } else if (bits(word, 11, 10) == 2) {
        unsigned shift = bits(word, 12, 12) ? (unsigned)__builtin_ctz(i->size) : 0;
        data(i, word, vector, load, D);
        general(i, word, N | M, 0, N);
        i->m_factor = (int64_t)1 << shift;
    } else if (bits(word, 11, 10) == 0) { // LDADD … SWP
        data(i, word, false, true, D);
        general(i, word, N | M, 0, N);
    } else {
        i->known = false;
    }
}

// Whether a SIMD instruction of three registers or two adds to its destination: MLA, FMLA, SABA, BSL, SABAL,
// SMLAL, SADALP and their kin.
static bool accumulates(uint32_t word)
{
    unsigned opcode = bits(word, 15, 11);
    if ((word & 0x9f200400) == 0x0e200400)
        return opcode == 0x12 || opcode == 0x19 || opcode == 0xf || (opcode == 3 && bits(word, 29, 29));
    opcode >>= 1;
    if ((word & 0x9f200c00) == 0x0e200000)
        return opcode == 5 || opcode == 8 || opcode == 9 || opcode == 10;
    if ((word & 0x9f000400) == 0x0f000000)
        return opcode < 8 && opcode != 3 && opcode != 7;
    return (word & 0x9f3ffc00) == 0x0e206800;
}

static void decode_vector(struct code_insn *i, uint32_t word)
{
    i->wide = true;
    bool scalar = bits(word, 28, 28) && bits(word, 30, 30) == 0;
    if (scalar && bits(word, 24, 24)) { // FMADD
        vectors(i, word, N | M | A, D);
    } else if (scalar && (!bits(word, 21, 21) || bits(word, 15, 10) == 0)) { // to and from general registers
        unsigned opcode = bits(word, 18, 16);
        if (opcode == 2 || opcode == 3 || opcode == 7) {
            vectors(i, word, 0, D);
            general(i, word, N, 0, 0);
        } else {
            vectors(i, word, N, 0);
            general(i, word, 0, D, 0);
        }
    } else if (scalar && bits(word, 21, 21) && bits(word, 13, 10) == 8) { // FCMP
        vectors(i, word, N | M, 0);
        i->sets_flags = true;
    } else if (scalar && bits(word, 21, 21) && bits(word, 11, 10) == 1) { // FCCMP
        vectors(i, word, N | M, 0);
        i->sets_flags = i->reads_flags = true;
    } else if (scalar && bits(word, 21, 21) && bits(word, 11, 10) == 3) { // FCSEL
        vectors(i, word, N | M, D);
        i->reads_flags = true;
    } else if ((word & 0x9fe08400) == 0x0e000400) { // DUP, INS, SMOV, UMOV
        unsigned opcode = bits(word, 14, 11);
        bool to = opcode == 5 || opcode == 7, from = opcode == 1 || opcode == 3;
        if (from && !bits(word, 29, 29)) {
            vectors(i, word, opcode == 3 ? D : 0, D);
            general(i, word, N, 0, 0);
        } else if (to && !bits(word, 29, 29)) {
            vectors(i, word, N, 0);
            general(i, word, 0, D, 0);
        } else {
            vectors(i, word, bits(word, 29, 29) ? N | D : N, D);
        }
    } else if ((word & 0x9ff80400) == 0x0f000400 || (scalar && bits(word, 12, 10) == 4)) { // MOVI, FMOV
        vectors(i, word, 0, D);
    } else {
        // Three registers, or two; with one of the two the field of the third holds an opcode.
        bool two = scalar ? bits(word, 14, 10) == 16
                          : (word & 0x0e3e0c00) == 0x0e200800 || (word & 0x0e3e0c00) == 0x0e300800 ||
                                (word & 0x0f000400) == 0x0f000400;
        vectors(i, word, (two ? N : N | M) | (accumulates(word) ? D : 0), D);
    }
}

void code_decode(uint32_t word, struct code_insn *i)
{
    *i = (struct code_insn){.kind = CODE_COMPUTE, .known = true, .bit = 64, .wide = word >> 31};
    memset(i->var, CODE_NO_VAR, sizeof i->var);
    switch (bits(word, 28, 25)) {
    case 8:
    case 9: decode_immediate(i, word); break;
    case 10:
    case 11: decode_branch(i, word); break;
    case 5:
    case 13: decode_register(i, word); break;
    case 7:
    case 15: decode_vector(i, word); break;
    default:
        if (bits(word, 27, 27) && !bits(word, 25, 25))
            decode_memory(i, word);
        else
            i->known = false;
    }
}
