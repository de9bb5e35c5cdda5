// SPDX-License-Identifier: MIT
// Pictures as PNG files: complete under their name, or not there at all.
#ifndef FRONTEND_PNG_H
#define FRONTEND_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// rows of width RGB triples, pitch bytes apart. False: errno tells why.
bool png_write_rgb(const char *path, const uint8_t *pixels, size_t pitch, unsigned width, unsigned height);

// A frame as the guest drew it, 320x200, through its palette.
bool png_write_frame(const char *path, const uint8_t *indices, const uint8_t (*palette)[3]);

// Two pictures of one height side by side, with a gap between. False: one of them cannot be read, or it is
// not written.
bool png_join(const char *left, const char *right, const char *path);

#endif
