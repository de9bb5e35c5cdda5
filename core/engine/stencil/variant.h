// SPDX-License-Identifier: MIT
// Which of an instruction's stencils a block takes: it depends on what is known where the instruction stands.
#ifndef CORE_ENGINE_STENCIL_VARIANT_H
#define CORE_ENGINE_STENCIL_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/isa/cpu.h"
#include "core/isa/isa.h"
#include "stencil.h"

enum { FLAGS_UNKNOWN = STENCIL_FLAGS_KINDS, NO_REGISTER = 255 };

// What is known between two instructions of a block.
struct known {
    unsigned flags; // their kind, or FLAGS_UNKNOWN
    unsigned at_hand[2]; // registers, or NO_REGISTER
    uint32_t accessed; // Xn of bit n, and how far from it memory has been accessed
    int64_t distance[REG_SP + 1];
};

// What an instruction does with general registers: its operands that are written, as in isa_info, and sets of
// registers.
struct usage {
    uint32_t written, reads, writes;
};

// At the beginning of a block.
struct known variant_known_first(void);
struct usage variant_usage(enum insn id, const op *o);

// The number of the stencil in l->all; 0: there is none.
unsigned variant_choose(const struct stencils *l, enum insn id, const op *o, const struct known *k);

// Whether what is at hand first is to take the place of the second in front of the first of count
// instructions, which writes another there: if it is read before the second is.
bool variant_should_keep(const struct known *k, const struct usage *u, unsigned count);

// *k behind the instruction. is_called: it was left to its handler, which keeps nothing at hand.
void variant_learn(struct known *k, enum insn id, const op *o, const struct usage *u, bool is_called);

#endif
