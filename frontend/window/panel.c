// SPDX-License-Identifier: MIT
#include "panel.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 700, // units, at most
    EDGE = 10,
    PAD = 16,
    ROW = 30,
    ROW_LEAST = 23, // where there is little room
    ROW_PICTURE = 56,
    TABS = 27,
    TAB_PAD = 12,
    TAB_PAD_LEAST = 5,
    LINE = 18,
    NOW = 100, // what the selected row is doing: five lines
    NOW_LEAST = 82, // where there is little room: four
    SWITCH = 30, // width of the pill
    FIRST_TAB = 1000, // choices: rows from 0, tabs from here
};
#define OPACITY 94

// ---- moving about ----

void panel_open(struct panel *p, unsigned page, unsigned pages, bool fresh)
{
    *p = (struct panel){.open = true, .fresh = fresh, .page = page, .pages = pages};
}

static enum panel_answer move(struct panel *p, long row, size_t count)
{
    p->fresh = false;
    p->selected = row < 0 ? 0 : (size_t)row < count ? (size_t)row : count ? count - 1 : 0;
    return PANEL_MOVED;
}

static enum panel_answer turn(struct panel *p, int by)
{
    int pages = (int)p->pages;
    panel_open(p, (unsigned)(((int)p->page + by + pages) % pages), p->pages, false);
    return PANEL_MOVED;
}

enum panel_answer panel_key(struct panel *p, const SDL_KeyboardEvent *key, size_t count)
{
    long row = (long)p->selected, last = (long)count - 1, many = (long)(p->shown ? p->shown : 1);
    switch (key->keysym.scancode) {
    case SDL_SCANCODE_UP: return move(p, p->fresh ? 0 : row == 0 ? last : row - 1, count);
    case SDL_SCANCODE_DOWN: return move(p, p->fresh || row == last ? 0 : row + 1, count);
    case SDL_SCANCODE_PAGEUP: return move(p, row - many, count);
    case SDL_SCANCODE_PAGEDOWN: return move(p, row + many, count);
    case SDL_SCANCODE_HOME: return move(p, 0, count);
    case SDL_SCANCODE_END: return move(p, last, count);
    case SDL_SCANCODE_LEFT: return turn(p, -1);
    case SDL_SCANCODE_RIGHT: return turn(p, 1);
    case SDL_SCANCODE_TAB: return turn(p, key->keysym.mod & KMOD_SHIFT ? -1 : 1);
    case SDL_SCANCODE_RETURN:
    case SDL_SCANCODE_KP_ENTER: p->fresh = false; return count ? PANEL_CHOSEN : PANEL_MOVED;
    case SDL_SCANCODE_ESCAPE: p->open = false; return PANEL_CLOSED;
    default: return PANEL_NOTHING;
    }
}

bool panel_uses(unsigned scancode)
{
    struct panel p = {0};
    SDL_KeyboardEvent key = {.keysym = {.scancode = (SDL_Scancode)scancode}};
    return panel_key(&p, &key, 1) != PANEL_NOTHING;
}

enum panel_answer panel_mouse(struct panel *p, const SDL_Event *event, int choice, size_t count)
{
    if (event->type == SDL_MOUSEWHEEL) {
        return move(p, (long)p->selected - (event->wheel.y > 0 ? 1 : -1), count);
    }
    bool click = event->type == SDL_MOUSEBUTTONDOWN;
    // The pointer that the game lets go comes back to where it was, which is no choice.
    bool moved = event->type == SDL_MOUSEMOTION && (event->motion.xrel || event->motion.yrel);
    if (choice == SHEET_NOTHING || (!click && !moved)) {
        return PANEL_NOTHING;
    }
    if (choice >= FIRST_TAB) {
        return click ? turn(p, choice - FIRST_TAB - (int)p->page) : PANEL_NOTHING;
    }
    move(p, choice, count);
    return click && event->button.button != SDL_BUTTON_MIDDLE ? PANEL_CHOSEN : PANEL_MOVED;
}

// ---- layout ----

