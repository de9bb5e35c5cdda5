// SPDX-License-Identifier: MIT
// Translated code on disk: one file for each guest program, of relocatable objects with what they were made
// from.
#ifndef CORE_ENGINE_CODE_CACHE_H
#define CORE_ENGINE_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "region.h"

struct code_cache;

// One object. The page hashes are XXH3 of the guest pages that it was translated from.
struct cached_object {
    uint32_t entry, page_count;
    struct cached_page {
        uint32_t address, reserved;
        uint64_t hash;
    } pages[REGION_PAGES_MAX];
    uint32_t left_out_count, left_out[REGION_LEFT_OUT_MAX]; // as in struct region
    uint64_t trusted_by; // the dispatch net that names all of the pages' instructions rightly, 0 = none asked
    const unsigned char *bytes; // owned by the cache
    size_t size;
};

// Opens the program's file in folder, which is made (0700) if need be and has to be the user's own. identity:
// whatever code depends on besides the guest. A file that is damaged, or of another identity, counts as
// empty. Returns NULL if nothing can be kept there.
struct code_cache *code_cache_open(const char *folder, uint64_t program, uint64_t identity);

// The objects that were there at opening and those added since.
size_t code_cache_count(const struct code_cache *c);
const struct cached_object *code_cache_get(const struct code_cache *c, size_t index);

// Adds an object, in place of an older one for the same entry. Its bytes (malloc'd) are the cache's from then
// on, until it is closed; on failure they stay the caller's.
bool code_cache_add(struct code_cache *c, const struct cached_object *object);

// Forgets the object at index: it fits the guest no more, or is damaged.
void code_cache_drop(struct code_cache *c, size_t index);

// Writes the file, if anything was added or dropped, to a temporary one that is then renamed; removes the
// oldest files of the folder beyond its cap. Frees c.
void code_cache_close(struct code_cache *c);

#endif
