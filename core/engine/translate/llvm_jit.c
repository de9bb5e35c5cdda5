// SPDX-License-Identifier: MIT
// Builds a region's IR by copying the instruction definitions (bitcode.c) with their operands filled in, then
// runs LLVM's passes over it. The only file that includes llvm-c.
//
// Each part of the guest's state that a region uses is a local variable of it, which LLVM turns into SSA
// values. The registers of struct passed come and go in host registers; the rest is read from guest_cpu at
// the entry and after calls, and written to it, where it may have changed, before calls and exits.
#include "llvm_jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/cpu.h"
#include "core/loops/cell.h"
#include "core/loops/expr/summary.h"
#include "core/state/memory.h"
#include "translator_identity.h"

extern const unsigned char translate_bitcode[], translate_bitcode_end[];

#include "llvm_copy.h"
#include "llvm_flow.h"
#include "llvm_fuse.h"

// ---- leaving and calling ----

// Writes to guest_cpu what may be newer in variables, but for the passed registers.
static void store_dirty(struct build *u, const var_set *dirty)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (set_has(dirty, var) && !is_passed(var))
            LLVMBuildStore(u->at, get_var(u, var), cpu_field(u, var_offset(var)));
}

// In precise code, guest_cpu is up to date at the start of each block and wherever an access may fault.
// Writes to it what the block has changed since.
static void store_written(struct build *u)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (set_has(&u->written, var))
            LLVMSetVolatile(LLVMBuildStore(u->at, get_var(u, var), cpu_field(u, var_offset(var))), true);
    u->written = (var_set){{0}};
}

// Fills the variables that the region uses, but for the passed registers, from guest_cpu.
static void load_used(struct build *u)
{
    for (unsigned var = 0; var < VAR_COUNT; var++)
        if (set_has(&u->used, var) && !is_passed(var))
            set_var(u, var, LLVMBuildLoad2(u->at, var_type(u->j, var), cpu_field(u, var_offset(var)), ""));
}

// Without the flags: where what follows sets them before it reads them.
static var_set but_flags(const var_set *s)
{
    var_set rest = *s;
    for (unsigned var = VAR_FLAGS_A; var <= VAR_FLAGS_KIND; var++)
        rest.bits[var / 64] &= ~(1ull << var % 64);
    return rest;
}

static void leave_for(struct build *u, LLVMValueRef pc, const var_set *dirty)
{
    store_dirty(u, dirty);
    set_var(u, VAR_PC, pc);
    LLVMBuildBr(u->at, u->leave);
}

static LLVMValueRef glue(struct build *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f) {
        f = LLVMAddFunction(u->module, name, u->j->region_type);
        LLVMSetFunctionCallConv(f, REGCALL);
        LLVMSetVisibility(f, LLVMHiddenVisibility);
    }
    return f;
}

static LLVMValueRef call_passing(struct build *u, LLVMValueRef code)
{
    LLVMValueRef arguments[PASSED];
    for (unsigned i = 0; i < PASSED; i++)
        arguments[i] = get_var(u, passed_vars[i]);
    LLVMValueRef call = LLVMBuildCall2(u->at, u->j->region_type, code, arguments, PASSED, "");
    LLVMSetInstructionCallConv(call, REGCALL);
    return call;
}

// Calls code with the passed registers; they are up to date in the variables afterwards. Returns the next pc.
static LLVMValueRef call_code(struct build *u, LLVMValueRef code)
{
    LLVMValueRef call = call_passing(u, code);
    for (unsigned i = 0; i < PASSED; i++)
        set_var(u, passed_vars[i], LLVMBuildExtractValue(u->at, call, i, ""));
    return LLVMBuildExtractValue(u->at, call, PASSED, "");
}

// Goes on in code for good: a jump, so that chains of them (an interpreter's dispatch) take no host stack.
static void go_to_code(struct build *u, LLVMValueRef code)
{
    LLVMValueRef call = call_passing(u, code);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    LLVMBuildRet(u->at, call);
}

