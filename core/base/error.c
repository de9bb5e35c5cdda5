// SPDX-License-Identifier: MIT
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static void set(struct error *error, enum error_kind kind, const char *format, va_list arguments)
{
    if (!error)
        return;
    error->kind = kind;
    vsnprintf(error->text, sizeof error->text, format, arguments);
}

bool error_set(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(error, ERROR_HOST, format, arguments);
    va_end(arguments);
    return false;
}

bool error_set_kind(struct error *error, enum error_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(error, kind, format, arguments);
    va_end(arguments);
    return false;
}
