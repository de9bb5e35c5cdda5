// SPDX-License-Identifier: MIT
// A page of text over the whole window: why nothing can be played, or why the game has ended.
#ifndef FRONTEND_PAGE_H
#define FRONTEND_PAGE_H

#include "sheet.h"

// Title, text (lines end with newline, and are broken where the window ends) and, at the bottom, what the
// user can do.
void page_layout(struct sheet *s, const char *title, const char *text, const char *choices);

#endif
