// SPDX-License-Identifier: MIT
// dispatch-135: eight inputs that are raw bytes, eight hidden neurons. Trained in earnest, on real code and
// with programs held out, so that the figure beside it is its own.
//
//   8 inputs ─► 8 tanh ─► 7
#include "dispatch_tool.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"
#include "core/nn/model_file.h"
#include "core/base/sha256.h"
#include "elf_code.h"
#include "frontend/base/host.h"
#include "tool_train.h"

enum { BATCH = 256, STEPS_AN_EPOCH = 1000, EPOCHS = 40, SEED = 1 };

static const char architecture[] = "8 -> 8 tanh -> 7";

static const char *const training_files[] = {"/usr/aarch64-linux-gnu/lib/libc.so.6",
                                             "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"};
static const char *const validation_files[] = {"/usr/aarch64-linux-gnu/lib/libm.so.6"};

struct exhibit {
    struct params params;
    struct dense layer[2];
};

static void exhibit_create(struct exhibit *e, uint64_t seed)
{
    params_create(&e->params, EXHIBIT_PARAMETERS, seed);
    e->layer[0] = dense_create(&e->params, "hidden", EXHIBIT_INPUTS, EXHIBIT_HIDDEN);
    e->layer[1] = dense_create(&e->params, "kernels", EXHIBIT_HIDDEN, DISPATCH_KERNELS);
}

bool exhibit_load(const char *base, float parameters[EXHIBIT_PARAMETERS], struct error *error)
{
    struct exhibit e;
    exhibit_create(&e, 0);
    bool loaded = model_load(base, &e.params, architecture, NULL, error);
    if (loaded)
        memcpy(parameters, e.params.data, EXHIBIT_PARAMETERS * sizeof parameters[0]);
    params_destroy(&e.params);
    return loaded;
}

// Top byte, the word's four bytes from the lowest up, two bytes of the pc, all / 255, and 0.
static void make_input(uint32_t word, uint64_t pc, float input[EXHIBIT_INPUTS])
{
    input[0] = (float)(word >> 24) / 255;
    for (unsigned i = 0; i < 4; i++)
        input[1 + i] = (float)(word >> i * 8 & 255) / 255;
    input[5] = (float)(pc & 255) / 255;
    input[6] = (float)(pc >> 8 & 255) / 255;
    input[7] = 0;
}

enum dispatch_kernel exhibit_predict(const float parameters[EXHIBIT_PARAMETERS], uint32_t word, uint64_t pc)
{
    const float *weight1 = parameters, *bias1 = weight1 + EXHIBIT_HIDDEN * EXHIBIT_INPUTS;
    const float *weight2 = bias1 + EXHIBIT_HIDDEN, *bias2 = weight2 + DISPATCH_KERNELS * EXHIBIT_HIDDEN;
    float input[EXHIBIT_INPUTS], hidden[EXHIBIT_HIDDEN], most = -INFINITY;
    enum dispatch_kernel best = 0;
    make_input(word, pc, input);
    for (unsigned o = 0; o < EXHIBIT_HIDDEN; o++) {
        float sum = bias1[o];
        for (unsigned i = 0; i < EXHIBIT_INPUTS; i++)
            sum += weight1[o * EXHIBIT_INPUTS + i] * input[i];
        hidden[o] = tanhf(sum);
    }
    for (unsigned o = 0; o < DISPATCH_KERNELS; o++) {
        float sum = bias2[o];
        for (unsigned i = 0; i < EXHIBIT_HIDDEN; i++)
            sum += weight2[o * EXHIBIT_HIDDEN + i] * hidden[i];
        if (sum > most) {
            most = sum;
            best = (enum dispatch_kernel)o;
        }
    }
    return best;
}

// ---- training ----

struct sample {
    uint32_t word;
    int kernel;
    uint64_t pc;
};

struct trainer {
    struct exhibit exhibit;
    struct sample *train, *validate;
    size_t train_count, validate_count;
    cJSON *sources; // of the samples, for the JSON
    uint64_t seed;
    float inputs[BATCH][EXHIBIT_INPUTS];
    int kernels[BATCH];
};

static int by_word(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return x->word != y->word ? (x->word < y->word ? -1 : 1) : (x->pc > y->pc) - (x->pc < y->pc);
}

static bool hash_words(const struct code_word *words, size_t count, char hash[65])
{
    uint32_t *plain = malloc((count + 1) * sizeof *plain);
    if (!plain)
        return false;
    for (size_t i = 0; i < count; i++)
        plain[i] = words[i].word;
    sha256_bytes(plain, count * sizeof *plain, hash);
    free(plain);
    return true;
}

