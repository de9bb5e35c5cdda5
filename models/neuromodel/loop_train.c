// SPDX-License-Identifier: MIT
// Trains the three loop nets: detector and recognizer on loops in ever other forms, the predictor on what the
// two trained nets say of each loop.
#include "loop_train.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/host.h"
#include "tool_train.h"

enum { BATCH = 64, WINDOW = 16 * BATCH, SEED = 1 };

static const struct recipe {
    uint64_t epochs;
    float rate, floor, decay, drop;
    const char *data;
} recipes[LOOP_NETS] = {
    [NET_DETECTOR] = {18, 1e-3f, 1e-5f, 0.01f, 0.1f,
                      "neuromodel generate loops, library-loops; 3 of 4 samples varied (loop_vary.c)"},
    [NET_RECOGNIZER] = {26, 1e-3f, 1e-5f, 0.01f, 0.2f,
                        "neuromodel generate loops, library-loops; 3 of 4 samples varied (loop_vary.c)"},
    [NET_PREDICTOR] = {200, 2e-3f, 1e-5f, 0, 0,
                       "neuromodel generate loops, library-loops; with the recognizer's embedding and the "
                       "detector's counter"},
};

enum { INPUTS = RECOGNIZER_EMBEDDING + PREDICTOR_NUMBERS };

struct trainer {
    enum loop_net net;
    const struct recipe *recipe;
    struct loop_models models;
    const struct loop_set *set;
    uint64_t seed, steps; // steps: of an epoch
    float class_weight[LOOP_CLASSES], type_weight[LOOP_TYPES];
    uint64_t planned; // the epoch of order, counted from 1
    uint32_t *order, *batches; // of the training samples, and of the batches in order
    struct loop_sample batch[BATCH];
    int types[BATCH], counters[BATCH], classes[BATCH];
    float trips[BATCH], weight[BATCH], by_type[BATCH];
    float embedding[BATCH][RECOGNIZER_EMBEDDING], numbers[BATCH][PREDICTOR_NUMBERS];
    float *known[LOOP_PARTS]; // predictor: INPUTS of each sample
    struct loop_guess *guesses; // of validation
};

// ---- batches ----

// A batch takes as long as its longest body wants, so within a window of many batches like goes with like.
static void plan_epoch(struct trainer *t, uint64_t epoch)
{
    if (t->planned == epoch + 1)
        return;
    t->planned = epoch + 1;
    uint32_t count = t->set->count[LOOP_TRAIN], window[WINDOW];
    rng_permutation(t->seed, epoch, count, t->order);
    for (uint32_t at = 0; at < count; at += WINDOW) {
        uint32_t n = count - at < WINDOW ? count - at : WINDOW, put = at;
        memcpy(window, t->order + at, n * sizeof *window);
        for (uint32_t length = 1; length <= LOOP_BODY_MAX; length++)
            for (uint32_t i = 0; i < n; i++)
                if (t->set->part[LOOP_TRAIN][window[i]]->body.length == length)
                    t->order[put++] = window[i];
    }
    rng_permutation(~t->seed, epoch, (uint32_t)t->steps, t->batches);
}

static const uint32_t *batch_order(struct trainer *t, uint64_t epoch, uint64_t step)
{
    plan_epoch(t, epoch);
    return t->order + (size_t)t->batches[step % t->steps] * BATCH;
}

// What is rare weighs more, by the root of how rare it is.
static void weigh(const unsigned *count, unsigned kinds, float *weight)
{
    unsigned n = 0;
    for (unsigned k = 0; k < kinds; k++)
        n += count[k];
    for (unsigned k = 0; k < kinds; k++) {
        float share = (float)count[k] * (float)kinds / (float)n;
        weight[k] = count[k] ? fminf(fmaxf(1 / sqrtf(share), 0.5f), 3) : 1;
    }
}

