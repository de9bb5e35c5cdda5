// SPDX-License-Identifier: MIT
#include "nn_test.h"

#include <stdlib.h>
#include <string.h>

// The tensors that a case created, in order.
static struct tensor *at(struct params *p, int i)
{
    return p->tensors[i].tensor;
}

static struct tensor *input(struct params *p, int rank, const int *shape)
{
    return params_add(p, "input", "", rank, shape, 1);
}

// Layers hold pointers into p: kept here between create and forward.
static struct {
    struct dense dense;
    struct embedding embedding;
    struct layer_norm norm;
    struct lstm_stack lstm;
    struct attention attention;
} layer;

static void create_dense(struct params *p, bool big)
{
    input(p, 2, big ? (int[]){37, 83} : (int[]){3, 5});
    layer.dense = dense_create(p, "dense", big ? 83 : 5, big ? 131 : 4);
}

static struct tensor *forward_dense(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return dense_forward(&layer.dense, g, at(p, 0));
}

static struct tensor *forward_dense_no_bias(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_dense(g, at(p, 0), layer.dense.weight, NULL);
}

static void create_pair(struct params *p, bool big)
{
    input(p, 2, big ? (int[]){37, 83} : (int[]){3, 5});
    input(p, 2, big ? (int[]){37, 83} : (int[]){3, 5});
}

// Away from 0, where ReLU has no derivative.
static void create_activation(struct params *p, bool big)
{
    struct tensor *x = input(p, 2, big ? (int[]){37, 83} : (int[]){3, 7});
    for (size_t i = 0; i < tensor_count(x); i++)
        x->data[i] = 3 * x->data[i] + (x->data[i] > 0 ? 0.1f : -0.1f);
}

static struct tensor *forward_relu(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_activate(g, at(p, 0), NN_RELU);
}

static struct tensor *forward_gelu(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_activate(g, at(p, 0), NN_GELU);
}

static struct tensor *forward_tanh(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_activate(g, at(p, 0), NN_TANH);
}

static struct tensor *forward_sigmoid(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_activate(g, at(p, 0), NN_SIGMOID);
}

static struct tensor *forward_softmax(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_softmax(g, at(p, 0));
}

static struct tensor *forward_dropout(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_dropout(g, nn_dropout(g, at(p, 0), 0.3f), 0.1f);
}

// Every operation of two tensors, with both used twice, so that gradients meet.
static struct tensor *forward_pair(struct graph *g, struct params *p, bool big)
{
    (void)big;
    struct tensor *a = at(p, 0), *b = at(p, 1);
    return nn_concat(g, nn_add(g, nn_add(g, a, b), a), nn_scale(g, b, -1.5f));
}

static void create_embedding(struct params *p, bool big)
{
    layer.embedding = embedding_create(p, "embedding", big ? 29 : 5, big ? 37 : 3);
}

static struct tensor *forward_embedding(struct graph *g, struct params *p, bool big)
{
    static const int small[6] = {1, 4, 1, 0, 1, 3};
    static int large[7 * 11];
    (void)p;
    for (int i = 0; i < 7 * 11; i++)
        large[i] = i * i % 29;
    return embedding_forward(&layer.embedding, g, big ? large : small, 2,
                             big ? (int[]){7, 11} : (int[]){3, 2});
}

static void create_norm(struct params *p, bool big)
{
    input(p, 2, big ? (int[]){37, 83} : (int[]){3, 5});
    layer.norm = layer_norm_create(p, "norm", big ? 83 : 5);
    for (int i = 0; i < layer.norm.gain->shape[0]; i++) {
        layer.norm.gain->data[i] = 1 + 0.1f * (float)(i % 7);
        layer.norm.bias->data[i] = 0.1f * (float)(i % 5);
    }
}

static struct tensor *forward_norm(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return layer_norm_forward(&layer.norm, g, at(p, 0));
}

static const int small_lengths[2] = {4, 2}, large_lengths[5] = {3, 9, 1, 6, 9};

static void create_mean(struct params *p, bool big)
{
    input(p, 3, big ? (int[]){9, 5, 37} : (int[]){4, 2, 3});
}

static struct tensor *forward_mean(struct graph *g, struct params *p, bool big)
{
    return nn_mean_time(g, at(p, 0), big ? large_lengths : small_lengths);
}

static struct tensor *forward_mean_all(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return nn_mean_time(g, at(p, 0), NULL);
}

// Two steps that overlap in what they take from the input.
static struct tensor *forward_step(struct graph *g, struct params *p, bool big)
{
    struct tensor *x = at(p, 0);
    return nn_add(g, nn_add(g, nn_step(g, x, 0), nn_step(g, x, big ? 7 : 2)), nn_step(g, x, 0));
}

static void create_lstm(struct params *p, bool big)
{
    input(p, 3, big ? (int[]){9, 5, 21} : (int[]){4, 2, 3});
    layer.lstm = lstm_create(p, "lstm", big ? 21 : 3, big ? 19 : 3, 1, false);
}

static void create_bilstm(struct params *p, bool big)
{
    input(p, 3, big ? (int[]){9, 5, 21} : (int[]){4, 2, 3});
    layer.lstm = lstm_create(p, "lstm", big ? 21 : 3, big ? 19 : 2, 2, true);
}

static struct tensor *forward_lstm(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return lstm_forward(&layer.lstm, g, at(p, 0), NULL);
}

