// SPDX-License-Identifier: MIT
#include "events.h"

#include <stdlib.h>

#include "binding_page.h"
#include "controls.h"
#include "frontend/base/log.h"
#include "games.h"
#include "pages.h"

// input: the key or button (keys.h) that asks for it.
static void perform(struct app *app, enum action action, unsigned input)
{
    if (action_table[action].held) {
        app->held_input = input;
    }
    controls_perform(app, action, input);
}

static void release_held(struct app *app)
{
    app->held_input = 0;
    controls_release(app);
}

static void release_all(struct app *app)
{
    release_held(app);
    if (app->session) {
        input_release_all(&app->input, app->session);
        pads_rest(&app->pads);
    }
}

static void open_panel(struct app *app, bool fresh)
{
    panel_open(&app->panel, PAGES_NEURAL, PAGES_COUNT, fresh);
    release_all(app);
    app->dirty = true;
}

static void lose_focus(struct app *app)
{
    app->focused = false;
    release_all(app);
    struct device_info info;
    // A demo or the title goes on without anyone looking.
    if (app->settings->pause_unfocused && !app->paused && !app->quitting &&
        machine_get_device_info(session_machine(app->session), &info) && info.user_game &&
        !info.demo_playing) {
        app->unfocused_pause = true;
        controls_apply_pause(app);
    }
}

static void gain_focus(struct app *app)
{
    app->focused = true;
    if (app->unfocused_pause) {
        app->unfocused_pause = false;
        controls_apply_pause(app);
    }
}

static void window_event(struct app *app, const SDL_WindowEvent *event)
{
    app->dirty = true;
    switch (event->event) {
    case SDL_WINDOWEVENT_FOCUS_LOST: lose_focus(app); break;
    case SDL_WINDOWEVENT_FOCUS_GAINED: gain_focus(app); break;
    default: break;
    }
}

static void answer_panel(struct app *app, enum panel_answer answer)
{
    if (answer == PANEL_CHOSEN) {
        pages_choose(app);
    }
    app->dirty |= answer != PANEL_NOTHING;
}

// The leader key takes away what covers the game. While it is held, keys are meant for the switches all the
// same.
static void uncover(struct app *app, const SDL_KeyboardEvent *leader)
{
    if (!leader->repeat) {
        app->panel.open = app->loop_page.open = false;
        app->input.leader_held = app->input.leader_used = true;
        app->dirty = true;
    }
}

// The keys that follow the leader key do so here too: tapping it and then one of them works as one sequence,
// after which the panel is gone; later they leave it open.
static void key_in_panel(struct app *app, const SDL_KeyboardEvent *key)
{
    struct panel *panel = &app->panel;
    bool was_fresh = panel->fresh;
    enum action action = key->repeat ? ACTION_NONE : input_after_leader(&app->input, key);
    if (action == ACTION_NONE && !key->repeat) {
        action = input_direct(&app->input, key);
    }
    if (action != ACTION_NONE && action_table[action].held) {
        action = ACTION_NONE; // makes no sense here, and Tab turns the pages
    }
    if (key->keysym.scancode == app->input.leader) {
        uncover(app, key);
        return;
    }
    if (was_fresh && action != ACTION_NONE) {
        panel->open = false;
        perform(app, action, key->keysym.scancode);
        return;
    }
    size_t count;
    const struct panel_row *rows = pages_rows(app, &count);
    const struct panel_page *page = pages[panel->page];
    if (page->key && panel->selected < count && page->key(app, &rows[panel->selected], key)) {
        app->dirty = true;
        return;
    }
    enum panel_answer answer = panel_key(panel, key, count);
    answer_panel(app, answer);
    if (answer == PANEL_NOTHING && action != ACTION_NONE) {
        perform(app, action, key->keysym.scancode);
    }
}

enum { SCROLL = 60 }; // units

static void choose_in_loop_page(struct app *app, int choice)
{
    switch (choice) {
    case LOOP_PAGE_NEXT: pages_turn_loop(app, 1); break;
    case LOOP_PAGE_PREVIOUS: pages_turn_loop(app, -1); break;
    case LOOP_PAGE_SWITCH: controls_switch_loop(app); break;
    case LOOP_PAGE_TRACE: pages_trace_loop(app, !app->loop_page.traced); break;
    case LOOP_PAGE_BACK: app->loop_page.open = false; break;
    default: break;
    }
    app->dirty = true;
}

static void scroll_loop_page(struct app *app, int units)
{
    app->loop_page.scroll += units;
    app->loop_page.scroll = app->loop_page.scroll < 0 ? 0 : app->loop_page.scroll;
    app->dirty = true;
}

