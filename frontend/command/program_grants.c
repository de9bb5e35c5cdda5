// SPDX-License-Identifier: MIT
#include "program_grants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/paths.h"

static bool grant_folder(struct grants *grants, const char *folder, struct failure *failure)
{
    char *path = path_absolute(folder);
    if (!path) {
        return fail(failure, STATUS_USAGE, "folder %s: %s", folder, strerror(errno));
    }
    if (!path_is_folder(path)) {
        free(path);
        return fail(failure, STATUS_USAGE, "%s is not a folder", folder);
    }
    grants_add(grants, path, text_copy(path), true);
    return true;
}

// The program may always read itself, under the name that it was called by and under its real one.
static void grant_program(struct grants *grants, const char *program, const char *cwd)
{
    char *real = path_absolute(program);
    if (!real) {
        return; // what is wrong with it is reported later
    }
    char *named = *program == '/' ? text_copy(program) : cwd ? text_format("%s/%s", cwd, program) : NULL;
    if (!grants_cover(grants, real)) {
        grants_add(grants, text_copy(real), text_copy(real), false);
    }
    if (named && strcmp(named, real) != 0 && !grants_cover(grants, named)) {
        grants_add(grants, text_copy(real), text_copy(named), false);
    }
    free(named);
    free(real);
}

// A struct machine_grant's.
static const char *make_own(void *maker)
{
    struct scratch *own = maker;
    return own->path[0] || scratch_make(own) ? own->path : NULL;
}

// Most programs that run briefly ask for none of these, and to make and remove one, and to look for what
// killed runs have left, is a tenth of a start.
static void grant_own(struct program_grants *p, struct grants *grants)
{
    static const char *const folders[PROGRAM_OWN_FOLDERS] = {
        "/tmp", // tmpfile and tmpnam
        "/dev/shm", // shm_open and sem_open
    };
    for (size_t i = 0; i < PROGRAM_OWN_FOLDERS; i++) {
        if (!grants_cover(grants, folders[i])) {
            grants_add_made(grants, make_own, &p->own[i], text_copy(folders[i]));
        }
    }
}

bool program_grants_make(struct program_grants *p, struct grants *grants, const struct text_list *folders,
                         const char *program, struct failure *failure)
{
    p->cwd = realpath(".", NULL);
    for (size_t i = 0; i < folders->count; i++) {
        if (!grant_folder(grants, folders->items[i], failure)) {
            return false;
        }
    }
    if (!folders->count && !grant_folder(grants, ".", failure)) {
        return false;
    }
    grant_program(grants, program, p->cwd);
    if (!p->cwd || !grants_cover_writable(grants, p->cwd)) {
        free(p->cwd);
        p->cwd = text_copy(grants->list[0].guest);
    }
    grant_own(p, grants);
    return true;
}

void program_grants_end(struct program_grants *p)
{
    for (size_t i = 0; i < PROGRAM_OWN_FOLDERS; i++) {
        scratch_remove(&p->own[i]);
    }
    free(p->cwd);
    *p = (struct program_grants){0};
}
