// SPDX-License-Identifier: MIT
// Where the parts of an installation are. Nothing else of the frontend is needed here, so that every program
// can ask.
#ifndef FRONTEND_PREFIX_H
#define FRONTEND_PREFIX_H

#include <stddef.h>

// An installation is a folder, the prefix, with the programs in bin, parts that are run in PREFIX_LIBRARY,
// and data in PREFIX_SHARE. A build folder has the same form, by links, but that the programs lie in it
// directly. A prefix may be moved as a whole: it is found from where the running program lies.
#define PREFIX_LIBRARY "lib/neurodoom"
#define PREFIX_SHARE "share/neurodoom"
#define PREFIX_MODELS PREFIX_SHARE "/models"
#define PREFIX_GUEST PREFIX_SHARE "/guest/doom.aarch64"
#define PREFIX_PREPARED PREFIX_LIBRARY "/prepared" // what --prepare has made
#define PREFIX_TRANSLATOR PREFIX_LIBRARY "/translate_llvm.so"
#define PREFIX_WINDOW PREFIX_LIBRARY "/neurodoom_window"

// Writes the path of name, below the prefix, to path (size bytes), whether or not there is such a file. The
// prefix is the nearest one that has PREFIX_SHARE of these: the running program's folder, the folder above,
// the one above that; where none has, the program's folder. Returns path, or NULL if it does not fit or /proc
// is missing.
const char *prefix_path(const char *name, char *path, size_t size);

#endif
