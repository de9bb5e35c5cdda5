// SPDX-License-Identifier: MIT
// What the layers do not reach in the kernels: odd sizes, leading dimensions, extreme values.
#include "nn_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/nn/optim.h"

enum { SIDE = 80, COUNT = SIDE * SIDE };

static const struct kernels *const two[2] = {&nn_kernels_plain, &nn_kernels_fast};

static void fill(float *x, size_t count, uint64_t seed, float bound)
{
    struct rng r = {seed};
    for (size_t i = 0; i < count; i++)
        x[i] = bound * (2 * rng_uniform(&r) - 1);
}

// |a - b| <= tolerance·(1 + |a|) everywhere.
static bool near(const float *a, const float *b, size_t count, float tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= tolerance * (1 + fabsf(a[i]))))
            return false;
    return true;
}

static void test_gemm(void)
{
    static float a[COUNT], b[COUNT], c[2][COUNT];
    static const int sizes[][3] = {{1, 1, 1},   {1, 17, 33},  {7, 1, 64},
                                   {33, 65, 1}, {64, 64, 64}, {65, 31, 67}};
    fill(a, COUNT, 1, 1);
    fill(b, COUNT, 2, 1);
    bool good = true;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int form = 0; form < 8; form++) {
            for (int i = 0; i < 2; i++) {
                // Replaced results may hold anything before.
                fill(c[i], COUNT, 3, 1);
                for (int j = 0; !(form & 4) && j < COUNT; j++)
                    c[i][j] = j % SIDE < sizes[s][1] && j / SIDE < sizes[s][0] ? NAN : 0;
                two[i]->gemm(form & 1, form & 2, sizes[s][0], sizes[s][1], sizes[s][2], a, SIDE, b, SIDE,
                             form & 4 ? 1.0f : 0.0f, c[i], SIDE);
            }
            good &= near(c[0], c[1], COUNT, 1e-5f);
        }
    report(good, "products of odd sizes, transposed, inside wider matrices", "plain and fast differ");
}

static void test_sums(void)
{
    static float y[COUNT], sums[2][SIDE];
    fill(y, COUNT, 4, 1);
    bool good = true;
    for (int columns = 1; columns <= SIDE; columns++)
        for (int keep = 0; keep < 2; keep++) {
            for (int i = 0; i < 2; i++) {
                for (int c = 0; c < SIDE; c++)
                    sums[i][c] = keep || c >= columns ? (float)c : NAN;
                two[i]->sum_columns(SIDE, columns, y, SIDE, (float)keep, sums[i]);
            }
            // Rows are added in the same order: not a bit differs.
            good &= memcmp(sums[0], sums[1], sizeof sums[0]) == 0;
        }
    report(good, "bias gradients of every width", "plain and fast differ");
}

static void test_functions(void)
{
    static float x[20001], y[2][20001], d[2][20001], ones[20001];
    static const char *const names[] = {"ReLU", "GELU", "tanh", "sigmoid"};
    for (int i = 0; i < 20001; i++) {
        x[i] = (float)(i - 10000) * 0.01f;
        ones[i] = 1;
    }
    for (int f = NN_RELU; f <= NN_SIGMOID; f++) {
        for (int i = 0; i < 2; i++) {
            two[i]->activate((enum nn_activation)f, 20001, x, y[i]);
            two[i]->activate_back((enum nn_activation)f, 20001, x, y[i], ones, 0, d[i]);
        }
        char name[64];
        snprintf(name, sizeof name, "%s from -100 to 100", names[f]);
        report(near(y[0], y[1], 20001, 1e-6f) && near(d[0], d[1], 20001, 1e-6f), name,
               "plain and fast differ");
    }
}

