// SPDX-License-Identifier: MIT
// Files that are written whole or not at all. One that is being written has no name, where the file system
// knows files without (open(2), O_TMPFILE); else, and for the moment in which it takes its place, it is
// called NAME.PID-N.neurodoom-unfinished and locked. What a killed process has left under such a name goes
// when the next file is written in that folder.
#ifndef CORE_BASE_FILE_H
#define CORE_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

// A file being written.
struct file_new {
    FILE *stream; // to write to; NULL: there is none
    int folder, lock; // descriptors, of which the second has the file locked
    char *name, *beside; // in the folder: what it will be called, and what it is called now, NULL: nothing
};

// path is relative to folder, a descriptor or AT_FDCWD; mode is subject to the umask. False with errno, and
// nothing is left behind.
bool file_new_open(struct file_new *f, int folder, const char *path, mode_t mode);
// Closes the file and puts it in its place, of which an older file goes. durable: the name only comes to
// stand for data that are on the disk. False with errno; the old file then stays, and nothing is left behind.
bool file_new_commit(struct file_new *f, bool durable);
void file_new_discard(struct file_new *f);

// Opens a file to be read, which has to be this user's own and no link. -1 with errno: ENOENT if there is
// nothing, EINVAL if it is something else (a folder, a pipe, …), which is not touched.
int file_open_own(int folder, const char *name);
// Whether name in folder stands for what is open as fd, and is no link to it.
bool file_is_called(int folder, const char *name, int fd);

// What is in the folder, to be read from its beginning and closed by the caller. NULL with errno.
DIR *file_list(int folder);

// Replaces the file at path by what write writes, as the functions above do.
bool file_replace(int folder, const char *path, mode_t mode, bool durable,
                  bool (*write)(FILE *to, const void *user), const void *user);

#endif
