// SPDX-License-Identifier: MIT
// The kernels as their definitions say them, one element after the other.
#include "kernels.h"

#include <math.h>

#include "dropout.h"

static const float ROOT_HALF = 0.70710678118654752f, ROOT_INVERSE_2PI = 0.39894228040143268f;

static void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int lda,
                 const float *b, int ldb, float keep, float *c, int ldc)
{
    size_t a_row = transpose_a ? 1 : lda, a_step = transpose_a ? lda : 1;
    size_t b_column = transpose_b ? ldb : 1, b_step = transpose_b ? 1 : ldb;
    for (size_t i = 0; i < (size_t)m; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            float sum = 0;
            for (size_t l = 0; l < (size_t)k; l++)
                sum += a[i * a_row + l * a_step] * b[j * b_column + l * b_step];
            c[i * ldc + j] = keep != 0 ? sum + keep * c[i * ldc + j] : sum;
        }
}

static void fill_rows(int rows, int columns, const float *b, float *y)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        for (int c = 0; c < columns; c++)
            y[r * columns + c] = b[c];
}

static void sum_columns(int rows, int columns, const float *y, int ldy, float keep, float *sums)
{
    for (int c = 0; c < columns; c++) {
        float sum = 0;
        for (size_t r = 0; r < (size_t)rows; r++)
            sum += y[r * ldy + c];
        sums[c] = keep != 0 ? sum + keep * sums[c] : sum;
    }
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static void activate(enum nn_activation f, size_t count, const float *x, float *y)
{
    for (size_t i = 0; i < count; i++)
        switch (f) {
        case NN_RELU: y[i] = x[i] > 0 ? x[i] : 0; break;
        case NN_GELU: y[i] = 0.5f * x[i] * (1 + erff(x[i] * ROOT_HALF)); break;
        case NN_TANH: y[i] = tanhf(x[i]); break;
        case NN_SIGMOID: y[i] = sigmoid(x[i]); break;
        }
}

static void activate_back(enum nn_activation f, size_t count, const float *x, const float *y, const float *dy,
                          float keep, float *dx)
{
    for (size_t i = 0; i < count; i++) {
        float slope = 0;
        switch (f) {
        case NN_RELU: slope = y[i] > 0; break;
        case NN_GELU:
            slope = 0.5f * (1 + erff(x[i] * ROOT_HALF)) + x[i] * ROOT_INVERSE_2PI * expf(-0.5f * x[i] * x[i]);
            break;
        case NN_TANH: slope = 1 - y[i] * y[i]; break;
        case NN_SIGMOID: slope = y[i] * (1 - y[i]); break;
        }
        dx[i] = keep != 0 ? dy[i] * slope + keep * dx[i] : dy[i] * slope;
    }
}

static void add(size_t count, const float *a, const float *b, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = a[i] + b[i];
}

static void scale(size_t count, float s, const float *x, float keep, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = keep != 0 ? s * x[i] + keep * y[i] : s * x[i];
}

static void layer_norm(int rows, int columns, const float *x, const float *gain, const float *bias, float *y,
                       float *normal, float *inverse)
{
    for (int r = 0; r < rows; r++, x += columns, y += columns, normal += columns) {
        float mean = 0, variance = 0;
        for (int c = 0; c < columns; c++)
            mean += x[c];
        mean /= (float)columns;
        for (int c = 0; c < columns; c++)
            variance += (x[c] - mean) * (x[c] - mean);
        variance /= (float)columns;
        inverse[r] = 1 / sqrtf(variance + NN_NORM_EPSILON);
        for (int c = 0; c < columns; c++) {
            normal[c] = (x[c] - mean) * inverse[r];
            y[c] = normal[c] * gain[c] + bias[c];
        }
    }
}

static void layer_norm_back(int rows, int columns, const float *dy, const float *gain, const float *normal,
                            const float *inverse, float keep, float *dx, float *dgain, float *dbias)
{
    for (int r = 0; r < rows; r++, dy += columns, normal += columns, dx += columns) {
        float mean = 0, along = 0; // of the gradient of the normalized row, and of its product with that row
        for (int c = 0; c < columns; c++) {
            mean += dy[c] * gain[c];
            along += dy[c] * gain[c] * normal[c];
            dgain[c] += dy[c] * normal[c];
            dbias[c] += dy[c];
        }
        mean /= (float)columns;
        along /= (float)columns;
        for (int c = 0; c < columns; c++) {
            float d = inverse[r] * (dy[c] * gain[c] - mean - normal[c] * along);
            dx[c] = keep != 0 ? d + keep * dx[c] : d;
        }
    }
}

static void lstm_cell(int batch, int hidden, int time, const int *lengths, float *gates,
                      const float *c_before, float *c, float *squashed, float *h, int ldh)
{
    for (int r = 0; r < batch; r++)
        for (int j = 0; j < hidden; j++) {
            size_t at = (size_t)r * hidden + j;
            float *gate = gates + (size_t)r * 4 * hidden + j;
            gate[0] = sigmoid(gate[0]);
            gate[hidden] = sigmoid(gate[hidden]);
            gate[2 * hidden] = tanhf(gate[2 * hidden]);
            gate[3 * hidden] = sigmoid(gate[3 * hidden]);
            c[at] = gate[hidden] * (c_before ? c_before[at] : 0) + gate[0] * gate[2 * hidden];
            if (lengths && time >= lengths[r])
                c[at] = 0;
            squashed[at] = tanhf(c[at]);
            h[(size_t)r * ldh + j] = gate[3 * hidden] * squashed[at];
        }
}

static void lstm_cell_back(int batch, int hidden, int time, const int *lengths, float *gates,
                           const float *c_before, const float *squashed, const float *dh, int lddh, float *dc)
{
    for (int r = 0; r < batch; r++)
        for (int j = 0; j < hidden; j++) {
            size_t at = (size_t)r * hidden + j;
            float *gate = gates + (size_t)r * 4 * hidden + j;
            if (lengths && time >= lengths[r]) {
                gate[0] = gate[hidden] = gate[2 * hidden] = gate[3 * hidden] = dc[at] = 0;
                continue;
            }
            float i = gate[0], f = gate[hidden], g = gate[2 * hidden], o = gate[3 * hidden];
            float d = dh[(size_t)r * lddh + j];
            float dcell = dc[at] + d * o * (1 - squashed[at] * squashed[at]);
            gate[0] = dcell * g * i * (1 - i);
            gate[hidden] = dcell * (c_before ? c_before[at] : 0) * f * (1 - f);
            gate[2 * hidden] = dcell * i * (1 - g * g);
            gate[3 * hidden] = d * squashed[at] * o * (1 - o);
            dc[at] = dcell * f;
        }
}

static void softmax(int rows, int columns, float scale, const uint8_t *allowed, int ld_allowed, float *x,
                    int ldx)
{
    for (int r = 0; r < rows; r++, x += ldx) {
        const uint8_t *take = allowed ? allowed + (size_t)r * ld_allowed : NULL;
        float greatest = -INFINITY, sum = 0;
        for (int c = 0; c < columns; c++)
            if ((!take || take[c]) && scale * x[c] > greatest)
                greatest = scale * x[c];
        for (int c = 0; c < columns; c++) {
            x[c] = !take || take[c] ? expf(scale * x[c] - greatest) : 0;
            sum += x[c];
        }
        for (int c = 0; c < columns; c++)
            x[c] = sum > 0 ? x[c] / sum : 0;
    }
}

static void softmax_back(int rows, int columns, float scale, const float *y, int ldy, float *dy, int lddy)
{
    for (int r = 0; r < rows; r++, y += ldy, dy += lddy) {
        float along = 0;
        for (int c = 0; c < columns; c++)
            along += y[c] * dy[c];
        for (int c = 0; c < columns; c++)
            dy[c] = scale * y[c] * (dy[c] - along);
    }
}

static void gather(int rows, int columns, const float *table, const int *index, float *y)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        for (int c = 0; c < columns; c++)
            y[r * columns + c] = table[(size_t)index[r] * columns + c];
}