static void weigh_all(struct trainer *t)
{
    unsigned classes[LOOP_CLASSES] = {0}, types[LOOP_TYPES] = {0};
    for (unsigned i = 0; i < t->set->count[LOOP_TRAIN]; i++) {
        classes[t->set->part[LOOP_TRAIN][i]->class]++;
        types[t->set->part[LOOP_TRAIN][i]->type]++;
    }
    weigh(classes, LOOP_CLASSES, t->class_weight);
    weigh(types, LOOP_TYPES, t->type_weight);
}

// ---- losses ----

static struct tensor *sum(struct graph *g, struct tensor *a, float share, struct tensor *b)
{
    return nn_add(g, a, nn_scale(g, b, share));
}

static struct tensor *detector_loss(struct trainer *t, struct graph *g, const struct loop_body *const *bodies)
{
    const struct loop_detector *m = &t->models.detector;
    for (int i = 0; i < BATCH; i++) {
        const struct loop_sample *s = &t->batch[i];
        t->types[i] = (int)s->type;
        t->counters[i] = (int)detector_number(&s->body, s->counter);
        t->trips[i] = loop_has_trips(s) ? loop_log2_trips(s) * LOG10_2 : 0;
        t->weight[i] = loop_trips_weight(s);
        t->by_type[i] = t->type_weight[s->type];
    }
    struct detector_output out = detector_decide(m, g, detector_look(m, g, bodies, BATCH, t->recipe->drop));
    struct tensor *loss = nn_add(g, nn_cross_entropy(g, out.type, t->types, t->by_type),
                                 nn_cross_entropy(g, out.counter, t->counters, NULL));
    return sum(g, loss, 0.3f, nn_huber(g, out.trips, t->trips, t->weight, 0.3f));
}

static struct tensor *recognizer_loss(struct trainer *t, struct graph *g,
                                      const struct loop_body *const *bodies)
{
    const struct pattern_recognizer *m = &t->models.recognizer;
    for (int i = 0; i < BATCH; i++) {
        t->classes[i] = (int)t->batch[i].class;
        t->weight[i] = t->class_weight[t->classes[i]];
    }
    struct tensor *embedding = recognizer_look(m, g, bodies, BATCH, t->recipe->drop);
    struct tensor *class = recognizer_class(m, g, embedding);
    struct tensor *confidence = recognizer_confidence(m, g, embedding);
    return sum(g, nn_cross_entropy(g, class, t->classes, t->weight), 0.1f,
               recognizer_confidence_loss(g, confidence, class, t->classes));
}

static struct tensor *bodies_loss(void *context, struct graph *g, uint64_t epoch, uint64_t step)
{
    struct trainer *t = context;
    const struct loop_body *bodies[BATCH];
    const uint32_t *order = batch_order(t, epoch, step);
    struct rng random = {rng_mix(t->seed) + rng_mix(step + 1)};
    for (int i = 0; i < BATCH; i++) {
        t->batch[i] = *t->set->part[LOOP_TRAIN][order[i]];
        if (rng_below(&random, 4))
            loop_vary(&t->batch[i], t->net == NET_DETECTOR, &random);
        bodies[i] = &t->batch[i].body;
    }
    return t->net == NET_DETECTOR ? detector_loss(t, g, bodies) : recognizer_loss(t, g, bodies);
}

// A loop whose comparison tells its trips may as well be entered with another limit, and goes round
// accordingly; then it does not matter much which loop it is.
static bool enter_otherwise(float numbers[PREDICTOR_NUMBERS], float *trips, struct rng *random)
{
    float step = exp2f(64 * numbers[0]) - 1, distance = exp2f(64 * numbers[1]) - 1;
    if (step < 1 || distance < 1 || fabsf(log2f(distance / step) - *trips) > 0.2f)
        return false;
    *trips = log2f(floorf(exp2f(20 * rng_uniform(random))));
    numbers[1] = log2f(step * exp2f(*trips) + 1) / 64;
    return true;
}

