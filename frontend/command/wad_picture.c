// SPDX-License-Identifier: MIT
// Format: The Unofficial DOOM Specs 1.666, chapter 5-1 (pictures). Nothing in the lumps is trusted.
#include "wad_picture.h"

#include "wad.h"

enum { HEAD = 8, PALETTE = 768, LAST_POST = 255 };
#define BLACK 0xff000000u

static uint32_t little(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        value |= (uint32_t)bytes[i] << 8 * i;
    }
    return value;
}

// A column is posts: the line where it begins, how many pixels, and those between two that are not used.
static void draw_column(const struct wad_lump *picture, size_t at, const uint8_t *palette, uint32_t x,
                        uint32_t pixels[WAD_PICTURE_HEIGHT][WAD_PICTURE_WIDTH])
{
    while (at + 4 <= picture->size && picture->bytes[at] != LAST_POST) {
        size_t top = picture->bytes[at], count = picture->bytes[at + 1];
        for (size_t i = 0; i < count && at + 3 + i < picture->size && top + i < WAD_PICTURE_HEIGHT; i++) {
            const uint8_t *rgb = palette + 3 * (size_t)picture->bytes[at + 3 + i];
            pixels[top + i][x] = BLACK | (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
        }
        at += 4 + count;
    }
}

static bool draw(const struct wad_file *wad, uint32_t pixels[WAD_PICTURE_HEIGHT][WAD_PICTURE_WIDTH])
{
    const struct wad_lump *picture = wad_find_lump(wad, "TITLEPIC"), *palette = wad_find_lump(wad, "PLAYPAL");
    if (!picture || !palette || picture->size < HEAD || palette->size < PALETTE) {
        return false;
    }
    uint32_t width = little(picture->bytes, 2);
    for (uint32_t x = 0; x < width && x < WAD_PICTURE_WIDTH && HEAD + 4 * (size_t)(x + 1) <= picture->size;
         x++) {
        draw_column(picture, little(picture->bytes + HEAD + 4 * (size_t)x, 4), palette->bytes, x, pixels);
    }
    return true;
}

bool wad_draw_title(const char *path, uint32_t pixels[WAD_PICTURE_HEIGHT][WAD_PICTURE_WIDTH])
{
    struct wad_file wad;
    for (int y = 0; y < WAD_PICTURE_HEIGHT; y++) {
        for (int x = 0; x < WAD_PICTURE_WIDTH; x++) {
            pixels[y][x] = BLACK;
        }
    }
    if (!wad_load(path, &wad)) {
        return false;
    }
    bool drawn = draw(&wad, pixels);
    wad_unload(&wad);
    return drawn;
}
