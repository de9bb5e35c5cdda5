// SPDX-License-Identifier: MIT
// Step times of the training library on the shapes of the loop detector and the pattern recognizer, and what
// a comparison with another library needs. usage: training_bench NET KERNELS BATCH STEPS [FOLDER]
//   NET      loop-detector or pattern-recognizer
//   KERNELS  fast, or plain: naive products and an allocation for each tensor
//   FOLDER   instead of timing: one step; writes parameters, inputs, outputs and gradients there as .npy
// Prints: NET KERNELS BATCH, then the medians of forward, backward, optimizer and whole step in ms.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/nn/npy.h"
#include "../../core/nn/optim.h"

enum { TIME = 32, OPCODES = 256, STATIC = 40, MAX_OUTPUTS = 3 };

struct net {
    const char *name;
    size_t count; // published number of parameters
    void (*create)(struct params *p);
    // Fills outputs and returns the loss. floats, integers: the inputs and targets, as many as below.
    struct tensor *(*loss)(struct graph *g, int batch, const float *floats, const int *integers,
                           struct tensor *outputs[MAX_OUTPUTS]);
    int floats, integers; // inputs and targets for one row of the batch
};

// The loop detector: side branch and raw bits join the instruction code; each step attends to all others.
static struct {
    struct dense code1, code2, side, registers1, registers2, type1, type2, counter, trips1, trips2;
    struct layer_norm code_norm, registers_norm;
    struct lstm_stack lstm;
    struct attention attention;
} ld;

static void loop_create(struct params *p)
{
    ld.code1 = dense_create(p, "code1", 32, 128);
    ld.code_norm = layer_norm_create(p, "code norm", 128);
    ld.code2 = dense_create(p, "code2", 128, 128);
    ld.side = dense_create(p, "side", 32, 96);
    ld.lstm = lstm_create(p, "lstm", 128, 128, 2, true);
    ld.registers1 = dense_create(p, "registers1", 64, 128);
    ld.registers_norm = layer_norm_create(p, "registers norm", 128);
    ld.registers2 = dense_create(p, "registers2", 128, 128);
    ld.attention = attention_create(p, "attention", 256, 4);
    ld.type1 = dense_create(p, "type1", 384, 128);
    ld.type2 = dense_create(p, "type2", 128, 4);
    ld.counter = dense_create(p, "counter", 256, 32);
    ld.trips1 = dense_create(p, "trips1", 416, 128);
    ld.trips2 = dense_create(p, "trips2", 128, 1);
}

static struct tensor *relu(struct graph *g, struct tensor *x)
{
    return nn_activate(g, x, NN_RELU);
}

static struct tensor *loop_loss(struct graph *g, int batch, const float *floats, const int *integers,
                                struct tensor *outputs[MAX_OUTPUTS])
{
    struct tensor *bits = nn_input(g, floats, 3, (int[]){TIME, batch, 32});
    floats += TIME * batch * 32;
    struct tensor *registers = nn_input(g, floats, 2, (int[]){batch, 64});
    floats += batch * 64;

    struct tensor *x = relu(g, layer_norm_forward(&ld.code_norm, g, dense_forward(&ld.code1, g, bits)));
    struct tensor *side = relu(g, dense_forward(&ld.side, g, bits));
    x = nn_add(g, dense_forward(&ld.code2, g, x), nn_concat(g, side, bits));
    x = lstm_forward(&ld.lstm, g, x, NULL);
    x = nn_mean_time(g, nn_add(g, x, attention_forward(&ld.attention, g, x, x, NULL, NULL)), NULL);
    struct tensor *r = layer_norm_forward(&ld.registers_norm, g, dense_forward(&ld.registers1, g, registers));
    struct tensor *all = nn_concat(g, x, dense_forward(&ld.registers2, g, relu(g, r)));

    outputs[0] = dense_forward(&ld.type2, g, relu(g, dense_forward(&ld.type1, g, all)));
    outputs[1] = dense_forward(&ld.counter, g, x);
    all = nn_concat(g, all, nn_softmax(g, outputs[1]));
    outputs[2] = dense_forward(&ld.trips2, g, relu(g, dense_forward(&ld.trips1, g, all)));
    return nn_add(g,
                  nn_add(g, nn_cross_entropy(g, outputs[0], integers, NULL),
                         nn_cross_entropy(g, outputs[1], integers + batch, NULL)),
                  nn_huber(g, outputs[2], floats, NULL, 1));
}

// The pattern recognizer.
static struct {
    struct embedding opcode;
    struct dense in, embedding, class1, class2, sure1, sure2;
    struct lstm_stack lstm;
    struct attention attention;
    struct layer_norm norm;
} pr;

static void pattern_create(struct params *p)
{
    pr.opcode = embedding_create(p, "opcode", OPCODES, 32);
    pr.in = dense_create(p, "in", 72, 48);
    pr.lstm = lstm_create(p, "lstm", 48, 128, 1, true);
    pr.attention = attention_create(p, "attention", 256, 4);
    pr.norm = layer_norm_create(p, "norm", 256);
    pr.embedding = dense_create(p, "embedding", 256, 128);
    pr.class1 = dense_create(p, "class1", 128, 64);
    pr.class2 = dense_create(p, "class2", 64, 16);
    pr.sure1 = dense_create(p, "sure1", 128, 64);
    pr.sure2 = dense_create(p, "sure2", 64, 1);
}

