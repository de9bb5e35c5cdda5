// SPDX-License-Identifier: MIT
#include "window.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "controls.h"
#include "display.h"
#include "draw.h"
#include "events.h"
#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "frontend/command/doom_options.h"
#include "frontend/record/explain.h"
#include "frontend/session/conclude.h"
#include "game_states.h"
#include "games.h"
#include "pages.h"
#include "prepare_beside.h"

// The longest sleep of the main loop: bounds how late a signal is noticed.
#define SLEEP_MOST_MS 250

// With vsync off, pictures are still shown at most this often.
#define SHOW_GAP_MS 2

static bool begin(void *user, machine *m, struct failure *failure)
{
    struct app *app = user;
    return output_begin(app->output, m, failure);
}

static void between(void *user, struct session *s)
{
    struct app *app = user;
    output_between(app->output, s);
}

static void rewound(void *user, struct session *s, uint32_t frame)
{
    struct app *app = user;
    output_rewound(app->output, s, frame);
}

static bool take_frame(void *user, struct session *s, const struct machine_frame *frame,
                       const struct frame_figures *figures)
{
    struct app *app = user;
    struct split *split = app->split.split;
    if (split) {
        split_frame(split, s, figures);
    }
    bool goes_on = output_frame(app->output, s, frame, figures);
    if (split) {
        split_frame_ends(split);
    }
    return goes_on;
}

static void take_audio(void *user, const int16_t (*samples)[2], size_t count)
{
    struct app *app = user;
    output_audio(app->output, samples, count);
    if (app->audio) {
        audio_put(app->audio, samples, count);
    }
}

// Pushing an event is the one thing that SDL allows from other threads. One at a time: at full speed there
// are thousands of frames a second. None to a display that is gone: SDL sends it over a connection that
// nobody else sees, and Xlib would end the process in the thread that pushes; the main thread finds out.
void app_wake(void *user)
{
    struct app *app = user;
    if (!atomic_exchange(&app->wake_queued, true) && !display_is_lost()) {
        SDL_PushEvent(&(SDL_Event){.type = app->wake_event});
    }
}

bool app_covered(const struct app *app)
{
    return app->panel.open || app->loop_page.open;
}

// ---- playing ----

// The mouse is the player's while a game of his runs and nothing else is open.
static void update_mouse(struct app *app)
{
    struct device_info info;
    bool capture = app->focused && !app_covered(app) && !controls_paused(app) && !app->quitting &&
                   !doom_options_given(app->options, "-nomouse") &&
                   !doom_options_given(app->options, "-nograbmouse") &&
                   machine_get_device_info(session_machine(app->session), &info) && info.user_game &&
                   !info.demo_playing && !info.menu_active && info.game_state == DEVICE_GAME_LEVEL;
    input_capture_mouse(&app->input, capture);
    SDL_ShowCursor(app_covered(app) || !app->settings->fullscreen ? SDL_ENABLE : SDL_DISABLE);
}

// A blow is felt in the hands.
static void update_rumble(struct app *app)
{
    struct device_info info;
    bool plays = machine_get_device_info(session_machine(app->session), &info) && info.user_game &&
                 !info.demo_playing && info.game_state == DEVICE_GAME_LEVEL;
    int health = plays ? info.health : 0;
    if (health < app->health && plays) {
        pads_hurt(&app->pads, app->health - health);
    }
    app->health = health;
}

// Sound is heard while the game runs at its own speed.
static void update_audio(struct app *app)
{
    const struct settings *settings = app->settings;
    if (app->audio) {
        if (audio_seek(app->audio)) {
            toast_add(&app->toasts, "there is sound again");
            app->dirty = true;
        }
        audio_play(app->audio,
                   !controls_paused(app) && app->speed == 100 && !app->fast_forward && !app->rewinding &&
                       (app->focused || !settings->mute_unfocused),
                   settings->volume);
        struct session_sound sound;
        audio_get_figures(app->audio, &sound);
        session_set_sound(app->session, &sound);
    }
}

