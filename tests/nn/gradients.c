// SPDX-License-Identifier: MIT
// Every layer: gradients against finite differences, plain kernels against fast ones, and a tensor in the
// arena against one in an allocation of its own.
#include "nn_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static double loss_at(const struct layer_case *c, struct graph *g, struct params *p)
{
    double exact;
    graph_begin(g, 0);
    project(g, c->forward(g, p, false), &exact);
    return exact;
}

// Five points around each parameter: the error of the formula is below 1e-7 here, so that what remains is the
// rounding of float outputs, about 1e-6 / STEP.
static void against_differences(const struct layer_case *c, const struct kernels *k)
{
    const double STEP = 0.02, TOLERANCE = 3e-4;
    struct params p;
    params_create(&p, ROOM, 7);
    c->create(&p, false);
    size_t outputs;
    run_case(c, k, false, &p, false, NULL, &outputs);

    struct graph g;
    graph_create(&g, k, true, 1);
    double worst = 0;
    size_t worst_at = 0;
    bool untouched = false;
    for (int t = 0; t < p.tensor_count; t++) {
        struct tensor *tensor = p.tensors[t].tensor;
        for (size_t i = 0; i < tensor_count(tensor); i++) {
            float value = tensor->data[i];
            double f[4];
            static const int steps[4] = {-2, -1, 1, 2};
            for (int s = 0; s < 4; s++) {
                tensor->data[i] = value + (float)(steps[s] * STEP);
                f[s] = loss_at(c, &g, &p);
            }
            tensor->data[i] = value;
            double expected = (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * STEP);
            double found = tensor->has_grad ? tensor->grad[i] : 0;
            untouched |= !isfinite(found);
            double error = fabs(found - expected) / (1 + fabs(expected));
            if (error > worst) {
                worst = error;
                worst_at = p.tensors[t].offset + i;
            }
        }
    }
    char name[96];
    snprintf(name, sizeof name, "gradient of %s, %s kernels", c->name, k->name);
    report(worst < TOLERANCE && !untouched, name, "parameter %zu is off by %g", worst_at, worst);
    graph_destroy(&g);
    params_destroy(&p);
}

struct outcome {
    struct params p;
    float y[ROOM];
    size_t count;
};

static void run_big(const struct layer_case *c, const struct kernels *k, bool separate, struct outcome *o)
{
    params_create(&o->p, ROOM, 7);
    c->create(&o->p, true);
    memset(o->p.grad, 0, o->p.count * sizeof(float));
    run_case(c, k, separate, &o->p, true, o->y, &o->count);
}

// Greatest difference, measured against the greatest value.
static double difference(const float *a, const float *b, size_t count)
{
    double most = 0, greatest = 1e-3;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return INFINITY;
        most = fmax(most, fabs((double)a[i] - b[i]));
        greatest = fmax(greatest, fabs((double)a[i]));
    }
    return most / greatest;
}

static void plain_against_fast(const struct layer_case *c, struct outcome *plain, struct outcome *fast)
{
    run_big(c, &nn_kernels_plain, false, plain);
    run_big(c, &nn_kernels_fast, false, fast);
    double y = difference(plain->y, fast->y, plain->count),
           grad = difference(plain->p.grad, fast->p.grad, plain->p.count);
    char name[96];
    snprintf(name, sizeof name, "plain and fast agree on %s", c->name);
    report(y < 2e-6 && grad < 2e-6, name, "outputs differ by %g, gradients by %g", y, grad);
    params_destroy(&plain->p);

    run_big(c, &nn_kernels_fast, true, plain);
    snprintf(name, sizeof name, "arena and single allocations agree on %s", c->name);
    report(memcmp(plain->y, fast->y, fast->count * sizeof(float)) == 0 &&
               memcmp(plain->p.grad, fast->p.grad, fast->p.count * sizeof(float)) == 0,
           name, "other bytes");
    params_destroy(&plain->p);
    params_destroy(&fast->p);
}

void test_gradients(void)
{
    struct outcome *two = calloc(2, sizeof *two);
    for (int i = 0; i < layer_case_count; i++) {
        against_differences(&layer_cases[i], &nn_kernels_plain);
        against_differences(&layer_cases[i], &nn_kernels_fast);
        plain_against_fast(&layer_cases[i], two, two + 1);
    }
    free(two);
}
