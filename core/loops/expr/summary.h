// SPDX-License-Identifier: MIT
// What one iteration of a loop does: made by running its instructions on symbols instead of numbers, from
// the same definitions that the engines run.
//
// Iterations count from 0. Every value is a node of an acyclic graph over the state at the start of an
// iteration and what the iteration loads.
#ifndef CORE_LOOPS_SUMMARY_H
#define CORE_LOOPS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa/cpu.h"

enum {
    SUMMARY_BODY_MAX = 32, // instructions
    SUMMARY_NODES = 512,
    SUMMARY_ACCESSES = 24,
    SUMMARY_EXITS = 6,
    LINEAR_TERMS = 4,
};

// The guest's state as the loop sees it: X0..X30 and SP by their index in cpu.x, then:
enum {
    LOOP_VAR_FLAGS_A = 32,
    LOOP_VAR_FLAGS_B,
    LOOP_VAR_FLAGS_KIND,
    LOOP_VAR_LENGTH, // instructions of this iteration so far
    LOOP_VARS,
};

enum node_kind {
    NODE_CONSTANT, // value
    NODE_VAR, // the state variable a at the start of the iteration (64 bits; the flags' kind 32)
    NODE_LOAD, // what access a read (bits = 8 x its size); but what an earlier store of the iteration has put
               // there for sure is that store's value
    // of a and b, modulo 2^bits:
    NODE_ADD,
    NODE_SUB,
    NODE_MUL,
    NODE_AND,
    NODE_OR,
    NODE_XOR,
    NODE_SHL,
    NODE_LSHR,
    NODE_ASHR,
    NODE_UDIV,
    NODE_SDIV,
    // bits = 1; a and b are equally wide:
    NODE_EQ,
    NODE_ULT,
    NODE_ULE,
    NODE_SLT,
    NODE_SLE,
    NODE_SELECT, // a ? b : c
    NODE_ZEXT, // of a, to bits
    NODE_SEXT,
    NODE_TRUNC,
    NODE_CLZ,
    NODE_BSWAP,
    NODE_BITREVERSE,
};

// Nodes refer to earlier ones only. Equal nodes are one node; what can be folded is; the constant of a
// commutative operation is b. `not` is EQ with 0 or XOR with 1.
struct node {
    uint8_t kind, bits;
    uint16_t a, b, c;
    uint64_t value;
};

// constant + the sum of factor x var: the value of an expression that only depends on registers, computed
// from their values at the loop's entry. With bits 32 the sum is taken modulo 2^32 (constant and factors are
// kept sign-extended, so a constant step is (int64_t)constant with either). A var of LINEAR_LOAD + k stands
// for what access k reads, zero-extended: one whose address does not change while the loop runs, and of which
// the user has to make sure that the contents do not change either.
enum { LINEAR_LOAD = 64 };
struct linear {
    bool valid;
    uint8_t bits, count;
    uint8_t var[LINEAR_TERMS];
    int64_t factor[LINEAR_TERMS];
    uint64_t constant;
};

enum var_shape {
    VAR_UNTOUCHED, // never written
    VAR_TEMPORARY, // written before it is read in every iteration
    VAR_AFFINE, // value + i x step
    VAR_CARRIED, // anything else that an iteration takes over from the one before
};

enum access_shape {
    ACCESS_INVARIANT, // always the same address
    ACCESS_STREAM, // base + i x step
    ACCESS_GATHER, // base + an index that is bounded
    ACCESS_UNKNOWN,
};

struct access {
    uint32_t pc;
    uint8_t size; // bytes: 1, 2, 4 or 8; 16 bytes are two accesses
    bool is_store;
    uint8_t alignment; // bytes: of what the address has to be a multiple, else the access faults
    uint16_t address; // node, 64 bits
    uint16_t value; // node: what a store writes
    uint16_t condition; // node: whether the access happens in an iteration that has not left the loop before;
                        // NODE of constant 1 = always
    uint8_t shape; // enum access_shape
    // INVARIANT, STREAM: the address in iteration 0; GATHER: without the index. bits 32 where only the lower
    // half of the address, which is all that translated code uses of it (the interpreter faults where the
    // upper is not 0), is known to be linear.
    struct linear base;
    struct linear step; // STREAM: bytes
    uint16_t index; // GATHER: the node that is added to base, 0..index_max
    uint64_t index_max; // bytes
};

// A way out of the loop: taken in the first iteration in which condition holds, if no earlier one is. A
// branch that leaves if one of several things holds is as many exits.
struct loop_exit {
    uint32_t pc; // of the branch
    uint32_t target;
    uint16_t condition; // node, 1 bit
    uint8_t accesses_before; // accesses of the iteration that come before
    uint16_t length; // node: instructions of that iteration, the branch included
    bool at_end; // the exit is the backward branch itself, not taken
    // Closed form, where `counted`: the loop goes on while compare(counter, limit), counter being
    // start + i x step when iteration i comes to the exit, modulo 2^bits.
    bool counted;
    uint8_t compare; // NODE_EQ: goes on while different; ULT, ULE, SLT, SLE: while counter < limit …
    bool swapped; // goes on while limit < counter …
    bool is_equal; // with NODE_EQ: goes on while equal
    uint8_t bits; // 32 or 64
    struct linear start, step, limit;
};

struct loop_summary {
    uint32_t header, branch; // pc of the first instruction and of the backward branch
    uint32_t length; // instructions of a full iteration; 0 if that depends on the path
    uint32_t words[SUMMARY_BODY_MAX]; // the code from header to branch
    uint16_t node_count;
    uint8_t access_count, exit_count;
    struct node nodes[SUMMARY_NODES];
    struct access accesses[SUMMARY_ACCESSES]; // in program order
    struct loop_exit exits[SUMMARY_EXITS]; // in program order
    struct {
        uint8_t shape; // enum var_shape
        uint16_t value; // node: at the end of a full iteration
        struct linear step; // AFFINE
        uint8_t bits; // AFFINE: 64, or 32: modulo 2^32, the upper half zero
        bool read; // the value at the start of an iteration is used by one
    } vars[LOOP_VARS];
};

// Summarises the loop whose code is words[0..length), at header, with the backward branch to header last
// (conditional or not). Branches inside may lead forward in the body or out of it. False if it cannot be
// expressed; *reason then says why, in a few words for the user ("calls a function", "an instruction
// that has no summary: mrs").
bool loop_summarize(struct loop_summary *s, uint32_t header, const uint32_t *words, unsigned length,
                    const char **reason);

// The variables at the start of an iteration: c is at the header.
void loop_start_vars(uint64_t vars[LOOP_VARS], const cpu *c);

// The value of a node, given the variables at the start of the iteration and a way to load; for tests and
// tools. load gets the index of the access and its address.
uint64_t loop_evaluate(const struct loop_summary *s, unsigned node, const uint64_t vars[LOOP_VARS],
                       uint64_t (*load)(void *user, unsigned access, uint64_t address), void *user);

// The summary as text, for people and for tests.
void loop_summary_print(const struct loop_summary *s, char *text, size_t size);
// A node, and a linear expression, likewise.
void loop_node_print(const struct loop_summary *s, unsigned node, char *text, size_t size);
void loop_linear_print(const struct loop_summary *s, const struct linear *l, char *text, size_t size);

#endif
