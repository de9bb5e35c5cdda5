// SPDX-License-Identifier: MIT
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_replace(int folder, const char *name, mode_t mode, bool durable,
                  bool (*write)(FILE *to, const void *user), const void *user)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%ld", name, (long)getpid()) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    FILE *to = fdopen(fd, "wb");
    bool good =
        to && write(to, user) && fflush(to) == 0 && fchmod(fd, mode) == 0 && (!durable || fsync(fd) == 0);
    int why = errno;
    if ((to ? fclose(to) : close(fd)) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && renameat(folder, beside, folder, name) != 0) {
        good = false;
        why = errno;
    }
    if (!good)
        unlinkat(folder, beside, 0);
    errno = why;
    return good;
}
