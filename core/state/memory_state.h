// SPDX-License-Identifier: MIT
// All of guest memory in a saved state: which pages there are, and what is in them.
#ifndef CORE_STATE_MEMORY_STATE_H
#define CORE_STATE_MEMORY_STATE_H

#include "memory.h"
#include "saved.h"

// What cannot be saved or come back to: shared memory other than of the file device_fd (-1: none). False with
// *error.
bool memory_check_shared(const struct memory *m, int device_fd, struct error *error);

void memory_save(struct memory *m, int device_fd, struct saved *s);

// What is to be loaded. NULL: s has failed; nothing has changed in either case. limit: bytes that the guest
// may have mapped.
struct memory_plan;
struct memory_plan *memory_plan_load(struct memory *m, int device_fd, uint64_t limit, struct saved *s);
void memory_plan_free(struct memory_plan *plan);
// Does it. False: the host denied memory midway.
bool memory_load(struct memory *m, const struct memory_plan *plan);

#endif
