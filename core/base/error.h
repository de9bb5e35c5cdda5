// SPDX-License-Identifier: MIT
// What went wrong, for a person. Functions that can fail for reasons outside the program take one, and fill
// it when they fail.
#ifndef CORE_BASE_ERROR_H
#define CORE_BASE_ERROR_H

#include <stdbool.h>

enum error_kind {
    ERROR_HOST, // the host denied memory, threads, a file, …; or what a file holds is damaged
    ERROR_NO_FILE, // the program is not there, or not readable
    ERROR_NOT_PROGRAM, // it is not a static aarch64 program
};

struct error {
    enum error_kind kind;
    char text[1024]; // what happened, to which file, and what was expected or is to be done
};

// Fills error, which may be NULL. Returns false, for the use `return error_set(error, …)`.
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_set_kind(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
