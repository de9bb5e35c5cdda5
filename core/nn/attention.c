// SPDX-License-Identifier: MIT
// Multi-head attention. The heads are column ranges of the projections and stay where they are: every product
// walks them with a leading dimension.
#include "layers.h"

#include <math.h>
#include <string.h>

struct attention_context {
    const struct attention *l;
    struct tensor *query, *memory, *y; // y: [queries,batch,width], the heads side by side
    const int *lengths;
    int ldq, ldk; // distance of two rows of q, and of k and v
    float *q, *k, *v; // inside the projections
    float *weights; // [batch,heads,queries,keys] after softmax
};

struct attention attention_create(struct params *p, const char *name, int width, int heads)
{
    if (heads < 1 || width % heads != 0)
        nn_die("%s: %d heads for a width of %d", name, heads, width);
    struct attention l = {.heads = heads};
    int rows = 3 * width;
    float bound = sqrtf(6.f / (float)(rows + width)); // Xavier's, over the three matrices as one
    l.in_weight = params_add(p, name, "in_weight", 2, (int[]){rows, width}, bound);
    l.in_bias = params_add(p, name, "in_bias", 1, &rows, 0);
    l.out = dense_create(p, name, width, width);
    memset(l.out.bias->data, 0, width * sizeof(float));
    return l;
}

// rows of x times part of the packed weights: [rows,columns], those from row `first` of the weights on.
static float *project(struct graph *g, const struct attention *l, const struct tensor *x, int first,
                      int columns)
{
    int rows = tensor_rows(x), width = tensor_columns(x);
    float *y = arena_floats(&g->temporaries, (size_t)rows * columns);
    g->k->fill_rows(rows, columns, l->in_bias->data + first, y);
    g->k->gemm(false, true, rows, columns, width, x->data, width, l->in_weight->data + (size_t)first * width,
               width, 1, y, columns);
    return y;
}

// The way back through project, for d, the gradient of its result.
static void project_back(struct graph *g, const struct attention *l, struct tensor *x, int first, int columns,
                         const float *d, float *dweight, float *dbias, float keep_params)
{
    int rows = tensor_rows(x), width = tensor_columns(x);
    size_t start = (size_t)first * width;
    g->k->gemm(true, false, columns, width, rows, d, columns, x->data, width, keep_params, dweight + start,
               width);
    g->k->sum_columns(rows, columns, d, columns, keep_params, dbias + first);
    if (x->wants_grad) {
        float keep, *grad = graph_grad(g, x, &keep);
        g->k->gemm(false, false, rows, width, columns, d, columns, l->in_weight->data + start, width, keep,
                   grad, width);
    }
}

static void back(struct graph *g, void *context)
{
    struct attention_context *a = context;
    const struct kernels *k = g->k;
    int queries = a->y->shape[0], batch = a->y->shape[1], width = a->y->shape[2], keys = a->memory->shape[0];
    int heads = a->l->heads, part = width / heads, ld = batch * width;
    size_t q_count = (size_t)queries * batch * a->ldq, k_count = (size_t)keys * batch * a->ldk;
    bool self = a->query == a->memory;
    float *dq = arena_floats(&g->temporaries, q_count), *dk = dq + width, *dv = dk + width;
    if (!self) {
        dk = arena_floats(&g->temporaries, k_count);
        dv = dk + width;
    }
    // What lies behind a sequence's end has no gradient.
    if (a->lengths)
        memset(self ? dq : dk, 0, k_count * sizeof(float));
    float *d = arena_floats(&g->temporaries, (size_t)queries * keys);

    for (int b = 0; b < batch; b++) {
        int n = a->lengths ? a->lengths[b] : keys, ldq = batch * a->ldq, ldk = batch * a->ldk;
        for (int h = 0; h < heads; h++) {
            size_t q_at = (size_t)b * a->ldq + h * part, k_at = (size_t)b * a->ldk + h * part;
            const float *w = a->weights + ((size_t)b * heads + h) * queries * keys;
            const float *dy = a->y->grad + (size_t)b * width + h * part;
            k->gemm(true, false, n, part, queries, w, keys, dy, ld, 0, dv + k_at, ldk);
            k->gemm(false, true, queries, n, part, dy, ld, a->v + k_at, ldk, 0, d, keys);
            k->softmax_back(queries, n, 1 / sqrtf((float)part), w, keys, d, keys);
            k->gemm(false, false, queries, part, n, d, keys, a->k + k_at, ldk, 0, dq + q_at, ldq);
            k->gemm(true, false, n, part, queries, d, keys, a->q + q_at, ldq, 0, dk + k_at, ldk);
        }
    }

    float keep, *dweight = graph_grad(g, a->l->in_weight, &keep);
    float *dbias = graph_grad(g, a->l->in_bias, &keep);
    if (self) {
        project_back(g, a->l, a->query, 0, 3 * width, dq, dweight, dbias, keep);
    } else {
        project_back(g, a->l, a->query, 0, width, dq, dweight, dbias, keep);
        project_back(g, a->l, a->memory, width, 2 * width, dk, dweight, dbias, keep);
    }
}

struct tensor *attention_forward(const struct attention *l, struct graph *g, struct tensor *query,
                                 struct tensor *memory, const int *lengths, const uint8_t *allowed)
{
    int width = l->out.weight->shape[0];
    if (query->rank != 3 || memory->rank != 3 || query->shape[2] != width || memory->shape[2] != width ||
        query->shape[1] != memory->shape[1])
        nn_die("attention: needs [queries,batch,%d] and [keys,batch,%d] of one batch", width, width);
    int queries = query->shape[0], keys = memory->shape[0], batch = query->shape[1];
    for (int b = 0; lengths && b < batch; b++)
        if (lengths[b] < 1 || lengths[b] > keys)
            nn_die("attention: length %d of %d keys", lengths[b], keys);

    struct attention_context a = {.l = l, .query = query, .memory = memory, .lengths = lengths};
    if (query == memory) {
        a.q = project(g, l, query, 0, 3 * width);
        a.k = a.q + width;
        a.ldq = a.ldk = 3 * width;
    } else {
        a.q = project(g, l, query, 0, width);
        a.k = project(g, l, memory, width, 2 * width);
        a.ldq = width;
        a.ldk = 2 * width;
    }
    a.v = a.k + width;
    a.weights = arena_floats(&g->temporaries, (size_t)batch * l->heads * queries * keys);
    a.y = graph_result(g, 3, query->shape, l->in_weight, query);
    a.y->wants_grad |= g->training && memory->wants_grad;

    const struct kernels *k = g->k;
    int part = width / l->heads, ldq = batch * a.ldq, ldk = batch * a.ldk;
    for (int b = 0; b < batch; b++) {
        int n = lengths ? lengths[b] : keys;
        for (int h = 0; h < l->heads; h++) {
            size_t q_at = (size_t)b * a.ldq + h * part, k_at = (size_t)b * a.ldk + h * part;
            float *w = a.weights + ((size_t)b * l->heads + h) * queries * keys;
            k->gemm(false, true, queries, n, part, a.q + q_at, ldq, a.k + k_at, ldk, 0, w, keys);
            k->softmax(queries, n, 1 / sqrtf((float)part), allowed, keys, w, keys);
            k->gemm(false, false, queries, part, n, w, keys, a.v + k_at, ldk, 0,
                    a.y->data + (size_t)b * width + h * part, batch * width);
        }
    }
    graph_record(g, a.y, back, graph_context(g, &a, sizeof a));
    return dense_forward(&l->out, g, a.y);
}
