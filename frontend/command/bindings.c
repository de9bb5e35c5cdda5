// SPDX-License-Identifier: MIT
#include "bindings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/device_page.h"

const struct control_info control_table[DEVICE_CONTROLS] = {
    [DEVICE_CONTROL_NONE] = {"", "", ""},
#define CONTROL(id, name, label, variable, bound) [DEVICE_CONTROL_##id] = {name, label, bound},
#include "guest/controls.def"
#undef CONTROL
};

bool bindings_next(struct binding *b)
{
    int count = b->kind == BINDING_PANEL     ? (int)PANEL_OPENERS
                : b->kind == BINDING_CONTROL ? (int)DEVICE_CONTROLS
                                             : (int)ACTION_COUNT;
    if (++b->index >= count) {
        b->kind++;
        b->index = b->kind == BINDING_CONTROL ? DEVICE_CONTROL_NONE + 1 : 0;
    }
    return b->kind < BINDING_KINDS;
}

int bindings_number(struct binding b)
{
    return (int)b.kind * (DEVICE_CONTROLS + ACTION_COUNT) + b.index;
}

struct binding bindings_at(int number)
{
    int lists = DEVICE_CONTROLS + ACTION_COUNT;
    return (struct binding){(enum binding_kind)(number / lists), number % lists};
}

const char *bindings_initial(struct binding b)
{
    switch (b.kind) {
    case BINDING_PANEL: return b.index == PANEL_KEY ? LEADER_KEY : LEADER_BUTTON;
    case BINDING_CONTROL: return control_table[b.index].bound;
    case BINDING_DIRECT: return action_table[b.index].direct;
    default: return action_table[b.index].leader;
    }
}

const char *bindings_label(struct binding b)
{
    switch (b.kind) {
    case BINDING_PANEL: return b.index == PANEL_KEY ? "Leader key" : "Leader button";
    case BINDING_CONTROL: return control_table[b.index].label;
    default: return action_table[b.index].label;
    }
}

char **bindings_list(struct settings *settings, struct binding b)
{
    switch (b.kind) {
    case BINDING_PANEL: return b.index == PANEL_KEY ? &settings->leader_key : &settings->leader_button;
    case BINDING_CONTROL: return &settings->control[b.index];
    case BINDING_DIRECT: return &settings->direct[b.index];
    default: return &settings->leader[b.index];
    }
}

const char *bindings_text(const struct settings *settings, struct binding b)
{
    return *bindings_list((struct settings *)settings, b); // which is not written to
}

// A comma and a blank stand between names; a comma alone is a key.
bool bindings_name(const char **list, char name[BINDING_NAME])
{
    const char *start = *list;
    if (*start == '\0' || strcmp(start, "-") == 0) {
        return false;
    }
    const char *end = strstr(start + 1, ", ");
    size_t length = end ? (size_t)(end - start) : strlen(start);
    snprintf(name, BINDING_NAME, "%.*s", (int)length, start);
    *list = end ? end + 2 : start + length;
    return true;
}

static bool has(const char *list, const char *name)
{
    char one[BINDING_NAME];
    while (bindings_name(&list, one)) {
        if (text_same(one, name)) {
            return true;
        }
    }
    return false;
}

void bindings_add(char **list, const char *name)
{
    if (!has(*list, name)) {
        char one[BINDING_NAME];
        const char *rest = *list;
        bool any = bindings_name(&rest, one);
        char *longer = any ? text_format("%s, %s", *list, name) : text_copy(name);
        free(*list);
        *list = longer;
    }
}

void bindings_remove(char **list, const char *name)
{
    char *shorter = text_copy("-"), one[BINDING_NAME];
    const char *rest = *list;
    while (bindings_name(&rest, one)) {
        if (!text_same(one, name)) {
            bindings_add(&shorter, one);
        }
    }
    free(*list);
    *list = shorter;
}

bool bindings_find(const struct settings *settings, struct binding b, const char *name, struct binding *other)
{
    *other = BINDING_FIRST;
    while (bindings_next(other)) {
        bool same_place = (other->kind == BINDING_LEADER) == (b.kind == BINDING_LEADER);
        bool itself = other->kind == b.kind && other->index == b.index;
        if (same_place && !itself && has(bindings_text(settings, *other), name)) {
            return true;
        }
    }
    return false;
}

static char *add_conflict(char *text, struct binding b, const char *name, const char *other)
{
    char *longer =
        text_format("%s%s%s%s is both \"%s\" and \"%s\"", text ? text : "", text ? "\n" : "",
                    b.kind == BINDING_LEADER ? "after the leader key " : "", name, bindings_label(b), other);
    free(text);
    return longer;
}

char *bindings_conflicts(const struct settings *settings)
{
    char *text = NULL;
    struct binding b = BINDING_FIRST;
    while (bindings_next(&b)) {
        const char *list = bindings_text(settings, b);
        char name[BINDING_NAME];
        while (bindings_name(&list, name)) {
            struct binding other = b;
            while (bindings_next(&other)) {
                bool same_place = (other.kind == BINDING_LEADER) == (b.kind == BINDING_LEADER);
                if (same_place && has(bindings_text(settings, other), name)) {
                    text = add_conflict(text, b, name, bindings_label(other));
                }
            }
        }
    }
    return text;
}