static struct tensor *predictor_loss(void *context, struct graph *g, uint64_t epoch, uint64_t step)
{
    struct trainer *t = context;
    const uint32_t *order = batch_order(t, epoch, step);
    struct rng random = {rng_mix(t->seed) + rng_mix(step + 1)};
    for (int i = 0; i < BATCH; i++) {
        const struct loop_sample *s = t->set->part[LOOP_TRAIN][order[i]];
        const float *from = t->known[LOOP_TRAIN] + (size_t)order[i] * INPUTS;
        memcpy(t->embedding[i], from, sizeof t->embedding[i]);
        memcpy(t->numbers[i], from + RECOGNIZER_EMBEDDING, sizeof t->numbers[i]);
        t->weight[i] = loop_trips_weight(s);
        t->trips[i] = loop_has_trips(s) ? loop_log2_trips(s) : 0;
        if (s->counted && loop_has_trips(s) && rng_below(&random, 4) &&
            enter_otherwise(t->numbers[i], &t->trips[i], &random) && rng_below(&random, 2)) {
            from = t->known[LOOP_TRAIN] + (size_t)rng_below(&random, t->set->count[LOOP_TRAIN]) * INPUTS;
            memcpy(t->embedding[i], from, sizeof t->embedding[i]);
        }
    }
    struct tensor *x = nn_input(g, t->embedding[0], 2, (int[]){BATCH, RECOGNIZER_EMBEDDING});
    x = nn_dropout(g, x, t->recipe->drop);
    x = predictor_forward(&t->models.predictor, g, x, t->numbers[0]);
    return nn_huber(g, x, t->trips, t->weight, 0.5f);
}

// ---- validation ----

static double wrong_share(unsigned right, unsigned n)
{
    return n ? 1 - (double)right / n : 0;
}

static double evaluate_bodies(void *context, struct graph *g)
{
    (void)g;
    struct trainer *t = context;
    struct loop_score s;
    const struct loop_sample *const *samples = t->set->part[LOOP_VALIDATION];
    unsigned count = t->set->count[LOOP_VALIDATION];
    loop_guess_all(&t->models, t->net, samples, count, t->guesses);
    loop_score(samples, t->guesses, count, &s);
    if (t->net == NET_RECOGNIZER)
        return wrong_share(s.class, s.n);
    return wrong_share(s.type, s.n) + wrong_share(s.counter, s.n) +
           0.1 * wrong_share(s.detector_trips, s.entries);
}

static double evaluate_predictor(void *context, struct graph *g)
{
    struct trainer *t = context;
    struct loop_score s;
    const struct loop_sample *const *samples = t->set->part[LOOP_VALIDATION];
    unsigned count = t->set->count[LOOP_VALIDATION];
    float *embedding = arena_floats(&g->temporaries, (size_t)count * RECOGNIZER_EMBEDDING);
    float *numbers = arena_floats(&g->temporaries, (size_t)count * PREDICTOR_NUMBERS);
    for (unsigned i = 0; i < count; i++) {
        const float *from = t->known[LOOP_VALIDATION] + (size_t)i * INPUTS;
        memcpy(embedding + i * RECOGNIZER_EMBEDDING, from, RECOGNIZER_EMBEDDING * sizeof *from);
        memcpy(numbers + i * PREDICTOR_NUMBERS, from + RECOGNIZER_EMBEDDING,
               PREDICTOR_NUMBERS * sizeof *from);
    }
    struct tensor *x = nn_input(g, embedding, 2, (int[]){(int)count, RECOGNIZER_EMBEDDING});
    struct tensor *trips = predictor_forward(&t->models.predictor, g, x, numbers);
    double error = 0;
    for (unsigned i = 0; i < count; i++) {
        t->guesses[i].predicted_trips = fmaxf(trips->data[i], 0);
        if (samples[i]->counted && loop_has_trips(samples[i]))
            error += fabs(trips->data[i] - loop_log2_trips(samples[i]));
    }
    loop_score(samples, t->guesses, count, &s);
    return wrong_share(s.trips, s.entries) + 0.01 * error / (s.entries + 1);
}

