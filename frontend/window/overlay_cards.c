// SPDX-License-Identifier: MIT
// Where the figures stand: the strip, the card of figures, the card of hot loops, and the sign of a pause.
// What does not fit is left out, the least important first; nothing is cut.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "overlay.h"

enum {
    PAD_NARROW = 10,
    PIECES = 10, // of the strip
    CARD = 268, // the card of figures; where there is no room for
    CARD_LEAST = 196, // this, the strip stands for it
};

#define DARK_INK 0x00101cffu // on a coloured ground

void overlay_count(char text[16], double value)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}};
    int i = 0;
    while (i < 3 && value < units[i].unit * 0.9995) {
        i++;
    }
    double scaled = value / units[i].unit;
    int digits = !*units[i].name || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    snprintf(text, 16, "%.*f%s", digits, scaled, units[i].name);
}

// 0: there has been no frame yet, at the start or behind a jump.
static void count_ms(char text[16], double ms)
{
    if (ms <= 0) {
        snprintf(text, 16, "-");
        return;
    }
    snprintf(text, 16, "%.*f", ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : 2, ms);
}

bool overlay_is_right(const struct overlay_status *status)
{
    return status->corner == CORNER_TOP_RIGHT || status->corner == CORNER_BOTTOM_RIGHT;
}

static bool is_bottom(const struct overlay_status *status)
{
    return status->corner == CORNER_BOTTOM_LEFT || status->corner == CORNER_BOTTOM_RIGHT;
}

// Where a card of that size stands in its corner: beside the picture as far as there is room, else between
// the line of messages, which is on the left, and the status bar.
static SDL_Rect place(const struct sheet *s, const struct overlay_status *status, int width, int height)
{
    int edge = sheet_px(s, CARD_EDGE);
    bool right = overlay_is_right(status), bottom = is_bottom(status);
    SDL_Rect at = {right ? s->width - edge - width : edge, bottom ? s->height - edge - height : edge, width,
                   height};
    bool beside = right ? at.x >= s->picture.x + s->picture.w : at.x + width <= s->picture.x;
    if (bottom && !beside) {
        at.y = sheet_status_bar(s) - edge / 2 - height;
    } else if (!beside && !right) {
        int free = sheet_message_line(s) + edge / 2;
        at.y = free > edge ? free : edge;
    }
    return at;
}

// The words for the nets, and their colour.
static const char *neural_words(enum neural neural, uint32_t *ink)
{
    static const char *const words[] = {[NEURAL_MISSING] = "NEURAL N/A",
                                        [NEURAL_OFF] = "NEURAL OFF",
                                        [NEURAL_LOOPS] = "LOOPS ON",
                                        [NEURAL_DISPATCH] = "DISPATCH ON",
                                        [NEURAL_ON] = "NEURAL ON"};
    *ink = neural == NEURAL_MISSING ? (uint32_t)INK_LABEL
           : neural == NEURAL_OFF   ? (uint32_t)INK_OFF
                                    : (uint32_t)INK_ON;
    return words[neural];
}

// ---- the strip ----

struct piece {
    char text[40];
    enum style style;
    uint32_t ink;
    int gap; // units behind it
    int rank; // the highest goes first where there is no room
};

static int strip_width(const struct sheet *s, const struct piece *pieces, int count, int most_rank)
{
    int width = 2 * sheet_px(s, PAD_NARROW);
    for (int i = 0; i < count; i++) {
        if (pieces[i].rank <= most_rank) {
            width += font_width(s->fonts, pieces[i].style, pieces[i].text) + sheet_px(s, pieces[i].gap);
        }
    }
    return width;
}

// Where it is not DOOM's own.
static bool tell_speed(char *text, size_t size, const struct overlay_status *status)
{
    if (status->speed == SPEED_MAX) {
        snprintf(text, size, "max speed");
    } else {
        snprintf(text, size, "%u %% speed", status->speed);
    }
    return status->speed != 100;
}