// How long the main loop may sleep when nothing happens.
static int sleep_time(const struct app *app)
{
    uint64_t now = SDL_GetTicks64(), next = toast_next(&app->toasts), most = now + SLEEP_MOST_MS;
    next = next < most ? next : most;
    return app->dirty ? 1 : next > now ? (int)(next - now) : 1;
}

static bool ended(struct app *app)
{
    struct session_state state;
    session_get_state(app->session, &state);
    return state.end != SESSION_RUNNING || (app->quitting && SDL_GetTicks64() >= app->quit_deadline);
}

// What the machine has to say, besides the log.
static void show_message(struct app *app)
{
    char *message = session_take_message(app->session);
    if (message) {
        toast_add(&app->toasts, "%s", message);
        app->dirty = true;
    }
    free(message);
}

// Once, for those who do not know yet that there is a panel.
static void show_hint(struct app *app)
{
    char *path = path_user(PATH_STATE, "hint-shown"), *folder = path_user(PATH_STATE, NULL);
    if (!path_is_file(path) && path_make_folder(folder) && write_own_file(path, "", 0)) {
        bool usual = strcmp(app->settings->leader_key, LEADER_KEY) == 0;
        char *text = text_format("Press %s%s for switches, sound and keys", app->settings->leader_key,
                                 usual ? ", left of 1," : "");
        toast_add_hint(&app->toasts, text, "this hint is shown once");
        free(text);
    }
    free(path);
    free(folder);
}

// Returns whether a signal ended it.
static bool play(struct app *app)
{
    bool interrupted = false;
    uint64_t shown = 0;
    while (!ended(app)) {
        SDL_Event event;
        bool any = SDL_WaitEventTimeout(&event, sleep_time(app));
        for (; any; any = SDL_PollEvent(&event)) {
            events_take(app, &event);
            update_mouse(app); // a click behind the key that closes a page is the game's already
        }
        input_flush(&app->input, app->session);
        pads_flush(&app->pads, app->session, app_covered(app));
        if (interrupt_seen() && !interrupted) {
            interrupted = true;
            controls_quit(app);
        }
        update_mouse(app);
        update_rumble(app);
        update_audio(app);
        app->dirty |= toast_expire(&app->toasts);
        show_message(app);
        game_states_follow(app);
        live_follow(app);
        again_follow(app);
        pages_follow_trace(app);
        bool refreshed = overlay_refresh(&app->overlay, app->session);
        app->dirty |= split_screen_follow(app, refreshed);
        if (refreshed) {
            app->dirty |= app_covered(app) || app->settings->overlay != OVERLAY_OFF;
            if (app->loop_page.open) {
                pages_refresh_loop(app);
            }
        }
        output_renew_stats(app->output, app->session);
        if (!app->settings->vsync && SDL_GetTicks64() - shown < SHOW_GAP_MS) {
            SDL_Delay(SHOW_GAP_MS);
        }
        shown = SDL_GetTicks64();
        draw_all(app);
    }
    input_capture_mouse(&app->input, false);
    return interrupted;
}

// ---- a page in place of the game ----

