// SPDX-License-Identifier: MIT
// The open files in a saved state: their names and offsets, never what is in them.
#ifndef CORE_LINUX_FILES_STATE_H
#define CORE_LINUX_FILES_STATE_H

#include "core/state/saved.h"
#include "files.h"

void files_save(struct files *f, struct saved *s);

// Opens what the state names, as far as the guest may open it: NULL: s has failed.
struct files_plan *files_plan_load(struct files *f, struct saved *s);
void files_plan_free(struct files_plan *plan);
// The plan's files become the guest's.
void files_load(struct files *f, struct files_plan *plan);

#endif
