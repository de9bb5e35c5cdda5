// SPDX-License-Identifier: MIT
// Where the game's code lies that --prepare has translated ahead.
#ifndef FRONTEND_PREPARED_H
#define FRONTEND_PREPARED_H

#include <stdbool.h>

// What stands in the folder when all rounds have ended.
#define PREPARED_COMPLETE "complete"

// The folder of what --prepare makes: $NEURODOOM_PREPARED, else the installation's if this user can make that
// or it is complete, else one in the user's cache; NULL where that variable is set to nothing: there is none.
// The caller frees it.
char *prepared_folder(void);

// Whether all of it is there, for the game's program and the translator as they are now, and this user runs
// it (core/base/cache_file.c says whose code that is).
bool prepared_is_complete(const char *folder);

// Whether --prepare has not come to its end, and can: this build translates, and there is a folder for it,
// which this makes.
bool prepared_is_due(void);

#endif
