// SPDX-License-Identifier: MIT
// The card of hot loops.
#include <inttypes.h>
#include <stdio.h>

#include "overlay.h"

enum { HOT_LOOPS = 5 };

static const char *loop_name(const struct machine_loop *loop, char address[16])
{
    snprintf(address, 16, "%" PRIx32, loop->header);
    return *loop->function ? loop->function : address;
}

static int widest(const struct sheet *s, int width, enum style style, const char *text)
{
    int own = font_width(s->fonts, style, text);
    return own > width ? own : width;
}

struct loop_row {
    char name[40], kind[24], rounds[16], saved[16];
    double share;
};

static int fill_loops(struct loop_row rows[HOT_LOOPS], const struct overlay *o)
{
    double all = (double)(o->figures.total.retired + o->figures.total.credited);
    int n = 0;
    for (size_t i = 0; i < o->loop_count && n < HOT_LOOPS; i++) {
        const struct machine_loop *loop = &o->loops[i];
        char address[16];
        if (loop->verdict == MACHINE_LOOP_REJECTED) {
            continue;
        }
        struct loop_row *row = &rows[n++];
        snprintf(row->name, sizeof row->name, "%s", loop_name(loop, address));
        snprintf(row->kind, sizeof row->kind, "%s", loop->class_name);
        double rounds = loop->entries ? (double)loop->iterations / (double)loop->entries : 0;
        overlay_count(row->rounds, rounds);
        row->share = all > 0 ? (double)loop->credited / all : 0;
        snprintf(row->saved, sizeof row->saved, "%.1f %%", 100 * row->share);
    }
    return n;
}

struct columns {
    int name, kind, rounds, bar, saved; // widths; 0: left out
    int gap;
};

// As many columns as fit into width.
static struct columns fit_columns(const struct sheet *s, const struct loop_row *rows, int count, int width)
{
    struct columns c = {.name = font_width(s->fonts, STYLE_LABEL, "hot loops"),
                        .rounds = font_width(s->fonts, STYLE_LABEL, "rounds"),
                        .saved = font_width(s->fonts, STYLE_LABEL, "saved"),
                        .bar = sheet_px(s, 64),
                        .gap = sheet_px(s, 10)};
    c.kind = font_width(s->fonts, STYLE_LABEL, "kind");
    for (int i = 0; i < count; i++) {
        c.name = widest(s, c.name, STYLE_TEXT, rows[i].name);
        c.kind = widest(s, c.kind, STYLE_LABEL, rows[i].kind);
        c.rounds = widest(s, c.rounds, STYLE_TEXT, rows[i].rounds);
        c.saved = widest(s, c.saved, STYLE_TEXT, rows[i].saved);
    }
    if (c.name + c.kind + c.rounds + c.bar + c.saved + 4 * c.gap > width) {
        c.bar = 0;
    }
    if (c.name + c.kind + c.rounds + c.bar + c.saved + 3 * c.gap > width) {
        c.kind = 0;
    }
    return c;
}

static int columns_width(const struct columns *c)
{
    return c->name + c->kind + c->rounds + c->bar + c->saved + (2 + (c->kind > 0) + (c->bar > 0)) * c->gap;
}

