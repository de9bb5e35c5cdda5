// SPDX-License-Identifier: MIT
// A loop net beside nobody, its hand rule, the recorded truth, and itself with shuffled weights.
#include "loop_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/loops/propose/loop_code.h"

enum answer { OFF, RULE, NET, ORACLE, SHUFFLED, ANSWERS };
static const char *const answer_names[ANSWERS] = {"off", "rule", "net", "oracle", "shuffled"};

struct answers {
    const struct loop_sample *const *samples;
    unsigned count;
    struct loop_guess *by[ANSWERS];
};

// The net's own weights in another order, within each tensor.
static void shuffle_weights(struct params *p, uint64_t seed)
{
    struct rng random = {seed};
    for (int i = 0; i < p->tensor_count; i++) {
        float *x = p->tensors[i].tensor->data;
        for (uint32_t left = (uint32_t)tensor_count(p->tensors[i].tensor); left > 1; left--) {
            uint32_t other = rng_below(&random, left);
            float kept = x[left - 1];
            x[left - 1] = x[other];
            x[other] = kept;
        }
    }
}

// Nobody is asked: nothing is proposed.
static const struct loop_guess nothing = {.type = LOOP_TYPE_NONE,
                                          .counter = 31,
                                          .detector_trips = -1,
                                          .class = LOOP_NONE,
                                          .predicted_trips = -1e9f};

static void answer_all(struct answers *a, struct loop_models *m, enum loop_net net, uint64_t seed)
{
    for (unsigned w = 0; w < ANSWERS; w++)
        if (!(a->by[w] = malloc((a->count + 1) * sizeof *a->by[w])))
            nn_die("no memory for %u answers", a->count);
    for (unsigned i = 0; i < a->count; i++) {
        const struct loop_sample *s = a->samples[i];
        a->by[OFF][i] = nothing;
        loop_rule(&s->body, &a->by[RULE][i]);
        float trips = loop_has_trips(s) ? loop_log2_trips(s) : 0;
        a->by[ORACLE][i] = (struct loop_guess){.type = s->type,
                                               .counter = s->counter,
                                               .detector_trips = trips * LOG10_2,
                                               .class = s->class,
                                               .confidence = 1,
                                               .predicted_trips = trips};
    }
    loop_guess_all(m, net, a->samples, a->count, a->by[NET]);
    struct params *p = loop_net_params(m, net);
    float *kept = malloc(p->count * sizeof *kept);
    if (!kept)
        nn_die("no memory for %zu parameters", p->count);
    memcpy(kept, p->data, p->count * sizeof *kept);
    shuffle_weights(p, seed);
    loop_guess_all(m, net, a->samples, a->count, a->by[SHUFFLED]);
    memcpy(p->data, kept, p->count * sizeof *kept);
    free(kept);
}

static void free_answers(struct answers *a)
{
    for (unsigned w = 0; w < ANSWERS; w++)
        free(a->by[w]);
}

static void print_header(const char *title)
{
    printf("\n%-36s %7s", title, "n");
    for (unsigned w = 0; w < ANSWERS; w++)
        printf(" %9s", answer_names[w]);
    printf("\n");
}

static void print_row(const char *name, unsigned n, const unsigned right[ANSWERS])
{
    printf("%-36s %7u", name, n);
    for (unsigned w = 0; w < ANSWERS; w++)
        if (n)
            printf(" %9.2f", 100.0 * right[w] / n);
    printf("\n");
}

enum question { TYPE, COUNTER, CLASS, DETECTOR_TRIPS, TRIPS };
static const char *const question_names[] = {"type", "counter register", "class", "trips within 2x",
                                             "trips within 2x"};