static void scatter_add(int rows, int columns, const float *dy, const int *index, float *dtable)
{
    for (size_t r = 0; r < (size_t)rows; r++)
        for (int c = 0; c < columns; c++)
            dtable[(size_t)index[r] * columns + c] += dy[r * columns + c];
}

static void dropout(size_t count, uint64_t key, float p, const float *x, float keep, float *y)
{
    for (size_t i = 0; i < count; i++) {
        float kept = dropout_bits(key, i) >= dropout_limit(p) ? x[i] / (1 - p) : 0;
        y[i] = keep != 0 ? kept + keep * y[i] : kept;
    }
}

static double cross_entropy(int rows, int columns, const float *x, const int *target, const float *weight,
                            float *dx)
{
    double loss = 0;
    for (int r = 0; r < rows; r++, x += columns, dx += columns) {
        float w = weight ? weight[r] : 1, greatest = x[0], sum = 0;
        for (int c = 1; c < columns; c++)
            greatest = x[c] > greatest ? x[c] : greatest;
        for (int c = 0; c < columns; c++) {
            dx[c] = expf(x[c] - greatest);
            sum += dx[c];
        }
        for (int c = 0; c < columns; c++)
            dx[c] = w * (dx[c] / sum - (c == target[r]));
        loss += w * (log(sum) + (double)greatest - x[target[r]]);
    }
    return loss;
}

static double huber(int rows, int columns, const float *x, const float *target, const float *weight,
                    float delta, float *dx)
{
    double loss = 0;
    for (int r = 0; r < rows; r++, x += columns, target += columns, dx += columns) {
        float w = weight ? weight[r] : 1;
        for (int c = 0; c < columns; c++) {
            float e = x[c] - target[c], size = fabsf(e);
            if (size <= delta) {
                loss += 0.5 * (double)(w * e) * e;
                dx[c] = w * e;
            } else {
                loss += (double)(w * delta) * (size - 0.5f * delta);
                dx[c] = e > 0 ? w * delta : -(w * delta);
            }
        }
    }
    return loss;
}

static double sum_squares(size_t count, const float *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

static void adam(size_t count, const struct adam_coefficients *a, const float *grad, float *value, float *m,
                 float *v)
{
    float root2 = sqrtf(a->correction2), step = a->rate / a->correction1;
    for (size_t i = 0; i < count; i++) {
        float g = a->scale * grad[i];
        if (a->decoupled)
            value[i] -= a->rate * a->decay * value[i];
        else
            g += a->decay * value[i];
        m[i] = a->beta1 * m[i] + (1 - a->beta1) * g;
        v[i] = a->beta2 * v[i] + (1 - a->beta2) * g * g;
        value[i] -= step * m[i] / (sqrtf(v[i]) / root2 + a->epsilon);
    }
}

const struct kernels nn_kernels_plain = {
    "plain", gemm,        fill_rows,       sum_columns,   activate,       activate_back, add,
    scale,   layer_norm,  layer_norm_back, lstm_cell,     lstm_cell_back, softmax,       softmax_back,
    gather,  scatter_add, dropout,         cross_entropy, huber,          sum_squares,   adam,
};
