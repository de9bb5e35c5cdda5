// SPDX-License-Identifier: MIT
#include "pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "binding_page.h"
#include "controls.h"
#include "game_states.h"
#include "games.h"

// ---- pages of actions ----

enum { KEYS_SHOWN = 14, KEYS_ROOM = BINDING_NAME + sizeof " and more" }; // bytes of a list of keys

// As many names of a list as have room in a row, whole; the first in any case.
static void take_names(char text[KEYS_ROOM], const char *list)
{
    char name[BINDING_NAME];
    int length = 0;
    *text = '\0';
    while (bindings_name(&list, name)) {
        if (length && length + strlen(name) > KEYS_SHOWN) {
            snprintf(text + length, (size_t)(KEYS_ROOM - length), " and more");
            return;
        }
        length += snprintf(text + length, (size_t)(KEYS_ROOM - length), "%s%s", length ? ", " : "", name);
    }
}

static void set_keys(char keys[PANEL_KEYS], const struct settings *settings, int action)
{
    char leader[KEYS_ROOM], direct[KEYS_ROOM];
    take_names(leader, settings->leader[action]);
    take_names(direct, settings->direct[action]);
    snprintf(keys, PANEL_KEYS, "%s%s%s%s%s", *leader ? settings->leader_key : "", *leader ? " " : "", leader,
             *leader && *direct ? " or " : "", direct);
}

static size_t list_actions(struct app *app, enum action_page page, struct panel_row *rows, size_t most)
{
    char values[ACTION_COUNT][24];
    size_t n = 0;
    controls_values(app, values);
    for (int i = 0; i < ACTION_COUNT && n < most; i++) {
        if (action_table[i].page != page) {
            continue;
        }
        struct panel_row *row = &rows[n++];
        const char *missing = controls_missing(app, (enum action)i);
        *row = (struct panel_row){.id = i, .missing = missing != NULL};
        snprintf(row->label, sizeof row->label, "%s", action_table[i].label);
        snprintf(row->meaning, sizeof row->meaning, "%s", missing ? missing : action_table[i].meaning);
        memcpy(row->value, values[i], sizeof row->value);
        set_keys(row->keys, app->settings, i);
    }
    return n;
}

static size_t list_neural(struct app *app, struct panel_row *rows, size_t most)
{
    return list_actions(app, PAGE_NEURAL, rows, most);
}

static size_t list_play(struct app *app, struct panel_row *rows, size_t most)
{
    return list_actions(app, PAGE_PLAY, rows, most);
}

static size_t list_picture(struct app *app, struct panel_row *rows, size_t most)
{
    return list_actions(app, PAGE_PICTURE, rows, most);
}

static size_t list_compare(struct app *app, struct panel_row *rows, size_t most)
{
    return list_actions(app, PAGE_COMPARE, rows, most);
}

static void perform(struct app *app, const struct panel_row *row)
{
    if (action_table[row->id].held) {
        toast_add(&app->toasts, "%s: hold %s while playing", row->label, row->keys);
    } else {
        controls_perform(app, (enum action)row->id, 0);
    }
}

static void tell_loops(const struct overlay *o, char *text, size_t size)
{
    const struct machine_stats *t = &o->figures.total;
    double all = (double)(t->retired + t->credited);
    snprintf(text, size,
             "%" PRIu64 " found, %" PRIu64 " proved, %" PRIu64
             " refused. %.0f %% of all instructions need not run.",
             t->loops_detected, t->loops_proved, t->loops_rejected,
             all > 0 ? 100 * (double)t->credited / all : 0);
}

static void tell_dispatch(const struct overlay *o, char *text, size_t size)
{
    const struct machine_stats *t = &o->figures.total;
    char seen[16];
    overlay_count(seen, (double)t->dispatch_total);
    snprintf(text, size, "The net has named %s instructions, %" PRIu64 " of them wrongly.", seen,
             t->dispatch_total - t->dispatch_hit);
}

static void tell_checks(const struct overlay *o, const machine *m, char *text, size_t size)
{
    uint64_t failures = o->figures.total.verify_failures;
    if (failures) {
        snprintf(text, size, "%" PRIu64 " times a loop came out otherwise: those loops are switched off.",
                 failures);
    } else if (machine_get_verify(m)) {
        snprintf(text, size, "No difference has been found so far.");
    }
}

