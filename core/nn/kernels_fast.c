// SPDX-License-Identifier: MIT
// The kernels on BLAS and vectors. This file is compiled once for each vector width that x86 has, and the
// loader picks one; sums over a row go into 16 lanes that are folded in one order, so that all widths give
// the same bytes.
#include <math.h>

#include "blas.h"
#include "dropout.h"
#include "kernels.h"
#include "vector_math.h"

// A sanitizer's runtime is not up yet when the loader chooses. NN_ONE_WIDTH: that of the compiler's options,
// for tests.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                \
    !defined(NN_ONE_WIDTH)
#define EACH_WIDTH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EACH_WIDTH
#endif

enum { LANES = 16 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int lda,
                 const float *b, int ldb, float keep, float *c, int ldc)
{
    nn_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
             m, n, k, 1, a, lda, b, ldb, keep, c, ldc);
}

static void fill_rows(int rows, int columns, const float *b, float *y)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        memcpy(y + r * columns, b, (size_t)columns * sizeof *b);
}

// Down the rows with 64 columns in registers, then 16, then single ones.
EACH_WIDTH static void sum_columns(int rows, int columns, const float *y, int ldy, float keep, float *sums)
{
    int c = 0;
    for (; c + 4 * LANES <= columns; c += 4 * LANES) {
        lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        const float *row = y + c;
        for (int r = 0; r < rows; r++, row += ldy) {
            s0 += *(const lanes *)row;
            s1 += *(const lanes *)(row + LANES);
            s2 += *(const lanes *)(row + 2 * LANES);
            s3 += *(const lanes *)(row + 3 * LANES);
        }
        lanes *to = (lanes *)(sums + c);
        if (keep != 0)
            s0 += keep * to[0], s1 += keep * to[1], s2 += keep * to[2], s3 += keep * to[3];
        to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
    for (; c + LANES <= columns; c += LANES) {
        lanes s = {0};
        for (int r = 0; r < rows; r++)
            s += *(const lanes *)(y + (size_t)r * ldy + c);
        lanes *to = (lanes *)(sums + c);
        if (keep != 0)
            s += keep * *to;
        *to = s;
    }
    for (; c < columns; c++) {
        float s = 0;
        for (int r = 0; r < rows; r++)
            s += y[(size_t)r * ldy + c];
        sums[c] = keep != 0 ? s + keep * sums[c] : s;
    }
}

EACH_WIDTH static void activate(enum nn_activation f, size_t count, const float *restrict x,
                                float *restrict y)
{
    switch (f) {
    case NN_RELU:
        for (size_t i = 0; i < count; i++)
            y[i] = x[i] > 0 ? x[i] : 0;
        break;
    case NN_GELU:
        for (size_t i = 0; i < count; i++)
            y[i] = 0.5f * x[i] * vector_erf_plus_1(x[i] * 0.70710678f);
        break;
    case NN_TANH:
        for (size_t i = 0; i < count; i++)
            y[i] = vector_tanh(x[i]);
        break;
    case NN_SIGMOID:
        for (size_t i = 0; i < count; i++)
            y[i] = vector_sigmoid(x[i]);
        break;
    }
}

// dx = value, or value + keep·dx, for all i, with the test outside the loop.
#define STORE_ALL(value)                                                                                     \
    do {                                                                                                     \
        if (keep == 0)                                                                                       \
            for (size_t i = 0; i < count; i++)                                                               \
                dx[i] = (value);                                                                             \
        else                                                                                                 \
            for (size_t i = 0; i < count; i++)                                                               \
                dx[i] = (value) + keep * dx[i];                                                              \
    } while (0)

VECTOR_INLINE float gelu_slope(float x)
{
    return 0.5f * vector_erf_plus_1(x * 0.70710678f) + x * 0.39894228f * vector_exp(-0.5f * x * x);
}

EACH_WIDTH static void activate_back(enum nn_activation f, size_t count, const float *restrict x,
                                     const float *restrict y, const float *restrict dy, float keep,
                                     float *restrict dx)
{
    switch (f) {
    case NN_RELU: STORE_ALL(y[i] > 0 ? dy[i] : 0); break;
    case NN_GELU: STORE_ALL(dy[i] * gelu_slope(x[i])); break;
    case NN_TANH: STORE_ALL(dy[i] * (1 - y[i] * y[i])); break;
    case NN_SIGMOID: STORE_ALL(dy[i] * (y[i] * (1 - y[i]))); break;
    }
}

EACH_WIDTH static void add(size_t count, const float *a, const float *b, float *restrict y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = a[i] + b[i];
}

EACH_WIDTH static void scale(size_t count, float s, const float *restrict x, float keep, float *restrict dx)
{
    STORE_ALL(s * x[i]);
}

// The lanes of a sum, with what is left of a row behind its last 16, in one number.
VECTOR_INLINE float fold(lanes *s)
{
    float part[LANES];
    memcpy(part, s, sizeof part);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            part[i] += part[i + width];
    return part[0];
}

VECTOR_INLINE float row_sum(int n, const float *x)
{
    lanes s = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        s += *(const lanes *)(x + i);
    float rest = 0;
    for (; i < n; i++)
        rest += x[i];
    return fold(&s) + rest;
}

VECTOR_INLINE float row_product(int n, const float *x, const float *y)
{
    lanes s = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        s += *(const lanes *)(x + i) * *(const lanes *)(y + i);
    float rest = 0;
    for (; i < n; i++)
        rest += x[i] * y[i];
    return fold(&s) + rest;
}

EACH_WIDTH static void layer_norm(int rows, int columns, const float *x, const float *gain, const float *bias,
                                  float *y, float *normal, float *inverse)
{
    for (int r = 0; r < rows; r++) {
        const float *restrict from = x + (size_t)r * columns;
        float *restrict unit = normal + (size_t)r * columns, *restrict to = y + (size_t)r * columns;
        float mean = row_sum(columns, from) / (float)columns;
        for (int c = 0; c < columns; c++)
            unit[c] = from[c] - mean;
        float scale = 1 / sqrtf(row_product(columns, unit, unit) / (float)columns + NN_NORM_EPSILON);
        inverse[r] = scale;
        for (int c = 0; c < columns; c++) {
            unit[c] *= scale;
            to[c] = unit[c] * gain[c] + bias[c];
        }
    }
}

EACH_WIDTH static void layer_norm_back(int rows, int columns, const float *dy, const float *gain,
                                       const float *normal, const float *inverse, float keep, float *dx,
                                       float *dgain, float *dbias)
{
    for (int r = 0; r < rows; r++) {
        const float *restrict d = dy + (size_t)r * columns, *restrict unit = normal + (size_t)r * columns;
        float *restrict to = dx + (size_t)r * columns, *restrict dg = dgain, *restrict db = dbias;
        lanes mean_lanes = {0}, along_lanes = {0};
        float mean = 0, along = 0;
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
            lanes dn = *(const lanes *)(d + c) * *(const lanes *)(gain + c);
            mean_lanes += dn;
            along_lanes += dn * *(const lanes *)(unit + c);
        }
        for (; c < columns; c++) {
            mean += d[c] * gain[c];
            along += d[c] * gain[c] * unit[c];
        }
        mean = (fold(&mean_lanes) + mean) / (float)columns;
        along = (fold(&along_lanes) + along) / (float)columns;
        for (c = 0; c < columns; c++) {
            dg[c] += d[c] * unit[c];
            db[c] += d[c];
        }
        if (keep == 0)
            for (c = 0; c < columns; c++)
                to[c] = inverse[r] * (d[c] * gain[c] - mean - unit[c] * along);
        else
            for (c = 0; c < columns; c++)
                to[c] = inverse[r] * (d[c] * gain[c] - mean - unit[c] * along) + keep * to[c];
    }
}

