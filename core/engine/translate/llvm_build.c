// SPDX-License-Identifier: MIT
#include "llvm_build.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

_Static_assert((int)REGION_CONTEXTS_MAX <= (int)COLUMN_CALLS_MAX,
               "columns have room for all that is inlined");

LLVMTypeRef build_var_type(const struct jit *j, unsigned var)
{
    return var >= VAR_V ? j->v2i64 : var_size(var) == 4 ? j->i32 : j->i64;
}

LLVMValueRef build_var(struct build *u, unsigned var)
{
    if (!u->var[var])
        u->var[var] = LLVMBuildAlloca(u->entry, build_var_type(u->j, var), "");
    return u->var[var];
}

LLVMValueRef build_get(struct build *u, unsigned var)
{
    return LLVMBuildLoad2(u->at, build_var_type(u->j, var), build_var(u, var), "");
}

void build_set(struct build *u, unsigned var, LLVMValueRef value)
{
    LLVMBuildStore(u->at, value, build_var(u, var));
}

LLVMBasicBlockRef build_block(struct build *u)
{
    return LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
}

void build_behind(struct build *u, LLVMBasicBlockRef block, LLVMValueRef instruction)
{
    LLVMValueRef next = instruction ? LLVMGetNextInstruction(instruction) : LLVMGetFirstInstruction(block);
    if (next)
        LLVMPositionBuilderBefore(u->at, next);
    else
        LLVMPositionBuilderAtEnd(u->at, block);
    LLVMSetCurrentDebugLocation2(u->at, NULL); // else the next one's
}

void build_at_start(struct build *u, LLVMBasicBlockRef block)
{
    build_behind(u, block, NULL);
}

LLVMValueRef build_guest_pointer(struct build *u, LLVMValueRef address)
{
    LLVMTypeRef type = LLVMPointerTypeInContext(u->j->context, ADDRESS_SPACE_GUEST);
    return LLVMBuildIntToPtr(u->at, address, type, "");
}

LLVMMetadataRef build_location(const struct build *u, unsigned block, uint32_t pc, unsigned kind)
{
    const unsigned context = u->r->blocks[block].context;
    const unsigned column = object_column(kind, context, u->r->contexts[context].caller);
    return LLVMDIBuilderCreateDebugLocation(u->j->context, pc / 4, column, u->scope, NULL);
}

LLVMValueRef build_constant(const struct build *u, uint64_t value)
{
    return LLVMConstInt(u->j->i64, value, false);
}

LLVMValueRef build_cpu_field(struct build *u, uint32_t offset)
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

void build_branch_mostly(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef mostly,
                         LLVMBasicBlockRef rarely)
{
    branch_weighted(u, condition, mostly, rarely, 2000, 1);
}

void build_branch_as_seen(struct build *u, LLVMValueRef condition, LLVMBasicBlockRef taken,
                          LLVMBasicBlockRef not_taken, struct branch_counts seen)
{
    if (seen.taken || seen.not_taken)
        branch_weighted(u, condition, taken, not_taken, seen.taken + 1u, seen.not_taken + 1u);
    else
        LLVMBuildCondBr(u->at, condition, taken, not_taken);
}

LLVMValueRef build_global(struct build *u, const char *name, LLVMTypeRef type)
{
    LLVMValueRef g = LLVMGetNamedGlobal(u->module, name);
    if (!g) {
        g = LLVMAddGlobal(u->module, type, name);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetVisibility(g, LLVMHiddenVisibility);
    }
    return g;
}

LLVMValueRef build_in_register(struct build *u, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool is_vector = kind != LLVMIntegerTypeKind;
    LLVMTypeRef wide = !is_vector && LLVMGetIntTypeWidth(type) < 32 ? u->j->i32 : type;
    if (wide != type)
        value = LLVMBuildZExt(u->at, value, wide, "");
    LLVMTypeRef function = LLVMFunctionType(wide, &wide, 1, false);
    const char *constraints = is_vector ? "=x,0" : "=r,0";
    LLVMValueRef nothing = LLVMGetInlineAsm(function, "", 0, constraints, strlen(constraints), false, false,
                                            LLVMInlineAsmDialectATT, false);
    LLVMValueRef kept = LLVMBuildCall2(u->at, function, nothing, &value, 1, "");
    if (wide == type)
        return kept;
    unsigned range = LLVMGetMDKindIDInContext(u->j->context, "range", 5);
    LLVMMetadataRef limits[2] = {
        LLVMValueAsMetadata(LLVMConstInt(wide, 0, false)),
        LLVMValueAsMetadata(LLVMConstInt(wide, 1ull << LLVMGetIntTypeWidth(type), false))};
    LLVMSetMetadata(kept, range,
                    LLVMMetadataAsValue(u->j->context, LLVMMDNodeInContext2(u->j->context, limits, 2)));
    return LLVMBuildTrunc(u->at, kept, type, "");
}
