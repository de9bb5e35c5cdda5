// SPDX-License-Identifier: MIT
// Layers: parameters with names, in one flat array in the order of their creation, and what is computed with
// them. Shapes, the order of gates, initial values and results are those of PyTorch, so that weights and
// figures can be compared.
#ifndef NN_LAYERS_H
#define NN_LAYERS_H

#include "autodiff.h"
#include "rng.h"

struct named_tensor {
    const char *name; // as given: a string that outlives the parameters
    const char *part; // "weight", "bias", …
    size_t offset; // into the flat array
    struct tensor *tensor;
};

struct params {
    float *data, *grad; // [count]: all parameters and, where a tensor has_grad, their gradients
    size_t count, capacity;
    struct named_tensor *tensors;
    int tensor_count;
    struct rng rng; // initial values
    bool is_unset; // there are none
    struct arena arena;
};

// Room for up to capacity floats (reserved address space). Initial values follow from seed; of PARAMS_UNSET
// they are 0, for what is about to be loaded.
#define PARAMS_UNSET UINT64_MAX
void params_create(struct params *p, size_t capacity, uint64_t seed);
void params_destroy(struct params *p);

// A new parameter tensor at the end of the flat array, filled uniformly in [-bound, bound] (0: zeroes).
struct tensor *params_add(struct params *p, const char *name, const char *part, int rank, const int *shape,
                          float bound);

// Before a step: no tensor has a gradient.
void params_clear_grad(struct params *p);

struct dense {
    struct tensor *weight, *bias; // [out,in] [out]
};
struct dense dense_create(struct params *p, const char *name, int in, int out);
struct tensor *dense_forward(const struct dense *l, struct graph *g, struct tensor *x);

struct embedding {
    struct tensor *table; // [n,columns], initially standard normal
};
struct embedding embedding_create(struct params *p, const char *name, int n, int columns);
// index: as many as the product of shape.
struct tensor *embedding_forward(const struct embedding *l, struct graph *g, const int *index, int rank,
                                 const int *shape);

struct layer_norm {
    struct tensor *gain, *bias;
};
struct layer_norm layer_norm_create(struct params *p, const char *name, int columns);
struct tensor *layer_norm_forward(const struct layer_norm *l, struct graph *g, struct tensor *x);

// One direction of one LSTM layer; gates i, f, g, o.
struct lstm {
    struct tensor *weight_ih, *weight_hh, *bias_ih,
        *bias_hh; // [4·hidden,in] [4·hidden,hidden] [4·hidden] twice
};

#define LSTM_LAYERS 4
struct lstm_stack {
    int layers, hidden;
    bool both_ways;
    struct lstm part[LSTM_LAYERS][2]; // [layer][0 forward, 1 backward]
};
struct lstm_stack lstm_create(struct params *p, const char *name, int in, int hidden, int layers,
                              bool both_ways);
// x [time,batch,in] to [time,batch,hidden] or, both ways, [time,batch,2·hidden]: forward, then backward.
// lengths NULL: all steps; otherwise 1..time for each row of the batch: outputs beyond are 0, and the
// backward direction starts at the row's last step (as with PyTorch's packed sequences). States start at 0.
struct tensor *lstm_forward(const struct lstm_stack *l, struct graph *g, struct tensor *x,
                            const int *lengths);

struct attention {
    int heads;
    struct tensor *in_weight, *in_bias; // [3·width,width] [3·width]: Wq, Wk, Wv one after the other
    struct dense out;
};
struct attention attention_create(struct params *p, const char *name, int width, int heads);
// query [queries,batch,width] and memory [keys,batch,width] (may be the same) to [queries,batch,width].
// lengths NULL, or the number of keys that count for each row of the batch; allowed NULL, or [queries,keys]
// with 0 where a query must not look. A query that may look at nothing gets the bias of the output
// projection.
struct tensor *attention_forward(const struct attention *l, struct graph *g, struct tensor *query,
                                 struct tensor *memory, const int *lengths, const uint8_t *allowed);

#endif
