// SPDX-License-Identifier: MIT
// Random loops of the kinds that compilers make, but with any mixture of instructions in them. For
// fuzz_loops.c.
//
// X0..X3 are pointers, X4 counts, X5 is its limit, X6 and X7 are steps and indices, X8..X13 data, X14 and X15
// accumulate.
#ifndef TESTS_LOOPS_RANDOM_LOOPS_H
#define TESTS_LOOPS_RANDOM_LOOPS_H

#include "states.h"

enum { RANDOM_WORDS = 24 };

struct random_loop {
    uint32_t words[RANDOM_WORDS];
    unsigned count;
};

static void add(struct random_loop *l, uint32_t word)
{
    if (l->count < RANDOM_WORDS)
        l->words[l->count++] = word;
}

static unsigned pointer(void)
{
    return (unsigned)below(4);
}

static unsigned data(void)
{
    return 8 + (unsigned)below(6);
}

static unsigned source(void)
{
    return below(8) ? data() : 4 + (unsigned)below(4);
}

static uint32_t wide(void)
{
    return (uint32_t)below(2) << 31;
}

// A load or store, most of them of a stream.
static void add_access(struct random_loop *l, bool is_store, unsigned reg)
{
    // size and opc: STRB, STRH, STR W, STR X and their loads, LDRSB, LDRSH, LDRSW
    static const uint32_t loads[] = {0x38400000, 0x78400000, 0xb8400000, 0xf8400000,
                                     0x38c00000, 0x38800000, 0x78c00000, 0xb8800000};
    uint32_t word = is_store ? (uint32_t)below(4) << 30 | 0x38000000 : loads[below(below(3) ? 4 : 8)];
    unsigned shift = word >> 30, size = 1u << shift;
    word |= pointer() << 5 | reg;
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        add(l, word | 0x400 | ((below(5) ? size : -size) & 0x1ff) << 12); // post-indexed
        break;
    case 3: add(l, word | 0xc00 | (size & 0x1ff) << 12); break; // pre-indexed
    case 4: add(l, word | (uint32_t)(below(3) * size & 0x1ff) << 12); break; // unscaled
    default: {
        static const uint32_t extends[] = {2u << 13, 3u << 13, 3u << 13, 6u << 13}; // UXTW LSL LSL SXTW
        unsigned index = below(3) ? 4 : below(2) ? 6 : data();
        add(l, word | 0x200800 | extends[below(4)] | (uint32_t)below(2) << 12 | index << 16);
    }
    }
}

static void add_arithmetic(struct random_loop *l, unsigned d)
{
    unsigned n = source(), m = source();
    uint32_t regs = m << 16 | n << 5 | d, bits = wide();
    unsigned width = bits ? 64 : 32, low = (unsigned)below(width), high = (unsigned)below(width);
    switch (below(14)) {
    case 0: add(l, 0x0b000000 | bits | regs); break; // ADD
    case 1: add(l, 0x4b000000 | bits | regs); break; // SUB
    case 2: add(l, 0x0a000000 | bits | regs); break; // AND
    case 3: add(l, 0x2a000000 | bits | regs); break; // ORR
    case 4: add(l, 0x4a000000 | bits | regs); break; // EOR
    case 5: add(l, 0x1b007c00 | bits | regs); break; // MUL
    case 6: // UBFM: LSL, LSR, UBFX, UXTB
    case 7: add(l, (bits ? 0xd3400000 : 0x53000000) | low << 16 | high << 10 | n << 5 | d); break;
    case 8: add(l, (bits ? 0x93400000 : 0x13000000) | low << 16 | high << 10 | n << 5 | d); break; // SBFM
    case 9: add(l, 0x12001c00 | n << 5 | d); break; // AND with 255
    case 10: add(l, 0x11000000 | bits | (uint32_t)below(64) << 10 | n << 5 | d); break; // ADD immediate
    case 11: add(l, 0x1ac00800 | bits | regs | (uint32_t)below(2) << 10); break; // UDIV, SDIV
    case 12: add(l, 0x0b000000 | bits | regs | (uint32_t)below(8) << 10); break; // ADD shifted
    default:
        add(l, 0x6b00001f | bits | m << 16 | n << 5); // CMP, then CSEL, CSINC
        add(l, 0x1a800000 | bits | regs | (uint32_t)below(14) << 12 | (uint32_t)below(2) << 10);
    }
}

