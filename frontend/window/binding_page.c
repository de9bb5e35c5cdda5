// SPDX-License-Identifier: MIT
#include "binding_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/log.h"

static void fill(struct app *app, struct panel_row *row, struct binding b)
{
    static const char *const kinds[] = {[BINDING_PANEL] = "opens this panel",
                                        [BINDING_DIRECT] = "at once",
                                        [BINDING_CONTROL] = "in the game",
                                        [BINDING_LEADER] = "after the leader key"};
    bool waits = app->binding_waits && b.kind == app->binding.kind && b.index == app->binding.index;
    const char *text = bindings_text(app->settings, b);
    *row = (struct panel_row){.id = bindings_number(b)};
    snprintf(row->label, sizeof row->label, "%s", bindings_label(b));
    snprintf(row->meaning, sizeof row->meaning, "%s", kinds[b.kind]);
    snprintf(row->keys, sizeof row->keys, "%s",
             waits                              ? "press a key or button"
             : !*text || strcmp(text, "-") == 0 ? "none"
                                                : text);
}

// The game's come first: that is what players look for. Then what opens the panel.
static size_t list(struct app *app, struct panel_row *rows, size_t most)
{
    size_t n = 0;
    for (int others = 0; others < 2; others++) {
        struct binding b = BINDING_FIRST;
        while (n < most && bindings_next(&b)) {
            if ((b.kind != BINDING_CONTROL) == others) {
                fill(app, &rows[n++], b);
            }
        }
    }
    return n;
}

// The settings have changed: from now on keys do what they say.
static void renew(struct app *app)
{
    struct failure failure = {0};
    input_release_all(&app->input, app->session);
    if (!input_bind(&app->input, app->settings, &failure)) {
        log_line(LOG_ERROR, "%s", failure.text); // every name here is one that input_bind takes
        free(failure.text);
    }
    app->dirty = true;
}

static void choose(struct app *app, const struct panel_row *row)
{
    app->binding = bindings_at(row->id);
    app->binding_waits = true;
}

static void tell(struct app *app, const struct panel_row *row, char *text, size_t size)
{
    if (!row) {
        return;
    }
    struct binding b = bindings_at(row->id), other;
    const char *names = bindings_text(app->settings, b);
    char name[BINDING_NAME];
    int length = snprintf(text, size, "%s Backspace: as at first.",
                          b.kind != BINDING_PANEL   ? "Enter and a key or button: one more. Delete: none."
                          : b.index == PANEL_BUTTON ? "Enter and a button: that one instead. Delete: none."
                                                    : "Enter and a key: that one instead.");
    while (bindings_name(&names, name) && length > 0 && (size_t)length < size) {
        if (bindings_find(app->settings, b, name, &other)) {
            length += snprintf(
                text + length, size - (size_t)length, "\n%s is \"%s\", too%s.", name, bindings_label(other),
                b.kind == BINDING_CONTROL && other.kind == BINDING_DIRECT ? ", which comes first" : "");
        }
    }
}

// The keys of this page alone.
static bool is_own_key(unsigned key)
{
    return key == SDL_SCANCODE_DELETE || key == SDL_SCANCODE_BACKSPACE;
}

static bool key(struct app *app, const struct panel_row *row, const SDL_KeyboardEvent *event)
{
    bool none = event->keysym.scancode == SDL_SCANCODE_DELETE;
    struct binding b = bindings_at(row->id);
    if (!is_own_key(event->keysym.scancode)) {
        return false;
    }
    if (none && b.kind == BINDING_PANEL && b.index == PANEL_KEY) {
        toast_add(&app->toasts, "without a leader key there would be no way back here");
        return true;
    }
    char **names = bindings_list(app->settings, b);
    free(*names);
    *names = text_copy(none ? "-" : bindings_initial(b));
    renew(app);
    return true;
}

const struct panel_page binding_page = {
    .title = "Keys", .list = list, .choose = choose, .tell = tell, .key = key};

// Why it cannot be bound to what waits; NULL: it can.
static const char *refusal(const struct app *app, unsigned input)
{
    bool is_button = input >= INPUT_MOUSE;
    if (app->binding.kind != BINDING_PANEL) {
        bool opens = input == (unsigned)app->input.leader || input == app->input.leader_button;
        return opens ? "that opens the panel: see \"Leader key\" and \"Leader button\"" : NULL;
    }
    if (app->binding.index == PANEL_BUTTON) {
        return is_button ? NULL : "that has to be a button of the mouse or of a pad";
    }
    return is_button                                ? "that has to be a key"
           : panel_uses(input) || is_own_key(input) ? "the panel itself needs that key"
                                                    : NULL;
}

bool binding_page_take(struct app *app, unsigned input, bool alt)
{
    char name[BINDING_NAME];
    if (!app->binding_waits) {
        return false;
    }
    app->dirty = true;
    const char *why = refusal(app, input);
    if (!why && !keys_name(input, alt && app->binding.kind == BINDING_DIRECT, name)) {
        why = "that key has no name, and cannot be bound";
    }
    if (why) {
        toast_add(&app->toasts, "%s", why);
        return true;
    }
    app->binding_waits = false;
    // It does one thing: what it did before it does no more.
    struct binding other;
    while (bindings_find(app->settings, app->binding, name, &other)) {
        bindings_remove(bindings_list(app->settings, other), name);
        toast_add(&app->toasts, "%s was \"%s\": that is %s now", name, bindings_label(other),
                  strcmp(bindings_text(app->settings, other), "-") == 0
                      ? "on no key"
                      : bindings_text(app->settings, other));
    }
    char **names = bindings_list(app->settings, app->binding);
    if (app->binding.kind == BINDING_PANEL) { // one alone
        free(*names);
        *names = text_copy(name);
    } else {
        bindings_add(names, name);
    }
    renew(app);
    return true;
}

// Alt alone counts when it is let go, so that it may be held with another key; Esc ends the waiting.
static void take_key(struct app *app, const SDL_KeyboardEvent *event)
{
    SDL_Scancode code = event->keysym.scancode;
    bool is_alt = code == SDL_SCANCODE_LALT || code == SDL_SCANCODE_RALT, down = event->type == SDL_KEYDOWN;
    if (code == SDL_SCANCODE_ESCAPE) {
        app->binding_waits = !down;
        app->dirty = true;
    } else if (down != is_alt && !event->repeat) {
        binding_page_take(app, code, !is_alt && (event->keysym.mod & KMOD_ALT));
    }
}

bool binding_page_event(struct app *app, const SDL_Event *event)
{
    if (!app->binding_waits) {
        return false;
    }
    switch (event->type) {
    case SDL_KEYDOWN:
    case SDL_KEYUP: take_key(app, &event->key); return true;
    case SDL_MOUSEBUTTONDOWN:
        if (event->button.button <= SDL_BUTTON_X2) {
            binding_page_take(app, INPUT_MOUSE + event->button.button, false);
        }
        return true;
    case SDL_MOUSEWHEEL:
        binding_page_take(app, event->wheel.y > 0 ? INPUT_WHEEL_UP : INPUT_WHEEL_DOWN, false);
        return true;
    case SDL_MOUSEMOTION: return true;
    default: return false;
    }
}
