// SPDX-License-Identifier: MIT
#include "layers.h"

#include <math.h>
#include <string.h>

enum { MAX_TENSORS = 256 };

void params_create(struct params *p, size_t capacity, uint64_t seed)
{
    *p = (struct params){.capacity = capacity, .rng = {rng_mix(seed)}, .is_unset = seed == PARAMS_UNSET};
    size_t list = MAX_TENSORS * (sizeof *p->tensors + sizeof(struct tensor) + 64);
    arena_create(&p->arena, 2 * capacity * sizeof(float) + list + (1 << 16));
    p->tensors = arena_alloc(&p->arena, MAX_TENSORS * sizeof *p->tensors);
    p->data = arena_floats(&p->arena, capacity);
    p->grad = arena_floats(&p->arena, capacity);
}

void params_destroy(struct params *p)
{
    arena_destroy(&p->arena);
    *p = (struct params){0};
}

struct tensor *params_add(struct params *p, const char *name, const char *part, int rank, const int *shape,
                          float bound)
{
    struct tensor *t = tensor_create(&p->arena, p->data + p->count, rank, shape);
    size_t count = tensor_count(t);
    if (count > p->capacity - p->count || p->tensor_count == MAX_TENSORS)
        nn_die("%s %s: no room left among %zu parameters", name, part, p->capacity);
    t->grad = p->grad + p->count;
    t->wants_grad = true;
    p->tensors[p->tensor_count++] = (struct named_tensor){name, part, p->count, t};
    p->count += count;
    for (size_t i = 0; i < count && !p->is_unset; i++)
        t->data[i] = bound == 0 ? 0 : bound * (2 * rng_uniform(&p->rng) - 1);
    return t;
}

void params_clear_grad(struct params *p)
{
    for (int i = 0; i < p->tensor_count; i++)
        p->tensors[i].tensor->has_grad = false;
}

struct dense dense_create(struct params *p, const char *name, int in, int out)
{
    float bound = 1 / sqrtf((float)in);
    struct dense l;
    l.weight = params_add(p, name, "weight", 2, (int[]){out, in}, bound);
    l.bias = params_add(p, name, "bias", 1, (int[]){out}, bound);
    return l;
}

struct tensor *dense_forward(const struct dense *l, struct graph *g, struct tensor *x)
{
    return nn_dense(g, x, l->weight, l->bias);
}

struct embedding embedding_create(struct params *p, const char *name, int n, int columns)
{
    struct embedding l = {params_add(p, name, "table", 2, (int[]){n, columns}, 0)};
    for (int i = 0; i < n * columns && !p->is_unset; i++)
        l.table->data[i] = rng_normal(&p->rng);
    return l;
}

struct tensor *embedding_forward(const struct embedding *l, struct graph *g, const int *index, int rank,
                                 const int *shape)
{
    return nn_embedding(g, l->table, index, rank, shape);
}

struct layer_norm layer_norm_create(struct params *p, const char *name, int columns)
{
    struct layer_norm l;
    l.gain = params_add(p, name, "gain", 1, &columns, 0);
    l.bias = params_add(p, name, "bias", 1, &columns, 0);
    for (int i = 0; i < columns; i++)
        l.gain->data[i] = 1;
    return l;
}

struct tensor *layer_norm_forward(const struct layer_norm *l, struct graph *g, struct tensor *x)
{
    return nn_layer_norm(g, x, l->gain, l->bias);
}
