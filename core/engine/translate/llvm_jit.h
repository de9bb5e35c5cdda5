// SPDX-License-Identifier: MIT
// Regions to host code, through LLVM. The result is a relocatable x32 ELF object, which object_pack.c
// packs, and object.c then links.
#ifndef CORE_ENGINE_LLVM_JIT_H
#define CORE_ENGINE_LLVM_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/engine/level.h"
#include "region.h"

struct jit;

struct jit_object {
    unsigned char *bytes; // malloc'd, owned by whoever receives it
    size_t size;
};

// Symbols that objects define: REGION_SYMBOL for a region, and the glue's (bitcode.c). Symbols that they use:
// guest_cpu; guest_pages, of struct memory; CALL_SYMBOL and EXIT_SYMBOL, cells with the 32-bit address of the
// code for a pc that is called or gone on at; indirect_table.
#define REGION_SYMBOL "region_%08x"
#define CALL_SYMBOL "call_%08x"
#define EXIT_SYMBOL "exit_%08x"
// The cell (loops/cell.h) of the loop with that header and backward branch.
#define LOOP_SYMBOL "loop_%08x_%08x"
#define JIT_SYMBOL_MAX 24

// Entries of the table of indirect branch targets: pc in the low, code address in the high half.
#define INDIRECT_ENTRIES 4096u

enum jit_result {
    JIT_DONE,
    JIT_AGAIN, // an instruction turned out not to be usable: find the region again
    JIT_FAILED, // LLVM cannot
};

// LLVM is large and, once code is cached, not needed: what is named llvm_* is a module of its own beside
// the programs, loaded when there is something to compile. Only it includes llvm-c. It exports jit_functions,
// and jit_identity, the text that tells whether both were made from the same sources: their structures differ
// otherwise.
#define JIT_MODULE "translate_llvm.so"

struct jit_functions {
    // Reads the bitcode that was built in for that level; regions are compiled for the very processor that
    // this runs on, the glue for the level. One jit serves one thread. NULL with *error.
    struct jit *(*create)(enum level level, struct error *error);
    void (*destroy)(struct jit *j);
    // Whether instructions of this kind (enum insn) can be compiled; the others are left to the interpreter.
    bool (*usable)(struct jit *j, unsigned insn);
    // Compiles a region. dump: NULL, or a folder that receives its guest code, IR and object.
    enum jit_result (*compile)(struct jit *j, const struct region *r, const char *dump,
                               struct jit_object *object);
    // Compiles the glue and the functions that instructions share.
    bool (*compile_glue)(struct jit *j, struct jit_object *object);
};

#endif
