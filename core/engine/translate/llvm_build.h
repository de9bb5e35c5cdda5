// SPDX-License-Identifier: MIT
// What is known while a region is built, and the variables that hold the guest's state in it.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_BUILD_H
#define CORE_ENGINE_TRANSLATE_LLVM_BUILD_H

#include "core/loops/expr/summary.h"
#include "llvm_template.h"
#include "llvm_var.h"
#include "object.h"
#include "region.h"

enum { ADDRESS_SPACE_GUEST = 256 }; // relative to gs
#define WILD_BITS 0x00ffffff00000000u // of an address beyond the guest's 4 GiB: not the top byte

enum { NEAR_LOADS_MAX = 8 };

// How many bytes at most lie between the address that is in each of x0 to x30 and SP, and one that has been
// accessed (llvm_near.h).
struct near {
    uint16_t x[32];
};

// A register that the instruction being copied has loaded.
struct near_load {
    LLVMValueRef value;
    uint8_t x;
    bool is_current; // the register has not been written since
    uint16_t distance; // as in struct near
};

struct block_build {
    LLVMBasicBlockRef start, body, end; // what leads here goes to, its ops' first and last LLVM block
    // Of a loop that begins here: behind its guard; and where it goes back to: there, or to what counts
    // first.
    LLVMBasicBlockRef again, back;
    LLVMValueRef result; // of its last op: the condition or the target
    var_set newer, dirty; // possibly newer than guest_cpu: at its end by what its ops have done; at its start
    var_set stored; // at its end guest_cpu has these as they are, where it is not precise (llvm_early.h)
    var_set seldom_stored; // if newer at its start, most likely set again before anything stores them
    var_set touched, needed; // by its ops at all; before they have set all of it
    var_set absent; // at its start: not loaded yet (llvm_late.h)
    bool synchronized; // somewhere in it: at its end, nothing else is newer
    bool flags_live; // at its start: read before they are written
    bool quiet_loop; // it is the header of one that stores nothing inside (llvm_flow.c)
    bool leads_back[2]; // by its edge to that successor, to the header of a loop that it is in
    bool copied;
    struct near near; // at its end
};

// What a value of a template stands for in the copy: a value, or an address within cpu or op.
struct mapped {
    LLVMValueRef value;
    uint32_t offset;
    enum { BASE_NONE, BASE_CPU, BASE_OP } base;
};

// A load of a loop that is done once, before it.
struct hoisted {
    bool chosen;
    uint8_t size;
    uint32_t pc;
    LLVMValueRef value;
};

// In the middle of a block of the region.
struct place {
    uint16_t from; // the block
    uint16_t left; // of its instructions
    uint32_t pc; // of the first of these
    bool synchronized; // in front of it, in this block
    var_set newer; // by what the block has done so far
};

// In precise code, where guest_cpu becomes the guest's state (llvm_exact.h), completed when it is known what
// is newer there.
struct synchronization {
    LLVMBasicBlockRef block, next;
    struct place place;
};

// Where a variable is set last in a block.
struct definition {
    LLVMBasicBlockRef block;
    LLVMValueRef last; // the instruction it is done with; NULL: done before the block's first
    uint16_t from; // the block of the region
    uint8_t var;
};

// A way out of the region in the middle of a block, completed likewise.
struct side_exit {
    LLVMBasicBlockRef block;
    struct place place;
};

enum { WAYS_OUT_MAX = 512, DEFINITIONS_MAX = 2 * REGION_OPS_MAX };

// A block of a tree that ways out of the region share: writes the variable to guest_cpu, then does what its
// parent does.
struct way_out {
    LLVMBasicBlockRef block; // NULL: not there yet
    uint16_t child, sibling; // 0: none
    uint8_t var;
};

struct build {
    struct jit *j;
    const struct region *r;
    LLVMModuleRef module;
    LLVMValueRef function;
    LLVMBuilderRef at; // where code is being added
    LLVMBuilderRef entry; // in the entry block, for variables
    LLVMValueRef var[VAR_COUNT];
    LLVMValueRef guest_cpu;
    var_set used; // variables of the region
    var_set newer; // than guest_cpu, by what the current block has done so far
    var_set written; // by the current instruction
    struct definition definitions[DEFINITIONS_MAX];
    unsigned definition_count;
    struct block_build block[REGION_BLOCKS_MAX];
    LLVMBasicBlockRef leave; // returns VAR_PC and the passed registers
    struct way_out ways_out[WAYS_OUT_MAX]; // the first two, the roots, leave and jump by exit_cell
    unsigned way_out_count;
    LLVMValueRef exit_cell; // a variable: the address of the cell
    struct side_exit exits[REGION_OPS_MAX];
    unsigned exit_count;
    struct synchronization synchronizations[REGION_OPS_MAX];
    unsigned synchronization_count;
    bool has_loaded; // since guest_cpu was exact last, for all that is known
    unsigned block_index, ops_left; // of the block that is being copied
    LLVMMetadataRef scope; // for debug locations (object.h)
    struct near near; // here
    struct near_load near_load[NEAR_LOADS_MAX]; // of the instruction
    unsigned near_loads;
    LLVMValueRef near_check; // the condition of its latest check
    bool near_sometimes; // what is copied now of it is not always done
    // the loop whose instructions are being copied with what its guard guarantees
    bool in_fast_loop;
    unsigned next_access; // of its summary
    struct hoisted hoisted[SUMMARY_ACCESSES];
    bool failed; // a template turned out not to be usable; it is marked, and the region is built again
    // the current template's values
    LLVMValueRef key[TEMPLATE_VALUES_MAX];
    struct mapped mapped[TEMPLATE_VALUES_MAX];
    unsigned generation, key_generation[TEMPLATE_VALUES_MAX];
};

// The variable, an alloca at the region's entry; its value where u->at stands; a new value there.
LLVMValueRef build_var(struct build *u, unsigned var);
LLVMValueRef build_get(struct build *u, unsigned var);
void build_set(struct build *u, unsigned var, LLVMValueRef value);
LLVMTypeRef build_var_type(const struct jit *j, unsigned var);

LLVMValueRef build_constant(const struct build *u, uint64_t value); // 64 bits
LLVMValueRef build_cpu_field(struct build *u, uint32_t offset); // its address
// What another object defines, at an address below 2 GiB.
LLVMValueRef build_global(struct build *u, const char *name, LLVMTypeRef type);
LLVMBasicBlockRef build_block(struct build *u); // empty, of no place yet
// Has what is added next stand at the block's start; behind the instruction in it, if that is not NULL.
void build_at_start(struct build *u, LLVMBasicBlockRef block);
void build_behind(struct build *u, LLVMBasicBlockRef block, LLVMValueRef instruction);
// To guest memory, from an address of 32 bits.
LLVMValueRef build_guest_pointer(struct build *u, LLVMValueRef address);
// What a line table says of code of the instruction at pc, in that block of the region; kind: COLUMN_…
// (object.h).
LLVMMetadataRef build_location(const struct build *u, unsigned block, uint32_t pc, unsigned kind);
// The same value, in a register of the host, whatever it comes from and serves for: LLVM merges nothing with
// it.
LLVMValueRef build_in_register(struct build *u, LLVMValueRef value);

// For ways that the guest takes seldom by the nature of them: a used-up budget, an unexpected return.
void build_branch_mostly(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef mostly,
                         LLVMBasicBlockRef rarely);
// By what the guest's branch has been seen to do so far; one way never seen is possible.
void build_branch_as_seen(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef taken,
                          LLVMBasicBlockRef not_taken, struct branch_counts seen);

#endif
