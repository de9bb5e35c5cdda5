// SPDX-License-Identifier: MIT
#include "online_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    int fd = openat(folder, "online.loops", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
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

static void write_lines(int folder, char *const *lines, unsigned count)
{
    char temporary[40];
    snprintf(temporary, sizeof temporary, "online.loops.%ld", (long)getpid());
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool good = f && fputs("loops 1\n", f) >= 0;
    for (unsigned i = count > LINES_MAX ? count - LINES_MAX : 0; i < count && good; i++)
        good = fputs(lines[i], f) >= 0;
    good = f && fclose(f) == 0 && good;
    if (!good || renameat(folder, temporary, folder, "online.loops") != 0)
        unlinkat(folder, temporary, 0);
}

void online_log_add(const char *folder, const struct online_loop *loops, unsigned count)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char **lines = fd >= 0 ? calloc(LINES_MAX + count, sizeof *lines) : NULL;
    unsigned known = lines ? read_lines(fd, lines) : 0, total = known;
    for (unsigned i = 0; lines && i < count; i++) {
        char line[LINE_SIZE];
        print_loop(&loops[i], line, sizeof line);
        bool is_known = false;
        for (unsigned k = 0; k < total && !is_known; k++)
            is_known = is_same_code(lines[k], line);
        if (!is_known && (lines[total] = strdup(line)))
            total++;
    }
    if (total > known)
        write_lines(fd, lines, total);
    for (unsigned i = 0; i < total; i++)
        free(lines[i]);
    free(lines);
    if (fd >= 0)
        close(fd);
}
