// SPDX-License-Identifier: MIT
// What has to hold where a loop is entered so that something else may run in its place, as data: values that
// are known there, trip counts in closed form, the ranges of its memory accesses, and checks on these. The
// prover writes it down once. The interpreter evaluates it (guard.c), the translator lowers it to code, and
// guard_text.c says it in words.
#ifndef CORE_LOOPS_GUARD_H
#define CORE_LOOPS_GUARD_H

#include <string.h>

#include "core/loops/expr/summary.h"
#include "core/state/memory.h"

enum {
    ENTRY_OPS = 64,
    ACCESS_RANGES = SUMMARY_ACCESSES,
    NO_WRAPS = 16,
    ALIAS_CHECKS = 64,
    SLOT_COMPUTED = REG_ZERO + 1,
};

// A value that is known at the loop's entry: constant + a slot. Slots are the guest's registers, REG_ZERO
// for the constant alone, and from SLOT_COMPUTED on the results of entry ops.
struct quantity {
    uint64_t constant;
    uint8_t slot;
};

// A register that moves by step in each iteration, within the bits of mask.
struct induction {
    struct quantity step;
    uint64_t mask;
    uint8_t reg;
};

// Computed once at the entry, in order. A NODE_LOAD reads what `range` describes, at a.
struct entry_op {
    uint8_t kind, bits; // enum node_kind, except NODE_VAR
    uint8_t from; // ZEXT, SEXT, TRUNC, comparisons: bits of a
    uint8_t range;
    struct quantity a, b, c;
};

// Where an access goes: base + i x step + [low, high), bytes; high includes the size of the access. A kernel
// needs all of it in pages that it may read, or write.
struct access_range {
    struct quantity base, step;
    int64_t low, high;
    uint8_t size;
    uint8_t number; // in program order among the accesses of an iteration
    bool is_store;
    bool is_stream; // else base is that of a table, or what an entry op reads
    bool at_entry; // invariant and read by an entry op, which checks it
};

// Runtime check of two ranges, in the order in which the kernel goes to them, at least one of which is a
// store: if they overlap, the kernel may not do more than some iterations at once, or, where strict, nothing.
struct alias_check {
    uint8_t earlier, later; // ranges
    bool strict;
    bool swapped; // in the program their order is the other one
};

// The value start + i x step, of bits bits, must not wrap while access `number` happens: it was extended.
struct no_wrap {
    struct quantity start, step;
    uint8_t bits, number;
    bool is_signed;
};

