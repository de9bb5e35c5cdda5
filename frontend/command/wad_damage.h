// SPDX-License-Identifier: MIT
// What is wrong inside a WAD. The engine trusts every number in there, and ends in a fault where one is
// wrong.
#ifndef FRONTEND_WAD_DAMAGE_H
#define FRONTEND_WAD_DAMAGE_H

// The first thing found that cannot be right for this engine, such as "SEGS of E1M1: record 7 refers to
// number 60000 of 400 VERTEXES", on the heap; NULL if nothing is. Reads all maps and the list of textures:
// some milliseconds.
char *wad_find_damage(const char *path);

#endif
