// SPDX-License-Identifier: MIT
#include "autodiff.h"

#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "rng.h"

struct tape_node {
    struct tape_node *before;
    struct tensor *out;
    void (*back)(struct graph *g, void *context);
    void *context;
};

#define TEMPORARIES ((size_t)64 << 30)

static void need_blas(const struct kernels *kernels)
{
    struct error error;
    if (kernels == &nn_kernels_fast && !nn_blas_load(&error))
        nn_die("%s", error.text);
}

void graph_create(struct graph *g, const struct kernels *kernels, bool training, uint64_t seed)
{
    need_blas(kernels);
    *g = (struct graph){.k = kernels, .training = training, .seed = seed};
    arena_create(&g->temporaries, TEMPORARIES);
}

void graph_create_separate(struct graph *g, const struct kernels *kernels, bool training, uint64_t seed)
{
    need_blas(kernels);
    *g = (struct graph){.k = kernels, .training = training, .seed = seed};
    arena_create_separate(&g->temporaries);
}

void graph_destroy(struct graph *g)
{
    arena_destroy(&g->temporaries);
    *g = (struct graph){0};
}

void graph_begin(struct graph *g, uint64_t step)
{
    arena_reset(&g->temporaries);
    g->tape = NULL;
    g->step = step;
    g->drops = 0;
}

void graph_backward(struct graph *g, struct tensor *loss)
{
    if (!g->training || !loss->wants_grad || tensor_count(loss) != 1)
        nn_die("backward: needs a loss of one element, computed from parameters while training");
    float keep, *grad = graph_grad(g, loss, &keep);
    *grad = 1;
    for (struct tape_node *node = g->tape; node; node = node->before)
        if (node->out->has_grad)
            node->back(g, node->context);
    g->tape = NULL;
}

void graph_record(struct graph *g, struct tensor *out, void (*back)(struct graph *g, void *context),
                  void *context)
{
    if (!out->wants_grad)
        return;
    struct tape_node *node = arena_alloc(&g->temporaries, sizeof *node);
    *node = (struct tape_node){g->tape, out, back, context};
    g->tape = node;
}

float *graph_grad(struct graph *g, struct tensor *t, float *keep)
{
    if (!t->grad)
        t->grad = arena_floats(&g->temporaries, tensor_count(t));
    *keep = t->has_grad ? 1 : 0;
    t->has_grad = true;
    return t->grad;
}

// The same, cleared if this is the first writer: for those who add to parts.
static float *grad_sum(struct graph *g, struct tensor *t)
{
    float keep, *grad = graph_grad(g, t, &keep);
    if (keep == 0)
        memset(grad, 0, tensor_count(t) * sizeof *grad);
    return grad;
}

struct tensor *graph_result(struct graph *g, int rank, const int *shape, const struct tensor *a,
                            const struct tensor *b)
{
    struct tensor *t = tensor_create(&g->temporaries, NULL, rank, shape);
    t->wants_grad = g->training && ((a && a->wants_grad) || (b && b->wants_grad));
    return t;
}

void *graph_context(struct graph *g, const void *context, size_t size)
{
    return memcpy(arena_alloc(&g->temporaries, size), context, size);
}

struct tensor *nn_input(struct graph *g, const float *data, int rank, const int *shape)
{
    // Nothing writes to what wants no gradient.
    return tensor_create(&g->temporaries, (float *)data, rank, shape);
}

// Ends the program, naming the operation and both shapes.
static _Noreturn void misfit(const char *operation, const struct tensor *a, const struct tensor *b)
{
    char text[2][64] = {"", ""};
    const struct tensor *t[2] = {a, b};
    for (int i = 0; i < 2; i++)
        for (int d = 0, at = 0; d < t[i]->rank; d++)
            at += snprintf(text[i] + at, sizeof text[i] - at, "%s%d", d ? "," : "", t[i]->shape[d]);
    nn_die("%s: shapes [%s] and [%s] do not fit", operation, text[0], text[1]);
}

