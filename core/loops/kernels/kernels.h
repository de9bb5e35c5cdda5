// SPDX-License-Identifier: MIT
// What runs instead of a loop's iterations. Each of these sets the plan's run for what prove.c has put
// into it.
#ifndef CORE_LOOPS_KERNELS_H
#define CORE_LOOPS_KERNELS_H

#include "core/loops/prove/plan_internal.h"

// Of functions that compilers vectorise.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define EACH_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EACH_WIDTH
#endif

// DO(type) for elements of size bytes.
#define EACH_SIZE(size, DO)                                                                                  \
    switch (size) {                                                                                          \
    case 1: DO(uint8_t); break;                                                                              \
    case 2: DO(uint16_t); break;                                                                             \
    case 4: DO(uint32_t); break;                                                                             \
    default: DO(uint64_t); break;                                                                            \
    }
#define UNALIGNED(type) type __attribute__((aligned(1), may_alias))

void kernel_choose_lookup(struct loop_plan *p);
void kernel_choose_fill(struct loop_plan *p);
void kernel_choose_copy(struct loop_plan *p);

#endif
