// SPDX-License-Identifier: MIT
// Generated programs: C sources of many functions with loops, built by several compilers in many ways.
#ifndef MODELS_LOOP_BUILD_H
#define MODELS_LOOP_BUILD_H

#include "core/base/scratch.h"
#include "loop_template.h"

struct build_configuration {
    const char *name; // of at most 15 characters, "gcc-O2"
    const char *compiler; // the command
    const char *options;
};

extern const struct build_configuration build_configurations[];
extern const unsigned build_configuration_count;

struct builder {
    const char *sources; // the folder of templates and runtime
    struct scratch scratch; // build_end removes it
    struct template_set templates;
};

// Reads the templates and compiles what all programs share. False with a message in error; build_end in any
// case.
bool build_begin(struct builder *b, const char *sources, struct error *error);
void build_end(struct builder *b);

// Writes the sources of a program of that many functions of all classes, named after their class with a
// number behind ("fill_12"), and compiles the part that does not depend on the configuration. Everything
// random hangs on the seed.
bool build_program(struct builder *b, uint64_t seed, unsigned functions, struct error *error);

// Starts to build the program in a configuration; the process to wait for, or -1.
int build_start(const struct builder *b, unsigned configuration);
// Waits for it; false if the compiler refused (its words are on stderr).
bool build_wait(int process);
// Path of the program.
const char *build_path(const struct builder *b, unsigned configuration, char *text, size_t size);

// The first line that the compiler of the configuration says of its version; "" if there is none.
const char *build_compiler_version(unsigned configuration, char *text, size_t size);

// The class that a function's name tells; false if it is none of a template.
bool build_class_of(const char *function, enum loop_class *class);

#endif