static int strip_pieces(struct piece pieces[PIECES], const struct overlay *o,
                        const struct overlay_status *status)
{
    const struct overlay_figures *f = &o->figures;
    uint32_t ink;
    const char *words = neural_words(status->neural, &ink);
    char number[16], speed[32];
    int n = 0;
    pieces[n] = (struct piece){.style = STYLE_TEXT, .ink = ink, .gap = 8, .rank = 0};
    snprintf(pieces[n++].text, sizeof pieces[0].text, "• %s", words);
    count_ms(number, f->emu_ms);
    pieces[n] = (struct piece){.style = STYLE_BOLD, .ink = (uint32_t)INK_TEXT, .gap = 4, .rank = 0};
    snprintf(pieces[n++].text, sizeof pieces[0].text, "%s", number);
    pieces[n++] = (struct piece){"ms a frame", STYLE_LABEL, (uint32_t)INK_LABEL, 8, 0};
    if (f->warming) {
        pieces[n++] = (struct piece){"warming up", STYLE_LABEL, (uint32_t)INK_MARK, 8, 2};
    }
    if (status->verify) {
        pieces[n++] = (struct piece){"checking", STYLE_LABEL, (uint32_t)INK_MARK, 8, 1};
    }
    if (*status->side) {
        pieces[n] = (struct piece){.style = STYLE_LABEL, .ink = (uint32_t)INK_MARK, .gap = 8, .rank = 1};
        snprintf(pieces[n++].text, sizeof pieces[0].text, "A/B: %s", status->side);
    }
    if (status->recording) {
        pieces[n] = (struct piece){.style = STYLE_LABEL, .ink = (uint32_t)INK_MARK, .gap = 8, .rank = 1};
        snprintf(pieces[n++].text, sizeof pieces[0].text, "recording %" PRIu32, status->recorded);
    }
    if (tell_speed(speed, sizeof speed, status)) {
        pieces[n] = (struct piece){.style = STYLE_LABEL, .ink = (uint32_t)INK_MARK, .gap = 8, .rank = 1};
        snprintf(pieces[n++].text, sizeof pieces[0].text, "%s", speed);
    }
    if (f->most > 0) {
        double times = f->most / 100;
        pieces[n] = (struct piece){.style = STYLE_BOLD, .ink = (uint32_t)INK_TEXT, .gap = 4, .rank = 3};
        snprintf(pieces[n++].text, sizeof pieces[0].text, "%.*f×", times < 9.95, times);
        pieces[n++] = (struct piece){"real time", STYLE_LABEL, (uint32_t)INK_LABEL, 0, 3};
    }
    return n;
}

static void add_strip(struct sheet *s, const struct overlay *o, const struct overlay_status *status)
{
    struct piece pieces[PIECES];
    int count = strip_pieces(pieces, o, status), rank = 3;
    // It leaves the line of messages free, which is on the left half.
    int most = s->picture.w / 2 - sheet_px(s, CARD_EDGE), width;
    while ((width = strip_width(s, pieces, count, rank)) > most && rank > 0) {
        rank--;
    }
    if (width > s->width - 2 * sheet_px(s, CARD_EDGE)) {
        return;
    }
    SDL_Rect at = place(s, status, width, sheet_px(s, 26));
    sheet_card(s, at, status->opacity);
    int x = at.x + sheet_px(s, PAD_NARROW), base = sheet_base(s, at.y, at.h);
    for (int i = 0; i < count; i++) {
        if (pieces[i].rank <= rank) {
            x += sheet_text(s, x, base, pieces[i].style, pieces[i].ink, "%s", pieces[i].text);
            x += sheet_px(s, pieces[i].gap);
        }
    }
}

// ---- the card of figures ----

struct pen {
    struct sheet *sheet;
    int x, y, width; // of what is inside the card; y moves down
};

