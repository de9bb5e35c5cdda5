// SPDX-License-Identifier: MIT
// neuromodel generate loops: generated functions, compiled in many ways and run on the core; each innermost
// loop that was entered becomes a sample if its code bears out what the function is for.
#include "loop_tool.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/loops/propose/loop_code.h"
#include "frontend/base/host.h"
#include "frontend/base/paths.h"
#include "loop_build.h"
#include "loop_image.h"

enum { PROGRAMS = 32, FUNCTIONS = 125, WINDOWS = 3, CONFIGURATIONS_MOST = 32 };

struct generation {
    const struct tool_options *options;
    struct builder builder;
    struct loop_data data;
    uint64_t found;
    uint64_t dropped[LOOP_CLASSES][LABEL_VERDICTS];
    struct error error;
};

// ---- one built program ----

static void name_sample(struct loop_sample *sample, unsigned program, unsigned configuration)
{
    snprintf(sample->program, sizeof sample->program, "gen-%03u", program);
    snprintf(sample->compiler, sizeof sample->compiler, "%s", build_configurations[configuration].name);
}

static bool add_loop(struct generation *g, const struct loop_image *image, const struct seen_loop *loop,
                     unsigned program, unsigned configuration)
{
    struct loop_sample sample;
    enum loop_class said;
    if (!build_class_of(loop->function, &said))
        return true;
    g->found++;
    enum label_verdict verdict = loop_image_sample(image, loop, said, &sample);
    uint32_t words[SHAPE_LENGTH_MOST];
    unsigned length = (loop->branch - loop->header) / 4 + 1;
    if (verdict == LABEL_GOOD && loop_image_copy(image, loop->header, words, length) &&
        loop_is_unclear(&sample, words, length))
        verdict = LABEL_UNCLEAR;
    name_sample(&sample, program, configuration);
    if (verdict == LABEL_GOOD)
        return loop_data_add(&g->data, &sample);
    g->dropped[said][verdict]++;
    return true;
}

// Code that is no loop: it ends in anything but a branch back, with registers of somewhere in the program.
static bool add_windows(struct generation *g, const struct loop_image *image, const struct seen_loops *seen,
                        struct rng *r, unsigned program, unsigned configuration)
{
    for (unsigned i = 0, tries = 0; i < WINDOWS && seen->count && tries < 1000; tries++) {
        const struct seen_loop *at = &seen->loops[rng_below(r, (uint32_t)seen->count)];
        struct loop_sample sample = {.class = LOOP_NONE, .type = LOOP_TYPE_NONE, .counter = 31};
        enum loop_class ignored;
        uint32_t length = 2 + rng_below(r, LOOP_BODY_MAX - 1);
        uint32_t header = at->header - 80 + 4 * rng_below(r, 64);
        if (!build_class_of(at->function, &ignored) ||
            !loop_image_copy(image, header, sample.body.words, length))
            continue;
        sample.body.pc = header;
        sample.body.length = length;
        bool leads_back = false, ends_in_branch = false;
        for (uint32_t k = 0; k < length; k++) {
            struct code_insn insn;
            code_decode(sample.body.words[k], &insn);
            ends_in_branch = insn.kind == CODE_BRANCH;
            leads_back |= ends_in_branch && insn.target <= 0;
        }
        // Half of them end as loops do, in a branch.
        if (leads_back || ends_in_branch != (i & 1))
            continue;
        memcpy(sample.body.x, at->x, sizeof sample.body.x);
        name_sample(&sample, program, configuration);
        snprintf(sample.function, sizeof sample.function, "window");
        if (!loop_data_add(&g->data, &sample))
            return false;
        i++;
    }
    return true;
}

static bool take_program(struct generation *g, unsigned program, unsigned configuration)
{
    char path[300];
    build_path(&g->builder, configuration, path, sizeof path);
    const char *const argv[] = {path, NULL};
    uint64_t seed = g->options->seed * 1000003 + program * CONFIGURATIONS_MOST + configuration;
    const struct run_options run = {.argv = argv, .events_seed = seed, .most = 1000000000};
    struct seen_loops seen;
    struct loop_image image;
    struct rng r = {seed};
    if (!loop_run(&run, &seen, &g->error))
        return false;
    bool good = loop_image_read(path, &image, &g->error);
    for (size_t i = 0; good && i < seen.count; i++)
        good = add_loop(g, &image, &seen.loops[i], program, configuration);
    good = good && add_windows(g, &image, &seen, &r, program, configuration);
    free(seen.loops);
    free(image.words);
    return good;
}

// ---- all of them ----

// Some configurations are built ahead while the one before runs. Of equal loops the first one is kept, so
// each program begins with another configuration.
static bool take_configurations(struct generation *g, unsigned program)
{
    int process[CONFIGURATIONS_MOST];
    unsigned started = 0, first = program * 7 % build_configuration_count;
    bool good = true;
    for (unsigned i = 0; i < build_configuration_count; i++) {
        while (good && started < build_configuration_count && started < i + g->options->threads) {
            process[started] = build_start(&g->builder, (started + first) % build_configuration_count);
            started++;
        }
        if (i == started)
            break;
        unsigned c = (i + first) % build_configuration_count;
        if (!build_wait(process[i]) && good) {
            error_set(&g->error, "%s does not compile program %u of seed %llu", build_configurations[c].name,
                      program, (unsigned long long)g->options->seed);
            good = false;
        }
        good = good && take_program(g, program, c);
    }
    return good;
}