static void same_shape(const char *operation, const struct tensor *a, const struct tensor *b)
{
    if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) != 0)
        misfit(operation, a, b);
}

struct dense_context {
    struct tensor *x, *w, *b, *y;
};

static void dense_back(struct graph *g, void *context)
{
    struct dense_context *d = context;
    int rows = tensor_rows(d->x), in = tensor_columns(d->x), out = d->w->shape[0];
    float keep, *grad;
    if (d->x->wants_grad) {
        grad = graph_grad(g, d->x, &keep);
        g->k->gemm(false, false, rows, in, out, d->y->grad, out, d->w->data, in, keep, grad, in);
    }
    if (d->w->wants_grad) {
        grad = graph_grad(g, d->w, &keep);
        g->k->gemm(true, false, out, in, rows, d->y->grad, out, d->x->data, in, keep, grad, in);
    }
    if (d->b && d->b->wants_grad) {
        grad = graph_grad(g, d->b, &keep);
        g->k->sum_columns(rows, out, d->y->grad, out, keep, grad);
    }
}

struct tensor *nn_dense(struct graph *g, struct tensor *x, struct tensor *w, struct tensor *b)
{
    int rows = tensor_rows(x), in = tensor_columns(x), out = w->shape[0], shape[NN_RANK];
    if (w->rank != 2 || w->shape[1] != in)
        misfit("dense", x, w);
    if (b && (b->rank != 1 || b->shape[0] != out))
        misfit("dense bias", w, b);
    memcpy(shape, x->shape, sizeof shape);
    shape[x->rank - 1] = out;
    struct tensor *y = graph_result(g, x->rank, shape, x, w);
    y->wants_grad |= g->training && b && b->wants_grad;
    if (b)
        g->k->fill_rows(rows, out, b->data, y->data);
    g->k->gemm(false, true, rows, out, in, x->data, in, w->data, in, b ? 1 : 0, y->data, out);
    struct dense_context c = {x, w, b, y};
    graph_record(g, y, dense_back, graph_context(g, &c, sizeof c));
    return y;
}

struct activate_context {
    struct tensor *x, *y;
    enum nn_activation f;
};

static void activate_back(struct graph *g, void *context)
{
    struct activate_context *c = context;
    float keep, *grad = graph_grad(g, c->x, &keep);
    g->k->activate_back(c->f, tensor_count(c->x), c->x->data, c->y->data, c->y->grad, keep, grad);
}

struct tensor *nn_activate(struct graph *g, struct tensor *x, enum nn_activation f)
{
    struct tensor *y = graph_result(g, x->rank, x->shape, x, NULL);
    g->k->activate(f, tensor_count(x), x->data, y->data);
    struct activate_context c = {x, y, f};
    graph_record(g, y, activate_back, graph_context(g, &c, sizeof c));
    return y;
}

struct pair_context {
    struct tensor *a, *b, *y;
};

static void add_back(struct graph *g, void *context)
{
    struct pair_context *c = context;
    struct tensor *to[2] = {c->a, c->b};
    for (int i = 0; i < 2; i++)
        if (to[i]->wants_grad) {
            float keep, *grad = graph_grad(g, to[i], &keep);
            g->k->scale(tensor_count(c->y), 1, c->y->grad, keep, grad);
        }
}

struct tensor *nn_add(struct graph *g, struct tensor *a, struct tensor *b)
{
    same_shape("add", a, b);
    struct tensor *y = graph_result(g, a->rank, a->shape, a, b);
    g->k->add(tensor_count(a), a->data, b->data, y->data);
    struct pair_context c = {a, b, y};
    graph_record(g, y, add_back, graph_context(g, &c, sizeof c));
    return y;
}

struct scale_context {
    struct tensor *x, *y;
    float s;
};