// Shows the page until a key is pressed; returns that key, or Esc if the window was closed or a signal came.
static SDL_Scancode show_page(struct app *app, const char *title, const char *text, const char *choices)
{
    app->page_title = title;
    app->page_choices = choices;
    app->page_text = text_copy(text);
    app->dirty = true;
    SDL_Scancode pressed = SDL_SCANCODE_UNKNOWN;
    while (pressed == SDL_SCANCODE_UNKNOWN && app->next.count == 0) {
        draw_all(app);
        SDL_Event event;
        if (!SDL_WaitEventTimeout(&event, SLEEP_MOST_MS)) {
            event.type = SDL_FIRSTEVENT;
        }
        app->dirty |= event.type == SDL_WINDOWEVENT;
        games_drop(app, &event);
        bool down = false, gone;
        unsigned button = pads_event(&app->pads, &event, &down, &gone);
        if (down && button == INPUT_PAD + SDL_CONTROLLER_BUTTON_A) {
            pressed = SDL_SCANCODE_RETURN;
        } else if (down && button == INPUT_PAD + SDL_CONTROLLER_BUTTON_B) {
            pressed = SDL_SCANCODE_ESCAPE;
        } else if (event.type == SDL_KEYDOWN && !event.key.repeat) {
            pressed = event.key.keysym.scancode;
        } else if (event.type == SDL_QUIT || interrupt_seen()) {
            pressed = SDL_SCANCODE_ESCAPE;
        } else if (event.type == SDL_RENDER_TARGETS_RESET || event.type == SDL_RENDER_DEVICE_RESET) {
            events_renew(app);
        }
    }
    free(app->page_text);
    app->page_text = NULL;
    return pressed;
}

// ---- start and end ----

static bool open_window(struct app *app, const char *title, struct failure *failure)
{
    if (app->video) {
        SDL_SetWindowTitle(video_window(app->video), title);
        return true;
    }
    if (!display_open(failure)) {
        return false;
    }
    app->wake_event = SDL_RegisterEvents(1);
    pads_open(&app->pads, app->settings->dead_zone, app->settings->rumble);
    app->video = video_open(app->settings, app->options->split ? 2 : 1, title, failure);
    if (!app->video) {
        return false;
    }
    app->fonts = fonts_create(app->settings->overlay_font);
    app->canvas = canvas_create(video_renderer(app->video), app->fonts);
    return true;
}

// Without a sound card the game goes on.
static void open_audio(struct app *app)
{
    char error[256];
    if (doom_options_given(app->options, "-nosound")) {
        return;
    }
    app->audio = audio_open(error, sizeof error);
    if (!app->audio) {
        log_line(LOG_WARNING, "no sound: %s", error);
        toast_add(&app->toasts, "the game is silent: no sound device could be opened");
    }
}

// What the user has changed is so again the next time; what the command line says is for this time only.
static void remember(struct app *app, int status)
{
    struct settings *settings = app->settings;
    struct geometry now, given;
    bool as_given = config_is_given("window.geometry") && config_geometry(settings->geometry, &given);
    // The window of a split screen is another one.
    if (!app->options->split && video_place(app->video, &now) &&
        !(as_given && given.width == now.width && given.height == now.height)) {
        free(settings->geometry);
        settings->geometry = text_format("%dx%d+%d+%d", now.width, now.height, now.x, now.y);
    }
    if (status == STATUS_OK || status == STATUS_INTERRUPTED) {
        free(settings->iwad);
        settings->iwad = text_copy(app->launch.iwad);
    }
    if (!config_remember(settings)) {
        log_line(LOG_WARNING, "what was switched cannot be remembered: %s", strerror(errno));
    }
}

static void close_window(struct app *app)
{
    pads_close(&app->pads);
    if (app->canvas) {
        canvas_free(app->canvas);
        fonts_free(app->fonts);
    }
    if (app->video) {
        video_close(app->video);
    }
    display_close();
}

// What was picked or dropped is what is played from now on.
static bool take_next(struct app *app, struct failure *failure)
{
    bool good = app->next.count == 0 || doom_options_play(app->options, &app->next, failure);
    text_list_free(&app->next);
    return good;
}

// Is the failure that there is no WAD at all, rather than that a named one will not do?
static bool nothing_to_play(const struct app *app, const struct failure *failure)
{
    return failure->status == STATUS_NO_WAD && !doom_options_given(app->options, "-iwad") &&
           !*app->settings->iwad;
}

