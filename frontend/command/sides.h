// SPDX-License-Identifier: MIT
// What --ab and --split take: two ways to run, as words of a command line.
#ifndef FRONTEND_SIDES_H
#define FRONTEND_SIDES_H

#include "frontend/base/status.h"
#include "frontend/base/text.h"

struct side_words {
    char *name; // as people read it, such as "loops off"; without commas
    struct text_list words; // what this side gets on the command line besides what both do
};

// Takes the value of that option (without dashes) apart: loops, dispatch, idle, engine or neural, the plain
// side first; or A,B, where each is options, or settings without --opt in front, or nothing: as everything
// else on the command line has it. False: *failure. In either case sides_free is due.
bool sides_parse(struct side_words sides[2], const char *option, const char *value, struct failure *failure);
void sides_free(struct side_words sides[2]);

#endif
