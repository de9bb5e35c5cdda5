// SPDX-License-Identifier: MIT
// What can be seen of a loop without understanding all of its instructions: which of them count, load,
// store, call, and what the loop's exits hang on. Independent of the summary that the optimizer makes
// (core/loops/expr/summary.h), for labels of loops that have none, and to compare with it. Slots on the stack
// are followed like registers. Where ways through the body meet, what differs is not known, or hangs on data
// if they part on data.
#ifndef MODELS_LOOP_SHAPE_H
#define MODELS_LOOP_SHAPE_H

#include <stdbool.h>

#include "core/loops/propose/loop_nets.h"

enum { SHAPE_EXITS = 32, SHAPE_LENGTH_MOST = 256 };

// A branch that may end the loop.
struct shape_exit {
    uint32_t pc;
    enum {
        SHAPE_EXIT_UNKNOWN,
        SHAPE_EXIT_DATA, // it, or whether it is come to, hangs on loaded data
        SHAPE_EXIT_UP, // something that counts up is compared with something fixed
        SHAPE_EXIT_DOWN,
        SHAPE_EXIT_FIXED, // nothing moves
    } kind;
    unsigned counter; // 31 = none, or on the stack
};

struct loop_shape {
    bool loops; // the last word is a branch to the first, which leads to it
    bool inner; // one inside leads back, too
    bool calls; // leaves and may come back: calls, system calls, indirect branches
    bool comes_to_call; // not only in code from which no way leads back
    bool returns; // from the function: such code, too
    bool strange; // words of unknown kind
    // memory other than the stack:
    unsigned loads, stores;
    unsigned gathers; // loads of these whose address hangs on another load
    unsigned fixed_loads; // whose address does not change
    unsigned loose_loads; // whose address is neither fixed nor seen to count up or down
    // stores of these, by what they store: what does not change, what was loaded, what was made of that,
    // something else
    unsigned same_stores, copy_stores, made_stores, other_stores;
    unsigned fixed_stores; // whose address does not change
    bool slots; // keeps variables on the stack
    bool chases; // a load's address is what the same load got in the iteration before
    struct shape_exit exits[SHAPE_EXITS];
    unsigned exit_count;
    // of the exits, the one at the end before others; type is NONE if they hang on what was not understood
    enum loop_type type;
    unsigned counter; // 31 = none, or on the stack
    bool counted; // no exit hangs on loaded data
};

// Of the code from header to the branch back, SHAPE_LENGTH_MOST instructions at most.
void loop_shape_of(uint32_t header, const uint32_t *words, unsigned length, struct loop_shape *shape);

// Whether a loop of this shape can be of that class.
bool loop_shape_allows(const struct loop_shape *shape, enum loop_class class);

#endif
