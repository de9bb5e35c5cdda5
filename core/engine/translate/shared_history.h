// SPDX-License-Identifier: MIT
// What the processes that run a program learn of its code, told to the one of them that keeps it for later
// runs. That one has made the others, by fork; each keeping for itself would replace what the others had
// kept.
#ifndef CORE_ENGINE_SHARED_HISTORY_H
#define CORE_ENGINE_SHARED_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct shared_history;
struct translator;

// Of the program with that key (translate_cache.c); this process keeps it. Forked ones share it. NULL without
// memory. (translate.h has shared_history_destroy.)
struct shared_history *shared_history_create(uint64_t program);
bool shared_history_is_of(const struct shared_history *h, uint64_t program);
// Whether this process is to keep it.
bool shared_history_is_kept_here(const struct shared_history *h);

// Adds what t has asked for since its process began, and now and then what has run, and what branches did.
// From processes that do not keep it.
void shared_history_tell(struct shared_history *h, const struct translator *t);
// Moves all that has been told into t, as if it had been seen here.
void shared_history_take(struct shared_history *h, struct translator *t);

#endif
