// SPDX-License-Identifier: MIT
// Lays out everything that is ever shown over the picture, with the longest texts that are plausible, in
// windows of many sizes and both fonts, and looks at the rectangles: texts stand in cards, whole, in glyphs
// that exist, and not on one another; cards stay in the window, and those of the overlay leave free what they
// have to. layout_test FONT_FOLDER [--plant overlap|outside|cut|middle]
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/window/page.h"
#include "frontend/window/pages.h"

static struct app app;
static struct sheet *const sheet = &app.sheet;
static const char *plant = "";
static char where[256];
static unsigned looked_at, wrong;

static void complain(const char *what, const char *text)
{
    if (wrong++ < 20 || getenv("ALL")) {
        printf("%s: %s: %s\n", where, what, text);
    }
}

// ---- what is looked at ----

static bool is_inside(const SDL_Rect *a, const SDL_Rect *b)
{
    return a->x >= b->x && a->y >= b->y && a->x + a->w <= b->x + b->w && a->y + a->h <= b->y + b->h;
}

static void look_at_text(unsigned i)
{
    const struct sheet_item *item = &sheet->items[i];
    bool in_card = false;
    if (item->at.w == 0) {
        return;
    }
    for (unsigned k = 0; k < i; k++) {
        const struct sheet_item *other = &sheet->items[k];
        in_card |= other->kind == SHEET_CARD && is_inside(&item->at, &other->at);
        if (other->kind == SHEET_TEXT && SDL_HasIntersection(&item->at, &other->at)) {
            complain(other->text, item->text);
        }
    }
    if (!in_card) {
        complain("text in no card", item->text);
    }
    if (item->at.w != font_width(sheet->fonts, item->style, item->text)) {
        complain("text of another width", item->text);
    }
    if (strchr(item->text, '?') && !strstr(item->text, "round?") && !strstr(item->text, "one?")) {
        complain("a glyph that is none", item->text);
    }
}

static void look_at_cards(void)
{
    SDL_Rect window = {0, 0, sheet->width, sheet->height};
    for (unsigned i = 0; i < sheet->count; i++) {
        const struct sheet_item *card = &sheet->items[i];
        if (card->kind != SHEET_CARD) {
            continue;
        }
        if (!is_inside(&card->at, &window)) {
            complain("card outside the window", "");
        }
        for (unsigned k = 0; k < i; k++) {
            if (sheet->items[k].kind == SHEET_CARD && SDL_HasIntersection(&card->at, &sheet->items[k].at)) {
                complain("card on card", "");
            }
        }
    }
}

static void look_at_free_parts(void)
{
    const SDL_Rect *p = &sheet->picture;
    int bar = sheet_status_bar(sheet);
    SDL_Rect free[3] = {sheet_middle(sheet),
                        {p->x, bar, p->w, p->y + p->h - bar},
                        {p->x, p->y, p->w / 2, sheet_message_line(sheet) - p->y}};
    static const char *const names[3] = {"the middle", "the status bar", "the line of messages"};
    for (unsigned i = 0; i < sheet->count; i++) {
        for (int k = 0; k < 3; k++) {
            if (sheet->items[i].kind == SHEET_CARD && SDL_HasIntersection(&sheet->items[i].at, &free[k])) {
                complain("card on", names[k]);
            }
        }
    }
}

static void look(bool overlay)
{
    looked_at++;
    if (strcmp(plant, "outside") == 0 && sheet->count > 3) {
        sheet->items[sheet->count - 1].at.x += 5000;
    } else if (strcmp(plant, "overlap") == 0 && sheet->count > 3) {
        sheet->items[sheet->count - 1].at.y -= sheet_px(sheet, 12);
    } else if (strcmp(plant, "cut") == 0 && sheet->count) {
        sheet->items[sheet->count - 1].text = "more than was measured";
    } else if (strcmp(plant, "middle") == 0 && sheet->count) {
        sheet->items[0].at.y += sheet->picture.h / 4;
    }
    for (unsigned i = 0; i < sheet->count; i++) {
        if (sheet->items[i].kind == SHEET_TEXT) {
            look_at_text(i);
        }
    }
    look_at_cards();
    if (overlay) {
        look_at_free_parts();
    }
    if (sheet->overflown) {
        complain("the sheet is too small", "");
    }
    if (sheet->cut) {
        complain("a text was cut", "");
    }
}

