// SPDX-License-Identifier: MIT
// Trains dispatch-10279. Its input space is finite, so it trains on all of it: every vector that an allocated
// word has, with that word's kernel. What tests it is the count of all words by dispatch_verify.
#include "dispatch_tool.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "core/nn/model_file.h"
#include "frontend/base/host.h"
#include "tool_train.h"

enum { BATCH = 256, STEPS_AN_EPOCH = 250, EPOCHS = 20, SEED = 1 };

static const char data_recipe[] =
    "every value of (top byte, 12 features) that an allocated word of the instruction tables has, labelled "
    "with "
    "the group of its words; a sample is a top byte and kernel drawn uniformly, then one of their vectors";

// The vectors of one top byte and one kernel.
struct cell {
    uint32_t first, count;
    int kernel;
};

struct trainer {
    struct dispatch_model model;
    const struct word_census *census;
    uint32_t *vectors; // grouped by cell
    struct cell *cells;
    uint32_t cell_count;
    uint64_t seed;
    int top_bytes[BATCH], kernels[BATCH];
    float features[BATCH][DISPATCH_FEATURES];
    struct dispatch_net net; // of the last evaluation
};

void dispatch_score(const struct dispatch_net *net, const struct word_census *census,
                    struct dispatch_score *score)
{
    memset(score, 0, sizeof *score);
    score->margin = __builtin_inff();
    for (uint32_t v = 0; v < DISPATCH_VECTORS; v++) {
        const uint32_t *count = census->count[v];
        uint64_t words = 0;
        for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
            words += count[k];
        if (words == 0)
            continue;
        uint8_t named;
        float margin;
        dispatch_predict_vectors(net, &v, 1, &named, &margin);
        score->vectors++;
        if (words != count[named]) {
            if (score->wrong_vectors++ == 0)
                score->first_wrong = v;
            for (unsigned k = 0; k < DISPATCH_KERNELS; k++)
                score->wrong_by_kernel[k] += k != named ? count[k] : 0;
            score->wrong_words += words - count[named];
            margin = -margin;
        }
        if (margin < score->margin)
            score->margin = margin;
    }
}

static bool collect_vectors(struct trainer *t)
{
    t->vectors = malloc(DISPATCH_VECTORS * sizeof t->vectors[0]);
    t->cells = malloc(256 * DISPATCH_KERNELS * sizeof t->cells[0]);
    if (!t->vectors || !t->cells)
        return false;
    uint32_t used = 0;
    for (uint32_t top = 0; top < 256; top++) {
        for (int k = 0; k < DISPATCH_KERNELS; k++) {
            struct cell cell = {used, 0, k};
            for (uint32_t f = 0; f < 1u << DISPATCH_FEATURES; f++)
                if (t->census->count[top << DISPATCH_FEATURES | f][k])
                    t->vectors[used++] = top << DISPATCH_FEATURES | f;
            cell.count = used - cell.first;
            if (cell.count)
                t->cells[t->cell_count++] = cell;
        }
    }
    return true;
}

static struct tensor *batch_loss(void *context, struct graph *g, uint64_t epoch, uint64_t step)
{
    (void)epoch;
    struct trainer *t = context;
    struct rng random = {rng_mix(t->seed) + rng_mix(step + 1)};
    for (unsigned i = 0; i < BATCH; i++) {
        const struct cell *cell = &t->cells[rng_below(&random, t->cell_count)];
        uint32_t vector = t->vectors[cell->first + rng_below(&random, cell->count)];
        t->top_bytes[i] = (int)(vector >> DISPATCH_FEATURES);
        for (unsigned f = 0; f < DISPATCH_FEATURES; f++)
            t->features[i][f] = (float)(vector >> f & 1);
        t->kernels[i] = cell->kernel;
    }
    struct tensor *y = dispatch_model_forward(&t->model, g, t->top_bytes, t->features[0], BATCH);
    return nn_cross_entropy(g, y, t->kernels, NULL);
}