static void scale_back(struct graph *g, void *context)
{
    struct scale_context *c = context;
    float keep, *grad = graph_grad(g, c->x, &keep);
    g->k->scale(tensor_count(c->x), c->s, c->y->grad, keep, grad);
}

struct tensor *nn_scale(struct graph *g, struct tensor *x, float s)
{
    struct tensor *y = graph_result(g, x->rank, x->shape, x, NULL);
    g->k->scale(tensor_count(x), s, x->data, 0, y->data);
    struct scale_context c = {x, y, s};
    graph_record(g, y, scale_back, graph_context(g, &c, sizeof c));
    return y;
}

static void concat_back(struct graph *g, void *context)
{
    struct pair_context *c = context;
    int rows = tensor_rows(c->y), width = tensor_columns(c->y);
    const float *from = c->y->grad;
    struct tensor *to[2] = {c->a, c->b};
    for (int i = 0; i < 2; i++) {
        int columns = tensor_columns(to[i]);
        if (to[i]->wants_grad) {
            float keep, *grad = graph_grad(g, to[i], &keep);
            for (size_t r = 0; r < (size_t)rows; r++)
                g->k->scale(columns, 1, from + r * width, keep, grad + r * columns);
        }
        from += columns;
    }
}

struct tensor *nn_concat(struct graph *g, struct tensor *a, struct tensor *b)
{
    int rows = tensor_rows(a), m = tensor_columns(a), n = tensor_columns(b), shape[NN_RANK];
    if (a->rank != b->rank || memcmp(a->shape, b->shape, (a->rank - 1) * sizeof *a->shape) != 0)
        misfit("concat", a, b);
    memcpy(shape, a->shape, sizeof shape);
    shape[a->rank - 1] = m + n;
    struct tensor *y = graph_result(g, a->rank, shape, a, b);
    for (size_t r = 0; r < (size_t)rows; r++) {
        memcpy(y->data + r * (m + n), a->data + r * m, m * sizeof(float));
        memcpy(y->data + r * (m + n) + m, b->data + r * n, n * sizeof(float));
    }
    struct pair_context c = {a, b, y};
    graph_record(g, y, concat_back, graph_context(g, &c, sizeof c));
    return y;
}

static void softmax_back(struct graph *g, void *context)
{
    struct pair_context *c = context;
    int rows = tensor_rows(c->y), columns = tensor_columns(c->y);
    g->k->softmax_back(rows, columns, 1, c->y->data, columns, c->y->grad, columns);
    float keep, *grad = graph_grad(g, c->a, &keep);
    g->k->scale(tensor_count(c->y), 1, c->y->grad, keep, grad);
}

struct tensor *nn_softmax(struct graph *g, struct tensor *x)
{
    struct tensor *y = graph_result(g, x->rank, x->shape, x, NULL);
    memcpy(y->data, x->data, tensor_count(x) * sizeof(float));
    g->k->softmax(tensor_rows(x), tensor_columns(x), 1, NULL, 0, y->data, tensor_columns(x));
    struct pair_context c = {x, NULL, y};
    graph_record(g, y, softmax_back, graph_context(g, &c, sizeof c));
    return y;
}

struct layer_norm_context {
    struct tensor *x, *gain, *bias, *y;
    float *normal, *inverse;
};

static void layer_norm_back(struct graph *g, void *context)
{
    struct layer_norm_context *c = context;
    int rows = tensor_rows(c->x), columns = tensor_columns(c->x);
    float keep = 0, *grad, *dgain = grad_sum(g, c->gain), *dbias = grad_sum(g, c->bias);
    if (c->x->wants_grad)
        grad = graph_grad(g, c->x, &keep);
    else
        grad = arena_floats(&g->temporaries, tensor_count(c->x));
    g->k->layer_norm_back(rows, columns, c->y->grad, c->gain->data, c->normal, c->inverse, keep, grad, dgain,
                          dbias);
}

