// SPDX-License-Identifier: MIT
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ".neurodoom-unfinished"
enum { NAMES_MAX = 1000 };

bool file_is_called(int folder, const char *name, int fd)
{
    struct stat named, open;
    return fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

int file_open_own(int folder, const char *name)
{
    struct stat s;
    if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    if (!S_ISREG(s.st_mode) || s.st_uid != geteuid()) {
        errno = EINVAL;
        return -1;
    }
    return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

// Removes the file if it is a leftover: a writer that lives has it locked.
static void remove_leftover(int folder, const char *name)
{
    int fd = file_open_own(folder, name);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && file_is_called(folder, name, fd))
        unlinkat(folder, name, 0);
    close(fd);
}

DIR *file_list(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    return d;
}

static void remove_leftovers(int folder)
{
    DIR *d = file_list(folder);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t length = strlen(e->d_name), end = sizeof UNFINISHED - 1;
        if (length > end && strcmp(e->d_name + length - end, UNFINISHED) == 0)
            remove_leftover(folder, e->d_name);
    }
    closedir(d);
}

// The n-th name for the file while it is not in its place, as much of its own in front as there is room for;
// NULL with errno.
static char *name_beside(const struct file_new *f, int n)
{
    char end[64], *beside;
    const int length = snprintf(end, sizeof end, ".%ld-%d" UNFINISHED, (long)getpid(), n);
    return asprintf(&beside, "%.*s%s", NAME_MAX - length, f->name, end) < 0 ? NULL : beside;
}

// A file that has a name, locked before anybody has taken it for a leftover. Returns -1 with errno.
static int open_named(struct file_new *f, mode_t mode)
{
    for (int n = 0; n < NAMES_MAX && (f->beside = name_beside(f, n)); n++) {
        int fd = openat(f->folder, f->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0) {
            flock(fd, LOCK_EX);
            if (file_is_called(f->folder, f->beside, fd))
                return fd;
            close(fd);
        }
        free(f->beside);
        f->beside = NULL;
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return -1;
}

// Gives the file without a name one beside its place.
static bool give_name(struct file_new *f)
{
    char unnamed[40];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", f->lock); // open(2), O_TMPFILE, tells this way
    for (int n = 0; n < NAMES_MAX && (f->beside = name_beside(f, n)); n++) {
        if (linkat(AT_FDCWD, unnamed, f->folder, f->beside, AT_SYMLINK_FOLLOW) == 0)
            return true;
        free(f->beside);
        f->beside = NULL;
        if (errno != EEXIST)
            break;
    }
    return false;
}

// Closes all, and removes what has a name that is not its own. errno stays.
static void release(struct file_new *f)
{
    int why = errno;
    if (f->stream)
        fclose(f->stream);
    if (f->beside)
        unlinkat(f->folder, f->beside, 0);
    if (f->lock >= 0)
        close(f->lock);
    if (f->folder >= 0)
        close(f->folder);
    free(f->beside);
    free(f->name);
    *f = (struct file_new){.folder = -1, .lock = -1};
    errno = why;
}

bool file_new_open(struct file_new *f, int folder, const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char around[PATH_MAX] = ".";
    *f = (struct file_new){.folder = -1, .lock = -1};
    if (strlen(name) > NAME_MAX || (slash && snprintf(around, sizeof around, "%.*s/", (int)(slash - path),
                                                      path) >= (int)sizeof around)) {
        errno = ENAMETOOLONG;
        return false;
    }
    f->name = strdup(name);
    f->folder = openat(folder, around, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (f->name && f->folder >= 0) {
        remove_leftovers(f->folder);
        if (access("/proc/self/fd", X_OK) == 0)
            f->lock = openat(f->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
        if (f->lock >= 0)
            flock(f->lock, LOCK_EX);
        else
            f->lock = open_named(f, mode);
    }
    int fd = f->lock < 0 ? -1 : fcntl(f->lock, F_DUPFD_CLOEXEC, 0);
    f->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (f->stream)
        return true;
    if (fd >= 0)
        close(fd);
    release(f);
    return false;
}

bool file_new_commit(struct file_new *f, bool durable)
{
    bool good = fflush(f->stream) == 0 && (!durable || fsync(f->lock) == 0);
    if (good && ferror(f->stream)) {
        // What it was is not known any more; that the disk is full can still be seen.
        if (pwrite(f->lock, "", 1, lseek(f->lock, 0, SEEK_END)) == 1)
            errno = EIO;
        good = false;
    }
    int why = errno;
    if (fclose(f->stream) == 0)
        errno = why;
    else
        good = false;
    f->stream = NULL;
    good = good && (f->beside || give_name(f)) && renameat(f->folder, f->beside, f->folder, f->name) == 0;
    if (good) {
        free(f->beside);
        f->beside = NULL;
    }
    release(f);
    return good;
}

void file_new_discard(struct file_new *f)
{
    release(f);
}

bool file_replace(int folder, const char *path, mode_t mode, bool durable,
                  bool (*write)(FILE *to, const void *user), const void *user)
{
    struct file_new f;
    if (!file_new_open(&f, folder, path, mode))
        return false;
    if (write(f.stream, user))
        return file_new_commit(&f, durable);
    release(&f);
    return false;
}
