// SPDX-License-Identifier: MIT
// Where files are, and writing them so that nobody ever sees half a file.
#ifndef FRONTEND_PATHS_H
#define FRONTEND_PATHS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/core.h"

enum path_kind { PATH_CONFIG, PATH_STATE, PATH_DATA, PATH_CACHE };

// The program's folder of that kind ($XDG_…_HOME/neurodoom, as the XDG base directory specification gives
// it), or what is below it; below may be NULL. The caller frees the result. Nothing is created.
char *path_user(enum path_kind kind, const char *below);

// $XDG_DATA_HOME itself. The caller frees it.
char *path_data_home(void);

// A part of the installation: prefix_path of name. The caller frees it.
char *path_installed(const char *name);

// The absolute path without links of an existing file or folder, else NULL. The caller frees it.
char *path_absolute(const char *path);

// Whether they name one file, there or not; those that differ by hard links do not.
bool path_same(const char *a, const char *b);

bool path_is_file(const char *path); // or what a link to a file points to
bool path_is_folder(const char *path);
// Of a path that is no file: "there is no file PATH", "PATH is a folder" or whatever else it is. The caller
// frees it.
char *path_tell_no_file(const char *path);

// Both absolute, without "." or "..".
bool path_is_at_or_below(const char *path, const char *folder);

// The part of path after its last slash: points into path.
const char *path_name(const char *path);

// The path as a user would write it: ~ for the home folder. The caller frees it.
char *path_shown(const char *path);

// Creates the folder and those above it, for the user alone where they are new. False: errno tells why.
bool path_make_folder(const char *path);

// A file being written: it appears under its name only once it is complete. A path that names something
// else than a regular file (/dev/stdout, a pipe) is written directly, and "-" is standard output.
struct new_file {
    FILE *stream;
    struct file_new whole; // its stream is NULL where stream is written directly
};

// False: errno tells why, and nothing is left behind.
bool new_file_open(struct new_file *file, const char *path);
// Closes and puts the file in its place. False: errno tells why, and nothing is left behind.
bool new_file_commit(struct new_file *file);
// The same; the name only comes to stand for data that are on the disk.
bool new_file_commit_durably(struct new_file *file);
void new_file_discard(struct new_file *file);

// Whether there is a place for a file of that name: nothing is written. False: errno tells why.
bool new_file_try(const char *path);

// False: errno; what was at to stays.
bool copy_file(const char *from, const char *to);

// Writes size bytes as a whole file. False: errno tells why.
bool write_whole_file(const char *path, const void *data, size_t size);
// The same for a file of the program's own: what else is in its place, a link or a pipe, is replaced.
bool write_own_file(const char *path, const void *data, size_t size);

#endif
