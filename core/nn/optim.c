// SPDX-License-Identifier: MIT
#include "optim.h"

#include <math.h>
#include <string.h>

void optimizer_create(struct optimizer *o, const struct params *p, bool decoupled, float decay, float clip)
{
    *o = (struct optimizer){.beta1 = 0.9f,
                            .beta2 = 0.999f,
                            .epsilon = 1e-8f,
                            .decay = decay,
                            .decoupled = decoupled,
                            .clip = clip};
    arena_create(&o->arena, 2 * p->count * sizeof(float) + 4096);
    o->m = arena_floats(&o->arena, p->count);
    o->v = arena_floats(&o->arena, p->count);
    memset(o->m, 0, p->count * sizeof(float));
    memset(o->v, 0, p->count * sizeof(float));
}

void optimizer_destroy(struct optimizer *o)
{
    arena_destroy(&o->arena);
    *o = (struct optimizer){0};
}

bool optimizer_step(struct optimizer *o, struct params *p, const struct kernels *k, float rate)
{
    for (int i = 0; i < p->tensor_count; i++) {
        struct tensor *t = p->tensors[i].tensor;
        if (!t->has_grad)
            memset(t->grad, 0, tensor_count(t) * sizeof(float));
        t->has_grad = true;
    }
    o->norm = sqrt(k->sum_squares(p->count, p->grad));
    if (!isfinite(o->norm))
        return false;
    o->step++;
    struct adam_coefficients c = {
        .rate = rate,
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
        .decay = o->decay,
        .decoupled = o->decoupled,
        .correction1 = (float)(1 - pow(o->beta1, (double)o->step)),
        .correction2 = (float)(1 - pow(o->beta2, (double)o->step)),
        .scale = o->clip > 0 && o->norm > o->clip ? (float)(o->clip / (o->norm + 1e-6)) : 1,
    };
    k->adam(p->count, &c, p->grad, p->data, o->m, o->v);
    return true;
}

float cosine_rate(float rate, float floor, uint64_t warmup, uint64_t total, uint64_t step)
{
    if (step < warmup)
        return rate * (float)(step + 1) / (float)warmup;
    if (step >= total)
        return floor;
    double along = (double)(step - warmup) / (double)(total - warmup);
    return (float)(floor + (rate - floor) * 0.5 * (1 + cos(3.141592653589793 * along)));
}
