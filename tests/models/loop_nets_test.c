// SPDX-License-Identifier: MIT
// The loop nets: their sizes, that every parameter is alive, that a batch says what each loop alone says, and
// that what is read off a body agrees with the instruction tables and with what loops did. usage:
// loop_nets_test MODELS LOOPS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/isa/isa.h"
#include "../../core/loops/propose/loop_code.h"
#include "../../models/neuromodel/loop_shape.h"
#include "../../models/neuromodel/loop_train.h"

static void report(bool good, const char *name)
{
    printf("%s %s\n", good ? "ok" : "not ok", name);
}

// ---- sizes and gradients ----

static void random_bodies(struct loop_body *bodies, unsigned count, uint64_t seed)
{
    struct rng random = {seed};
    for (unsigned i = 0; i < count; i++) {
        bodies[i].pc = 0x400000;
        bodies[i].length = 1 + rng_below(&random, LOOP_BODY_MAX);
        for (unsigned w = 0; w < bodies[i].length; w++)
            bodies[i].words[w] = (uint32_t)rng_next(&random);
        uint32_t zeroes = (uint32_t)rng_next(&random) & -(uint32_t)rng_below(&random, 2);
        for (unsigned r = 0; r < 32; r++)
            bodies[i].x[r] = zeroes >> r & 1 ? 0 : rng_next(&random) >> rng_below(&random, 64);
    }
}

static void test_counts(struct loop_models *m)
{
    static const size_t published[LOOP_NETS] = {1083397, 508161, 25473};
    for (enum loop_net n = 0; n < LOOP_NETS; n++) {
        const struct params *p = loop_net_params(m, n);
        size_t sum = 0;
        for (int i = 0; i < p->tensor_count; i++)
            sum += tensor_count(p->tensors[i].tensor);
        char name[80];
        snprintf(name, sizeof name, "%s has %zu parameters", loop_net_infos[n].name, published[n]);
        report(p->count == published[n] && sum == p->count, name);
    }
}

// A loss that hangs on everything that the net says.
static struct tensor *loss_of(const struct loop_models *m, enum loop_net net, struct graph *g,
                              const struct loop_body *const *bodies, int rows, const int *classes,
                              const float *targets)
{
    if (net == NET_DETECTOR) {
        struct detector_output out =
            detector_decide(&m->detector, g, detector_look(&m->detector, g, bodies, rows, 0));
        return nn_add(g, nn_huber(g, out.trips, targets, NULL, 1),
                      nn_add(g, nn_cross_entropy(g, out.type, classes, NULL),
                             nn_cross_entropy(g, out.counter, classes, NULL)));
    }
    struct tensor *embedding = recognizer_look(&m->recognizer, g, bodies, rows, 0);
    if (net == NET_RECOGNIZER)
        return nn_add(g, nn_cross_entropy(g, recognizer_class(&m->recognizer, g, embedding), classes, NULL),
                      nn_huber(g, recognizer_confidence(&m->recognizer, g, embedding), targets, NULL, 1));
    return nn_huber(g, predictor_forward(&m->predictor, g, embedding, targets), targets, NULL, 1);
}

enum { ROWS = 512 };
static struct {
    struct loop_body bodies[ROWS];
    const struct loop_body *pointers[ROWS];
    int classes[ROWS];
    float targets[ROWS * PREDICTOR_NUMBERS];
} rows;

// Half of them are words at random, of which all top bytes and registers occur; half are real loops, in which
// all features do.
static void make_rows(const struct loop_set *set)
{
    random_bodies(rows.bodies, ROWS / 2, 1);
    for (unsigned i = 0; i < ROWS; i++) {
        if (i >= ROWS / 2)
            rows.bodies[i] = set->data.samples[i % set->data.count].body;
        rows.pointers[i] = &rows.bodies[i];
        rows.classes[i] = (int)i % LOOP_TYPES;
    }
    for (unsigned i = 0; i < ROWS * PREDICTOR_NUMBERS; i++)
        rows.targets[i] = (float)(i % 11) / 11;
}

// Marks the parameters of a net that have a gradient.
static void mark_alive(struct loop_models *m, enum loop_net n, bool *alive)
{
    struct params *p = loop_net_params(m, n);
    struct graph g;
    graph_create(&g, &nn_kernels_fast, true, 1);
    graph_begin(&g, 0);
    params_clear_grad(p);
    graph_backward(&g, loss_of(m, n, &g, rows.pointers, ROWS, rows.classes, rows.targets));
    for (int i = 0; i < p->tensor_count; i++) {
        const struct named_tensor *t = &p->tensors[i];
        size_t count = tensor_count(t->tensor), keys = strcmp(t->part, "in_bias") == 0 ? count / 3 : 0;
        for (size_t e = 0; e < count; e++) {
            // Softmax does not see what is added to all its inputs: the middle third, the keys' bias.
            bool blind = keys && e / keys == 1;
            alive[t->offset + e] |= blind || (t->tensor->has_grad && t->tensor->grad[e] != 0);
        }
    }
    graph_destroy(&g);
}

