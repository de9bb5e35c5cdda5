// SPDX-License-Identifier: MIT
#include "font.h"

#include <SDL_ttf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"
#include "strokes.h"

static const struct {
    const char *file;
    int size; // pixels of an em at scale 1
    float weight; // of the built-in font's pen
} styles[STYLE_COUNT] = {
    [STYLE_TEXT] = {"B612-Regular.otf", 13, 1},   [STYLE_LABEL] = {"B612-Regular.otf", 12, 1},
    [STYLE_BOLD] = {"B612-Bold.otf", 13, 1.5f},   [STYLE_TITLE] = {"B612-Bold.otf", 17, 1.5f},
    [STYLE_NUMBER] = {"B612-Regular.otf", 28, 1}, [STYLE_CODE] = {"B612Mono-Regular.otf", 12, 1},
};

struct face {
    TTF_Font *font; // NULL: built in
    int size; // pixels of an em
    int ascent, height, cell_left, cell_width;
    int advance[STROKES_GLYPHS];
};

struct fonts {
    bool ttf; // the library is open
    double scale;
    struct face faces[STYLE_COUNT];
};

static void measure_built_in(struct face *f)
{
    f->height = strokes_height(f->size);
    f->ascent = f->size * 11 / 14; // the baseline is 11 of 14 units down
    f->cell_left = 0;
    f->cell_width = strokes_advance(f->size);
    for (unsigned i = 0; i < STROKES_GLYPHS; i++) {
        f->advance[i] = f->cell_width;
    }
}

static void measure(struct face *f)
{
    if (!f->font) {
        measure_built_in(f);
        return;
    }
    f->ascent = TTF_FontAscent(f->font);
    f->height = TTF_FontHeight(f->font) + 1; // descenders may reach a pixel further than the font says
    f->cell_left = f->cell_width = 0;
    int right = 0;
    for (unsigned i = 0; i < STROKES_GLYPHS; i++) {
        int least = 0, most = 0;
        TTF_GlyphMetrics32(f->font, strokes_character(i), &least, &most, NULL, NULL, &f->advance[i]);
        f->cell_left = -least > f->cell_left ? -least : f->cell_left;
        right = most > right ? most : right;
        right = f->advance[i] > right ? f->advance[i] : right;
    }
    f->cell_width = f->cell_left + right + 1;
}

// All faces or none: two fonts side by side would look broken.
static bool open_faces(struct fonts *fonts, const char *folder)
{
    bool good = true;
    for (int i = 0; i < STYLE_COUNT && good; i++) {
        char *path = text_format("%s/%s", folder, styles[i].file);
        fonts->faces[i].font = TTF_OpenFont(path, styles[i].size);
        good = fonts->faces[i].font != NULL;
        for (unsigned k = 0; good && k < STROKES_GLYPHS; k++) {
            good = TTF_GlyphIsProvided32(fonts->faces[i].font, strokes_character(k));
        }
        free(path);
    }
    return good;
}

static void close_faces(struct fonts *fonts)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        if (fonts->faces[i].font) {
            TTF_CloseFont(fonts->faces[i].font);
            fonts->faces[i].font = NULL;
        }
    }
}

struct fonts *fonts_create(const char *folder)
{
    struct fonts *fonts = memory_resize(NULL, sizeof *fonts);
    *fonts = (struct fonts){.ttf = TTF_Init() == 0};
    if (fonts->ttf && !open_faces(fonts, folder)) {
        close_faces(fonts);
    }
    for (int i = 0; i < STYLE_COUNT; i++) {
        if (fonts->faces[i].font) {
            TTF_SetFontHinting(fonts->faces[i].font, TTF_HINTING_LIGHT);
            TTF_SetFontKerning(fonts->faces[i].font, 0); // so that widths add up
        }
    }
    fonts_set_scale(fonts, 1);
    return fonts;
}

void fonts_free(struct fonts *fonts)
{
    close_faces(fonts);
    if (fonts->ttf) {
        TTF_Quit();
    }
    free(fonts);
}

bool fonts_are_built_in(const struct fonts *f)
{
    return !f->faces[0].font;
}

void fonts_set_scale(struct fonts *fonts, double scale)
{
    scale = scale < FONTS_LEAST_SCALE ? FONTS_LEAST_SCALE : scale;
    if (scale == fonts->scale) {
        return;
    }
    fonts->scale = scale;
    for (int i = 0; i < STYLE_COUNT; i++) {
        struct face *f = &fonts->faces[i];
        // Small letters are of whole pixels, too: the next size would be too wide.
        f->size = (int)(scale < 1 ? floor(styles[i].size * scale) : round(styles[i].size * scale));
        if (f->font) {
            TTF_SetFontSize(f->font, f->size);
        }
        measure(f);
    }
}

double fonts_scale(const struct fonts *f)
{
    return f->scale;
}

int font_width(const struct fonts *fonts, enum style style, const char *text)
{
    int width = 0;
    while (*text) {
        width += fonts->faces[style].advance[strokes_glyph(&text)];
    }
    return width;
}

int font_height(const struct fonts *f, enum style style)
{
    return f->faces[style].height;
}

int font_ascent(const struct fonts *f, enum style style)
{
    return f->faces[style].ascent;
}

int font_advance(const struct fonts *f, enum style style, unsigned glyph)
{
    return f->faces[style].advance[glyph];
}

int font_cell_width(const struct fonts *f, enum style style)
{
    return f->faces[style].cell_width;
}

int font_cell_left(const struct fonts *f, enum style style)
{
    return f->faces[style].cell_left;
}

void font_draw(const struct fonts *fonts, enum style style, unsigned glyph, uint32_t *pixels, int pitch)
{
    const struct face *f = &fonts->faces[style];
    if (!f->font) {
        strokes_draw(glyph, f->size, styles[style].weight, pixels, pitch);
        return;
    }
    uint32_t character = strokes_character(glyph);
    SDL_Surface *surface =
        character == ' ' ? NULL
                         : TTF_RenderGlyph32_Blended(f->font, character, (SDL_Color){255, 255, 255, 255});
    if (!surface) {
        return;
    }
    int least = 0;
    TTF_GlyphMetrics32(f->font, character, &least, NULL, NULL, NULL, NULL);
    // The picture of a glyph begins at the pen, or where the glyph does if that is left of it.
    int x = f->cell_left + (least < 0 ? least : 0);
    for (int row = 0; row < surface->h && row < f->height; row++) {
        for (int column = 0; column < surface->w && x + column < f->cell_width; column++) {
            const char *line = (const char *)surface->pixels + row * surface->pitch;
            pixels[row * pitch + x + column] = ((const uint32_t *)line)[column];
        }
    }
    SDL_FreeSurface(surface);
}
