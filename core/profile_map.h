// SPDX-License-Identifier: MIT
// Which function and which loop an instruction of the guest belongs to, by its symbols and its code.
#ifndef CORE_PROFILE_MAP_H
#define CORE_PROFILE_MAP_H

#include "core/state/guest.h"

struct profile_map;

struct profile_place {
    const char *function; // NULL: it has no name; the map's
    uint32_t start; // of the function, or of what has no name the page
    // The smallest loop around the instruction: from a branch back to header there is a way round through the
    // instruction. branch is the last such branch. header 0: there is none.
    uint32_t header, branch;
};

// NULL without memory.
struct profile_map *profile_map_create(struct guest *g);
void profile_map_destroy(struct profile_map *m); // NULL is ignored

// Emulation thread.
struct profile_place profile_map_find(struct profile_map *m, uint32_t pc);
// What has been found in code so far holds no longer: other code is there. Names stay.
void profile_map_forget(struct profile_map *m);

#endif
