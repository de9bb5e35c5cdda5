// SPDX-License-Identifier: MIT
// What the nets have said of loops, by their code: asked once, kept on disk for the next run of any program.
#ifndef CORE_LOOPS_PROPOSE_PROPOSALS_H
#define CORE_LOOPS_PROPOSE_PROPOSALS_H

#include "loop_nets.h"

struct proposals;

// folder: of the nets' files, which are read when they are first asked. NULL with *error if one
// is missing.
struct proposals *proposals_create(const char *folder, struct error *error);
// False with *error if what the nets said cannot be kept.
bool proposals_destroy(struct proposals *p, struct error *error);

// Takes over what is kept in folder for these nets, and keeps it there at the end. Nets in folder that were
// tuned from these are asked instead. prepared and error: as those of cache_file_open.
void proposals_keep(struct proposals *p, const char *folder, const char *prepared, struct error *error);
// Whether tuned nets have turned out not to be usable, and why; once.
bool proposals_refused(struct proposals *p, struct error *why);

// The proposal for that code, or NULL if the nets have not been asked.
const struct loop_guess *proposals_find(const struct proposals *p, const struct loop_body *body);

// Asks the nets about bodies of which nothing is known. False, with a message in error, if they cannot be
// read; then never again. Not for two threads at once.
bool proposals_ask(struct proposals *p, const struct loop_body *bodies, unsigned count, struct error *error);

// Whether the nets have been asked in this run.
bool proposals_are_new(const struct proposals *p);

#endif
