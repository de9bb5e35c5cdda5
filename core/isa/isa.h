// SPDX-License-Identifier: MIT
// What instructions there are: the enumeration made from insns.def, the decoder and the disassembler.
#ifndef CORE_ISA_ISA_H
#define CORE_ISA_ISA_H

#include <stddef.h>

#include "op.h"

enum insn {
    INSN_UNDEFINED, // no instruction of this core
#define INSN(name, kind, group, pattern, text) INSN_##name,
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

struct insn_info {
    const char *name; // as in insns.def: mnemonic, then the form
    const char *pattern; // see decode.c for its grammar
    const char *text; // disassembly template, see disasm.c
    enum insn_kind kind;
    enum insn_group group;
};

// Indexed by enum insn.
extern const struct insn_info isa_info[INSN_COUNT];

// Fills *out (all but handler) from the instruction word at pc, a multiple of 4. Returns INSN_UNDEFINED, with
// *out unspecified, for a word that is not allocated in what this core implements. Any thread, once isa_init
// has run.
enum insn isa_decode(uint32_t word, uint32_t pc, op *out);

// The same by one kernel alone, which knows the instructions of its group and no others: INSN_UNDEFINED also
// for a word of another group.
enum insn isa_decode_in(enum insn_group group, uint32_t word, uint32_t pc, op *out);

// Compiles the patterns of insns.def into the decoder's tables; once, before any isa_decode. Any thread;
// repeated calls do nothing. Ends the program on a pattern that is not well formed: that is a mistake in the
// table.
void isa_init(void);

// One line of text for the word at pc, into text (size bytes).
void isa_disassemble(uint32_t word, uint32_t pc, char *text, size_t size);

#endif