// What the two other nets say of each sample, once and for all.
static bool ask_other_nets(struct trainer *t, const char *folder, struct error *error)
{
    if (!loop_models_load(&t->models, NET_DETECTOR, folder, error) ||
        !loop_models_load(&t->models, NET_RECOGNIZER, folder, error))
        return false;
    struct graph g;
    graph_create(&g, &nn_kernels_fast, false, 0);
    for (unsigned p = LOOP_TRAIN; p <= LOOP_VALIDATION; p++) {
        t->known[p] = malloc(((size_t)t->set->count[p] + 1) * INPUTS * sizeof(float));
        if (!t->known[p])
            nn_die("no memory for %u samples", t->set->count[p]);
        for (unsigned i = 0; i < t->set->count[p]; i++) {
            const struct loop_body *body = &t->set->part[p][i]->body;
            struct loop_guess guess, *to = &guess;
            float *at = t->known[p] + (size_t)i * INPUTS;
            graph_begin(&g, 0);
            detector_guess(&t->models.detector, &g, &body, 1, &to);
            struct tensor *embedding = recognizer_guess(&t->models.recognizer, &g, &body, 1, &to);
            memcpy(at, embedding->data, RECOGNIZER_EMBEDDING * sizeof *at);
            predictor_numbers(body, guess.counter, at + RECOGNIZER_EMBEDDING);
        }
    }
    graph_destroy(&g);
    return true;
}

// Loops that were trained on would teach the confidence that the class is always right. So in the end its
// head learns from those of the validation, with everything else as it is.
static void learn_confidence(struct trainer *t)
{
    enum { STEPS = 400 };
    const struct pattern_recognizer *m = &t->models.recognizer;
    int rows = (int)t->set->count[LOOP_VALIDATION];
    float *embeddings = malloc((size_t)rows * RECOGNIZER_EMBEDDING * sizeof *embeddings);
    int *classes = malloc(rows * sizeof *classes);
    if (!embeddings || !classes)
        nn_die("no memory for %d embeddings", rows);
    struct graph g;
    graph_create(&g, &nn_kernels_fast, false, t->seed);
    for (int i = 0; i < rows; i++) {
        const struct loop_sample *s = t->set->part[LOOP_VALIDATION][i];
        const struct loop_body *body = &s->body;
        graph_begin(&g, 0);
        memcpy(embeddings + (size_t)i * RECOGNIZER_EMBEDDING, recognizer_look(m, &g, &body, 1, 0)->data,
               RECOGNIZER_EMBEDDING * sizeof(float));
        classes[i] = (int)s->class;
    }
    graph_destroy(&g);
    struct params *p = &t->models.recognizer.params;
    struct optimizer o;
    graph_create(&g, &nn_kernels_fast, true, t->seed);
    optimizer_create(&o, p, false, 0, 1);
    for (uint64_t step = 0; step < STEPS; step++) {
        graph_begin(&g, step);
        params_clear_grad(p);
        struct tensor *x = nn_input(&g, embeddings, 2, (int[]){rows, RECOGNIZER_EMBEDDING});
        struct tensor *confidence = recognizer_confidence(m, &g, nn_dropout(&g, x, t->recipe->drop));
        graph_backward(&g, recognizer_confidence_loss(&g, confidence, recognizer_class(m, &g, x), classes));
        optimizer_step(&o, p, g.k, cosine_rate(1e-3f, 1e-5f, 0, STEPS, step));
    }
    optimizer_destroy(&o);
    graph_destroy(&g);
    free(embeddings);
    free(classes);
}

// ---- the command ----

