// SPDX-License-Identifier: MIT
#include "streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void streams_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            open("/dev/null",
                 fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); // gets the lowest number that is free
        }
    }
}

bool streams_end(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}
