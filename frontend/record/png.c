// SPDX-License-Identifier: MIT
#include "png.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "guest/device_page.h"

// Who asked for the picture tells why there is none: by default libpng writes to standard error, too.
static void give_up(png_structp png, __attribute__((unused)) png_const_charp message)
{
    png_longjmp(png, 1);
}

// Returns false after an error of libpng's own, which for plain RGB can only be a failed write.
static bool encode(FILE *stream, const uint8_t *pixels, size_t pitch, unsigned width, unsigned height)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, stream);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (unsigned y = 0; y < height; y++) {
        png_write_row(png, pixels + y * pitch);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

bool png_write_rgb(const char *path, const uint8_t *pixels, size_t pitch, unsigned width, unsigned height)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    errno = 0;
    if (!encode(file.stream, pixels, pitch, width, height)) {
        int why = errno ? errno : EIO;
        new_file_discard(&file);
        errno = why;
        return false;
    }
    return new_file_commit(&file);
}

bool png_write_frame(const char *path, const uint8_t *indices, const uint8_t (*palette)[3])
{
    enum { WIDTH = DEVICE_FRAME_WIDTH, HEIGHT = DEVICE_FRAME_HEIGHT };
    uint8_t *pixels = memory_resize(NULL, (size_t)WIDTH * HEIGHT * 3);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        for (int c = 0; c < 3; c++) {
            pixels[3 * i + c] = palette[indices[i]][c];
        }
    }
    bool good = png_write_rgb(path, pixels, (size_t)WIDTH * 3, WIDTH, HEIGHT);
    int why = errno;
    free(pixels);
    errno = why;
    return good;
}

enum { GAP = 8 };

// Reads a picture as rows of RGB, on the heap, or NULL.
static uint8_t *read_rgb(const char *path, unsigned *width, unsigned *height)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) {
        return NULL;
    }
    image.format = PNG_FORMAT_RGB;
    uint8_t *pixels = memory_resize(NULL, PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        free(pixels);
        return NULL;
    }
    *width = image.width;
    *height = image.height;
    return pixels;
}

bool png_join(const char *left, const char *right, const char *path)
{
    unsigned width, height, right_width, right_height;
    uint8_t *a = read_rgb(left, &width, &height), *b = read_rgb(right, &right_width, &right_height);
    bool good = a && b && height == right_height;
    if (good) {
        size_t pitch = 3 * ((size_t)width + GAP + right_width);
        uint8_t *both = memory_resize(NULL, pitch * height);
        memset(both, 0xff, pitch * height);
        for (size_t y = 0; y < height; y++) {
            memcpy(both + y * pitch, a + 3 * y * width, 3 * (size_t)width);
            memcpy(both + y * pitch + 3 * ((size_t)width + GAP), b + 3 * y * right_width,
                   3 * (size_t)right_width);
        }
        good = png_write_rgb(path, both, pitch, width + GAP + right_width, height);
        free(both);
    }
    free(a);
    free(b);
    return good;
}
