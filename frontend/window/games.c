// SPDX-License-Identifier: MIT
#include "games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controls.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/command/doom_options.h"
#include "frontend/command/wad.h"
#include "frontend/command/wad_picture.h"
#include "frontend/command/wad_search.h"

struct game {
    uint32_t title[WAD_PICTURE_HEIGHT][WAD_PICTURE_WIDTH];
    struct wad_info info;
};
static struct text_list paths;
static struct game *games; // of paths; NULL: their pictures have not been drawn
static bool looked;

size_t games_count(void)
{
    if (!looked) {
        wad_games(&paths);
        looked = true;
    }
    return paths.count;
}

static void draw_titles(void)
{
    if (games || games_count() == 0) {
        return;
    }
    games = memory_resize(NULL, paths.count * sizeof *games);
    for (size_t i = 0; i < paths.count; i++) {
        wad_inspect(paths.items[i], &games[i].info);
        wad_draw_title(paths.items[i], games[i].title);
    }
}

static size_t list(struct app *app, struct panel_row *rows, size_t most)
{
    draw_titles();
    size_t n = 0;
    for (; n < paths.count && n < most; n++) {
        bool played = app->session && strcmp(app->launch.iwad, paths.items[n]) == 0;
        char *shown = path_shown(paths.items[n]);
        rows[n] = (struct panel_row){.id = (int)n,
                                     .picture = games[n].title[0],
                                     .picture_width = WAD_PICTURE_WIDTH,
                                     .picture_height = WAD_PICTURE_HEIGHT};
        snprintf(rows[n].label, sizeof rows[n].label, "%.47s", games[n].info.what);
        snprintf(rows[n].meaning, sizeof rows[n].meaning, "%s", shown);
        snprintf(rows[n].keys, sizeof rows[n].keys, "%s", played ? "being played" : "");
        free(shown);
    }
    return n;
}

void games_choose(struct app *app, size_t row)
{
    if (row < paths.count) {
        text_list_free(&app->next);
        text_list_add(&app->next, text_copy(paths.items[row]));
        controls_play_next(app);
    }
}

static void choose(struct app *app, const struct panel_row *row)
{
    games_choose(app, (size_t)row->id);
}

static void tell(struct app *app, const struct panel_row *row, char *text, size_t size)
{
    snprintf(text, size, "%s",
             !row ? "No game was found."
             : app->session
                 ? "Enter plays it from its beginning, and ends the one that runs."
                 : "Enter plays it; it will be played the next time, too, until another is chosen.");
}

const struct panel_page games_page = {.title = "Games", .list = list, .choose = choose, .tell = tell};

void games_layout(struct app *app, struct sheet *s)
{
    static struct panel_row rows[PANEL_ROWS];
    char now[160];
    static const char *const title = "Which game?";
    struct panel_view view = {.hint = "↑ ↓ Enter   Esc quit", .titles = &title, .rows = rows, .now = now};
    view.count = list(app, rows, PANEL_ROWS);
    tell(app, view.count ? rows : NULL, now, sizeof now);
    panel_layout(&app->panel, s, &view);
}

void games_drop(struct app *app, const SDL_Event *event)
{
    if (event->type == SDL_DROPBEGIN) {
        text_list_free(&app->next);
    } else if (event->type == SDL_DROPFILE) {
        struct failure failure = {0};
        if (doom_options_playable(event->drop.file, &failure)) {
            text_list_add(&app->next, text_copy(event->drop.file));
        } else {
            log_line(LOG_WARNING, "%s", failure.text);
            toast_add(&app->toasts, "%s", failure.text);
            app->dirty = true;
        }
        free(failure.text);
    } else if (event->type == SDL_DROPCOMPLETE && app->next.count) {
        controls_play_next(app);
    }
    if (event->type == SDL_DROPFILE || event->type == SDL_DROPTEXT) {
        SDL_free(event->drop.file);
    }
}

void games_free(void)
{
    text_list_free(&paths);
    free(games);
    games = NULL;
    looked = false;
}
