// SPDX-License-Identifier: MIT
// What can be seen of a loop without understanding all of its instructions: which of them count, load,
// store, call, and what the loop's exits hang on. Independent of the summary that the optimizer makes
// (core/loops/summary.h), for labels of loops that have none, and to compare with it. Slots on the stack are
// followed like registers; branches inside the loop are taken to fall through.
#ifndef MODELS_LOOP_SHAPE_H
#define MODELS_LOOP_SHAPE_H

#include <stdbool.h>

#include "../core/nn/loop_nets.h"

struct loop_shape {
    bool loops; // the last word is a branch to the first
    bool inner; // one inside leads back, too
    bool calls; // leaves and may come back: calls, system calls, indirect branches
    bool returns; // from the function, which is a way out that nothing is known of
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
    // of the exits; type is NONE if they hang on what was not understood
    enum loop_type type;
    unsigned counter; // 31 = none, or on the stack
    bool counted; // no exit hangs on loaded data
};

// Of the code from header to the branch back, of any length.
void loop_shape_of(uint32_t header, const uint32_t *words, unsigned length, struct loop_shape *shape);

// Whether a loop of this shape can be of that class.
bool loop_shape_allows(const struct loop_shape *shape, enum loop_class class);

// Where the branch at pc leads if word is a direct branch (calls are none), else 0.
uint32_t branch_target(uint32_t word, uint32_t pc);

#endif
