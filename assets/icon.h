// SPDX-License-Identifier: MIT
// The window's icon, drawn for this program: a chip with a demon's face.
#ifndef ASSETS_ICON_H
#define ASSETS_ICON_H

#include <stdint.h>

#define ICON_SIZE 16

static const char icon_inks[] = ".#gro";
static const uint32_t icon_colours[] = {0x00000000, 0xff202428, 0xffb8c0c8, 0xffd03020, 0xfff0e442};

static const char icon_pixels[ICON_SIZE][ICON_SIZE + 1] = {
    "...g.g.gg.g.g...", //
    "...g.g.gg.g.g...", //
    "..############..", //
    "gg#r########r#gg", //
    "..#rr######rr#..", //
    "gg##rrrrrrrr##gg", //
    "..#rrrrrrrrrr#..", //
    "gg#roorrrroor#gg", //
    "gg#rroorroorr#gg", //
    "..#rrrrrrrrrr#..", //
    "gg#rr######rr#gg", //
    "..##rgrggrgr##..", //
    "gg###rrrrrr###gg", //
    "..############..", //
    "...g.g.gg.g.g...", //
    "...g.g.gg.g.g...", //
};

#endif
