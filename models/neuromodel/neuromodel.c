// SPDX-License-Identifier: MIT
// neuromodel: makes, checks and measures the neural models.
#include "tool.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa/isa.h"
#include "dispatch_tool.h"
#include "frontend/base/host.h"
#include "frontend/base/prefix.h"
#include "frontend/base/streams.h"
#include "loop_tool.h"
#include "loop_train.h"
#include "words.h"

const struct tool_model tool_models[] = {
    {"dispatch", "dispatch-10279", "which kernel executes an instruction word; exact on every word",
     dispatch_generate, dispatch_train, dispatch_verify, dispatch_eval},
    {"dispatch-135", "dispatch-135", "the same by 135 parameters: an exhibit", NULL, dispatch_exhibit_train,
     NULL, NULL},
    {"loop-detector", DETECTOR_NAME, "what kind of loop this is, and which register counts it", NULL,
     detector_train, NULL, detector_eval},
    {"pattern-recognizer", RECOGNIZER_NAME, "what a loop is for: one of 16 classes", NULL, recognizer_train,
     NULL, recognizer_eval},
    {"iteration-predictor", PREDICTOR_NAME, "how often a loop will go round", NULL, predictor_train, NULL,
     predictor_eval},
};
const int tool_model_count = sizeof tool_models / sizeof tool_models[0];

static const struct {
    const char *name, *what;
} commands[] = {
    {"generate", "looks at the data that a model learns from; loops, library-loops: makes it"},
    {"collect", "adds the loops that a program's run has to a file of them"},
    {"train", "trains a model and writes its files"},
    {"verify", "checks a model against the truth, completely"},
    {"eval", "measures a model, its rule, and what it costs"},
    {"info", "shows the models' files"},
};

static void print_usage(FILE *out)
{
    fputs("usage: neuromodel COMMAND MODEL [OPTION]... [FILE]...\n"
          "       neuromodel collect [--out FILE] PROGRAM [ARGUMENT]...\n"
          "       neuromodel --help | --version\n\ncommands:\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
    fputs("\nmodels:\n", out);
    for (int i = 0; i < tool_model_count; i++)
        fprintf(out, "  %-14s %s\n", tool_models[i].name, tool_models[i].what);
    fputs("\noptions:\n"
          "  --models DIR     with the weights (models/weights)\n"
          "  --data-folder DIR  generate, collect, train --online: loops-*.txt, loop_programs (models/data)\n"
          "  --out BASE       train: writes BASE.npy and BASE.json\n"
          "  --seed N         train, eval: of everything random\n"
          "  --programs N     generate loops: how many programs\n"
          "  --sample N       generate loops: N samples of all classes and compilers alike\n"
          "  --epochs N       train: fewer or more than the model's own\n"
          "  --fresh          train: does not go on where an interrupted training stopped\n"
          "  --threads N      verify\n"
          "  --data FILE...   train, eval of the loop nets: loops, from generate or collect\n"
          "  --online DIR     train, without a model: tunes the loop nets by the online log there\n"
          "  --quick          verify dispatch: decodes one word for all that cannot differ\n"
          "  --profile FILE   eval dispatch: lines WORD COUNT, of executed instructions\n"
          "  FILE...          eval dispatch: aarch64 programs and libraries\n",
          out);
}

const char *tool_path(char *text, size_t size, const char *folder, const char *name)
{
    snprintf(text, size, "%s/%s", folder, name);
    return text;
}

int tool_fail(const struct error *error)
{
    fprintf(stderr, "neuromodel: %s\n", error->text);
    return 1;
}

static int usage_error(const char *what, const char *which)
{
    fprintf(stderr, "neuromodel: %s%s\nTry 'neuromodel --help'.\n", what, which);
    return 1;
}

static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

// Options may stand anywhere behind the model; what is none is a file.
static bool parse_options(int argc, char **argv, struct tool_options *o)
{
    o->files = argv;
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];
        if (name[0] != '-' || name[1] == '\0') {
            o->files[o->file_count++] = argv[i];
            continue;
        }
        if (strcmp(name, "--quick") == 0) {
            o->quick = true;
            continue;
        }
        if (strcmp(name, "--fresh") == 0) {
            o->resume_off = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : NULL;
        uint64_t number = 0;
        if (!value)
            return usage_error("no value, or no such option: ", name), false;
        if (strcmp(name, "--data") == 0) {
            o->files[o->file_count++] = argv[i];
        } else if (strcmp(name, "--online") == 0) {
            o->online = value;
        } else if (strcmp(name, "--models") == 0) {
            o->folder = value;
        } else if (strcmp(name, "--data-folder") == 0) {
            o->data = value;
        } else if (strcmp(name, "--out") == 0) {
            o->out = value;
        } else if (strcmp(name, "--profile") == 0) {
            o->profile = value;
        } else if (strcmp(name, "--seed") == 0 && parse_number(value, &number)) {
            o->seed = number;
            o->seed_given = true;
        } else if (strcmp(name, "--epochs") == 0 && parse_number(value, &number) && number > 0) {
            o->epochs = number;
            o->epochs_given = true;
        } else if (strcmp(name, "--programs") == 0 && parse_number(value, &number) && number > 0) {
            o->programs = number;
        } else if (strcmp(name, "--sample") == 0 && parse_number(value, &number) && number > 0) {
            o->sample = number;
        } else if (strcmp(name, "--threads") == 0 && parse_number(value, &number) && number > 0) {
            o->threads = number > 64 ? 64 : (unsigned)number;
        } else {
            return usage_error("no such option, or not a value for it: ", name), false;
        }
    }
    return true;
}