struct tensor *nn_layer_norm(struct graph *g, struct tensor *x, struct tensor *gain, struct tensor *bias)
{
    int rows = tensor_rows(x), columns = tensor_columns(x);
    if (gain->rank != 1 || gain->shape[0] != columns)
        misfit("layer norm", x, gain);
    same_shape("layer norm", gain, bias);
    struct tensor *y = graph_result(g, x->rank, x->shape, x, gain);
    struct layer_norm_context c = {x,
                                   gain,
                                   bias,
                                   y,
                                   arena_floats(&g->temporaries, tensor_count(x)),
                                   arena_floats(&g->temporaries, rows)};
    g->k->layer_norm(rows, columns, x->data, gain->data, bias->data, y->data, c.normal, c.inverse);
    graph_record(g, y, layer_norm_back, graph_context(g, &c, sizeof c));
    return y;
}

struct embedding_context {
    struct tensor *table, *y;
    const int *index;
};

static void embedding_back(struct graph *g, void *context)
{
    struct embedding_context *c = context;
    g->k->scatter_add(tensor_rows(c->y), tensor_columns(c->y), c->y->grad, c->index, grad_sum(g, c->table));
}

struct tensor *nn_embedding(struct graph *g, struct tensor *table, const int *index, int rank,
                            const int *shape)
{
    int full[NN_RANK];
    if (table->rank != 2 || rank < 1 || rank >= NN_RANK)
        nn_die("embedding: a table of %d dimensions and an index of %d", table->rank, rank);
    memcpy(full, shape, rank * sizeof *shape);
    full[rank] = table->shape[1];
    struct tensor *y = graph_result(g, rank + 1, full, table, NULL);
    int rows = tensor_rows(y);
    for (int r = 0; r < rows; r++)
        if (index[r] < 0 || index[r] >= table->shape[0])
            nn_die("embedding: index %d is outside a table of %d rows", index[r], table->shape[0]);
    g->k->gather(rows, full[rank], table->data, index, y->data);
    struct embedding_context c = {table, y, index};
    graph_record(g, y, embedding_back, graph_context(g, &c, sizeof c));
    return y;
}

struct dropout_context {
    struct tensor *x, *y;
    uint64_t key;
    float p;
};

static void dropout_back(struct graph *g, void *context)
{
    struct dropout_context *c = context;
    float keep, *grad = graph_grad(g, c->x, &keep);
    g->k->dropout(tensor_count(c->x), c->key, c->p, c->y->grad, keep, grad);
}

struct tensor *nn_dropout(struct graph *g, struct tensor *x, float p)
{
    if (!(p >= 0 && p < 1))
        nn_die("dropout: probability %g", p);
    if (!g->training || p == 0)
        return x;
    struct tensor *y = graph_result(g, x->rank, x->shape, x, NULL);
    struct dropout_context c = {x, y, rng_mix(rng_mix(rng_mix(g->seed) + g->step) + ++g->drops), p};
    g->k->dropout(tensor_count(x), c.key, p, x->data, 0, y->data);
    graph_record(g, y, dropout_back, graph_context(g, &c, sizeof c));
    return y;
}

struct mean_context {
    struct tensor *x, *y;
    const int *lengths;
};

static void mean_time_back(struct graph *g, void *context)
{
    struct mean_context *c = context;
    int time = c->x->shape[0], batch = c->x->shape[1], columns = c->x->shape[2];
    float *grad = grad_sum(g, c->x);
    for (int t = 0; t < time; t++)
        for (int b = 0; b < batch; b++) {
            int length = c->lengths ? c->lengths[b] : time;
            if (t < length)
                g->k->scale(columns, 1.f / (float)length, c->y->grad + (size_t)b * columns, 1,
                            grad + ((size_t)t * batch + b) * columns);
        }
}

