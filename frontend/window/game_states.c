// SPDX-License-Identifier: MIT
#include "game_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/base/paths.h"

#define PAST_BYTES (64u << 20)
#define LEAST_BYTES (1u << 20) // the newest is always kept

// The game and its add-ons, as the name of a folder: "freedoom1", "doom2+nerve".
static char *folder_name(const struct text_list *wads)
{
    char *name = text_copy("states/");
    for (size_t i = 0; i < wads->count; i++) {
        const char *file = path_name(wads->items[i]);
        char *longer = text_format("%s%s%.*s", name, i ? "+" : "", (int)strcspn(file, "."), file);
        free(name);
        name = longer;
    }
    return name;
}

bool game_states_kept(const struct app *app)
{
    // Nothing slows a timed demo down.
    return app->settings->rewind && !app->options->split && !app->launch.replayed && !app->launch.timed_demo;
}

void game_states_open(struct app *app)
{
    app->jumps = 0;
    char *name = folder_name(&app->launch.wads);
    char *folder = path_user(PATH_DATA, name);
    app->slots = slots_open(folder, app->launch.program, &app->launch.wads);
    free(folder);
    free(name);
    const struct settings *settings = app->settings;
    if (app->split.split) { // two machines only go forward together
        if (settings->run_ahead) {
            toast_add(&app->toasts, "split screen: nothing is shown ahead");
        }
        return;
    }
    bool rewinds = game_states_kept(app);
    if (rewinds || settings->run_ahead) {
        session_keep_past(app->session, rewinds ? PAST_BYTES : LEAST_BYTES, (unsigned)settings->run_ahead);
    }
}

void game_states_close(struct app *app)
{
    slots_close(app->slots);
    app->slots = NULL;
}

static void choose_slot(struct app *app, unsigned slot)
{
    app->slot = slot;
    toast_add(&app->toasts, "slot %u", slot);
}

void game_states_perform(struct app *app, enum action action, unsigned input)
{
    bool digit = input >= SDL_SCANCODE_1 && input <= SDL_SCANCODE_0; // 1 2 … 9 0
    switch (action) {
    case ACTION_SAVE_STATE: slots_save(app->slots, app->session, app->slot); break;
    case ACTION_LOAD_STATE: slots_load(app->slots, app->session, app->slot); break;
    case ACTION_UNDO_STATE: slots_undo(app->slots, app->session); break;
    case ACTION_SLOT: choose_slot(app, (digit ? input - SDL_SCANCODE_1 + 1 : app->slot + 1) % SLOTS); break;
    default: break;
    }
}

void game_states_rewind(struct app *app, bool on)
{
    app->rewinding = on;
    session_rewind(app->session, on);
}

void game_states_follow(struct app *app)
{
    struct session_state state;
    session_get_state(app->session, &state);
    if (state.jumps == app->jumps || state.rewinding) {
        return;
    }
    app->jumps = state.jumps;
    app->dirty = true;
    input_resend(&app->input, app->session);
    pads_resend(&app->pads);
    overlay_reset(&app->overlay, app->session);
}

// ---- the page of slots ----

#define LOOK_MS 500

enum { PICTURE_WIDTH = DEVICE_FRAME_WIDTH / 4, PICTURE_HEIGHT = DEVICE_FRAME_HEIGHT / 4 };

static void shrink(const struct state_summary *summary, uint32_t *to)
{
    for (unsigned y = 0; y < PICTURE_HEIGHT; y++) {
        for (unsigned x = 0; x < PICTURE_WIDTH; x++) {
            const uint8_t *c = summary->palette[summary->picture[y * 4 * DEVICE_FRAME_WIDTH + x * 4]];
            *to++ = 0xff000000u | (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
        }
    }
}

// As the files said when they were last looked at: the page is drawn more often than they change.
static struct {
    char meaning[112];
    uint32_t picture[PICTURE_WIDTH * PICTURE_HEIGHT];
} seen[SLOTS];

static void look(const struct slots *slots, unsigned slot)
{
    static struct state_summary summary;
    struct tm local;
    char saved[32] = "";
    memset(seen[slot].picture, 0, sizeof seen[slot].picture);
    snprintf(seen[slot].meaning, sizeof seen[slot].meaning, "empty");
    if (!slots_look(slots, slot, &summary)) {
        return;
    }
    localtime_r(&(time_t){summary.saved_at}, &local);
    strftime(saved, sizeof saved, "%Y-%m-%d %H:%M", &local);
    snprintf(seen[slot].meaning, sizeof seen[slot].meaning, "%s%s%u:%02u, saved %s", summary.level,
             *summary.level ? ", " : "", summary.seconds / 60, summary.seconds % 60, saved);
    shrink(&summary, seen[slot].picture);
}

static size_t list(struct app *app, struct panel_row *rows, size_t most)
{
    static uint64_t looked;
    bool again = !looked || SDL_GetTicks64() - looked > LOOK_MS;
    looked = again ? SDL_GetTicks64() : looked;
    for (unsigned slot = 0; slot < SLOTS && slot < most; slot++) {
        if (again) {
            look(app->slots, slot);
        }
        struct panel_row *row = &rows[slot];
        *row = (struct panel_row){.id = (int)slot};
        snprintf(row->label, sizeof row->label, "Slot %u", slot);
        snprintf(row->value, sizeof row->value, "%s", slot == app->slot ? "chosen" : "");
        snprintf(row->meaning, sizeof row->meaning, "%s", seen[slot].meaning);
        row->picture = seen[slot].picture;
        row->picture_width = PICTURE_WIDTH;
        row->picture_height = PICTURE_HEIGHT;
    }
    return SLOTS < most ? SLOTS : most;
}

static void choose(struct app *app, const struct panel_row *row)
{
    choose_slot(app, (unsigned)row->id);
}

static void tell(struct app *app, const struct panel_row *row, char *text, size_t size)
{
    const struct settings *settings = app->settings;
    (void)row;
    snprintf(
        text, size,
        "Enter chooses the slot. %s %s saves the game to it, %s %s loads it, %s %s undoes the last of these.",
        settings->leader_key, settings->leader[ACTION_SAVE_STATE], settings->leader_key,
        settings->leader[ACTION_LOAD_STATE], settings->leader_key, settings->leader[ACTION_UNDO_STATE]);
}

const struct panel_page game_states_page = {.title = "States", .list = list, .choose = choose, .tell = tell};