static void key_in_loop_page(struct app *app, const SDL_KeyboardEvent *key)
{
    if (key->keysym.scancode == app->input.leader) {
        uncover(app, key);
        return;
    }
    switch (key->keysym.scancode) {
    case SDL_SCANCODE_DOWN:
    case SDL_SCANCODE_RIGHT: choose_in_loop_page(app, LOOP_PAGE_NEXT); break;
    case SDL_SCANCODE_UP:
    case SDL_SCANCODE_LEFT: choose_in_loop_page(app, LOOP_PAGE_PREVIOUS); break;
    case SDL_SCANCODE_RETURN:
    case SDL_SCANCODE_KP_ENTER: choose_in_loop_page(app, LOOP_PAGE_SWITCH); break;
    case SDL_SCANCODE_PAGEDOWN: scroll_loop_page(app, SCROLL); break;
    case SDL_SCANCODE_PAGEUP: scroll_loop_page(app, -SCROLL); break;
    case SDL_SCANCODE_E: choose_in_loop_page(app, LOOP_PAGE_TRACE); break;
    case SDL_SCANCODE_ESCAPE:
        choose_in_loop_page(app, app->loop_page.traced ? LOOP_PAGE_TRACE : LOOP_PAGE_BACK);
        break;
    default: {
        enum action action = key->repeat ? ACTION_NONE : input_after_leader(&app->input, key);
        if (action == ACTION_NONE && !key->repeat) {
            action = input_direct(&app->input, key);
        }
        if (action != ACTION_NONE) {
            perform(app, action, key->keysym.scancode);
        }
        break;
    }
    }
}

static bool wants_repeats(struct app *app)
{
    struct device_info info;
    return machine_get_device_info(session_machine(app->session), &info) && info.menu_active;
}

static void key_down(struct app *app, const SDL_KeyboardEvent *key)
{
    struct input *in = &app->input;
    if (app->loop_page.open) {
        key_in_loop_page(app, key);
        return;
    }
    if (app->panel.open) {
        key_in_panel(app, key);
        return;
    }
    if (app->all_keys && input_direct(in, key) != ACTION_ALL_KEYS) {
        input_key(in, app->session, key, wants_repeats(app));
        return;
    }
    if (key->keysym.scancode == in->leader) {
        if (!key->repeat) {
            in->leader_held = true;
            in->leader_used = false;
            app->dirty |= toast_drop_hint(&app->toasts);
        }
        return;
    }
    enum action action = in->leader_held ? input_after_leader(in, key) : input_direct(in, key);
    if (action != ACTION_NONE || in->leader_held) {
        in->leader_used = true;
        if (action != ACTION_NONE && !key->repeat) {
            perform(app, action, key->keysym.scancode);
        }
        return;
    }
    if (key->keysym.scancode != app->held_input) {
        input_key(in, app->session, key, wants_repeats(app));
    }
}

static void key_up(struct app *app, const SDL_KeyboardEvent *key)
{
    struct input *in = &app->input;
    if (key->keysym.scancode == app->held_input) {
        release_held(app);
    } else if (key->keysym.scancode != in->leader || !in->leader_held) {
        input_key(in, app->session, key, false);
    } else {
        in->leader_held = false;
        if (!in->leader_used) {
            open_panel(app, true);
        }
    }
}

static const struct {
    unsigned button;
    SDL_Scancode key;
} pad_in_panel[] = {
    {SDL_CONTROLLER_BUTTON_DPAD_UP, SDL_SCANCODE_UP},
    {SDL_CONTROLLER_BUTTON_DPAD_DOWN, SDL_SCANCODE_DOWN},
    {SDL_CONTROLLER_BUTTON_DPAD_LEFT, SDL_SCANCODE_LEFT},
    {SDL_CONTROLLER_BUTTON_DPAD_RIGHT, SDL_SCANCODE_RIGHT},
    {SDL_CONTROLLER_BUTTON_A, SDL_SCANCODE_RETURN},
    {SDL_CONTROLLER_BUTTON_B, SDL_SCANCODE_ESCAPE},
};

// A pad's button as a key of the panel, or none.
static SDL_Scancode pad_key(unsigned input)
{
    for (size_t i = 0; i < sizeof pad_in_panel / sizeof *pad_in_panel; i++) {
        if (input == INPUT_PAD + pad_in_panel[i].button) {
            return pad_in_panel[i].key;
        }
    }
    return SDL_SCANCODE_UNKNOWN;
}

// A button of the mouse or of a pad, or a step of the wheel.
static void button(struct app *app, unsigned input, bool down)
{
    enum action action = app->all_keys ? ACTION_NONE : input_button(&app->input, input);
    bool covered = app_covered(app);
    if (down && binding_page_take(app, input, false)) {
        return;
    }
    if (input == app->input.leader_button && down && !app->all_keys) {
        if (covered) {
            app->panel.open = app->loop_page.open = false;
            app->dirty = true;
        } else {
            open_panel(app, false);
        }
        return;
    }
    if (covered && down) { // a pad stands for keys then
        SDL_KeyboardEvent key = {.type = SDL_KEYDOWN, .keysym = {.scancode = pad_key(input)}};
        if (key.keysym.scancode != SDL_SCANCODE_UNKNOWN) {
            key_down(app, &key);
            return;
        }
    }
    if (action != ACTION_NONE) {
        if (down) {
            perform(app, action, input);
        } else if (input == app->held_input) {
            release_held(app);
        }
    } else if (!covered || !down) {
        input_press(&app->input, app->session, input, down);
    }
}

