// SPDX-License-Identifier: MIT
// Fine-tunes the loop nets for what a machine has run. FOLDER/online.loops holds proposals that the checker
// confirmed or refuted, with the class that it found (core/loops/propose/online_log.h); the rest of their
// labels is read off the code. Only the heads learn, on those loops and, so that nothing is forgotten, as
// many that are shipped; a net that comes out worse in any figure on the loops that are shipped as test data
// is dropped. The three nets then stand in FOLDER, tuned or as shipped.
#include "loop_train.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/nn/train.h"
#include "frontend/base/host.h"
#include "loop_label.h"

enum { HALF = 32, BATCH = 2 * HALF, STEPS = 400 };
enum {
    ATTENDED = 256,
    REGISTERS = 128,
    WIDTH = ATTENDED + REGISTERS + RECOGNIZER_EMBEDDING + PREDICTOR_NUMBERS
};

struct tuner {
    struct loop_models models;
    const struct loop_sample **samples; // the logged ones, then shipped ones
    unsigned logged, count;
    const struct loop_sample **tests;
    unsigned test_count;
    float *seen; // WIDTH of each: what the heads see
    float attended[BATCH][ATTENDED], registers[BATCH][REGISTERS];
    float embedding[BATCH][RECOGNIZER_EMBEDDING], numbers[BATCH][PREDICTOR_NUMBERS];
    int types[BATCH], counters[BATCH], classes[BATCH];
    float trips[BATCH], log10_trips[BATCH], weight[BATCH];
};

static void look_at_all(struct tuner *t)
{
    struct graph g;
    graph_create(&g, &nn_kernels_fast, false, 0);
    for (unsigned i = 0; i < t->count; i++) {
        const struct loop_body *body = &t->samples[i]->body;
        float *to = t->seen + (size_t)i * WIDTH;
        graph_begin(&g, 0);
        struct detector_trunk trunk = detector_look(&t->models.detector, &g, &body, 1, 0);
        struct tensor *embedding = recognizer_look(&t->models.recognizer, &g, &body, 1, 0);
        struct detector_output out = detector_decide(&t->models.detector, &g, trunk);
        memcpy(to, trunk.attended->data, ATTENDED * sizeof *to);
        memcpy(to + ATTENDED, trunk.registers->data, REGISTERS * sizeof *to);
        to += ATTENDED + REGISTERS;
        memcpy(to, embedding->data, RECOGNIZER_EMBEDDING * sizeof *to);
        unsigned counter = detector_register(body, (unsigned)tensor_best(out.counter, 0));
        predictor_numbers(body, counter, to + RECOGNIZER_EMBEDDING);
    }
    graph_destroy(&g);
}

static void take(struct tuner *t, unsigned row, unsigned i)
{
    const struct loop_sample *s = t->samples[i];
    const float *from = t->seen + (size_t)i * WIDTH;
    memcpy(t->attended[row], from, sizeof t->attended[row]);
    memcpy(t->registers[row], from + ATTENDED, sizeof t->registers[row]);
    from += ATTENDED + REGISTERS;
    memcpy(t->embedding[row], from, sizeof t->embedding[row]);
    memcpy(t->numbers[row], from + RECOGNIZER_EMBEDDING, sizeof t->numbers[row]);
    t->types[row] = (int)s->type;
    t->counters[row] = (int)detector_number(&s->body, s->counter);
    t->classes[row] = (int)s->class;
    t->trips[row] = loop_has_trips(s) ? loop_log2_trips(s) : 0;
    t->log10_trips[row] = t->trips[row] * LOG10_2;
    t->weight[row] = loop_trips_weight(s);
}

static struct tensor *loss_of(struct tuner *t, struct graph *g, enum loop_net net)
{
    if (net == NET_DETECTOR) {
        struct detector_trunk trunk = {nn_input(g, t->attended[0], 3, (int[]){1, BATCH, ATTENDED}),
                                       nn_input(g, t->registers[0], 3, (int[]){1, BATCH, REGISTERS})};
        struct detector_output out = detector_decide(&t->models.detector, g, trunk);
        return nn_add(g, nn_huber(g, out.trips, t->log10_trips, t->weight, 0.3f),
                      nn_add(g, nn_cross_entropy(g, out.type, t->types, NULL),
                             nn_cross_entropy(g, out.counter, t->counters, NULL)));
    }
    struct tensor *embedding = nn_input(g, t->embedding[0], 2, (int[]){BATCH, RECOGNIZER_EMBEDDING});
    if (net == NET_PREDICTOR)
        return nn_huber(g, predictor_forward(&t->models.predictor, g, embedding, t->numbers[0]), t->trips,
                        t->weight, 0.5f);
    const struct pattern_recognizer *m = &t->models.recognizer;
    struct tensor *class = recognizer_class(m, g, embedding);
    return nn_add(g, nn_cross_entropy(g, class, t->classes, NULL),
                  recognizer_confidence_loss(g, recognizer_confidence(m, g, embedding), class, t->classes));
}