static bool says(const char *text)
{
    bool found = false;
    for (unsigned i = 0; i < sheet->count; i++) {
        found |= sheet->items[i].kind == SHEET_TEXT && strcmp(sheet->items[i].text, text) == 0;
    }
    return found;
}

// ---- what is laid out ----

static int width, height;
static SDL_Rect picture;

static void begin(void)
{
    sheet_begin(sheet, app.fonts, width, height, picture);
}

static void fill_overlay(struct overlay *o)
{
    static const char *const names[] = {
        "R_DrawTranslatedColumnLowDetail", "R_DrawMaskedColumn", "V_DrawPatch", "", "R_DrawSpan", "memset"};
    o->figures = (struct overlay_figures){.speed = 1000,
                                          .most = 123456,
                                          .emu_ms = 188.88,
                                          .ips = 8.88e9,
                                          .ips_effective = 88.8e9,
                                          .skipped = 888.8e6,
                                          .idle = 100,
                                          .calls = 88888,
                                          .total = {.retired = 1000000000000,
                                                    .dispatch_total = 88888888888,
                                                    .dispatch_hit = 88888888887,
                                                    .translated_regions = 88888,
                                                    .cached_regions = 88888,
                                                    .loops_detected = 2048,
                                                    .loops_proved = 2048,
                                                    .loops_rejected = 2048},
                                          .sound = {true, 88888, 188.8}};
    o->cost_ms = 88.88;
    o->loop_count = 0;
    for (unsigned i = 0; i < 40; i++) {
        struct machine_loop *loop = &o->loops[o->loop_count++];
        *loop = (struct machine_loop){.header = 0x43a408 + 64 * i,
                                      .class_name = i ? "strided copy" : "column look-up",
                                      .verdict = i < 6 ? MACHINE_LOOP_PROVED : MACHINE_LOOP_REJECTED,
                                      .entries = 8,
                                      .iterations = 8888,
                                      .credited = 318888888888,
                                      .share = 0.318};
        snprintf(loop->function, sizeof loop->function, "%s", names[i % 6]);
        snprintf(loop->reason, sizeof loop->reason, "%s",
                 i < 6 ? "" : "an address cannot be known at the entry, for a value is carried");
    }
    o->plot.count = PLOT_FRAMES;
    o->plot.range = 500;
}

static void overlays(void)
{
    static const char *const dispatches[] = {"hybrid", "pure", "live", "off", ""};
    for (int bits = 0; bits < 64; bits++) {
        for (int preset = OVERLAY_OFF; preset < OVERLAY_CHOICES; preset++) {
            for (int corner = 0; corner < CORNER_CHOICES; corner++) {
                struct overlay *o = &app.overlay;
                struct overlay_status status = {.preset = (enum overlay_choice)preset,
                                                .corner = corner,
                                                .opacity = 82,
                                                .graph = true,
                                                .paused = bits & 1,
                                                .unfocused = bits & 2,
                                                .recording = bits & 2,
                                                .speed = bits % 3   ? 100
                                                         : bits & 4 ? SPEED_MAX
                                                                    : 75,
                                                .recorded = 888888,
                                                .neural = (enum neural)(bits % 5),
                                                .engine = bits & 4 ? "interp" : "translate",
                                                .dispatch = dispatches[bits % 5],
                                                .has_loops = (bits & 24) != 24,
                                                .loops = bits & 8,
                                                .verify = (bits & 40) == 40,
                                                .idle = bits & 16,
                                                .leader = "`",
                                                .side = bits % 7 ? "" : "dispatch off"};
                snprintf(o->sides.text, sizeof o->sides.text, "%s",
                         bits % 7 ? ""
                                  : "dispatch off 88.8, on 188 ms: no difference "
                                    "found (0.88 to 1.88)");
                o->figures.warming = bits & 32;
                o->change =
                    (struct overlay_switch){"dispatch hybrid", 1, {88.88, 0}, {188.88, 0}, bits % 3 * 50U};
                snprintf(where, sizeof where, "%dx%d %s font, preset %d, corner %d, state %d", width, height,
                         fonts_are_built_in(app.fonts) ? "built-in" : "B612", preset, corner, bits);
                struct overlay_status page = status;
                page.written_over = true;
                page.paused = false;
                begin();
                overlay_layout(sheet, o, &page);
                if (preset == OVERLAY_MINI && sheet->count) {
                    complain("the strip is over the game's text", "");
                }
                begin();
                overlay_layout(sheet, o, &status);
                const struct sheet_item *first = sheet->count ? &sheet->items[status.paused ? 3 : 0] : NULL;
                bool card = preset >= OVERLAY_STD;
                if (card && (!says("IPS") || !says("dispatch accuracy"))) {
                    complain("no card of figures", "");
                }
                if (card && (long)first->at.w * first->at.h * 3 > (long)picture.w * picture.h) {
                    complain("more than a third of the picture", "");
                }
                if (preset == OVERLAY_FULL && status.has_loops && !says("hot loops")) {
                    complain("no card of loops", "");
                }
                app.toasts = (struct toasts){.count = 1};
                snprintf(app.toasts.items[0].text, TOAST_SIZE, "%s",
                         bits % 3 ? "frame times: ~/.local/share/neurodoom/benchmarks/20261122-180000.csv"
                                  : "Press `, left of 1, for switches, sound and keys");
                snprintf(app.toasts.items[0].hint, sizeof app.toasts.items[0].hint, "%s",
                         bits % 3 ? "" : "this hint is shown once");
                toast_layout(&app.toasts, sheet, false);
                look(true);
            }
        }
    }
}

