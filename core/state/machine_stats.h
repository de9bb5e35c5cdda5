// SPDX-License-Identifier: MIT
// What a machine counts, for core.h and for what counts below it.
#ifndef CORE_STATE_MACHINE_STATS_H
#define CORE_STATE_MACHINE_STATS_H

#include <stdint.h>

struct machine_stats {
    // Guest instructions executed. (Of a guest that an unhandled fault in translated code ended: up to where
    // that stored its state last.)
    uint64_t retired;
    uint64_t emulating_ns; // host time spent executing them (system calls included, waits not)
    uint64_t idle_ns; // host time given back while the guest waited
    uint64_t idle_cpu_ns; // CPU time of the emulation thread in these waits
    uint64_t system_calls;
    uint64_t frames; // presented
    uint64_t memory_mapped; // bytes of guest memory mapped
    uint64_t translated_regions; // installed, of which
    uint64_t cached_regions; // came from the cache
    uint64_t compile_ns; // CPU time of the compile thread
    // While dispatch is not off: instructions executed, those of them whose kernel the net named rightly, and
    // the same by distinct instruction words decoded.
    uint64_t dispatch_total, dispatch_hit;
    uint64_t dispatch_words, dispatch_words_hit;
    // Instructions and iterations of replaced loops, which nobody executed: never part of retired.
    uint64_t credited, iterations_skipped;
    // Distinct loop headers: proposed by a net as something, of which proved and installed, and refused.
    uint64_t loops_detected, loops_proved, loops_rejected;
    uint64_t
        verify_failures; // entries of replaced loops that differed from the plain loop (machine_set_verify)
};

// A loop that a net has proposed as something.
enum machine_loop_verdict { MACHINE_LOOP_PROPOSED, MACHINE_LOOP_PROVED, MACHINE_LOOP_REJECTED };
struct machine_loop {
    uint32_t header; // pc of its first instruction
    char function[32]; // that holds it, cut to fit; "" if that is unknown
    const char *class_name; // as proposed
    enum machine_loop_verdict verdict;
    char reason[80]; // of a rejection, else ""
    uint64_t entries, iterations; // counted so far, replaced or not: iterations / entries is its trip count
    uint64_t credited; // instructions that its replacement stood in for
    double share; // of all instructions, executed and credited, those of this loop: 0..1
};

#endif