EACH_WIDTH static void lstm_cell(int batch, int hidden, int time, const int *lengths, float *gates,
                                 const float *c_before, float *c, float *squashed, float *h, int ldh)
{
    for (int r = 0; r < batch; r++) {
        size_t at = (size_t)r * hidden;
        float *restrict i = gates + 4 * at, *restrict f = i + hidden, *restrict g = f + hidden;
        float *restrict o = g + hidden, *restrict cell = c + at, *restrict squash = squashed + at;
        float *restrict out = h + (size_t)r * ldh;
        if (lengths && time >= lengths[r]) {
            memset(cell, 0, hidden * sizeof *cell);
            memset(squash, 0, hidden * sizeof *cell);
            memset(out, 0, hidden * sizeof *cell);
            continue;
        }
        // One loop with everything has more streams than the compiler will vectorize.
        for (int j = 0; j < 2 * hidden; j++)
            i[j] = vector_sigmoid(i[j]);
        for (int j = 0; j < hidden; j++) {
            g[j] = vector_tanh(g[j]);
            o[j] = vector_sigmoid(o[j]);
        }
        if (c_before) {
            const float *restrict before = c_before + at;
            for (int j = 0; j < hidden; j++)
                cell[j] = f[j] * before[j] + i[j] * g[j];
        } else {
            for (int j = 0; j < hidden; j++)
                cell[j] = i[j] * g[j];
        }
        for (int j = 0; j < hidden; j++) {
            squash[j] = vector_tanh(cell[j]);
            out[j] = o[j] * squash[j];
        }
    }
}