// Below a page there is room for what is said meanwhile.
static void look_at_page(void)
{
    app.toasts = (struct toasts){.count = 1};
    snprintf(app.toasts.items[0].text, TOAST_SIZE,
             "Your last 10 s again, the first 8 s of them timed: loops off 88.8 ms, on 188 ms, 2.12× slower "
             "(1.88 to "
             "2.88). Same picture: 350 of 350 frames");
    toast_layout(&app.toasts, sheet, true);
    look(false);
}

// The rows of a page of actions, which a page makes itself only while a game runs.
static size_t list_actions(enum action_page page, struct panel_row *rows)
{
    size_t n = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (action_table[i].page == page) {
            struct panel_row *row = &rows[n++];
            *row = (struct panel_row){.id = i};
            snprintf(row->label, sizeof row->label, "%s", action_table[i].label);
            snprintf(row->meaning, sizeof row->meaning, "%s", action_table[i].meaning);
            snprintf(row->value, sizeof row->value, "%s", n % 3 ? n % 2 ? "on" : "off" : "bottom-right");
            snprintf(row->keys, sizeof row->keys, "%s", "` ScrollLock or PrintScreen");
        }
    }
    return n;
}

// Likewise of the page of saved states.
static size_t list_states(struct panel_row *rows)
{
    for (int i = 0; i < 10; i++) {
        rows[i] = (struct panel_row){.id = i, .label = "Slot 8", .value = "chosen"};
        snprintf(rows[i].meaning, sizeof rows[i].meaning,
                 "Freedoom: Phase 2, MAP28, 88:88, 2026-11-22 18:00");
    }
    return 10;
}

