// SPDX-License-Identifier: MIT
// What a plan consists of, for prove.c, which makes it, guard.c, which checks it at a loop's entry, and the
// kernels.
#ifndef CORE_LOOPS_PLAN_INTERNAL_H
#define CORE_LOOPS_PLAN_INTERNAL_H

#include <string.h>

#include "plan.h"

enum {
    ENTRY_OPS = 64,
    REACHES = SUMMARY_ACCESSES,
    NO_WRAPS = 16,
    PAIRS = 64,
    SHORT_LOADS = 4,
    SHORT_REACHES = 6,
    SHORT_ADVANCES = 6,
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

struct lookup;
struct lookup_places;

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
    void (*run)(const struct lookup *, const struct lookup_places *, int64_t stride, uint64_t r,
                uint64_t r_step, uint64_t count);
};

// Host addresses.
struct lookup_places {
    uint8_t *to[2];
    const uint8_t *table[3];
};

// Of a fill, or the one of a copy: reaches, and what is stored.
enum { STREAMS = 8 };
struct stream {
    uint8_t load, store;
    struct quantity value;
};

// What a guard has to look at, and what follows it, where both can be short: one exit, which is counted; at
// most one store, to a stream; streams whose steps are constants; nothing that is extended; and nothing but
// loads at the entry, of 8 bytes, only for bases of tables. As small as possible: between two entries the
// guest has used the cache.
struct short_quantity { // constant + a register, or, of a table, a slot
    int32_t constant;
    uint8_t slot;
};
struct short_reach {
    struct short_quantity base; // of the first byte
    int32_t step; // 0: of a table
    uint32_t length : 24; // less 1: bytes of one access, or of all that a look-up can reach
    uint32_t before_exit : 1; // 1: is accessed in the last iteration, too
    uint32_t what : 2; // MAY_READ, MAY_WRITE
};
struct short_advance {
    struct short_quantity step;
    uint8_t reg;
    bool is_narrow; // 32 bits
};
struct short_plan {
    bool valid;
    bool by_distance; // last = (limit - start) / step, as in struct counted
    bool at_end;
    uint8_t shift, load_count, reach_count, advance_count;
    uint32_t tail; // instructions that are left
    uint32_t narrow, least, length; // as in struct loop_plan
    struct short_quantity start, limit;
    uint64_t negate; // all ones: the step is negative
    uint64_t mask, inverse, most;
    struct short_quantity loads[SHORT_LOADS]; // addresses; the results are the first entry ops'
    struct short_reach reaches[SHORT_REACHES]; // the store, if there is one; other streams; tables
    struct short_advance advances[SHORT_ADVANCES];
    bool looks_up; // p->lookup, with these:
    struct short_quantity r, r_step;
    uint8_t table[3]; // among reaches
    int32_t low[3]; // how far the tables reach below what they are indexed from
};

struct batch; // kernels_batch.h
struct block; // block.h
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
    const uint64_t *bank[2]; // the guest's registers, and slots, for quantity_of
    const uint64_t *x;
    struct memory *memory;
    uint64_t last; // the iteration in which the loop is left, from 0
    uint64_t trips; // last + 1 where that is certain although the guard does not hold, else 0
    uint64_t count; // complete iterations for the kernel
    uint64_t batch; // iterations that the kernel may do at once
    const struct plan_exit *exit; // the one that is taken
    uint64_t previous_item, present_item; // of a list, in the iterations last - 1 and last
    uint64_t at[SHORT_REACHES]; // addresses of short_plan.reaches, in iteration 0
    struct range range[REACHES];
    uint64_t slots[SLOT_COMPUTED + ENTRY_OPS]; // from SLOT_COMPUTED on
};

struct loop_plan {
    struct short_plan brief; // decides where it can
    struct lookup lookup;
    struct history *history;
    enum loop_class class;
    uint32_t length; // of a full iteration, 0: depends on the path
    uint32_t narrow; // a bit for each register of which the upper half has to be zero
    uint32_t least; // complete iterations for which the kernel pays
    uint32_t cost; // of guard and kernel for few iterations, nanoseconds
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
    uint8_t stream_count;
    struct stream streams[STREAMS];
    struct batch *batch; // NULL: not used
    struct block *block;
    struct sort *sort;
    struct list *list;
    struct loop_summary *summary; // a copy, where lengths depend on the path, and of LOOP_POLL
};

static inline void entry_begin(struct entry *e, const uint64_t *x, struct memory *memory)
{
    e->bank[0] = e->x = x;
    e->bank[1] = e->slots;
    e->memory = memory;
}

static inline uint64_t quantity_of(const struct entry *e, struct quantity q)
{
    return q.constant + e->bank[q.slot >= SLOT_COMPUTED][q.slot]; // no branch: plans take turns
}

// 1, 2, 4 or 8 bytes.
static inline uint64_t read_element(const uint8_t *from, unsigned size)
{
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    switch (size) {
    case 8: memcpy(&eight, from, sizeof eight); return eight;
    case 4: memcpy(&four, from, sizeof four); return four;
    case 2: memcpy(&two, from, sizeof two); return two;
    default: return *from;
    }
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
