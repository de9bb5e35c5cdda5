// SPDX-License-Identifier: MIT
#include "online_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"

#define NAME "online.loops"
enum { LINES_MAX = 4096, LINE_SIZE = 2048 };

static const char *const class_words[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) #identifier,
#include "loop_classes.def"
#undef LOOP_CLASS
};

// Type, counter and trips are left open: whoever reads it finds them in the code.
static void print_loop(const struct online_loop *l, char *line, size_t size)
{
    size_t at = (size_t)snprintf(line, size, "%s NONE 31 0 1 1 1 online - - %" PRIx32 " ",
                                 class_words[l->class], l->body->pc);
    for (unsigned i = 0; i < l->body->length; i++)
        at += (size_t)snprintf(line + at, size - at, "%08" PRIx32, l->body->words[i]);
    for (unsigned i = 0; i < 32; i++)
        at += (size_t)snprintf(line + at, size - at, "%c%" PRIx64, i ? ',' : ' ', l->body->x[i]);
    snprintf(line + at, size - at, "\n");
}

// The code in a line: what stands before the registers.
static bool is_same_code(const char *a, const char *b)
{
    const char *end_a = strrchr(a, ' '), *end_b = strrchr(b, ' ');
    const char *start_a = end_a, *start_b = end_b;
    while (start_a && start_a > a && start_a[-1] != ' ')
        start_a--;
    while (start_b && start_b > b && start_b[-1] != ' ')
        start_b--;
    return start_a && start_b && end_a - start_a == end_b - start_b &&
           memcmp(start_a, start_b, (size_t)(end_a - start_a)) == 0;
}

static unsigned read_lines(int folder, char **lines)
{
    int fd = file_open_own(folder, NAME);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[LINE_SIZE];
    unsigned count = 0;
    if (f && fgets(line, sizeof line, f)) // the first line says what the file is
        while (count < LINES_MAX && fgets(line, sizeof line, f))
            if (strchr(line, '\n') && (lines[count] = strdup(line)))
                count++;
    if (f)
        fclose(f);
    return count;
}

struct lines {
    char **list;
    unsigned count;
};

static bool write_lines(FILE *to, const void *user)
{
    const struct lines *lines = user;
    bool good = fputs("loops 1\n", to) >= 0;
    for (unsigned i = lines->count > LINES_MAX ? lines->count - LINES_MAX : 0; i < lines->count && good; i++)
        good = fputs(lines->list[i], to) >= 0;
    return good;
}

bool online_log_add(const char *folder, const struct online_loop *loops, unsigned count, struct error *error)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char **list = fd >= 0 ? calloc(LINES_MAX + count, sizeof *list) : NULL;
    unsigned known = list ? read_lines(fd, list) : 0, total = known;
    for (unsigned i = 0; list && i < count; i++) {
        char line[LINE_SIZE];
        print_loop(&loops[i], line, sizeof line);
        bool is_known = false;
        for (unsigned k = 0; k < total && !is_known; k++)
            is_known = is_same_code(list[k], line);
        if (!is_known && (list[total] = strdup(line)))
            total++;
    }
    const struct lines lines = {list, total};
    bool good = list && (total == known || file_replace(fd, NAME, 0600, false, write_lines, &lines));
    if (!good)
        error_set(error, "what was found out of loops is not kept: %s/" NAME ": %s", folder, strerror(errno));
    for (unsigned i = 0; i < total; i++)
        free(list[i]);
    free(list);
    if (fd >= 0)
        close(fd);
    return good;
}
