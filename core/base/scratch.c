// SPDX-License-Identifier: MIT
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define PREFIX "ndoom-" // its length counts: see build_begin of models/neuromodel
#define LETTERS "XXXXXX" // mkdtemp(3)
enum { OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

// Removes what is in the folder, whatever its owner may not do with it now, without following links. Takes
// over the descriptor.
static void empty(int folder)
{
    DIR *d = fdopendir(folder);
    if (!d) {
        close(folder);
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            unlinkat(folder, e->d_name, 0) == 0)
            continue;
        fchmodat(folder, e->d_name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
        int inner = openat(folder, e->d_name, OPEN_FOLDER);
        if (inner >= 0)
            empty(inner);
        unlinkat(folder, e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static void remove_folder(int around, const char *name, int fd)
{
    fchmod(fd, S_IRWXU);
    int again = openat(fd, ".", OPEN_FOLDER);
    if (again >= 0)
        empty(again);
    unlinkat(around, name, AT_REMOVEDIR);
}

// Removes the folder if it is ours and no living process has it locked.
static void remove_leftover(int around, const char *name)
{
    int fd = openat(around, name, OPEN_FOLDER);
    struct stat s;
    if (fd < 0)
        return;
    if (fstat(fd, &s) == 0 && s.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        file_is_called(around, name, fd))
        remove_folder(around, name, fd);
    close(fd);
}

static void remove_leftovers(const char *around)
{
    DIR *d = opendir(around);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) == 0 &&
            strlen(e->d_name) == sizeof PREFIX LETTERS - 1)
            remove_leftover(dirfd(d), e->d_name);
    if (d)
        closedir(d);
}

bool scratch_make(struct scratch *s)
{
    const char *around = getenv("TMPDIR");
    if (!around || *around != '/' || strlen(around) + sizeof "/" PREFIX LETTERS > sizeof s->path)
        around = "/tmp";
    remove_leftovers(around);
    for (;;) {
        snprintf(s->path, sizeof s->path, "%s/" PREFIX LETTERS, around);
        const mode_t mask = umask(077); // a guest's may deny it to this user, too
        const bool made = mkdtemp(s->path);
        umask(mask);
        if (!made)
            break;
        s->lock = open(s->path, OPEN_FOLDER);
        if (s->lock >= 0) {
            flock(s->lock, LOCK_EX);
            if (file_is_called(AT_FDCWD, s->path, s->lock))
                return true; // else it was taken for a leftover before it was locked
            close(s->lock);
        } else if (errno != ENOENT) {
            break;
        }
    }
    s->path[0] = '\0';
    return false;
}

void scratch_remove(struct scratch *s)
{
    if (!s->path[0])
        return;
    remove_folder(AT_FDCWD, s->path, s->lock);
    close(s->lock);
    *s = (struct scratch){.lock = -1};
}
