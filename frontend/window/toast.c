// SPDX-License-Identifier: MIT
#include "toast.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MS 3000

void toast_add(struct toasts *t, const char *format, ...)
{
    int slot = 0;
    while (slot < TOASTS && t->items[slot].until) {
        slot++;
    }
    if (slot == TOASTS) {
        memmove(&t->items[0], &t->items[1], sizeof t->items[0] * (TOASTS - 1));
        slot = TOASTS - 1;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->items[slot].text, TOAST_SIZE, format, arguments);
    va_end(arguments);
    t->items[slot].until = SDL_GetTicks64() + SHOWN_MS;
}

bool toast_expire(struct toasts *t)
{
    uint64_t now = SDL_GetTicks64();
    bool dropped = false;
    while (t->items[0].until && t->items[0].until <= now) {
        memmove(&t->items[0], &t->items[1], sizeof t->items[0] * (TOASTS - 1));
        t->items[TOASTS - 1].until = 0;
        dropped = true;
    }
    return dropped;
}

uint64_t toast_next(const struct toasts *t)
{
    return t->items[0].until ? t->items[0].until : UINT64_MAX;
}

void toast_draw(const struct toasts *t, struct canvas *c, const SDL_Rect *picture)
{
    int line = canvas_line_height(c), pad = line / 4;
    // The status bar is the lowest 32 of 200 lines.
    int y = picture->y + picture->h * 168 / 200 - line;
    for (int i = TOASTS - 1; i >= 0; i--) {
        if (!t->items[i].until) {
            continue;
        }
        int x = picture->x + line / 2;
        // What does not fit is cut off: long texts are in the log as well.
        int fits = (picture->w - line - 4 * pad) / canvas_advance(c);
        char text[TOAST_SIZE];
        snprintf(text, sizeof text, "%.*s", fits > 0 ? fits : 0, t->items[i].text);
        int width = (int)strlen(text) * canvas_advance(c);
        y -= line + 2 * pad;
        canvas_box(c, x, y, width + 4 * pad, line + 2 * pad - 2, INK_PANEL);
        canvas_text(c, x + 2 * pad, y + pad, INK_TEXT, text);
    }
}
