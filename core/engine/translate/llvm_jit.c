// SPDX-License-Identifier: MIT
// From a region's IR (llvm_region.c) to an object: LLVM's passes and its code generator.
#include "llvm_jit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llvm_budget.h"
#include "llvm_leave.h"
#include "llvm_region.h"
#include "translator_identity.h"

#define EMBEDDED(level)                                                                                      \
    extern const unsigned char translate_bitcode_##level[], translate_bitcode_##level##_end[];
LEVELS(EMBEDDED)
#undef EMBEDDED

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
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".%s.ll", folder, u->r->entries[0], stage);
    LLVMPrintModuleToFile(u->module, path, NULL);
}

static void dump_guest_code(const struct region *r, const char *folder)
{
    char path[600], line[128];
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".guest", folder, r->entries[0]);
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
    snprintf(path, sizeof path, "%s/" REGION_SYMBOL ".o", folder, r->entries[0]);
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

// ---- pairs of guest instructions that are one of the host's, which LLVM does not know ----

// The state of a call of the intrinsic f with a key of zero; NULL for any other value.
static LLVMValueRef state_of(LLVMValueRef call, LLVMValueRef f)
{
    return f && LLVMIsACallInst(call) && LLVMGetCalledValue(call) == f && LLVMIsNull(LLVMGetOperand(call, 1))
               ? LLVMGetOperand(call, 0)
               : NULL;
}

// AESE with AESMC: the host's last round is undone by its inverse, for the sake of a whole one
// (sem_crypto.h).
static void fuse_aes(LLVMModuleRef module)
{
    LLVMValueRef last = LLVMGetNamedFunction(module, "llvm.x86.aesni.aesenclast");
    LLVMValueRef inverse = LLVMGetNamedFunction(module, "llvm.x86.aesni.aesdeclast");
    for (LLVMUseRef use = inverse ? LLVMGetFirstUse(inverse) : NULL; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use), undone = state_of(call, inverse);
        LLVMValueRef state = undone ? state_of(undone, last) : NULL;
        if (state)
            LLVMReplaceAllUsesWith(call, state);
    }
}

// Threading comes early: a conditional compare leaves the kind of its flags open until the branches that tell
// it are joined with those that test it.
static bool optimize(struct jit *j, struct build *u)
{
    static const char all[] =
        "function(sroa,early-cse,jump-threading,simplifycfg,instcombine<no-verify-fixpoint>,"
        "loop(loop-unroll-full),loop-mssa(licm),gvn,simplifycfg)",
                      freed[] = "function(simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    return run_passes(j, u->module, all) &&
           (!budget_drop_looks(u->function) || run_passes(j, u->module, freed));
}

static enum jit_result jit_compile(struct jit *j, const struct region *r, const char *dump,
                                   struct jit_object *object)
{
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
    llvm_region_build(u);
    enum jit_result result = u->failed ? JIT_AGAIN : JIT_FAILED;
    if (!u->failed) {
        if (dump) {
            dump_guest_code(r, dump);
            dump_region(u, dump, "built");
        }
        if (optimize(j, u)) {
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

// The glue's way into regions. (clang has no attribute for it.)
static void have_entering_save_all(const struct jit *j, LLVMModuleRef module)
{
    LLVMValueRef enter = LLVMGetNamedFunction(module, "enter_region");
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(enter); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && LLVMGetCalledValue(i) == LLVMGetParam(enter, 0))
                leave_set_call_convention(j, i);
}

static bool jit_compile_glue(struct jit *j, struct jit_object *object)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(j->templates); f; f = LLVMGetNextFunction(f))
        template_read(j, f);
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
    have_entering_save_all(j, module);
    bool done = run_passes(j, module, "globaldce") && emit(j, module, object);
    LLVMDisposeModule(module);
    return done;
}

// ---- creation ----

