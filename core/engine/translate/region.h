// SPDX-License-Identifier: MIT
// A region: the guest code that is translated as one host function. Found by following direct branches from
// an entry, with small callees inlined; nothing in here knows how it is compiled.
#ifndef CORE_ENGINE_REGION_H
#define CORE_ENGINE_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/isa/cpu.h"
#include "core/isa/isa.h"
#include "core/loops/guard/guard.h"
#include "core/loops/kernels/lookup.h"

enum {
    REGION_OPS_MAX = 5200, // large functions are one piece: cut, they would be so elsewhere each time
    REGION_BODIES_MAX = 1300, // blocks with code; each may lead to two more that leave the region
    REGION_BLOCKS_MAX = 3 * REGION_BODIES_MAX,
    REGION_PAGES_MAX = 16,
    REGION_LEFT_OUT_MAX = 48,
    REGION_LOOPS_MAX = 24,
    REGION_LOOP_BLOCKS_MAX = 6,
    REGION_ENTRIES_MAX = 16,
    REGION_CONTEXTS_MAX = 32,
};

struct region_op {
    op op;
    uint32_t pc;
    uint16_t insn; // enum insn
};

// How a block ends.
enum region_end {
    END_NEXT, // goes on at `next`
    END_BRANCH, // conditional: at `taken` or `next`; the last op is the branch
    END_CALL, // BL: calls target_pc, then goes on at `next`
    END_CALL_INDIRECT, // BLR, likewise; BR of an inlined callee, which goes on where that returns to
    END_INDIRECT, // BR and RET: leaves the region
    END_RETURN, // RET of an inlined callee: at `next` if the target is target_pc, else leaves the region
    END_STEP, // the interpreter runs the instruction at target_pc, then `next`
    END_SVC, // makes the system call of the SVC at target_pc, then `next`
    END_STOP, // leaves the region for target_pc, where an instruction stops the engine (BRK, …)
    END_EXIT, // goes on at target_pc outside the region: code that has not run so far, or did not fit
};

struct region_block {
    uint32_t pc;
    uint32_t target_pc;
    uint16_t first, count; // into region.ops; the branch, if any, is the last
    int16_t taken, next; // block indices, or -1
    uint8_t end; // enum region_end
    uint8_t context; // 0, or the inlined call that it belongs to
    bool loop_header; // a way round a loop leads back here; every loop has such a block
    struct branch_counts seen; // END_BRANCH: of the branch
    bool flags_dead; // END_CALL: the callee sets the flags before it looks at them
};

// The guest pages a region was read from: what it was translated from has to be what is there when it is
// installed.
struct region_page {
    uint32_t address;
    uint8_t bytes[4096];
};

// A loop that is proved: each block but the last falls through to the next, the last leads back to the first.
struct region_loop {
    struct guard guard;
    int16_t blocks[REGION_LOOP_BLOCKS_MAX];
    uint8_t count;
    bool kernel; // left to the host's kernel where that pays, else compiled anew
    bool polls; // the host is asked before each iteration whether it only waits
    bool looks_up; // several iterations may be done at once (llvm_lookup.h)
    struct lookup_loop lookup;
};

struct region {
    uint32_t entries[REGION_ENTRIES_MAX]; // where it may be entered: its first blocks begin there
    unsigned entry_count;
    unsigned op_count, block_count, body_count, page_count;
    struct region_op ops[REGION_OPS_MAX];
    struct region_block blocks[REGION_BLOCKS_MAX];
    struct region_page pages[REGION_PAGES_MAX];
    struct region_loop loops[REGION_LOOPS_MAX]; // filled in by the caller of region_find
    unsigned loop_count;
    uint32_t left_out[REGION_LEFT_OUT_MAX]; // where it goes on in code that has not run
    unsigned left_out_count;
    bool checked; // an access beyond the 4 GiB faults, instead of reaching what its low half says
    bool precise; // a fault finds every register as it has to be (llvm_exact.h)
    bool verify; // the host checks what is done in place of loops
    // what region.c works with
    struct region_context {
        uint32_t return_pc;
        uint32_t entry; // of the callee
        uint16_t caller; // the context that calls
    } contexts[REGION_CONTEXTS_MAX];
    unsigned context_count;
};

// What region_find asks of its caller.
struct region_source {
    void *user;
    // Copies the page at address (page-aligned) into bytes; false if the guest cannot execute there.
    bool (*read)(void *user, uint32_t address, uint8_t *bytes);
    // Whether the code at pc has run: what has not is left out.
    bool (*executed)(void *user, uint32_t pc);
    // Whether instructions of this kind (enum insn) can be translated.
    bool (*usable)(void *user, unsigned insn);
    // How many calls of the code at pc the program has, be it that they never run.
    unsigned (*calls)(void *user, uint32_t pc);
    // How often the conditional branch at pc has been seen to go either way.
    struct branch_counts (*branch_counts)(void *user, uint32_t pc);
};

// Fills *r with the region that is entered at entries, the first of which others are named after. False if
// there is nothing to translate.
bool region_find(struct region *r, const uint32_t *entries, unsigned count,
                 const struct region_source *source);

// Whether the code at pc is part of the region, and not only of a copy that is inlined.
bool region_has(const struct region *r, uint32_t pc);

// Whether pc is one of the region's entries.
bool region_enters_at(const struct region *r, uint32_t pc);

// Whether a loop of the region begins at pc, in code that is no copy.
bool region_loops_at(const struct region *r, uint32_t pc);

// The code of the loop that begins at block header, if it consists of blocks as in struct region_loop, whose
// blocks and count are filled in: from its first instruction to its branch back, in words, of which there is
// room for max. Returns how many, or 0.
unsigned region_loop_code(const struct region *r, unsigned header, struct region_loop *loop, uint32_t *words,
                          unsigned max);

#endif
