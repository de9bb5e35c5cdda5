// SPDX-License-Identifier: MIT
// A sheet is what is to be drawn over the picture, as data: rectangles and texts with their measured widths.
// Layouts fill it in; the window draws it and looks up what the mouse points at; tests check it.
//
// Lengths of a layout are units, of which text is 13 high; sheet_px turns them into pixels.
#ifndef FRONTEND_SHEET_H
#define FRONTEND_SHEET_H

#include <SDL.h>
#include <stdarg.h>
#include <stdbool.h>

#include "canvas.h"
#include "font.h"
#include "plot.h"

enum { SHEET_ITEMS = 640, SHEET_WORDS = 32768, SHEET_NOTHING = -1 };

// Of all cards, in units.
enum {
    CARD_EDGE = 10, // to the edge of the window
    CARD_PAD = 14,
    CARD_ROW = 21,
    CARD_LINE = 16, // of a paragraph
};

enum sheet_kind { SHEET_CARD, SHEET_BOX, SHEET_TEXT, SHEET_PLOT, SHEET_PICTURE };

struct sheet_item {
    enum sheet_kind kind;
    SDL_Rect at; // pixels
    uint32_t colour;
    int radius; // pixels; CARD, BOX
    enum style style; // TEXT
    const char *text; // TEXT; the sheet's own
    const struct plot *plot; // PLOT
    const uint32_t *pixels; // PICTURE, ARGB: width x height of them
    int width, height;
    int choice; // what a click there means, or SHEET_NOTHING
};

struct sheet {
    const struct fonts *fonts;
    int width, height; // of the drawing area
    SDL_Rect picture; // the game's, within it
    unsigned count;
    bool overflown; // something did not fit into the sheet's memory
    bool cut; // a paragraph had more lines than there was room for
    struct sheet_item items[SHEET_ITEMS];
    size_t used;
    char words[SHEET_WORDS];
};

// The scale for a window: text is 13 pixels high where it has 720, and grows with it and with percent, but
// not so far that the figures would not leave the middle of the picture free. It is not smaller than 13
// pixels of the window's own, of which one has density of the display's, but where the window is too narrow
// for that.
double sheet_best_scale(int width, int height, SDL_Rect picture, int percent, double density);

void sheet_begin(struct sheet *s, const struct fonts *fonts, int width, int height, SDL_Rect picture);

int sheet_px(const struct sheet *s, double units);
// The parts of the picture that cards have to leave free: its middle third (of width and of height), the
// lines of the status bar, and the line of messages.
SDL_Rect sheet_middle(const struct sheet *s);
int sheet_status_bar(const struct sheet *s); // its top
int sheet_message_line(const struct sheet *s); // its bottom

// They return the item, whose rectangle may still be changed.
struct sheet_item *sheet_card(struct sheet *s, SDL_Rect at, int opacity); // percent
struct sheet_item *sheet_box(struct sheet *s, SDL_Rect at, int radius, uint32_t colour);
// With the scale written into its corner.
void sheet_plot(struct sheet *s, SDL_Rect at, const struct plot *plot);
void sheet_picture(struct sheet *s, SDL_Rect at, const uint32_t *pixels, int width, int height);

// One line of text that begins, or ends, at x; base is what the letters stand on. They return its width.
int sheet_text(struct sheet *s, int x, int base, enum style style, uint32_t colour, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
int sheet_text_right(struct sheet *s, int x, int base, enum style style, uint32_t colour, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));
// Where letters stand in a row of that height at y.
int sheet_base(const struct sheet *s, int y, int height);
// Text of several lines, broken between words where width ends and at newlines; the first stands on base, and
// the others below it, row pixels apart. What comes after most lines is left out. Returns the number of
// lines.
int sheet_paragraph(struct sheet *s, int x, int base, int width, int row, int most, enum style style,
                    uint32_t colour, const char *text);
// How many lines a paragraph has.
int sheet_lines(const struct sheet *s, int width, enum style style, const char *text);

// Items from first on belong to that choice, or are moved.
void sheet_choose(struct sheet *s, unsigned first, int choice);
void sheet_move(struct sheet *s, unsigned first, int x, int y);

// Of the items from first on, those that do not lie between top and bottom are dropped.
void sheet_keep(struct sheet *s, unsigned first, int top, int bottom);

// The choice at these pixels, or SHEET_NOTHING.
int sheet_choice_at(const struct sheet *s, int x, int y);

bool sheet_has_plot(const struct sheet *s);

void sheet_draw(const struct sheet *s, struct canvas *c);

#endif
