// SPDX-License-Identifier: MIT
// A page of text over the whole window: why nothing can be played, why the game has ended, or the keys.
#ifndef FRONTEND_PAGE_H
#define FRONTEND_PAGE_H

#include "canvas.h"
#include "frontend/command/config.h"

// Draws title, text (lines end with newline and are broken where the window ends) and, at the bottom, what
// the user can do.
void page_draw(struct canvas *c, int width, int height, const char *title, const char *text,
               const char *choices);

// The text of the page of keys, on the heap.
char *page_keys(const struct settings *settings);

#endif
