// SPDX-License-Identifier: MIT
// The loop page: everything about one hot loop, with the words of --explain-loop. Main thread only.
#ifndef FRONTEND_LOOP_PAGE_H
#define FRONTEND_LOOP_PAGE_H

#include <stdbool.h>

#include "core/core.h"
#include "sheet.h"

struct loop_page {
    bool open;
    uint32_t header; // of the loop
    int scroll; // units
    size_t number, count; // the loop's place among the hot ones, from 1
    char measured[160]; // what switching it has done to the time of a frame; "": it has not been switched
    // Instead of its code: the game, with what the loop draws tinted.
    bool traced;
    bool told; // of this loop
    unsigned pixels; // that it has written in the last picture, if told
    unsigned untold; // pictures that have said nothing of it
    struct machine_loop_explanation explanation;
};

// What clicks mean.
enum { LOOP_PAGE_NEXT, LOOP_PAGE_PREVIOUS, LOOP_PAGE_SWITCH, LOOP_PAGE_TRACE, LOOP_PAGE_BACK };

struct session_picture;
// A new picture: whether what the loop has written is to be tinted in it.
bool loop_page_look(struct loop_page *p, const struct session_picture *picture);

// Corrects the scroll where it is too far.
void loop_page_layout(struct loop_page *p, struct sheet *s);

#endif
