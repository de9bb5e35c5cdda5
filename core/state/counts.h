// SPDX-License-Identifier: MIT
// How often each instruction of the guest has run, exactly, in a machine that only interprets.
//
// What is taken down is where stretches of instructions that follow one another begin and end: a branch that
// is taken ends one behind itself and begins one at its target. So many have begun, less those that have
// ended, up to an instruction: that often it has run. cpu.retired_bias counts in the same way, so all
// instructions together are stats.retired.
#ifndef CORE_STATE_COUNTS_H
#define CORE_STATE_COUNTS_H

#include "core/isa/cpu.h"
#include "memory.h"

struct counted {
    int64_t begun; // stretches that have begun here, less those that have ended in front of it
    // For the interpreter: what runs the op, or the sequence, that ends in a branch; how many it is.
    uint32_t handler, length;
};

struct counts {
    struct counted *of; // by pc / 4
    uint8_t *pages; // by pc / GUEST_PAGE: whether something of it may be counted
    const op *ops; // the memory's
    // Where the branch is that was come to last: in front of this. It has been taken, if cpu.retired_bias has
    // changed from bias since.
    const op *behind;
    int64_t bias;
};

// NULL without address space.
struct counts *counts_create(const struct memory *m);
void counts_destroy(struct counts *k); // NULL is ignored

// The guest runs from o on; it has stopped in front of c->current.
void counts_start(struct counts *k, const cpu *c, const op *o);
void counts_stop(struct counts *k, const cpu *c);

// An op has been decoded, length instructions from pc on. handler: not 0 if they end in a branch.
void counts_note(struct counts *k, uint64_t pc, unsigned length, uint32_t handler);

// Hands over what has been counted so far, and forgets it. Not while the guest runs.
void counts_take(struct counts *k, void (*add)(void *user, uint32_t pc, uint64_t times), void *user);

static inline __attribute__((always_inline)) struct counted *counts_at(const struct counts *k, const op *o)
{
    return &k->of[o - k->ops];
}

// Takes down what has become of the branch that was come to last.
static inline __attribute__((always_inline)) void counts_follow(struct counts *k, const cpu *c)
{
    int64_t moved = c->retired_bias - k->bias;
    if (moved == 0)
        return;
    k->bias = c->retired_bias;
    counts_at(k, k->behind)->begun--;
    counts_at(k, (const op *)((const char *)k->behind - moved))->begun++;
}

// The guest comes to the branch at o, or in the sequence from o on; returns what runs it.
static inline __attribute__((always_inline)) uint32_t counts_come_to(struct counts *k, const cpu *c,
                                                                     const op *o)
{
    const struct counted *at = counts_at(k, o);
    counts_follow(k, c);
    k->behind = o + at->length;
    return at->handler;
}

#endif
