// SPDX-License-Identifier: MIT
// Text that is put together in a buffer of a fixed size, and cut where it does not fit.
#ifndef CORE_BASE_TEXT_H
#define CORE_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
    char *at; // the zero byte at its end
    size_t left; // bytes from there on; at least one
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
