// SPDX-License-Identifier: MIT
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void streams_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            // gets the lowest number that is free
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        }
    }
}

bool streams_end(void)
{
    if (fflush(stdout) != 0) {
        return false;
    }
    errno = EIO; // of an earlier one that failed: why is not known any more
    return !ferror(stdout);
}
