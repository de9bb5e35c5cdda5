// SPDX-License-Identifier: MIT
// What neuromodel's commands share.
#ifndef MODELS_TOOL_H
#define MODELS_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/nn/tensor.h"

// Where a command's options stand; what was not given has the value in brackets.
struct tool_options {
    const char *folder; // of the weights [those that came with neuromodel]
    const char *data; // folder of loops-*.txt and loop_programs/ [likewise]
    const char *out; // base path of the files to write [the model's own, in folder]
    const char *profile; // executed words with their counts [NULL]
    const char *online; // folder with the online log of a machine [NULL]
    uint64_t seed; // [the one of the shipped weights]
    uint64_t epochs; // [the model's own]
    uint64_t programs, sample; // generate loops: how many programs [the default], samples at most [all]
    unsigned threads; // [as many as the machine has]
    bool seed_given, epochs_given;
    bool quick; // verify: by representatives of the words
    bool resume_off; // train: begin afresh
    char **files; // the rest of the command line
    int file_count;
};

// A command on a model: returns the exit status, 0 if all is well, 1 otherwise, having said why on stderr.
typedef int tool_command(const struct tool_options *options);

struct tool_model {
    const char *name;
    const char *files; // base name of its files
    const char *what; // in a line
    tool_command *generate, *train, *verify, *eval; // NULL: there is none
};

extern const struct tool_model tool_models[];
extern const int tool_model_count;

// FOLDER/NAME in text of size bytes; returns text.
const char *tool_path(char *text, size_t size, const char *folder, const char *name);

// "neuromodel: …" on stderr; returns 1.
int tool_fail(const struct error *error);

#endif
