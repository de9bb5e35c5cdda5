// SPDX-License-Identifier: MIT
#include "loop_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/session/session.h"
#include "overlay.h"

enum {
    EDGE = 10,
    PAD = 18,
    ROW = 20,
    LINE = 17,
    COLUMNS_FROM = 780, // units of width from which on there are two columns
    RIGHT = 300, // width of the second
};

struct pen {
    struct sheet *sheet;
    int x, y, width;
};

static void add_head(struct pen *p, const char *text)
{
    struct sheet *s = p->sheet;
    p->y += sheet_px(s, 10);
    sheet_text(s, p->x, sheet_base(s, p->y, sheet_px(s, ROW)), STYLE_LABEL, (uint32_t)INK_LABEL, "%s", text);
    p->y += sheet_px(s, ROW);
}

static void add_words(struct pen *p, int indent, uint32_t ink, const char *text)
{
    struct sheet *s = p->sheet;
    int lines = sheet_paragraph(s, p->x + indent, sheet_base(s, p->y, sheet_px(s, LINE)), p->width - indent,
                                sheet_px(s, LINE), 8, STYLE_LABEL, ink, text);
    p->y += lines * sheet_px(s, LINE);
}

// ---- the code ----

static void add_code(struct pen *p, const struct machine_loop_explanation *e)
{
    struct sheet *s = p->sheet;
    int gap = sheet_px(s, 12), line = sheet_px(s, LINE), row = sheet_px(s, ROW), pc = 0, code = 0;
    char address[16];
    for (unsigned i = 0; i < e->code_count; i++) {
        snprintf(address, sizeof address, "%" PRIx32, e->code[i].pc);
        int own = font_width(s->fonts, STYLE_CODE, address);
        pc = own > pc ? own : pc;
        own = font_width(s->fonts, STYLE_CODE, e->code[i].text);
        code = own > code ? own : code;
    }
    int meaning = p->x + pc + code + 2 * gap, width = p->x + p->width - meaning;
    bool below = width < sheet_px(s, 150); // there is no room beside
    for (unsigned i = 0; i < e->code_count; i++) {
        const struct machine_loop_code *c = &e->code[i];
        int base = sheet_base(s, p->y, row), lines = 1;
        sheet_text(s, p->x, base, STYLE_CODE, 0x888888ff, "%" PRIx32, c->pc);
        sheet_text(s, p->x + pc + gap, base, STYLE_CODE, (uint32_t)INK_TEXT, "%s", c->text);
        if (below) {
            p->y += row;
            struct pen under = {s, p->x + pc + 2 * gap, p->y, p->width - pc - 2 * gap};
            add_words(&under, 0, (uint32_t)INK_LABEL, c->meaning);
            p->y = under.y;
        } else {
            lines = sheet_paragraph(s, meaning, base, width, line, 3, STYLE_LABEL, (uint32_t)INK_LABEL,
                                    c->meaning);
            p->y += row + (lines > 1 ? (lines - 1) * line : 0);
        }
    }
}

static void add_checks(struct pen *p, const struct machine_loop_explanation *e)
{
    struct sheet *s = p->sheet;
    if (!e->check_count) {
        return;
    }
    add_head(p, "checked whenever the loop is entered");
    for (unsigned i = 0; i < e->check_count; i++) {
        sheet_text(s, p->x, sheet_base(s, p->y, sheet_px(s, LINE)), STYLE_LABEL, (uint32_t)INK_ON, "✓");
        add_words(p, sheet_px(s, 16), (uint32_t)INK_TEXT, e->checks[i]);
    }
}

// ---- nets, proof, counters ----

