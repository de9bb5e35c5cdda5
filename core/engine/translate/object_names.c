// SPDX-License-Identifier: MIT
#include "object_names.h"

#include <stdlib.h>
#include <string.h>

#include "llvm_jit.h"

// Reads the numbers of a symbol that was made by format, whose only conversions are %08x; false if it was
// not.
static bool read_symbol(const char *name, const char *format, uint32_t *numbers)
{
    while (*format) {
        if (*format != '%') {
            if (*name++ != *format++)
                return false;
            continue;
        }
        char digits[9] = "", *end;
        strncpy(digits, name, 8);
        *numbers++ = (uint32_t)strtoul(digits, &end, 16);
        if (end != digits + 8)
            return false;
        name += 8;
        format += strlen("%08x");
    }
    return *name == '\0';
}

bool object_names_read(void *user, const char *name, bool is_defined, struct object_symbol *symbol)
{
    static const char *const formats[] = {[SYMBOL_CALL] = CALL_SYMBOL,
                                          [SYMBOL_EXIT] = EXIT_SYMBOL,
                                          [SYMBOL_LOOP] = LOOP_SYMBOL,
                                          [SYMBOL_REGION] = REGION_SYMBOL};
    static const char *const names[] = {[SYMBOL_PAGES] = "guest_pages",
                                        [SYMBOL_CPU] = "guest_cpu",
                                        [SYMBOL_TABLE] = "indirect_table",
#define WAY_BACK(way) [SYMBOL_HOST_##way] = "host_" #way,
                                        GLUE_HOST(WAY_BACK)
#undef WAY_BACK
    };
    const struct glue_names *glue = user;
    *symbol = (struct object_symbol){0};
    for (symbol->kind = SYMBOL_CALL; symbol->kind <= SYMBOL_REGION; symbol->kind++)
        if (read_symbol(name, formats[symbol->kind], symbol->numbers))
            return is_defined == (symbol->kind == SYMBOL_REGION);
    symbol->numbers[0] = symbol->numbers[1] = 0;
    for (; symbol->kind < SYMBOL_GLUE; symbol->kind++)
        if (strcmp(name, names[symbol->kind]) == 0)
            return !is_defined;
    for (; !is_defined && symbol->numbers[0] < glue->count; symbol->numbers[0]++)
        if (strcmp(name, glue->list[symbol->numbers[0]]) == 0)
            return true;
    return false;
}

bool object_names_read_glue(void *user, const char *name, bool is_defined, struct object_symbol *symbol)
{
    struct glue_names *glue = user;
    if (!is_defined)
        return object_names_read(glue, name, false, symbol);
    if (glue->count == GLUE_MAX || strlen(name) >= sizeof glue->list[0])
        return false;
    *symbol = (struct object_symbol){SYMBOL_GLUE, {glue->count, 0}};
    strcpy(glue->list[glue->count++], name);
    return true;
}
