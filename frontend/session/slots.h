// SPDX-License-Identifier: MIT
// Ten saved states of a game. Saving and loading happen while the game runs: the machine stands only for as
// long as it takes to copy it; files are read and written on a thread of their own. What came of it is told
// as a message of the session.
#ifndef FRONTEND_SLOTS_H
#define FRONTEND_SLOTS_H

#include <stdbool.h>

#include "session.h"
#include "state_file.h"

enum { SLOTS = 10 };

struct slots;

// folder: where the files are, made if need be; program: the guest's file; wads: the game's own first. All
// are copied.
struct slots *slots_open(const char *folder, const char *program, const struct text_list *wads);
// Waits for what is being written.
void slots_close(struct slots *slots);

// Main thread. Only one of these is under way at a time; one that comes too early is dropped, with a message.
void slots_save(struct slots *slots, struct session *s, unsigned slot);
void slots_load(struct slots *slots, struct session *s, unsigned slot);
// The slot gets back what it had before the last save, or the game goes on where it was before the last load.
void slots_undo(struct slots *slots, struct session *s);

// What is in a slot, read from its file. False: nothing, or something else than a state of this program.
bool slots_look(const struct slots *slots, unsigned slot, struct state_summary *summary);

#endif