// A unit with ReLU may by chance be off for all rows, but not under every choice of initial values.
static void test_alive(void)
{
    enum { CHOICES = 4 };
    bool *alive[LOOP_NETS] = {calloc(DETECTOR_PARAMETERS, 1), calloc(RECOGNIZER_PARAMETERS, 1),
                              calloc(PREDICTOR_PARAMETERS, 1)};
    size_t count[LOOP_NETS];
    for (uint64_t seed = 1; seed <= CHOICES; seed++) {
        static struct loop_models m;
        loop_models_create(&m, seed);
        for (enum loop_net n = 0; n < LOOP_NETS; n++) {
            mark_alive(&m, n, alive[n]);
            count[n] = loop_net_params(&m, n)->count;
        }
        loop_models_destroy(&m);
    }
    for (enum loop_net n = 0; n < LOOP_NETS; n++) {
        size_t dead = 0;
        for (size_t i = 0; i < count[n]; i++)
            if (!alive[n][i] && !dead++)
                printf("# parameter %zu has no gradient\n", i);
        char name[80];
        snprintf(name, sizeof name, "%s: every parameter has a gradient", loop_net_infos[n].name);
        report(dead == 0, name);
        free(alive[n]);
    }
}

// ---- the shipped nets ----

static bool same_guess(const struct loop_guess *a, const struct loop_guess *b)
{
    return a->type == b->type && a->counter == b->counter && a->class == b->class &&
           fabsf(a->confidence - b->confidence) < 1e-3f &&
           fabsf(a->detector_trips - b->detector_trips) < 1e-2f &&
           fabsf(a->predicted_trips - b->predicted_trips) < 1e-2f;
}

static void test_shipped(const char *folder, const struct loop_set *set)
{
    struct error error;
    struct loop_nets *nets = loop_nets_load(folder, &error);
    if (!nets) {
        printf("not ok the shipped nets load: %s\n", error.text);
        return;
    }
    unsigned count = set->count[LOOP_TEST] < 200 ? set->count[LOOP_TEST] : 200;
    struct loop_body *bodies = calloc(count + 1, sizeof *bodies);
    struct loop_guess *batch = calloc(count + 1, sizeof *batch), alone;
    for (unsigned i = 0; i < count; i++)
        bodies[i] = set->part[LOOP_TEST][i]->body;
    loop_nets_propose(nets, bodies, count, batch);
    unsigned same = 0;
    for (unsigned i = 0; i < count; i++) {
        loop_nets_propose(nets, &bodies[i], 1, &alone);
        same += same_guess(&alone, &batch[i]);
    }
    report(count > 0 && same == count, "a batch says of each loop what is said of it alone");
    free(bodies);
    free(batch);
    loop_nets_free(nets);
}

// ---- what is read off a body ----

// Whether the numbers of registers, and the displacement, can be replaced and come back, and nothing else
// changes.
static bool replaces(uint32_t word, const struct code_insn *insn, struct rng *random)
{
    struct code_insn other;
    for (unsigned f = 0; f < CODE_FIELDS; f++) {
        unsigned number = rng_below(random, 31);
        if (insn->var[f] > CODE_SP)
            continue;
        code_decode(code_set_register(word, insn, f, number), &other);
        if (other.id != insn->id || other.var[f] != number)
            return false;
        for (unsigned g = 0; g < CODE_FIELDS; g++)
            if (g != f && other.var[g] != insn->var[g])
                return false;
    }
    if (insn->kind != CODE_BRANCH)
        return true;
    code_decode(code_set_displacement(word, insn, -7u), &other);
    return other.id == insn->id && other.target == -7;
}

static void test_decoding(void)
{
    enum { WORDS = 8 << 20 };
    struct rng random = {1};
    unsigned allocated = 0, known = 0, wrong = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t word = (uint32_t)rng_next(&random);
        struct code_insn insn;
        code_decode(word, &insn);
        if (insn.id == INSN_UNDEFINED)
            continue;
        bool accesses = insn.kind == CODE_LOAD || insn.kind == CODE_STORE;
        allocated++;
        known += insn.known;
        if (insn.known && ((accesses && insn.size == 0) || !replaces(word, &insn, &random)) && !wrong++)
            printf("# %08x %s\n", word, isa_texts[insn.id].name);
    }
    printf("# %u words, %u known, %u wrong\n", allocated, known, wrong);
    report(wrong == 0 && known > allocated * 0.99,
           "accesses have a size, and registers and displacements are found where the words have them");
}

static void shape_of(const struct loop_body *body, struct loop_shape *shape)
{
    loop_shape_of(body->pc, body->words, body->length, shape);
}

