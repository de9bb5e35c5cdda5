// SPDX-License-Identifier: MIT
// Paths as text. Canonical ones are absolute, without links, "." or "..", and have no trailing slash, so that
// "/" is "".
#ifndef CORE_LINUX_PATH_TEXT_H
#define CORE_LINUX_PATH_TEXT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// Whether path is the prefix, of length bytes, or below it.
bool path_has_prefix(const char *path, const char *prefix, size_t length);
// Whether the path, followed word by word, ever names something above where it starts.
bool path_rises(const char *path);
bool path_has_dot_dot(const char *path);
bool path_ends_with_slash(const char *path);
// What path has behind its last name, as short as it can be written: "/" or "/." if that is to be a folder,
// else "".
const char *path_tail(const char *path);
// Appends a component to a canonical path, or removes the last one for "..". 0 or -ENAMETOOLONG.
int path_append(char canonical[PATH_MAX], const char *name, size_t length);
// Appends all components of path.
int path_append_all(char canonical[PATH_MAX], const char *path);

#endif