// At most count samples, of all classes and configurations alike.
static void thin_out(struct loop_data *data, size_t count)
{
    enum { GROUPS = LOOP_CLASSES * CONFIGURATIONS_MOST };
    struct loop_data chosen = {NULL, 0, 0};
    bool *taken = calloc(data->count + 1, 1);
    while (taken && chosen.count < count && chosen.count < data->count) {
        bool seen[GROUPS] = {false};
        size_t before = chosen.count;
        for (size_t i = 0; i < data->count && chosen.count < count; i++) {
            const struct loop_sample *s = &data->samples[i];
            unsigned configuration = 0;
            while (strcmp(build_configurations[configuration].name, s->compiler) != 0)
                configuration++;
            unsigned group = s->class * CONFIGURATIONS_MOST + configuration;
            if (taken[i] || seen[group])
                continue;
            taken[i] = seen[group] = true;
            if (!loop_data_add(&chosen, s))
                break;
        }
        if (chosen.count == before)
            break;
    }
    free(taken);
    loop_data_free(data);
    *data = chosen;
}

static cJSON *count_classes(const struct loop_data *data)
{
    cJSON *counts = cJSON_CreateObject();
    for (unsigned c = 0; c < LOOP_CLASSES; c++) {
        unsigned n = 0;
        for (size_t i = 0; i < data->count; i++)
            n += data->samples[i].class == c;
        cJSON_AddNumberToObject(counts, loop_class_words[c], n);
    }
    return counts;
}

// What it takes to make the same file again, and what became of the loops.
static bool write_recipe(struct generation *g, const char *path, uint64_t programs, size_t made)
{
    cJSON *json = cJSON_CreateObject(), *builds = cJSON_AddArrayToObject(json, "configurations");
    char text[256];
    cJSON_AddNumberToObject(json, "seed", (double)g->options->seed);
    cJSON_AddNumberToObject(json, "programs", (double)programs);
    cJSON_AddNumberToObject(json, "functions", FUNCTIONS);
    cJSON_AddNumberToObject(json, "sample", (double)g->options->sample);
    cJSON_AddStringToObject(json, "commit", host_git);
    for (unsigned c = 0; c < build_configuration_count; c++) {
        cJSON *build = cJSON_CreateObject();
        cJSON_AddStringToObject(build, "name", build_configurations[c].name);
        cJSON_AddStringToObject(build, "command", build_configurations[c].compiler);
        cJSON_AddStringToObject(build, "options", build_configurations[c].options);
        cJSON_AddStringToObject(build, "version", build_compiler_version(c, text, sizeof text));
        cJSON_AddItemToArray(builds, build);
    }
    cJSON_AddNumberToObject(json, "loops_found", (double)g->found);
    cJSON *dropped = cJSON_AddObjectToObject(json, "dropped");
    for (unsigned v = 1; v < LABEL_VERDICTS; v++) {
        cJSON *by_class = cJSON_AddObjectToObject(dropped, label_verdict_names[v]);
        for (unsigned c = 0; c < LOOP_CLASSES; c++)
            if (g->dropped[c][v])
                cJSON_AddNumberToObject(by_class, loop_class_words[c], (double)g->dropped[c][v]);
    }
    cJSON_AddNumberToObject(json, "distinct", (double)made);
    cJSON_AddNumberToObject(json, "samples", (double)g->data.count);
    cJSON_AddItemToObject(json, "classes", count_classes(&g->data));
    char *printed = cJSON_Print(json);
    struct new_file file;
    bool good = printed && new_file_open(&file, path);
    if (good) {
        fprintf(file.stream, "%s\n", printed);
        good = new_file_commit(&file);
    }
    if (!good)
        error_set(&g->error, "cannot write %s: %s", path, strerror(errno));
    else
        printf("%s\n", printed);
    cJSON_free(printed);
    cJSON_Delete(json);
    return good;
}

int loop_generate(const struct tool_options *options)
{
    static struct generation g;
    char sources[1024], recipe[960];
    const char *out = options->out ? options->out : "loops-generated.txt";
    uint64_t programs = options->programs ? options->programs : PROGRAMS;
    double start = clock_seconds();
    bool kept = false; // the program that failed, to be looked at
    g.options = options;
    bool good =
        build_begin(&g.builder, tool_path(sources, sizeof sources, options->data, "loop_programs"), &g.error);
    for (unsigned p = 0; good && p < programs; p++) {
        good = build_program(&g.builder, options->seed * 1000003 + p, FUNCTIONS, &g.error);
        kept = good && !take_configurations(&g, p);
        good = good && !kept;
        if (!good)
            break;
        loop_data_deduplicate(&g.data);
        good = options->sample || loop_data_write(out, &g.data, &g.error);
        if (good)
            fprintf(stderr, "program %u of %llu: %zu distinct loops, %.0f s\n", p + 1,
                    (unsigned long long)programs, g.data.count, clock_seconds() - start);
    }
    if (kept)
        fprintf(stderr, "neuromodel: the sources stay in %s until the next run\n", g.builder.scratch.path);
    else
        build_end(&g.builder);
    size_t made = g.data.count;
    if (good && options->sample)
        thin_out(&g.data, options->sample);
    size_t stem = strlen(out), ending = strlen(".txt");
    stem -= stem > ending && strcmp(out + stem - ending, ".txt") == 0 ? ending : 0;
    snprintf(recipe, sizeof recipe, "%.*s.json", (int)stem, out);
    good = good && loop_data_write(out, &g.data, &g.error) && write_recipe(&g, recipe, programs, made);
    loop_data_free(&g.data);
    return good ? 0 : tool_fail(&g.error);
}