// After a call: goes on at the block if the callee returned to its pc, else leaves.
static void go_on_after_call(struct build *u, LLVMValueRef pc, const struct region_block *b,
                             uint32_t return_pc)
{
    static const var_set nothing;
    LLVMBasicBlockRef elsewhere = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMBasicBlockRef back = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    if (b->next >= 0) {
        branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntEQ, pc, constant64(u, return_pc), ""), back, elsewhere);
        LLVMPositionBuilderAtEnd(u->at, back);
        load_used(u);
        LLVMBuildBr(u->at, u->block[b->next].start);
    } else {
        LLVMDeleteBasicBlock(back);
        LLVMBuildBr(u->at, elsewhere);
    }
    LLVMPositionBuilderAtEnd(u->at, elsewhere);
    leave_for(u, pc, &nothing);
}

// The code for an indirect branch to target: from the table, or the glue that finds it out.
static LLVMValueRef code_for(struct build *u, LLVMValueRef target)
{
    struct jit *j = u->j;
    LLVMValueRef table = global(u, "indirect_table", j->i64);
    LLVMValueRef index =
        LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, target, constant64(u, 2), ""), j->i32, "");
    index = LLVMBuildAnd(u->at, index, LLVMConstInt(j->i32, INDIRECT_ENTRIES - 1, false), "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(u->at, j->i64, table, &index, 1, "");
    LLVMValueRef found = LLVMBuildLoad2(u->at, j->i64, at, "");
    LLVMValueRef pc = LLVMBuildAnd(u->at, found, constant64(u, 0xffffffff), "");
    LLVMValueRef code = LLVMBuildIntToPtr(
        u->at, LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, found, constant64(u, 32), ""), j->i32, ""), j->ptr,
        "");
    LLVMBuildStore(u->at, target, cpu_field(u, offsetof(cpu, cold_pc)));
    return LLVMBuildSelect(u->at, LLVMBuildICmp(u->at, LLVMIntEQ, pc, target, ""), code,
                           glue(u, "__regcall3__cold_call"), "");
}

#include "llvm_loops.h"

static void add_terminator(struct build *u, unsigned index)
{
    struct jit *j = u->j;
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    var_set dirty = x->dirty;
    set_join(&dirty, &x->written);
    LLVMPositionBuilderAtEnd(u->at, x->end);
    switch ((enum region_end)b->end) {
    case END_NEXT: LLVMBuildBr(u->at, edge_to(u, index, b->next)); break;
    case END_BRANCH:
        branch_as_seen(u, x->result, edge_to(u, index, b->taken), edge_to(u, index, b->next), b->seen);
        break;
    case END_CALL: {
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, CALL_SYMBOL, b->target_pc);
        if (b->flags_dead)
            dirty = but_flags(&dirty);
        store_dirty(u, &dirty);
        LLVMValueRef code = LLVMBuildLoad2(u->at, j->ptr, global(u, name, j->i32), "");
        go_on_after_call(u, call_code(u, code), b, u->r->ops[b->first + b->count - 1].pc + 4);
        break;
    }
    case END_CALL_INDIRECT:
        store_dirty(u, &dirty);
        go_on_after_call(u, call_code(u, code_for(u, x->result)), b, b->target_pc);
        break;
    case END_INDIRECT:
        if (u->r->ops[b->first + b->count - 1].insn == INSN_ret) {
            leave_for(u, x->result, &dirty);
        } else {
            store_dirty(u, &dirty);
            go_to_code(u, code_for(u, x->result));
        }
        break;
    case END_RETURN: {
        LLVMBasicBlockRef elsewhere = LLVMAppendBasicBlockInContext(j->context, u->function, "");
        LLVMValueRef expected = LLVMBuildICmp(u->at, LLVMIntEQ, x->result, constant64(u, b->target_pc), "");
        branch_mostly(u, expected, edge_to(u, index, b->next), elsewhere);
        LLVMPositionBuilderAtEnd(u->at, elsewhere);
        leave_for(u, x->result, &dirty);
        break;
    }
    case END_STEP:
        store_dirty(u, &dirty);
        LLVMBuildStore(u->at, constant64(u, b->target_pc), cpu_field(u, offsetof(cpu, cold_pc)));
        go_on_after_call(u, call_code(u, glue(u, "__regcall3__cold_step")), b, b->target_pc + 4);
        break;
    case END_STOP: leave_for(u, constant64(u, b->target_pc), &dirty); break;
    case END_EXIT: {
        char name[JIT_SYMBOL_MAX];
        snprintf(name, sizeof name, EXIT_SYMBOL, b->target_pc);
        store_dirty(u, &dirty);
        go_to_code(u, LLVMBuildLoad2(u->at, j->ptr, global(u, name, j->i32), ""));
        break;
    }
    }
}

