// SPDX-License-Identifier: MIT
#include "doctor.h"

#include <SDL.h>
#include <dlfcn.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio.h"
#include "core/core.h"
#include "display.h"
#include "font.h"
#include "frontend/base/host.h"
#include "frontend/base/models.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "frontend/base/text.h"
#include "frontend/command/wad.h"
#include "frontend/command/wad_search.h"
#include "guest/device_page.h"

#define TRANSLATOR_MODULE "translate_llvm.so"

static bool failed; // a line of the examination has said FAIL

// One line of findings; more lines of advice in text are indented below it.
static void line(FILE *stream, const char *verdict, const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void line(FILE *stream, const char *verdict, const char *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_format_list(format, arguments);
    va_end(arguments);
    failed |= strcmp(verdict, "FAIL") == 0;
    fprintf(stream, "%-5s %-11s ", verdict, subject);
    for (const char *p = text; *p; p++) {
        fputc(*p, stream);
        if (*p == '\n') {
            fprintf(stream, "%18s", "");
        }
    }
    fputc('\n', stream);
    free(text);
}

static void examine_host(FILE *stream)
{
    struct host_machine host;
    host_describe_machine(&host);
    line(stream, "info", "program", "neurodoom %s (%s), %s", host_version, host_git, host_flags);
    line(stream, "info", "machine", "%s, %u cores, %.1f GiB; %s; %s", host.cpu, host.cores,
         (double)host.memory / (1 << 30), host.system, host.kernel);
}

static void examine_guest(FILE *stream)
{
    const char *variable = getenv("NEURODOOM_GUEST");
    char *program = variable && *variable ? text_copy(variable) : path_installed(PREFIX_GUEST);
    static const char *const arguments[] = {"doom", NULL};
    struct machine_config config = {.program = program, .argv = arguments, .envp = arguments + 1};
    struct error error;
    machine *m = machine_create(&config, &error);
    if (m) {
        line(stream, "ok", "guest", "%s", program);
        machine_destroy(m);
    } else {
        line(stream, "FAIL", "guest", "%s\n./play --build-only builds it", error.text);
    }
    free(program);
}

// The module with LLVM is loaded only when there is something to compile; here, to see whether that will
// work.
static void examine_engines(const struct settings *settings, FILE *stream)
{
    const char *chosen = machine_engine_name((enum machine_engine)settings->engine);
    enum machine_engine engine;
    if (!machine_engine_by_name("translate", &engine)) {
        line(stream, "n/a", "engine",
             "interp; built without LLVM 19 and clang-19, so there is no translator");
        return;
    }
    char *module = path_installed(PREFIX_LIBRARY "/" TRANSLATOR_MODULE);
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
        line(stream, "ok", "engine", "%s (of: %s); the translator is in %s", chosen, machine_engine_names(),
             module);
        dlclose(handle);
    } else {
        line(stream, "WARN", "engine",
             "%s (of: %s), but nothing new can be translated: %s\n"
             "./play --build-only builds it",
             chosen, machine_engine_names(), dlerror());
    }
    free(module);
}

static void examine_wads(const struct settings *settings, FILE *stream)
{
    char *path = *settings->iwad ? wad_resolve(settings->iwad) : NULL;
    if (!path && !config_is_users("game.iwad")) {
        path = wad_find_any(NULL);
    }
    if (!path) {
        line(stream, "FAIL", "WAD", "%s%s found\nsudo apt install freedoom, or neurodoom -iwad FILE",
             *settings->iwad ? settings->iwad : "none", *settings->iwad ? " not" : "");
        return;
    }
    struct wad_info info;
    wad_inspect(path, &info);
    line(stream, info.kind == WAD_IWAD ? "ok" : "FAIL", "WAD", "%s: %s", path, info.what);
    free(path);
}

static void examine_display(FILE *stream)
{
    struct failure failure = {0};
    if (!display_open(&failure)) {
        line(stream, "FAIL", "display", "%s", failure.text);
        free(failure.text);
        return;
    }
    SDL_DisplayMode mode = {0};
    SDL_GetCurrentDisplayMode(0, &mode);
    line(stream, "ok", "display", "SDL driver %s, %d display%s, %dx%d at %d Hz", SDL_GetCurrentVideoDriver(),
         SDL_GetNumVideoDisplays(), SDL_GetNumVideoDisplays() == 1 ? "" : "s", mode.w, mode.h,
         mode.refresh_rate);
    display_close();
}

static void examine_sound(FILE *stream)
{
    char error[256];
    struct audio *a = audio_open(error, sizeof error);
    if (a) {
        line(stream, "ok", "sound", "SDL driver %s, %u Hz", audio_driver(), DEVICE_AUDIO_RATE);
    } else {
        line(stream, "n/a", "sound", "%s: the game plays silently", error);
    }
    audio_close(a);
}

