// SPDX-License-Identifier: GPL-2.0-or-later
#include "whole_file.h"

#include <stdlib.h>
#include <string.h>

#include "m_misc.h"

static char *final_path, *text;
static size_t text_size;

FILE *whole_file_open(const char *path)
{
    FILE *stream = open_memstream(&text, &text_size);
    if (stream != NULL) {
        final_path = M_StringDuplicate(path);
    }
    return stream;
}

// Whether the file holds the text already: what is the same need not be written at the end of each game.
static boolean is_written(void)
{
    FILE *old = fopen(final_path, "rb");
    char *bytes = malloc(text_size + 1);
    boolean same = old != NULL && bytes != NULL && fread(bytes, 1, text_size + 1, old) == text_size &&
                   memcmp(bytes, text, text_size) == 0;
    free(bytes);
    if (old != NULL) {
        fclose(old);
    }
    return same;
}

static boolean replace(void)
{
    char *temporary_path = M_StringJoin(final_path, ".new", NULL);
    FILE *stream = fopen(temporary_path, "wb");
    boolean beside = stream != NULL;
    if (!beside) {
        stream = fopen(final_path, "wb");
    }
    boolean good = stream != NULL && fwrite(text, 1, text_size, stream) == text_size;
    good = stream != NULL && fclose(stream) == 0 && good;
    if (beside && good) {
        good = rename(temporary_path, final_path) == 0;
    } else if (beside) {
        remove(temporary_path);
    }
    free(temporary_path);
    return good;
}

boolean whole_file_close(FILE *stream)
{
    boolean good = ferror(stream) == 0;
    good = fclose(stream) == 0 && good;
    good = good && (is_written() || replace());
    free(text);
    free(final_path);
    return good;
}
