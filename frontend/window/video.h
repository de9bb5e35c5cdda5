// SPDX-License-Identifier: MIT
// The window's content: the guest's picture through its palette, scaled, with room for what is drawn over it.
// Main thread only.
#ifndef FRONTEND_VIDEO_H
#define FRONTEND_VIDEO_H

#include <SDL.h>
#include <stdbool.h>

#include "frontend/base/status.h"
#include "frontend/command/config.h"
#include "frontend/session/session.h"

struct video;

enum { VIDEO_SIDES = 2 };

// Opens the window, for so many pictures side by side: 1 or 2. The settings are read at every drawing, so
// that switches work at once; they have to outlive the video. NULL: *failure.
struct video *video_open(const struct settings *settings, unsigned sides, const char *title,
                         struct failure *failure);
void video_close(struct video *v);

// Its size and place as a window. False: unknown, it never was one.
bool video_place(struct video *v, struct geometry *g);

SDL_Window *video_window(struct video *v);
SDL_Renderer *video_renderer(struct video *v);

// The drawing area in pixels, and how many of them make one unit of the window's coordinates.
void video_size(struct video *v, int *width, int *height, double *pixel_ratio);

// Keeps so many pixels free below the pictures, of those that there are by then.
void video_reserve(struct video *v, int height);

// Where the guest's picture is within the drawing area; side: 0 is the left one.
SDL_Rect video_picture_area(struct video *v, unsigned side);
// The same of a drawing area of that size for so many pictures.
SDL_Rect video_fit(const struct settings *settings, int width, int height, unsigned sides, unsigned side);

// Takes a new picture over. tinted: with what the traced loop has written coloured, when it is drawn.
void video_set_picture(struct video *v, unsigned side, const struct session_picture *picture, bool tinted);

// Draws the pictures, or black before there are any. What is drawn over it comes next, then video_show.
void video_draw(struct video *v);
void video_show(struct video *v);

// Writes what has been drawn so far as a PNG file. False: errno or SDL_GetError tells why.
bool video_save(struct video *v, const char *path);

// The same of the game's picture alone, as it is; of the left one.
bool video_save_picture(const struct video *v, const char *path);

// After the settings for fullscreen or vsync have changed.
void video_apply(struct video *v);

// The renderer has lost its textures.
void video_renew(struct video *v);

#endif
