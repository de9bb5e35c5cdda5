// SPDX-License-Identifier: MIT
#include "strokes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "assets/font.h"

_Static_assert(STROKES_GLYPHS == FONT_GLYPHS, "the glyphs of the built-in font");

static uint32_t next_character(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
    uint32_t c = more ? *p & (0x3fu >> more) : *p;
    for (p++; more && (*p & 0xc0) == 0x80; more--, p++) {
        c = c << 6 | (*p & 0x3f);
    }
    *text = (const char *)p;
    return c;
}

unsigned strokes_glyph(const char **text)
{
    uint32_t c = next_character(text);
    if (c - FONT_FIRST < FONT_ASCII) {
        return c - FONT_FIRST;
    }
    for (unsigned i = 0; i < FONT_SIGNS; i++) {
        if (font_signs[i] == c) {
            return FONT_ASCII + i;
        }
    }
    return '?' - FONT_FIRST;
}

uint32_t strokes_character(unsigned glyph)
{
    return glyph < FONT_ASCII ? glyph + FONT_FIRST : font_signs[glyph - FONT_ASCII];
}

int strokes_advance(int size)
{
    return (int)lroundf((float)size * FONT_ADVANCE / FONT_EM);
}

int strokes_height(int size)
{
    return size * 5 / 4;
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

// Coverage of each pixel of the cell: a round pen of FONT_STROKE units follows the strokes.
void strokes_draw(unsigned glyph, int size, float weight, uint32_t *pixels, int pitch)
{
    struct segment segments[SEGMENTS_MOST];
    int count = flatten(font_strokes[glyph], segments), advance = strokes_advance(size);
    float unit = (float)size / FONT_EM; // pixels
    float pen = fmaxf(FONT_STROKE * weight * unit, 1.15f) / 2;
    // Centred in its cell: a stroke font's outermost points are the middle of the pen.
    float left = ((float)advance / unit - 6) / 2;
    for (int y = 0; y < strokes_height(size); y++) {
        for (int x = 0; x < advance; x++) {
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
