// SPDX-License-Identifier: MIT
// Part of llvm_jit.c: pairs of guest instructions that are one of the host's, which LLVM does not know.
#ifndef CORE_ENGINE_LLVM_FUSE_H
#define CORE_ENGINE_LLVM_FUSE_H

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

#endif