// The samples that pick, if not NULL, wants.
static void print_question(const struct answers *a, enum question q, const char *name,
                           bool (*pick)(const struct loop_sample *s, const void *what), const void *what)
{
    const struct loop_sample **picked = malloc((a->count + 1) * sizeof *picked);
    struct loop_guess *guesses = malloc((a->count + 1) * sizeof *guesses);
    if (!picked || !guesses)
        nn_die("no memory for %u samples", a->count);
    unsigned n = 0, right[ANSWERS];
    for (unsigned w = 0; w < ANSWERS; w++) {
        struct loop_score score;
        n = 0;
        for (unsigned i = 0; i < a->count; i++)
            if (!pick || pick(a->samples[i], what)) {
                guesses[n] = a->by[w][i];
                picked[n++] = a->samples[i];
            }
        loop_score(picked, guesses, n, &score);
        right[w] = q == TYPE             ? score.type
                   : q == COUNTER        ? score.counter
                   : q == CLASS          ? score.class
                   : q == DETECTOR_TRIPS ? score.detector_trips
                                         : score.trips;
        n = q == DETECTOR_TRIPS || q == TRIPS ? score.entries : n;
    }
    print_row(name ? name : question_names[q], n, right);
    free(picked);
    free(guesses);
}

static bool has_class(const struct loop_sample *s, const void *what)
{
    return s->class == *(const enum loop_class *)what;
}

static bool has_type(const struct loop_sample *s, const void *what)
{
    return s->type == *(const enum loop_type *)what;
}

static bool has_compiler(const struct loop_sample *s, const void *what)
{
    return strcmp(s->compiler, what) == 0;
}

static void print_compilers(const struct answers *a, enum question q)
{
    for (unsigned i = 0; i < a->count; i++) {
        const char *compiler = a->samples[i]->compiler;
        bool met = false;
        for (unsigned j = 0; j < i && !met; j++)
            met = strcmp(a->samples[j]->compiler, compiler) == 0;
        if (!met)
            print_question(a, q, compiler, has_compiler, compiler);
    }
}

static void print_confidence(const struct answers *a)
{
    enum { STEPS = 5 };
    static const float from[STEPS + 1] = {0, 0.5f, 0.8f, 0.95f, 0.99f, 2};
    printf("\n%-36s %7s %9s %9s\n", "confidence", "n", "mean", "right");
    for (unsigned s = 0; s < STEPS; s++) {
        unsigned n = 0, right = 0;
        double sum = 0;
        for (unsigned i = 0; i < a->count; i++) {
            const struct loop_guess *g = &a->by[NET][i];
            if (g->confidence < from[s] || g->confidence >= from[s + 1])
                continue;
            n++;
            sum += g->confidence;
            right += g->class == a->samples[i]->class;
        }
        if (n)
            printf("from %-31.2f %7u %9.2f %9.2f\n", (double)from[s], n, 100 * sum / n, 100.0 * right / n);
    }
}

static void print_wrong(const struct answers *a)
{
    unsigned count[LOOP_CLASSES][LOOP_CLASSES] = {0};
    for (unsigned i = 0; i < a->count; i++)
        count[a->samples[i]->class][a->by[NET][i].class]++;
    printf("\nthe net's mistakes, by true class and named one\n");
    for (unsigned c = 0; c < LOOP_CLASSES; c++)
        for (unsigned d = 0; d < LOOP_CLASSES; d++)
            if (c != d && count[c][d])
                printf("  %-16s %-16s %6u\n", loop_class_names[c], loop_class_names[d], count[c][d]);
}