static struct tensor *pattern_loss(struct graph *g, int batch, const float *floats, const int *integers,
                                   struct tensor *outputs[MAX_OUTPUTS])
{
    struct tensor *fixed = nn_input(g, floats, 3, (int[]){TIME, batch, STATIC});
    floats += TIME * batch * STATIC;
    struct tensor *x = embedding_forward(&pr.opcode, g, integers, 2, (int[]){TIME, batch});
    integers += TIME * batch;
    x = relu(g, dense_forward(&pr.in, g, nn_concat(g, x, fixed)));
    x = lstm_forward(&pr.lstm, g, x, NULL);
    x = nn_add(g, x, attention_forward(&pr.attention, g, x, x, NULL, NULL));
    x = nn_mean_time(g, layer_norm_forward(&pr.norm, g, x), NULL);
    outputs[0] = dense_forward(&pr.embedding, g, x);
    outputs[1] = dense_forward(&pr.class2, g, relu(g, dense_forward(&pr.class1, g, outputs[0])));
    x = dense_forward(&pr.sure2, g, relu(g, dense_forward(&pr.sure1, g, outputs[0])));
    outputs[2] = nn_activate(g, x, NN_SIGMOID);
    return nn_add(g, nn_cross_entropy(g, outputs[1], integers, NULL),
                  nn_huber(g, outputs[2], floats, NULL, 1));
}

static const struct net nets[] = {
    {"loop-detector", 1083397, loop_create, loop_loss, TIME * 32 + 64 + 1, 2},
    {"pattern-recognizer", 508161, pattern_create, pattern_loss, TIME *STATIC + 1, TIME + 1},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void write_array(const char *folder, const char *name, const float *data, size_t count)
{
    struct error error;
    char path[512];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    if (!npy_write(path, data, 1, (int[]){(int)count}, NULL, &error))
        nn_die("%s", error.text);
}

int main(int argc, char **argv)
{
    const struct net *net = NULL;
    for (size_t i = 0; argc >= 5 && i < sizeof nets / sizeof *nets; i++)
        if (strcmp(argv[1], nets[i].name) == 0)
            net = &nets[i];
    int batch = argc >= 5 ? atoi(argv[3]) : 0, steps = argc >= 5 ? atoi(argv[4]) : 0;
    if (!net || batch < 1 || steps < 1) {
        fprintf(stderr,
                "usage: training_bench loop-detector|pattern-recognizer fast|plain BATCH STEPS [FOLDER]\n");
        return 2;
    }
    bool plain = strcmp(argv[2], "plain") == 0;
    const char *folder = argc > 5 ? argv[5] : NULL;

    struct params p;
    struct optimizer o;
    struct graph g;
    params_create(&p, net->count, 1);
    net->create(&p);
    if (p.count != net->count)
        nn_die("%s has %zu parameters, not %zu", net->name, p.count, net->count);
    optimizer_create(&o, &p, true, 0.01f, 1);
    if (plain)
        graph_create_separate(&g, &nn_kernels_plain, true, 1);
    else
        graph_create(&g, &nn_kernels_fast, true, 1);

    size_t float_count = (size_t)net->floats * batch, integer_count = (size_t)net->integers * batch;
    float *floats = malloc(float_count * sizeof *floats);
    int *integers = malloc(integer_count * sizeof *integers);
    struct rng r = {9};
    // Words of instructions are bits; the rest is small numbers. Classes fit the smallest head.
    for (size_t i = 0; i < float_count; i++)
        floats[i] = net == nets && i < (size_t)TIME * batch * 32 ? (float)rng_below(&r, 2) : rng_uniform(&r);
    for (size_t i = 0; i < integer_count; i++)
        integers[i] = (int)rng_below(&r, i < (size_t)TIME * batch && net != nets ? OPCODES : 4);

    if (folder) {
        struct tensor *outputs[MAX_OUTPUTS];
        float *wide = malloc(integer_count * sizeof *wide);
        for (size_t i = 0; i < integer_count; i++)
            wide[i] = (float)integers[i];
        graph_begin(&g, 0);
        struct tensor *loss = net->loss(&g, batch, floats, integers, outputs);
        graph_backward(&g, loss);
        write_array(folder, "parameters", p.data, p.count);
        write_array(folder, "floats", floats, float_count);
        write_array(folder, "integers", wide, integer_count);
        write_array(folder, "loss", loss->data, 1);
        write_array(folder, "gradients", p.grad, p.count);
        for (int i = 0; i < MAX_OUTPUTS; i++)
            write_array(folder, (const char *[]){"output0", "output1", "output2"}[i], outputs[i]->data,
                        tensor_count(outputs[i]));
        free(wide);
    } else {
        double *times = malloc(4 * (size_t)steps * sizeof *times);
        // The first step warms up and takes the memory.
        for (int s = -1; s < steps; s++) {
            struct tensor *outputs[MAX_OUTPUTS];
            double start = now();
            graph_begin(&g, (uint64_t)(s + 1));
            params_clear_grad(&p);
            struct tensor *loss = net->loss(&g, batch, floats, integers, outputs);
            double forward = now();
            graph_backward(&g, loss);
            double backward = now();
            optimizer_step(&o, &p, g.k, 1e-4f);
            double end = now();
            if (s >= 0) {
                times[s] = forward - start;
                times[steps + s] = backward - forward;
                times[2 * steps + s] = end - backward;
                times[3 * steps + s] = end - start;
            }
        }
        printf("%s %s %d", net->name, argv[2], batch);
        for (int i = 0; i < 4; i++) {
            qsort(times + i * steps, (size_t)steps, sizeof *times, ascending);
            printf(" %.2f", times[i * steps + steps / 2]);
        }
        putchar('\n');
        free(times);
    }
    graph_destroy(&g);
    optimizer_destroy(&o);
    params_destroy(&p);
    free(floats);
    free(integers);
    return 0;
}
