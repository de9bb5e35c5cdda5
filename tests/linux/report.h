// SPDX-License-Identifier: MIT
// What the guest programs print: one line a step, compared with the same program under qemu-aarch64.
#ifndef REPORT_H
#define REPORT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Prints what a call gave: its result, or the name of the error.
#define SHOW(call)                                                                                           \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        long shown = (long)(call);                                                                           \
        if (shown == -1)                                                                                     \
            printf("%s: %s\n", #call, strerrorname_np(errno) ? strerrorname_np(errno) : "-1");               \
        else                                                                                                 \
            printf("%s: %ld\n", #call, shown);                                                               \
        fflush(stdout);                                                                                      \
    } while (0)

#endif
