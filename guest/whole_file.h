// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's files, for the patched engine: a game that is killed leaves the old file or the new one, never
// half of one.
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdio.h>

#include "doomtype.h"

// Takes what is to replace the file at path; one at a time. NULL without memory.
FILE *whole_file_open(const char *path);

// Closes it and puts it in its place, unless it is what is there. Where nothing can be written beside that (a
// single file that was granted) it is written in place. False, and the old file stays, if it could not be
// written.
boolean whole_file_close(FILE *stream);

#endif
