// SPDX-License-Identifier: MIT
// What a loop body says of itself: read off its instructions and one walk through them, as input of the nets
// and for renaming registers. It proves nothing: conditional code is taken to be executed, memory
// but for the stack's own slots to be unknown, and numbers not to wrap.
#ifndef CORE_LOOPS_PROPOSE_LOOP_CODE_H
#define CORE_LOOPS_PROPOSE_LOOP_CODE_H

#include <stdbool.h>

#include "core/isa/isa.h"
#include "loop_nets.h"

// Variables: X0..X30 and SP, V0..V31, then words of the stack, in the order in which they are met.
enum {
    CODE_SP = 31,
    CODE_V0 = 32,
    CODE_SLOT0 = 64,
    CODE_SLOTS = 16,
    CODE_FIXED = CODE_SLOT0 + CODE_SLOTS, // whatever is computed of what the loop does not change
    CODE_MULTIPLE, // a product of that and of something that moves steadily
    CODE_VARS,
    CODE_NO_VAR = 255,
};
typedef unsigned __int128 code_set; // of variables

enum code_kind { CODE_COMPUTE, CODE_LOAD, CODE_STORE, CODE_BRANCH, CODE_LEAVES };

// The bytes of an op that hold the numbers of registers.
enum { CODE_D, CODE_N, CODE_M, CODE_A, CODE_FIELDS };

// An instruction as the tables of core/isa have it, and what adds to them.
struct code_insn {
    enum insn id;
    op op; // at pc 0
    uint8_t kind; // enum code_kind; CODE_LEAVES: a call, a return, a system call
    bool known; // false: nothing is said about registers
    uint8_t reads, writes; // fields (bit 1 << CODE_D …)
    uint8_t var[CODE_FIELDS]; // the variable in each field; CODE_NO_VAR: none, or ZR
    bool vector; // SIMD and FP
    bool sets_flags, reads_flags, compares; // compares: by subtraction
    bool wide; // of comparisons and branches that test: 64 bits
    bool linear; // d = n_factor · n + m_factor · m + constant; so are both sides of a comparison
    uint8_t extracts; // fields of whose register only a part goes in
    bool multiplies; // d = a + m_factor · n · m
    int64_t n_factor, m_factor, constant;
    // loads and stores: address n + m_factor · m + constant
    uint8_t size; // bytes of one access
    bool extends_sign, pair, structure; // pair: of registers, the second one in m; structure: LD1 … ST4
    bool writes_back, after; // after: the access is at n, before the addition
    // branches
    bool conditional;
    uint8_t condition; // as in B.cond; for CBZ and TBZ: of n against 0
    bool tests; // CBZ, CBNZ, TBZ, TBNZ: of register d
    uint8_t bit; // TBZ, TBNZ: 0..63; otherwise 64
    int32_t target; // instructions from this one
};

// Case labels of an instruction on W and X registers.
#define CODE_W_AND_X(name, form)                                                                             \
    case INSN_##name##_w##form:                                                                              \
    case INSN_##name##_x##form

void code_decode(uint32_t word, struct code_insn *insn);
// The word with the number of the general register in a field replaced; unchanged if there is none.
uint32_t code_set_register(uint32_t word, const struct code_insn *insn, unsigned field, unsigned number);
// The word of a direct branch or a literal with its displacement replaced, as far as that fits.
uint32_t code_set_displacement(uint32_t word, const struct code_insn *insn, uint32_t displacement);
// The word with the addresses that it holds replaced by 0: of a branch, ADR, ADRP or a literal.
uint32_t code_without_address(uint32_t word, const struct code_insn *insn);

enum { FORM_TERMS = 3 };
// A value in terms of the variables at the start of the iteration: a sum, or at least what it depends on.
struct form {
    bool linear;
    uint8_t terms;
    uint8_t var[FORM_TERMS];
    int64_t factor[FORM_TERMS];
    int64_t constant;
    code_set from, direct; // variables; direct: not by way of a load's address
    uint8_t loads; // how many loads of this iteration one behind the other it went through
    uint32_t loaded; // the loads that went into it, by the bit of their instruction
};

enum code_shape { SHAPE_UNTOUCHED, SHAPE_TEMPORARY, SHAPE_AFFINE, SHAPE_CARRIED };

struct code_fact {
    struct form address; // loads and stores
    struct form value; // what it writes to d; of stores: what is stored
    struct form left, right; // comparisons, and branches that test
    bool slot; // a load or store of a word of the stack
    bool composes; // brings together two parts of registers, none of them loaded
    bool conditional; // a branch inside the body may lead around it
};

struct code_body {
    unsigned length;
    uint32_t back; // by bit: the instructions from which the loop can go on; others have no facts
    struct code_insn insn[LOOP_BODY_MAX];
    struct code_fact fact[LOOP_BODY_MAX];
    uint8_t flags_from[LOOP_BODY_MAX]; // the instruction whose flags it reads; LOOP_BODY_MAX: none here
    struct form end[CODE_VARS]; // at the end of the iteration
    uint8_t shape[CODE_VARS]; // enum code_shape
    struct form step[CODE_VARS]; // of AFFINE variables: a sum of UNTOUCHED ones
};

void code_read(const struct loop_body *body, struct code_body *code);

// By how much a value changes from one iteration to the next, with the registers x of the entry (NULL: only
// what does not hang on them). False if it does not change steadily, or by nobody knows how much.
bool code_form_step(const struct code_body *code, const struct form *f, const uint64_t *x, int64_t *step);
// Whether it changes steadily, be it by 0.
bool code_form_is_steady(const struct code_body *code, const struct form *f);
// Whether it is made of what the iteration before has loaded by it: p = p->next.
bool code_form_chases(const struct code_body *code, const struct form *f);
// Bytes that a load or store accesses, taking structures for pairs of vectors.
unsigned code_bytes(const struct code_insn *insn);
// Bytes that the accesses of one kind make in an iteration beside the one at i: at addresses that differ from
// its own by constants, its own included.
unsigned code_bytes_beside(const struct code_body *code, unsigned i, enum code_kind kind);
// Its value in the first iteration. False if it hangs on more than general registers.
bool code_form_value(const struct form *f, const uint64_t x[32], int64_t *value);

// Whether instruction i is a branch that may end the loop: the backward one, or one that leads out of the
// body, or to code in it from which no way leads back, either if it is taken or if it is not.
bool code_is_exit(const struct code_body *code, unsigned i);

// How far the loop has to go, by the exit that compares counter (31: any register that counts), or else by
// another: both measured from the counter's value at the entry.
struct code_way {
    bool found;
    unsigned at; // instruction that leaves
    unsigned counter; // register that counts there; 31 = none
    bool up; // the counter grows, or, if there is none, what is compared with the limit
    int64_t step; // what the distance of counter and limit changes by in an iteration; not 0
    int64_t distance; // how far they are apart at the entry
    bool inclusive; // the iteration at the limit is still done
};
void code_find_way(const struct code_body *code, const uint64_t x[32], unsigned counter,
                   struct code_way *way);

#endif
