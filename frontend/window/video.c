// SPDX-License-Identifier: MIT
#include "video.h"

#include <stdlib.h>
#include <string.h>

#include "assets/icon.h"
#include "frontend/base/text.h"
#include "frontend/record/png.h"
#include "fullscreen.h"
#include "sheet.h"

enum { WIDTH = DEVICE_FRAME_WIDTH, HEIGHT = DEVICE_FRAME_HEIGHT };

struct video {
    const struct settings *settings;
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *picture; // 320x200, ARGB
    SDL_Texture *enlarged; // the picture times enlarged_x, enlarged_y, for the sharp filter
    int enlarged_x, enlarged_y;
    bool enlarged_stale; // the picture is newer
    bool fullscreen; // as the window is
    SDL_Rect windowed; // where it was before
    bool has_picture;
    uint32_t pixels[WIDTH * HEIGHT]; // kept to fill a texture that was lost
    bool tinted; // where marks are not 0
    uint8_t marks[WIDTH * HEIGHT];
};

static void set_icon(SDL_Window *window)
{
    uint32_t pixels[ICON_SIZE * ICON_SIZE];
    for (int i = 0; i < ICON_SIZE * ICON_SIZE; i++) {
        const char *found = strchr(icon_inks, icon_pixels[i / ICON_SIZE][i % ICON_SIZE]);
        pixels[i] = icon_colours[found - icon_inks];
    }
    SDL_Surface *surface = SDL_CreateRGBSurfaceWithFormatFrom(pixels, ICON_SIZE, ICON_SIZE, 32, ICON_SIZE * 4,
                                                              SDL_PIXELFORMAT_ARGB8888);
    if (surface) {
        SDL_SetWindowIcon(window, surface);
        SDL_FreeSurface(surface);
    }
}

// The largest 4:3 size in steps of the picture's own that leaves a fifth of the screen free.
static void automatic_size(int *width, int *height)
{
    SDL_Rect screen = {0, 0, 1280, 960};
    SDL_GetDisplayUsableBounds(0, &screen);
    int factor = screen.w * 4 / 5 / WIDTH;
    int by_height = screen.h * 4 / 5 / 240;
    factor = by_height < factor ? by_height : factor;
    factor = factor < 1 ? 1 : factor > 6 ? 6 : factor;
    *width = WIDTH * factor;
    *height = 240 * factor;
}

// Where it is asked for, if enough of it can be seen there; else in the middle of a display.
static void find_place(const struct settings *settings, struct geometry *g)
{
    int displays = SDL_GetNumVideoDisplays();
    int wanted = settings->display && settings->display <= displays ? settings->display - 1 : -1;
    bool seen = false;
    for (int i = 0; g->placed && i < displays; i++) {
        SDL_Rect screen, window = {g->x, g->y, g->width, g->height}, part;
        seen |= (wanted < 0 || wanted == i) && SDL_GetDisplayUsableBounds(i, &screen) == 0 &&
                SDL_IntersectRect(&screen, &window, &part) && part.w >= 100 && part.h >= 50;
    }
    if (!seen) {
        g->x = g->y = (int)SDL_WINDOWPOS_CENTERED_DISPLAY((unsigned)(wanted < 0 ? 0 : wanted));
    }
}

static void make_textures(struct video *v)
{
    v->picture =
        SDL_CreateTexture(v->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, WIDTH, HEIGHT);
    v->enlarged = NULL;
    v->enlarged_x = v->enlarged_y = 0;
}

struct video *video_open(const struct settings *settings, const char *title, struct failure *failure)
{
    struct video *v = memory_resize(NULL, sizeof *v);
    memset(v, 0, sizeof *v);
    v->settings = settings;
    struct geometry g;
    if (!config_geometry(settings->geometry, &g)) {
        automatic_size(&g.width, &g.height);
    }
    find_place(settings, &g);
    uint32_t flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    v->window = SDL_CreateWindow(title, g.x, g.y, g.width, g.height, flags);
    if (v->window) {
        v->renderer = SDL_CreateRenderer(v->window, -1, settings->vsync ? SDL_RENDERER_PRESENTVSYNC : 0);
        if (!v->renderer) {
            v->renderer = SDL_CreateRenderer(v->window, -1, SDL_RENDERER_SOFTWARE);
        }
    }
    if (!v->renderer) {
        fail(failure, STATUS_NO_DISPLAY, "cannot open a window: %s", SDL_GetError());
        video_close(v);
        return NULL;
    }
    SDL_SetWindowMinimumSize(v->window, 160, 100);
    set_icon(v->window);
    make_textures(v);
    video_apply(v);
    return v;
}

