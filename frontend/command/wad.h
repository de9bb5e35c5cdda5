// SPDX-License-Identifier: MIT
// WAD files: what a file is, and what is in it.
#ifndef FRONTEND_WAD_H
#define FRONTEND_WAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/base/text.h"

enum wad_kind {
    WAD_IWAD, // a game of DOOM
    WAD_PWAD, // an add-on
    WAD_OTHER_GAME, // an IWAD of something else than DOOM
    WAD_DAMAGED, // begins as a WAD, but is cut off or makes no sense
    WAD_NOT_WAD, // some other file
    WAD_UNREADABLE, // missing, a folder, or not permitted
};

struct wad_info {
    enum wad_kind kind;
    char what[160]; // for IWADs the game's name; otherwise "a …", fit for "FILE is …"
    uint32_t lumps;
    uint64_t size; // bytes
};

// Looks at the file. The header and directory are taken as hostile: nothing in them is trusted.
void wad_inspect(const char *path, struct wad_info *info);

// Whether the WAD has a lump of that name, in any case of letters, or is one: a file that is no WAD counts as
// a lump called as the file.
bool wad_has_lump(const char *path, const char *name);

// A WAD with all of its contents.
struct wad_lump {
    char name[9];
    const uint8_t *bytes;
    size_t size; // 0 as well where the lump would lie outside the file
};
struct wad_file {
    struct wad_lump *lumps;
    size_t count;
    uint8_t *contents;
};

// False if there is none. wad_unload is due after success.
bool wad_load(const char *path, struct wad_file *wad);
// The last lump of that name, which is the one that counts, or NULL.
const struct wad_lump *wad_find_lump(const struct wad_file *wad, const char *name);
void wad_unload(struct wad_file *wad);

// The name of the first map in the WAD's directory (MAP01, E1M1), or false if it has none.
bool wad_first_map(const char *path, char name[9]);

#endif