// A share as a bar between its name and the figure.
static void add_bar(struct pen *p, const char *name, double share)
{
    struct sheet *s = p->sheet;
    int base = sheet_base(s, p->y, sheet_px(s, ROW)), height = sheet_px(s, 6);
    sheet_text(s, p->x, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", name);
    int figure =
        sheet_text_right(s, p->x + p->width, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%.0f %%", 100 * share);
    int from = p->x + sheet_px(s, 130), width = p->x + p->width - figure - sheet_px(s, 8) - from;
    if (width > sheet_px(s, 20)) {
        SDL_Rect at = {from, p->y + (sheet_px(s, ROW) - height) / 2, width, height};
        sheet_box(s, at, 0, 0xffffff28);
        at.w = (int)(share * width);
        sheet_box(s, at, 0, (uint32_t)INK_ON);
    }
    p->y += sheet_px(s, ROW);
}

static void add_pair(struct pen *p, const char *label, const char *value)
{
    struct sheet *s = p->sheet;
    int base = sheet_base(s, p->y, sheet_px(s, ROW));
    sheet_text(s, p->x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", label);
    sheet_text_right(s, p->x + p->width, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", value);
    p->y += sheet_px(s, ROW);
}

static void add_nets(struct pen *p, const struct machine_loop_explanation *e)
{
    char text[96];
    add_head(p, "what the nets said");
    if (!e->guessed) {
        add_words(p, 0, (uint32_t)INK_TEXT, "they have not been asked in this run");
        return;
    }
    add_bar(p, e->loop.class_name, e->confidence);
    if (e->counter >= 0) {
        snprintf(text, sizeof text, "%s in x%d", e->counts, e->counter);
    } else {
        snprintf(text, sizeof text, "%s", e->counts);
    }
    add_pair(p, "how its rounds end", text);
    snprintf(text, sizeof text, "%.0f, %.0f", e->detector_trips, e->predicted_trips);
    add_pair(p, "rounds, two guesses", text);
}

// 1,234,567
static void group(char text[32], uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value), n = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            text[n++] = ',';
        }
        text[n++] = digits[i];
    }
    text[n] = '\0';
}

static void add_counters(struct pen *p, const struct machine_loop_explanation *e)
{
    const struct machine_loop *loop = &e->loop;
    char text[32];
    add_head(p, "since the start");
    group(text, loop->entries);
    add_pair(p, "entries", text);
    snprintf(text, sizeof text, "%.1f", loop->entries ? (double)loop->iterations / (double)loop->entries : 0);
    add_pair(p, "rounds an entry", text);
    group(text, e->skipped);
    add_pair(p, "rounds skipped", text);
    group(text, loop->credited);
    add_pair(p, "instructions left out", text);
    snprintf(text, sizeof text, "%.1f %%", 100 * loop->share);
    add_pair(p, "of all instructions", text);
}

// What it saves is measured by doing without it: a kernel's own time is part of that of everything else.
static void add_saving(struct pen *p, const struct loop_page *page)
{
    const struct machine_loop_explanation *e = &page->explanation;
    if (!*page->measured && !e->in_use && !e->unwanted) {
        return;
    }
    add_head(p, "time of a frame, measured");
    if (*page->measured) {
        add_words(p, 0, (uint32_t)INK_TEXT, page->measured);
    } else {
        add_words(p, 0, (uint32_t)INK_LABEL,
                  e->in_use ? "Enter switches this loop off: what 100 frames take then is compared"
                            : "Enter switches this loop on: what 100 frames take then is compared");
    }
}

static void add_proof(struct pen *p, const struct machine_loop_explanation *e)
{
    add_head(p, "what was proved");
    add_words(p, 0, (uint32_t)INK_TEXT, *e->proof ? e->proof : e->verdict);
}

// ---- the page ----

// The loop's name and verdict.
static void add_title(struct sheet *s, const struct machine_loop_explanation *e, int x, int y, int width)
{
    int base = sheet_base(s, y, sheet_px(s, 24)), pad = sheet_px(s, 7), height = sheet_px(s, 21);
    bool refused = strncmp(e->verdict, "refused", 7) == 0;
    const char *chip = refused       ? "refused"
                       : e->in_use   ? "proved, in use"
                       : e->unwanted ? "switched off"
                                     : "not in use";
    int own = font_width(s->fonts, STYLE_BOLD, chip) + 2 * pad;
    SDL_Rect at = {x + width - own, y + sheet_px(s, 1), own, height};
    sheet_box(s, at, sheet_px(s, 3), e->in_use ? (uint32_t)INK_ON : (uint32_t)INK_OFF);
    sheet_text(s, at.x + pad, sheet_base(s, at.y, height), STYLE_BOLD, 0x00101cff, "%s", chip);
    const char *name = *e->loop.function ? e->loop.function : "a loop";
    char where[64];
    snprintf(where, sizeof where, "at %" PRIx32 ", %u instructions", e->loop.header,
             (e->branch - e->loop.header) / 4 + 1);
    int title = sheet_text(s, x, base, STYLE_TITLE, (uint32_t)INK_TEXT, "%s", name);
    int rest = font_width(s->fonts, STYLE_LABEL, where);
    if (title + rest + own + 3 * pad <= width) {
        sheet_text(s, x + title + pad, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", where);
    }
}

static int add_choice(struct sheet *s, int x, int base, const char *text, int choice)
{
    unsigned first = s->count;
    int width = sheet_text(s, x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", text);
    sheet_choose(s, first, choice);
    return x + width + sheet_px(s, 16);
}

// Which of the loops it is, where there is room between from and to.
static void add_place(struct sheet *s, const struct loop_page *p, int from, int to, int base)
{
    char text[48];
    snprintf(text, sizeof text, "%zu of %zu", p->number, p->count);
    if (from + font_width(s->fonts, STYLE_LABEL, text) <= to) {
        sheet_text_right(s, to, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", text);
    }
}

static void add_foot(struct sheet *s, const struct loop_page *p, int x, int base, int width, bool scrolls)
{
    int at = add_choice(s, x, base, "↓ next", LOOP_PAGE_NEXT);
    at = add_choice(s, at, base, "↑ previous", LOOP_PAGE_PREVIOUS);
    if (p->explanation.unwanted || p->explanation.in_use) {
        at = add_choice(s, at, base, p->explanation.unwanted ? "Enter: on again" : "Enter: off",
                        LOOP_PAGE_SWITCH);
    }
    at = add_choice(s, at, base, "E: what it draws", LOOP_PAGE_TRACE);
    if (scrolls) {
        at = add_choice(s, at, base, "PageDown: more", SHEET_NOTHING);
    }
    at = add_choice(s, at, base, "Esc back", LOOP_PAGE_BACK);
    add_place(s, p, at, x + width, base);
}

// ---- what it draws ----

enum { UNTOLD = 8 }; // pictures after which nothing more is to be expected

bool loop_page_look(struct loop_page *p, const struct session_picture *picture)
{
    if (!p->open || !p->traced) {
        return false;
    }
    p->told = picture->traced_loop && picture->traced_loop == p->header;
    p->untold = p->told ? 0 : p->untold + 1;
    p->pixels = 0;
    for (size_t i = 0; p->told && i < sizeof picture->traced; i++) {
        p->pixels += picture->traced[i] != 0;
    }
    return p->told;
}

static void tell_traced(const struct loop_page *p, char *text, size_t size)
{
    const double all = (double)DEVICE_FRAME_WIDTH * DEVICE_FRAME_HEIGHT;
    char pixels[32];
    group(pixels, p->pixels);
    if (!p->told) {
        snprintf(text, size, "%s",
                 p->untold > UNTOLD ? "What this loop writes cannot be told: it could not be summed up."
                                    : "The next picture shows what it draws.");
    } else if (p->pixels) {
        snprintf(text, size, "Yellow: what this loop has drawn in this picture, %s pixels, %.0f %% of it.",
                 pixels, 100 * p->pixels / all);
    } else {
        snprintf(text, size, "This loop has drawn nothing in this picture.");
    }
}

// The game remains in sight: a card at its top, no higher than need be.
static void layout_traced(const struct loop_page *p, struct sheet *s)
{
    const struct machine_loop_explanation *e = &p->explanation;
    int pad = sheet_px(s, CARD_PAD), edge = sheet_px(s, EDGE), most = sheet_px(s, 620);
    SDL_Rect at = {edge, edge, s->width - 2 * edge, 0};
    if (at.w > most) {
        at.x += (at.w - most) / 2;
        at.w = most;
    }
    unsigned card = s->count;
    char text[128];
    sheet_card(s, at, 94);
    struct pen in = {s, at.x + pad, at.y + sheet_px(s, 8), at.w - 2 * pad};
    int base = sheet_base(s, in.y, sheet_px(s, 24));
    sheet_text(s, in.x, base, STYLE_TITLE, (uint32_t)INK_TEXT, "%s",
               *e->loop.function ? e->loop.function : "a loop");
    in.y += sheet_px(s, 26);
    tell_traced(p, text, sizeof text);
    add_words(&in, 0, (uint32_t)INK_TEXT, text);
    add_words(&in, 0, (uint32_t)INK_LABEL,
              "Until this is closed the game is interpreted and this loop is not replaced: that is slower.");
    base = sheet_base(s, in.y + sheet_px(s, 4), sheet_px(s, ROW));
    int x = add_choice(s, in.x, base, "↓ next", LOOP_PAGE_NEXT);
    x = add_choice(s, x, base, "↑ previous", LOOP_PAGE_PREVIOUS);
    x = add_choice(s, x, base, "Esc: back to its code", LOOP_PAGE_TRACE);
    add_place(s, p, x, at.x + at.w - pad, base);
    s->items[card].at.h = in.y + sheet_px(s, 4 + ROW + 8) - at.y;
}

// ---- either ----

void loop_page_layout(struct loop_page *p, struct sheet *s)
{
    if (p->traced) {
        layout_traced(p, s);
        return;
    }
    const struct machine_loop_explanation *e = &p->explanation;
    int edge = sheet_px(s, EDGE), pad = sheet_px(s, PAD), most = sheet_px(s, 1100);
    SDL_Rect at = {edge, edge, s->width - 2 * edge, sheet_status_bar(s) - 2 * edge};
    if (at.w > most) {
        at.x += (at.w - most) / 2;
        at.w = most;
    }
    sheet_card(s, at, 94);
    int x = at.x + pad, width = at.w - 2 * pad, top = at.y + sheet_px(s, 44);
    int foot = at.y + at.h - sheet_px(s, 14), bottom = foot - sheet_px(s, 22);
    if (!e->known) {
        sheet_text(s, x, sheet_base(s, at.y + sheet_px(s, 12), sheet_px(s, 24)), STYLE_TEXT,
                   (uint32_t)INK_TEXT, "No loop has become hot yet.");
        add_choice(s, x, foot, "Esc back", LOOP_PAGE_BACK);
        return;
    }
    add_title(s, e, x, at.y + sheet_px(s, 12), width);
    unsigned first = s->count;
    bool two = width >= sheet_px(s, COLUMNS_FROM);
    struct pen left = {s, x, top, two ? width - sheet_px(s, RIGHT + 30) : width};
    add_code(&left, e);
    add_checks(&left, e);
    struct pen right = left;
    if (two) {
        right = (struct pen){s, x + width - sheet_px(s, RIGHT), top - sheet_px(s, 10), sheet_px(s, RIGHT)};
    }
    add_nets(&right, e);
    add_proof(&right, e);
    add_counters(&right, e);
    add_saving(&right, p);
    int end = left.y > right.y ? left.y : right.y, over = end - bottom;
    int scroll = sheet_px(s, p->scroll);
    if (scroll > over) {
        scroll = over > 0 ? over : 0;
        p->scroll = (int)(scroll / fonts_scale(s->fonts));
    }
    sheet_move(s, first, 0, -scroll);
    sheet_keep(s, first, top, bottom);
    add_foot(s, p, x, foot, width, over > 0);
}