static void tune(struct tuner *t, enum loop_net net, uint64_t seed)
{
    struct params *p = loop_net_params(&t->models, net);
    struct graph g;
    struct optimizer o;
    struct rng random = {rng_mix(seed + net)};
    graph_create(&g, &nn_kernels_fast, true, seed);
    optimizer_create(&o, p, false, 0, 1);
    for (uint64_t step = 0; step < STEPS; step++) {
        graph_begin(&g, step);
        params_clear_grad(p);
        for (unsigned i = 0; i < HALF; i++) {
            take(t, i, rng_below(&random, t->logged));
            take(t, HALF + i, t->logged + rng_below(&random, t->count - t->logged));
        }
        graph_backward(&g, loss_of(t, &g, net));
        if (!optimizer_step(&o, p, g.k, cosine_rate(3e-4f, 1e-6f, 20, STEPS, step)))
            break;
    }
    loop_net_round(p);
    optimizer_destroy(&o);
    graph_destroy(&g);
}

static bool not_worse(const struct loop_score *tuned, const struct loop_score *shipped, enum loop_net net)
{
    switch (net) {
    case NET_DETECTOR:
        return tuned->type >= shipped->type && tuned->counter >= shipped->counter &&
               tuned->detector_trips >= shipped->detector_trips;
    case NET_RECOGNIZER: return tuned->class >= shipped->class;
    default: return tuned->trips >= shipped->trips;
    }
}

static void score(struct tuner *t, enum loop_net net, const struct loop_sample *const *samples,
                  unsigned count, struct loop_score *score)
{
    struct loop_guess *guesses = malloc((count + 1) * sizeof *guesses);
    if (!guesses)
        nn_die("no memory for %u answers", count);
    loop_guess_all(&t->models, net, samples, count, guesses);
    loop_score(samples, guesses, count, score);
    free(guesses);
}

// The hash of the shipped net's file, by which the core knows what a tuned one was made from.
static void add_origin(cJSON *metrics, const char *name, const struct tool_options *options)
{
    char base[1000], path[1024];
    struct error error;
    snprintf(path, sizeof path, "%s.json", tool_path(base, sizeof base, options->folder, name));
    cJSON *shipped = json_read(path, &error);
    const char *hash = cJSON_GetStringValue(cJSON_GetObjectItem(shipped, "sha256"));
    cJSON_AddStringToObject(metrics, "shipped_sha256", hash ? hash : "");
    cJSON_Delete(shipped);
}

// Tunes one net, keeps or drops the result, and writes it.
static bool tune_net(struct tuner *t, enum loop_net net, const struct tool_options *options,
                     struct error *error)
{
    struct params *p = loop_net_params(&t->models, net);
    float *shipped = malloc(p->count * sizeof *shipped);
    if (!shipped)
        nn_die("no memory for %zu parameters", p->count);
    memcpy(shipped, p->data, p->count * sizeof *shipped);
    struct loop_score before[2], after[2];
    score(t, net, t->tests, t->test_count, &before[0]);
    score(t, net, t->samples, t->logged, &before[1]);
    tune(t, net, options->seed);
    score(t, net, t->tests, t->test_count, &after[0]);
    score(t, net, t->samples, t->logged, &after[1]);
    bool kept = not_worse(&after[0], &before[0], net);
    if (!kept)
        memcpy(p->data, shipped, p->count * sizeof *shipped);
    free(shipped);