static void print_cost(const struct answers *a, const struct loop_models *m, enum loop_net net)
{
    enum { MOST = 2048 };
    unsigned count = a->count < MOST ? a->count : MOST;
    if (!count)
        return;
    const struct loop_body *bodies[1];
    struct loop_guess guess, *to = &guess;
    struct graph g;
    graph_create(&g, &nn_kernels_fast, false, 0);
    double start = clock_seconds(), rule, alone;
    for (unsigned i = 0; i < count; i++)
        loop_rule(&a->samples[i]->body, &guess);
    rule = clock_seconds() - start;
    start = clock_seconds();
    for (unsigned i = 0; i < count; i++) {
        bodies[0] = &a->samples[i]->body;
        graph_begin(&g, 0);
        if (net == NET_DETECTOR)
            detector_guess(&m->detector, &g, bodies, 1, &to);
        else
            recognizer_guess(&m->recognizer, &g, bodies, 1, &to);
    }
    alone = clock_seconds() - start;
    start = clock_seconds();
    loop_guess_all(m, NET_PREDICTOR, a->samples, count, a->by[NET]);
    double all = clock_seconds() - start;
    printf("\ncost of a loop, in us: rule %.1f; ", 1e6 * rule / count);
    if (net != NET_PREDICTOR)
        printf("this net alone, loop by loop, %.0f; ", 1e6 * alone / count);
    printf("all three nets in batches %.0f\n", 1e6 * all / count);
    graph_destroy(&g);
}

static void print_part(struct answers *a, const char *part, enum loop_net net)
{
    print_header(part);
    if (net == NET_DETECTOR) {
        print_question(a, TYPE, NULL, NULL, NULL);
        print_question(a, COUNTER, NULL, NULL, NULL);
        print_question(a, DETECTOR_TRIPS, NULL, NULL, NULL);
        for (enum loop_type t = 0; t < LOOP_TYPES; t++) {
            char name[40];
            snprintf(name, sizeof name, "type, of %s", loop_type_names[t]);
            print_question(a, TYPE, name, has_type, &t);
            snprintf(name, sizeof name, "counter, of %s", loop_type_names[t]);
            print_question(a, COUNTER, name, has_type, &t);
        }
        print_compilers(a, COUNTER);
    } else if (net == NET_RECOGNIZER) {
        print_question(a, CLASS, NULL, NULL, NULL);
        for (enum loop_class c = 0; c < LOOP_CLASSES; c++)
            print_question(a, CLASS, loop_class_names[c], has_class, &c);
        print_compilers(a, CLASS);
        print_confidence(a);
        print_wrong(a);
    } else {
        print_question(a, TRIPS, NULL, NULL, NULL);
        for (enum loop_class c = 0; c < LOOP_CLASSES; c++)
            print_question(a, TRIPS, loop_class_names[c], has_class, &c);
        print_compilers(a, TRIPS);
    }
}

static int run(enum loop_net net, const struct tool_options *options)
{
    struct error error;
    struct loop_set set;
    static struct loop_models models;
    if (!nn_blas_load(&error) || !loop_set_read(&set, options->files, options->file_count, &error))
        return tool_fail(&error);
    loop_models_create(&models, 0);
    bool good = true;
    for (enum loop_net n = 0; n < LOOP_NETS && good; n++)
        if (n == net || net == NET_PREDICTOR) // which hangs on both others
            good = loop_models_load(&models, n, options->folder, &error);
    if (good) {
        printf("right answers in %%; shuffled: the net's weights in another order, seed %llu\n",
               (unsigned long long)options->seed);
        printf("samples:");
        for (unsigned p = 0; p < LOOP_PARTS; p++)
            printf(" %s %u", loop_part_names[p], set.count[p]);
        printf("\n");
    }
    for (enum loop_part p = LOOP_TEST; p <= LOOP_REAL && good; p++) {
        struct answers a = {.samples = set.part[p], .count = set.count[p]};
        answer_all(&a, &models, net, options->seed);
        print_part(&a, loop_part_names[p], net);
        if (p == LOOP_TEST)
            print_cost(&a, &models, net);
        free_answers(&a);
    }
    loop_models_destroy(&models);
    loop_set_free(&set);
    return good ? 0 : tool_fail(&error);
}

int detector_eval(const struct tool_options *options)
{
    return run(NET_DETECTOR, options);
}

int recognizer_eval(const struct tool_options *options)
{
    return run(NET_RECOGNIZER, options);
}

int predictor_eval(const struct tool_options *options)
{
    return run(NET_PREDICTOR, options);
}
