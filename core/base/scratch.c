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
#define NUMBER_SIZE sizeof "4294967295"
enum { OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

// Opens the folder to be read, whatever its owner may not do with it now. NULL: it cannot be, or is none.
static DIR *open_folder(int around, const char *name)
{
    fchmodat(around, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    const int fd = openat(around, name, OPEN_FOLDER);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

// The next entry that is not gone once it is removed as a file. NULL: there is no more.
static const char *next_folder(DIR *d)
{
    const int folder = dirfd(d);
    for (struct dirent *e; folder >= 0 && (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlinkat(folder, e->d_name, 0) != 0)
            return e->d_name;
    return NULL;
}

// Moves the folder to another one, where a number that is free, from *next on, becomes its name.
static void move_up(int from, const char *name, int to, unsigned *next)
{
    char number[NUMBER_SIZE];
    fchmodat(from, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    do
        snprintf(number, sizeof number, "%u", (*next)++);
    while (renameat(from, name, to, number) && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
}

// Removes the folder. Those in it come up to the one around it.
static void flatten(int around, const char *name, unsigned *next)
{
    DIR *d = open_folder(around, name);
    for (const char *inner; d && (inner = next_folder(d)) != NULL;)
        move_up(dirfd(d), inner, around, next);
    if (d)
        closedir(d);
    unlinkat(around, name, AT_REMOVEDIR);
}

// Removes what is in the folder, without following links: one level at a time, for a guest's folders may be
// deeper than there are descriptors.
static void empty(DIR *top)
{
    unsigned next = 0;
    for (const char *name; (name = next_folder(top)) != NULL;)
        flatten(dirfd(top), name, &next);
    for (unsigned n = 0; n < next; n++) {
        char number[NUMBER_SIZE];
        snprintf(number, sizeof number, "%u", n);
        flatten(dirfd(top), number, &next);
    }
}

static void remove_folder(int around, const char *name, int fd)
{
    fchmod(fd, S_IRWXU);
    DIR *d = open_folder(fd, ".");
    if (d) {
        empty(d);
        closedir(d);
    }
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