// An accumulator: sums, hashes, extremes, the last one that …
static void add_reduction(struct random_loop *l)
{
    unsigned acc = 14 + (unsigned)below(2), m = data();
    uint32_t bits = wide(), regs = m << 16 | acc << 5 | acc;
    switch (below(8)) {
    case 0: add(l, 0x0b000000 | bits | regs); break;
    case 1: add(l, 0x4a000000 | bits | regs); break;
    case 2: add(l, 0x2a000000 | bits | regs); break;
    case 3: add(l, 0x1b000000 | bits | m << 16 | acc << 10 | data() << 5 | acc); break; // MADD
    case 4: // acc x 33 + m
        add(l, 0x0b000000 | bits | acc << 16 | 5 << 10 | acc << 5 | acc);
        add(l, 0x0b000000 | bits | regs);
        break;
    case 5: add(l, 0x1b000000 | bits | 7 << 16 | m << 10 | acc << 5 | acc); break; // acc x X7 + m
    default:
        add(l, 0x6b00001f | bits | m << 16 | acc << 5);
        add(l, 0x1a800000 | bits | regs | (uint32_t)below(14) << 12); // CSEL
    }
}

static void add_forward_branch(struct random_loop *l, unsigned distance)
{
    unsigned reg = data();
    if (below(2)) {
        add(l, 0x34000000 | (uint32_t)below(2) << 24 | distance << 5 | reg); // CBZ, CBNZ
    } else {
        add(l, 0x7100001f | (uint32_t)below(64) << 10 | reg << 5); // CMP with an immediate
        add(l, 0x54000000 | distance << 5 | (uint32_t)below(14));
    }
}

static void add_end(struct random_loop *l)
{
    uint32_t conditions[] = {1, 1, 1, 3, 11, 8, 10, 12, 13}, bits = wide();
    unsigned k = (unsigned)below(6);
    if (k < 2) {
        add(l, 0x71000400 | bits | 4 << 5 | 4); // SUBS X4, X4, #1
        uint32_t ends[] = {1, 1, 12, 5, 8};
        add(l, 0x54000000 | (-l->count & 0x7ffff) << 5 | ends[below(5)]);
        return;
    }
    if (k == 2) {
        add(l, 0x51000400 | bits | 4 << 5 | 4);
        add(l, 0x35000000 | bits | (-l->count & 0x7ffff) << 5 | 4); // CBNZ
        return;
    }
    unsigned counter = k == 3 ? pointer() : 4;
    if (k == 3)
        bits = 0x80000000;
    else
        add(l, 0x11000000 | bits | (uint32_t)(1 + below(4)) << 10 | 4 << 5 | 4);
    add(l, 0x6b00001f | bits | 5 << 16 | counter << 5);
    add(l, 0x54000000 | (-l->count & 0x7ffff) << 5 | conditions[below(9)]);
}

static void make_random_loop(struct random_loop *l)
{
    unsigned items = 1 + (unsigned)below(6);
    bool stores = below(2);
    l->count = 0;
    for (unsigned i = 0; i < items; i++) {
        unsigned k = (unsigned)below(16);
        if (k < 5)
            add_access(l, false, data());
        else if (k < 9)
            add_arithmetic(l, data());
        else if (k < 12 && stores)
            add_access(l, true, source());
        else if (k < 12)
            add_reduction(l);
        else if (k == 12)
            add_forward_branch(l, 40 + (unsigned)below(3)); // out
        else if (k == 13)
            add_forward_branch(l, 2); // over the next one
        else if (k == 14)
            add(l, 0x8b000000 | 6 << 16 | pointer() * 0x21); // ADD Xn, Xn, X6
        else
            add(l, 0x0b000000 | wide() | 7 << 16 | 6 * 0x21); // ADD X6, X6, X7
    }
    add_end(l);
}

#endif
