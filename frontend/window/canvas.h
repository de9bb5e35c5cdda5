// SPDX-License-Identifier: MIT
// Drawing text, boxes and pictures over the game's picture. Coordinates are pixels of the drawing area;
// colours are 0xRRGGBBAA. What it draws with are textures that are made once a size. Main thread only.
#ifndef FRONTEND_CANVAS_H
#define FRONTEND_CANVAS_H

#include <SDL.h>
#include <stdint.h>

#include "font.h"

struct canvas;

enum {
    INK_TEXT = (int)0xffffffff,
    INK_LABEL = (int)0xbbbbbbff,
    INK_ON = 0x56b4e9ff,
    INK_OFF = (int)0xe69f00ff,
    INK_MARK = (int)0xf0e442ff,
    INK_LINE = 0xffffff30, // between parts of a card
};

// The fonts are the caller's and outlive it.
struct canvas *canvas_create(SDL_Renderer *renderer, const struct fonts *fonts);
void canvas_free(struct canvas *c);

// A filled box, its corners rounded.
void canvas_box(struct canvas *c, const SDL_Rect *at, int radius, uint32_t colour);
// One line of UTF-8 text, its top left at x, y.
void canvas_text(struct canvas *c, int x, int y, enum style style, uint32_t colour, const char *text);
// A picture of width by height pixels (ARGB), scaled to fill at.
void canvas_picture(struct canvas *c, const SDL_Rect *at, const uint32_t *pixels, int width, int height);

// Waits until all that was asked for has been drawn.
void canvas_flush(struct canvas *c);

// Forgets textures that the renderer has lost.
void canvas_renew(struct canvas *c);

#endif
