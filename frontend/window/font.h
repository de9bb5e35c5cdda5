// SPDX-License-Identifier: MIT
// Text as it is shown: a few styles, each a face and a size, which are measured here and drawn by the canvas.
// The faces are those of B612; where its files are missing, the built-in font. Needs no window. Main thread
// only.
#ifndef FRONTEND_FONT_H
#define FRONTEND_FONT_H

#include <stdbool.h>
#include <stdint.h>

enum style {
    STYLE_TEXT,
    STYLE_LABEL,
    STYLE_BOLD,
    STYLE_TITLE,
    STYLE_NUMBER, // the one that matters
    STYLE_CODE,
    STYLE_COUNT
};

struct fonts;

// folder: of B612's files. Never fails.
struct fonts *fonts_create(const char *folder);
void fonts_free(struct fonts *f);
bool fonts_are_built_in(const struct fonts *f);

// Pixels to a unit of the layout, in which text is 13 high; at least FONTS_LEAST_SCALE, where it has 7.
#define FONTS_LEAST_SCALE 0.6
void fonts_set_scale(struct fonts *f, double scale);
double fonts_scale(const struct fonts *f);

// In pixels, of one line of UTF-8 text.
int font_width(const struct fonts *f, enum style style, const char *text);
int font_height(const struct fonts *f, enum style style);
// From the top of the line to what letters stand on.
int font_ascent(const struct fonts *f, enum style style);

// ---- for the canvas ----

// Of the glyphs of strokes.h: how far each moves on, and the size of a cell that holds the widest.
int font_advance(const struct fonts *f, enum style style, unsigned glyph);
int font_cell_width(const struct fonts *f, enum style style);
// Draws a glyph into such a cell, font_height high: white, coverage as alpha (ARGB). The cell is transparent
// before. left: pixels by which its left edge is left of the pen.
void font_draw(const struct fonts *f, enum style style, unsigned glyph, uint32_t *pixels, int pitch);
int font_cell_left(const struct fonts *f, enum style style);

#endif
