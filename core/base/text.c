// SPDX-License-Identifier: MIT
#include "text.h"

#include <stdio.h>

void text_add(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    size_t written = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += written;
    t->left -= written;
}
