// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "tensor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

struct arena_block {
    struct arena_block *next;
    char pad[LINE - sizeof(void *)]; // what follows is aligned as the block is
};

void nn_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("nn: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void arena_create(struct arena *a, size_t capacity)
{
    *a = (struct arena){.capacity = (capacity + 4095) & ~(size_t)4095};
    a->base = mmap(NULL, a->capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->base == MAP_FAILED)
        nn_die("no address space for an arena of %zu bytes: %m", a->capacity);
}

void arena_create_separate(struct arena *a)
{
    *a = (struct arena){.separate = true};
}

void arena_destroy(struct arena *a)
{
    arena_reset(a);
    if (a->base)
        munmap(a->base, a->capacity);
    *a = (struct arena){0};
}

// Doubles what is usable, so that a long first step asks the system a few times only.
static void grow(struct arena *a, size_t needed)
{
    size_t usable = a->usable ? a->usable : 1 << 16;
    while (usable < needed)
        usable *= 2;
    if (usable > a->capacity)
        usable = a->capacity;
    if (needed > usable)
        nn_die("an arena of %zu bytes is full", a->capacity);
    if (mprotect(a->base, usable, PROT_READ | PROT_WRITE) != 0)
        nn_die("no memory for %zu bytes: %m", usable);
    a->usable = usable;
    a->grown++;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size = (size + LINE - 1) & ~(size_t)(LINE - 1);
    if (a->separate) {
        struct arena_block *block = aligned_alloc(LINE, sizeof *block + size);
        if (!block)
            nn_die("no memory for %zu bytes", size);
        block->next = a->blocks;
        a->blocks = block;
        a->grown++;
        return block + 1;
    }
    if (size > a->capacity - a->used)
        nn_die("an arena of %zu bytes has no room for %zu more", a->capacity, size);
    void *start = a->base + a->used;
    a->used += size;
    if (a->used > a->usable)
        grow(a, a->used);
    return start;
}

float *arena_floats(struct arena *a, size_t count)
{
    return arena_alloc(a, count * sizeof(float));
}

void arena_reset(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *block = a->blocks;
        a->blocks = block->next;
        free(block);
    }
    a->used = 0;
}

struct tensor *tensor_create(struct arena *a, float *data, int rank, const int *shape)
{
    struct tensor *t = arena_alloc(a, sizeof *t);
    *t = (struct tensor){.rank = rank};
    if (rank < 1 || rank > NN_RANK)
        nn_die("a tensor of %d dimensions", rank);
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 1)
            nn_die("a tensor with %d elements in dimension %d", shape[i], i);
        t->shape[i] = shape[i];
    }
    t->data = data ? data : arena_floats(a, tensor_count(t));
    return t;
}

size_t tensor_count(const struct tensor *t)
{
    size_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= (size_t)t->shape[i];
    return count;
}

int tensor_columns(const struct tensor *t)
{
    return t->shape[t->rank - 1];
}

int tensor_rows(const struct tensor *t)
{
    int rows = 1;
    for (int i = 0; i < t->rank - 1; i++)
        rows *= t->shape[i];
    return rows;
}

int tensor_best(const struct tensor *t, int row)
{
    int columns = tensor_columns(t), best = 0;
    const float *x = t->data + (size_t)row * columns;
    for (int c = 1; c < columns; c++)
        best = x[c] > x[best] ? c : best;
    return best;
}

size_t nn_first_not_finite(const float *values, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(values[i]))
        i++;
    return i;
}