// Returns false where there is no room for it.
static bool add_chip(struct pen *p, int *x, uint32_t ground, const char *text)
{
    struct sheet *s = p->sheet;
    int pad = sheet_px(s, 6), width = font_width(s->fonts, STYLE_BOLD, text) + 2 * pad;
    if (*x + width > p->x + p->width) {
        return false;
    }
    sheet_box(s, (SDL_Rect){*x, p->y, width, sheet_px(s, 19)}, sheet_px(s, 3), ground);
    sheet_text(s, *x + pad, sheet_base(s, p->y, sheet_px(s, 19)), STYLE_BOLD, DARK_INK, "%s", text);
    *x += width + sheet_px(s, 5);
    return true;
}

static void add_chips(struct pen *p, const struct overlay_status *status)
{
    int x = p->x;
    char text[32];
    uint32_t on = (uint32_t)INK_ON, off = (uint32_t)INK_OFF, neither = (uint32_t)INK_LABEL;
    bool room = true;
    if (status->recording) {
        snprintf(text, sizeof text, "rec %" PRIu32, status->recorded);
        room = add_chip(p, &x, (uint32_t)INK_MARK, text);
    }
    if (*status->side) {
        room = room && add_chip(p, &x, (uint32_t)INK_MARK, "A/B");
    }
    if (tell_speed(text, sizeof text, status)) {
        room = room && add_chip(p, &x, (uint32_t)INK_MARK, text);
    }
    if (status->verify) {
        room = room && add_chip(p, &x, (uint32_t)INK_MARK, "checking");
    }
    room = room && add_chip(p, &x,
                            !status->has_loops ? neither
                            : status->loops    ? on
                                               : off,
                            !status->has_loops ? "no loops"
                            : status->loops    ? "loops on"
                                               : "loops off");
    if (strcmp(status->engine, "interp") == 0) {
        room = room && add_chip(p, &x, off, "interpreted");
    }
    bool plain = strcmp(status->dispatch, "hybrid") == 0, none = !*status->dispatch;
    snprintf(text, sizeof text, "%sdispatch%s%s", none ? "no " : "", plain || none ? "" : " ",
             plain || none ? "" : status->dispatch);
    bool dispatch_off = strcmp(status->dispatch, "off") == 0;
    room = room && add_chip(p, &x, none ? neither : dispatch_off ? off : on, text);
    if (room) {
        add_chip(p, &x, status->idle ? on : off, status->idle ? "waiting" : "waiting off");
    }
    p->y += sheet_px(p->sheet, 24);
}