static void panels(void)
{
    static struct panel_row rows[PANEL_ROWS];
    static const uint32_t pixels[64];
    const char *titles[PAGES_COUNT];
    for (int i = 0; i < PAGES_COUNT; i++) {
        titles[i] = pages[i]->title;
    }
    for (unsigned page = 0; page < PAGES_COUNT; page++) {
        size_t count = page == PAGES_NEURAL    ? list_actions(PAGE_NEURAL, rows)
                       : page == PAGES_PLAY    ? list_actions(PAGE_PLAY, rows)
                       : page == PAGES_PICTURE ? list_actions(PAGE_PICTURE, rows)
                       : page == PAGES_COMPARE ? list_actions(PAGE_COMPARE, rows)
                       : page == PAGES_STATES  ? list_states(rows)
                                               : pages[page]->list(&app, rows, PANEL_ROWS);
        for (size_t selected = 0; selected <= count; selected++) {
            struct panel p = {.open = true,
                              .fresh = selected == count,
                              .page = page,
                              .pages = PAGES_COUNT,
                              .selected = selected};
            struct panel_view view = {
                .titles = titles,
                .rows = rows,
                .count = count,
                .now = pages[page]->tell
                           ? "2048 found, 2048 proved, 2048 refused. 100 % of all instructions need not "
                             "run.\nLast switched, loops off: 88.88 → 188.88 ms, 2.12× slower"
                           : NULL,
                .plot = pages[page]->graph ? &app.overlay.plot : NULL};
            for (size_t i = 0; i < count; i++) {
                rows[i].picture = selected % 2 && page == PAGES_STATES ? pixels : NULL;
                rows[i].picture_width = rows[i].picture_height = 8;
            }
            snprintf(where, sizeof where, "%dx%d %s font, page %s, row %zu", width, height,
                     fonts_are_built_in(app.fonts) ? "built-in" : "B612", titles[page], selected);
            begin();
            panel_layout(&p, sheet, &view);
            look_at_page();
            if (count && !says(rows[p.selected].label)) {
                complain("the selected row is not shown", rows[p.selected].label);
            }
        }
    }
}

static void loop_pages(void)
{
    static struct loop_page p;
    for (int full = 0; full < 3; full++) {
        struct machine_loop_explanation *e = &p.explanation;
        p = (struct loop_page){.open = true, .number = 88, .count = 888, .explanation = {.known = full > 0}};
        e->loop = app.overlay.loops[0];
        e->in_use = e->guessed = full == 1;
        e->confidence = 1;
        e->counts = "count down";
        e->counter = 30;
        e->detector_trips = e->predicted_trips = 88888;
        e->loop.entries = e->loop.iterations = e->loop.credited = e->skipped = 888888888888;
        e->branch = e->loop.header + 31 * 4;
        snprintf(e->verdict, sizeof e->verdict, "refused: %s", app.overlay.loops[6].reason);
        snprintf(
            e->proof, sizeof e->proof, "%s",
            full == 1
                ? "a column look-up, as the net said; how often it goes round is known at the entry, from "
                  "the distance to x29 + 0x10"
                : "");
        e->code_count = full == 1 ? 32 : 3;
        for (unsigned i = 0; i < e->code_count; i++) {
            e->code[i].pc = e->loop.header + 4 * i;
            snprintf(e->code[i].text, sizeof e->code[i].text, "ldrb w10, [x13, w16, sxtw #0x0]");
            snprintf(e->code[i].meaning, sizeof e->code[i].meaning,
                     i % 4 ? "looks 1 byte up in a table of 4096"
                           : "x10 = ((x11 >> 16) & 127) + (x12 << 7) + x30");
        }
        snprintf(p.measured, sizeof p.measured, "%s",
                 full == 1 ? "R_DrawTranslatedColumnLowDetail off: 88.88 → 188.88 ms, 2.12× slower" : "");
        e->check_count = full == 1 ? 8 : 0;
        for (unsigned i = 0; i < e->check_count; i++) {
            snprintf(
                e->checks[i], sizeof e->checks[i],
                "what 43a41c and 43a420 stores does not touch what 43a408, 43a414 and 43a418, 43a41c use");
        }
        int last = -1;
        for (int scroll = 0; scroll <= 1200 && last != p.scroll; scroll += 60) {
            last = scroll ? p.scroll : -1;
            p.scroll = scroll;
            snprintf(where, sizeof where, "%dx%d %s font, loop page %d, scrolled by %d", width, height,
                     fonts_are_built_in(app.fonts) ? "built-in" : "B612", full, scroll);
            begin();
            loop_page_layout(&p, sheet);
            look_at_page();
        }
        snprintf(where, sizeof where, "%dx%d %s font, what loop %d draws", width, height,
                 fonts_are_built_in(app.fonts) ? "built-in" : "B612", full);
        p.traced = true;
        p.told = full == 1;
        p.untold = full ? 0 : 100;
        p.pixels = 64000;
        begin();
        loop_page_layout(&p, sheet);
        look(false);
    }
}

