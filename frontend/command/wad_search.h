// SPDX-License-Identifier: MIT
// Where to find a WAD to play.
#ifndef FRONTEND_WAD_SEARCH_H
#define FRONTEND_WAD_SEARCH_H

#include <stdio.h>

#include "frontend/base/text.h"

// Where WADs are searched, in order. An entry may be a WAD file itself (DOOMWADDIR and DOOMWADPATH).
void wad_folders(struct text_list *folders);

// The first IWAD that can be played, and has that map if one is named, on the heap, or NULL. Damaged ones are
// passed over with a warning.
char *wad_find_any(const char *map);

// Adds every IWAD in the folders that can be played, once each: absolute paths.
void wad_games(struct text_list *paths);

// Resolves what a user gives as -iwad or -file: a path, or a name to be found in the folders, in any case,
// with or without ".wad"; a folder means the first IWAD in it. Returns an absolute path on the heap or NULL.
char *wad_resolve(const char *name);

// For --list-wads: every WAD found, the one that is played if no other is named, known by the settings or
// empty, and the folders looked in. Returns the number of playable IWADs.
unsigned wad_list(FILE *stream, const char *known);

#endif