// The closed form of how many iterations go by before a counted exit is taken. Everything but EQ is brought
// to: goes on while start + i x step < limit, unsigned.
struct trip_count {
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

struct guard_exit {
    uint8_t kind; // enum exit_kind
    bool at_end;
    uint8_t accesses_before;
    uint32_t length; // instructions of an iteration up to it; 0: depends on the path, only at the end
    struct trip_count trip_count;
    struct quantity condition;
};

// In place of the exit of a loop that goes on longer than one looks, or does at once: its first iterations
// are done, up to last, behind whose end it goes round once more.
extern const struct guard_exit guard_goes_on;

// An access of an iteration as the program has it.
struct guard_access {
    uint32_t pc;
    uint8_t size;
    uint8_t range; // shared with equal loads
    bool is_always; // not left out by a condition
};

// Of the loop whose code lies from header to branch.
struct guard {
    uint32_t header, branch;
    uint32_t length; // instructions of a full iteration, 0: depends on the path
    uint32_t zero_upper; // a bit for each register of which the upper half has to be zero
    uint32_t least; // complete iterations from which on it pays
    uint8_t op_count, exit_ops; // all entry ops, and those at the start that the exits need
    uint8_t exit_count, range_count, no_wrap_count, alias_check_count, access_count;
    bool stores;
    bool counts; // iterations are known from the registers alone
    bool finds; // there are exits that have to be looked for
    struct entry_op ops[ENTRY_OPS];
    struct guard_exit exits[SUMMARY_EXITS];
    struct access_range ranges[ACCESS_RANGES];
    struct no_wrap no_wraps[NO_WRAPS];
    struct alias_check alias_checks[ALIAS_CHECKS];
    struct guard_access accesses[SUMMARY_ACCESSES]; // in program order; none of a copy of blocks
};

// Whether the value is made of registers, and of the results of the entry ops that have a bit in given, by
// simple arithmetic.
bool guard_is_of(const struct guard *g, struct quantity q, uint64_t given);
bool guard_is_of_registers(const struct guard *g, struct quantity q); // alone
// Whether all exits are counted, by constant steps towards limits, and from registers alone: then code can.
bool guard_counts_by_registers(const struct guard *g);
// Such an exit's step, upwards where there is an order.
int64_t guard_constant_step(const struct trip_count *c);

// ---- one entry ----

struct interval {
    uint64_t low, high; // guest addresses of the first and the last byte
};

// The state of the loop's entry while its guard is evaluated and its kernel runs.
struct entry {
    const uint64_t *bank[2]; // the guest's registers, and slots, for quantity_of
    const uint64_t *x;
    const struct guard *guard;
    struct memory *memory;
    uint64_t last; // the iteration in which the loop is left, from 0
    uint64_t trips; // where the guard does not hold: last + 1 where that is certain, else 0
    uint64_t count; // complete iterations for the kernel
    uint64_t batch; // iterations that the kernel may do at once
    const struct guard_exit *exit; // the one that is taken, or guard_goes_on
    uint64_t previous_item, present_item; // of a list, in the iterations last - 1 and last
    struct interval interval[ACCESS_RANGES];
    uint64_t slots[SLOT_COMPUTED + ENTRY_OPS]; // from SLOT_COMPUTED on
};

static inline void entry_begin(struct entry *e, const struct guard *g, const uint64_t *x,
                               struct memory *memory)
{
    e->bank[0] = e->x = x;
    e->bank[1] = e->slots;
    e->guard = g;
    e->memory = memory;
}

static inline uint64_t quantity_of(const struct entry *e, struct quantity q)
{
    return q.constant + e->bank[q.slot >= SLOT_COMPUTED][q.slot]; // no branch: plans take turns
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

static inline bool intervals_overlap(const struct interval *a, const struct interval *b)
{
    return a->low <= b->high && b->low <= a->high;
}

// ---- pages ----

// By flags of a page, what kernels may do to it.
enum { MAY_READ = 1, MAY_WRITE = 2 };
extern const uint8_t guard_may[256];

// Whether a kernel may read size bytes, at most a page, at address, which has no tag.
static inline bool guard_may_read(const struct memory *m, uint64_t address, unsigned size)
{
    return address <= GUEST_SPACE - size && guard_may[m->pages[address / GUEST_PAGE]] & MAY_READ &&
           guard_may[m->pages[(address + size - 1) / GUEST_PAGE]] & MAY_READ;
}

// Whether a kernel may do it to all pages from that of low to that of high.
bool guard_many_pages_allow(const uint8_t *page, const uint8_t *end, unsigned what);
static inline bool guard_pages_allow(const struct memory *m, uint64_t low, uint64_t high, unsigned what)
{
    const uint8_t *page = m->pages + low / GUEST_PAGE, *end = m->pages + high / GUEST_PAGE;
    return guard_may[*page] & guard_may[*end] & what &&
           (end - page < 2 || guard_many_pages_allow(page, end, what));
}

// ---- evaluation ----

#define TRIPS_NEVER UINT64_MAX // or that many iterations
#define TRIPS_UNKNOWN (UINT64_MAX - 1) // only after the counter has wrapped around; or that many

// Complete iterations before a counted exit is taken, or TRIPS_NEVER, TRIPS_UNKNOWN.
uint64_t guard_trip_count(const struct trip_count *c, const struct entry *e);

// Evaluates the guard in two steps; between them whoever finds exits that are not counted brings e->last and
// e->exit up to date. False: it does not hold.
bool guard_begin(struct entry *e);
bool guard_end(struct entry *e);

// Whether a kernel may do all loads of iterations [first, end).
bool guard_allows_loads(const struct entry *e, uint64_t first, uint64_t end);

// Two streams of one step, x and y, that the kernel goes to one after the other for many iterations at a
// time; away: bytes from y to x in the same iteration. Returns by how many iterations x comes to where y is
// in an earlier one: no batch may be longer. The same iteration counts, too, if their order is swapped.
uint64_t guard_alias_distance(const struct access_range *x, const struct access_range *y, int64_t away,
                              int64_t step, bool swapped);
enum { BATCH_LEAST = 8 }; // iterations; shorter batches do not pay

#endif
