// SPDX-License-Identifier: MIT
// What outlasts a run, on disk: one file for each guest program, of objects (translated code, what the loop
// nets said, …) with what they were made from.
#ifndef CORE_BASE_CACHE_FILE_H
#define CORE_BASE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { CACHED_PAGES_MAX = 16, CACHED_LEFT_OUT_MAX = 48 };

struct cache_file;

// A guest page that an object was made from: its XXH3.
struct cached_page {
    uint32_t address, reserved;
    uint64_t hash;
};

struct cached_object {
    uint32_t entry, page_count, left_out_count;
    const struct cached_page *pages; // [page_count], at most CACHED_PAGES_MAX
    const uint32_t *left_out; // [left_out_count], at most CACHED_LEFT_OUT_MAX: where its code goes on that
                              // has not run
    uint64_t trusted_by; // the dispatch net that names all of the pages' instructions rightly, 0 = none asked
    const unsigned char *bytes; // owned by the cache
    size_t size; // 0: it has been dropped
};

// Opens the program's file in folder, which is made (0700) if need be and has to be the user's own. identity:
// whatever the objects depend on besides the guest. A file that is damaged, or of another identity, counts as
// empty; of one that was cut off, what is left counts. If that of the folder prepared (NULL: none) is larger,
// and only this user or root may have written it, it is read instead; what is added to it is kept in the
// first folder. Returns NULL if nothing can be kept there. error says why; or what in the file's place is not
// used, and replaced at the end; or nothing.
struct cache_file *cache_file_open(const char *folder, const char *prepared, uint64_t program,
                                   uint64_t identity, struct error *error);

// The objects that were there at opening and those added since. Of their bytes nothing is known yet.
size_t cache_file_count(const struct cache_file *c);
const struct cached_object *cache_file_get(const struct cache_file *c, size_t index);

// The object's bytes, which are as they were written, until the next call. (Read through cached_object.bytes,
// which last, they would make parts of the file resident.) NULL if it is damaged, or has been dropped: then
// it is now.
const unsigned char *cache_file_read(struct cache_file *c, size_t index);

// Adds an object, in place of an older one for the same entry; one without bytes only drops that. Its bytes
// (malloc'd) are the cache's from then on, until it is closed; on failure they stay the caller's. Pages and
// left_out are copied.
bool cache_file_add(struct cache_file *c, const struct cached_object *object);

// Forgets the object at index: it fits the guest no more, or is damaged.
void cache_file_drop(struct cache_file *c, size_t index);

// Writes the file as a whole, if anything was added or dropped; removes the oldest files of the folder beyond
// its cap. Frees c, in any case. False with *error if the old file stays because the new one cannot be
// written.
bool cache_file_close(struct cache_file *c, struct error *error);
// Frees c and writes nothing: a forked process's copy. NULL does nothing.
void cache_file_abandon(struct cache_file *c);

#endif
