// SPDX-License-Identifier: MIT
// What a plan consists of, for prove.c, which makes it, guard.c, which checks it at a loop's entry, and the
// kernels.
#ifndef CORE_LOOPS_PLAN_INTERNAL_H
#define CORE_LOOPS_PLAN_INTERNAL_H

#include "plan.h"

enum {
    ENTRY_OPS = 64,
    REACHES = SUMMARY_ACCESSES,
    NO_WRAPS = 16,
    PAIRS = 64,
    INDEX_MAX = 1 << 20, // how far a look-up may reach, bytes
    SLOT_COMPUTED = REG_ZERO + 1,
};

// A value that is known at the loop's entry: constant + a slot. Slots are the guest's registers, REG_ZERO
// for the constant alone, and from SLOT_COMPUTED on the results of entry ops.
struct quantity {
    uint64_t constant;
    uint8_t slot;
};

// Computed once at the entry, in order. A NODE_LOAD reads what reach `reach` describes, at a.
struct entry_op {
    uint8_t kind, bits; // enum node_kind, except NODE_VAR
    uint8_t from; // ZEXT, SEXT, TRUNC, comparisons: bits of a
    uint8_t reach;
    struct quantity a, b, c;
};

// Where an access goes: base + i x step + [low, high], bytes; high includes the size of the access.
struct reach {
    struct quantity base, step;
    int64_t low, high;
    uint8_t size;
    uint8_t number; // in program order among the accesses of an iteration
    bool is_store;
    bool is_stream; // else base is that of a table, or what an entry op reads
    bool at_entry; // invariant and read by an entry op, which checks it
};

// Reaches, in the order in which the kernel goes to them, at least one of which is a store: if they meet, the
// kernel may not do more than some iterations at once, or, where strict, nothing.
struct pair {
    uint8_t earlier, later;
    bool strict;
    bool swapped; // in the program their order is the other one
};

// The value start + i x step, of bits bits, must not wrap while access `number` happens: it was extended.
struct no_wrap {
    struct quantity start, step;
    uint8_t bits, number;
    bool is_signed;
};

// A counted exit. Everything but EQ is brought to: goes on while start + i x step < limit, unsigned.
struct counted {
    struct quantity start, step, limit;
    uint64_t flip; // exclusive or to start and limit: makes signed order unsigned
    uint64_t mask; // of the width
    uint8_t compare; // NODE_EQ, NODE_ULT, NODE_ULE
    bool complement; // limit < counter
    bool is_equal;
    // Of EQ where the absolute value of step is a constant: distance / it is distance x inverse, rotated
    // right by shift, unless that is more than most, which shows that it does not divide (Warren, Hacker's
    // Delight).
    uint8_t shift;
    uint64_t inverse, most;
};

enum exit_kind {
    EXIT_COUNTED,
    EXIT_FIXED, // taken in the first iteration or never: condition
    EXIT_FOUND, // depends on what is loaded
};

struct plan_exit {
    uint8_t kind; // enum exit_kind
    bool at_end;
    uint8_t accesses_before;
    uint32_t length;
    struct counted counted;
    struct quantity condition;
};

// A register whose value is in closed form.
struct advance {
    struct quantity step;
    uint64_t mask;
    uint8_t reg;
};

// table[...[table[index]]] to one or two stores, all of bytes; index = (r >> shift) & mask, or two of these
// put together, or r << shift[1] >> shift[0], signed.
enum lookup_index { INDEX_SIGNED, INDEX_ONE, INDEX_TWO };
struct lookup {
    struct quantity r, r_step;
    uint8_t shift[2];
    uint64_t mask[2];
    uint8_t index, tables, stores; // index: enum lookup_index
    uint8_t store[2]; // reaches
    struct quantity table[3]; // the first is the one that index goes to
};

// Of a fill, or the one of a copy: reaches, and what is stored.
enum { STREAMS = 8 };
struct stream {
    uint8_t load, store;
    struct quantity value;
};

struct batch; // kernels_batch.h
struct sort; // sort.h
struct list; // list.h

// Whether a plan has paid lately: nanoseconds that it has won, about; entries that go without it.
struct history {
    int32_t balance;
    uint32_t pause;
};

// The state of the loop's entry while a plan runs.
struct range {
    uint64_t low, high; // guest addresses of the first and the last byte
};

struct entry {
    const uint64_t *x;
    struct memory *memory;
    uint64_t last; // the iteration in which the loop is left, from 0
    uint64_t trips; // last + 1 where that is certain although the guard does not hold, else 0
    uint64_t count; // complete iterations for the kernel
    uint64_t batch; // iterations that the kernel may do at once
    const struct plan_exit *exit; // the one that is taken
    uint64_t previous_item, present_item; // of a list, in the iterations last - 1 and last
    struct range range[REACHES];
    uint64_t computed[ENTRY_OPS];
};

struct loop_plan {
    enum loop_class class;
    uint32_t length; // of a full iteration, 0: depends on the path
    uint32_t narrow; // a bit for each register of which the upper half has to be zero
    uint32_t least; // complete iterations for which the kernel pays
    uint32_t cost; // of guard and kernel for few iterations, nanoseconds
    struct history *history;
    uint8_t op_count, exit_ops; // all entry ops, and those at the start that the exits need
    uint8_t exit_count, reach_count, no_wrap_count, pair_count, advance_count;
    struct entry_op ops[ENTRY_OPS];
    struct plan_exit exits[SUMMARY_EXITS];
    struct reach reaches[REACHES];
    struct no_wrap no_wraps[NO_WRAPS];
    struct pair pairs[PAIRS];
    struct advance advances[32];
    bool stores;
    bool counts; // iterations are known from the registers alone
    bool finds; // there are exits that have to be looked for
    bool loads_first; // the kernel does an iteration's loads before its stores
    // Does e->count iterations; the affine registers are advanced by the caller, carried ones set in x.
    // Returns the instructions of these iterations.
    uint64_t (*run)(const struct loop_plan *p, const struct entry *e, uint64_t *x);
    struct lookup lookup;
    uint8_t stream_count;
    struct stream streams[STREAMS];
    struct batch *batch; // NULL: not used
    struct sort *sort;
    struct list *list;
    struct loop_summary *summary; // a copy, where lengths depend on the path
};

static inline uint64_t quantity_of(const struct entry *e, struct quantity q)
{
    return q.constant + (q.slot < SLOT_COMPUTED ? e->x[q.slot] : e->computed[q.slot - SLOT_COMPUTED]);
}

// What a base address adds to an index: their sum is in the guest's memory, the base alone need not be.
static inline int64_t signed_offset(uint64_t address)
{
    return (int64_t)(address << 8) >> 8;
}

// Addresses: the top byte is ignored.
static inline uint64_t strip_tag(uint64_t address)
{
    return address << 8 >> 8;
}

#endif
