// SPDX-License-Identifier: MIT
// What instructions there are: the enumeration made from insns.def, the decoder and the disassembler.
#ifndef CORE_ISA_ISA_H
#define CORE_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>

#include "op.h"

enum insn {
    INSN_UNDEFINED, // no instruction of this core
#define INSN(name, ...) INSN_##name,
#include "insns.def"
#undef INSN
    INSN_COUNT,
};

// How an engine continues after the semantic function.
enum insn_kind {
    KIND_OP, // with the next instruction
    KIND_CONDITION, // at disp if the function returned true, else with the next one
    KIND_JUMP, // at disp
    KIND_INDIRECT, // at the address that the function returned
    KIND_STOP, // not at all: the function returned the enum stop_reason
};

// The kernel that an instruction belongs to when dispatch is split into seven.
enum insn_group {
    GROUP_ARITH,
    GROUP_LOGIC,
    GROUP_LDST,
    GROUP_BRANCH,
    GROUP_MULDIV,
    GROUP_SHIFT,
    GROUP_SYSTEM,
    GROUP_COUNT,
};

// The state that an instruction reads or writes: a set of these in either column of insns.def.
// A register that keeps some of its bits (MOVK, BFM, INS, the upper halves of XTN2) is read as well as
// written; so is FPSR, whose bits are only ever added to, by whatever may raise one. What is read or written
// only sometimes, by a condition or by Q, is in the set.
enum insn_state {
    // general registers, by the byte of the op that has their index (SP, ZERO and SINK among them)
    Xd = 1 << 0,
    Xn = 1 << 1,
    Xm = 1 << 2,
    Xa = 1 << 3,
    // vector registers, likewise
    Vd = 1 << 4,
    Vn = 1 << 5,
    Vm = 1 << 6,
    Va = 1 << 7,
    // lists of registers: 2, 3 or 4 from Vd on, val + 1 from Vn on, round from V31 to V0; of CASP, those
    // numbered twice the byte and one more
    Vd2 = 1 << 8,
    Vd3 = 1 << 9,
    Vd4 = 1 << 10,
    Vn_list = 1 << 11,
    Xd_pair = 1 << 12,
    Xa_pair = 1 << 13,
    LR = 1 << 14, // X30
    NZCV = 1 << 15,
    FPCR = 1 << 16,
    FPSR = 1 << 17,
    TPIDR = 1 << 18, // TPIDR_EL0
    MONITOR = 1 << 19, // the exclusive monitor
    MEMORY = 1 << 20, // of the guest
    ICACHE = 1 << 21, // what has been decoded of memory
    CLOCK = 1 << 22,
};

struct insn_info {
    enum insn_kind kind;
    enum insn_group group;
    uint32_t reads, writes; // sets of enum insn_state
};

// Arrays: pointers would be addresses, which every start has to fill in.
struct insn_text {
    char name[24]; // as in insns.def: mnemonic, then the form
    char pattern[72]; // see decode_gen.c for its grammar
    char disassembly[40]; // a template, see disasm.c
};

// Indexed by enum insn.
extern const struct insn_info isa_info[INSN_COUNT];
extern const struct insn_text isa_texts[INSN_COUNT];

// Fills *out (all but handler) from the instruction word at pc, a multiple of 4. Returns INSN_UNDEFINED, with
// *out unspecified, for a word that is not allocated in what this core implements. Any thread.
enum insn isa_decode(uint32_t word, uint32_t pc, op *out);

// Whether the word has all the bits that id's pattern asks for: a word of id has, few others do. Much cheaper
// than to decode it.
bool isa_resembles(uint32_t word, enum insn id);

// The same by one kernel alone, which knows the instructions of its group and no others: INSN_UNDEFINED also
// for a word of another group.
enum insn isa_decode_in(enum insn_group group, uint32_t word, uint32_t pc, op *out);

// The registers that a set of enum insn_state, of the instruction that o is, stands for: bit i is register i,
// x has SP as bit REG_SP, and ZERO and SINK are none.
struct isa_registers {
    uint32_t x, v;
};
struct isa_registers isa_registers(uint32_t states, const op *o);

// Where words of an instruction keep a number: count bits from bit low on; count 0: nowhere, or not in one
// piece.
struct isa_bits {
    uint8_t low, count;
};
// Of the general register whose index is in one byte of the op: Xd, Xn, Xm or Xa.
struct isa_bits isa_register_bits(enum insn id, enum insn_state operand);
// Of a displacement by instructions: of direct branches and literals.
struct isa_bits isa_displacement_bits(enum insn id);

// Whether o, which id at pc is, is a direct branch to where no code can be: in front of address 0, or not
// below 4 GiB.
static inline bool isa_leaves_space(enum insn id, uint32_t pc, const op *o)
{
    const enum insn_kind kind = isa_info[id].kind;
    const int64_t target = (int64_t)pc + (int64_t)o->disp * 4;
    return (kind == KIND_CONDITION || kind == KIND_JUMP) && (target < 0 || target > UINT32_MAX);
}

// One line of text for the word at pc, into text (size bytes).
void isa_disassemble(uint32_t word, uint32_t pc, char *text, size_t size);

#endif
