// SPDX-License-Identifier: MIT
// What runs instead of a loop's iterations once its guard holds.
#ifndef CORE_LOOPS_KERNEL_H
#define CORE_LOOPS_KERNEL_H

#include "core/loops/guard/guard.h"
#include "lookup.h"

struct kernel;
struct batch;
struct block;
struct list;
struct sort;

// Does e->count iterations; the induction variables are brought up to date by the caller, carried registers
// are set in x. Returns the instructions of these iterations.
typedef uint64_t kernel_function(const struct kernel *k, const struct entry *e, uint64_t *x);

// Of a fill, or the one of a copy: ranges, and what is stored.
enum { STREAMS = 8 };
struct stream {
    uint8_t load, store;
    struct quantity value;
};

// What the kernel works with; pointers to what it does not use are NULL. kernel_free frees them.
struct kernel {
    kernel_function *run;
    uint8_t stream_count;
    struct stream streams[STREAMS];
    struct lookup lookup;
    struct batch *batch;
    struct block *block;
    struct sort *sort;
    struct list *list;
};

void kernel_free(struct kernel *k);

// Brings e->last and e->exit up to date with the exits that are not counted. False: it would read what it may
// not.
bool kernel_find_exit(const struct kernel *k, struct entry *e);

// Where there is nothing to do but to advance induction variables.
kernel_function kernel_run_nothing;

// What the search for an exit ends with; FOUND_NO_MEMORY: it would read what it may not.
enum found { FOUND, FOUND_NONE, FOUND_NO_MEMORY };

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

#endif
