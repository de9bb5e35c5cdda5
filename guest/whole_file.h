// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's files, for the patched engine: a game that is killed leaves the old file or the new one, never
// half of one.
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdio.h>

#include "doomtype.h"

// Opens a file for writing that is to replace the one at path; one at a time. Where nothing can be written
// beside it (a single file that was granted) it is written in place. NULL: errno tells why.
FILE *whole_file_open(const char *path);

// Closes it and puts it in its place. False, and the old file stays, if it could not be written.
boolean whole_file_close(FILE *stream);

#endif
