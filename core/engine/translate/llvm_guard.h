// SPDX-License-Identifier: MIT
// A loop's guard (core/loops/guard/guard.h) as code: what it takes to know the trip count, and to load once
// what is loaded from the same place in every iteration. The iterations themselves are the guest's own
// instructions, which check their addresses: what else the guard says is only needed by kernels, by precise
// code, and by what does several iterations at once (llvm_lookup.h).
#ifndef CORE_ENGINE_TRANSLATE_LLVM_GUARD_H
#define CORE_ENGINE_TRANSLATE_LLVM_GUARD_H

#include <llvm-c/Types.h>

#include "core/loops/guard/guard.h"

struct llvm_guard {
    // The caller's:
    const struct guard *guard;
    LLVMContextRef context;
    LLVMBuilderRef at; // where code is added
    LLVMValueRef (*get)(void *user, unsigned reg); // a register's value, 64 bits
    void *user;
    LLVMValueRef pages; // address of the guest's page flags
    // What has been built so far:
    LLVMValueRef holds; // 1 bit; NULL: nothing has been required
    LLVMValueRef trips; // 64 bits: complete iterations before an exit is taken, where it holds
    LLVMValueRef computed[ENTRY_OPS];
    uint64_t loaded; // a bit for each entry op whose result has been loaded
};

void llvm_guard_require(struct llvm_guard *l, LLVMValueRef condition);

// Of a guard that guard_counts_by_registers: adds trips, and that no counter wraps around.
void llvm_guard_add_trips(struct llvm_guard *l);

// Marks the accesses that can be done once, and adds that no store of the trips reaches them, and that
// nobody else writes there.
void llvm_guard_add_invariants(struct llvm_guard *l, bool invariant[SUMMARY_ACCESSES]);
// Where such an access goes, 64 bits, without a tag; and what it has loaded, for llvm_guard_knows.
LLVMValueRef llvm_guard_address(struct llvm_guard *l, unsigned access);
void llvm_guard_set_loaded(struct llvm_guard *l, unsigned access, LLVMValueRef value);

// Whether it can be told at the entry where the trips' stores go; the value, which it computes, 64 bits.
bool llvm_guard_knows_stores(const struct llvm_guard *l);
bool llvm_guard_knows(const struct llvm_guard *l, struct quantity q);
LLVMValueRef llvm_guard_value(struct llvm_guard *l, struct quantity q);

// Adds that so many bytes at each base, no more than a page, can be read, and are written neither by the
// trips' stores, which are known, nor by others; and that upper halves of registers are zero where the guard
// says so.
void llvm_guard_add_tables(struct llvm_guard *l, const struct quantity *base, const unsigned *bytes,
                           unsigned count);
// Adds that no access of the trips faults; false, and nothing is added, if it cannot be told where all of
// them go.
bool llvm_guard_add_pages(struct llvm_guard *l);

#endif