// One model's JSON in the terminal's words; the file itself has more.
static int print_info(const struct tool_model *model, const struct tool_options *options)
{
    char name[256], path[1024];
    snprintf(name, sizeof name, "%s.json", model->files);
    FILE *file = fopen(tool_path(path, sizeof path, options->folder, name), "r");
    if (!file) {
        printf("%s: no %s: %s\n", model->name, path, strerror(errno));
        return 1;
    }
    static char text[65536];
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    cJSON *json = cJSON_Parse(text);
    if (!json) {
        printf("%s: %s is no JSON\n", model->name, path);
        return 1;
    }
    printf("%s: %s\n", model->name, model->what);
    const cJSON *item;
    cJSON_ArrayForEach(item, json)
    {
        char *value = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
        printf("  %-13s %s\n", item->string, value ? value : item->valuestring);
        free(value);
    }
    cJSON_Delete(json);
    return 0;
}

static int run_info(const char *model, const struct tool_options *options)
{
    int status = 0;
    for (int i = 0; i < tool_model_count; i++)
        if (!model || strcmp(model, tool_models[i].name) == 0)
            status |= print_info(&tool_models[i], options);
    return status;
}

// The options end where the program's name stands: its arguments may look like ours.
static int run_collect(int argc, char **argv, struct tool_options *options)
{
    int own = 0;
    while (own < argc && argv[own][0] == '-')
        own += own + 1 < argc ? 2 : 1;
    if (!parse_options(own, argv, options))
        return 1;
    options->files = argv + own;
    options->file_count = argc - own;
    return loop_collect(options);
}

static int run_command(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        host_print_version("neuromodel", stdout);
        return 0;
    }
    if (argc < 2)
        return usage_error("a command is missing", "");
    const char *command = argv[1], *name = argc > 2 && argv[2][0] != '-' ? argv[2] : NULL;
    char weights[PATH_MAX], data[PATH_MAX];
    struct tool_options options = {.folder = prefix_path(PREFIX_MODELS "/weights", weights, sizeof weights),
                                   .data = prefix_path(PREFIX_MODELS "/data", data, sizeof data),
                                   .seed = 1,
                                   .threads = words_threads()};
    if (!options.folder || !options.data)
        return usage_error("without /proc it cannot tell where the models are", "");
    if (strcmp(command, "collect") == 0)
        return run_collect(argc - 2, argv + 2, &options);
    if (!parse_options(argc - (name ? 3 : 2), argv + (name ? 3 : 2), &options))
        return 1;
    if (name && strcmp(name, "loops") == 0 && strcmp(command, "generate") == 0)
        return loop_generate(&options);
    if (name && strcmp(name, "library-loops") == 0 && strcmp(command, "generate") == 0)
        return loop_generate_from_libraries(&options);
    const struct tool_model *model = NULL;
    for (int i = 0; i < tool_model_count; i++)
        if (name && strcmp(name, tool_models[i].name) == 0)
            model = &tool_models[i];
    if (name && !model)
        return usage_error("no such model: ", name);
    if (strcmp(command, "info") == 0)
        return run_info(name, &options);
    tool_command *run;
    if (strcmp(command, "train") == 0 && !name && options.online)
        return loops_train_online(&options);
    if (strcmp(command, "generate") == 0)
        run = model ? model->generate : NULL;
    else if (strcmp(command, "train") == 0)
        run = model ? model->train : NULL;
    else if (strcmp(command, "verify") == 0)
        run = model ? model->verify : NULL;
    else if (strcmp(command, "eval") == 0)
        run = model ? model->eval : NULL;
    else
        return usage_error("no such command: ", command);
    if (!model)
        return usage_error("a model is missing", "");
    if (!run) {
        fprintf(stderr, "neuromodel: %s has no command %s\n", name, command);
        return 1;
    }
    return run(&options);
}

int main(int argc, char **argv)
{
    streams_hold();
    int status = run_command(argc, argv);
    if (!streams_end() && status == 0) {
        fprintf(stderr, "neuromodel: cannot write to standard output: %s\n", strerror(errno));
        status = 1;
    }
    return status;
}
