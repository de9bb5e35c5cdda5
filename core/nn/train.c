// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "train.h"

#include <math.h>
#include <string.h>

#include "checkpoint.h"
#include "core/base/clock.h"

struct run {
    const struct training *t;
    struct params *p;
    struct optimizer *o;
    struct graph *g;
    struct graph scoring; // for evaluate
    struct checkpoint at;
    float *best;
    struct progress progress;
    struct error *error;
};

static bool save(struct run *r)
{
    return !r->t->checkpoint || checkpoint_write(r->t, r->g->seed, &r->at, r->p, r->o, r->best, r->error);
}

static bool one_step(struct run *r)
{
    const struct training *t = r->t;
    uint64_t step = r->at.step, total = t->epochs * t->steps;
    graph_begin(r->g, step);
    params_clear_grad(r->p);
    struct tensor *loss = t->loss(t->context, r->g, step / t->steps, step);
    if (!isfinite(loss->data[0]))
        return error_set(r->error, "training: the loss of step %llu is %f; a smaller rate than %g may help",
                         (unsigned long long)step, (double)loss->data[0], (double)t->rate);
    graph_backward(r->g, loss);
    if (!optimizer_step(r->o, r->p, r->g->k, cosine_rate(t->rate, t->floor, t->warmup, total, step)))
        return error_set(r->error,
                         "training: the gradient of step %llu is not finite; a smaller rate than %g may help",
                         (unsigned long long)step, (double)t->rate);
    r->at.loss_sum += loss->data[0];
    r->at.step++;
    if (t->report) {
        char note[100];
        int n = snprintf(note, sizeof note, "epoch %llu of %llu, loss %.5g",
                         (unsigned long long)(step / t->steps + 1), (unsigned long long)t->epochs,
                         r->at.loss_sum / (double)(step % t->steps + 1));
        if (r->at.best_epoch)
            snprintf(note + n, sizeof note - n, ", best %.5g", r->at.best);
        progress_update(&r->progress, r->at.step, note);
    }
    return true;
}

static bool finish_epoch(struct run *r)
{
    const struct training *t = r->t;
    uint64_t epoch = r->at.step / t->steps;
    double score = r->at.loss_sum / (double)t->steps;
    if (t->evaluate) {
        graph_begin(&r->scoring, 0);
        score = t->evaluate(t->context, &r->scoring);
    }
    if (isnan(score))
        return error_set(r->error, "training: the score of epoch %llu is not a number",
                         (unsigned long long)epoch);
    if (score < r->at.best || !r->at.best_epoch) {
        r->at.best = score;
        r->at.best_epoch = epoch;
        memcpy(r->best, r->p->data, r->p->count * sizeof *r->best);
    }
    r->at.loss_sum = 0;
    return epoch == t->epochs || !t->checkpoint_epochs || epoch % t->checkpoint_epochs != 0 || save(r);
}

static enum training_end run(struct run *r)
{
    const struct training *t = r->t;
    while (r->at.step < t->epochs * t->steps) {
        if (interrupt_noted())
            return save(r) ? TRAINING_INTERRUPTED : TRAINING_FAILED;
        if (!one_step(r) || (r->at.step % t->steps == 0 && !finish_epoch(r)))
            return TRAINING_FAILED;
    }
    return TRAINING_DONE;
}

enum training_end train(const struct training *t, struct params *p, struct optimizer *o, struct graph *g,
                        struct training_result *result, struct error *error)
{
    double started = clock_seconds();
    struct run r = {.t = t, .p = p, .o = o, .g = g, .at.best = INFINITY, .error = error};
    struct arena arena;
    arena_create(&arena, p->count * sizeof *r.best + 4096);
    r.best = arena_floats(&arena, p->count);
    memcpy(r.best, p->data, p->count * sizeof *r.best);
    graph_create(&r.scoring, g->k, false, g->seed);
    enum training_end end = TRAINING_FAILED;
    bool resume = t->checkpoint && checkpoint_exists(t->checkpoint);
    if (!resume || checkpoint_read(t, g->seed, &r.at, p, o, r.best, error)) {
        if (t->report) {
            progress_begin(&r.progress, t->report, "training", "steps", t->epochs * t->steps, r.at.step);
            if (resume)
                progress_say(&r.progress, "training goes on at step %llu from %s.json",
                             (unsigned long long)r.at.step, t->checkpoint);
        }
        end = run(&r);
        if (t->report)
            progress_end(&r.progress);
    }
    if (end != TRAINING_FAILED && r.at.best_epoch)
        memcpy(p->data, r.best, p->count * sizeof *r.best);
    if (end == TRAINING_DONE && t->checkpoint)
        checkpoint_remove(t->checkpoint);
    *result =
        (struct training_result){r.at.step / t->steps, r.at.best_epoch, r.at.best, clock_seconds() - started};
    graph_destroy(&r.scoring);
    arena_destroy(&arena);
    return end;
}