    cJSON *metrics = cJSON_CreateObject();
    cJSON_AddBoolToObject(metrics, "tuned", kept);
    add_origin(metrics, loop_net_infos[net].name, options);
    cJSON_AddItemToObject(metrics, "test_as_shipped", loop_score_json(&before[0], net));
    cJSON_AddItemToObject(metrics, "test_tuned", loop_score_json(&after[0], net));
    cJSON_AddItemToObject(metrics, "online_as_shipped", loop_score_json(&before[1], net));
    cJSON_AddItemToObject(metrics, "online_tuned", loop_score_json(&after[1], net));
    char base[1024];
    const char *name = loop_net_infos[net].name;
    struct model_info info = {.name = name,
                              .architecture = loop_net_infos[net].architecture,
                              .data = "the shipped net; heads tuned with online.loops",
                              .split = loop_split,
                              .seed = options->seed,
                              .half = true,
                              .commit = host_git,
                              .metrics = metrics};
    char *text = cJSON_PrintUnformatted(metrics);
    printf("%s: %s\n", name, text);
    cJSON_free(text);
    bool saved = model_save(tool_path(base, sizeof base, options->online, name), p, &info, error);
    cJSON_Delete(metrics);
    return saved;
}

// Completes the labels, and drops loops whose code does not bear them out.
static void label_logged(struct loop_data *logged)
{
    size_t kept = 0;
    for (size_t i = 0; i < logged->count; i++) {
        struct loop_sample *s = &logged->samples[i];
        struct loop_guess read;
        if (loop_label(s, s->body.pc, s->body.words, s->body.length) != LABEL_GOOD)
            continue;
        loop_rule(&s->body, &read);
        s->trips_count = s->counted && read.counter < 31;
        s->trips[0] = (uint64_t)exp2f(read.predicted_trips);
        logged->samples[kept++] = *s;
    }
    logged->count = kept;
}

static bool tune_all(struct tuner *t, const struct loop_data *logged, const struct loop_set *shipped,
                     const struct tool_options *options, struct error *error)
{
    t->logged = (unsigned)logged->count;
    t->count = t->logged + shipped->count[LOOP_TRAIN];
    t->test_count = shipped->count[LOOP_TEST] + shipped->count[LOOP_REAL];
    if (t->logged == 0 || t->count == t->logged || t->test_count == 0)
        return error_set(error, "nothing to learn from: %u loops logged, %u to train on and %u to test with",
                         t->logged, shipped->count[LOOP_TRAIN], t->test_count);
    t->samples = malloc(t->count * sizeof *t->samples);
    t->tests = malloc(t->test_count * sizeof *t->tests);
    t->seen = malloc((size_t)t->count * WIDTH * sizeof *t->seen);
    if (!t->samples || !t->tests || !t->seen)
        nn_die("no memory for %u loops", t->count);
    for (unsigned i = 0; i < t->logged; i++)
        t->samples[i] = &logged->samples[i];
    memcpy(t->samples + t->logged, shipped->part[LOOP_TRAIN], (t->count - t->logged) * sizeof *t->samples);
    memcpy(t->tests, shipped->part[LOOP_TEST], shipped->count[LOOP_TEST] * sizeof *t->tests);
    memcpy(t->tests + shipped->count[LOOP_TEST], shipped->part[LOOP_REAL],
           shipped->count[LOOP_REAL] * sizeof *t->tests);
    look_at_all(t);
    for (enum loop_net n = 0; n < LOOP_NETS; n++)
        if (!tune_net(t, n, options, error))
            return false;
    return true;
}

int loops_train_online(const struct tool_options *options)
{
    static const char *const shipped_names[] = {"loops-seed.txt", "loops-doom.txt", "loops-programs.txt"};
    enum { SHIPPED = sizeof shipped_names / sizeof shipped_names[0] };
    struct error error;
    static struct tuner t;
    struct loop_data logged = {0};
    struct loop_set shipped;
    char path[1024], paths[SHIPPED][1024], *files[SHIPPED];
    for (unsigned i = 0; i < SHIPPED; i++) {
        tool_path(paths[i], sizeof paths[i], options->data, shipped_names[i]);
        files[i] = paths[i];
    }
    if (!nn_blas_load(&error) ||
        !loop_data_read(tool_path(path, sizeof path, options->online, "online.loops"), &logged, &error))
        return tool_fail(&error);
    loop_data_deduplicate(&logged);
    label_logged(&logged);
    bool good = loop_set_read(&shipped, files, SHIPPED, &error);
    if (good) {
        loop_models_create(&t.models, 0);
        for (enum loop_net n = 0; n < LOOP_NETS && good; n++)
            good = loop_models_load(&t.models, n, options->folder, &error);
        good = good && tune_all(&t, &logged, &shipped, options, &error);
        loop_models_destroy(&t.models);
        loop_set_free(&shipped);
    }
    free(t.samples);
    free(t.tests);
    free(t.seen);
    loop_data_free(&logged);
    return good ? 0 : tool_fail(&error);
}
