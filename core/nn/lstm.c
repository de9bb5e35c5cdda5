// SPDX-License-Identifier: MIT
// The LSTM. What hangs on the input is one product for all time steps, and so is every gradient but the one
// that goes from step to step.
#include "layers.h"

#include <math.h>
#include <string.h>

struct lstm_context {
    struct tensor *x, *y;
    const struct lstm *l;
    const int *lengths;
    int direction; // 0 forward, 1 backward
    float *gates, *c, *squashed; // [time,batch,4·hidden] [time,batch,hidden] twice
};

struct lstm_stack lstm_create(struct params *p, const char *name, int in, int hidden, int layers,
                              bool both_ways)
{
    struct lstm_stack s = {.layers = layers, .hidden = hidden, .both_ways = both_ways};
    if (layers < 1 || layers > LSTM_LAYERS)
        nn_die("%s: an LSTM of %d layers (1 to %d)", name, layers, LSTM_LAYERS);
    float bound = 1 / sqrtf((float)hidden);
    int rows = 4 * hidden;
    for (int i = 0; i < layers; i++, in = (1 + both_ways) * hidden)
        for (int d = 0; d <= both_ways; d++)
            s.part[i][d] = (struct lstm){
                .weight_ih = params_add(p, name, "weight_ih", 2, (int[]){rows, in}, bound),
                .weight_hh = params_add(p, name, "weight_hh", 2, (int[]){rows, hidden}, bound),
                .bias_ih = params_add(p, name, "bias_ih", 1, &rows, bound),
                .bias_hh = params_add(p, name, "bias_hh", 1, &rows, bound),
            };
    return s;
}

static void back(struct graph *g, void *context)
{
    struct lstm_context *s = context;
    const struct kernels *k = g->k;
    const struct lstm *l = s->l;
    int time = s->x->shape[0], batch = s->x->shape[1], in = s->x->shape[2], width = s->y->shape[2];
    int hidden = l->weight_hh->shape[1], rows = 4 * hidden, later = s->direction ? -1 : 1;
    size_t gate_step = (size_t)batch * rows, cell_step = (size_t)batch * hidden,
           out_step = (size_t)batch * width;
    float *dy = s->y->grad + s->direction * hidden, *h = s->y->data + s->direction * hidden;
    float *dc = arena_floats(&g->temporaries, cell_step);
    memset(dc, 0, cell_step * sizeof *dc);

    for (int n = time - 1; n >= 0; n--) {
        int t = s->direction ? time - 1 - n : n;
        // The later step's gradient joins that of the output, which nobody else needs any more.
        if (n < time - 1)
            k->gemm(false, false, batch, hidden, rows, s->gates + (t + later) * gate_step, rows,
                    l->weight_hh->data, hidden, 1, dy + t * out_step, width);
        k->lstm_cell_back(batch, hidden, t, s->lengths, s->gates + t * gate_step,
                          n ? s->c + (t - later) * cell_step : NULL, s->squashed + t * cell_step,
                          dy + t * out_step, width, dc);
    }

    float keep, *grad = graph_grad(g, l->weight_ih, &keep);
    k->gemm(true, false, rows, in, time * batch, s->gates, rows, s->x->data, in, keep, grad, in);
    // Each step's gates with the output of the step before it.
    const float *gates = s->direction ? s->gates : s->gates + gate_step;
    const float *before = s->direction ? h + out_step : h;
    grad = graph_grad(g, l->weight_hh, &keep);
    if (time > 1)
        k->gemm(true, false, rows, hidden, (time - 1) * batch, gates, rows, before, width, keep, grad,
                hidden);
    else if (keep == 0)
        memset(grad, 0, tensor_count(l->weight_hh) * sizeof *grad);
    // Both biases are added to the same sums.
    float *sums = arena_floats(&g->temporaries, rows);
    k->sum_columns(time * batch, rows, s->gates, rows, 0, sums);
    grad = graph_grad(g, l->bias_ih, &keep);
    k->scale(rows, 1, sums, keep, grad);
    grad = graph_grad(g, l->bias_hh, &keep);
    k->scale(rows, 1, sums, keep, grad);
    if (s->x->wants_grad) {
        grad = graph_grad(g, s->x, &keep);
        k->gemm(false, false, time * batch, in, rows, s->gates, rows, l->weight_ih->data, in, keep, grad, in);
    }
}

static void forward(struct graph *g, struct tensor *x, struct tensor *y, const struct lstm *l,
                    const int *lengths, int direction)
{
    const struct kernels *k = g->k;
    int time = x->shape[0], batch = x->shape[1], in = x->shape[2], width = y->shape[2];
    int hidden = l->weight_hh->shape[1], rows = 4 * hidden, later = direction ? -1 : 1;
    size_t gate_step = (size_t)batch * rows, cell_step = (size_t)batch * hidden,
           out_step = (size_t)batch * width;
    struct lstm_context s = {.x = x, .y = y, .l = l, .lengths = lengths, .direction = direction};
    s.gates = arena_floats(&g->temporaries, time * gate_step);
    s.c = arena_floats(&g->temporaries, time * cell_step);
    s.squashed = arena_floats(&g->temporaries, time * cell_step);
    float *h = y->data + direction * hidden, *bias = arena_floats(&g->temporaries, rows);

    k->add(rows, l->bias_ih->data, l->bias_hh->data, bias);
    k->fill_rows(time * batch, rows, bias, s.gates);
    k->gemm(false, true, time * batch, rows, in, x->data, in, l->weight_ih->data, in, 1, s.gates, rows);
    for (int n = 0; n < time; n++) {
        int t = direction ? time - 1 - n : n;
        float *gates = s.gates + t * gate_step;
        if (n)
            k->gemm(false, true, batch, rows, hidden, h + (t - later) * out_step, width, l->weight_hh->data,
                    hidden, 1, gates, rows);
        k->lstm_cell(batch, hidden, t, lengths, gates, n ? s.c + (t - later) * cell_step : NULL,
                     s.c + t * cell_step, s.squashed + t * cell_step, h + t * out_step, width);
    }
    graph_record(g, y, back, graph_context(g, &s, sizeof s));
}

struct tensor *lstm_forward(const struct lstm_stack *s, struct graph *g, struct tensor *x, const int *lengths)
{
    if (x->rank != 3 || x->shape[2] != s->part[0][0].weight_ih->shape[1])
        nn_die("lstm: needs [time,batch,%d]", s->part[0][0].weight_ih->shape[1]);
    for (int b = 0; lengths && b < x->shape[1]; b++)
        if (lengths[b] < 1 || lengths[b] > x->shape[0])
            nn_die("lstm: length %d of %d steps", lengths[b], x->shape[0]);
    for (int i = 0; i < s->layers; i++) {
        struct tensor *y =
            graph_result(g, 3, (int[]){x->shape[0], x->shape[1], (1 + s->both_ways) * s->hidden},
                         s->part[i][0].weight_ih, NULL);
        for (int d = 0; d <= s->both_ways; d++)
            forward(g, x, y, &s->part[i][d], lengths, d);
        x = y;
    }
    return x;
}
