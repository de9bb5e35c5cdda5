// SPDX-License-Identifier: GPL-2.0-or-later
#include "whole_file.h"

#include <stdlib.h>

#include "m_misc.h"

static char *final_path, *temporary_path; // NULL: written in place

FILE *whole_file_open(const char *path)
{
    temporary_path = M_StringJoin(path, ".new", NULL);
    final_path = M_StringDuplicate(path);
    FILE *stream = fopen(temporary_path, "wb");
    if (stream == NULL) {
        free(temporary_path);
        temporary_path = NULL;
        stream = fopen(path, "wb");
    }
    if (stream == NULL) {
        free(final_path);
    }
    return stream;
}

boolean whole_file_close(FILE *stream)
{
    boolean good = ferror(stream) == 0;
    good = fclose(stream) == 0 && good;
    if (temporary_path != NULL && good) {
        good = rename(temporary_path, final_path) == 0;
    } else if (temporary_path != NULL) {
        remove(temporary_path);
    }
    free(temporary_path);
    free(final_path);
    return good;
}