static void add_number(struct pen *p, const struct overlay *o, const struct overlay_status *status)
{
    struct sheet *s = p->sheet;
    uint32_t ink = plot_colour(overlay_state(o, status));
    char number[16];
    count_ms(number, o->figures.emu_ms);
    int base = p->y + sheet_px(s, 29);
    int x = p->x + sheet_text(s, p->x, base, STYLE_NUMBER, ink, "%s", number) + sheet_px(s, 7);
    const char *what = "ms to emulate a frame";
    if (x + font_width(s->fonts, STYLE_LABEL, what) > p->x + p->width) {
        what = "ms a frame";
    }
    sheet_text(s, x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", what);
    p->y += sheet_px(s, 38);
}

static void add_plot(struct pen *p, const struct overlay *o)
{
    struct sheet *s = p->sheet;
    int height = sheet_px(s, 66);
    sheet_plot(s, (SDL_Rect){p->x, p->y, p->width, height}, &o->plot);
    p->y += height + sheet_px(s, 6);
}

// What the last switch did; before one, how to throw it.
static void add_message(struct pen *p, const struct overlay *o, const struct overlay_status *status)
{
    struct sheet *s = p->sheet;
    char text[160];
    uint32_t ink = (uint32_t)INK_TEXT;
    bool marked = *o->change.label || *o->sides.text;
    if (*o->sides.text) {
        snprintf(text, sizeof text, "%s", o->sides.text);
    } else {
        overlay_tell_switch(o, text, sizeof text);
    }
    if (o->figures.warming) {
        snprintf(text, sizeof text, "warming up: code is still being compiled");
        ink = (uint32_t)INK_MARK;
    } else if (!*text && status->has_loops && !status->fixed) {
        snprintf(text, sizeof text, "%s L switches loops, %s N all nets", status->leader, status->leader);
        ink = (uint32_t)INK_LABEL;
    }
    if (marked && !o->figures.warming) {
        sheet_box(s, (SDL_Rect){p->x, p->y + sheet_px(s, 2), sheet_px(s, 2), sheet_px(s, 12)}, 0,
                  (uint32_t)INK_MARK);
    }
    int indent = sheet_px(s, 8), lines = sheet_lines(s, p->width - indent, STYLE_LABEL, text);
    lines = lines < 2 ? 2 : lines; // so that nothing moves when a switch is thrown
    sheet_paragraph(s, p->x + indent, p->y + font_ascent(s->fonts, STYLE_LABEL), p->width - indent,
                    sheet_px(s, CARD_LINE), lines, STYLE_LABEL, ink, text);
    p->y += sheet_px(s, CARD_LINE * lines + 3);
}

struct row {
    const char *label, *shorter;
    char value[32], shorter_value[32];
    int rank; // the highest goes first where there is no room
};
enum { ROWS = 6 };

// Never rounded up: 100 means that not one of n was wrong.
static void tell_accuracy(char text[32], const struct machine_stats *total, int digits)
{
    double scale = digits == 3 ? 1000 : 10;
    uint64_t n = total->dispatch_total, hit = total->dispatch_hit;
    double percent = n ? 100 * (double)hit / (double)n : 0;
    if (!n) {
        snprintf(text, 32, "N/A");
    } else if (hit == n) {
        snprintf(text, 32, "100 %%");
    } else {
        snprintf(text, 32, "%.*f %%", digits, floor(percent * scale) / scale);
    }
}

static void fill_rows(struct row rows[ROWS], const struct overlay *o, const struct overlay_status *status)
{
    const struct overlay_figures *f = &o->figures;
    char number[16];
    memset(rows, 0, ROWS * sizeof *rows);
    rows[0] = (struct row){.label = "IPS", .rank = 0};
    overlay_count(rows[0].value, f->ips);
    rows[1] = (struct row){.label = "effective IPS", .rank = 3};
    rows[2] = (struct row){.label = "loops detected, proved", .shorter = "loops detected", .rank = 1};
    rows[3] = (struct row){.label = "iterations skipped", .rank = 4};
    rows[4] = (struct row){.label = "dispatch accuracy", .shorter = "dispatch accuracy", .rank = 2};
    rows[5] = (struct row){.label = "waiting", .rank = 5};
    if (status->has_loops) {
        overlay_count(rows[1].value, f->ips_effective);
        snprintf(rows[2].value, sizeof rows[2].value, "%" PRIu64 ", %" PRIu64, f->total.loops_detected,
                 f->total.loops_proved);
        snprintf(rows[2].shorter_value, sizeof rows[2].value, "%" PRIu64, f->total.loops_detected);
        overlay_count(number, f->skipped);
        snprintf(rows[3].value, sizeof rows[3].value, "%s/s", number);
    } else {
        for (int i = 1; i < 4; i++) {
            snprintf(rows[i].value, sizeof rows[i].value, "N/A");
        }
    }
    tell_accuracy(rows[4].value, &f->total, 3);
    tell_accuracy(rows[4].shorter_value, &f->total, 1);
    snprintf(rows[5].value, sizeof rows[5].value, "%.0f %%", f->idle);
}

static void add_row(struct pen *p, const struct row *row)
{
    struct sheet *s = p->sheet;
    const char *label = row->label, *value = row->value;
    if (row->shorter &&
        font_width(s->fonts, STYLE_LABEL, label) + font_width(s->fonts, STYLE_TEXT, value) + sheet_px(s, 8) >
            p->width) {
        label = row->shorter;
        value = *row->shorter_value ? row->shorter_value : value;
    }
    int base = sheet_base(s, p->y, sheet_px(s, CARD_ROW));
    sheet_text(s, p->x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", label);
    sheet_text_right(s, p->x + p->width, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", value);
    p->y += sheet_px(s, CARD_ROW);
}

// The width of the card, which leaves the middle of the picture free; 0: there is no room.
static int card_width(const struct sheet *s, bool right)
{
    SDL_Rect middle = sheet_middle(s);
    int side = (right ? s->width - middle.x - middle.w : middle.x) - sheet_px(s, CARD_EDGE);
    return side >= sheet_px(s, CARD) ? sheet_px(s, CARD) : side >= sheet_px(s, CARD_LEAST) ? side : 0;
}

// Returns where it is.
static SDL_Rect add_card(struct sheet *s, int width, const struct overlay *o,
                         const struct overlay_status *status)
{
    int pad = sheet_px(s, width < sheet_px(s, CARD) ? PAD_NARROW : CARD_PAD);
    unsigned first = s->count;
    struct sheet_item *card = sheet_card(s, (SDL_Rect){0, 0, width, 0}, status->opacity);
    struct pen pen = {s, pad, pad, width - 2 * pad};
    add_chips(&pen, status);
    add_number(&pen, o, status);
    if (status->graph) {
        add_plot(&pen, o);
    }
    add_message(&pen, o, status);

    struct row rows[ROWS];
    fill_rows(rows, o, status);
    int most = s->picture.h * 3 / 5, shown = (most - pen.y - pad) / sheet_px(s, CARD_ROW);
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].rank < shown) {
            add_row(&pen, &rows[i]);
        }
    }
    card->at.h = pen.y + pad;
    SDL_Rect at = place(s, status, width, card->at.h);
    sheet_move(s, first, at.x, at.y);
    return at;
}

