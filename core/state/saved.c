// SPDX-License-Identifier: MIT
#include "saved.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct saved saved_writer(void)
{
    return (struct saved){.loading = false};
}

struct saved saved_reader(const void *data, size_t size)
{
    return (struct saved){.data = (uint8_t *)(uintptr_t)data, .size = size, .loading = true};
}

void saved_fail(struct saved *s, const char *format, ...)
{
    if (s->failed)
        return;
    char text[sizeof s->error.text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) // what is named may come from the state, and go to a terminal
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    error_set(&s->error, "%s", text);
    s->failed = true;
}

void saved_expect(struct saved *s, bool good, const char *what)
{
    if (s->loading && !good)
        saved_fail(s, "the state is damaged: %s", what);
}

uint8_t *saved_extend(struct saved *s, size_t size)
{
    if (s->failed)
        return NULL;
    if (s->room - s->size < size) {
        size_t room = s->size + size + s->room / 2;
        uint8_t *data = realloc(s->data, room);
        if (!data) {
            saved_fail(s, "there is not enough memory to save the state");
            return NULL;
        }
        s->data = data;
        s->room = room;
    }
    s->size += size;
    return s->data + s->size - size;
}

void saved_bytes(struct saved *s, void *bytes, size_t size)
{
    if (!s->loading) {
        uint8_t *to = saved_extend(s, size);
        if (to && size)
            memcpy(to, bytes, size);
    } else if (s->failed || s->size - s->at < size) {
        saved_expect(s, false, "it ends too soon");
        memset(bytes, 0, size);
    } else {
        memcpy(bytes, s->data + s->at, size);
        s->at += size;
    }
}

void saved_text(struct saved *s, char **text, size_t most)
{
    uint32_t length = !s->loading && *text ? (uint32_t)strlen(*text) : 0;
    SAVED(s, length);
    if (!s->loading) {
        saved_bytes(s, *text, length);
        return;
    }
    saved_expect(s, length <= most && length <= s->size - s->at, "a text is too long");
    *text = s->failed ? NULL : calloc(1, (size_t)length + 1);
    if (!*text)
        saved_fail(s, "there is not enough memory to load the state");
    else
        saved_bytes(s, *text, length);
}

void saved_part(struct saved *s, uint32_t name)
{
    uint32_t found = name;
    SAVED(s, found);
    saved_expect(s, found == name, "a part is missing");
}
