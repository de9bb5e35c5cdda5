// SPDX-License-Identifier: MIT
#ifndef CORE_BASE_FILE_H
#define CORE_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

// Replaces the file name in folder (a descriptor, or AT_FDCWD) by what write writes, all of it or nothing: a
// file beside it is written, and renamed. durable: the name only comes to stand for data that are on the
// disk. False with errno; the old file then stays.
bool file_replace(int folder, const char *name, mode_t mode, bool durable,
                  bool (*write)(FILE *to, const void *user), const void *user);

#endif
