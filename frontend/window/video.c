// SPDX-License-Identifier: MIT
#include "video.h"

#include <stdlib.h>
#include <string.h>

#include "assets/icon.h"
#include "display.h"
#include "frontend/base/log.h"
#include "frontend/base/text.h"
#include "frontend/record/png.h"
#include "fullscreen.h"
#include "sheet.h"

enum { WIDTH = DEVICE_FRAME_WIDTH, HEIGHT = DEVICE_FRAME_HEIGHT };

struct picture {
    SDL_Texture *texture; // 320x200, ARGB
    SDL_Texture *enlarged; // that times enlarged_x, enlarged_y, for the sharp filter
    int enlarged_x, enlarged_y;
    bool enlarged_stale; // the picture is newer
    bool there; // has been set
    uint32_t pixels[WIDTH * HEIGHT]; // kept to fill a texture that was lost
    bool tinted; // where marks are not 0
    uint8_t marks[WIDTH * HEIGHT];
};

struct video {
    const struct settings *settings;
    SDL_Window *window;
    SDL_Renderer *renderer;
    bool fullscreen; // as the window is
    SDL_Rect windowed; // where it was before
    int reserved; // pixels below the pictures
    unsigned sides;
    struct picture pictures[VIDEO_SIDES];
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

// The largest 4:3 size in steps of the picture's own, for each of them, that leaves a fifth of the screen
// free.
static void automatic_size(unsigned sides, int *width, int *height)
{
    SDL_Rect screen = {0, 0, 1280, 960};
    SDL_GetDisplayUsableBounds(0, &screen);
    int unit = WIDTH * (int)sides;
    int factor = screen.w * 4 / 5 / unit;
    int by_height = screen.h * 4 / 5 / 240;
    factor = by_height < factor ? by_height : factor;
    factor = factor < 1 ? 1 : factor > 6 ? 6 : factor;
    *width = unit * factor;
    *height = 240 * factor;
}

// What is remembered is the size of a window for one picture: for two it opens twice as wide, if that fits.
static void choose_size(const struct settings *settings, unsigned sides, struct geometry *g)
{
    bool known = config_geometry(settings->geometry, g);
    if (known && sides > 1 && !config_is_users("window.geometry")) {
        SDL_Rect screen = {0};
        SDL_GetDisplayUsableBounds(0, &screen);
        g->width *= (int)sides;
        g->placed = false;
        known = g->width <= screen.w && g->height <= screen.h;
    }
    if (!known) {
        *g = (struct geometry){0};
        automatic_size(sides, &g->width, &g->height);
    }
}

// Where it is asked for, if enough of it can be seen there; else in the middle of a display.
static void find_place(const struct settings *settings, struct geometry *g)
{
    int displays = SDL_GetNumVideoDisplays();
    int wanted = settings->display && settings->display <= displays ? settings->display - 1 : -1;
    if (settings->display > displays) {
        log_line(LOG_WARNING, "there is no display %d: there %s %d", settings->display,
                 displays == 1 ? "is" : "are", displays);
    }
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
    for (unsigned i = 0; i < v->sides; i++) {
        struct picture *p = &v->pictures[i];
        p->texture = SDL_CreateTexture(v->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING,
                                       WIDTH, HEIGHT);
        p->enlarged = NULL;
        p->enlarged_x = p->enlarged_y = 0;
    }
}

static void destroy_textures(struct video *v)
{
    for (unsigned i = 0; i < v->sides; i++) {
        struct picture *p = &v->pictures[i];
        if (p->enlarged) {
            SDL_DestroyTexture(p->enlarged);
        }
        if (p->texture) {
            SDL_DestroyTexture(p->texture);
        }
    }
}

struct video *video_open(const struct settings *settings, unsigned sides, const char *title,
                         struct failure *failure)
{
    struct video *v = memory_zeroed(sizeof *v);
    v->settings = settings;
    v->sides = sides;
    struct geometry g;
    choose_size(settings, sides, &g);
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
    display_watch(v->window);
    SDL_SetWindowMinimumSize(v->window, 160, 100);
    set_icon(v->window);
    make_textures(v);
    video_apply(v);
    return v;
}

void video_close(struct video *v)
{
    destroy_textures(v);
    if (v->renderer) {
        SDL_DestroyRenderer(v->renderer);
    }
    if (v->window && !display_is_lost()) {
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

void video_reserve(struct video *v, int height)
{
    v->reserved = height;
}

SDL_Rect video_fit(const struct settings *settings, int width, int height, unsigned sides, unsigned side)
{
    // A pixel of the original screen was higher than wide: 200 lines filled three quarters of the width.
    int unit_width = WIDTH, unit_height = settings->aspect == ASPECT_4_3 ? 240 : HEIGHT;
    int gap = sides > 1 ? width / 160 : 0, left = (int)side * (width + gap) / (int)sides;
    width = (width - gap) / (int)sides;
    SDL_Rect area = {0, 0, width, height};
    if (settings->scale == SCALE_INTEGER && width >= unit_width && height >= unit_height) {
        int factor = width / unit_width < height / unit_height ? width / unit_width : height / unit_height;
        area.w = unit_width * factor;
        area.h = unit_height * factor;
    } else if (settings->scale != SCALE_STRETCH) {
        if ((int64_t)width * unit_height > (int64_t)height * unit_width) {
            area.w = (int)(((int64_t)height * unit_width + unit_height / 2) / unit_height);
        } else {
            area.h = (int)(((int64_t)width * unit_height + unit_width / 2) / unit_width);
        }
    }
    area.x = left + (width - area.w) / 2;
    area.y = (height - area.h) / 2;
    return area;
}

SDL_Rect video_picture_area(struct video *v, unsigned side)
{
    int width, height;
    double ratio;
    video_size(v, &width, &height, &ratio);
    height -= v->reserved < height / 2 ? v->reserved : height / 2;
    return video_fit(v->settings, width, height, v->sides, side);
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

static void upload(struct picture *p)
{
    void *target;
    int pitch;
    if (!p->texture || SDL_LockTexture(p->texture, NULL, &target, &pitch) != 0) {
        return;
    }
    for (int y = 0; y < HEIGHT; y++) {
        uint32_t *row = (uint32_t *)((char *)target + y * pitch);
        memcpy(row, p->pixels + y * WIDTH, WIDTH * 4);
        if (p->tinted) {
            tint(row, p->marks + y * WIDTH);
        }
    }
    SDL_UnlockTexture(p->texture);
    p->enlarged_stale = true;
}

void video_set_picture(struct video *v, unsigned side, const struct session_picture *picture, bool tinted)
{
    struct picture *p = &v->pictures[side];
    uint32_t colours[256];
    for (int i = 0; i < 256; i++) {
        const uint8_t *rgb = picture->palette[i];
        colours[i] = 0xff000000u | (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        p->pixels[i] = colours[picture->indices[i]];
    }
    p->tinted = tinted;
    if (tinted) {
        memcpy(p->marks, picture->traced, sizeof p->marks);
    }
    p->there = true;
    upload(p);
}

// For the sharp filter: the picture enlarged by whole numbers without blending, to at least the size it is
// shown at, and blended only from there down; edges are soft by less than a pixel and all of one width.
// NULL if the renderer cannot.
static SDL_Texture *enlarge(SDL_Renderer *renderer, struct picture *p, const SDL_Rect *area)
{
    int x = (area->w + WIDTH - 1) / WIDTH, y = (area->h + HEIGHT - 1) / HEIGHT;
    x = x < 1 ? 1 : x > 16 ? 16 : x;
    y = y < 1 ? 1 : y > 16 ? 16 : y;
    if (!p->enlarged || p->enlarged_x != x || p->enlarged_y != y) {
        if (p->enlarged) {
            SDL_DestroyTexture(p->enlarged);
        }
        p->enlarged = SDL_CreateTexture(renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_TARGET,
                                        WIDTH * x, HEIGHT * y);
        p->enlarged_x = x;
        p->enlarged_y = y;
        p->enlarged_stale = true;
    }
    if (p->enlarged && p->enlarged_stale) {
        SDL_SetTextureScaleMode(p->texture, SDL_ScaleModeNearest);
        if (SDL_SetRenderTarget(renderer, p->enlarged) != 0) {
            return NULL;
        }
        SDL_RenderCopy(renderer, p->texture, NULL, NULL);
        SDL_SetRenderTarget(renderer, NULL);
        p->enlarged_stale = false;
    }
    return p->enlarged;
}

static void draw_side(struct video *v, unsigned side)
{
    struct picture *p = &v->pictures[side];
    if (!p->there || !p->texture) {
        return;
    }
    SDL_Rect area = video_picture_area(v, side);
    // Without a fraction to blend, nearest is what sharp comes to, and cheaper.
    bool exact = area.w % WIDTH == 0 && area.h % HEIGHT == 0;
    SDL_Texture *source = NULL;
    if (v->settings->filter == FILTER_SHARP && !exact) {
        source = enlarge(v->renderer, p, &area);
    }
    SDL_ScaleMode mode =
        source || v->settings->filter == FILTER_LINEAR ? SDL_ScaleModeLinear : SDL_ScaleModeNearest;
    if (!source) {
        source = p->texture;
    }
    SDL_SetTextureScaleMode(source, mode);
    SDL_RenderCopy(v->renderer, source, NULL, &area);
}

void video_draw(struct video *v)
{
    SDL_SetRenderDrawColor(v->renderer, 0, 0, 0, 255);
    SDL_RenderClear(v->renderer);
    for (unsigned i = 0; i < v->sides; i++) {
        draw_side(v, i);
    }
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
                pixels[y][x][c] = (uint8_t)(v->pictures[0].pixels[y * WIDTH + x] >> (16 - 8 * c));
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
    destroy_textures(v);
    make_textures(v);
    for (unsigned i = 0; i < v->sides; i++) {
        if (v->pictures[i].there) {
            upload(&v->pictures[i]);
        }
    }
}