// ---- all of it ----

enum { PAUSED = 25 }; // height of its sign

// Next to the middle third, so that it is seen and hides nothing: below it, unless figures and messages are
// there.
static void add_paused(struct sheet *s, const struct overlay_status *status)
{
    char hint[64];
    if (status->unfocused) {
        snprintf(hint, sizeof hint, "until this window is chosen");
    } else {
        snprintf(hint, sizeof hint, "%s P goes on", status->leader);
    }
    int pad = sheet_px(s, CARD_PAD), gap = sheet_px(s, 10);
    int word = font_width(s->fonts, STYLE_TITLE, "Paused"), rest = font_width(s->fonts, STYLE_LABEL, hint);
    int width = word + gap + rest + 2 * pad, height = sheet_px(s, PAUSED);
    SDL_Rect middle = sheet_middle(s);
    bool beside = !is_bottom(status) || width <= middle.w; // figures stand right and left of that
    width -= beside ? 0 : gap + rest;
    SDL_Rect at = {s->picture.x + (s->picture.w - width) / 2,
                   is_bottom(status) ? middle.y - height - 1 : middle.y + middle.h + 1, width, height};
    sheet_card(s, at, 82);
    int base = sheet_base(s, at.y, height) + sheet_px(s, 1);
    sheet_text(s, at.x + pad, base, STYLE_TITLE, (uint32_t)INK_MARK, "Paused");
    if (beside) {
        sheet_text(s, at.x + pad + word + gap, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", hint);
    }
}

int overlay_top_end(const struct sheet *s, const struct overlay_status *status)
{
    return sheet_middle(s).y - (status->paused && is_bottom(status) ? sheet_px(s, PAUSED) + 2 : 0);
}

void overlay_layout(struct sheet *s, const struct overlay *o, const struct overlay_status *status)
{
    if (status->paused) {
        add_paused(s, status);
    }
    bool in_the_way = status->preset == OVERLAY_MINI && status->written_over; // and it tells nothing there
    if (status->preset == OVERLAY_OFF || in_the_way) {
        return;
    }
    int width = status->preset == OVERLAY_MINI ? 0 : card_width(s, overlay_is_right(status));
    if (width == 0) {
        add_strip(s, o, status);
        return;
    }
    SDL_Rect figures = add_card(s, width, o, status);
    if (status->preset == OVERLAY_FULL) {
        overlay_add_loops(s, o, status, figures);
    }
}
