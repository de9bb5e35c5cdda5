// SPDX-License-Identifier: MIT
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"
#include "strokes.h"

enum { ROW = 16, DISCS = 4 };

struct canvas {
    SDL_Renderer *renderer;
    const struct fonts *fonts;
    double scale; // that the glyphs have been drawn for
    SDL_Texture *glyphs[STYLE_COUNT]; // of each style, ROW side by side; NULL until text is drawn
    SDL_Rect ink[STYLE_COUNT][STROKES_GLYPHS]; // what is not transparent, within its cell
    struct {
        SDL_Texture *texture; // a white disc: its quarters are rounded corners
        int radius;
    } discs[DISCS];
    unsigned next_disc;
};

struct canvas *canvas_create(SDL_Renderer *renderer, const struct fonts *fonts)
{
    struct canvas *c = memory_resize(NULL, sizeof *c);
    *c = (struct canvas){.renderer = renderer, .fonts = fonts};
    return c;
}

static void forget(SDL_Texture **texture)
{
    if (*texture) {
        SDL_DestroyTexture(*texture);
        *texture = NULL;
    }
}

void canvas_renew(struct canvas *c)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        forget(&c->glyphs[i]);
    }
    for (int i = 0; i < DISCS; i++) {
        forget(&c->discs[i].texture);
    }
}

void canvas_free(struct canvas *c)
{
    canvas_renew(c);
    free(c);
}

void canvas_flush(struct canvas *c)
{
    SDL_RenderFlush(c->renderer);
}

static SDL_Texture *make_texture(struct canvas *c, const uint32_t *pixels, int width, int height)
{
    SDL_Texture *texture =
        SDL_CreateTexture(c->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC, width, height);
    if (texture) {
        SDL_UpdateTexture(texture, NULL, pixels, width * 4);
        SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND);
        SDL_SetTextureScaleMode(texture, SDL_ScaleModeNearest);
    }
    return texture;
}

static uint32_t *make_pixels(int width, int height)
{
    size_t size = (size_t)width * (size_t)height * sizeof(uint32_t);
    return memory_zeroed(size);
}

static void set_ink(SDL_Texture *texture, uint32_t colour)
{
    SDL_SetTextureColorMod(texture, (Uint8)(colour >> 24), colour >> 16 & 255, colour >> 8 & 255);
    SDL_SetTextureAlphaMod(texture, colour & 255);
}

// ---- boxes ----

static SDL_Texture *find_disc(struct canvas *c, int radius)
{
    for (int i = 0; i < DISCS; i++) {
        if (c->discs[i].texture && c->discs[i].radius == radius) {
            return c->discs[i].texture;
        }
    }
    unsigned slot = c->next_disc++ % DISCS;
    forget(&c->discs[slot].texture);
    int size = 2 * radius;
    uint32_t *pixels = make_pixels(size, size);
    for (int i = 0; i < size * size; i++) {
        float x = (float)(i % size - radius) + 0.5f, y = (float)(i / size - radius) + 0.5f;
        float coverage = fminf(fmaxf((float)radius - hypotf(x, y) + 0.5f, 0), 1);
        pixels[i] = (uint32_t)(coverage * 255 + 0.5f) << 24 | 0xffffff;
    }
    c->discs[slot].texture = make_texture(c, pixels, size, size);
    c->discs[slot].radius = radius;
    free(pixels);
    return c->discs[slot].texture;
}

