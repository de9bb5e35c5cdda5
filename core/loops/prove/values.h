// SPDX-License-Identifier: MIT
// What can be said of a summary's nodes without running the loop: known at the entry, affine, bounded, made
// of bit fields. For prove.c.
#ifndef CORE_LOOPS_VALUES_H
#define CORE_LOOPS_VALUES_H

#include "plan_internal.h"
#include "reduction.h"

enum node_shape {
    SHAPE_FIXED, // the same in all iterations
    SHAPE_AFFINE, // an extension of start + i x step
    SHAPE_VARYING, // a function of these, of what the iteration loads, and of reductions
    SHAPE_CARRIED, // depends on a register that is taken over from the iteration before in a way not known
};

// Numbers low..high, one of which a node equals in every iteration, modulo 2^bits.
struct bounds {
    int64_t low, high;
    bool known;
};

enum {
    EFFORT = 4096, // nodes that are looked at while paths are followed, in all
    INDEX_MAX = 1 << 20, // how far a look-up may reach, bytes
};

struct prover {
    const struct loop_summary *s;
    struct loop_plan *p;
    struct guard *g; // the plan's
    bool loads_first; // the kernel does an iteration's loads before its stores
    unsigned effort; // left
    uint8_t shape[SUMMARY_NODES];
    struct bounds bounds[SUMMARY_NODES];
    uint16_t same[SUMMARY_NODES]; // the first node of the same value, see values_begin
    struct quantity entry[SUMMARY_NODES]; // where has_entry
    bool has_entry[SUMMARY_NODES];
    uint8_t range_of[SUMMARY_ACCESSES]; // 1 + its range, 0: none yet
    bool reduced[REG_ZERO]; // a register that is what its reduction says
    struct reduction reductions[REG_ZERO];
};

// Finds shape and bounds of each node, and which are the same: loads from the same address are, because the
// guard sees to it that no store changes what is loaded. The plan is empty and stays the caller's.
void values_begin(struct prover *v, const struct loop_summary *s, struct loop_plan *p);
// Again, with another register reduced.
void values_find_shapes(struct prover *v);

// The value of a node in iteration 0. False if it depends on a load that is not fixed, or there is no room.
bool values_at_entry(struct prover *v, unsigned node, struct quantity *q);
// A summary's linear expression; its low bits count.
bool values_of_linear(struct prover *v, const struct linear *l, struct quantity *q);

// Whether the low bits bits of node are start + i x step. What must not wrap around for that, up to access
// number, is added to the plan.
bool values_step(struct prover *v, unsigned node, unsigned bits, unsigned number, struct quantity *step);

// address = the sum of fixed nodes + index, the only one that is not. False if there are more or none.
bool values_split(struct prover *v, unsigned address, struct quantity *fixed, unsigned *index);

// A node that is put together from bits of one affine node.
enum { FIELDS = 4 };
struct fields {
    unsigned count, root; // root: the affine node
    bool is_signed; // the only field is sign-extended
    struct {
        uint8_t from, to, width; // bits [from, from + width) of root are bits [to, to + width)
    } field[FIELDS];
};
bool values_fields(struct prover *v, unsigned node, struct fields *f);

// Adds the access to those that the guard checks. False if where it goes cannot be told.
bool values_add_range(struct prover *v, unsigned access);

#endif