static void examine_pads(FILE *stream)
{
    int pads = 0;
    if (SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) != 0) {
        line(stream, "WARN", "pad", "%s", SDL_GetError());
        return;
    }
    for (int i = 0; i < SDL_NumJoysticks(); i++) {
        const char *name = SDL_JoystickNameForIndex(i);
        bool known = SDL_IsGameController(i);
        line(stream, known ? "ok" : "WARN", "pad", "%s%s", name ? name : "unnamed",
             known ? "" : ": SDL does not know its buttons; SDL_GAMECONTROLLERCONFIG tells it");
        pads++;
    }
    if (!pads) {
        line(stream, "n/a", "pad", "none is plugged in");
    }
    SDL_QuitSubSystem(SDL_INIT_GAMECONTROLLER);
}

static void examine_settings(const struct settings *settings, FILE *stream)
{
    if (settings->wrong) {
        line(stream, "FAIL", "settings", "%s\nneurodoom does not start before that is mended",
             settings->wrong);
    }
}

static void examine_folders(FILE *stream)
{
    static const struct {
        enum path_kind kind;
        const char *subject, *holds;
        bool is_read; // only
    } folders[] = {
        {PATH_CONFIG, "settings", "neurodoom.ini, if you write one", true},
        {PATH_DATA, "data", "saves, demos, benchmarks, screenshots", false},
        {PATH_STATE, "state", "neurodoom.log, what was last switched", false},
        {PATH_CACHE, "cache", "translated code", false},
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = path_user(folders[i].kind, NULL);
        // What matters is the nearest that exists: the rest is created when needed, if that is a folder.
        char *nearest = text_copy(path);
        while (access(nearest, F_OK) != 0 && strrchr(nearest, '/') > nearest) {
            *strrchr(nearest, '/') = '\0';
        }
        bool good = folders[i].is_read || (path_is_folder(nearest) && access(nearest, W_OK) == 0);
        line(stream, good ? "ok" : "WARN", folders[i].subject, "%s (%s)%s", path, folders[i].holds,
             good ? "" : ": cannot be written, nothing there is kept");
        free(nearest);
        free(path);
    }
}

static void examine_font(const struct settings *settings, FILE *stream)
{
    struct fonts *fonts = fonts_create(settings->overlay_font);
    if (fonts_are_built_in(fonts)) {
        line(stream, "n/a", "font", "B612 is not in %s (sudo apt install fonts-b612): the built-in one",
             settings->overlay_font);
    } else {
        line(stream, "ok", "font", "B612, in %s", settings->overlay_font);
    }
    fonts_free(fonts);
}

static void examine_nets(FILE *stream)
{
    char base[4096];
    struct error error;
    if (!find_model("dispatch-10279", NULL, base, sizeof base)) {
        line(stream, "n/a", "dispatch net", "dispatch-10279.npy is nowhere: the tables dispatch");
    } else if (!machine_check_dispatch(base, &error)) {
        line(stream, "WARN", "dispatch net", "%s", error.text);
    } else {
        line(stream, "ok", "dispatch net", "%s.npy", base);
    }
    const char *missing = action_missing(ACTION_LOOPS);
    if (missing) {
        line(stream, "n/a", "loop nets", "%s", missing);
    } else if (find_loop_models(NULL, base, sizeof base)) {
        line(stream, "ok", "loop nets", "%s/{%s,%s,%s}.npy", base, loop_models[0], loop_models[1],
             loop_models[2]);
    } else {
        line(stream, "n/a", "loop nets", "{%s,%s,%s}.npy are nowhere: no loop is replaced", loop_models[0],
             loop_models[1], loop_models[2]);
    }
}

bool doctor_examine(const struct settings *settings, FILE *stream)
{
    failed = false;
    examine_host(stream);
    examine_guest(stream);
    examine_engines(settings, stream);
    examine_wads(settings, stream);
    examine_display(stream);
    examine_font(settings, stream);
    examine_settings(settings, stream);
    examine_folders(stream);
    examine_sound(stream);
    examine_pads(stream);
    examine_nets(stream);
    return !failed;
}

void doctor_features(FILE *stream)
{
    SDL_version sdl;
    enum machine_engine engine;
    char *module = path_installed(PREFIX_LIBRARY "/" TRANSLATOR_MODULE);
    const char *translate = !machine_engine_by_name("translate", &engine) ? "no (built without LLVM)"
                            : path_is_file(module)                        ? "yes"
                                                   : "no (" TRANSLATOR_MODULE " is missing)";
    free(module);
    SDL_GetVersion(&sdl);
    bool loops = !action_missing(ACTION_LOOPS);
    fprintf(stream,
            "engine interp         yes\n"
            "engine translate      %s\n"
            "neural                yes (dispatch%s)\n"
            "loops verify          %s\n"
            "idle                  yes\n"
            "window                yes (SDL %d.%d.%d)\n"
            "headless              yes\n"
            "record csv json       yes\n"
            "bench ab              yes\n"
            "sound                 yes\n"
            "pad                   yes\n"
            "states                yes\n"
            "replay                yes\n"
            "screenshots           yes (libpng %s)\n",
            translate, loops ? ", loops" : "", loops ? "yes" : "no (built without LLVM)", sdl.major,
            sdl.minor, sdl.patch, png_get_libpng_ver(NULL));
}
