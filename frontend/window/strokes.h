// SPDX-License-Identifier: MIT
// The built-in font (assets/font.h) as pixels, and the list of the glyphs that every font here has.
#ifndef FRONTEND_STROKES_H
#define FRONTEND_STROKES_H

#include <stdint.h>

enum { STROKES_GLYPHS = 104 };

// The glyph of the first character of UTF-8 text, which moves on; '?' for what there is none of.
unsigned strokes_glyph(const char **text);
// The Unicode character of a glyph.
uint32_t strokes_character(unsigned glyph);

// Of text whose em is size pixels.
int strokes_advance(int size); // every glyph's width
int strokes_height(int size);
// Draws one glyph, white with its coverage as alpha (ARGB), into a cell of advance by height pixels; weight
// is 1 for the usual pen.
void strokes_draw(unsigned glyph, int size, float weight, uint32_t *pixels, int pitch);

#endif
