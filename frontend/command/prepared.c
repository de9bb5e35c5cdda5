// SPDX-License-Identifier: MIT
#include "prepared.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "frontend/base/text.h"
#include "launch.h"

static bool can_make(const char *folder)
{
    struct stat info;
    if (stat(folder, &info) == 0) {
        return info.st_uid == geteuid() && access(folder, W_OK) == 0;
    }
    char *library = path_installed(PREFIX_LIBRARY);
    bool can = access(library, W_OK) == 0;
    free(library);
    return can;
}

char *prepared_folder(void)
{
    const char *given = getenv("NEURODOOM_PREPARED");
    if (given) {
        return *given ? text_copy(given) : NULL;
    }
    char *folder = path_installed(PREFIX_PREPARED);
    if (!can_make(folder) && !prepared_is_complete(folder)) {
        free(folder);
        folder = path_user(PATH_CACHE, "prepared");
    }
    return folder;
}

static bool is_newer(const struct stat *file, const char *than)
{
    struct stat other;
    return stat(than, &other) != 0 || file->st_mtim.tv_sec > other.st_mtim.tv_sec ||
           (file->st_mtim.tv_sec == other.st_mtim.tv_sec && file->st_mtim.tv_nsec >= other.st_mtim.tv_nsec);
}

bool prepared_is_complete(const char *folder)
{
    char *mark = text_format("%s/" PREPARED_COMPLETE, folder);
    char *program = launch_program(), *translator = path_installed(PREFIX_TRANSLATOR);
    struct stat info;
    bool complete = stat(mark, &info) == 0 && access(mark, R_OK) == 0 &&
                    (info.st_uid == geteuid() || info.st_uid == 0) && is_newer(&info, program) &&
                    is_newer(&info, translator);
    free(mark);
    free(program);
    free(translator);
    return complete;
}

bool prepared_is_due(void)
{
    char *folder = machine_default_engine() == MACHINE_ENGINE_TRANSLATE ? prepared_folder() : NULL;
    bool due =
        folder && !prepared_is_complete(folder) && path_make_folder(folder) && access(folder, W_OK) == 0;
    free(folder);
    return due;
}
