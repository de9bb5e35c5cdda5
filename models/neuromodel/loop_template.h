// SPDX-License-Identifier: MIT
// Templates of C functions, of which each expansion is another function with the same purpose.
//
// A file of templates consists of lines; those that end in a backslash go on in the next.
//
//   ## …              a comment
//   let NAME = TEXT   NAME stands for TEXT, which is expanded once for each function
//   def NAME = TEXT   NAME stands for TEXT, which is expanded at each use
//   == CLASS WEIGHT   begins a template of functions whose loops are of CLASS (loop_classes.def)
//   call TEXT         statements that call the function, for the program around it (see runtime.h)
//   anything else     the function's text, the header first; $f is its name
//
// What stands before a file's first template holds for all templates of it and of the files that are read
// after it. In any text:
//
//   $NAME             what NAME stands for (letters and digits)
//   {{A|B|C}}         one of these, nested at will; \| is a | itself
//   {{=N|A|B|C}}      the one of number N, from 0
//   {{#3..17}}        a number from 3 to 17
#ifndef MODELS_LOOP_TEMPLATE_H
#define MODELS_LOOP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/nn/rng.h"
#include "loop_data.h"

struct template_line {
    enum { TEMPLATE_LET, TEMPLATE_DEF, TEMPLATE_CALL, TEMPLATE_TEXT } kind;
    const char *name; // LET, DEF
    char *text;
};

struct template
{
    enum loop_class class;
    unsigned weight;
    size_t count;
    struct template_line *lines; // those that hold for several templates among them
};

struct template_set {
    struct template *templates;
    size_t count;
    struct template common; // what holds for the next ones
    char **files; // the texts that everything points into
    size_t file_count;
};

// Adds the templates of a file; false with a message in error. The set begins as zeros.
bool templates_read(struct template_set *set, const char *path, struct error *error);
void templates_free(struct template_set *set);

// A function called name: its text, its prototype (the header with a semicolon) and the statements that call
// it, each to be freed by the caller, with what was random taken from r. False with a message in error.
struct template_function {
    char *text, *prototype, *call;
};
bool template_expand(const struct template *t, const char *name, struct rng *r, struct template_function *f,
                     struct error *error);

#endif
