// SPDX-License-Identifier: MIT
// The picture that a game begins with.
#ifndef FRONTEND_WAD_PICTURE_H
#define FRONTEND_WAD_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { WAD_PICTURE_WIDTH = 320, WAD_PICTURE_HEIGHT = 200 };

// Draws the WAD's TITLEPIC with its PLAYPAL, as ARGB. False, and black: it has none that can be drawn.
bool wad_draw_title(const char *path, uint32_t pixels[WAD_PICTURE_HEIGHT][WAD_PICTURE_WIDTH]);

#endif