static bool save(void *context, const char *base, const struct training_result *result, struct error *error)
{
    struct trainer *t = context;
    char text[256];
    struct params *p = loop_net_params(&t->models, t->net);
    if (t->net == NET_RECOGNIZER)
        learn_confidence(t);
    loop_net_round(p);
    cJSON *metrics = cJSON_CreateObject();
    cJSON_AddNumberToObject(metrics, "best_epoch", (double)result->best_epoch);
    for (unsigned part = 0; part < LOOP_PARTS; part++) {
        unsigned count = t->set->count[part];
        struct loop_guess *guesses = malloc((count + 1) * sizeof *guesses);
        if (!guesses)
            nn_die("no memory for %u answers", count);
        struct loop_score score;
        loop_guess_all(&t->models, t->net, t->set->part[part], count, guesses);
        loop_score(t->set->part[part], guesses, count, &score);
        cJSON_AddItemToObject(metrics, loop_part_names[part], loop_score_json(&score, t->net));
        free(guesses);
    }
    snprintf(text, sizeof text, "%s; %zu loops", t->recipe->data, t->set->data.count);
    struct model_info info = {
        .name = loop_net_infos[t->net].name,
        .architecture = loop_net_infos[t->net].architecture,
        .data = text,
        .split = loop_split,
        .seed = t->seed,
        .half = true,
        .commit = host_git,
        .metrics = metrics,
    };
    bool saved = model_save(base, p, &info, error);
    char *shown = cJSON_PrintUnformatted(metrics);
    if (saved)
        printf("%s: %s\n", base, shown);
    cJSON_free(shown);
    cJSON_Delete(metrics);
    return saved;
}

static bool train_net(struct trainer *t, const struct tool_options *options, struct error *error)
{
    if (t->set->count[LOOP_TRAIN] < BATCH || t->set->count[LOOP_VALIDATION] == 0)
        return error_set(error, "%u loops to train on and %u to validate: too few (at least %d and 1)",
                         t->set->count[LOOP_TRAIN], t->set->count[LOOP_VALIDATION], BATCH);
    if (t->net == NET_PREDICTOR && !ask_other_nets(t, options->folder, error))
        return false;
    t->steps = t->set->count[LOOP_TRAIN] / BATCH;
    weigh_all(t);
    const struct tool_training training = {
        .name = loop_net_infos[t->net].name,
        .params = loop_net_params(&t->models, t->net),
        .kernels = &nn_kernels_fast,
        .seed = t->seed,
        .decay = t->recipe->decay,
        .training = {.epochs = t->recipe->epochs,
                     .steps = t->steps,
                     .rate = t->recipe->rate,
                     .floor = t->recipe->floor,
                     .warmup = 200,
                     .checkpoint_epochs = 1,
                     .loss = t->net == NET_PREDICTOR ? predictor_loss : bodies_loss,
                     .evaluate = t->net == NET_PREDICTOR ? evaluate_predictor : evaluate_bodies,
                     .context = t},
        .save = save,
    };
    return tool_train(options, &training, error);
}

static int run(enum loop_net net, const struct tool_options *options)
{
    struct error error;
    struct loop_set set;
    static struct trainer t;
    if (!nn_blas_load(&error) || !loop_set_read(&set, options->files, options->file_count, &error))
        return tool_fail(&error);
    t.net = net;
    t.recipe = &recipes[net];
    t.set = &set;
    t.seed = options->seed_given ? options->seed : SEED;
    t.order = malloc((set.count[LOOP_TRAIN] + 1) * sizeof *t.order);
    t.batches = malloc((set.count[LOOP_TRAIN] + 1) * sizeof *t.batches);
    t.guesses = malloc((set.count[LOOP_VALIDATION] + 1) * sizeof *t.guesses);
    loop_models_create(&t.models, t.seed);
    bool good =
        t.order && t.batches && t.guesses ? train_net(&t, options, &error) : error_set(&error, "no memory");
    loop_models_destroy(&t.models);
    free(t.order);
    free(t.batches);
    free(t.guesses);
    for (unsigned p = 0; p < LOOP_PARTS; p++)
        free(t.known[p]);
    loop_set_free(&set);
    return good ? 0 : tool_fail(&error);
}

int detector_train(const struct tool_options *options)
{
    return run(NET_DETECTOR, options);
}

int recognizer_train(const struct tool_options *options)
{
    return run(NET_RECOGNIZER, options);
}

int predictor_train(const struct tool_options *options)
{
    return run(NET_PREDICTOR, options);
}
