// SPDX-License-Identifier: MIT
// The figures over the picture. They are computed twice a second from what the session has counted; the
// graph follows every frame. Main thread only.
#ifndef FRONTEND_OVERLAY_H
#define FRONTEND_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/command/config.h"
#include "frontend/record/statistics.h"
#include "frontend/session/session.h"
#include "sheet.h"
#include "switches.h"

enum { OVERLAY_MARKS = 16, OVERLAY_LOOPS = 64, OVERLAY_COMPARED = 100 };

// Counted over the time between two refreshes, but speed, most and ms over the last two seconds of frames.
struct overlay_figures {
    double speed; // percent of DOOM's own 35 tics a second
    double most; // percent that the time spent emulating would allow, 0: unknown
    double emu_ms; // emulating time a frame
    double ips, ips_effective; // guest instructions a second of emulating; with those credited
    double skipped; // iterations of replaced loops, a second
    double idle; // percent of the time that the guest gave back
    double calls; // system calls a second
    bool warming; // much code is being compiled
    struct machine_stats total; // since the start
    struct session_sound sound;
};

// Something was switched: the time to emulate a frame before and after, of up to OVERLAY_COMPARED frames
// each, without those that took several times as long as most.
struct overlay_switch {
    char label[48]; // what, and to what; "" before the first
    uint32_t frame; // the last one before
    struct frame_mean before, after; // before is 0 where too few frames were seen
    unsigned seen; // frames since; after is known from OVERLAY_COMPARED on
};

// Live A/B: two sides take turns.
struct overlay_sides {
    bool on, is_off; // whether it is on; which side has its turn
    uint32_t from; // frames after this one are those of a side
    struct switches off; // the second side
    char text[160]; // what is known of them; "": nothing, or something else was switched since
};

struct overlay {
    struct overlay_figures figures;
    uint64_t refreshed; // SDL_GetTicks64 of the last refresh
    struct machine_stats last; // at the last refresh
    uint32_t reset_frame; // figures count frames after this one
    uint32_t marks[OVERLAY_MARKS]; // frames; 0: unused
    unsigned next_mark;
    struct overlay_switch change; // the last one
    struct overlay_sides sides;
    struct plot plot;
    double cost_ms; // of drawing the overlay, smoothed
    size_t loop_count;
    struct machine_loop loops[OVERLAY_LOOPS]; // at the last refresh, the hottest first
    unsigned history_count;
    struct frame_figures history[SESSION_HISTORY]; // as of the last look
};

// What it shows besides the figures.
enum neural { NEURAL_MISSING, NEURAL_OFF, NEURAL_LOOPS, NEURAL_DISPATCH, NEURAL_ON }; // which of the two
struct overlay_status {
    enum overlay_choice preset;
    int corner; // enum corner_choice
    int opacity; // percent
    bool graph;
    bool paused, unfocused, recording; // unfocused: that is why it is paused
    unsigned speed; // percent that was asked for, SPEED_MAX
    uint32_t recorded; // frames
    enum neural neural;
    const char *engine;
    const char *dispatch; // mode, "" if there is none
    bool has_loops, loops, verify, idle; // whether loops can be replaced; the switches
    bool fixed; // nothing can be switched: a split screen
    bool written_over; // the game's picture is a page of its own, with text up to its edges
    const char *leader; // the key
    const char *side; // of live A/B, whose turn it is; "": none
};

// Computes the figures anew if they are half a second old; returns whether it did.
bool overlay_refresh(struct overlay *o, struct session *s);

// Brings the graph up to date.
void overlay_look(struct overlay *o, struct session *s);

// Forgets what has been counted so far.
void overlay_reset(struct overlay *o, struct session *s);

// What colours what is made now.
enum plot_state overlay_state(const struct overlay *o, const struct overlay_status *status);

// A mark in the graph, at the newest frame. label: what was switched, and to what, if what it does to the
// time of a frame is of interest, else NULL.
void overlay_mark(struct overlay *o, struct session *s, const char *label);

// What the last switch did, as a sentence; "" before the first.
void overlay_tell_switch(const struct overlay *o, char *text, size_t size);

// ---- overlay_cards.c ----

// Whether the figures stand on the right.
bool overlay_is_right(const struct overlay_status *status);
// Where cards above the middle of the picture have to end.
int overlay_top_end(const struct sheet *s, const struct overlay_status *status);
void overlay_layout(struct sheet *s, const struct overlay *o, const struct overlay_status *status);

// ---- overlay_loops.c: with the preset full ----

// On the other side than the figures, between the line of messages and the middle of the picture.
void overlay_add_loops(struct sheet *s, const struct overlay *o, const struct overlay_status *status,
                       SDL_Rect figures);

// A number of three digits with k, M or G.
void overlay_count(char text[16], double value);

#endif