// The distinct allocated words of the files, each with the lowest pc that it stands at. The files' names and
// the hashes of their code are added to sources.
static bool read_samples(const char *const *files, size_t file_count, cJSON *sources, struct sample **samples,
                         size_t *count, struct error *error)
{
    struct code_word *words = NULL;
    size_t word_count = 0;
    for (size_t i = 0; i < file_count; i++) {
        size_t before = word_count;
        if (!elf_code_append(files[i], &words, &word_count, error)) {
            free(words);
            return false;
        }
        char hash[65];
        if (!hash_words(words + before, word_count - before, hash)) {
            free(words);
            return error_set(error, "no memory for the samples");
        }
        cJSON *source = cJSON_CreateObject();
        cJSON_AddStringToObject(source, "file", files[i]);
        cJSON_AddStringToObject(source, "code_sha256", hash);
        cJSON_AddItemToArray(sources, source);
    }
    *samples = malloc((word_count + 1) * sizeof **samples);
    if (!*samples) {
        free(words);
        return error_set(error, "no memory for the samples");
    }
    size_t allocated = 0;
    op ignored;
    for (size_t i = 0; i < word_count; i++) {
        enum insn id = isa_decode(words[i].word, 0, &ignored);
        if (id != INSN_UNDEFINED)
            (*samples)[allocated++] = (struct sample){words[i].word, (int)isa_info[id].group, words[i].pc};
    }
    free(words);
    qsort(*samples, allocated, sizeof **samples, by_word);
    *count = 0;
    for (size_t i = 0; i < allocated; i++)
        if (i == 0 || (*samples)[i].word != (*samples)[*count - 1].word)
            (*samples)[(*count)++] = (*samples)[i];
    return *count > 0 || error_set(error, "the files hold no instructions");
}

static struct tensor *batch_loss(void *context, struct graph *g, uint64_t epoch, uint64_t step)
{
    (void)epoch;
    struct trainer *t = context;
    struct rng random = {rng_mix(t->seed) + rng_mix(step + 1)};
    for (unsigned i = 0; i < BATCH; i++) {
        const struct sample *s = &t->train[rng_below(&random, (uint32_t)t->train_count)];
        make_input(s->word, s->pc, t->inputs[i]);
        t->kernels[i] = s->kernel;
    }
    struct tensor *x = nn_input(g, t->inputs[0], 2, (int[]){BATCH, EXHIBIT_INPUTS});
    x = nn_activate(g, dense_forward(&t->exhibit.layer[0], g, x), NN_TANH);
    return nn_cross_entropy(g, dense_forward(&t->exhibit.layer[1], g, x), t->kernels, NULL);
}

static double accuracy(const float *parameters, const struct sample *samples, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += (int)exhibit_predict(parameters, samples[i].word, samples[i].pc) == samples[i].kernel;
    return (double)right / (double)count;
}

static double evaluate(void *context, struct graph *g)
{
    (void)g;
    struct trainer *t = context;
    return 1 - accuracy(t->exhibit.params.data, t->validate, t->validate_count);
}

static bool save(void *context, const char *base, const struct training_result *result, struct error *error)
{
    (void)result;
    struct trainer *t = context;
    const float *parameters = t->exhibit.params.data;
    double train_accuracy = accuracy(parameters, t->train, t->train_count);
    double validation_accuracy = accuracy(parameters, t->validate, t->validate_count);
    cJSON *metrics = cJSON_CreateObject();
    cJSON_AddNumberToObject(metrics, "training_words", (double)t->train_count);
    cJSON_AddNumberToObject(metrics, "training_accuracy", train_accuracy);
    cJSON_AddNumberToObject(metrics, "validation_words", (double)t->validate_count);
    cJSON_AddNumberToObject(metrics, "validation_accuracy", validation_accuracy);
    cJSON_AddItemReferenceToObject(metrics, "sources", t->sources);
    struct model_info info = {
        .name = EXHIBIT_NAME,
        .architecture = architecture,
        .data = "distinct allocated words of libc and libstdc++ of Debian's arm64 cross packages",
        .split = "by program: libc and libstdc++ train, libm validates, all other code tests",
        .seed = t->seed,
        .commit = host_git,
        .metrics = metrics,
    };
    bool saved = model_save(base, &t->exhibit.params, &info, error);
    cJSON_Delete(metrics);
    if (saved)
        printf("%s: right on %.2f %% of %zu training words, %.2f %% of %zu words of another program\n", base,
               100 * train_accuracy, t->train_count, 100 * validation_accuracy, t->validate_count);
    return saved;
}

static bool train_exhibit(struct trainer *t, const struct tool_options *options, struct error *error)
{
    const struct tool_training training = {
        .name = EXHIBIT_NAME,
        .params = &t->exhibit.params,
        .kernels = &nn_kernels_plain,
        .seed = t->seed,
        .training = {.epochs = EPOCHS,
                     .steps = STEPS_AN_EPOCH,
                     .rate = 1e-2f,
                     .floor = 1e-4f,
                     .warmup = 100,
                     .checkpoint_epochs = 5,
                     .loss = batch_loss,
                     .evaluate = evaluate,
                     .context = t},
        .save = save,
    };
    return tool_train(options, &training, error);
}

int dispatch_exhibit_train(const struct tool_options *options)
{
    static struct trainer trainer;
    struct error error;
    trainer.sources = cJSON_CreateArray();
    trainer.seed = options->seed_given ? options->seed : SEED;
    exhibit_create(&trainer.exhibit, trainer.seed);
    bool good = read_samples(training_files, sizeof training_files / sizeof training_files[0],
                             trainer.sources, &trainer.train, &trainer.train_count, &error) &&
                read_samples(validation_files, sizeof validation_files / sizeof validation_files[0],
                             trainer.sources, &trainer.validate, &trainer.validate_count, &error) &&
                train_exhibit(&trainer, options, &error);
    free(trainer.train);
    free(trainer.validate);
    params_destroy(&trainer.exhibit.params);
    cJSON_Delete(trainer.sources);
    return good ? 0 : tool_fail(&error);
}
