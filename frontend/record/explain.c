// SPDX-License-Identifier: MIT
#include "explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/base/log.h"

enum { TEXT_MAX = 1 << 17 };

void explain_print(const machine *m, uint64_t address)
{
    char *text = address ? malloc(TEXT_MAX) : NULL;
    if (text) {
        machine_explain_loop(m, address, text, TEXT_MAX);
        fputs(text, log_result());
        fflush(log_result());
    }
    free(text);
}
