// SPDX-License-Identifier: MIT
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assets/font.h"
#include "frontend/base/text.h"

struct canvas {
    SDL_Renderer *renderer;
    SDL_Texture *glyphs; // side by side, white on transparent; NULL until text is drawn
    int size; // pixels of an em
    int advance, height; // of a glyph's cell in the texture
};

struct canvas *canvas_create(SDL_Renderer *renderer)
{
    struct canvas *c = memory_resize(NULL, sizeof *c);
    *c = (struct canvas){.renderer = renderer};
    canvas_set_size(c, 16);
    return c;
}

void canvas_renew(struct canvas *c)
{
    if (c->glyphs) {
        SDL_DestroyTexture(c->glyphs);
        c->glyphs = NULL;
    }
}

void canvas_free(struct canvas *c)
{
    canvas_renew(c);
    free(c);
}

void canvas_set_size(struct canvas *c, int pixels)
{
    if (pixels != c->size) {
        canvas_renew(c);
        c->size = pixels;
        c->advance = (int)lroundf((float)pixels * FONT_ADVANCE / FONT_EM);
        c->height = pixels + 1;
    }
}

int canvas_line_height(const struct canvas *c)
{
    return c->size * 5 / 4;
}

int canvas_advance(const struct canvas *c)
{
    return c->advance;
}

struct segment {
    float ax, ay, bx, by;
};

enum { CURVE_STEPS = 8, SEGMENTS_MOST = 160 };

// A glyph's strokes as straight segments, in units.
static int flatten(const char *strokes, struct segment *segments)
{
    int count = 0;
    bool start = true, bend = false;
    float x = 0, y = 0, cx = 0, cy = 0;
    for (const char *p = strokes; *p;) {
        if (*p == ';') {
            start = true;
            p++;
        } else if (*p == ' ') {
            p++;
        } else {
            bool control = *p == '~';
            char *end;
            float px = strtof(p + control, &end);
            float py = strtof(end + 1, &end);
            p = end;
            if (control) {
                cx = px;
                cy = py;
                bend = true;
                continue;
            }
            for (int i = 1; !start && i <= (bend ? CURVE_STEPS : 1); i++) {
                float t = bend ? (float)i / CURVE_STEPS : 1, u = 1 - t;
                struct segment *s = &segments[count];
                s->ax = i == 1 ? x : segments[count - 1].bx;
                s->ay = i == 1 ? y : segments[count - 1].by;
                s->bx = bend ? u * u * x + 2 * u * t * cx + t * t * px : px;
                s->by = bend ? u * u * y + 2 * u * t * cy + t * t * py : py;
                count++;
            }
            x = px;
            y = py;
            start = bend = false;
        }
    }
    return count;
}

static float distance(const struct segment *s, float x, float y)
{
    float dx = s->bx - s->ax, dy = s->by - s->ay, length = dx * dx + dy * dy;
    float t = length > 0 ? ((x - s->ax) * dx + (y - s->ay) * dy) / length : 0;
    t = fminf(fmaxf(t, 0), 1);
    return hypotf(x - s->ax - t * dx, y - s->ay - t * dy);
}

// Coverage of each pixel of one cell: a round pen of FONT_STROKE units follows the strokes.
static void draw_glyph(const struct canvas *c, const char *strokes, uint32_t *pixels, int pitch)
{
    struct segment segments[SEGMENTS_MOST];
    int count = flatten(strokes, segments);
    float unit = (float)c->size / FONT_EM; // pixels
    float pen = fmaxf(FONT_STROKE * unit, 1.15f) / 2;
    // Centred in its cell: a stroke font's outermost points are the middle of the pen.
    float left = ((float)c->advance / unit - 6) / 2;
    for (int y = 0; y < c->height; y++) {
        for (int x = 0; x < c->advance; x++) {
            float px = ((float)x + 0.5f) / unit - left, py = ((float)y + 0.5f) / unit + FONT_TOP;
            float nearest = 1e9f;
            for (int i = 0; i < count; i++) {
                nearest = fminf(nearest, distance(&segments[i], px, py));
            }
            float coverage = fminf(fmaxf(pen - nearest * unit + 0.5f, 0), 1);
            pixels[y * pitch + x] = (uint32_t)(coverage * 255 + 0.5f) << 24 | 0xffffff;
        }
    }
}

static void draw_glyphs(struct canvas *c)
{
    // Rows of 16, so that the largest text stays within any renderer's texture size.
    int width = 16 * c->advance, rows = (FONT_GLYPHS + 15) / 16, height = rows * c->height;
    uint32_t *pixels = memory_resize(NULL, (size_t)width * (size_t)height * sizeof *pixels);
    memset(pixels, 0, (size_t)width * (size_t)height * sizeof *pixels);
    for (int i = 0; i < FONT_GLYPHS; i++) {
        draw_glyph(c, font_strokes[i], pixels + i / 16 * c->height * width + i % 16 * c->advance, width);
    }
    c->glyphs =
        SDL_CreateTexture(c->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC, width, height);
    if (c->glyphs) {
        SDL_UpdateTexture(c->glyphs, NULL, pixels, width * 4);
        SDL_SetTextureBlendMode(c->glyphs, SDL_BLENDMODE_BLEND);
        SDL_SetTextureScaleMode(c->glyphs, SDL_ScaleModeNearest);
    }
    free(pixels);
}

static void set_colour(struct canvas *c, uint32_t colour)
{
    SDL_SetRenderDrawBlendMode(c->renderer, SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(c->renderer, (Uint8)(colour >> 24), colour >> 16 & 255, colour >> 8 & 255,
                           colour & 255);
}

void canvas_box(struct canvas *c, int x, int y, int width, int height, uint32_t colour)
{
    set_colour(c, colour);
    SDL_RenderFillRect(c->renderer, &(SDL_Rect){x, y, width, height});
}

void canvas_lines(struct canvas *c, const SDL_FPoint *points, int count, uint32_t colour)
{
    set_colour(c, colour);
    SDL_RenderDrawLinesF(c->renderer, points, count);
}

int canvas_text(struct canvas *c, int x, int y, uint32_t colour, const char *text)
{
    if (!c->glyphs) {
        draw_glyphs(c);
    }
    if (!c->glyphs) {
        return x;
    }
    SDL_SetTextureColorMod(c->glyphs, (Uint8)(colour >> 24), colour >> 16 & 255, colour >> 8 & 255);
    for (; *text; text++, x += c->advance) {
        unsigned glyph = (unsigned char)*text - FONT_FIRST;
        if (glyph >= FONT_GLYPHS) {
            glyph = '?' - FONT_FIRST;
        }
        if (*text != ' ') {
            SDL_Rect from = {(int)(glyph % 16) * c->advance, (int)(glyph / 16) * c->height, c->advance,
                             c->height};
            SDL_RenderCopy(c->renderer, c->glyphs, &from, &(SDL_Rect){x, y, c->advance, c->height});
        }
    }
    return x;
}