static void message_pages(void)
{
    snprintf(where, sizeof where, "%dx%d %s font, a page of text", width, height,
             fonts_are_built_in(app.fonts) ? "built-in" : "B612");
    begin();
    page_layout(sheet, "There is no game to play",
                "no WAD: looked in\n    /home/somebody/.local/share/games/doom\n    /usr/share/games/doom\n"
                "Freedoom is two free games:\n    sudo apt install freedoom\n"
                "A WAD of one's own:\n    neurodoom -iwad /path/to/doom2.wad",
                "Enter: look again    Esc: quit");
    look(false);
}

// What stands below the two pictures of a split screen, in a window of that size or twice as wide.
static void split_screens(void)
{
    static const char *const names[][2] = {
        {"loops off", "loops on"},
        {"--engine translate --opt loops=on dispatch=pure", "--engine interp --opt loops=off dispatch=live"}};
    int wide = width;
    for (int bits = 0; bits < 32; bits++) {
        struct split_view view = {
            .sides = {{bits & 1 ? 1888.8 : 0.88, bits & 2}, {bits & 4 ? 0 : 88.88, true}},
            .same = 8888888,
            .differs = bits & 4 ? 8888889 : 0,
            .waits = bits & 8};
        wide = bits & 16 ? 2 * width : width;
        int high = height - split_screen_height(app.fonts);
        const SDL_Rect pictures[] = {video_fit(app.settings, wide, high, 2, 0),
                                     video_fit(app.settings, wide, high, 2, 1)};
        snprintf(where, sizeof where, "%dx%d %s font, split screen %d", wide, height,
                 fonts_are_built_in(app.fonts) ? "built-in" : "B612", bits);
        sheet_begin(sheet, app.fonts, wide, height, pictures[0]);
        split_screen_layout(sheet, pictures, names[bits & 1], &view);
        look(false);
        if (!says(bits & 4 ? "frame 8888889 differs; 8888888 were the same"
                           : "same picture: 8888888 of 8888888 frames")) {
            complain("it does not say whether the pictures are the same", "");
        }
        for (unsigned i = 0; i < sheet->count; i++) {
            const SDL_Rect *at = &sheet->items[i].at;
            bool left = at->x + at->w <= pictures[0].x + pictures[0].w, right = at->x >= pictures[1].x;
            if ((!left && !right) || at->y < pictures[0].y + pictures[0].h) {
                complain("this is not below its picture", sheet->items[i].text);
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{400, 300},   {480, 360},   {560, 420},   {640, 480},
                                   {800, 600},   {960, 720},   {1024, 768},  {1280, 800},
                                   {1920, 1080}, {1920, 1200}, {2560, 1440}, {3840, 2160}};
    static struct settings settings;
    struct config_sources sources = {0};
    struct failure failure = {0};
    if (argc < 2 || !config_load(&settings, &sources, &failure)) {
        return 2;
    }
    plant = argc > 3 ? argv[3] : "";
    app.settings = &settings;
    fill_overlay(&app.overlay);
    for (int font = 0; font < 2; font++) {
        app.fonts = fonts_create(font ? "/nowhere" : argv[1]);
        if (!font && fonts_are_built_in(app.fonts)) {
            printf("no font in %s\n", argv[1]);
            return 2;
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (font && sizes[i][0] < 560) {
                continue; // the built-in one has no smaller letters
            }
            width = sizes[i][0];
            height = sizes[i][1];
            bool wide = width * 3 > height * 4;
            picture = (SDL_Rect){0, 0, wide ? height * 4 / 3 : width, wide ? height : width * 3 / 4};
            picture.x = (width - picture.w) / 2;
            picture.y = (height - picture.h) / 2;
            for (int percent = 100; percent <= 200; percent += 50) {
                fonts_set_scale(app.fonts, sheet_best_scale(width, height, picture, percent, 1));
                overlays();
                panels();
                loop_pages();
                message_pages();
            }
            fonts_set_scale(app.fonts, sheet_best_scale(width, height,
                                                        video_fit(&settings, width, height, 2, 0), 100, 1));
            split_screens();
        }
        fonts_free(app.fonts);
    }
    config_free(&settings);
    printf("%s %u sheets, %u faults\n", wrong ? "not ok" : "ok", looked_at, wrong);
    return wrong ? 1 : 0;
}
