// SPDX-License-Identifier: MIT
// The settings: one table names each, its values and its place in struct settings. They come, later ones
// winning, from: built-in < /etc/neurodoom/neurodoom.ini < the user's file < the file that NEURODOOM_CONFIG
// names < the file of --config < the command line, in its order. What was switched in the window and is
// remembered comes before the user's file.
#ifndef FRONTEND_CONFIG_H
#define FRONTEND_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "actions.h"
#include "frontend/base/status.h"
#include "frontend/base/text.h"
#include "guest/device_page.h"

enum clock_choice { CLOCK_AUTO, CLOCK_REAL, CLOCK_VIRTUAL };
enum scale_choice { SCALE_FIT, SCALE_INTEGER, SCALE_STRETCH, SCALE_CHOICES };
enum aspect_choice { ASPECT_4_3, ASPECT_SQUARE, ASPECT_CHOICES };
enum filter_choice { FILTER_SHARP, FILTER_NEAREST, FILTER_LINEAR, FILTER_CHOICES };
enum corner_choice {
    CORNER_TOP_RIGHT,
    CORNER_TOP_LEFT,
    CORNER_BOTTOM_LEFT,
    CORNER_BOTTOM_RIGHT,
    CORNER_CHOICES
};
enum overlay_choice { OVERLAY_OFF, OVERLAY_MINI, OVERLAY_STD, OVERLAY_FULL, OVERLAY_CHOICES };

#define SPEED_AUTO (-1) // 100 with the real clock, as fast as possible with the virtual one
#define SPEED_MAX 0

struct settings {
    int engine; // enum machine_engine
    int speed; // percent, SPEED_MAX or SPEED_AUTO
    int clock; // enum clock_choice
    int ram; // MiB
    bool rewind; // keep what is needed to go back in the game
    int run_ahead; // frames that the picture is ahead of the game
    bool neural; // everything that a net switches
    int dispatch; // enum machine_dispatch
    bool loops, verify, idle; // see struct machine_config
    bool fullscreen;
    char *geometry; // "auto", WIDTHxHEIGHT or WIDTHxHEIGHT+X+Y
    int display; // from 1; 0: where geometry says, or any
    int scale, aspect, filter; // enum …_choice
    bool vsync;
    char *screenshots; // their folder, or empty: that of our data
    bool pause_unfocused;
    int volume; // percent
    bool mute_unfocused;
    bool mouse_vertical; // the mouse also walks
    int dead_zone; // of a pad's sticks, percent
    bool rumble;
    int overlay; // enum overlay_choice
    bool graph;
    int overlay_scale; // percent
    int overlay_corner; // enum corner_choice
    int overlay_opacity; // percent
    char *overlay_font; // folder of its font's files
    int log_level; // enum log_level
    char *iwad; // a path, a name to search for, or empty: search for any
    char *leader_key;
    char *leader_button; // of mouse or pad, opens the panel; empty or -: none
    // Lists of inputs (bindings.h):
    char *leader[ACTION_COUNT]; // after the leader key, by action
    char *direct[ACTION_COUNT]; // on their own, by action
    char *control[DEVICE_CONTROLS]; // by enum device_control, the first unused
    // Where nobody plays, what is wrong with the settings, which are as far as they were read; else NULL.
    char *wrong;
};

// Where the settings of one run come from, in order.
struct config_sources {
    bool files; // those of the system, the user and NEURODOOM_CONFIG count
    bool remembered; // with them, what was switched in the window
    const char *file; // of --config, or NULL
    const struct text_list *command_line; // "section.key=value" each, or NULL
};

// Reads all sources. False: *failure says which file, line or option is wrong.
bool config_load(struct settings *settings, const struct config_sources *sources, struct failure *failure);
// Adds what "section.key=value" says, as the command line does. False: *failure.
bool config_apply(struct settings *settings, const struct text_list *assignments, struct failure *failure);
void config_free(struct settings *settings);

// Every setting with its value and where that came from, as a file that can be read back.
void config_dump(const struct settings *settings, FILE *stream);

// The words of a choice setting in the order of its enum, such as "window.scale".
const char *config_choice_name(const char *name, int value);

struct geometry {
    int width, height;
    bool placed; // at:
    int x, y;
};
// Takes a geometry apart; false for "auto".
bool config_geometry(const char *text, struct geometry *geometry);

// What changes in the settings from config_watch on is remembered by config_remember, in a file of our own
// below $XDG_STATE_HOME. False: errno tells why it cannot be written.
void config_watch(const struct settings *settings);
bool config_remember(const struct settings *settings);

// Whether the setting "section.key" stands on the command line.
bool config_is_given(const char *name);
// Whether somebody has written it down: it is neither as at first nor as it is remembered.
bool config_is_users(const char *name);

#endif