// First fewer wrong vectors, then a wider margin.
static double evaluate(void *context, struct graph *g)
{
    (void)g;
    struct trainer *t = context;
    struct dispatch_score score;
    dispatch_prepare(&t->net, t->model.params.data);
    dispatch_score(&t->net, t->census, &score);
    return score.wrong_vectors ? score.wrong_vectors : -(double)score.margin;
}

static bool save(void *context, const char *base, const struct training_result *result, struct error *error)
{
    struct trainer *t = context;
    struct dispatch_score score;
    dispatch_prepare(&t->net, t->model.params.data);
    dispatch_score(&t->net, t->census, &score);
    cJSON *metrics = cJSON_CreateObject();
    cJSON_AddNumberToObject(metrics, "words", (double)t->census->words);
    cJSON_AddNumberToObject(metrics, "allocated", (double)t->census->allocated);
    cJSON_AddNumberToObject(metrics, "mismatches", (double)score.wrong_words);
    cJSON_AddNumberToObject(metrics, "vectors", score.vectors);
    cJSON_AddNumberToObject(metrics, "wrong_vectors", score.wrong_vectors);
    cJSON_AddNumberToObject(metrics, "smallest_margin", (double)score.margin);
    cJSON_AddNumberToObject(metrics, "best_epoch", (double)result->best_epoch);
    struct model_info info = {
        .name = DISPATCH_NAME,
        .architecture = dispatch_architecture,
        .data = data_recipe,
        .split =
            "none: the input space is finite and trained on whole; the test is the count of all 2^32 words",
        .seed = t->seed,
        .commit = host_git,
        .metrics = metrics,
    };
    bool saved = model_save(base, &t->model.params, &info, error);
    cJSON_Delete(metrics);
    if (saved)
        printf("%s: %u of %u vectors wrong, %llu of %llu allocated words; smallest margin %.2f\n", base,
               score.wrong_vectors, score.vectors, (unsigned long long)score.wrong_words,
               (unsigned long long)t->census->allocated, (double)score.margin);
    return saved;
}

// The kernels of plain loops: they give the same bytes on every processor, which BLAS does not, and are quick
// enough for this net.
static bool train_model(struct trainer *t, const struct tool_options *options, struct error *error)
{
    const struct tool_training training = {
        .name = DISPATCH_NAME,
        .params = &t->model.params,
        .kernels = &nn_kernels_plain,
        .seed = t->seed,
        .training = {.epochs = EPOCHS,
                     .steps = STEPS_AN_EPOCH,
                     .rate = 4e-3f,
                     .floor = 1e-5f,
                     .warmup = 100,
                     .checkpoint_epochs = 5,
                     .loss = batch_loss,
                     .evaluate = evaluate,
                     .context = t},
        .save = save,
    };
    return tool_train(options, &training, error);
}

int dispatch_train(const struct tool_options *options)
{
    struct error error;
    struct word_census census;
    uint32_t vector;
    if (!words_count(&census, WORDS_REPRESENTED, options->threads, NULL, &error))
        return tool_fail(&error);
    if (words_conflict(&census, &vector)) {
        error_set(&error,
                  "words of two kernels have the same features (top byte %02x, features %03x): no net can be "
                  "exact; "
                  "see 'neuromodel generate dispatch'",
                  vector >> DISPATCH_FEATURES, vector & ((1u << DISPATCH_FEATURES) - 1));
        words_free(&census);
        return tool_fail(&error);
    }
    static struct trainer trainer;
    trainer.census = &census;
    trainer.seed = options->seed_given ? options->seed : SEED;
    dispatch_model_create(&trainer.model, trainer.seed);
    bool good = collect_vectors(&trainer) ? train_model(&trainer, options, &error)
                                          : error_set(&error, "no memory for the training data");
    dispatch_model_destroy(&trainer.model);
    free(trainer.vectors);
    free(trainer.cells);
    words_free(&census);
    return good ? 0 : tool_fail(&error);
}
