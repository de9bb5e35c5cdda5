// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "neurodoom: out of memory (%zu bytes wanted)\n", size);
    exit(1);
}

void *memory_resize(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        out_of_memory(size);
    }
    return memory;
}

void *memory_zeroed(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory) {
        out_of_memory(size);
    }
    return memory;
}

char *text_format_list(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        fprintf(stderr, "neurodoom: out of memory\n");
        exit(1);
    }
    return text;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    return text;
}

char *text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_resize(NULL, size), text, size);
}

bool text_same(const char *text, const char *word)
{
    return strcasecmp(text, word) == 0;
}

// Edit distance (insert, delete, replace, swap of neighbours counting two), for words of up to 31 letters.
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > 31 || m > 31) {
        return 99;
    }
    unsigned row[32];
    for (size_t j = 0; j <= m; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned replace = diagonal + (a[i - 1] != b[j - 1]);
            unsigned other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < other ? replace : other;
        }
    }
    return row[m];
}

const char *text_closest(const char *text, const char *const *words, size_t count, size_t stride)
{
    const char *best = NULL;
    unsigned least = strlen(text) < 5 ? 2 : 3; // exclusive: one slip in a short word, two in a longer
    for (size_t i = 0; i < count; i++) {
        const char *word = *(const char *const *)((const char *)words + i * stride);
        unsigned d = distance(text, word);
        if (d < least) {
            least = d;
            best = word;
        }
    }
    return best;
}

void text_list_add(struct text_list *list, char *text)
{
    list->items = memory_resize(list->items, (list->count + 2) * sizeof *list->items);
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

bool text_list_has(const struct text_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

void text_list_free(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct text_list){0};
}