// What a row of these pages is doing now; the last switch, too, where that is of interest.
static void tell_action(struct app *app, const struct panel_row *row, char *text, size_t size)
{
    const struct overlay *o = &app->overlay;
    const struct overlay_figures *f = &o->figures;
    machine *m = session_machine(app->session);
    uint32_t frames;
    *text = '\0';
    switch ((enum action)row->id) {
    case ACTION_LOOPS: tell_loops(o, text, size); break;
    case ACTION_DISPATCH:
        if (machine_has_dispatch(m)) {
            tell_dispatch(o, text, size);
        }
        break;
    case ACTION_IDLE: snprintf(text, size, "%.0f %% of the time is given back.", f->idle); break;
    case ACTION_ENGINE:
        snprintf(text, size,
                 "%" PRIu64 " pieces of the game are compiled, %" PRIu64 " of them came from the cache.%s",
                 f->total.translated_regions, f->total.cached_regions,
                 f->warming ? " More are being compiled." : "");
        break;
    case ACTION_VERIFY: tell_checks(o, m, text, size); break;
    case ACTION_SLOWER:
    case ACTION_FASTER:
    case ACTION_NORMAL_SPEED:
    case ACTION_MAX_SPEED:
        snprintf(text, size, "The game runs at %.0f %% of its own speed; %.0f %% would be possible.",
                 f->speed, f->most);
        break;
    case ACTION_RECORD:
        if (output_recording(app->output, &frames)) {
            snprintf(text, size, "%" PRIu32 " frames so far.", frames);
        }
        break;
    case ACTION_COMPARE: snprintf(text, size, "%s", o->sides.text); break;
    case ACTION_AGAIN: snprintf(text, size, "%s", app->again.verdict); break;
    default: break;
    }
    if (action_table[row->id].page == PAGE_NEURAL && *o->change.label) {
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%sLast switched, ", length ? "\n" : "");
        length = strlen(text);
        overlay_tell_switch(o, text + length, size - length);
    }
}

// ---- hot loops ----

static size_t list_loops(struct app *app, struct panel_row *rows, size_t most)
{
    static const char *const verdicts[] = {[MACHINE_LOOP_PROPOSED] = "not judged yet",
                                           [MACHINE_LOOP_PROVED] = "proved",
                                           [MACHINE_LOOP_REJECTED] = "refused"};
    const struct overlay *o = &app->overlay;
    size_t n = 0;
    for (size_t i = 0; i < o->loop_count && n < most; i++) {
        const struct machine_loop *loop = &o->loops[i];
        struct panel_row *row = &rows[n++];
        char rounds[16];
        *row = (struct panel_row){.id = (int)loop->header};
        overlay_count(rounds, loop->entries ? (double)loop->iterations / (double)loop->entries : 0);
        if (*loop->function) {
            snprintf(row->label, sizeof row->label, "%s", loop->function);
        } else {
            snprintf(row->label, sizeof row->label, "%" PRIx32, loop->header);
        }
        if (loop->verdict == MACHINE_LOOP_REJECTED) {
            snprintf(row->meaning, sizeof row->meaning, "%s, refused", loop->class_name);
        } else {
            snprintf(row->meaning, sizeof row->meaning, "%s, %s rounds, %s", loop->class_name, rounds,
                     verdicts[loop->verdict]);
        }
        snprintf(row->value, sizeof row->value, "%.1f %%", 100 * loop->share);
    }
    return n;
}

static void tell_loop(struct app *app, const struct panel_row *row, char *text, size_t size)
{
    snprintf(text, size, "%s", row ? "" : "No loop has become hot yet.");
    for (size_t i = 0; row && i < app->overlay.loop_count; i++) {
        const struct machine_loop *loop = &app->overlay.loops[i];
        if ((int)loop->header == row->id && *loop->reason) {
            snprintf(text, size, "Refused: %s. Enter shows its code.", loop->reason);
        } else if ((int)loop->header == row->id) {
            snprintf(text, size, "Of all instructions this loop saves %.1f %%. Enter shows how.",
                     100 * loop->share);
        }
    }
}

static void open_loop(struct app *app, const struct panel_row *row)
{
    pages_open_loop(app, (uint32_t)row->id);
}

void pages_open_loop(struct app *app, uint32_t header)
{
    bool traced = app->loop_page.open && app->loop_page.traced;
    app->loop_page = (struct loop_page){.open = true, .header = header, .traced = traced};
    pages_refresh_loop(app);
}

void pages_turn_loop(struct app *app, int by)
{
    const struct overlay *o = &app->overlay;
    struct loop_page *p = &app->loop_page;
    if (o->loop_count) {
        size_t to = p->number + o->loop_count - 1 + (size_t)by; // number is 0 for one that is not listed
        pages_open_loop(app, o->loops[p->number ? to % o->loop_count : 0].header);
    }
}

void pages_trace_loop(struct app *app, bool on)
{
    struct loop_page *p = &app->loop_page;
    const char *missing = split_screen_refuses(app, ACTION_ENGINE); // the game is interpreted meanwhile
    if (missing && on) {
        toast_add(&app->toasts, "%s", missing);
        return;
    }
    p->traced = on && p->explanation.known;
    p->told = false;
    p->untold = 0;
}

void pages_follow_trace(struct app *app)
{
    const struct loop_page *p = &app->loop_page;
    machine_trace_loop(session_machine(app->session), p->open && p->traced ? p->header : 0);
}

