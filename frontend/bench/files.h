// SPDX-License-Identifier: MIT
// The report of a comparison as files: README.md beside this says what is in them.
#ifndef FRONTEND_BENCH_FILES_H
#define FRONTEND_BENCH_FILES_H

#include "comparison.h"

// False: errno tells why.
bool files_write_runs(const struct comparison *c, const char *path);
bool files_write_frames(const struct comparison *c, const char *path);
// One file a side of our own, in that folder, as MangoHud writes them.
bool files_write_mangohud(const struct comparison *c, const char *folder);
bool files_write_json(const struct comparison *c, const char *path);

#endif
