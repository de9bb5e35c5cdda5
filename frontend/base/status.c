// SPDX-License-Identifier: MIT
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "text.h"

_Bool fail(struct failure *failure, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    free(failure->text);
    failure->text = text_format_list(format, arguments);
    // Texts of the engine and of fault reports come with newlines at their ends.
    for (size_t n = strlen(failure->text); n && failure->text[n - 1] == '\n'; n--) {
        failure->text[n - 1] = '\0';
    }
    failure->status = status;
    va_end(arguments);
    return 0;
}

int failure_report(struct failure *failure)
{
    log_line(LOG_ERROR, "%s", failure->text);
    free(failure->text);
    failure->text = NULL;
    return failure->status;
}