void video_close(struct video *v)
{
    if (v->enlarged) {
        SDL_DestroyTexture(v->enlarged);
    }
    if (v->picture) {
        SDL_DestroyTexture(v->picture);
    }
    if (v->renderer) {
        SDL_DestroyRenderer(v->renderer);
    }
    if (v->window) {
        SDL_DestroyWindow(v->window);
    }
    free(v);
}

SDL_Window *video_window(struct video *v)
{
    return v->window;
}

SDL_Renderer *video_renderer(struct video *v)
{
    return v->renderer;
}

void video_size(struct video *v, int *width, int *height, double *pixel_ratio)
{
    int window_width, window_height;
    SDL_GetWindowSize(v->window, &window_width, &window_height);
    if (SDL_GetRendererOutputSize(v->renderer, width, height) != 0) {
        *width = window_width;
        *height = window_height;
    }
    *pixel_ratio = window_width > 0 ? (double)*width / window_width : 1;
}

SDL_Rect video_picture_area(struct video *v)
{
    int width, height;
    double ratio;
    video_size(v, &width, &height, &ratio);
    // A pixel of the original screen was higher than wide: 200 lines filled three quarters of the width.
    int unit_width = WIDTH, unit_height = v->settings->aspect == ASPECT_4_3 ? 240 : HEIGHT;
    SDL_Rect area = {0, 0, width, height};
    if (v->settings->scale == SCALE_INTEGER && width >= unit_width && height >= unit_height) {
        int factor = width / unit_width < height / unit_height ? width / unit_width : height / unit_height;
        area.w = unit_width * factor;
        area.h = unit_height * factor;
    } else if (v->settings->scale != SCALE_STRETCH) {
        if ((int64_t)width * unit_height > (int64_t)height * unit_width) {
            area.w = (int)(((int64_t)height * unit_width + unit_height / 2) / unit_height);
        } else {
            area.h = (int)(((int64_t)width * unit_height + unit_width / 2) / unit_width);
        }
    }
    area.x = (width - area.w) / 2;
    area.y = (height - area.h) / 2;
    return area;
}

// Half the colour, half the mark: what is drawn can still be made out.
static void tint(uint32_t *row, const uint8_t *marks)
{
    const uint32_t half = 0x7f7f7fu, mark = (uint32_t)INK_MARK >> 8;
    for (int x = 0; x < WIDTH; x++) {
        if (marks[x]) {
            row[x] = 0xff000000u | ((row[x] >> 1 & half) + (mark >> 1 & half));
        }
    }
}

static void upload(struct video *v)
{
    void *target;
    int pitch;
    if (!v->picture || SDL_LockTexture(v->picture, NULL, &target, &pitch) != 0) {
        return;
    }
    for (int y = 0; y < HEIGHT; y++) {
        uint32_t *row = (uint32_t *)((char *)target + y * pitch);
        memcpy(row, v->pixels + y * WIDTH, WIDTH * 4);
        if (v->tinted) {
            tint(row, v->marks + y * WIDTH);
        }
    }
    SDL_UnlockTexture(v->picture);
    v->enlarged_stale = true;
}

