// SPDX-License-Identifier: MIT
// Who picks the kernel of an instruction while code is decoded: the instruction tables, or the dispatch net.
//
//   off     the tables
//   hybrid  the tables; the net is asked too, and what it names wrongly is counted each time it executes
//   pure    the net alone; its kernel decodes the word or refuses it, and a refusal of an instruction that
//           another kernel would take is a dispatch fault
//   live    as hybrid, but interpreted, and the net is evaluated again for every instruction that executes
//
// The net is asked when an instruction is decoded, and what it said of an input it is not asked again: all
// modes but live cost nothing from then on. Translated code comes from the tables, so outside mode
// off it is used only for pages of which the net names every instruction rightly; there the tables and the
// net's kernels decode alike.
//
// Everything here belongs to the emulation thread.
#ifndef CORE_ENGINE_DISPATCH_DISPATCH_MODES_H
#define CORE_ENGINE_DISPATCH_DISPATCH_MODES_H

#include "core/isa/isa.h"
#include "core/state/machine_config.h"

struct error;
struct dispatch;

struct dispatch_counts {
    uint64_t wrong; // executed instructions that the net named wrongly
    uint64_t words, words_wrong; // distinct instruction words decoded
};

// A dispatch in mode off with the net of the model files at base. NULL with *error if they are missing or
// damaged, or if there is no memory.
struct dispatch *dispatch_create(const char *base, struct error *error);
void dispatch_destroy(struct dispatch *d);

// The caller has everything decoded again when the mode changes.
void dispatch_set_mode(struct dispatch *d, enum machine_dispatch mode);
enum machine_dispatch dispatch_mode(const struct dispatch *d); // d NULL: off

// Whether the net names every instruction of a page of code rightly, which words are, at guest address pc
// (anywhere in the page). Always true for mode off.
bool dispatch_trusts_page(struct dispatch *d, uint64_t pc, const uint32_t *words);
// By its hash, the net that is asked; 0 in mode off. What one net said of a page, every run of it says.
uint64_t dispatch_identity(const struct dispatch *d);
// What is known of these pages holds no longer. Async-signal-safe.
void dispatch_forget(struct dispatch *d, uint64_t address, uint64_t length);

enum dispatch_verdict {
    DISPATCH_FINE, // decoded; or no instruction for anybody: INSN_UNDEFINED
    DISPATCH_MISNAMED, // decoded, and the net names another kernel: call dispatch_executed_wrong each time
    DISPATCH_FAULT, // an instruction, which the net gave to a kernel that refused it: INSN_UNDEFINED
};

// Decodes as isa_decode does, in the way of the mode. d NULL: off.
enum insn dispatch_decode(struct dispatch *d, uint32_t word, uint32_t pc, op *out,
                          enum dispatch_verdict *verdict);

// Remembers which handler really executes the op at pc, whose own handler counts, and finds it again.
void dispatch_remember(struct dispatch *d, uint64_t pc, uint32_t handler);
uint32_t dispatch_recall(const struct dispatch *d, uint64_t pc);

void dispatch_executed_wrong(struct dispatch *d);

// Mode live: evaluates the net for word, which is about to execute and has been decoded, and counts.
void dispatch_live(struct dispatch *d, uint32_t word);

void dispatch_get_counts(const struct dispatch *d, struct dispatch_counts *counts);

// What happened, for the report of a dispatch fault: one line in text (size bytes).
void dispatch_describe_fault(struct dispatch *d, uint32_t word, char *text, size_t size);

#endif