// ---- a whole region ----

// What happens where guest code is entered or loops: leaves if fewer instructions are left than the block
// has.
static void check_budget(struct build *u, unsigned index)
{
    const struct region_block *b = &u->r->blocks[index];
    struct block_build *x = &u->block[index];
    LLVMBasicBlockRef enough = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMBasicBlockRef spent = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    LLVMPositionBuilderAtEnd(u->at, x->again);
    LLVMValueRef left = get_var(u, VAR_BUDGET), length = constant64(u, b->count);
    branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntSGE, left, length, ""), enough, spent);
    LLVMPositionBuilderAtEnd(u->at, spent);
    var_set dirty = x->flags_live ? x->dirty : but_flags(&x->dirty);
    leave_for(u, constant64(u, b->pc), &dirty);
    LLVMPositionBuilderAtEnd(u->at, enough);
}

static bool makes_calls(const struct region *r)
{
    for (unsigned i = 0; i < r->block_count; i++)
        if (r->blocks[i].end == END_CALL || r->blocks[i].end == END_CALL_INDIRECT)
            return true;
    return false;
}

// At the entry of a region that calls: leaves when the host's stack is nearly used up.
static void check_stack(struct build *u)
{
    static const var_set nothing;
    struct jit *j = u->j;
    unsigned id = LLVMLookupIntrinsicID("llvm.read_register", strlen("llvm.read_register"));
    LLVMTypeRef type = LLVMIntrinsicGetType(j->context, id, &j->i64, 1);
    LLVMValueRef read = LLVMGetIntrinsicDeclaration(u->module, id, &j->i64, 1);
    LLVMMetadataRef name = LLVMMDStringInContext2(j->context, "rsp", 3);
    LLVMValueRef rsp = LLVMMetadataAsValue(j->context, LLVMMDNodeInContext2(j->context, &name, 1));
    LLVMValueRef stack = LLVMBuildCall2(u->at, type, read, &rsp, 1, "");
    LLVMValueRef limit = LLVMBuildLoad2(u->at, j->i64, cpu_field(u, offsetof(cpu, stack_limit)), "");
    LLVMBasicBlockRef deep = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    LLVMBasicBlockRef fine = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntUGE, stack, limit, ""), fine, deep);
    LLVMPositionBuilderAtEnd(u->at, deep);
    leave_for(u, constant64(u, u->r->entry), &nothing);
    LLVMPositionBuilderAtEnd(u->at, fine);
}

static void add_leave_block(struct build *u)
{
    LLVMPositionBuilderAtEnd(u->at, u->leave);
    LLVMValueRef result = LLVMGetUndef(u->j->passed_type);
    for (unsigned i = 0; i < PASSED; i++)
        result = LLVMBuildInsertValue(u->at, result, get_var(u, passed_vars[i]), i, "");
    LLVMBuildRet(u->at, LLVMBuildInsertValue(u->at, result, get_var(u, VAR_PC), PASSED, ""));
}