static void test_softmax(void)
{
    static float x[2][COUNT], d[2][COUNT];
    static uint8_t allowed[COUNT];
    for (int i = 0; i < COUNT; i++)
        allowed[i] = i / SIDE != 3 && i % 7 < 5;
    bool good = true;
    for (int columns = 1; columns <= SIDE; columns += 3) {
        for (int i = 0; i < 2; i++) {
            fill(x[i], COUNT, 5, 200);
            fill(d[i], COUNT, 6, 1);
            two[i]->softmax(SIDE, columns, 0.5f, allowed, SIDE, x[i], SIDE);
            two[i]->softmax_back(SIDE, columns, 0.5f, x[i], SIDE, d[i], SIDE);
        }
        good &= near(x[0], x[1], COUNT, 2e-6f) && near(d[0], d[1], COUNT, 2e-6f);
        for (int c = 0; c < columns; c++)
            good &= x[1][3 * SIDE + c] == 0;
    }
    report(good, "softmax with masks and large values", "plain and fast differ");
}

static void test_losses(void)
{
    static float x[COUNT], target[COUNT], d[2][COUNT];
    static int classes[SIDE];
    double loss[2];
    bool good = true;
    fill(x, COUNT, 7, 100);
    fill(target, COUNT, 8, 3);
    for (int columns = 1; columns <= SIDE; columns += 3) {
        for (int r = 0; r < SIDE; r++)
            classes[r] = r % columns;
        for (int kind = 0; kind < 2; kind++) {
            for (int i = 0; i < 2; i++)
                loss[i] = kind ? two[i]->cross_entropy(SIDE, columns, x, classes, NULL, d[i])
                               : two[i]->huber(SIDE, columns, x, target, NULL, 1, d[i]);
            good &= near(d[0], d[1], (size_t)SIDE * columns, 1e-5f) &&
                    fabs(loss[0] - loss[1]) < 1e-5 * (1 + loss[0]);
        }
    }
    report(good, "losses of every width, far off", "plain and fast differ");
}

static void test_optimizers(void)
{
    static const char *const names[] = {"Adam", "AdamW"};
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        struct params p[2];
        for (int i = 0; i < 2; i++) {
            struct optimizer o;
            params_create(&p[i], COUNT, 1);
            params_add(&p[i], "x", "", 1, (int[]){777}, 1);
            struct tensor *unused = params_add(&p[i], "unused", "", 1, (int[]){3}, 1);
            optimizer_create(&o, &p[i], decoupled, 0.01f, 5);
            for (int step = 0; step < 20; step++) {
                fill(p[i].grad, p[i].count, step, 1);
                unused->has_grad = false;
                optimizer_step(&o, &p[i], two[i], 0.01f);
            }
            optimizer_destroy(&o);
        }
        report(near(p[0].data, p[1].data, p[0].count, 1e-6f), names[decoupled], "plain and fast differ");
        params_destroy(&p[0]);
        params_destroy(&p[1]);
    }
    report(cosine_rate(1, 0.1f, 4, 24, 0) == 0.25f && cosine_rate(1, 0.1f, 4, 24, 3) == 1 &&
               cosine_rate(1, 0.1f, 4, 24, 4) == 1 &&
               fabsf(cosine_rate(1, 0.1f, 4, 24, 14) - 0.55f) < 1e-6f &&
               cosine_rate(1, 0.1f, 4, 24, 24) == 0.1f && cosine_rate(1, 0.1f, 4, 24, 99) == 0.1f,
           "cosine schedule", "wrong rates");
}

static void test_dropout(void)
{
    static float x[COUNT], y[2][COUNT];
    size_t dropped = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    for (int i = 0; i < 2; i++)
        two[i]->dropout(COUNT, 0x123456789abcdef, 0.25f, x, 0, y[i]);
    for (int i = 0; i < COUNT; i++)
        dropped += y[1][i] == 0;
    report(near(y[0], y[1], COUNT, 1e-6f), "dropout drops the same", "plain and fast differ");
    // 4.5 standard deviations.
    report(fabs((double)dropped - 0.25 * COUNT) < 4.5 * sqrt(COUNT * 0.25 * 0.75), "dropout drops its share",
           "%zu of %d dropped", dropped, COUNT);
}

void test_kernels(void)
{
    test_gemm();
    test_sums();
    test_functions();
    test_softmax();
    test_losses();
    test_optimizers();
    test_dropout();
}