struct tensor *nn_mean_time(struct graph *g, struct tensor *x, const int *lengths)
{
    if (x->rank != 3)
        nn_die("mean over time: needs [time,batch,columns], not %d dimensions", x->rank);
    int time = x->shape[0], batch = x->shape[1], columns = x->shape[2];
    struct tensor *y = graph_result(g, 2, x->shape + 1, x, NULL);
    for (int t = 0; t < time; t++)
        for (int b = 0; b < batch; b++) {
            int length = lengths ? lengths[b] : time;
            if (length < 1 || length > time)
                nn_die("mean over time: length %d of %d steps", length, time);
            if (t < length)
                g->k->scale(columns, 1.f / (float)length, x->data + ((size_t)t * batch + b) * columns, t > 0,
                            y->data + (size_t)b * columns);
        }
    struct mean_context c = {x, y, lengths};
    graph_record(g, y, mean_time_back, graph_context(g, &c, sizeof c));
    return y;
}

struct step_context {
    struct tensor *x, *y;
    size_t offset;
};

static void step_back(struct graph *g, void *context)
{
    struct step_context *c = context;
    g->k->scale(tensor_count(c->y), 1, c->y->grad, 1, grad_sum(g, c->x) + c->offset);
}

struct tensor *nn_step(struct graph *g, struct tensor *x, int step)
{
    if (x->rank != 3 || step < 0 || step >= x->shape[0])
        nn_die("step %d: needs [time,batch,columns] with so many steps", step);
    struct tensor *y = graph_result(g, 3, (int[]){1, x->shape[1], x->shape[2]}, x, NULL);
    struct step_context c = {x, y, tensor_count(y) * step};
    g->k->scale(tensor_count(y), 1, x->data + c.offset, 0, y->data);
    graph_record(g, y, step_back, graph_context(g, &c, sizeof c));
    return y;
}

struct loss_context {
    struct tensor *x, *loss;
    float *dx; // of the sum over rows
    float share; // of a row in the mean
};

static void loss_back(struct graph *g, void *context)
{
    struct loss_context *c = context;
    float keep, *grad = graph_grad(g, c->x, &keep);
    g->k->scale(tensor_count(c->x), c->share * c->loss->grad[0], c->dx, keep, grad);
}

// 1 / (the sum of all weights · columns).
static double share_of_row(int rows, const float *weight, int columns)
{
    double sum = weight ? 0 : rows;
    for (int r = 0; weight && r < rows; r++)
        sum += weight[r];
    if (!(sum > 0))
        nn_die("loss: the weights of %d rows add up to %g", rows, sum);
    return 1 / (sum * columns);
}

static struct tensor *finish_loss(struct graph *g, struct tensor *x, float *dx, double sum, double share)
{
    struct tensor *loss = graph_result(g, 1, (int[]){1}, x, NULL);
    loss->data[0] = (float)(sum * share);
    struct loss_context c = {x, loss, dx, (float)share};
    graph_record(g, loss, loss_back, graph_context(g, &c, sizeof c));
    return loss;
}

struct tensor *nn_cross_entropy(struct graph *g, struct tensor *x, const int *classes, const float *weight)
{
    int rows = tensor_rows(x), columns = tensor_columns(x);
    for (int r = 0; r < rows; r++)
        if (classes[r] < 0 || classes[r] >= columns)
            nn_die("cross entropy: class %d of %d", classes[r], columns);
    float *dx = arena_floats(&g->temporaries, tensor_count(x));
    double sum = g->k->cross_entropy(rows, columns, x->data, classes, weight, dx);
    return finish_loss(g, x, dx, sum, share_of_row(rows, weight, 1));
}

struct tensor *nn_huber(struct graph *g, struct tensor *x, const float *target, const float *weight,
                        float delta)
{
    if (!(delta > 0))
        nn_die("huber: delta %g", delta);
    int rows = tensor_rows(x), columns = tensor_columns(x);
    float *dx = arena_floats(&g->temporaries, tensor_count(x));
    double sum = g->k->huber(rows, columns, x->data, target, weight, delta, dx);
    return finish_loss(g, x, dx, sum, share_of_row(rows, weight, columns));
}
