// SPDX-License-Identifier: MIT
// Blocks: instructions that follow each other, up to a branch, as one handler of the interpreter that is made
// when they are first come to, out of copied stencils. They cost little more than decoding, and take the
// place of the interpreter's sequences until the translator has something better.
#ifndef CORE_ENGINE_STENCIL_BLOCK_H
#define CORE_ENGINE_STENCIL_BLOCK_H

#include <stdbool.h>

#include "core/isa/isa.h"

enum { BLOCK_MOST = 32 }; // instructions of a block

struct blocks;

// The interpreter's handler of an instruction. *returns: it returns the next op instead of jumping to its
// handler, and so does for what has no stencil.
typedef const void *block_handler(enum insn id, bool *returns);

#ifdef TRANSLATE

// code: the address that handlers count from (op.handler), the interpreter's own, which has to be reached by
// displacements of 32 bits. NULL without memory; where the host denies code memory, nothing can be part of a
// block.
struct blocks *blocks_create(const void *code, block_handler *handler);
void blocks_destroy(struct blocks *b);

// Whether there is no room for more. What was made for code that the guest has changed since is not given
// back.
bool blocks_are_full(const struct blocks *b);

// Whether an instruction can be part of a block, as a rule; none can when there is no more room.
bool blocks_can(const struct blocks *b, enum insn id);

// Makes a block of the instructions ids[0..*count), decoded as ops, the first of which is at pc; all can be a
// part of one, as a rule, and only the last is a branch. *count becomes how many of them it has. Returns its
// handler, or 0 when there is no room, or it has none.
uint32_t blocks_make(struct blocks *b, uint32_t pc, const enum insn *ids, const op *ops, unsigned *count);

// How many instructions the block has that is the handler; 0 if it is none.
unsigned blocks_length(const struct blocks *b, uint32_t handler);

// The guest instruction of an access that a block makes at host_pc; false if host_pc is in none.
// Async-signal-safe.
bool blocks_guest_pc(const struct blocks *b, uint64_t host_pc, uint32_t *pc);

#else

// Built without clang: there are none.
static inline struct blocks *blocks_create(const void *code, block_handler *handler)
{
    (void)code, (void)handler;
    return NULL;
}
static inline void blocks_destroy(struct blocks *b)
{
    (void)b;
}
static inline bool blocks_are_full(const struct blocks *b)
{
    (void)b;
    return false;
}
static inline bool blocks_can(const struct blocks *b, enum insn id)
{
    (void)b, (void)id;
    return false;
}
static inline uint32_t blocks_make(struct blocks *b, uint32_t pc, const enum insn *ids, const op *ops,
                                   unsigned *count)
{
    (void)b, (void)pc, (void)ids, (void)ops, (void)count;
    return 0;
}
static inline unsigned blocks_length(const struct blocks *b, uint32_t handler)
{
    (void)b, (void)handler;
    return 0;
}
static inline bool blocks_guest_pc(const struct blocks *b, uint64_t host_pc, uint32_t *pc)
{
    (void)b, (void)host_pc, (void)pc;
    return false;
}

#endif

#endif
