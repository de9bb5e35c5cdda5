// SPDX-License-Identifier: MIT
// Everything that a key or a line of the panel can do, in one table: input, panel, help and --list-keys
// derive from it.
#ifndef FRONTEND_ACTIONS_H
#define FRONTEND_ACTIONS_H

#include <stdbool.h>

enum action {
    ACTION_NONE = -1,
    ACTION_NEURAL,
    ACTION_LOOPS,
    ACTION_DISPATCH,
    ACTION_IDLE,
    ACTION_ENGINE,
    ACTION_VERIFY,
    ACTION_COMPARE,
    ACTION_AGAIN,
    ACTION_OVERLAY,
    ACTION_GRAPH,
    ACTION_RECORD,
    ACTION_MARKER,
    ACTION_RESET,
    ACTION_SLOWER,
    ACTION_FASTER,
    ACTION_NORMAL_SPEED,
    ACTION_MAX_SPEED,
    ACTION_FAST_FORWARD,
    ACTION_REWIND,
    ACTION_PAUSE,
    ACTION_STEP,
    ACTION_SAVE_STATE,
    ACTION_LOAD_STATE,
    ACTION_SLOT,
    ACTION_UNDO_STATE,
    ACTION_SCREENSHOT,
    ACTION_CLEAN_SCREENSHOT,
    ACTION_FULLSCREEN,
    ACTION_SCALE,
    ACTION_ASPECT,
    ACTION_FILTER,
    ACTION_VSYNC,
    ACTION_LOOP_PAGE,
    ACTION_CORNER,
    ACTION_OPACITY,
    ACTION_OVERLAY_SCALE,
    ACTION_VOLUME,
    ACTION_MUTE_UNFOCUSED,
    ACTION_PAUSE_UNFOCUSED,
    ACTION_ALL_KEYS,
    ACTION_HELP,
    ACTION_QUIT,
    ACTION_COUNT
};

// Where the panel shows it.
enum action_page { PAGE_NEURAL, PAGE_PLAY, PAGE_PICTURE, PAGE_COMPARE };

// A key is an SDL scancode name, that is a position on a US keyboard, or "Alt+" and one, or "-" for none.
struct action_info {
    const char *name; // in the settings file
    const char *label; // in the panel and in help
    const char *meaning; // in a line
    enum action_page page;
    const char *leader; // key after the leader key
    const char *direct; // key on its own
    bool held; // it lasts as long as its key is held
};

extern const struct action_info action_table[ACTION_COUNT];

// What this build lacks for the action, or NULL where it works.
const char *action_missing(enum action action);

#define LEADER_KEY "`"
#define LEADER_BUTTON "Pad Back"

#endif
