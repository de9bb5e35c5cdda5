// SPDX-License-Identifier: MIT
#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NEEDED_WIDTH = 620 }; // units

double sheet_best_scale(int width, int height, SDL_Rect picture, int percent, double density)
{
    double scale = height / 720.0 * percent / 100, most = (double)picture.w / NEEDED_WIDTH;
    double fitting = (double)width / NEEDED_WIDTH, least = fitting < density ? fitting : density;
    scale = scale > most ? most : scale;
    return scale < least ? least : scale;
}

void sheet_begin(struct sheet *s, const struct fonts *fonts, int width, int height, SDL_Rect picture)
{
    s->fonts = fonts;
    s->width = width;
    s->height = height;
    s->picture = picture;
    s->count = 0;
    s->used = 0;
    s->overflown = s->cut = false;
}

int sheet_px(const struct sheet *s, double units)
{
    return (int)lround(units * fonts_scale(s->fonts));
}

SDL_Rect sheet_middle(const struct sheet *s)
{
    const SDL_Rect *p = &s->picture;
    return (SDL_Rect){p->x + p->w / 3, p->y + p->h / 3, p->w / 3, p->h / 3};
}

int sheet_status_bar(const struct sheet *s)
{
    return s->picture.y + s->picture.h * 168 / 200; // the lowest 32 of 200 lines
}

int sheet_message_line(const struct sheet *s)
{
    return s->picture.y + s->picture.h * 8 / 200; // the top 8
}

static struct sheet_item *add(struct sheet *s, enum sheet_kind kind, SDL_Rect at, uint32_t colour)
{
    if (s->count == SHEET_ITEMS) {
        s->overflown = true;
        s->count--; // the last one gives way
    }
    struct sheet_item *item = &s->items[s->count++];
    *item = (struct sheet_item){.kind = kind, .at = at, .colour = colour, .choice = SHEET_NOTHING};
    return item;
}

struct sheet_item *sheet_card(struct sheet *s, SDL_Rect at, int opacity)
{
    struct sheet_item *item = add(s, SHEET_CARD, at, (uint32_t)(opacity * 255 / 100));
    item->radius = sheet_px(s, 8);
    return item;
}

struct sheet_item *sheet_box(struct sheet *s, SDL_Rect at, int radius, uint32_t colour)
{
    struct sheet_item *item = add(s, SHEET_BOX, at, colour);
    item->radius = radius;
    return item;
}

void sheet_plot(struct sheet *s, SDL_Rect at, const struct plot *plot)
{
    add(s, SHEET_PLOT, at, 0)->plot = plot;
    if (plot->range <= 0) {
        return;
    }
    // Its scale, on a ground of its own: spikes reach up there.
    int digits = plot->range < 0.1 ? 2 : plot->range < 1 ? 1 : 0, pad = sheet_px(s, 3);
    char text[24];
    snprintf(text, sizeof text, "%.*f ms", digits, plot->range);
    int width = font_width(s->fonts, STYLE_LABEL, text), height = font_height(s->fonts, STYLE_LABEL);
    sheet_box(s, (SDL_Rect){at.x + at.w - width - pad, at.y, width + pad, height}, 0, 0x000000c0);
    sheet_text(s, at.x + at.w - width, at.y + font_ascent(s->fonts, STYLE_LABEL), STYLE_LABEL,
               (uint32_t)INK_LABEL, "%s", text);
}

void sheet_picture(struct sheet *s, SDL_Rect at, const uint32_t *pixels, int width, int height)
{
    struct sheet_item *item = add(s, SHEET_PICTURE, at, 0);
    item->pixels = pixels;
    item->width = width;
    item->height = height;
}

static struct sheet_item *add_text(struct sheet *s, int x, int base, enum style style, uint32_t colour,
                                   const char *text, size_t length)
{
    if (s->used + length + 1 > SHEET_WORDS) {
        s->overflown = true;
        s->used = 0;
    }
    char *kept = s->words + s->used;
    memcpy(kept, text, length);
    kept[length] = '\0';
    s->used += length + 1;
    SDL_Rect at = {x, base - font_ascent(s->fonts, style), font_width(s->fonts, style, kept),
                   font_height(s->fonts, style)};
    struct sheet_item *item = add(s, SHEET_TEXT, at, colour);
    item->style = style;
    item->text = kept;
    return item;
}

static struct sheet_item *add_formatted(struct sheet *s, int x, int base, enum style style, uint32_t colour,
                                        const char *format, va_list arguments)
    __attribute__((format(printf, 6, 0)));

static struct sheet_item *add_formatted(struct sheet *s, int x, int base, enum style style, uint32_t colour,
                                        const char *format, va_list arguments)
{
    char text[256];
    vsnprintf(text, sizeof text, format, arguments);
    return add_text(s, x, base, style, colour, text, strlen(text));
}