// What takes much of LLVM's time and brings nothing to what a region is, together a sixth of it, a third
// where code is precise: values of variables tracked through the code, of which there are none; the two
// schedulers, whose work the host does itself; addresses of loops, which guest code has computed as they are;
// vectors in place of masks. LLVM has them as options of the process: they are given once, to the library's
// own copy.
static void initialize_llvm(void)
{
    static const char *const options[] = {"translate",         "-experimental-debug-variable-locations=false",
                                          "-enable-misched=0", "-disable-post-ra",
                                          "-disable-lsr",      "-disable-x86-domain-reassignment"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
}

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
    if (j->reader)
        LLVMDisposePassManager(j->reader);
    if (j->templates)
        LLVMDisposeModule(j->templates);
    LLVMContextDispose(j->context);
    free(j);
}

static struct jit *jit_create(enum level level, struct error *error)
{
#define EMBEDDED(level)                                                                                      \
    {(const char *)translate_bitcode_##level, (const char *)translate_bitcode_##level##_end},
    static const char *const bitcodes[LEVEL_COUNT][2] = {LEVELS(EMBEDDED)};
#undef EMBEDDED
    struct jit *j = calloc(1, sizeof *j);
    if (!j) {
        error_set(error, "no memory for the translator");
        return NULL;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize_llvm);
    j->context = LLVMContextCreate();
    LLVMMemoryBufferRef bitcode = LLVMCreateMemoryBufferWithMemoryRange(
        bitcodes[level][0], (size_t)(bitcodes[level][1] - bitcodes[level][0]), "bitcode", false);
    char *message = NULL;
    LLVMTargetRef target = NULL;
    if (LLVMGetBitcodeModuleInContext2(j->context, bitcode, &j->templates)) {
        LLVMDisposeMemoryBuffer(bitcode);
        error_set(error, "LLVM cannot read the translator's bitcode");
    } else if (LLVMGetTargetFromTriple(LLVMGetTarget(j->templates), &target, &message)) {
        error_set(error, "LLVM has no x86-64 target: %s", message);
        LLVMDisposeMessage(message);
    } else {
        char *cpu_name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
        j->machine = LLVMCreateTargetMachine(target, LLVMGetTarget(j->templates), cpu_name, features,
                                             LLVMCodeGenLevelDefault, LLVMRelocStatic, LLVMCodeModelSmall);
        LLVMDisposeMessage(cpu_name);
        LLVMDisposeMessage(features);
        j->layout = LLVMCreateTargetDataLayout(j->machine);
    }
    if (!j->machine) {
        jit_destroy(j);
        return NULL;
    }
    j->reader = LLVMCreateFunctionPassManagerForModule(j->templates);
    j->i8 = LLVMInt8TypeInContext(j->context);
    j->i32 = LLVMInt32TypeInContext(j->context);
    j->i64 = LLVMInt64TypeInContext(j->context);
    j->v2i64 = LLVMVectorType(j->i64, 2);
    j->ptr = LLVMPointerTypeInContext(j->context, 0);
    LLVMTypeRef words[GLUE_PASSED_COUNT + 1];
    for (unsigned i = 0; i <= GLUE_PASSED_COUNT; i++)
        words[i] = j->i64;
    j->passed_type = LLVMStructTypeInContext(j->context, words, GLUE_PASSED_COUNT + 1, false);
    j->region_type = LLVMFunctionType(j->passed_type, words, GLUE_PASSED_COUNT, false);
    j->several_type = LLVMFunctionType(j->passed_type, words, GLUE_PASSED_COUNT + 1, false);
    return j;
}

__attribute__((visibility("default"))) extern const char jit_identity[];
const char jit_identity[] = TRANSLATOR_IDENTITY;
__attribute__((visibility("default"))) extern const struct jit_functions jit_functions;
const struct jit_functions jit_functions = {jit_create, jit_destroy, jit_usable, jit_compile,
                                            jit_compile_glue};
