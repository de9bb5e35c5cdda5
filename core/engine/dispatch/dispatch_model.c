// SPDX-License-Identifier: MIT
#include "dispatch_model.h"

#include "core/nn/model_file.h"

const char dispatch_architecture[] = "top byte: embedding 256x32; concatenated with 12 features of the word: "
                                     "44 -> 32 ReLU -> 16 ReLU -> 7";

void dispatch_model_create(struct dispatch_model *m, uint64_t seed)
{
    params_create(&m->params, DISPATCH_PARAMETERS, seed);
    m->embedding = embedding_create(&m->params, "top_byte", 256, DISPATCH_EMBEDDING);
    m->layer[0] = dense_create(&m->params, "first", DISPATCH_EMBEDDING + DISPATCH_FEATURES, DISPATCH_HIDDEN1);
    m->layer[1] = dense_create(&m->params, "second", DISPATCH_HIDDEN1, DISPATCH_HIDDEN2);
    m->layer[2] = dense_create(&m->params, "kernels", DISPATCH_HIDDEN2, DISPATCH_KERNELS);
}

void dispatch_model_destroy(struct dispatch_model *m)
{
    params_destroy(&m->params);
}

struct tensor *dispatch_model_forward(const struct dispatch_model *m, struct graph *g, const int *top_bytes,
                                      const float *features, int rows)
{
    struct tensor *embedded = embedding_forward(&m->embedding, g, top_bytes, 1, (int[]){rows});
    struct tensor *x = nn_concat(g, embedded, nn_input(g, features, 2, (int[]){rows, DISPATCH_FEATURES}));
    x = nn_activate(g, dense_forward(&m->layer[0], g, x), NN_RELU);
    x = nn_activate(g, dense_forward(&m->layer[1], g, x), NN_RELU);
    return dense_forward(&m->layer[2], g, x);
}

bool dispatch_load(const char *base, struct dispatch_net *net, struct error *error)
{
    struct dispatch_model model;
    dispatch_model_create(&model, PARAMS_UNSET);
    bool loaded = model_load(base, &model.params, dispatch_architecture, NULL, error);
    if (loaded)
        dispatch_prepare(net, model.params.data);
    dispatch_model_destroy(&model);
    return loaded;
}
