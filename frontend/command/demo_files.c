// SPDX-License-Identifier: MIT
#include "demo_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"

bool demo_files_is_lmp(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && text_same(name + length - 4, ".lmp");
}

char *demo_files_find(const char *given, const char *folder)
{
    const char *suffix = demo_files_is_lmp(given) ? "" : ".lmp";
    char *here = text_format("%s%s", given, suffix);
    char *kept = text_format("%s/%s%s", folder ? folder : ".", path_name(given), suffix);
    char *path = path_is_file(here) ? path_absolute(here) : path_is_file(kept) ? path_absolute(kept) : NULL;
    free(here);
    free(kept);
    return path;
}

// When the file was last written, in ns; 0: it does not exist.
static int64_t changed(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec : 0;
}

char *demo_files_record(struct demo_recording *recording, const char *given, const char *folder,
                        struct failure *failure)
{
    demo_files_free(recording);
    char *name = text_copy(path_name(given));
    if (demo_files_is_lmp(name)) {
        name[strlen(name) - 4] = '\0';
    }
    if (!*name || !folder) {
        free(name);
        fail(failure, STATUS_USAGE, "-record: %s",
             folder ? "a file has to be named, not a folder" : "there is no folder to record demos in");
        return NULL;
    }
    if (strchr(given, '/')) {
        char *wanted = text_format("%.*s", (int)(path_name(given) - given), given);
        bool exists = path_is_folder(wanted);
        if (exists) {
            recording->target = text_format("%s%s.lmp", wanted, name);
        } else {
            fail(failure, STATUS_USAGE, "-record: there is no folder %s", wanted);
        }
        free(wanted);
        if (!exists) {
            free(name);
            return NULL;
        }
    }
    recording->path = text_format("%s/%s.lmp", folder, name);
    // One that is moved away behind the run takes no other's place until then.
    for (unsigned i = 2; recording->target && changed(recording->path); i++) {
        free(recording->path);
        recording->path = text_format("%s/%s-%u.lmp", folder, name, i);
    }
    free(name);
    recording->before = changed(recording->path);
    const char *chosen = path_name(recording->path);
    return text_format("%.*s", (int)strlen(chosen) - 4, chosen);
}

// rename, or a copy where the target is on another file system.
static bool move_file(const char *from, const char *to)
{
    if (rename(from, to) == 0) {
        return true;
    }
    return errno == EXDEV && copy_file(from, to) && unlink(from) == 0;
}

void demo_files_finish(const struct demo_recording *recording)
{
    if (!recording->path || changed(recording->path) == recording->before) {
        return;
    }
    const char *place = recording->path;
    if (recording->target) {
        if (move_file(recording->path, recording->target)) {
            place = recording->target;
        } else {
            log_line(LOG_WARNING, "cannot move the recording to %s: %s", recording->target, strerror(errno));
        }
    }
    log_line(LOG_INFO, "the demo is in %s", place);
}

void demo_files_free(struct demo_recording *recording)
{
    free(recording->path);
    free(recording->target);
    *recording = (struct demo_recording){0};
}