void pages_refresh_loop(struct app *app)
{
    const struct overlay *o = &app->overlay;
    struct loop_page *p = &app->loop_page;
    if (!p->header && o->loop_count) {
        p->header = o->loops[0].header;
    }
    p->number = 0;
    p->count = o->loop_count;
    for (size_t i = 0; i < o->loop_count; i++) {
        if (o->loops[i].header == p->header) {
            p->number = i + 1;
        }
    }
    bool keeps = p->traced && p->explanation.loop.header == p->header; // what it is when it is not traced
    if (!keeps && !machine_explain_loop(session_machine(app->session), p->header, &p->explanation)) {
        p->explanation.known = false;
    }
    p->measured[0] = '\0';
    if (p->header && p->header == app->switched_loop) {
        overlay_tell_switch(o, p->measured, sizeof p->measured);
    }
}

// ---- help ----

static const struct {
    const char *word, *meaning;
} words[] = {
    {"ms a frame", "time that it takes to emulate a picture; the game has 28.6"},
    {"real time", "how many times as fast as needed that is"},
    {"graph", "that time, 150 frames; yellow: a switch; white: off the scale"},
    {"line below it", "flat where pictures come evenly, one in 28.6 ms"},
    {"A/B", "live A/B: two sides of a switch take turns, and are compared"},
    {"split screen", "two machines, one input; times: CPU time, median of 70 frames"},
    {"IPS", "the game's instructions executed in a second of emulating"},
    {"effective IPS", "with those that faster forms of loops have left out"},
    {"left out", "instructions that need not run; in files: credited"},
    {"loops detected", "hot loops that a net takes for something known"},
    {"proved", "shown to have a faster form that does exactly the same"},
    {"refused", "the check did not see that; such a loop runs as it is"},
    {"iterations skipped", "rounds that a faster form of a loop did at once"},
    {"rounds", "how often a loop goes round each time that it is entered"},
    {"saved", "share of all instructions that a loop's faster form left out"},
    {"checking", "each replaced loop also runs as it is, and both are compared"},
    {"dispatch accuracy", "instructions whose kind the net named rightly"},
    {"waiting", "share of the time in which the game waits, and we sleep"},
    {"warming up", "code is still being compiled: it will get faster"},
};

static size_t list_words(struct app *app, struct panel_row *rows, size_t most)
{
    (void)app;
    size_t n = 0;
    for (; n < sizeof words / sizeof *words && n < most; n++) {
        rows[n] = (struct panel_row){.id = (int)n};
        snprintf(rows[n].label, sizeof rows[n].label, "%s", words[n].word);
        snprintf(rows[n].meaning, sizeof rows[n].meaning, "%s", words[n].meaning);
    }
    return n;
}

// ---- all of them ----

const struct panel_page *const pages[PAGES_COUNT] = {
    [PAGES_NEURAL] =
        &(const struct panel_page){
            .title = "Neural", .graph = true, .list = list_neural, .choose = perform, .tell = tell_action},
    [PAGES_PLAY] = &(
        const struct panel_page){.title = "Play", .list = list_play, .choose = perform, .tell = tell_action},
    [PAGES_STATES] = &game_states_page,
    [PAGES_PICTURE] =
        &(const struct panel_page){
            .title = "Picture, sound", .list = list_picture, .choose = perform, .tell = tell_action},
    [PAGES_COMPARE] =
        &(const struct panel_page){
            .title = "Compare", .graph = true, .list = list_compare, .choose = perform, .tell = tell_action},
    [PAGES_LOOPS] =
        &(const struct panel_page){
            .title = "Loops", .list = list_loops, .choose = open_loop, .tell = tell_loop},
    [PAGES_HELP] = &(const struct panel_page){.title = "Help", .list = list_words},
    [PAGES_KEYS] = &binding_page,
    [PAGES_GAMES] = &games_page,
};

const struct panel_row *pages_rows(struct app *app, size_t *count)
{
    static struct panel_row rows[PANEL_ROWS];
    *count = pages[app->panel.page]->list(app, rows, PANEL_ROWS);
    return rows;
}

void pages_layout(struct app *app, struct sheet *s)
{
    const char *titles[PAGES_COUNT];
    const struct panel_page *page = pages[app->panel.page];
    char now[320] = "";
    for (int i = 0; i < PAGES_COUNT; i++) {
        titles[i] = pages[i]->title;
    }
    struct panel_view view = {
        .titles = titles, .now = page->tell ? now : NULL, .plot = page->graph ? &app->overlay.plot : NULL};
    view.rows = pages_rows(app, &view.count);
    size_t selected = app->panel.selected;
    if (page->tell) {
        page->tell(app, selected < view.count ? &view.rows[selected] : NULL, now, sizeof now);
    }
    panel_layout(&app->panel, s, &view);
}

void pages_choose(struct app *app)
{
    size_t count;
    const struct panel_row *rows = pages_rows(app, &count);
    if (app->panel.selected < count && pages[app->panel.page]->choose) {
        pages[app->panel.page]->choose(app, &rows[app->panel.selected]);
    }
}
