// SPDX-License-Identifier: MIT
// The instructions' definitions as LLVM functions (templates): what can be copied, and what it does.
#ifndef CORE_ENGINE_TRANSLATE_LLVM_TEMPLATE_H
#define CORE_ENGINE_TRANSLATE_LLVM_TEMPLATE_H

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>
#include <stdbool.h>

#include "core/isa/isa.h"

enum {
    TEMPLATE_VALUES_MAX = 2048,
    TEMPLATE_BLOCKS_MAX = 256,
};

struct template
{
    LLVMValueRef function;
    LLVMBasicBlockRef *order; // reverse postorder
    unsigned block_count;
    bool checked, usable;
};

// What is compiled with.
struct jit {
    LLVMContextRef context;
    LLVMModuleRef templates; // a function's body is there once template_read has read it
    LLVMPassManagerRef reader;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    struct template template[INSN_COUNT];
    LLVMTypeRef i8, i32, i64, v2i64, ptr, passed_type, region_type;
    LLVMTypeRef several_type; // of a region with several entries: takes which one, too
};

// Reads the body of a function of the bitcode: to read all takes 60 ms.
void template_read(struct jit *j, LLVMValueRef function);
// The definition of insn (enum insn), which j owns.
struct template *template_of(struct jit *j, unsigned insn);
// Whether the call is of that hook of bitcode.c.
bool template_calls(LLVMValueRef call, const char *hook);

#endif