int sheet_text(struct sheet *s, int x, int base, enum style style, uint32_t colour, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct sheet_item *item = add_formatted(s, x, base, style, colour, format, arguments);
    va_end(arguments);
    return item->at.w;
}

int sheet_text_right(struct sheet *s, int x, int base, enum style style, uint32_t colour, const char *format,
                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct sheet_item *item = add_formatted(s, x, base, style, colour, format, arguments);
    va_end(arguments);
    item->at.x -= item->at.w;
    return item->at.w;
}

int sheet_base(const struct sheet *s, int y, int height)
{
    return y + (height - font_height(s->fonts, STYLE_TEXT)) / 2 + font_ascent(s->fonts, STYLE_TEXT);
}

// The bytes of a word that fit into width; at least one character.
static size_t fitting(const struct sheet *s, int width, enum style style, const char *text, size_t length)
{
    char piece[512];
    size_t fits = 0;
    for (size_t end = 1; end <= length && end < sizeof piece; end++) {
        if (end < length && ((unsigned char)text[end] & 0xc0) == 0x80) {
            continue; // within a character
        }
        snprintf(piece, sizeof piece, "%.*s", (int)end, text);
        if (fits && font_width(s->fonts, style, piece) > width) {
            break;
        }
        fits = end;
    }
    return fits;
}

// The bytes of text's first line: as many words as fit, or of a very long one a part; *next is where the next
// line begins.
static size_t first_line(const struct sheet *s, int width, enum style style, const char *text,
                         const char **next)
{
    size_t fits = 0, end = 0;
    while (text[end] && text[end] != '\n') {
        size_t word = end + strspn(text + end, " ");
        word += strcspn(text + word, " \n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)word, text);
        if (font_width(s->fonts, style, line) > width) {
            fits = fits ? fits : fitting(s, width, style, text, word);
            break;
        }
        fits = end = word;
    }
    *next = text + fits + strspn(text + fits, " ");
    *next += **next == '\n';
    return fits;
}

int sheet_lines(const struct sheet *s, int width, enum style style, const char *text)
{
    int lines = 0;
    for (; *text; lines++) {
        first_line(s, width, style, text, &text);
    }
    return lines;
}

int sheet_paragraph(struct sheet *s, int x, int base, int width, int row, int most, enum style style,
                    uint32_t colour, const char *text)
{
    int lines = 0;
    for (; *text && lines < most; lines++, base += row) {
        const char *next;
        size_t length = first_line(s, width, style, text, &next);
        add_text(s, x, base, style, colour, text, length);
        text = next;
    }
    s->cut |= *text != '\0';
    return lines;
}

void sheet_choose(struct sheet *s, unsigned first, int choice)
{
    for (; first < s->count; first++) {
        s->items[first].choice = choice;
    }
}

void sheet_move(struct sheet *s, unsigned first, int x, int y)
{
    for (; first < s->count; first++) {
        s->items[first].at.x += x;
        s->items[first].at.y += y;
    }
}

void sheet_keep(struct sheet *s, unsigned first, int top, int bottom)
{
    unsigned kept = first;
    for (; first < s->count; first++) {
        const SDL_Rect *at = &s->items[first].at;
        if (at->y >= top && at->y + at->h <= bottom) {
            s->items[kept++] = s->items[first];
        }
    }
    s->count = kept;
}

int sheet_choice_at(const struct sheet *s, int x, int y)
{
    for (unsigned i = s->count; i-- > 0;) {
        const struct sheet_item *item = &s->items[i];
        if (item->choice != SHEET_NOTHING && SDL_PointInRect(&(SDL_Point){x, y}, &item->at)) {
            return item->choice;
        }
    }
    return SHEET_NOTHING;
}

bool sheet_has_plot(const struct sheet *s)
{
    bool found = false;
    for (unsigned i = 0; i < s->count; i++) {
        found |= s->items[i].kind == SHEET_PLOT;
    }
    return found;
}

void sheet_draw(const struct sheet *s, struct canvas *c)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct sheet_item *item = &s->items[i];
        switch (item->kind) {
        case SHEET_CARD:
        case SHEET_BOX: canvas_box(c, &item->at, item->radius, item->colour); break;
        case SHEET_TEXT: canvas_text(c, item->at.x, item->at.y, item->style, item->colour, item->text); break;
        case SHEET_PLOT: plot_draw(item->plot, c, &item->at, sheet_px(s, 1)); break;
        case SHEET_PICTURE: canvas_picture(c, &item->at, item->pixels, item->width, item->height); break;
        }
    }
}