static void copy_blocks(struct build *u)
{
    const struct region *r = u->r;
    for (unsigned i = 0; i < r->block_count; i++) {
        struct block_build *x = &u->block[i];
        x->start = x->again = x->back = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
    }
    for (unsigned i = 0; i < r->loop_count; i++)
        place_guard(u, &r->loops[i]);
    for (unsigned i = 0; i < r->block_count && !u->failed; i++) {
        const struct region_block *b = &r->blocks[i];
        LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(u->j->context, u->function, "");
        u->written = (var_set){0};
        LLVMPositionBuilderAtEnd(u->at, body);
        if (b->count) {
            LLVMValueRef left = get_var(u, VAR_BUDGET);
            left = LLVMBuildSub(u->at, left, constant64(u, b->count), "");
            set_var(u, VAR_BUDGET, left);
            if (r->precise)
                LLVMSetVolatile(LLVMBuildStore(u->at, left, cpu_field(u, offsetof(cpu, budget))), true);
        }
        u->block_index = i;
        for (unsigned k = 0; k < b->count && !u->failed; k++) {
            const struct region_op *o = &r->ops[b->first + k];
            const struct template *t = template_of(u->j, o->insn);
            u->ops_left = b->count - k;
            if (r->precise && (t->loads || t->stores))
                store_written(u);
            u->block[i].result = copy_template(u, o);
        }
        if (r->precise)
            store_written(u);
        u->block[i].end = LLVMGetInsertBlock(u->at);
        u->block[i].written = u->written;
        u->block[i].body = body;
    }
}

// The interpreter goes on at the instruction, which has not been retired.
static void add_side_exits(struct build *u)
{
    for (unsigned i = 0; i < u->exit_count; i++) {
        const struct side_exit *e = &u->exits[i];
        var_set dirty = u->block[e->from].dirty;
        set_join(&dirty, &e->written);
        LLVMPositionBuilderAtEnd(u->at, e->block);
        set_var(u, VAR_BUDGET, LLVMBuildAdd(u->at, get_var(u, VAR_BUDGET), constant64(u, e->left), ""));
        leave_for(u, constant64(u, e->pc), &dirty);
    }
}

static void build_region(struct build *u)
{
    struct jit *j = u->j;
    const struct region *r = u->r;
    char name[JIT_SYMBOL_MAX];
    snprintf(name, sizeof name, REGION_SYMBOL, r->entry);
    u->function = LLVMAddFunction(u->module, name, j->region_type);
    LLVMSetFunctionCallConv(u->function, REGCALL);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(u->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(j->context, nounwind, 0));
    u->guest_cpu = global(u, "guest_cpu", j->i8);

    LLVMDIBuilderRef debug = LLVMCreateDIBuilder(u->module);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(debug, "guest", 5, ".", 1);
    LLVMDIBuilderCreateCompileUnit(debug, LLVMDWARFSourceLanguageC, file, "", 0, true, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(debug, file, NULL, 0, LLVMDIFlagZero);
    u->scope = LLVMDIBuilderCreateFunction(debug, file, name, strlen(name), name, strlen(name), file, 1, type,
                                           false, true, 1, LLVMDIFlagZero, true);
    LLVMSetSubprogram(u->function, u->scope);

    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    u->leave = LLVMAppendBasicBlockInContext(j->context, u->function, "");
    LLVMPositionBuilderAtEnd(u->entry, entry);
    for (unsigned i = 0; i < PASSED; i++)
        LLVMBuildStore(u->entry, LLVMGetParam(u->function, i), variable(u, passed_vars[i]));
    copy_blocks(u);
    if (!u->failed) {
        find_dirty(u);
        find_live_flags(u);
        for (unsigned i = 0; i < r->block_count; i++) {
            add_terminator(u, i);
            if ((i == 0 || r->blocks[i].loop_header) && r->blocks[i].count)
                check_budget(u, i);
            else
                LLVMPositionBuilderAtEnd(u->at, u->block[i].again);
            LLVMBuildBr(u->at, u->block[i].body);
        }
        for (unsigned i = 0; i < r->loop_count && !u->failed; i++)
            add_loop_guard(u, &r->loops[i]);
        add_side_exits(u);
        add_leave_block(u);
        LLVMBasicBlockRef begin = LLVMAppendBasicBlockInContext(j->context, u->function, "");
        LLVMPositionBuilderAtEnd(u->at, begin);
        if (makes_calls(r))
            check_stack(u);
        load_used(u);
        LLVMBuildBr(u->at, u->block[0].start);
        LLVMBuildBr(u->entry, begin);
    }
    LLVMDIBuilderFinalize(debug);
    LLVMDisposeDIBuilder(debug);
}

static bool emit(struct jit *j, LLVMModuleRef module, struct jit_object *object)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    if (LLVMTargetMachineEmitToMemoryBuffer(j->machine, module, LLVMObjectFile, &message, &buffer)) {
        LLVMDisposeMessage(message);
        return false;
    }
    object->size = LLVMGetBufferSize(buffer);
    object->bytes = malloc(object->size);
    if (object->bytes)
        memcpy(object->bytes, LLVMGetBufferStart(buffer), object->size);
    LLVMDisposeMemoryBuffer(buffer);
    return object->bytes != NULL;
}

