// SPDX-License-Identifier: MIT
#include "writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"

static void note(struct writers *w, const char *option, const char *path, bool is_read)
{
    w->items = memory_resize(w->items, (w->count + 1) * sizeof *w->items);
    w->items[w->count++] = (struct writer){option, path, is_read};
}

void writers_note_read(struct writers *w, const char *option, const char *path)
{
    if (path) {
        note(w, option, path, true);
    }
}

// Of two that write to one file one would be lost, and so would what is read.
static bool is_free(const struct writers *w, const char *option, const char *path, struct failure *failure)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct writer *other = &w->items[i];
        if (!path_same(other->path, path)) {
            continue;
        }
        if (other->is_read) {
            return fail(failure, STATUS_USAGE,
                        "%s would write to %s, which is read (%s): give it another file", option, path,
                        other->option);
        }
        return fail(failure, STATUS_USAGE, "%s and %s would both write to %s: give one of them %s",
                    other->option, option, is_stdout ? "standard output (-)" : path,
                    is_stdout ? "a file" : "another file");
    }
    return true;
}

bool writers_add(struct writers *w, const char *option, const char *path, struct failure *failure)
{
    if (!path) {
        return true;
    }
    const bool is_stdout = strcmp(path, "-") == 0;
    if (is_stdout) {
        log_leave_stdout();
    }
    // What is there and no regular file, such as /dev/null, bears more than one.
    const bool is_shared = !is_stdout && access(path, F_OK) == 0 && !path_is_file(path);
    if (!is_shared && !is_free(w, option, path, failure)) {
        return false;
    }
    if (!new_file_try(path)) {
        return fail(failure, STATUS_USAGE, "cannot write %s: %s", path, strerror(errno));
    }
    note(w, option, path, false);
    return true;
}

void writers_free(struct writers *w)
{
    free(w->items);
    *w = (struct writers){0};
}