void video_set_picture(struct video *v, const struct session_picture *picture, bool tinted)
{
    uint32_t colours[256];
    for (int i = 0; i < 256; i++) {
        const uint8_t *rgb = picture->palette[i];
        colours[i] = 0xff000000u | (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        v->pixels[i] = colours[picture->indices[i]];
    }
    v->tinted = tinted;
    if (tinted) {
        memcpy(v->marks, picture->traced, sizeof v->marks);
    }
    v->has_picture = true;
    upload(v);
}

// For the sharp filter: the picture enlarged by whole numbers without blending, to at least the size it is
// shown at, and blended only from there down; edges are soft by less than a pixel and all of one width.
// NULL if the renderer cannot.
static SDL_Texture *enlarge(struct video *v, const SDL_Rect *area)
{
    int x = (area->w + WIDTH - 1) / WIDTH, y = (area->h + HEIGHT - 1) / HEIGHT;
    x = x < 1 ? 1 : x > 16 ? 16 : x;
    y = y < 1 ? 1 : y > 16 ? 16 : y;
    if (!v->enlarged || v->enlarged_x != x || v->enlarged_y != y) {
        if (v->enlarged) {
            SDL_DestroyTexture(v->enlarged);
        }
        v->enlarged = SDL_CreateTexture(v->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_TARGET,
                                        WIDTH * x, HEIGHT * y);
        v->enlarged_x = x;
        v->enlarged_y = y;
        v->enlarged_stale = true;
    }
    if (v->enlarged && v->enlarged_stale) {
        SDL_SetTextureScaleMode(v->picture, SDL_ScaleModeNearest);
        if (SDL_SetRenderTarget(v->renderer, v->enlarged) != 0) {
            return NULL;
        }
        SDL_RenderCopy(v->renderer, v->picture, NULL, NULL);
        SDL_SetRenderTarget(v->renderer, NULL);
        v->enlarged_stale = false;
    }
    return v->enlarged;
}

void video_draw(struct video *v)
{
    SDL_SetRenderDrawColor(v->renderer, 0, 0, 0, 255);
    SDL_RenderClear(v->renderer);
    if (!v->has_picture || !v->picture) {
        return;
    }
    SDL_Rect area = video_picture_area(v);
    // Without a fraction to blend, nearest is what sharp comes to, and cheaper.
    bool exact = area.w % WIDTH == 0 && area.h % HEIGHT == 0;
    SDL_Texture *source = NULL;
    if (v->settings->filter == FILTER_SHARP && !exact) {
        source = enlarge(v, &area);
    }
    SDL_ScaleMode mode =
        source || v->settings->filter == FILTER_LINEAR ? SDL_ScaleModeLinear : SDL_ScaleModeNearest;
    if (!source) {
        source = v->picture;
    }
    SDL_SetTextureScaleMode(source, mode);
    SDL_RenderCopy(v->renderer, source, NULL, &area);
}

void video_show(struct video *v)
{
    SDL_RenderPresent(v->renderer);
}

bool video_save(struct video *v, const char *path)
{
    int width, height;
    double ratio;
    video_size(v, &width, &height, &ratio);
    size_t pitch = (size_t)width * 3;
    uint8_t *pixels = memory_resize(NULL, pitch * (size_t)height);
    bool good = SDL_RenderReadPixels(v->renderer, NULL, SDL_PIXELFORMAT_RGB24, pixels, (int)pitch) == 0 &&
                png_write_rgb(path, pixels, pitch, (unsigned)width, (unsigned)height);
    free(pixels);
    return good;
}

bool video_save_picture(const struct video *v, const char *path)
{
    uint8_t pixels[HEIGHT][WIDTH][3];
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < 3; c++) {
                pixels[y][x][c] = (uint8_t)(v->pixels[y * WIDTH + x] >> (16 - 8 * c));
            }
        }
    }
    return png_write_rgb(path, pixels[0][0], sizeof pixels[0], WIDTH, HEIGHT);
}

// Where it would come back from fullscreen.
static void note_place(struct video *v)
{
    if (!v->fullscreen && !(SDL_GetWindowFlags(v->window) & (SDL_WINDOW_MAXIMIZED | SDL_WINDOW_MINIMIZED))) {
        SDL_GetWindowPosition(v->window, &v->windowed.x, &v->windowed.y);
        SDL_GetWindowSize(v->window, &v->windowed.w, &v->windowed.h);
    }
}

bool video_place(struct video *v, struct geometry *g)
{
    note_place(v);
    *g = (struct geometry){v->windowed.w, v->windowed.h, true, v->windowed.x, v->windowed.y};
    return v->windowed.w > 0;
}

void video_apply(struct video *v)
{
    if (v->fullscreen != v->settings->fullscreen) {
        note_place(v);
        v->fullscreen = v->settings->fullscreen;
        fullscreen_set(v->window, v->fullscreen, &v->windowed);
    }
    SDL_RenderSetVSync(v->renderer, v->settings->vsync);
}

void video_renew(struct video *v)
{
    if (v->enlarged) {
        SDL_DestroyTexture(v->enlarged);
    }
    if (v->picture) {
        SDL_DestroyTexture(v->picture);
    }
    make_textures(v);
    if (v->has_picture) {
        upload(v);
    }
}