void canvas_box(struct canvas *c, const SDL_Rect *at, int radius, uint32_t colour)
{
    int most = (at->w < at->h ? at->w : at->h) / 2;
    radius = radius > most ? most : radius;
    SDL_Texture *disc = radius > 0 ? find_disc(c, radius) : NULL;
    SDL_SetRenderDrawBlendMode(c->renderer, SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(c->renderer, (Uint8)(colour >> 24), colour >> 16 & 255, colour >> 8 & 255,
                           colour & 255);
    if (!disc) {
        SDL_RenderFillRect(c->renderer, at);
        return;
    }
    SDL_Rect parts[3] = {{at->x + radius, at->y, at->w - 2 * radius, radius},
                         {at->x, at->y + radius, at->w, at->h - 2 * radius},
                         {at->x + radius, at->y + at->h - radius, at->w - 2 * radius, radius}};
    for (int i = 0; i < 3; i++) {
        if (parts[i].w > 0 && parts[i].h > 0) {
            SDL_RenderFillRect(c->renderer, &parts[i]);
        }
    }
    set_ink(disc, colour);
    for (int i = 0; i < 4; i++) {
        int right = i & 1, low = i >> 1;
        SDL_Rect from = {right * radius, low * radius, radius, radius};
        SDL_Rect to = {at->x + right * (at->w - radius), at->y + low * (at->h - radius), radius, radius};
        SDL_RenderCopy(c->renderer, disc, &from, &to);
    }
}

// ---- text ----

// The smallest rectangle around what is not transparent in a cell.
static SDL_Rect find_ink(const uint32_t *pixels, int pitch, int width, int height)
{
    SDL_Rect ink = {width, height, 0, 0};
    int right = 0, bottom = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (pixels[y * pitch + x] >> 24) {
                ink.x = x < ink.x ? x : ink.x;
                ink.y = y < ink.y ? y : ink.y;
                right = x + 1 > right ? x + 1 : right;
                bottom = y + 1;
            }
        }
    }
    ink.w = right > ink.x ? right - ink.x : 0;
    ink.h = bottom > ink.y ? bottom - ink.y : 0;
    return ink;
}

static SDL_Texture *draw_glyphs(struct canvas *c, enum style style)
{
    int cell = font_cell_width(c->fonts, style), height = font_height(c->fonts, style);
    int width = ROW * cell, rows = (STROKES_GLYPHS + ROW - 1) / ROW;
    uint32_t *pixels = make_pixels(width, rows * height);
    for (int i = 0; i < STROKES_GLYPHS; i++) {
        uint32_t *at = pixels + i / ROW * height * width + i % ROW * cell;
        font_draw(c->fonts, style, (unsigned)i, at, width);
        c->ink[style][i] = find_ink(at, width, cell, height);
    }
    SDL_Texture *texture = make_texture(c, pixels, width, rows * height);
    free(pixels);
    return texture;
}

void canvas_text(struct canvas *c, int x, int y, enum style style, uint32_t colour, const char *text)
{
    if (fonts_scale(c->fonts) != c->scale) {
        canvas_renew(c);
        c->scale = fonts_scale(c->fonts);
    }
    SDL_Texture *glyphs = c->glyphs[style];
    if (!glyphs) {
        glyphs = c->glyphs[style] = draw_glyphs(c, style);
    }
    if (!glyphs) {
        return;
    }
    int cell = font_cell_width(c->fonts, style), height = font_height(c->fonts, style);
    x -= font_cell_left(c->fonts, style);
    set_ink(glyphs, colour);
    while (*text) {
        int glyph = (int)strokes_glyph(&text);
        const SDL_Rect *ink = &c->ink[style][glyph]; // copying the rest would cost several times as much
        if (ink->w) {
            SDL_Rect from = {glyph % ROW * cell + ink->x, glyph / ROW * height + ink->y, ink->w, ink->h};
            SDL_RenderCopy(c->renderer, glyphs, &from, &(SDL_Rect){x + ink->x, y + ink->y, ink->w, ink->h});
        }
        x += font_advance(c->fonts, style, (unsigned)glyph);
    }
}

// ---- pictures ----

void canvas_picture(struct canvas *c, const SDL_Rect *at, const uint32_t *pixels, int width, int height)
{
    SDL_Texture *texture = make_texture(c, pixels, width, height);
    if (texture) {
        SDL_SetTextureScaleMode(texture, SDL_ScaleModeLinear);
        SDL_RenderCopy(c->renderer, texture, NULL, at);
        SDL_DestroyTexture(texture);
    }
}
