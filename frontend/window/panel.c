// SPDX-License-Identifier: MIT
#include "panel.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 56, VALUE_AT = 23, KEY_AT = 35, DIRECT_AT = 44 };

void panel_open(struct panel *p)
{
    p->open = true;
}

static void move(struct panel *p, int by)
{
    int row = p->selected + by;
    p->selected = row < 0 ? 0 : row >= ACTION_COUNT ? ACTION_COUNT - 1 : row;
}

enum panel_answer panel_key(struct panel *p, SDL_Scancode code)
{
    switch (code) {
    case SDL_SCANCODE_UP: move(p, p->selected == 0 ? ACTION_COUNT : -1); return PANEL_MOVED;
    case SDL_SCANCODE_DOWN: move(p, p->selected == ACTION_COUNT - 1 ? -ACTION_COUNT : 1); return PANEL_MOVED;
    case SDL_SCANCODE_PAGEUP: move(p, -p->rows_shown); return PANEL_MOVED;
    case SDL_SCANCODE_PAGEDOWN: move(p, p->rows_shown); return PANEL_MOVED;
    case SDL_SCANCODE_HOME: move(p, -ACTION_COUNT); return PANEL_MOVED;
    case SDL_SCANCODE_END: move(p, ACTION_COUNT); return PANEL_MOVED;
    case SDL_SCANCODE_RETURN:
    case SDL_SCANCODE_KP_ENTER:
    case SDL_SCANCODE_RIGHT: return PANEL_CHOSEN;
    case SDL_SCANCODE_ESCAPE: p->open = false; return PANEL_CLOSED;
    default: return PANEL_NOTHING;
    }
}

// The row at those pixels, or -1.
static int row_at(const struct panel *p, int x, int y)
{
    if (p->row_height == 0 || x < p->rows_x || x >= p->rows_x + p->rows_width || y < p->rows_y) {
        return -1;
    }
    int row = (y - p->rows_y) / p->row_height;
    return row < p->rows_shown && p->first + row < ACTION_COUNT ? p->first + row : -1;
}

enum panel_answer panel_mouse(struct panel *p, const SDL_Event *event, double pixel_ratio)
{
    if (event->type == SDL_MOUSEWHEEL) {
        move(p, event->wheel.y > 0 ? -1 : 1);
        return PANEL_MOVED;
    }
    bool click = event->type == SDL_MOUSEBUTTONDOWN;
    if (!click && event->type != SDL_MOUSEMOTION) {
        return PANEL_NOTHING;
    }
    int x = click ? event->button.x : event->motion.x, y = click ? event->button.y : event->motion.y;
    int row = row_at(p, (int)(x * pixel_ratio), (int)(y * pixel_ratio));
    if (row < 0) {
        return PANEL_NOTHING;
    }
    p->selected = row;
    return click && event->button.button == SDL_BUTTON_LEFT ? PANEL_CHOSEN : PANEL_MOVED;
}

static uint32_t value_ink(const char *value)
{
    return strcmp(value, "on") == 0 ? INK_ON : strcmp(value, "off") == 0 ? INK_OFF : INK_TEXT;
}

static void draw_row(struct canvas *c, int x, int y, int action, bool selected,
                     const struct settings *settings, const char *value)
{
    int advance = canvas_advance(c);
    const char *leader = settings->leader[action], *direct = settings->direct[action];
    if (selected) {
        canvas_box(c, x - advance / 2, y, (COLUMNS - 1) * advance, canvas_line_height(c), 0xffffff33);
    }
    canvas_text(c, x, y, action_missing((enum action)action) ? INK_LABEL : INK_TEXT,
                action_table[action].label);
    canvas_text(c, x + VALUE_AT * advance, y, value_ink(value), value);
    if (strcmp(leader, "-") != 0) {
        char keys[24];
        snprintf(keys, sizeof keys, "%.4s %.10s", settings->leader_key, leader);
        canvas_text(c, x + KEY_AT * advance, y, INK_LABEL, keys);
    }
    if (strcmp(direct, "-") != 0) {
        canvas_text(c, x + DIRECT_AT * advance, y, INK_LABEL, direct);
    }
}

void panel_draw(struct panel *p, struct canvas *c, int width, int height, const struct settings *settings,
                const char values[ACTION_COUNT][24])
{
    int line = canvas_line_height(c), advance = canvas_advance(c);
    int shown = (height - 5 * line) / line;
    shown = shown < 1 ? 1 : shown > ACTION_COUNT ? ACTION_COUNT : shown;
    if (p->selected < p->first) {
        p->first = p->selected;
    } else if (p->selected >= p->first + shown) {
        p->first = p->selected - shown + 1;
    }
    if (p->first > ACTION_COUNT - shown) {
        p->first = ACTION_COUNT - shown;
    }
    int box_width = (COLUMNS + 1) * advance, box_height = (shown + 4) * line;
    int x = (width - box_width) / 2, y = (height - box_height) / 2;
    x = x < 0 ? 0 : x;
    canvas_box(c, x, y, box_width, box_height, INK_PANEL);
    x += advance * 3 / 2;
    y += line / 2;
    canvas_text(c, x, y, INK_ON, "neurodoom");
    canvas_text(c, x + 11 * advance, y, INK_LABEL, "arrows, Enter or the mouse; Esc closes");
    y += line * 3 / 2;
    *p = (struct panel){.open = p->open,
                        .selected = p->selected,
                        .first = p->first,
                        .rows_x = x - advance,
                        .rows_y = y,
                        .rows_width = box_width,
                        .row_height = line,
                        .rows_shown = shown};
    for (int i = 0; i < shown; i++, y += line) {
        int action = p->first + i;
        draw_row(c, x, y, action, action == p->selected, settings, values[action]);
    }
    if (shown < ACTION_COUNT) {
        char more[40];
        snprintf(more, sizeof more, "%d to %d of %d", p->first + 1, p->first + shown, ACTION_COUNT);
        canvas_text(c, x, y + line / 4, INK_LABEL, more);
    }
}
