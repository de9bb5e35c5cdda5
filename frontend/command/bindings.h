// SPDX-License-Identifier: MIT
// What keys, buttons and the like are bound to: DOOM's controls, and our own actions, each with a list of
// inputs in the settings, such as "W, Up, Pad Up".
//
// An input is a key, by SDL's name of its position on a US keyboard ("A", "Left Ctrl", "PageUp"), "Alt+" and
// one, a part of the mouse ("Mouse Left", "Wheel Up") or of a pad ("Pad A", "Pad LT"). "-" is none, and the
// key that SDL calls so is "Minus".
#ifndef FRONTEND_BINDINGS_H
#define FRONTEND_BINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"

enum { BINDING_NAME = 32 };

enum binding_kind { BINDING_PANEL, BINDING_DIRECT, BINDING_CONTROL, BINDING_LEADER, BINDING_KINDS };

// What opens the panel: one key, which is the leader key, and one button.
enum { PANEL_KEY, PANEL_BUTTON, PANEL_OPENERS };

// One list: of what opens the panel, of a control (enum device_control), or of an action (enum action), alone
// or after the leader key.
struct binding {
    enum binding_kind kind;
    int index;
};

struct control_info {
    const char *name, *label, *bound; // in the settings; for people; at first
};
extern const struct control_info
    control_table[]; // by enum device_control; that of DEVICE_CONTROL_NONE is empty

// Every list there is, one after the other: false at the end. *b begins as BINDING_FIRST.
#define BINDING_FIRST ((struct binding){BINDING_PANEL, -1})
bool bindings_next(struct binding *b);

// A list as one number from 0, and back.
int bindings_number(struct binding b);
struct binding bindings_at(int number);

const char *bindings_label(struct binding b);
const char *bindings_initial(struct binding b); // the list at first
// The list in the settings, which it may be written to.
char **bindings_list(struct settings *settings, struct binding b);
const char *bindings_text(const struct settings *settings, struct binding b);

// Takes the next name off the front of *list. False: there is none.
bool bindings_name(const char **list, char name[BINDING_NAME]);

void bindings_add(char **list, const char *name);
void bindings_remove(char **list, const char *name);

// Another list, that name would do something else in, if b got it. After the leader key is a place of its
// own.
bool bindings_find(const struct settings *settings, struct binding b, const char *name,
                   struct binding *other);

// One line a conflict, on the heap; NULL if there is none. Of two that have the same input the first does it.
char *bindings_conflicts(const struct settings *settings);

#endif
