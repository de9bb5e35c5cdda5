// SPDX-License-Identifier: MIT
// Which function and which loop an instruction of the guest belongs to, by its symbols and its code.
#ifndef CORE_PROFILE_MAP_H
#define CORE_PROFILE_MAP_H

#include "core/state/guest.h"
#include "profile_frames.h"

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
// How the function's frame may stand in front of one of the count instructions from pc on, up to a branch:
// the first room ways. Returns how many; 0: that is not known.
unsigned profile_map_frames(struct profile_map *m, uint32_t pc, unsigned count, struct profile_frame *frames,
                            unsigned room);

enum profile_call { PROFILE_NO_CALL, PROFILE_CALL, PROFILE_CALL_COMPUTED };
// Whether the instruction at pc is a call, and, of PROFILE_CALL, of what.
enum profile_call profile_map_call_at(struct profile_map *m, uint32_t pc, uint32_t *target);
// Whether code of the function at pc calls the function that starts at to, itself or by way of at most so
// many others that jump on (what a function calls last it often jumps to), or what it has computed. False if
// it has no name.
bool profile_map_calls(struct profile_map *m, uint32_t pc, uint32_t to, unsigned hops);
// Whether what begins at pc, a function or a jump by a table, jumps to the function that starts at to, by way
// of at most hops - 1 others, or to what it has computed.
bool profile_map_passes_on(struct profile_map *m, uint32_t pc, uint32_t to, unsigned hops);

// What has been found in code so far holds no longer: other code is there. Names stay.
void profile_map_forget(struct profile_map *m);

#endif
