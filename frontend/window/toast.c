// SPDX-License-Identifier: MIT
#include "toast.h"

#include <SDL.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MS 3000
#define READING_MS 50 // more for each character that is not seen at a glance
#define GLANCE 60 // characters
#define HINT_SHOWN_MS 15000

static void drop(struct toasts *t, unsigned number)
{
    memmove(&t->items[number], &t->items[number + 1], sizeof t->items[0] * (TOASTS - 1 - number));
    t->count--;
    t->until = number ? t->until : 0;
}

void toast_add(struct toasts *t, const char *format, ...)
{
    if (t->until || t->count == TOASTS) {
        drop(t, 0);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->items[t->count].text, TOAST_SIZE, format, arguments);
    va_end(arguments);
    t->items[t->count++].hint[0] = '\0';
}

void toast_add_hint(struct toasts *t, const char *text, const char *hint)
{
    toast_add(t, "%s", text);
    snprintf(t->items[t->count - 1].hint, sizeof t->items[0].hint, "%s", hint);
}

bool toast_drop_hint(struct toasts *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        if (*t->items[i].hint) {
            drop(t, i);
            return true;
        }
    }
    return false;
}

bool toast_expire(struct toasts *t)
{
    uint64_t now = SDL_GetTicks64();
    bool changed = t->until && t->until <= now;
    if (changed) {
        drop(t, 0);
    }
    if (t->count && !t->until) {
        size_t length = strlen(t->items[0].text);
        uint64_t reading = length > GLANCE ? (length - GLANCE) * READING_MS : 0;
        t->until = now + (*t->items[0].hint ? HINT_SHOWN_MS : SHOWN_MS + reading);
        changed = true;
    }
    return changed;
}

uint64_t toast_next(const struct toasts *t)
{
    return t->until ? t->until : UINT64_MAX;
}

// From where to where there is room above the status bar, beside the cards that stand there.
static void find_room(const struct sheet *s, int *from, int *to)
{
    int edge = sheet_px(s, 10), bottom = sheet_status_bar(s), top = bottom - sheet_px(s, 33);
    int left = s->picture.x + edge, right = s->picture.x + s->picture.w - edge;
    *from = left;
    *to = right;
    for (unsigned i = 0; i < s->count; i++) {
        const SDL_Rect *at = &s->items[i].at;
        if (s->items[i].kind != SHEET_CARD || at->y >= bottom || at->y + at->h <= top) {
            continue;
        }
        if (at->x + at->w / 2 < (left + right) / 2) {
            *from = at->x + at->w + edge > *from ? at->x + at->w + edge : *from;
        } else {
            *to = at->x - edge < *to ? at->x - edge : *to;
        }
    }
    if (*to - *from < sheet_px(s, 160)) {
        *from = left;
        *to = right;
    }
}

static int find_top(const struct sheet *s, bool covered, int height)
{
    int bar = sheet_status_bar(s), gap = sheet_px(s, 6), lowest = s->height - gap - height;
    return !covered ? bar - gap - height : bar < lowest ? bar : lowest;
}

void toast_layout(const struct toasts *t, struct sheet *s, bool covered)
{
    if (!t->count) {
        return;
    }
    const char *text = t->items[0].text, *hint = t->items[0].hint;
    int from, to;
    find_room(s, &from, &to);
    int pad = sheet_px(s, 12), line = sheet_px(s, 18), gap = sheet_px(s, 10);
    int most = to - from - 2 * pad, margin = sheet_px(s, 10);
    int own = font_width(s->fonts, STYLE_TEXT, text), rest = font_width(s->fonts, STYLE_LABEL, hint);
    bool beside = *hint && own + gap + rest <= most;
    int lines = sheet_lines(s, most, STYLE_TEXT, text);
    int width = (own < most ? own : most) + (beside ? gap + rest : 0) + 2 * pad;
    int height = lines * line + margin;
    SDL_Rect at = {from, find_top(s, covered, height), width, height};
    sheet_card(s, at, 82);
    int base = at.y + margin / 2 + font_ascent(s->fonts, STYLE_TEXT);
    sheet_paragraph(s, at.x + pad, base, most, line, lines, STYLE_TEXT, (uint32_t)INK_TEXT, text);
    if (beside) {
        sheet_text(s, at.x + pad + own + gap, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", hint);
    }
}
