// SPDX-License-Identifier: MIT
// Strings and lists of strings on the heap. Running out of memory for them ends the program: there is
// nothing sensible left to do, and every caller would have to say so.
#ifndef FRONTEND_TEXT_H
#define FRONTEND_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

// Like sprintf into new memory; the caller frees it.
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_format_list(const char *format, va_list arguments);
char *text_copy(const char *text);

// realloc, and calloc, that do not fail.
void *memory_resize(void *old, size_t size);
void *memory_zeroed(size_t size);

// Is text equal to word, whatever the case of its ASCII letters?
bool text_same(const char *text, const char *word);

// The one of count words that text is most likely a misspelling of, or NULL. stride: bytes from one word
// pointer to the next, so that a table of structs can be searched.
const char *text_closest(const char *text, const char *const *words, size_t count, size_t stride);

struct text_list {
    char **items; // count strings and a NULL; NULL while empty
    size_t count;
};

// Appends text, which the list owns from now on.
void text_list_add(struct text_list *list, char *text);
bool text_list_has(const struct text_list *list, const char *text);
void text_list_free(struct text_list *list);

#endif
