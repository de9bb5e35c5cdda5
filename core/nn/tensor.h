// SPDX-License-Identifier: MIT
// Tensors of floats, and the arenas that they live in. Nothing here is freed one by one: parameters live in
// an arena of their own as long as their model, temporaries in one that each training step starts afresh.
#ifndef NN_TENSOR_H
#define NN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define NN_RANK 3

// For mistakes of the program and for memory that the system does not give: prints the message and aborts.
void nn_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

// A reservation of address space that is made usable from its start as it fills: blocks never move, and after
// a reset the same pages are handed out again, so that a training step after the first allocates nothing.
struct arena {
    uint8_t *base;
    size_t capacity, usable, used;
    size_t grown; // how often it had to ask the system for memory: stands still once steps repeat
    bool separate; // every block is an allocation of its own
    struct arena_block *blocks; // those, newest first
};

// Reserves room for capacity bytes; only what is used costs memory. Ends the program, with a message, if
// the system refuses: there is no smaller way to go on.
void arena_create(struct arena *a, size_t capacity);

// The same, but with an allocation for each block, so that a sanitizer sees the bounds of every tensor, and
// as what the arena is measured against.
void arena_create_separate(struct arena *a);
void arena_destroy(struct arena *a);

// size bytes, aligned to a cache line, not cleared. Never NULL: a full arena ends the program with a message.
void *arena_alloc(struct arena *a, size_t size);
float *arena_floats(struct arena *a, size_t count);

// Takes back everything.
void arena_reset(struct arena *a);

// Row-major. Operations see [rows, columns], columns being the last dimension, unless they say otherwise;
// sequences are [time, batch, features], so that one time step of a batch is one block.
struct tensor {
    float *data;
    float *grad; // same shape; valid while has_grad. NULL before anything wanted it
    int rank;
    int shape[NN_RANK];
    bool wants_grad; // a parameter, or computed from one
    bool has_grad; // grad has been written in this step; otherwise it counts as zero
};

// A tensor of the given shape in arena a. data NULL: room for it is taken there, not cleared; otherwise
// the tensor refers to data, which has to outlive it.
struct tensor *tensor_create(struct arena *a, float *data, int rank, const int *shape);

size_t tensor_count(const struct tensor *t);
int tensor_columns(const struct tensor *t); // the last dimension
int tensor_rows(const struct tensor *t); // all others
int tensor_best(const struct tensor *t, int row); // the column of the row's greatest element, the first such

// Index of the first element that is NaN or infinite, or count if there is none.
size_t nn_first_not_finite(const float *values, size_t count);

#endif
