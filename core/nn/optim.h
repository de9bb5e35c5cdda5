// SPDX-License-Identifier: MIT
// Adam and AdamW over all parameters of a model, gradient clipping, and the cosine schedule.
#ifndef NN_OPTIM_H
#define NN_OPTIM_H

#include "layers.h"

struct optimizer {
    float beta1, beta2, epsilon;
    float decay;
    bool decoupled; // AdamW: decay is taken off the values, not added to the gradient
    float clip; // greatest norm of the gradient over all parameters; 0: no limit
    uint64_t step; // steps done
    float *m, *v; // [count] running means of the gradient and its square
    double norm; // of the last gradient, before clipping
    struct arena arena;
};

// beta 0.9 and 0.999, epsilon 1e-8. All parameters have been created.
void optimizer_create(struct optimizer *o, const struct params *p, bool decoupled, float decay, float clip);
void optimizer_destroy(struct optimizer *o);

// One step at that rate. A tensor without a gradient takes part with gradient 0.
// False, with nothing changed, if the norm of the gradient is not finite.
bool optimizer_step(struct optimizer *o, struct params *p, const struct kernels *k, float rate);

// Linear up to rate over the first warmup steps, then half a cosine down to floor at step total; floor
// from there on.
float cosine_rate(float rate, float floor, uint64_t warmup, uint64_t total, uint64_t step);

#endif
