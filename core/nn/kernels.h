// SPDX-License-Identifier: MIT
// The inner loops, twice: nn_kernels_plain as straightforward loops over the C library's functions (the
// reference), and nn_kernels_fast on BLAS and vectorized loops. Everything above calls through the table.
//
// Matrices are row-major with a leading dimension (the distance of two rows) wherever a part of a wider
// matrix may be given. `keep` says whether a result is added to what is there (1) or replaces it (0); what is
// replaced need not be initialized.
#ifndef NN_KERNELS_H
#define NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor.h"

enum nn_activation { NN_RELU, NN_GELU, NN_TANH, NN_SIGMOID }; // GELU in its erf form

#define NN_NORM_EPSILON 1e-5f // added to the variance by layer_norm

struct adam_coefficients {
    float rate; // step size of this step, bias corrections not yet applied
    float beta1, beta2, epsilon;
    float decay; // weight decay: into the gradient (Adam), or straight off the value (AdamW)
    bool decoupled; // AdamW
    float correction1, correction2; // 1 - beta^t
    float scale; // of the gradient: from clipping
};

struct kernels {
    const char *name;

    // C[m,n] = A·B + keep·C, where A is [m,k] (or, transposed, stored as [k,m]) and B is [k,n] (or [n,k]).
    void (*gemm)(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int lda,
                 const float *b, int ldb, float keep, float *c, int ldc);

    // y[r] = b for every row.
    void (*fill_rows)(int rows, int columns, const float *b, float *y);
    // sums[c] = the sum of column c (a bias gradient), + keep·sums[c].
    void (*sum_columns)(int rows, int columns, const float *y, int ldy, float keep, float *sums);

    // y = f(x); dx = dy·f'(x) + keep·dx. GELU's derivative is taken at x, the others' from y.
    void (*activate)(enum nn_activation f, size_t count, const float *x, float *y);
    void (*activate_back)(enum nn_activation f, size_t count, const float *x, const float *y, const float *dy,
                          float keep, float *dx);

    // y = a + b; y = s·x + keep·y.
    void (*add)(size_t count, const float *a, const float *b, float *y);
    void (*scale)(size_t count, float s, const float *x, float keep, float *y);

    // Rows to mean 0 and variance 1 (plus epsilon 1e-5), times gain, plus bias. normal and inverse (one a
    // row) are kept for the way back. The gradients of gain and bias are added to what is there.
    void (*layer_norm)(int rows, int columns, const float *x, const float *gain, const float *bias, float *y,
                       float *normal, float *inverse);
    void (*layer_norm_back)(int rows, int columns, const float *dy, const float *gain, const float *normal,
                            const float *inverse, float keep, float *dx, float *dgain, float *dbias);

    // One time step of an LSTM for a batch. gates is [batch,4·hidden] in the order i, f, g, o: on entry sums,
    // on exit activated. c_before NULL: zeroes. lengths NULL, or for each row its length: at time >= it, c
    // and h become 0. h is written with leading dimension ldh. squashed keeps tanh(c).
    void (*lstm_cell)(int batch, int hidden, int time, const int *lengths, float *gates,
                      const float *c_before, float *c, float *squashed, float *h, int ldh);
    // dh: gradient of h. dc: on entry that of c from the later step, on exit that of c_before. gates: on
    // entry as lstm_cell left them, on exit the gradients of its sums.
    void (*lstm_cell_back)(int batch, int hidden, int time, const int *lengths, float *gates,
                           const float *c_before, const float *squashed, const float *dh, int lddh,
                           float *dc);

    // Softmax of scale·x, row by row, in place. allowed NULL, or for each element 0 to take it out; a row
    // with nothing left becomes 0.
    void (*softmax)(int rows, int columns, float scale, const uint8_t *allowed, int ld_allowed, float *x,
                    int ldx);
    // dx = scale·y·(dy − Σ y·dy), in place of dy.
    void (*softmax_back)(int rows, int columns, float scale, const float *y, int ldy, float *dy, int lddy);

    // Rows of a table, and the other way: rows of dy added to those of dtable, in the order of index.
    void (*gather)(int rows, int columns, const float *table, const int *index, float *y);
    void (*scatter_add)(int rows, int columns, const float *dy, const int *index, float *dtable);

    // y = x·mask/(1-p) + keep·y with a mask that hangs on key and position alone.
    void (*dropout)(size_t count, uint64_t key, float p, const float *x, float keep, float *y);

    // Weighted loss of each row, summed, and the gradient of that sum by x. weight NULL: all 1.
    double (*cross_entropy)(int rows, int columns, const float *x, const int *target, const float *weight,
                            float *dx);
    // The same for Huber's loss, with one weight a row of columns values; delta > 0.
    double (*huber)(int rows, int columns, const float *x, const float *target, const float *weight,
                    float delta, float *dx);

    // Σ x².
    double (*sum_squares)(size_t count, const float *x);
    void (*adam)(size_t count, const struct adam_coefficients *c, const float *grad, float *value, float *m,
                 float *v);
};

extern const struct kernels nn_kernels_plain, nn_kernels_fast;

// Needed before nn_kernels_fast is used; graph_create sees to it. Loads OpenBLAS with one thread and the
// kernels of this CPU (or those that OPENBLAS_CORETYPE names). Changes the environment for a moment: call it
// while no other thread reads that. A second call does nothing.
bool nn_blas_load(struct error *error);

#endif