static bool run_passes(struct jit *j, LLVMModuleRef module, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, j->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    return !error;
}

static void dump_region(const struct build *u, const char *folder, const char *stage)
{
    char path[600];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".%s.ll", folder, u->r->entry, stage);
    LLVMPrintModuleToFile(u->module, path, NULL);
}

static void dump_guest_code(const struct region *r, const char *folder)
{
    char path[600], line[128];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".guest", folder, r->entry);
    FILE *f = fopen(path, "w");
    for (unsigned i = 0; f && i < r->block_count; i++) {
        const struct region_block *b = &r->blocks[i];
        fprintf(f, "block %u context %u end %u next %d taken %d%s\n", i, b->context, b->end, b->next,
                b->taken, b->loop_header ? " loop" : "");
        for (unsigned k = 0; k < b->count; k++) {
            const struct region_op *o = &r->ops[b->first + k];
            for (unsigned p = 0; p < r->page_count; p++) {
                if (o->pc - r->pages[p].address < sizeof r->pages[p].bytes) {
                    uint32_t word;
                    memcpy(&word, r->pages[p].bytes + (o->pc - r->pages[p].address), sizeof word);
                    isa_disassemble(word, o->pc, line, sizeof line);
                    fprintf(f, "  %08x  %s\n", o->pc, line);
                }
            }
        }
    }
    if (f)
        fclose(f);
}

static void dump_object(const struct region *r, const char *folder, const struct jit_object *object)
{
    char path[600];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".o", folder, r->entry);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(object->bytes, 1, object->size, f);
        fclose(f);
    }
}

static bool jit_usable(struct jit *j, unsigned insn)
{
    return template_of(j, insn)->usable;
}

static enum flags_use jit_flags_use(struct jit *j, unsigned insn)
{
    const struct template *t = template_of(j, insn);
    return t->reads_flags ? FLAGS_READ : t->writes_flags ? FLAGS_WRITTEN : FLAGS_UNUSED;
}

static enum jit_result jit_compile(struct jit *j, const struct region *r, const char *dump,
                                   struct jit_object *object)
{
    // Threading comes early: a conditional compare leaves the kind of its flags open until the branches that
    // tell it are joined with those that test it.
    static const char passes[] = "function(sroa,early-cse<memssa>,jump-threading,simplifycfg,"
                                 "instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,dse,simplifycfg)";
    struct build *u = calloc(1, sizeof *u);
    if (!u)
        return JIT_FAILED;
    u->j = j;
    u->r = r;
    u->module = LLVMModuleCreateWithNameInContext("region", j->context);
    LLVMSetTarget(u->module, LLVMGetTarget(j->templates));
    LLVMSetDataLayout(u->module, LLVMGetDataLayoutStr(j->templates));
    u->at = LLVMCreateBuilderInContext(j->context);
    u->entry = LLVMCreateBuilderInContext(j->context);
    build_region(u);
    enum jit_result result = u->failed ? JIT_AGAIN : JIT_FAILED;
    if (!u->failed) {
        if (dump) {
            dump_guest_code(r, dump);
            dump_region(u, dump, "built");
        }
        if (run_passes(j, u->module, passes)) {
            fuse_aes(u->module);
            if (dump)
                dump_region(u, dump, "optimized");
            if (emit(j, u->module, object))
                result = JIT_DONE;
            if (dump && result == JIT_DONE)
                dump_object(r, dump, object);
        }
    }
    LLVMDisposeBuilder(u->at);
    LLVMDisposeBuilder(u->entry);
    LLVMDisposeModule(u->module);
    free(u);
    return result;
}

