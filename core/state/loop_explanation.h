// SPDX-License-Identifier: MIT
// What became of one loop, for people: for core.h and for what finds it out below it.
#ifndef CORE_STATE_LOOP_EXPLANATION_H
#define CORE_STATE_LOOP_EXPLANATION_H

#include <stdbool.h>
#include <stdint.h>

#include "machine_stats.h"

enum { LOOP_CODE_MAX = 32, LOOP_CHECKS_MAX = 12 };

struct machine_loop_code {
    uint32_t pc, word;
    char text[48]; // disassembled
    char meaning[80]; // what it does in the loop, "" if that is not known
};

struct machine_loop_explanation {
    bool known; // a loop that begins there has become hot; if not, nothing below means anything
    struct machine_loop loop; // its counters, and what the nets take it for
    uint64_t skipped; // iterations that its replacement did
    uint32_t branch; // pc of the branch back to its first instruction
    bool in_use; // its replacement
    bool unwanted; // it has been switched off by machine_set_loop
    char verdict[112]; // in a few words: "proved, in use"
    unsigned code_count;
    struct machine_loop_code code[LOOP_CODE_MAX];
    // What the nets said, where they were asked: how sure of its class 0..1, how it counts, in which register
    // (-1: none), and two guesses of how many iterations an entry has.
    bool guessed;
    double confidence;
    const char *counts;
    int counter;
    double detector_trips, predicted_trips;
    // What was proved, as a sentence, and what is checked whenever the loop is entered; "" and 0 if nothing.
    char proof[160];
    unsigned check_count;
    char checks[LOOP_CHECKS_MAX][112];
    // The same in the prover's own terms, with what the engines make of it: lines.
    char details[16384];
};

#endif