// Asks which game, with the pictures that they begin with: app->next. False: the user has left.
static bool pick_game(struct app *app)
{
    panel_open(&app->panel, 0, 1, false);
    app->dirty = true;
    while (app->next.count == 0 && app->panel.open && !interrupt_seen()) {
        SDL_Event event;
        app->dirty |= toast_expire(&app->toasts);
        draw_all(app);
        if (SDL_WaitEventTimeout(&event, SLEEP_MOST_MS)) {
            app->panel.open &= event.type != SDL_QUIT;
            app->dirty |= event.type == SDL_WINDOWEVENT;
            events_pick(app, &event);
        }
    }
    app->panel.open = false;
    return app->next.count > 0;
}

// Several games, and nobody has said which.
static bool must_pick(const struct app *app)
{
    const struct options *options = app->options;
    bool named = *app->settings->iwad && (config_is_users("game.iwad") || path_is_file(app->settings->iwad));
    for (size_t i = 0; i < options->doom_count; i++) {
        named |= options->doom[i].values.count > 0; // -file, -warp, -playdemo
    }
    return !named && !options->state && !options->replay_input && games_count() > 1;
}

// Finds what to play. Without any WAD the window explains, and looks again as often as the user likes.
static bool prepare(struct app *app, struct failure *failure)
{
    if (must_pick(app)) {
        if (!open_window(app, "neurodoom", failure) || !pick_game(app) || !take_next(app, failure)) {
            return false;
        }
    }
    while (!launch_prepare(&app->launch, app->options, app->settings, failure)) {
        struct failure no_window = {0};
        if (!nothing_to_play(app, failure) || !open_window(app, "neurodoom", &no_window)) {
            free(no_window.text);
            return false;
        }
        SDL_Scancode key;
        do {
            key = show_page(app, "There is no game to play", failure->text,
                            "Enter: look again    Esc: quit    or drop a WAD here");
        } while (key != SDL_SCANCODE_RETURN && key != SDL_SCANCODE_KP_ENTER && key != SDL_SCANCODE_ESCAPE &&
                 app->next.count == 0);
        app->quitting = key == SDL_SCANCODE_ESCAPE;
        if (app->quitting && !interrupt_seen()) {
            return false;
        }
        launch_free(&app->launch);
        free(failure->text);
        *failure = (struct failure){0};
        if (app->quitting || !take_next(app, failure)) {
            return false;
        }
    }
    return true;
}

static int run(struct app *app)
{
    app->speed = (unsigned)app->launch.speed;
    app->focused = SDL_GetWindowFlags(video_window(app->video)) & SDL_WINDOW_INPUT_FOCUS;
    app->dirty = true;
    const char *no_translator = action_missing(ACTION_ENGINE);
    if (no_translator) {
        toast_add(&app->toasts, "%s, and no loop is replaced", no_translator);
    } else if (!*app->launch.setup.loop_models) {
        toast_add(&app->toasts, "there are no nets for loops: no loop is replaced");
    }
    show_hint(app);
    game_states_open(app);
    bool interrupted = play(app);
    session_stop(app->session);
    again_close(app);
    game_states_close(app);
    explain_print(session_machine(app->session), app->options->explain_loop);
    explain_idle_verify(session_machine(app->session));
    audio_close(app->audio);
    app->audio = NULL;

    struct failure failure = {0};
    enum status status = session_conclude(app->session, interrupted, &failure);
    struct failure difference = {0};
    if (app->split.split && !split_screen_conclude(app, &difference)) {
        log_line(LOG_ERROR, "%s", difference.text);
        free(difference.text);
        status = status == STATUS_OK || status == STATUS_INTERRUPTED ? difference.status : status;
    }
    if ((status == STATUS_OK || status == STATUS_INTERRUPTED) && *app->again.difference) {
        fail(&failure, STATUS_DIFFERS, "%s", app->again.difference);
        status = STATUS_DIFFERS;
    }
    if (status == STATUS_FAULT || status == STATUS_ENGINE) {
        launch_blame_wads(&app->launch, &failure);
    }
    demo_files_finish(&app->launch.recording);
    bool whole = output_close(app->output, app->session);
    session_end(app->session);
    app->session = NULL;
    split_screen_end(app);
    if (failure.text) {
        log_line(LOG_ERROR, "%s", failure.text);
        if (!app->quitting && status != STATUS_DIFFERS) {
            show_page(app, status == STATUS_FAULT ? "The guest has been stopped" : "The engine has ended",
                      failure.text, "any key: quit");
        }
        free(failure.text);
    }
    return whole || status != STATUS_OK ? (int)status : STATUS_USAGE;
}

