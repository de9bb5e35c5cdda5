// SPDX-License-Identifier: MIT
// neuromodel generate library-loops: loops as real programs have them, cut out of Debian's aarch64 libraries.
// Nothing runs: only what the code itself says becomes a label, and the registers are made up. What the DOOM
// guest is linked with is left out, since DOOM tests.
#include "loop_tool.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/loops/propose/loop_code.h"
#include "core/nn/rng.h"
#include "elf_code.h"
#include "loop_label.h"

enum { CALLING = 2 }; // of so many loops that call something one is taken

static const char libraries[] = "/usr/aarch64-linux-gnu/lib/*.so*";
static const char *const of_the_guest[] = {"libc.so", "libm.so", "ld-linux"};

static bool is_of_the_guest(const char *name)
{
    for (unsigned i = 0; i < sizeof of_the_guest / sizeof of_the_guest[0]; i++)
        if (strncmp(name, of_the_guest[i], strlen(of_the_guest[i])) == 0)
            return true;
    return false;
}

// Addresses, small numbers, zeroes, anything.
static uint64_t some_value(struct rng *random)
{
    switch (rng_below(random, 4)) {
    case 0: return 0x400000 + rng_below(random, 1 << 24);
    case 1: return rng_below(random, 1u << rng_below(random, 16));
    case 2: return 0;
    default: return rng_next(random) >> rng_below(random, 64);
    }
}

// Loops that make or change something, but end when the data say so, are hard to tell from others.
static bool is_plain(const struct loop_sample *s)
{
    return s->type != LOOP_TYPE_DATA || (s->class > LOOP_MAP && s->class != LOOP_COUNTDOWN);
}

// The loop that the branch at words[at] closes. False if it is none whose code says what it is.
static bool cut_out(const struct code_word *words, size_t at, struct rng *random, struct loop_sample *sample)
{
    struct code_insn branch;
    uint32_t code[SHAPE_LENGTH_MOST];
    code_decode(words[at].word, &branch);
    unsigned length = (unsigned)(1 - branch.target);
    if (branch.kind != CODE_BRANCH || branch.target >= 0 || branch.target <= -SHAPE_LENGTH_MOST ||
        length > at)
        return false;
    const struct code_word *first = &words[at + 1 - length];
    for (unsigned i = 0; i < length; i++)
        code[i] = first[i].word;
    *sample = (struct loop_sample){.class = LOOP_CLASSES, .compiler = "gcc-O2"};
    struct loop_body *body = &sample->body;
    body->length = length > LOOP_BODY_MAX ? LOOP_BODY_MAX : length;
    body->pc = (uint32_t)first[length - body->length].pc;
    memcpy(body->words, code + length - body->length, body->length * sizeof code[0]);
    for (unsigned r = 0; r < 32; r++)
        body->x[r] = some_value(random);
    if (loop_label(sample, (uint32_t)first->pc, code, length) != LABEL_GOOD ||
        loop_is_unclear(sample, code, length))
        return false;
    if (sample->class == LOOP_NONE ? rng_below(random, CALLING) : !is_plain(sample))
        return false;
    sample->trips_count = 0;
    sample->entries = sample->iterations = 0;
    return true;
}

static bool take_library(const char *path, struct loop_data *data, struct rng *random, struct error *error)
{
    struct code_word *words = NULL;
    size_t count = 0;
    struct stat status;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct error not_elf; // linker scripts are called .so too
    bool good = true;
    if (!is_of_the_guest(name) && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        elf_code_append(path, &words, &count, &not_elf))
        for (size_t i = 0; i < count && good; i++) {
            struct loop_sample sample;
            if (!cut_out(words, i, random, &sample))
                continue;
            snprintf(sample.program, sizeof sample.program, "%s", name);
            good = loop_data_add(data, &sample) || error_set(error, "no memory for the loops of %s", path);
        }
    free(words);
    return good;
}

int loop_generate_from_libraries(const struct tool_options *options)
{
    struct loop_data data = {0};
    struct error error;
    struct rng random = {options->seed};
    glob_t found = {0};
    bool good =
        glob(libraries, 0, NULL, &found) == 0 ||
        error_set(&error, "no libraries at %s; on Debian: sudo apt install gcc-aarch64-linux-gnu", libraries);
    for (size_t i = 0; i < found.gl_pathc && good; i++)
        good = take_library(found.gl_pathv[i], &data, &random, &error);
    globfree(&found);
    const char *out = options->out ? options->out : "loops-libraries.txt";
    if (good) {
        loop_data_deduplicate(&data);
        good = loop_data_write(out, &data, &error);
        printf("%s: %zu loops\n", out, data.count);
    }
    loop_data_free(&data);
    return good ? 0 : tool_fail(&error);
}