EACH_WIDTH static void lstm_cell_back(int batch, int hidden, int time, const int *lengths, float *gates,
                                      const float *c_before, const float *squashed, const float *dh, int lddh,
                                      float *dc)
{
    for (int r = 0; r < batch; r++) {
        size_t at = (size_t)r * hidden;
        float *restrict i = gates + 4 * at, *restrict f = i + hidden, *restrict g = f + hidden;
        float *restrict o = g + hidden, *restrict dcell = dc + at;
        const float *restrict squash = squashed + at, *restrict d = dh + (size_t)r * lddh;
        if (lengths && time >= lengths[r]) {
            memset(i, 0, 4 * hidden * sizeof *i);
            memset(dcell, 0, hidden * sizeof *dcell);
            continue;
        }
        for (int j = 0; j < hidden; j++) {
            float all = dcell[j] + d[j] * o[j] * (1 - squash[j] * squash[j]);
            o[j] = d[j] * squash[j] * o[j] * (1 - o[j]);
            float di = all * g[j] * i[j] * (1 - i[j]);
            g[j] = all * i[j] * (1 - g[j] * g[j]);
            i[j] = di;
            dcell[j] = all;
        }
        if (c_before) {
            const float *restrict before = c_before + at;
            for (int j = 0; j < hidden; j++) {
                float all = dcell[j];
                dcell[j] = all * f[j];
                f[j] = all * before[j] * f[j] * (1 - f[j]);
            }
        } else {
            memset(f, 0, hidden * sizeof *f);
        }
    }
}

EACH_WIDTH static void softmax(int rows, int columns, float scale, const uint8_t *allowed, int ld_allowed,
                               float *x, int ldx)
{
    for (int r = 0; r < rows; r++) {
        float *restrict row = x + (size_t)r * ldx;
        const uint8_t *restrict take = allowed ? allowed + (size_t)r * ld_allowed : NULL;
        float greatest = -INFINITY;
        if (take)
            for (int c = 0; c < columns; c++)
                row[c] = take[c] ? row[c] : -INFINITY;
        for (int c = 0; c < columns; c++)
            greatest = scale * row[c] > greatest ? scale * row[c] : greatest;
        if (greatest == -INFINITY) {
            memset(row, 0, columns * sizeof *row);
            continue;
        }
        for (int c = 0; c < columns; c++)
            row[c] = row[c] == -INFINITY ? 0 : vector_exp(scale * row[c] - greatest);
        float share = 1 / row_sum(columns, row);
        for (int c = 0; c < columns; c++)
            row[c] *= share;
    }
}

EACH_WIDTH static void softmax_back(int rows, int columns, float scale, const float *y, int ldy, float *dy,
                                    int lddy)
{
    for (int r = 0; r < rows; r++) {
        const float *restrict p = y + (size_t)r * ldy;
        float *restrict d = dy + (size_t)r * lddy;
        float along = row_product(columns, p, d);
        for (int c = 0; c < columns; c++)
            d[c] = scale * p[c] * (d[c] - along);
    }
}

