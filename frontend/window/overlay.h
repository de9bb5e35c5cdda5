// SPDX-License-Identifier: MIT
// The figures over the picture. They are computed twice a second from what the session has counted; the
// graph follows every frame. Main thread only.
#ifndef FRONTEND_OVERLAY_H
#define FRONTEND_OVERLAY_H

#include <SDL.h>
#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "frontend/command/config.h"
#include "frontend/session/session.h"

enum { OVERLAY_MARKS = 16, OVERLAY_GRAPH_FRAMES = 150, OVERLAY_LOOPS = 64 };

// Counted over the time between two refreshes, but speed, max and ms over the last two seconds of frames.
struct overlay_figures {
    double speed; // percent of DOOM's own 35 tics a second
    double most; // percent that the time spent emulating would allow, 0: unknown
    double emu_ms; // emulating time a frame
    double ips, ips_effective; // guest instructions a second of emulating; with those credited
    double credited, skipped; // instructions and iterations of replaced loops, a second
    double idle; // percent of the time that the guest gave back
    double calls; // system calls a second
    double p50, p99; // frame time in ms, of the frames in the graph
    struct machine_stats total; // since the start
    struct session_sound sound;
};

struct overlay {
    struct overlay_figures figures;
    uint64_t refreshed; // SDL_GetTicks64 of the last refresh
    struct machine_stats last; // at the last refresh
    uint32_t reset_frame; // figures count frames after this one
    struct {
        uint32_t frame; // 0: unused
        char letter;
    } marks[OVERLAY_MARKS];
    unsigned next_mark;
    double cost_ms; // of drawing the overlay, smoothed
    size_t loop_count;
    struct machine_loop loops[OVERLAY_LOOPS]; // at the last refresh, the hottest first
    unsigned history_count;
    struct frame_figures history[SESSION_HISTORY]; // as of the last drawing
};

// What it shows besides the figures.
struct overlay_status {
    bool paused, recording;
    uint32_t recorded; // frames
    const char *engine;
    const char *neural; // "ON", "OFF" or "N/A"
    const char *dispatch; // mode
    bool has_loops, loops, idle; // whether loops can be replaced; the switches
};

// Computes the figures anew if they are half a second old; returns whether it did.
bool overlay_refresh(struct overlay *o, struct session *s);

// Forgets what has been counted so far.
void overlay_reset(struct overlay *o, struct session *s);

// A mark in the graph, at the newest frame.
void overlay_mark(struct overlay *o, struct session *s, char letter);

// width, height: of the drawing area.
void overlay_draw(struct overlay *o, struct session *s, struct canvas *c, SDL_Renderer *renderer, int width,
                  const struct settings *settings, const struct overlay_status *status);

#endif
