// SPDX-License-Identifier: MIT
#include "split_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "frontend/base/log.h"

enum { NAME_ROOM = 128 };

// ---- the right side ----

static bool begin(void *user, machine *m, struct failure *failure)
{
    struct app *app = user;
    return states_begin(app->split.states, m, NULL, failure);
}

static void wake(void *user)
{
    struct app *app = user;
    app_wake(app);
}

bool split_screen_start(struct app *app, bool hears, struct failure *failure)
{
    struct split_screen *screen = &app->split;
    struct machine_config *left = &app->launch.setup.config, *right = &screen->twin.setup.config;
    if (!twin_prepare(&screen->twin, &app->launch, failure)) {
        return false;
    }
    left->idle = right->idle = true; // else the left side's time would be what it waits
    screen->states = states_open(app->options, &app->launch, failure);
    const struct split_host host = {.user = app, .begin = begin, .wake = wake};
    screen->split =
        screen->states ? split_start(right, (unsigned)app->launch.speed, hears, &host, failure) : NULL;
    if (!screen->split) {
        split_screen_end(app);
    }
    return screen->split;
}

static const char *const *side_names(const struct app *app, const char *names[2])
{
    names[0] = app->split.twin.sides[0].name;
    names[1] = app->split.twin.sides[1].name;
    return names;
}

static void take_message(struct app *app)
{
    char *message = session_take_message(split_right(app->split.split));
    if (message) {
        toast_add(&app->toasts, "right side: %s", message);
        app->dirty = true;
    }
    free(message);
}

bool split_screen_follow(struct app *app, bool look)
{
    struct split_screen *screen = &app->split;
    if (!screen->split) {
        return false;
    }
    take_message(app);
    if (!look) {
        return false;
    }
    split_look(screen->split, &screen->view);
    if (screen->view.differs && !screen->told) {
        screen->told = true;
        toast_add(&app->toasts, "frame %" PRIu32 " differs: the right side has been stopped",
                  screen->view.differs);
    }
    return true;
}

bool split_screen_conclude(struct app *app, struct failure *failure)
{
    struct split_screen *screen = &app->split;
    const struct split_side *sides = screen->view.sides;
    const char *names[2];
    split_finish(screen->split);
    split_look(screen->split, &screen->view);
    side_names(app, names);
    log_line(LOG_INFO,
             "split screen: %s %.3f, %s %.3f ms a frame (CPU time, median of the last %d); same picture: "
             "%" PRIu32 " of %" PRIu32 " frames",
             names[0], sides[0].ms, names[1], sides[1].ms, SPLIT_FRAMES, screen->view.same,
             screen->view.same + (screen->view.differs != 0));
    return split_conclude(screen->split, names, failure);
}

void split_screen_end(struct app *app)
{
    struct split_screen *screen = &app->split;
    if (screen->split) {
        split_end(screen->split);
    }
    if (screen->states) {
        states_free(screen->states);
    }
    screen->split = NULL;
    screen->states = NULL;
    screen->view = (struct split_view){0};
    screen->told = false;
}

const char *split_screen_refuses(const struct app *app, enum action action)
{
    if (!app->split.split) {
        return NULL;
    }
    switch (action) {
    case ACTION_NEURAL:
    case ACTION_LOOPS:
    case ACTION_DISPATCH:
    case ACTION_IDLE:
    case ACTION_ENGINE:
    case ACTION_VERIFY: return "split screen: both sides stay as they were given";
    case ACTION_COMPARE:
    case ACTION_AGAIN: return "the split screen compares already";
    case ACTION_REWIND:
    case ACTION_LOAD_STATE:
    case ACTION_UNDO_STATE: return "split screen: two machines only go forward together";
    default: return NULL;
    }
}

// ---- below the pictures ----

enum { PAD = 8, ROW = 20 }; // units

int split_screen_height(const struct fonts *f)
{
    return (int)lround((2 * PAD + 2 * ROW) * fonts_scale(f));
}

// As much of the name as there is room for.
static void fit_name(const struct sheet *s, char text[NAME_ROOM], const char *name, int width)
{
    int length = snprintf(text, NAME_ROOM, "%s", name);
    length = length < NAME_ROOM - 4 ? length : NAME_ROOM - 4;
    while (length > 1 && font_width(s->fonts, STYLE_BOLD, text) > width) {
        length--;
        snprintf(text + length, 4, "...");
    }
}

static void add_time(struct sheet *s, SDL_Rect at, const char *name, const struct split_side *side)
{
    static const char unit[] = " ms a frame";
    char number[16] = "-", shown[NAME_ROOM];
    int base = sheet_base(s, at.y, sheet_px(s, ROW)), right = at.x + at.w, gap = sheet_px(s, PAD);
    if (side->ms > 0) {
        snprintf(number, sizeof number, "%.*f", side->ms >= 99.95 ? 0 : side->ms >= 9.995 ? 1 : 2, side->ms);
    }
    right -= sheet_text_right(s, right, base, STYLE_LABEL, (uint32_t)INK_LABEL, "%s", unit);
    right -= sheet_text_right(s, right, base, STYLE_BOLD, (uint32_t)INK_TEXT, "%s", number) + gap;
    fit_name(s, shown, name, right - at.x);
    int left = at.x + sheet_text(s, at.x, base, STYLE_BOLD, (uint32_t)INK_TEXT, "%s", shown) + gap;
    if (side->warming && left + font_width(s->fonts, STYLE_LABEL, "warming up") <= right) {
        sheet_text(s, left, base, STYLE_LABEL, (uint32_t)INK_MARK, "warming up");
    }
}

static void add_line(struct sheet *s, SDL_Rect at, bool marked, const char *text)
{
    int base = sheet_base(s, at.y + sheet_px(s, ROW), sheet_px(s, ROW));
    sheet_text(s, at.x, base, STYLE_LABEL, marked ? (uint32_t)INK_MARK : (uint32_t)INK_LABEL, "%s", text);
}

void split_screen_layout(struct sheet *s, const SDL_Rect pictures[2], const char *const names[2],
                         const struct split_view *view)
{
    char said[96];
    for (int i = 0; i < 2; i++) {
        const SDL_Rect *p = &pictures[i];
        int pad = sheet_px(s, PAD);
        SDL_Rect at = {p->x + pad, p->y + p->h + pad, p->w - 2 * pad,
                       split_screen_height(s->fonts) - 2 * pad};
        sheet_card(s, (SDL_Rect){p->x, p->y + p->h, p->w, at.h + 2 * pad}, 100);
        add_time(s, at, names[i], &view->sides[i]);
        if (i == 0) {
            add_line(s, at, view->waits,
                     view->waits ? "waits: the right side limits the speed"
                                 : "your input goes to both; you hear this one");
        } else if (view->differs) {
            snprintf(said, sizeof said, "frame %" PRIu32 " differs; %" PRIu32 " were the same", view->differs,
                     view->same);
            add_line(s, at, true, said);
        } else {
            snprintf(said, sizeof said, "same picture: %" PRIu32 " of %" PRIu32 " frames", view->same,
                     view->same);
            add_line(s, at, false, said);
        }
    }
}