static void pad_event(struct app *app, const SDL_Event *event)
{
    bool down, gone;
    unsigned input = pads_event(&app->pads, event, &down, &gone);
    if (input) {
        pads_answer(&app->pads, input, down && !app_covered(app));
        button(app, input, down);
    }
    if (gone) {
        release_all(app);
        toast_add(&app->toasts, "a pad has gone");
    } else if (event->type == SDL_CONTROLLERDEVICEADDED) {
        const char *name = SDL_GameControllerNameForIndex(event->cdevice.which);
        toast_add(&app->toasts, "pad: %s", name ? name : "unnamed");
    }
    app->dirty = true;
}

// What the mouse points at, or SHEET_NOTHING.
static int choice_at(struct app *app, const SDL_Event *event)
{
    int width, height;
    double ratio;
    bool motion = event->type == SDL_MOUSEMOTION;
    if (event->type == SDL_MOUSEWHEEL) {
        return SHEET_NOTHING;
    }
    video_size(app->video, &width, &height, &ratio);
    return sheet_choice_at(&app->sheet, (int)((motion ? event->motion.x : event->button.x) * ratio),
                           (int)((motion ? event->motion.y : event->button.y) * ratio));
}

static void mouse_event(struct app *app, const SDL_Event *event)
{
    if (app->loop_page.open) {
        if (event->type == SDL_MOUSEWHEEL) {
            scroll_loop_page(app, event->wheel.y > 0 ? -SCROLL : SCROLL);
        } else if (event->type == SDL_MOUSEBUTTONDOWN) {
            choose_in_loop_page(app, choice_at(app, event));
        }
    } else if (app->panel.open) {
        size_t count;
        pages_rows(app, &count);
        answer_panel(app, panel_mouse(&app->panel, event, choice_at(app, event), count));
    } else if (event->type == SDL_MOUSEMOTION) {
        input_mouse(&app->input, &event->motion);
    } else if (event->type != SDL_MOUSEWHEEL) {
        bool down = event->type == SDL_MOUSEBUTTONDOWN;
        if ((app->input.mouse_captured || !down) && event->button.button <= SDL_BUTTON_X2) {
            button(app, INPUT_MOUSE + event->button.button, down);
        }
    } else if (app->input.mouse_captured) {
        unsigned step = event->wheel.y > 0 ? INPUT_WHEEL_UP : INPUT_WHEEL_DOWN;
        for (int i = abs(event->wheel.y); i > 0; i--) {
            button(app, step, true);
            button(app, step, false);
        }
    }
}

void events_pick(struct app *app, const SDL_Event *event)
{
    size_t count = games_count();
    bool down = false, gone;
    unsigned input = pads_event(&app->pads, event, &down, &gone);
    SDL_KeyboardEvent key = {.type = SDL_KEYDOWN, .keysym = {.scancode = pad_key(input)}};
    enum panel_answer answer = PANEL_NOTHING;
    games_drop(app, event);
    switch (event->type) {
    case SDL_KEYDOWN: answer = panel_key(&app->panel, &event->key, count); break;
    case SDL_CONTROLLERBUTTONDOWN: answer = panel_key(&app->panel, &key, count); break;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEWHEEL: answer = panel_mouse(&app->panel, event, choice_at(app, event), count); break;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET: events_renew(app); break;
    default: break;
    }
    if (answer == PANEL_CHOSEN) {
        games_choose(app, app->panel.selected);
    }
    app->dirty |= answer != PANEL_NOTHING;
}

static void sound_gone(struct app *app, uint32_t device)
{
    if (app->audio && audio_gone(app->audio, device)) {
        static const char said[] = "no sound: the device has gone; another is looked for";
        log_line(LOG_WARNING, "%s", said);
        toast_add(&app->toasts, "%s", said);
        app->dirty = true;
    }
}

void events_renew(struct app *app)
{
    video_renew(app->video);
    canvas_renew(app->canvas);
    app->dirty = true;
}

void events_take(struct app *app, const SDL_Event *event)
{
    if (binding_page_event(app, event)) {
        return;
    }
    switch (event->type) {
    case SDL_QUIT: controls_quit(app); break;
    case SDL_WINDOWEVENT: window_event(app, &event->window); break;
    case SDL_KEYDOWN: key_down(app, &event->key); break;
    case SDL_KEYUP: key_up(app, &event->key); break;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
    case SDL_MOUSEWHEEL: mouse_event(app, event); break;
    case SDL_CONTROLLERDEVICEADDED:
    case SDL_CONTROLLERDEVICEREMOVED:
    case SDL_CONTROLLERAXISMOTION:
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP: pad_event(app, event); break;
    case SDL_DROPBEGIN:
    case SDL_DROPFILE:
    case SDL_DROPTEXT:
    case SDL_DROPCOMPLETE: games_drop(app, event); break;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET: events_renew(app); break;
    case SDL_AUDIODEVICEREMOVED: sound_gone(app, event->adevice.which); break;
    default:
        if (event->type == app->wake_event) {
            atomic_store(&app->wake_queued, false);
        }
        break;
    }
}