static void gather(int rows, int columns, const float *table, const int *index, float *y)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        memcpy(y + r * columns, table + (size_t)index[r] * columns, (size_t)columns * sizeof *y);
}

EACH_WIDTH static void scatter_add(int rows, int columns, const float *dy, const int *index, float *dtable)
{
    for (size_t r = 0; r < (size_t)rows; r++) {
        const float *restrict from = dy + r * columns;
        float *restrict to = dtable + (size_t)index[r] * columns;
        for (int c = 0; c < columns; c++)
            to[c] += from[c];
    }
}

EACH_WIDTH static void dropout(size_t count, uint64_t key, float p, const float *restrict x, float keep,
                               float *restrict dx)
{
    uint32_t limit = dropout_limit(p);
    float grow = 1 / (1 - p);
    STORE_ALL(dropout_bits(key, i) >= limit ? x[i] * grow : 0);
}

EACH_WIDTH static double cross_entropy(int rows, int columns, const float *x, const int *target,
                                       const float *weight, float *dx)
{
    double loss = 0;
    for (int r = 0; r < rows; r++) {
        const float *restrict row = x + (size_t)r * columns;
        float *restrict d = dx + (size_t)r * columns;
        float w = weight ? weight[r] : 1, greatest = row[0];
        for (int c = 1; c < columns; c++)
            greatest = row[c] > greatest ? row[c] : greatest;
        for (int c = 0; c < columns; c++)
            d[c] = vector_exp(row[c] - greatest);
        float sum = row_sum(columns, d), share = w / sum;
        for (int c = 0; c < columns; c++)
            d[c] *= share;
        d[target[r]] -= w;
        loss += w * (log(sum) + (double)greatest - row[target[r]]);
    }
    return loss;
}

EACH_WIDTH static double sum_squares(size_t count, const float *x)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)x[i + j] * x[i + j];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    for (; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

EACH_WIDTH static void adam(size_t count, const struct adam_coefficients *a, const float *restrict grad,
                            float *restrict value, float *restrict m, float *restrict v)
{
    const struct adam_coefficients k = *a;
    float shrink = k.decoupled ? 1 - k.rate * k.decay : 1, pull = k.decoupled ? 0 : k.decay;
    float root2 = 1 / sqrtf(k.correction2), step = k.rate / k.correction1;
    for (size_t i = 0; i < count; i++) {
        float g = k.scale * grad[i] + pull * value[i];
        m[i] = k.beta1 * m[i] + (1 - k.beta1) * g;
        v[i] = k.beta2 * v[i] + (1 - k.beta2) * g * g;
        value[i] = shrink * value[i] - step * m[i] / (sqrtf(v[i]) * root2 + k.epsilon);
    }
}

// Few values, but one formula: e·clamp(e) covers both parts of Huber's loss.
EACH_WIDTH static double huber(int rows, int columns, const float *x, const float *target,
                               const float *weight, float delta, float *dx)
{
    double loss = 0;
    for (int r = 0; r < rows; r++) {
        const float *restrict row = x + (size_t)r * columns, *restrict goal = target + (size_t)r * columns;
        float *restrict d = dx + (size_t)r * columns;
        float w = weight ? weight[r] : 1, sum = 0;
        for (int c = 0; c < columns; c++) {
            float e = row[c] - goal[c], inner = e > delta ? delta : e < -delta ? -delta : e;
            d[c] = w * inner;
            sum += inner * (e - 0.5f * inner);
        }
        loss += (double)w * sum;
    }
    return loss;
}

const struct kernels nn_kernels_fast = {
    "fast", gemm,        fill_rows,       sum_columns,   activate,       activate_back, add,
    scale,  layer_norm,  layer_norm_back, lstm_cell,     lstm_cell_back, softmax,       softmax_back,
    gather, scatter_add, dropout,         cross_entropy, huber,          sum_squares,   adam,
};