struct columns {
    int value, label; // widths
    bool meaning; // there is one, and room for all
    int gap;
};

static bool is_switch(const struct panel_row *row)
{
    return strcmp(row->value, "on") == 0 || strcmp(row->value, "off") == 0;
}

static int value_width(const struct sheet *s, const struct panel_row *row)
{
    int width = font_width(s->fonts, STYLE_TEXT, row->value);
    return is_switch(row) ? width + sheet_px(s, SWITCH + 5) : width;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static struct columns measure(const struct sheet *s, const struct panel_view *v, int width)
{
    struct columns c = {.gap = sheet_px(s, 12)};
    int rest = 0; // of the row that needs most behind the label
    for (size_t i = 0; i < v->count; i++) {
        const struct panel_row *row = &v->rows[i];
        c.value = larger(c.value, value_width(s, row));
        c.label = larger(c.label, font_width(s->fonts, STYLE_TEXT, row->label));
        int keys = font_width(s->fonts, STYLE_LABEL, row->keys),
            meaning = font_width(s->fonts, STYLE_LABEL, row->meaning);
        c.meaning |= meaning > 0;
        rest = larger(rest, (meaning ? c.gap + meaning : 0) + (keys ? c.gap + keys : 0));
    }
    c.meaning &= c.label + (c.value ? c.value + c.gap : 0) + rest <= width;
    return c;
}

static void add_switch(struct sheet *s, int x, int y, int row, bool on)
{
    int width = sheet_px(s, SWITCH), height = sheet_px(s, 16), knob = height - 2 * sheet_px(s, 2);
    y += (row - height) / 2;
    sheet_box(s, (SDL_Rect){x, y, width, height}, height / 2, on ? (uint32_t)INK_ON : 0x666666ff);
    sheet_box(s,
              (SDL_Rect){on ? x + width - knob - sheet_px(s, 2) : x + sheet_px(s, 2), y + sheet_px(s, 2),
                         knob, knob},
              knob / 2, (uint32_t)INK_TEXT);
}

static void add_row(struct sheet *s, SDL_Rect at, const struct columns *c, const struct panel_row *row,
                    bool selected, int choice)
{
    unsigned first = s->count;
    sheet_box(s, at, sheet_px(s, 6), selected ? 0xffffff24 : 0);
    int x = at.x + sheet_px(s, 10), right = at.x + at.w - sheet_px(s, 10), base = sheet_base(s, at.y, at.h);
    uint32_t ink = row->missing ? (uint32_t)INK_LABEL : (uint32_t)INK_TEXT;
    if (row->picture) {
        int height = at.h - sheet_px(s, 6), width = height * 4 / 3;
        sheet_picture(s, (SDL_Rect){x, at.y + sheet_px(s, 3), width, height}, row->picture,
                      row->picture_width, row->picture_height);
        x += width + c->gap;
    }
    if (c->value) {
        bool on = strcmp(row->value, "on") == 0;
        int from = x;
        if (is_switch(row)) {
            add_switch(s, x, at.y, at.h, on);
            from += sheet_px(s, SWITCH + 5);
        }
        sheet_text(s, from, base, STYLE_TEXT,
                   row->missing     ? (uint32_t)INK_LABEL
                   : on             ? (uint32_t)INK_ON
                   : is_switch(row) ? (uint32_t)INK_OFF
                                    : (uint32_t)INK_ON,
                   "%s", row->value);
        x += c->value + c->gap;
    }
    sheet_text(s, x, base, STYLE_TEXT, ink, "%s", row->label);
    if (c->meaning) {
        sheet_text(s, x + c->label + c->gap, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", row->meaning);
    }
    sheet_text_right(s, right, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", row->keys);
    sheet_choose(s, first, choice);
}

// Units beside the title of a page: as many as let all stand in a line, if that is possible.
static int tab_pad(const struct sheet *s, int width, const struct panel *p, const struct panel_view *v)
{
    int pad = TAB_PAD, titles = 0;
    for (unsigned i = 0; i < p->pages; i++) {
        titles += font_width(s->fonts, STYLE_TEXT, v->titles[i]);
    }
    while (pad > TAB_PAD_LEAST && titles + (int)p->pages * 2 * sheet_px(s, pad) > width) {
        pad--;
    }
    return sheet_px(s, pad);
}

// The titles of the pages; more than one line where the window is narrow. Returns the height.
static int add_tabs(struct sheet *s, int x, int y, int width, const struct panel *p,
                    const struct panel_view *v)
{
    int from = x, row = sheet_px(s, TABS), top = y, pad = tab_pad(s, width, p, v);
    for (unsigned i = 0; i < p->pages; i++) {
        int own = font_width(s->fonts, STYLE_TEXT, v->titles[i]) + 2 * pad;
        if (x > from && x + own > from + width) {
            x = from;
            y += row;
        }
        unsigned first = s->count;
        bool here = i == p->page;
        sheet_box(s, (SDL_Rect){x, y + row - sheet_px(s, 2), own, sheet_px(s, here ? 2 : 1)}, 0,
                  here ? (uint32_t)INK_ON : (uint32_t)INK_LINE);
        sheet_text(s, x + pad, sheet_base(s, y, row), STYLE_TEXT,
                   here ? (uint32_t)INK_TEXT : (uint32_t)INK_LABEL, "%s", v->titles[i]);
        sheet_choose(s, first, FIRST_TAB + (int)i);
        x += own;
    }
    return y + row - top;
}

static int tabs_height(const struct sheet *s, int width, const struct panel *p, const struct panel_view *v)
{
    int x = 0, lines = 1, pad = tab_pad(s, width, p, v);
    for (unsigned i = 0; i < p->pages; i++) {
        int own = font_width(s->fonts, STYLE_TEXT, v->titles[i]) + 2 * pad;
        if (x && x + own > width) {
            x = 0;
            lines++;
        }
        x += own;
    }
    return lines * sheet_px(s, TABS);
}

// What can be done here, as many words as fit behind the title.
static void add_title(struct sheet *s, int x, int y, int width, const char *hint)
{
    static const char *const hints[] = {"← → pages   ↑ ↓ choose   Enter switches   Esc back to the game",
                                        "← → ↑ ↓ Enter   Esc back to the game", "Esc back to the game"};
    int base = sheet_base(s, y, sheet_px(s, 28));
    int left = width - sheet_text(s, x, base, STYLE_TITLE, (uint32_t)INK_ON, "neurodoom") - sheet_px(s, 20);
    if (hint) {
        sheet_text_right(s, x + width, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", hint);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (font_width(s->fonts, STYLE_LABEL, hints[i]) <= left) {
            sheet_text_right(s, x + width, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", hints[i]);
            break;
        }
    }
}

// Below the rows: what the selected one is doing now.
static void add_now(struct sheet *s, int x, int y, int width, int height, const struct panel_row *row,
                    bool meaning, const struct panel_view *v)
{
    int line = sheet_px(s, LINE), base = y + sheet_px(s, 8) + font_ascent(s->fonts, STYLE_TEXT);
    sheet_box(s, (SDL_Rect){x, y, width, sheet_px(s, 1)}, 0, (uint32_t)INK_LINE);
    const char *text = v->now ? v->now : "";
    int lines = (height - sheet_px(s, 10)) / line, plot = width * 3 / 8,
        beside = width - plot - sheet_px(s, 14);
    if (v->plot && sheet_lines(s, beside, STYLE_TEXT, text) +
                           (meaning ? sheet_lines(s, beside, STYLE_LABEL, row->meaning) : 0) <=
                       lines) {
        sheet_plot(s, (SDL_Rect){x + width - plot, y + sheet_px(s, 8), plot, height - sheet_px(s, 10)},
                   v->plot);
        width = beside;
    }
    if (meaning) {
        int used =
            sheet_paragraph(s, x, base, width, line, lines, STYLE_LABEL, (uint32_t)INK_LABEL, row->meaning);
        lines -= used;
        base += used * line;
    } else if (*text && sheet_lines(s, width, STYLE_TEXT, text) < lines) {
        sheet_text(s, x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", row->label);
        lines--;
        base += line;
    }
    sheet_paragraph(s, x, base, width, line, lines, STYLE_TEXT, (uint32_t)INK_TEXT, text);
}

// Makes the selected row one of those shown.
static void scroll(struct panel *p, size_t count)
{
    p->selected = p->selected < count ? p->selected : count ? count - 1 : 0;
    if (p->selected < p->first) {
        p->first = p->selected;
    } else if (p->selected >= p->first + p->shown) {
        p->first = p->selected - p->shown + 1;
    }
    if (p->first + p->shown > count) {
        p->first = count > p->shown ? count - p->shown : 0;
    }
}

void panel_layout(struct panel *p, struct sheet *s, const struct panel_view *v)
{
    int edge = sheet_px(s, EDGE), pad = sheet_px(s, PAD), most = sheet_px(s, WIDTH);
    int width = (most < s->width - 2 * edge ? most : s->width - 2 * edge) - 2 * pad;
    bool pictures = false;
    for (size_t i = 0; i < v->count; i++) {
        pictures |= v->rows[i].picture != NULL;
    }
    int bottom = sheet_status_bar(s) - edge; // toasts stand below
    struct columns columns =
        measure(s, v, width - sheet_px(s, 20) - (pictures ? sheet_px(s, 2 * ROW_PICTURE) : 0));
    int head = sheet_px(s, 28) + tabs_height(s, width, p, v) + sheet_px(s, 8);
    int room = bottom - edge - 2 * sheet_px(s, 10) - head;
    bool small = room < sheet_px(s, NOW + 8 * ROW);
    int now = v->now || !columns.meaning ? sheet_px(s, small ? NOW_LEAST : NOW) : 0;
    int row = sheet_px(s, pictures ? ROW_PICTURE : small ? ROW_LEAST : ROW);
    room -= now;
    int shown = room / row;
    p->shown = shown < 1 ? 1 : (size_t)shown < v->count ? (size_t)shown : v->count;
    scroll(p, v->count);

    int rows = shown < 1 ? 1 : shown < 7 ? shown : 7; // so that the panel does not jump from page to page
    rows = (size_t)rows < p->shown ? (int)p->shown : rows;
    int height = 2 * sheet_px(s, 10) + head + rows * row + now;
    SDL_Rect at = {s->picture.x + (s->picture.w - width) / 2 - pad, (bottom - height) / 2, width + 2 * pad,
                   height};
    at.x = at.x < edge ? edge : at.x;
    at.y = at.y < edge ? edge : at.y > sheet_px(s, 60) ? sheet_px(s, 60) : at.y;
    sheet_card(s, at, OPACITY);
    int x = at.x + pad, y = at.y + sheet_px(s, 10);
    add_title(s, x, y, width, v->hint);
    y += sheet_px(s, 28);
    y += add_tabs(s, x, y, width, p, v) + sheet_px(s, 8);
    int end = y + rows * row;
    for (size_t i = p->first; i < p->first + p->shown; i++, y += row) {
        add_row(s, (SDL_Rect){x, y, width, row}, &columns, &v->rows[i], i == p->selected && !p->fresh,
                (int)i);
    }
    if (v->count == 0 && v->now) {
        sheet_paragraph(s, x + sheet_px(s, 10), sheet_base(s, y, row), width - sheet_px(s, 20), row, rows,
                        STYLE_LABEL, (uint32_t)INK_LABEL, v->now);
    } else if (v->count && now && !p->fresh) {
        add_now(s, x, end, width, now, &v->rows[p->selected], !columns.meaning, v);
    }
    // How far the list has been scrolled.
    if (p->shown < v->count) {
        int track = end - (at.y + sheet_px(s, 10) + head), top = end - track;
        int part = (int)((long)track * (long)p->shown / (long)v->count);
        sheet_box(s,
                  (SDL_Rect){x + width + sheet_px(s, 4),
                             top + (int)((long)track * (long)p->first / (long)v->count), sheet_px(s, 3),
                             part},
                  0, (uint32_t)INK_LABEL);
    }
}