static struct tensor *forward_lstm_lengths(struct graph *g, struct params *p, bool big)
{
    return lstm_forward(&layer.lstm, g, at(p, 0), big ? large_lengths : small_lengths);
}

static void create_attention(struct params *p, bool big)
{
    input(p, 3, big ? (int[]){9, 5, 36} : (int[]){4, 2, 4});
    input(p, 3, big ? (int[]){7, 5, 36} : (int[]){3, 2, 4});
    layer.attention = attention_create(p, "attention", big ? 36 : 4, big ? 3 : 2);
}

static struct tensor *forward_attention(struct graph *g, struct params *p, bool big)
{
    (void)big;
    return attention_forward(&layer.attention, g, at(p, 0), at(p, 0), NULL, NULL);
}

static struct tensor *forward_attention_lengths(struct graph *g, struct params *p, bool big)
{
    return attention_forward(&layer.attention, g, at(p, 0), at(p, 0), big ? large_lengths : small_lengths,
                             NULL);
}

// Of another sequence, and each query sees the keys up to its own place; the first one none.
static struct tensor *forward_attention_mask(struct graph *g, struct params *p, bool big)
{
    static uint8_t allowed[7 * 9];
    int queries = big ? 7 : 3, keys = big ? 9 : 4;
    for (int q = 0; q < queries; q++)
        for (int k = 0; k < keys; k++)
            allowed[q * keys + k] = k < q;
    return attention_forward(&layer.attention, g, at(p, 1), at(p, 0), NULL, allowed);
}

static struct tensor *forward_cross_entropy(struct graph *g, struct params *p, bool big)
{
    static int classes[37];
    static float weight[37];
    for (int i = 0; i < 37; i++) {
        classes[i] = i * i % (big ? 83 : 7);
        weight[i] = (float)(i % 3);
    }
    return nn_add(g, nn_cross_entropy(g, at(p, 0), classes, NULL),
                  nn_cross_entropy(g, at(p, 0), classes, weight));
}

static const float *targets(void)
{
    static float target[37 * 83];
    for (int i = 0; i < 37 * 83; i++)
        target[i] = 0.3f * (float)(i % 11) - 1.5f;
    return target;
}

static struct tensor *forward_huber(struct graph *g, struct params *p, bool big)
{
    static const float weight[37] = {1, 0, 2, 5};
    (void)big;
    return nn_add(g, nn_huber(g, at(p, 0), targets(), NULL, 1.25f),
                  nn_huber(g, at(p, 0), targets(), weight, 0.5f));
}

const struct layer_case layer_cases[] = {
    {"dense", create_dense, forward_dense},
    {"dense without bias", create_dense, forward_dense_no_bias},
    {"ReLU", create_activation, forward_relu},
    {"GELU", create_activation, forward_gelu},
    {"tanh", create_activation, forward_tanh},
    {"sigmoid", create_activation, forward_sigmoid},
    {"softmax", create_activation, forward_softmax},
    {"dropout", create_activation, forward_dropout},
    {"add, scale, concat", create_pair, forward_pair},
    {"embedding", create_embedding, forward_embedding},
    {"layer norm", create_norm, forward_norm},
    {"mean over time", create_mean, forward_mean_all},
    {"mean over time, lengths", create_mean, forward_mean},
    {"steps", create_mean, forward_step},
    {"LSTM", create_lstm, forward_lstm},
    {"LSTM, lengths", create_lstm, forward_lstm_lengths},
    {"two-layer biLSTM", create_bilstm, forward_lstm},
    {"two-layer biLSTM, lengths", create_bilstm, forward_lstm_lengths},
    {"attention", create_attention, forward_attention},
    {"attention, lengths", create_attention, forward_attention_lengths},
    {"attention, other sequence and mask", create_attention, forward_attention_mask},
    {"cross entropy", create_activation, forward_cross_entropy},
    {"Huber", create_activation, forward_huber},
};
const int layer_case_count = sizeof layer_cases / sizeof *layer_cases;

struct projection {
    struct tensor *y, *sum;
};

static float direction(size_t i)
{
    return (float)((i * 2654435761u >> 7) % 1000) / 500 - 1;
}

static void project_back(struct graph *g, void *context)
{
    struct projection *c = context;
    float keep, *grad = graph_grad(g, c->y, &keep);
    for (size_t i = 0; i < tensor_count(c->y); i++)
        grad[i] = direction(i) * c->sum->grad[0] + (keep != 0 ? grad[i] : 0);
}

struct tensor *project(struct graph *g, struct tensor *y, double *exact)
{
    struct tensor *sum = graph_result(g, 1, (int[]){1}, y, NULL);
    *exact = 0;
    for (size_t i = 0; i < tensor_count(y); i++)
        *exact += (double)direction(i) * y->data[i];
    sum->data[0] = (float)*exact;
    struct projection c = {y, sum};
    graph_record(g, sum, project_back, graph_context(g, &c, sizeof c));
    return sum;
}

void run_case(const struct layer_case *c, const struct kernels *k, bool separate, struct params *p, bool big,
              float *y, size_t *count)
{
    struct graph g;
    double exact;
    if (separate)
        graph_create_separate(&g, k, true, 1);
    else
        graph_create(&g, k, true, 1);
    graph_begin(&g, 0);
    params_clear_grad(p);
    struct tensor *out = c->forward(&g, p, big);
    if (y)
        memcpy(y, out->data, tensor_count(out) * sizeof *y);
    *count = tensor_count(out);
    graph_backward(&g, project(&g, out, &exact));
    graph_destroy(&g);
}
