// SPDX-License-Identifier: MIT
// Who called the function of the guest that a sample is of: by frames of translated code on the host's stack,
// which are calls of the guest, and by return addresses on the guest's, which are where its code tells
// (profile_frames.h). Nothing of that is trusted: each link has to be one that the code of the caller can
// make, or it is not known who called.
#ifndef CORE_PROFILE_CALLERS_H
#define CORE_PROFILE_CALLERS_H

#include "core/engine/translate/translate.h"
#include "core/state/machine_profile.h"
#include "profile_map.h"

// What a sample takes down of them.
struct profile_chain {
    // Frames of translated code, the innermost first, that of the sample among them; then the rest was called
    // from where translated code was entered.
    struct translate_frame frames[64];
    unsigned frame_count; // 0: the sample is of no translated code
    bool entered; // they reach to where it was entered
    uint32_t pc; // if so: where that was
    // The guest's registers, and its stack from SP up, as far as it was copied, there, or at the sample.
    uint64_t sp, x29, x30;
    size_t stack_size;
    uint8_t stack[24576];
};

// Of what the interpreter runs, or stands in for it; of translated code, at host_pc with the host's stack
// pointer. Async-signal-safe, on the emulation thread.
void profile_chain_take(struct profile_chain *chain, const struct guest *g);
void profile_chain_take_translated(struct profile_chain *chain, const struct guest *g, uint64_t host_pc,
                                   uint64_t stack);

// All callers that have been found so far, each with its own: a tree.
struct profile_callers {
    struct machine_profile_caller *list;
    struct profile_inner {
        uint32_t first, next; // whom it called first; whom else its caller called: indices, 0 = nobody
    } * inner; // of each in the list
    size_t count, room;
};

// Who called the function at pc: an index into the list, or what stands in its place. Emulation thread, or
// when that has ended.
uint32_t profile_callers_find(struct profile_callers *c, struct profile_map *map, const struct translator *t,
                              uint32_t pc, const struct profile_chain *chain);
void profile_callers_free(struct profile_callers *c);

#endif