static bool jit_compile_glue(struct jit *j, struct jit_object *object)
{
    LLVMModuleRef module = LLVMCloneModule(j->templates);
    for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        next = LLVMGetNextFunction(f);
        if (strncmp(name, "op_", 3) == 0)
            LLVMDeleteFunction(f);
        else if (!LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMExternalLinkage);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g))
            LLVMSetLinkage(g, LLVMExternalLinkage);
    bool done = run_passes(j, module, "globaldce") && emit(j, module, object);
    LLVMDisposeModule(module);
    return done;
}

// ---- creation ----

static void jit_destroy(struct jit *j)
{
    if (!j)
        return;
    for (unsigned i = 0; i < INSN_COUNT; i++)
        free(j->template[i].order);
    if (j->layout)
        LLVMDisposeTargetData(j->layout);
    if (j->machine)
        LLVMDisposeTargetMachine(j->machine);
    if (j->templates)
        LLVMDisposeModule(j->templates);
    LLVMContextDispose(j->context);
    free(j);
}

static struct jit *jit_create(char *error, size_t size)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j) {
        snprintf(error, size, "no memory for the translator");
        return NULL;
    }
    isa_init();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    j->context = LLVMContextCreate();
    LLVMMemoryBufferRef bitcode = LLVMCreateMemoryBufferWithMemoryRange(
        (const char *)translate_bitcode, (size_t)(translate_bitcode_end - translate_bitcode), "bitcode",
        false);
    char *message = NULL;
    LLVMTargetRef target = NULL;
    if (LLVMParseBitcodeInContext2(j->context, bitcode, &j->templates)) {
        snprintf(error, size, "LLVM cannot read the translator's bitcode");
    } else if (LLVMGetTargetFromTriple(LLVMGetTarget(j->templates), &target, &message)) {
        snprintf(error, size, "LLVM has no x86-64 target: %s", message);
        LLVMDisposeMessage(message);
    } else {
        char *cpu_name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
        j->machine = LLVMCreateTargetMachine(target, LLVMGetTarget(j->templates), cpu_name, features,
                                             LLVMCodeGenLevelDefault, LLVMRelocStatic, LLVMCodeModelSmall);
        LLVMDisposeMessage(cpu_name);
        LLVMDisposeMessage(features);
        j->layout = LLVMCreateTargetDataLayout(j->machine);
    }
    LLVMDisposeMemoryBuffer(bitcode);
    if (!j->machine) {
        jit_destroy(j);
        return NULL;
    }
    j->i8 = LLVMInt8TypeInContext(j->context);
    j->i32 = LLVMInt32TypeInContext(j->context);
    j->i64 = LLVMInt64TypeInContext(j->context);
    j->v2i64 = LLVMVectorType(j->i64, 2);
    j->ptr = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef words[PASSED + 1];
    for (unsigned i = 0; i <= PASSED; i++)
        words[i] = j->i64;
    j->passed_type = LLVMStructTypeInContext(j->context, words, PASSED + 1, false);
    j->region_type = LLVMFunctionType(j->passed_type, words, PASSED, false);
    return j;
}

__attribute__((visibility("default"))) extern const char jit_identity[];
const char jit_identity[] = TRANSLATOR_IDENTITY;
__attribute__((visibility("default"))) extern const struct jit_functions jit_functions;
const struct jit_functions jit_functions = {jit_create,    jit_destroy, jit_usable,
                                            jit_flags_use, jit_compile, jit_compile_glue};
