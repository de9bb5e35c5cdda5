// SPDX-License-Identifier: MIT
#include "options.h"

#include <stdlib.h>
#include <string.h>

const struct option *options_find(const struct option *table, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static void set_path(char **path, const char *value)
{
    free(*path);
    *path = text_copy(value);
}

static bool parse_count(const char *text, size_t length, uint32_t *count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || value > UINT32_MAX) {
            return false;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *count = (uint32_t)value;
    return length > 0 && value > 0 && value <= UINT32_MAX;
}

static bool add_order(struct options *options, const struct option *option, const char *value,
                      struct failure *failure)
{
    struct frame_orders *orders = (struct frame_orders *)((char *)options + option->number);
    const char *colon = strchr(value, ':');
    struct frame_order order;
    if (!colon || !colon[1] || !parse_count(value, (size_t)(colon - value), &order.frame)) {
        return fail(failure, STATUS_USAGE, "--%s takes FRAME:FILE, such as 100:%s, not \"%s\"", option->name,
                    option->text, value);
    }
    order.path = text_copy(colon + 1);
    orders->items = memory_resize(orders->items, (orders->count + 1) * sizeof order);
    orders->items[orders->count++] = order;
    return true;
}

static void free_orders(struct frame_orders *orders)
{
    for (size_t i = 0; i < orders->count; i++) {
        free(orders->items[i].path);
    }
    free(orders->items);
}

static bool takes_value(const struct option *option)
{
    return option->kind == OPTION_SETTING || option->kind == OPTION_PATH || option->kind == OPTION_COUNT ||
           option->kind == OPTION_TEXT || option->kind == OPTION_FRAME_FILE || option->kind == OPTION_SET ||
           option->kind == OPTION_OPT || option->kind == OPTION_LIST || option->kind == OPTION_LOOP ||
           option->kind == OPTION_CSV_FORMAT || option->kind == OPTION_RERUN;
}

// --opt dispatch=MODE,loops=on|off,idle=on|off
static bool add_opts(struct options *options, const char *value, struct failure *failure)
{
    const struct {
        const char *name;
        bool *given;
    } all[] = {
        {"dispatch=", &options->dispatch_given},
        {"loops=", &options->loops_given},
        {"idle=", &options->idle_given},
    };
    enum { ALL = sizeof all / sizeof *all };
    while (*value) {
        size_t length = strcspn(value, ","), i = 0;
        while (i < ALL && strncmp(value, all[i].name, strlen(all[i].name)) != 0) {
            i++;
        }
        if (i == ALL) {
            return fail(failure, STATUS_USAGE,
                        "--opt takes dispatch=off|hybrid|pure|live, loops=on|off and idle=on|off, "
                        "separated by commas, not \"%.*s\"",
                        (int)length, value);
        }
        *all[i].given = true;
        text_list_add(&options->settings, text_format("neural.%.*s", (int)length, value));
        value += length + (value[length] == ',');
    }
    return true;
}

static bool apply(struct options *options, const struct option *option, const char *value,
                  struct failure *failure)
{
    char *end;
    switch (option->kind) {
    case OPTION_REQUEST: options->request = (enum request)option->number; return true;
    case OPTION_HEADLESS: options->headless = true; return true;
    case OPTION_SETTING:
        text_list_add(&options->settings, text_format("%s=%s", option->text, value));
        return true;
    case OPTION_FIXED_SETTING: text_list_add(&options->settings, text_copy(option->text)); return true;
    case OPTION_SET: text_list_add(&options->settings, text_copy(value)); return true;
    case OPTION_PATH:
        if (!*value) {
            return fail(failure, STATUS_USAGE, "--%s needs the name of a file", option->name);
        }
        set_path((char **)((char *)options + option->number), value);
        return true;
    case OPTION_LIST:
        text_list_add((struct text_list *)((char *)options + option->number), text_copy(value));
        return true;
    case OPTION_TEXT: set_path((char **)((char *)options + option->number), value); return true;
    case OPTION_COUNT:
        if (!parse_count(value, strlen(value), (uint32_t *)((char *)options + option->number))) {
            return fail(failure, STATUS_USAGE, "--%s takes a number of %s from 1 on, not \"%s\"",
                        option->name, option->text, value);
        }
        return true;
    case OPTION_LOOP:
        options->explain_loop = strtoull(value, &end, 0);
        if (*end || end == value || options->explain_loop == 0) {
            return fail(failure, STATUS_USAGE,
                        "--explain-loop takes the address of a loop's first instruction, "
                        "such as 0x41a2f0, not \"%s\"",
                        value);
        }
        return true;
    case OPTION_OPT: return add_opts(options, value, failure);
    case OPTION_FRAME_FILE: return add_order(options, option, value, failure);
    case OPTION_BENCH:
        options->request = REQUEST_BENCH;
        set_path(&options->bench.works, value ? value : "");
        return true;
    case OPTION_RERUN:
        options->request = REQUEST_RERUN;
        set_path(&options->bench.rerun, value);
        return true;
    case OPTION_CSV_FORMAT:
        options->mangohud = strcmp(value, "mangohud") == 0;
        return options->mangohud || strcmp(value, "native") == 0 ||
               fail(failure, STATUS_USAGE, "--csv-format is native or mangohud, not \"%s\"", value);
    case OPTION_COMPARE: break; // options_apply's
    }
    return true;
}

// --compare EARLIER LATER
static bool apply_compare(struct options *options, const char *value, int argc, char *const *argv, int *at,
                          struct failure *failure)
{
    int first = value ? 0 : 1; // words from argv[*at] on
    if (*at + first + 1 >= argc) {
        return fail(failure, STATUS_USAGE,
                    "--compare takes two reports of --bench: --compare EARLIER.json LATER.json");
    }
    options->request = REQUEST_COMPARE;
    set_path(&options->bench.earlier, value ? value : argv[*at + 1]);
    set_path(&options->bench.later, argv[*at + first + 1]);
    *at += first + 1;
    return true;
}

bool options_apply(struct options *options, const struct option *option, const char *after_name, int argc,
                   char *const *argv, int *at, struct failure *failure)
{
    const char *value = *after_name == '=' ? after_name + 1 : NULL;
    if (option->kind == OPTION_COMPARE) {
        return apply_compare(options, value, argc, argv, at, failure);
    }
    if (takes_value(option)) {
        if (!value && *at + 1 < argc) {
            value = argv[++*at];
        }
        if (!value) {
            return fail(failure, STATUS_USAGE, "--%s needs a value; see --help", option->name);
        }
    } else if (value && option->kind != OPTION_BENCH) {
        return fail(failure, STATUS_USAGE, "--%s takes no value", option->name);
    }
    return apply(options, option, value, failure);
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->doom_count; i++) {
        text_list_free(&options->doom[i].values);
    }
    free_orders(&options->screenshots);
    free_orders(&options->saves);
    free(options->state);
    free(options->doom);
    free(options->frame_hash);
    free(options->stats);
    free(options->profile);
    free(options->count);
    free(options->csv);
    free(options->wav);
    free(options->audio_hash);
    free(options->json);
    free(options->config_file);
    free(options->models);
    free(options->record_input);
    free(options->replay_input);
    free(options->split);
    free(options->bench.works);
    free(options->bench.sides);
    free(options->bench.against);
    free(options->bench.rerun);
    free(options->bench.out);
    free(options->bench.plot);
    free(options->bench.earlier);
    free(options->bench.later);
    text_list_free(&options->passed);
    text_list_free(&options->folders);
    text_list_free(&options->settings);
    *options = (struct options){0};
}
