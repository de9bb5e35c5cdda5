// SPDX-License-Identifier: MIT
// Watches every loop of a run: where it starts, with which registers it is entered, how often it goes round.
// For the collection of data; nothing of it is there in a run that is not watched.
#ifndef CORE_LOOPS_WATCH_H
#define CORE_LOOPS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/isa/cpu.h"
#include "core/state/machine_config.h"

struct loop_watch;

// report: called at the next entry of a loop, or at the end, with the entry before. NULL if there is no
// memory.
struct loop_watch *loop_watch_create(void (*report)(void *user, const struct machine_loop_entry *entry),
                                     void *user);
// Reports what is still open.
void loop_watch_destroy(struct loop_watch *d);

// The code at branch can go back to header. False if that was known.
bool loop_watch_add(struct loop_watch *d, uint32_t header, uint32_t branch);
// The header of a known loop, or the instruction behind its branch: where to call loop_watch_arrive.
bool loop_watch_is_place(const struct loop_watch *d, uint32_t pc);
// The guest has come to this place. taken: how often the branch at branch has been taken so far.
void loop_watch_arrive(struct loop_watch *d, uint32_t pc, const cpu *c,
                       uint32_t (*taken)(const cpu *c, uint32_t branch));

// The interpreter's own: the handler that stands behind a watched place.
void loop_watch_set_handler(struct loop_watch *d, uint32_t pc, uint32_t handler);
uint32_t loop_watch_handler(const struct loop_watch *d, uint32_t pc);

#endif
