// SPDX-License-Identifier: MIT
// Part of llvm_jit.c: what is known while a region is built, and the variables that hold the guest's state.
#ifndef CORE_ENGINE_LLVM_BUILD_H
#define CORE_ENGINE_LLVM_BUILD_H

#include "llvm_template.h"

struct block_build {
    LLVMBasicBlockRef start, body, end; // what leads here goes to, its ops' first and last LLVM block
    // Of a loop that begins here: behind its guard; and where it goes back to: there, or to what counts
    // first.
    LLVMBasicBlockRef again, back;
    LLVMValueRef result; // of its last op: the condition or the target
    var_set written, dirty; // by its ops; possibly newer than guest_cpu at its start
    bool flags_live; // at its start: read before they are written
    bool quiet_loop; // it is the header of one that calls nobody
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

// A way out of the region in the middle of a block, completed when it is known what is to be stored there.
struct side_exit {
    LLVMBasicBlockRef block;
    uint16_t from; // block of the region
    uint16_t left; // of its instructions, this one among them
    uint32_t pc;
    var_set written; // so far, by the block
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
    var_set used, written; // variables of the region; of the current block
    struct block_build block[REGION_BLOCKS_MAX];
    LLVMBasicBlockRef leave; // returns VAR_PC and the passed registers
    struct side_exit exits[REGION_OPS_MAX];
    unsigned exit_count;
    unsigned block_index, ops_left; // of the block that is being copied
    // For debug locations, whose line is the guest pc / 4; in precise code the column is the number of
    // instructions that the block has left.
    LLVMMetadataRef scope;
    // the loop whose instructions are being copied with what its guard guarantees
    bool in_fast_loop;
    unsigned next_access; // of its summary
    struct hoisted hoisted[SUMMARY_ACCESSES];
    bool failed; // a template turned out not to be usable; it is marked, and the region is built again
    // the current template's values
    LLVMValueRef key[MAX_TEMPLATE_VALUES];
    struct mapped mapped[MAX_TEMPLATE_VALUES];
    unsigned generation, key_generation[MAX_TEMPLATE_VALUES];
};

static LLVMTypeRef var_type(const struct jit *j, unsigned var)
{
    return var >= VAR_V ? j->v2i64 : var_size(var) == 4 ? j->i32 : j->i64;
}

static LLVMValueRef variable(struct build *u, unsigned var)
{
    if (!u->var[var])
        u->var[var] = LLVMBuildAlloca(u->entry, var_type(u->j, var), "");
    return u->var[var];
}

static LLVMValueRef get_var(struct build *u, unsigned var)
{
    return LLVMBuildLoad2(u->at, var_type(u->j, var), variable(u, var), "");
}

static void set_var(struct build *u, unsigned var, LLVMValueRef value)
{
    LLVMBuildStore(u->at, value, variable(u, var));
}

static LLVMValueRef constant64(const struct build *u, uint64_t value)
{
    return LLVMConstInt(u->j->i64, value, false);
}

static LLVMValueRef cpu_field(struct build *u, uint32_t offset)
{
    LLVMValueRef index = LLVMConstInt(u->j->i32, offset, false);
    return LLVMConstInBoundsGEP2(u->j->i8, u->guest_cpu, &index, 1);
}

// Branches on the condition, which is expected to hold so many times and not to hold so many: LLVM lays out
// the code and keeps values in registers by that.
static void branch_weighted(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef yes,
                            LLVMBasicBlockRef no, unsigned times_yes, unsigned times_no)
{
    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(u->j->context, "branch_weights", strlen("branch_weights")),
        LLVMValueAsMetadata(LLVMConstInt(u->j->i32, times_yes, false)),
        LLVMValueAsMetadata(LLVMConstInt(u->j->i32, times_no, false)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(u->j->context, weights, 3);
    LLVMSetMetadata(LLVMBuildCondBr(u->at, condition, yes, no),
                    LLVMGetMDKindIDInContext(u->j->context, "prof", 4),
                    LLVMMetadataAsValue(u->j->context, node));
}

// For ways that the guest takes seldom by the nature of them: a used-up budget, an unexpected return.
static void branch_mostly(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef mostly,
                          LLVMBasicBlockRef rarely)
{
    branch_weighted(u, condition, mostly, rarely, 2000, 1);
}

// By what the guest's branch has been seen to do so far; one way never seen is possible.
static void branch_as_seen(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef taken,
                           LLVMBasicBlockRef not_taken, struct branch_counts seen)
{
    if (seen.taken || seen.not_taken)
        branch_weighted(u, condition, taken, not_taken, seen.taken + 1u, seen.not_taken + 1u);
    else
        LLVMBuildCondBr(u->at, condition, taken, not_taken);
}

// What another object defines, at an address below 2 GiB.
static LLVMValueRef global(struct build *u, const char *name, LLVMTypeRef type)
{
    LLVMValueRef g = LLVMGetNamedGlobal(u->module, name);
    if (!g) {
        g = LLVMAddGlobal(u->module, type, name);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetVisibility(g, LLVMHiddenVisibility);
    }
    return g;
}

#endif