static int play_one(struct app *app, struct failure *failure)
{
    int status = STATUS_OK;
    if (!prepare(app, failure)) {
        return interrupt_seen() ? STATUS_INTERRUPTED : status;
    }
    char *title = text_format("neurodoom - %s", app->launch.iwad_info.what);
    app->output = output_open(app->options, app->settings, &app->launch, failure);
    if (app->output && open_window(app, title, failure)) {
        struct session_callbacks callbacks = {.user = app,
                                              .begin = begin,
                                              .between = between,
                                              .rewound = rewound,
                                              .frame = take_frame,
                                              .wake = app_wake};
        open_audio(app);
        // What is to be had again makes sound, whether it is heard or not.
        if (app->audio || output_wants_audio(app->output) || game_states_kept(app)) {
            callbacks.audio = take_audio;
        }
        if (!app->options->split || split_screen_start(app, callbacks.audio, failure)) {
            app->session =
                session_start(&app->launch.setup.config, (unsigned)app->launch.speed, &callbacks, failure);
        }
    }
    free(title);
    if (app->session) {
        if (!app->beside) {
            app->beside = prepare_beside_start(app->options, app->settings, app->launch.iwad);
        }
        status = run(app);
        remember(app, status);
    } else if (app->output) {
        split_screen_end(app);
        audio_close(app->audio);
        app->audio = NULL;
        output_abandon(app->output);
    }
    app->output = NULL;
    return status;
}

// Nothing of the last game is left but the window and the settings.
static void clear(struct app *app)
{
    launch_free(&app->launch);
    free(app->options->state);
    app->options->state = NULL; // it is of that game
    atomic_store(&app->wake_queued, false); // a page may have taken its last event
    app->overlay = (struct overlay){0};
    app->paused = app->unfocused_pause = app->quitting = app->all_keys = false;
    app->held_input = 0;
    app->fast_forward = false;
    app->health = 0;
    app->live = (struct live){0};
    app->again = (struct again){0};
    app->switched = ACTION_NONE;
    memset(app->input.forwarded, 0, sizeof app->input.forwarded);
}

// What is drawn is put together in blocks of some hundred kilobytes, again and again: given back to the
// system in between, they would come back page by page, which takes longer than the drawing. These are the
// values that the library comes to by itself where larger blocks are freed.
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int window_run(struct options *options, struct settings *settings)
{
    keep_memory();
    struct failure failure = {0};
    struct app app = {.options = options, .settings = settings, .switched = ACTION_NONE};
    int status = STATUS_OK;
    bool good = !options->split || twin_open(&app.split.twin, options, settings, &failure);
    config_watch(settings);
    char *conflicts = bindings_conflicts(settings);
    if (conflicts) {
        log_line(LOG_WARNING, "%s", conflicts);
        toast_add(&app.toasts, "two things are on one key: %.*s", (int)strcspn(conflicts, "\n"), conflicts);
    }
    free(conflicts);
    if (good && input_bind(&app.input, settings, &failure)) {
        status = play_one(&app, &failure);
        while (app.next.count && !failure.text && !interrupt_seen()) {
            clear(&app);
            status = take_next(&app, &failure) ? play_one(&app, &failure) : STATUS_OK;
        }
    }
    if (failure.text && app.video && !app.quitting && !interrupt_seen()) {
        show_page(&app, "This cannot be played", failure.text, "any key: quit");
    }
    close_window(&app);
    prepare_beside_end(app.beside);
    twin_free(&app.split.twin);
    launch_free(&app.launch);
    text_list_free(&app.next);
    games_free();
    return failure.text ? failure_report(&failure) : status;
}
