// SPDX-License-Identifier: MIT
// Loops that have a plan, with an instruction or two changed, put in, or exchanged with the next one: what a
// proof takes for granted without looking shows in them. For fuzz_loops.c.
#ifndef TESTS_LOOPS_MUTATED_LOOPS_H
#define TESTS_LOOPS_MUTATED_LOOPS_H

#include "random_loops.h"

// Puts word in at k; the last one is a branch back to the first.
static void insert_word(struct random_loop *l, unsigned k, uint32_t word)
{
    uint32_t *last = &l->words[l->count];
    if (l->count == RANDOM_WORDS)
        return;
    memmove(&l->words[k + 1], &l->words[k], (l->count - k) * sizeof word);
    l->words[k] = word;
    l->count++;
    if ((*last & 0x7c000000) == 0x14000000) // B
        *last = (*last & 0xfc000000) | (-(l->count - 1) & 0x3ffffff);
    else if ((*last & 0x7e000000) == 0x36000000) // TBZ, TBNZ
        *last = (*last & ~(uint32_t)0x7ffe0) | (-(l->count - 1) & 0x3fff) << 5;
    else
        *last = (*last & ~(uint32_t)0xffffe0) | (-(l->count - 1) & 0x7ffff) << 5;
}

// A register to itself or to another one, cut, extended or shifted.
static uint32_t random_extension(unsigned d, unsigned n)
{
    static const uint32_t words[] = {
        0x2a0003e0, // MOV W
        0xaa0003e0, // MOV X
        0x53001c00, // UXTB
        0x53003c00, // UXTH
        0x13001c00, // SXTB W
        0x93401c00, // SXTB X
        0x93407c00, // SXTW
        0x13003c00, // SXTH W
        0xd3407c00, // UXTW
        0x53047c00, // LSR W, 4
        0x531c6c00, // LSL W, 4
        0x12001c00, // AND W, 255
    };
    const unsigned k = (unsigned)below(sizeof words / sizeof words[0]);
    return words[k] | d | (k < 2 ? n << 16 : n << 5);
}

// A register field of one of its words.
static unsigned random_register(const struct random_loop *l)
{
    static const unsigned fields[] = {0, 5, 16};
    return l->words[below(l->count)] >> fields[below(3)] & 31;
}

static void mutate_word(struct random_loop *l, unsigned k)
{
    uint32_t *word = &l->words[k];
    const bool is_access = (*word & 0x0a000000) == 0x08000000;
    static const unsigned fields[] = {0, 5, 16, 10};
    switch (below(6)) {
    case 0: *word ^= 1u << 31; break; // its width
    case 1: *word ^= is_access ? 1u << (30 + below(2)) : 1u << 30; break;
    case 2: *word ^= 1u << (is_access ? 22 + below(2) : 10 + below(12)); break;
    case 3: *word ^= 1u << (10 + below(12)); break; // an immediate
    default: {
        const unsigned at = fields[below(4)];
        *word = (*word & ~(31u << at)) | random_register(l) << at;
    }
    }
}

static void mutate_loop(struct random_loop *l)
{
    for (unsigned times = 1 + (unsigned)below(3); times; times--) {
        const unsigned body = l->count - 1, k = (unsigned)below(body ? body : 1);
        switch (below(4)) {
        case 0: {
            const unsigned n = random_register(l);
            insert_word(l, k, random_extension(below(2) ? n : random_register(l), n));
            break;
        }
        case 1:
            if (k + 1 < body) {
                const uint32_t word = l->words[k];
                l->words[k] = l->words[k + 1];
                l->words[k + 1] = word;
            }
            break;
        default:
            if (body)
                mutate_word(l, k);
        }
    }
}

#endif