static void add_loop_row(struct sheet *s, int x, int y, const struct columns *c, const struct loop_row *row,
                         double most)
{
    int base = sheet_base(s, y, sheet_px(s, CARD_ROW));
    sheet_text(s, x, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", row->name);
    x += c->name + c->gap;
    if (c->kind) {
        sheet_text(s, x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", row->kind);
        x += c->kind + c->gap;
    }
    sheet_text_right(s, x + c->rounds, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", row->rounds);
    x += c->rounds + c->gap;
    if (c->bar) {
        int height = sheet_px(s, 6), top = y + (sheet_px(s, CARD_ROW) - height) / 2;
        int part = (int)(row->share / most * c->bar);
        sheet_box(s, (SDL_Rect){x, top, c->bar, height}, 0, 0xffffff28);
        sheet_box(s, (SDL_Rect){x, top, part, height}, 0, (uint32_t)INK_ON);
        x += c->bar + c->gap;
    }
    sheet_text_right(s, x + c->saved, base, STYLE_TEXT, (uint32_t)INK_TEXT, "%s", row->saved);
}

static void tell_refused(char *text, size_t size, const struct overlay *o)
{
    char address[16];
    int length = snprintf(text, size, "refused %" PRIu64, o->figures.total.loops_rejected);
    for (size_t i = 0; i < o->loop_count; i++) {
        const struct machine_loop *loop = &o->loops[i];
        if (loop->verdict == MACHINE_LOOP_REJECTED && *loop->reason) {
            snprintf(text + length, size - (size_t)length, " · %s: %s", loop_name(loop, address),
                     loop->reason);
            break;
        }
    }
}

static void tell_costs(char *text, size_t size, const struct overlay *o, const struct overlay_status *status)
{
    const struct overlay_figures *f = &o->figures;
    int length = snprintf(text, size,
                          "%s J opens the loop page · overlay %.2f ms a drawing · %.0f system calls a second",
                          status->leader, o->cost_ms, f->calls);
    if (f->sound.heard) {
        snprintf(text + length, size - (size_t)length, " · sound %.0f ms late, %" PRIu32 " gap%s",
                 f->sound.latency_ms, f->sound.under_runs, f->sound.under_runs == 1 ? "" : "s");
    }
}

void overlay_add_loops(struct sheet *s, const struct overlay *o, const struct overlay_status *status,
                       SDL_Rect figures)
{
    bool left = overlay_is_right(status);
    int pad = sheet_px(s, CARD_PAD), edge = sheet_px(s, CARD_EDGE), line = sheet_px(s, CARD_LINE),
        row = sheet_px(s, CARD_ROW);
    int y = sheet_message_line(s) + edge;
    int from = left ? edge : figures.x + figures.w + edge;
    int to = left ? figures.x - edge : s->width - edge;
    int end = overlay_top_end(s, status), room = end - y - pad;
    struct loop_row rows[HOT_LOOPS];
    int count = fill_loops(rows, o), shown = (room - row - line - sheet_px(s, 4)) / row;
    count = shown < count ? shown : count;
    if (!status->has_loops || count < 1) {
        return;
    }
    struct columns columns = fit_columns(s, rows, count, to - from - 2 * pad);
    int width = columns_width(&columns);
    if (width > to - from - 2 * pad) {
        return;
    }
    // Wide enough for sentences, where there is room.
    int wanted = sheet_px(s, 428), most = to - from - 2 * pad;
    wanted = wanted < most ? wanted : most;
    columns.name += width < wanted ? wanted - width : 0;
    width = columns_width(&columns);
    SDL_Rect at = {left ? from : to - width - 2 * pad, y, width + 2 * pad, 0};
    struct sheet_item *card = sheet_card(s, at, status->opacity);
    int x = at.x + pad, base = sheet_base(s, y + pad / 2, row);
    y += pad / 2;
    const struct {
        const char *text;
        int x;
        bool right;
    } heads[] = {
        {"hot loops", x, false},
        {columns.kind ? "kind" : "", x + columns.name + columns.gap, false},
        {"rounds",
         x + columns.name + columns.rounds + columns.gap + (columns.kind ? columns.kind + columns.gap : 0),
         true},
        {"saved", x + width, true}};
    for (int i = 0; i < 4; i++) {
        if (!*heads[i].text) {
            continue;
        }
        if (heads[i].right) {
            sheet_text_right(s, heads[i].x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", heads[i].text);
        } else {
            sheet_text(s, heads[i].x, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", heads[i].text);
        }
    }
    y += row;
    double largest = 0.01;
    for (int i = 0; i < count; i++) {
        largest = rows[i].share > largest ? rows[i].share : largest;
    }
    for (int i = 0; i < count; i++, y += row) {
        add_loop_row(s, x, y, &columns, &rows[i], largest);
    }
    y += sheet_px(s, 4);
    char text[320];
    tell_refused(text, sizeof text, o);
    int left_lines = (end - y - pad / 2) / line;
    int lines = sheet_lines(s, width, STYLE_LABEL, text);
    if (lines <= left_lines) {
        sheet_paragraph(s, x, y + font_ascent(s->fonts, STYLE_LABEL), width, line, lines, STYLE_LABEL,
                        (uint32_t)INK_LABEL, text);
        y += lines * line;
        left_lines -= lines;
    }
    tell_costs(text, sizeof text, o, status);
    lines = sheet_lines(s, width, STYLE_LABEL, text);
    if (lines <= left_lines) {
        sheet_paragraph(s, x, y + font_ascent(s->fonts, STYLE_LABEL), width, line, lines, STYLE_LABEL,
                        (uint32_t)INK_LABEL, text);
        y += lines * line;
    }
    card->at.h = y + pad / 2 - at.y;
}
