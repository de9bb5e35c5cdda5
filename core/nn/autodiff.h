// SPDX-License-Identifier: MIT
// Reverse-mode differentiation. An operation computes its result at once and, while training, notes on a
// tape how gradients go back through it; graph_backward walks the tape from the end.
//
//     graph_begin(&g, step);
//     struct tensor *x = nn_input(&g, samples, 2, (int[]){batch, 8});
//     struct tensor *loss = nn_cross_entropy(&g, nn_dense(&g, x, weight, bias), classes, NULL);
//     graph_backward(&g, loss);
//
// Every result lives until the next graph_begin. Data given by pointer (inputs, indices, targets, lengths) is
// not copied and has to live as long. Shapes that do not fit are a mistake of the program: it ends with a
// message that names the operation and the shapes.
#ifndef NN_AUTODIFF_H
#define NN_AUTODIFF_H

#include "kernels.h"
#include "tensor.h"

struct graph {
    const struct kernels *k;
    struct arena temporaries;
    struct tape_node *tape; // newest first
    bool training; // keep the tape; dropout drops
    uint64_t seed; // of dropout
    uint64_t step;
    uint32_t drops; // dropouts so far in this step
};

// kernels: &nn_kernels_fast, or &nn_kernels_plain for a reference. Room for temporaries is reserved address
// space, 64 GiB: only what a step uses costs memory. training false: forward only.
void graph_create(struct graph *g, const struct kernels *kernels, bool training, uint64_t seed);
// The same, with an allocation for each tensor: see arena_create_separate.
void graph_create_separate(struct graph *g, const struct kernels *kernels, bool training, uint64_t seed);
void graph_destroy(struct graph *g);

// Ends the life of every tensor of the step before. Dropout masks hang on (seed, step, which dropout).
void graph_begin(struct graph *g, uint64_t step);

// Gradients of loss, which has one element, by every parameter that took part: in their grad, with has_grad
// set. What is there with has_grad set is added to, so that several losses or batches may be summed;
// params_clear_grad starts over.
void graph_backward(struct graph *g, struct tensor *loss);

// For operations defined elsewhere: notes back(g, context), to be called on the way back if out has a
// gradient. context: in g->temporaries. A result wants a gradient if one of its inputs does.
void graph_record(struct graph *g, struct tensor *out, void (*back)(struct graph *g, void *context),
                  void *context);
// A copy of a context of that many bytes, which lives as long as the step.
void *graph_context(struct graph *g, const void *context, size_t size);
// The buffer for t's gradient and, in *keep, what the kernels take as keep: 0 for the first writer, then 1.
float *graph_grad(struct graph *g, struct tensor *t, float *keep);
// A result of that shape, that wants a gradient if g is training and either input (which may be NULL) does.
struct tensor *graph_result(struct graph *g, int rank, const int *shape, const struct tensor *a,
                            const struct tensor *b);

// Constant data as a tensor.
struct tensor *nn_input(struct graph *g, const float *data, int rank, const int *shape);

// y = x·wᵀ + b: x [rows,in], w [out,in], b [out] or NULL.
struct tensor *nn_dense(struct graph *g, struct tensor *x, struct tensor *w, struct tensor *b);
struct tensor *nn_activate(struct graph *g, struct tensor *x, enum nn_activation f);
// Element by element, equal shapes.
struct tensor *nn_add(struct graph *g, struct tensor *a, struct tensor *b);
struct tensor *nn_scale(struct graph *g, struct tensor *x, float s);
// [rows,m] and [rows,n] to [rows,m+n].
struct tensor *nn_concat(struct graph *g, struct tensor *a, struct tensor *b);
// Softmax of each row.
struct tensor *nn_softmax(struct graph *g, struct tensor *x);
// Each row to mean 0 and variance 1 (epsilon 1e-5), times gain, plus bias, both [columns].
struct tensor *nn_layer_norm(struct graph *g, struct tensor *x, struct tensor *gain, struct tensor *bias);
// Rows of table [n,columns] by index; the result's shape is shape (rank of them), then columns. An index
// outside 0..n-1 ends the program.
struct tensor *nn_embedding(struct graph *g, struct tensor *table, const int *index, int rank,
                            const int *shape);
// While training, sets elements to 0 with probability p and scales the others by 1/(1-p); otherwise x itself.
struct tensor *nn_dropout(struct graph *g, struct tensor *x, float p);
// [time,batch,columns] to [batch,columns]: the mean over the first lengths[b] >= 1 steps (NULL: all).
struct tensor *nn_mean_time(struct graph *g, struct tensor *x, const int *lengths);

// One step of [time,batch,columns], as [1,batch,columns].
struct tensor *nn_step(struct graph *g, struct tensor *x, int step);

// Losses: a tensor of one element. The mean over rows, weighted where weight [rows] is given (not all 0).
// Classes 0..columns-1.
struct tensor *nn_cross_entropy(struct graph *g, struct tensor *x, const int *classes, const float *weight);
// Huber's loss (delta > 0), the mean over columns too: ½e² up to |e| = delta, then delta·(|e| − ½delta).
// target: shape of x.
struct tensor *nn_huber(struct graph *g, struct tensor *x, const float *target, const float *weight,
                        float delta);

#endif