// By another reading of the body, which knows nothing of this one.
static void test_varying(const struct loop_set *set)
{
    struct rng random = {3};
    unsigned other_words = 0, wrong = 0;
    for (size_t i = 0; i < set->data.count; i++) {
        const struct loop_sample *s = &set->data.samples[i];
        struct loop_sample varied = *s;
        struct loop_shape a, b;
        loop_vary(&varied, false, &random);
        shape_of(&s->body, &a);
        shape_of(&varied.body, &b);
        // A call that was put in changes what is known of the rest.
        if (b.calls) {
            wrong += varied.class != LOOP_NONE;
            continue;
        }
        bool good = a.loops == b.loops && a.type == b.type && a.counted == b.counted && a.loads == b.loads &&
                    a.stores == b.stores && a.gathers == b.gathers && a.fixed_loads == b.fixed_loads &&
                    a.loose_loads == b.loose_loads && a.same_stores == b.same_stores &&
                    a.copy_stores == b.copy_stores && a.made_stores == b.made_stores && a.chases == b.chases;
        good &= a.counter != s->counter || b.counter == varied.counter;
        if (s->counter < 31)
            good &= s->body.x[s->counter] == varied.body.x[varied.counter];
        other_words += memcmp(s->body.words, varied.body.words, sizeof s->body.words) != 0;
        if (!good && !wrong++)
            printf("# %s %s %s\n", s->program, s->compiler, s->function);
    }
    printf("# %u of %zu loops varied, %u wrong\n", other_words, set->data.count, wrong);
    report(wrong == 0 && other_words > set->data.count / 2, "a varied loop is the same loop");
}

// The body with registers a and b exchanged, somewhere else.
static void exchange(struct loop_body *body, unsigned a, unsigned b)
{
    for (unsigned i = 0; i < body->length; i++) {
        struct code_insn insn;
        code_decode(body->words[i], &insn);
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            if (insn.var[f] == a || insn.var[f] == b)
                body->words[i] = code_set_register(body->words[i], &insn, f, insn.var[f] == a ? b : a);
        if ((body->words[i] & 0x9f000000) == 0x90000000) // ADRP
            body->words[i] ^= 1u << 29 | 3u << 5;
    }
    body->pc += 4096;
    uint64_t kept = body->x[a];
    body->x[a] = body->x[b];
    body->x[b] = kept;
}

static void test_view(const struct loop_set *set)
{
    struct rng random = {5};
    unsigned wrong = 0, compared = 0;
    for (size_t i = 0; i < set->data.count; i++) {
        const struct loop_body *body = &set->data.samples[i].body;
        struct detector_view view, other;
        struct loop_body exchanged = *body;
        unsigned a = rng_below(&random, 29), b = rng_below(&random, 29);
        bool plain = true, good = true;
        detector_view_of(body, &view);
        for (unsigned r = 0; r < 32; r++)
            good &= view.number[r] < 32 && detector_register(body, view.number[r]) == r &&
                    detector_number(body, r) == view.number[r] && (r < 29 || view.number[r] == r);
        for (unsigned k = 0; k < body->length; k++) { // a call changes some registers and not others
            struct code_insn insn;
            code_decode(body->words[k], &insn);
            plain &= insn.known && insn.kind != CODE_LEAVES;
        }
        exchange(&exchanged, a, b);
        detector_view_of(&exchanged, &other);
        if (plain) {
            uint32_t named = 0;
            for (unsigned k = 0; k < body->length; k++)
                named |= view.words[k] ^ other.words[k];
            good &= named == 0;
            compared++;
        }
        if (!good && !wrong++)
            printf("# %s %s\n", set->data.samples[i].program, set->data.samples[i].function);
    }
    report(wrong == 0 && compared > set->data.count / 2,
           "what the detector sees hangs neither on the choice of registers nor on addresses");
}

// Where the reading finds how far a loop has to go, the recorded run went as far.
static void test_way(const struct loop_set *set)
{
    unsigned found = 0, exact = 0;
    for (size_t i = 0; i < set->data.count; i++) {
        const struct loop_sample *s = &set->data.samples[i];
        struct loop_guess guess;
        if (!s->counted || !loop_has_trips(s))
            continue;
        loop_rule(&s->body, &guess);
        if (guess.counter == 31)
            continue;
        found++;
        exact += fabsf(guess.predicted_trips - loop_log2_trips(s)) < 0.2f || s->trips[0] < 4;
    }
    printf("# %u of %u\n", exact, found);
    report(found > 100 && exact > found * 0.95,
           "the comparison of a loop's exit tells how often it goes round");
}

int main(int argc, char **argv)
{
    struct error error;
    struct loop_set set;
    static struct loop_models models;
    if (argc != 3 || !loop_set_read(&set, argv + 2, 1, &error)) {
        printf("not ok loop_nets_test: %s\n", argc == 3 ? error.text : "usage: loop_nets_test MODELS LOOPS");
        return 1;
    }
    loop_models_create(&models, 1);
    test_counts(&models);
    make_rows(&set);
    test_alive();
    loop_models_destroy(&models);
    test_decoding();
    test_view(&set);
    test_varying(&set);
    test_way(&set);
    test_shipped(argv[1], &set);
    loop_set_free(&set);
    return 0;
}
