// SPDX-License-Identifier: MIT
// Drawing text, boxes and lines over the game's picture. Coordinates are pixels of the drawing area; colours
// are 0xRRGGBBAA. Main thread only.
#ifndef FRONTEND_CANVAS_H
#define FRONTEND_CANVAS_H

#include <SDL.h>
#include <stdbool.h>
#include <stdint.h>

struct canvas;

enum {
    INK_TEXT = (int)0xffffffff,
    INK_LABEL = (int)0xbbbbbbff,
    INK_ON = 0x56b4e9ff,
    INK_OFF = (int)0xe69f00ff,
    INK_MARK = (int)0xf0e442ff,
    INK_PANEL = 0x000000cc, // 80 % black
};

// NULL if memory for textures is short.
struct canvas *canvas_create(SDL_Renderer *renderer);
void canvas_free(struct canvas *c);

// The text's size in pixels from now on. Glyphs are drawn anew when it changes.
void canvas_set_size(struct canvas *c, int pixels);

int canvas_line_height(const struct canvas *c);
int canvas_advance(const struct canvas *c); // every glyph's width

void canvas_box(struct canvas *c, int x, int y, int width, int height, uint32_t colour);
void canvas_lines(struct canvas *c, const SDL_FPoint *points, int count, uint32_t colour);
// One line of ASCII text, its top left at x, y; returns the x after it.
int canvas_text(struct canvas *c, int x, int y, uint32_t colour, const char *text);

// Forgets textures that the renderer has lost.
void canvas_renew(struct canvas *c);

#endif
