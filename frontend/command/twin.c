// SPDX-License-Identifier: MIT
#include "twin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doom_options.h"
#include "frontend/base/paths.h"

#define COPIED_MOST ((int64_t)64 << 20) // bytes
#define COPY_AT_ONCE (1 << 20)

// ---- options ----

// What a side may say: all else would make it another game.
static bool is_switch(const char *word)
{
    static const char *const switches[] = {"engine", "neural", "opt", "verify", "models"};
    bool found = false;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        found |= length == strlen(switches[i]) && strncmp(word, switches[i], length) == 0;
    }
    return found;
}

static bool check_words(const struct text_list *words, struct failure *failure)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        const char *before = i ? words->items[i - 1] : "";
        bool is_value =
            *word != '-' && *before == '-' && !strchr(before, '=') && strcmp(before, "--verify") != 0;
        if (!is_value && (strncmp(word, "--", 2) != 0 || !is_switch(word + 2))) {
            return fail(failure, STATUS_USAGE,
                        "--split: a side is switched by --engine, --neural, --opt, --verify or --models; "
                        "\"%s\" would be for both, and stands outside",
                        word);
        }
    }
    return true;
}

// What the side says comes behind what the command line says. *models: the caller's to free, if it is new.
static bool apply(struct options *options, struct settings *settings, char **models,
                  const struct side_words *side, struct failure *failure)
{
    struct options said;
    struct text_list line = {0}; // as main gets it
    text_list_add(&line, text_copy("neurodoom"));
    for (size_t i = 0; i < side->words.count; i++) {
        text_list_add(&line, text_copy(side->words.items[i]));
    }
    bool good = doom_options_parse(&said, (int)line.count, line.items, failure) &&
                config_apply(settings, &said.settings, failure);
    text_list_free(&line);
    options->dispatch_given |= said.dispatch_given;
    options->loops_given |= said.loops_given;
    options->idle_given |= said.idle_given;
    *models = said.models;
    said.models = NULL;
    options_free(&said);
    return good;
}

bool twin_open(struct twin *twin, struct options *options, struct settings *settings, struct failure *failure)
{
    *twin = (struct twin){.options = *options, .settings = *settings};
    char *models = NULL;
    if (!sides_parse(twin->sides, "split", options->split, failure) ||
        !check_words(&twin->sides[0].words, failure) || !check_words(&twin->sides[1].words, failure) ||
        !apply(&twin->options, &twin->settings, &twin->models, &twin->sides[1], failure) ||
        !apply(options, settings, &models, &twin->sides[0], failure)) {
        return false;
    }
    if (twin->models) {
        twin->options.models = twin->models;
    } else if (options->models) { // the first side may have others from now on
        twin->options.models = twin->models = text_copy(options->models);
    }
    if (models) {
        free(options->models);
        options->models = models;
    }
    return true;
}

// ---- files ----

// No more than *left bytes. False: errno.
static bool copy_at_most(const char *from, const char *to, int64_t *left)
{
    int in = open(from, O_RDONLY | O_CLOEXEC),
        out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t copied = out < 0 ? -1 : 1;
    while (copied > 0 && *left >= 0) {
        copied = sendfile(out, in, NULL, COPY_AT_ONCE);
        *left -= copied;
    }
    int error = *left < 0 ? EFBIG : errno;
    if (in >= 0) {
        close(in);
    }
    bool good = out >= 0 && close(out) == 0 && copied == 0 && *left >= 0;
    errno = error;
    return good;
}

// A file, or a folder with all that is below it; what is neither is left out. False: errno.
static bool copy(const char *from, const char *to, int64_t *left)
{
    struct stat info;
    struct dirent **entries;
    if (lstat(from, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return !S_ISREG(info.st_mode) || copy_at_most(from, to, left);
    }
    int count = path_make_folder(to) ? scandir(from, &entries, NULL, NULL) : -1;
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (good && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            char *below = text_format("%s/%s", from, name), *there = text_format("%s/%s", to, name);
            good = copy(below, there, left);
            free(below);
            free(there);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return good;
}

// The same as the first machine's, but that what can be written is a copy.
static bool grant(struct twin *twin, const struct grants *grants, struct failure *failure)
{
    int64_t left = COPIED_MOST;
    bool good = scratch_make(&twin->copies);
    for (size_t i = 0; good && i < grants->count; i++) {
        const struct machine_grant *g = &grants->list[i];
        char *host = text_copy(g->host);
        if (g->writable) {
            free(host);
            host = text_format("%s/%zu", twin->copies.path, i);
            good = copy(g->host, host, &left);
        }
        grants_add(&twin->setup.grants, host, text_copy(g->guest), g->writable);
    }
    return good ||
           fail(failure, STATUS_USAGE,
                "--split: the right side plays with copies of the files that the game may write, and "
                "they cannot be made: %s",
                errno == EFBIG ? "there are more than 64 MB of saved games and demos" : strerror(errno));
}

// ---- the machine ----

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Whether waiting is all that the sides differ in. The right one never waits: it is told when the left one
// has.
static bool differ_in_waiting(const struct machine_config *a, const struct machine_config *b)
{
    return a->idle != b->idle && a->engine == b->engine && a->dispatch == b->dispatch &&
           a->loops == b->loops && a->verify == b->verify &&
           same_text(a->dispatch_model, b->dispatch_model) && same_text(a->loop_models, b->loop_models);
}

static void unprepare(struct twin *twin)
{
    machine_setup_free(&twin->setup);
    scratch_remove(&twin->copies);
}

bool twin_prepare(struct twin *twin, const struct launch *launch, struct failure *failure)
{
    unprepare(twin);
    const struct machine_config *first = &launch->setup.config;
    twin->setup.config = (struct machine_config){.program = first->program,
                                                 .argv = first->argv,
                                                 .envp = first->envp,
                                                 .cwd = first->cwd,
                                                 .ram = first->ram,
                                                 .device = first->device,
                                                 .deterministic = first->deterministic,
                                                 .clock = first->clock};
    if (!grant(twin, &launch->setup.grants, failure) ||
        !machine_setup_fill(&twin->setup, &twin->options, &twin->settings, false, failure)) {
        return false;
    }
    return !differ_in_waiting(first, &twin->setup.config) ||
           fail(failure, STATUS_USAGE,
                "--split: both sides are the same but for waiting, and the right one does not wait: it hears "
                "from the left one what time it is. This compares them:\n"
                "    neurodoom --bench --ab idle");
}

void twin_free(struct twin *twin)
{
    unprepare(twin);
    sides_free(twin->sides);
    free(twin->models);
    *twin = (struct twin){0};
}
