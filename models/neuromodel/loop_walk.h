// SPDX-License-Identifier: MIT
// What the instructions of one iteration do to variables: inside loop_shape.
#ifndef MODELS_LOOP_WALK_H
#define MODELS_LOOP_WALK_H

#include "core/loops/propose/loop_code.h"
#include "loop_shape.h"

// A value in an iteration.
struct value {
    enum {
        V_CONSTANT,
        V_PLUS, // what variable id was at the start of the iteration, + offset
        V_LOADED, // from memory, unchanged
        V_MADE, // of something loaded
        V_OTHER,
    } kind;
    unsigned id;
    int64_t offset;
};

// Variables: the registers as in loop_code.h, the flags, slots on the stack.
enum { FRAME = 29, FLAGS = CODE_V0 + 32, SLOTS, VARIABLES = SLOTS + 48 };

enum { WAYS = 24 };

// What is known where a branch within the body leads to.
struct way {
    uint32_t to;
    bool data; // whether it is taken hangs on loaded data
    struct value now[VARIABLES], compared[2];
};

struct walk {
    struct loop_shape *shape;
    uint32_t header, last;
    struct code_insn insn[SHAPE_LENGTH_MOST];
    struct value now[VARIABLES];
    struct value compared[2]; // what FLAGS were made of
    bool chained; // a CCMP made them, and one comparison was before it
    unsigned otherwise; // the flags that the CCMP sets where it does not compare
    struct value before[2], after[2]; // what both compared
    bool dead; // nothing leads here
    uint32_t data_until; // what comes before may be left out because of loaded data
    struct way ways[WAYS]; // that are still to be joined
    unsigned way_count;
    bool back[SHAPE_LENGTH_MOST]; // from here the loop can go on
    int64_t slots[VARIABLES - SLOTS]; // keys
    unsigned slot_count;
    int64_t step[VARIABLES]; // second pass: of the variables that are V_PLUS themselves in the end
    bool affine[VARIABLES], second;
    bool loaded_before[VARIABLES]; // by the iteration before
};

static inline bool hangs_on_data(struct value v)
{
    return v.kind == V_LOADED || v.kind == V_MADE;
}

static inline bool is_fixed(const struct walk *w, struct value v)
{
    return v.kind == V_CONSTANT || (v.kind == V_PLUS && w->affine[v.id] && w->step[v.id] == 0);
}

static inline bool counts(const struct walk *w, struct value v)
{
    return v.kind == V_PLUS && w->affine[v.id] && w->step[v.id] != 0;
}

// CODE_NO_VAR: 0, or a constant of the instruction.
static inline struct value walk_read(const struct walk *w, unsigned variable)
{
    return variable == CODE_NO_VAR ? (struct value){V_CONSTANT, 0, 0} : w->now[variable];
}

// One instruction that is no branch, call or return.
void walk_instruction(struct walk *w, const struct code_insn *i);
// A load or store of memory that is no slot.
void walk_count_access(struct walk *w, struct value address, bool is_load, struct value stored);

#endif
