// SPDX-License-Identifier: MIT
// Reading loops as data, dividing them, and counting right answers.
#include "loop_train.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const loop_part_names[LOOP_PARTS] = {"train", "validation", "test", "real"};
const char loop_split[] =
    "by program, after dropping equal bodies: of 20 programs 3 test and 2 validate, by a hash of their name; "
    "what was compiled with -O3, or by gcc with -Os, is never trained on, and only that tests; programs that "
    "were not generated only test, but for libraries";

static bool is_test_level(const char *compiler)
{
    return strstr(compiler, "-O3") || strcmp(compiler, "gcc-Os") == 0;
}

static bool is_generated(const struct loop_sample *s)
{
    return strncmp(s->compiler, "gcc-", 4) == 0 || strncmp(s->compiler, "clang-", 6) == 0;
}

static enum loop_part part_of(const struct loop_sample *s)
{
    if (!is_generated(s))
        return LOOP_REAL;
    uint64_t hash = 0;
    for (const char *c = s->program; *c; c++)
        hash = rng_mix(hash + (uint8_t)*c + 0x9e3779b97f4a7c15u);
    unsigned place = (unsigned)(hash % 20);
    bool test_level = is_test_level(s->compiler);
    if (place < 3)
        return test_level ? LOOP_TEST : LOOP_PARTS;
    if (test_level)
        return LOOP_PARTS;
    return place < 5 ? LOOP_VALIDATION : LOOP_TRAIN;
}

bool loop_set_read(struct loop_set *set, char **files, int count, struct error *error)
{
    memset(set, 0, sizeof *set);
    if (count == 0)
        return error_set(error, "no data: name files of samples (see 'neuromodel generate')");
    for (int i = 0; i < count; i++) {
        struct loop_data more;
        bool good = loop_data_read(files[i], &more, error);
        for (size_t s = 0; good && s < more.count; s++)
            good =
                loop_data_add(&set->data, &more.samples[s]) || error_set(error, "no memory for %s", files[i]);
        if (good)
            loop_data_free(&more);
        else {
            loop_set_free(set);
            return false;
        }
    }
    loop_data_deduplicate(&set->data);
    for (unsigned p = 0; p < LOOP_PARTS; p++)
        if (!(set->part[p] = malloc((set->data.count + 1) * sizeof *set->part[p])))
            nn_die("no memory for %zu samples", set->data.count);
    for (size_t i = 0; i < set->data.count; i++) {
        const struct loop_sample *s = &set->data.samples[i];
        enum loop_part part = part_of(s);
        if (part < LOOP_PARTS)
            set->part[part][set->count[part]++] = s;
    }
    return true;
}

void loop_set_free(struct loop_set *set)
{
    for (unsigned p = 0; p < LOOP_PARTS; p++)
        free(set->part[p]);
    loop_data_free(&set->data);
}

bool loop_has_trips(const struct loop_sample *s)
{
    return s->trips_count > 0;
}

// What a data-dependent loop did once says little, but more than nothing.
float loop_trips_weight(const struct loop_sample *s)
{
    return !loop_has_trips(s) ? 1e-6f : s->counted ? 1 : 0.1f;
}

float loop_log2_trips(const struct loop_sample *s)
{
    return log2f((float)(s->trips[0] ? s->trips[0] : 1));
}

void loop_score(const struct loop_sample *const *samples, const struct loop_guess *guesses, unsigned count,
                struct loop_score *score)
{
    const float within = 1.0001f;
    memset(score, 0, sizeof *score);
    score->n = count;
    for (unsigned i = 0; i < count; i++) {
        const struct loop_sample *s = samples[i];
        const struct loop_guess *g = &guesses[i];
        score->type += g->type == s->type;
        score->counter += g->counter == s->counter;
        score->class += g->class == s->class;
        if (!s->counted || !loop_has_trips(s))
            continue;
        float truth = loop_log2_trips(s);
        score->entries++;
        score->detector_trips += fabsf(g->detector_trips / LOG10_2 - truth) <= within;
        score->trips += fabsf(g->predicted_trips - truth) <= within;
    }
}

static void add_share(cJSON *json, const char *name, unsigned right, unsigned n)
{
    if (n)
        cJSON_AddNumberToObject(json, name, round(10000.0 * right / n) / 10000);
}

cJSON *loop_score_json(const struct loop_score *s, enum loop_net net)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "samples", net == NET_PREDICTOR ? s->entries : s->n);
    if (net == NET_DETECTOR) {
        add_share(json, "type", s->type, s->n);
        add_share(json, "counter", s->counter, s->n);
        add_share(json, "trips_within_2x", s->detector_trips, s->entries);
    } else if (net == NET_RECOGNIZER) {
        add_share(json, "class", s->class, s->n);
    } else {
        add_share(json, "trips_within_2x", s->trips, s->entries);
    }
    return json;
}
