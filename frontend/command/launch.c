// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doom_options.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "game_check.h"
#include "replay.h"
#include "wad_damage.h"
#include "wad_search.h"

// Grants one file at its own absolute path and adds that path to the engine's arguments. Takes ownership.
static void grant_file(struct launch *launch, char *absolute, bool writable)
{
    text_list_add(&launch->arguments, text_copy(absolute));
    grants_add(&launch->setup.grants, absolute, text_copy(absolute), writable);
}

char *launch_data_folder(const char *name)
{
    char *folder = path_user(PATH_DATA, name);
    if (!path_make_folder(folder)) {
        log_line(LOG_WARNING, "cannot create the folder %s: %s; %s are not kept", folder, strerror(errno),
                 name);
        free(folder);
        return NULL;
    }
    return folder;
}

// The folders that are looked in, a line each with a newline in front; on the heap.
static char *searched_folders(void)
{
    struct text_list folders = {0};
    wad_folders(&folders);
    char *list = text_copy("");
    for (size_t i = 0; i < folders.count; i++) {
        bool here = strcmp(folders.items[i], ".") == 0;
        char *folder = here ? path_absolute(".") : NULL;
        char *longer = text_format("%s\n    %s%s", list, folder ? folder : folders.items[i],
                                   here ? " (the current folder)" : "");
        free(folder);
        free(list);
        list = longer;
    }
    text_list_free(&folders);
    return list;
}

static bool no_iwad(struct failure *failure)
{
    char *list = searched_folders();
    fail(failure, STATUS_NO_WAD,
         "no WAD: DOOM needs the data of a game, and none was found in%s\n"
         "The free game Freedoom will do:\n"
         "    sudo apt install freedoom\n"
         "or name a WAD of your own:\n"
         "    neurodoom -iwad /path/to/doom.wad",
         list);
    free(list);
    return false;
}

// Of one that was named, but not found.
static bool no_such_iwad(const char *given, struct failure *failure)
{
    char *why = path_tell_no_file(given);
    bool searched = !strchr(given, '/') && access(given, F_OK) != 0;
    char *list = searched ? searched_folders() : text_copy("");
    fail(failure, STATUS_NO_WAD,
         "no WAD: %s%s%s\n"
         "neurodoom --list-wads shows the WADs on this machine, and this installs free ones:\n"
         "    sudo apt install freedoom",
         why,
         searched                ? " in"
         : path_is_folder(given) ? ", and none of the WADs that are looked for, such as doom2.wad, is in it"
                                 : "",
         list);
    free(why);
    free(list);
    return false;
}

static bool no_file(const char *option, const char *given, struct failure *failure)
{
    char *why = path_tell_no_file(given);
    fail(failure, STATUS_USAGE, "%s: %s", option, why);
    free(why);
    return false;
}

static bool unusable_iwad(const char *given, const char *path, const struct wad_info *info,
                          struct failure *failure)
{
    switch (info->kind) {
    case WAD_PWAD:
        return fail(failure, STATUS_NO_WAD,
                    "%s is %s.\nIt plays on top of a game:\n    neurodoom -file %s\n"
                    "or, on a certain one:\n    neurodoom -iwad doom2.wad -file %s",
                    path, info->what, given, given);
    case WAD_UNREADABLE: return fail(failure, STATUS_NO_WAD, "cannot read the IWAD %s: %s", path, info->what);
    default:
        return fail(failure, STATUS_NO_WAD,
                    "%s is %s.\n-iwad takes the WAD of a game, such as doom2.wad or freedoom1.wad:\n"
                    "    neurodoom --list-wads       shows those on this machine\n"
                    "    sudo apt install freedoom   installs free ones",
                    path, info->what);
    }
}

// The first map of the add-ons: the game that they are made for has it, too.
static bool first_map(const struct options *options, char map[9])
{
    bool found = false;
    for (size_t i = 0; !found && i < options->doom_count; i++) {
        for (size_t k = 0; options->doom[i].files == DOOM_WADS && !found && k < options->doom[i].values.count;
             k++) {
            char *path = wad_resolve(options->doom[i].values.items[k]);
            found = path && wad_first_map(path, map);
            free(path);
        }
    }
    return found;
}

static bool choose_iwad(struct launch *launch, const struct options *options, const struct settings *settings,
                        struct failure *failure)
{
    const struct doom_option *option = doom_options_given(options, "-iwad");
    const char *given = option ? option->values.items[0] : settings->iwad;
    // What was played last may be gone meanwhile, or not be what add-ons are made for.
    if (!option && *given && !config_is_users("game.iwad")) {
        wad_inspect(given, &launch->iwad_info);
        char map[9];
        bool fits = !first_map(options, map) || wad_has_lump(given, map);
        given = launch->iwad_info.kind == WAD_IWAD && fits ? given : "";
    }
    if (!*given) {
        char map[9];
        bool needs_map = first_map(options, map);
        launch->iwad = needs_map ? wad_find_any(map) : NULL;
        launch->iwad = launch->iwad ? launch->iwad : wad_find_any(NULL);
        if (!launch->iwad) {
            return no_iwad(failure);
        }
    } else {
        launch->iwad = wad_resolve(given);
        if (!launch->iwad) {
            return no_such_iwad(given, failure);
        }
    }
    wad_inspect(launch->iwad, &launch->iwad_info);
    if (launch->iwad_info.kind != WAD_IWAD) {
        return unusable_iwad(given, launch->iwad, &launch->iwad_info, failure);
    }
    return true;
}

static bool add_wad(struct launch *launch, const char *option, const char *given, struct failure *failure)
{
    char *path = wad_resolve(given);
    if (!path) {
        return no_file(option, given, failure);
    }
    struct wad_info info;
    wad_inspect(path, &info);
    size_t length = strlen(path);
    bool named_wad = length > 4 && text_same(path + length - 4, ".wad");
    bool good = info.kind == WAD_PWAD || info.kind == WAD_IWAD || info.kind == WAD_OTHER_GAME;
    // The engine takes a file of any other name as one lump, whatever it holds. An IWAD that is no complete
    // game may still serve as an add-on, so only its directory has to be sound.
    if (!good && (named_wad || info.kind == WAD_UNREADABLE) && strncmp(info.what, "an IWAD", 7) != 0) {
        fail(failure, STATUS_USAGE, "%s: %s is %s", option, path, info.what);
        free(path);
        return false;
    }
    text_list_add(&launch->wads, text_copy(path));
    grant_file(launch, path, false);
    return true;
}

static bool add_read(struct launch *launch, const char *option, const char *given, struct failure *failure)
{
    char *path = path_is_file(given) ? path_absolute(given) : NULL;
    if (!path) {
        return no_file(option, given, failure);
    }
    grant_file(launch, path, false);
    return true;
}

// A file that the engine writes at the end, such as its configuration: it has to exist to be granted.
static bool add_written(struct launch *launch, const char *option, const char *given, struct failure *failure)
{
    int fd = open(given, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const char *wrong = fd < 0 ? strerror(errno) : path_is_file(given) ? NULL : "it is no regular file";
    if (fd >= 0) {
        close(fd);
    }
    if (wrong) {
        return fail(failure, STATUS_USAGE, "%s: cannot write %s: %s", option, given, wrong);
    }
    grant_file(launch, path_absolute(given), true);
    return true;
}

static void add_demo(struct launch *launch, const char *given, const char *demos)
{
    char *path = demo_files_find(given, demos);
    if (path) {
        grant_file(launch, path, false);
    } else { // the engine looks for a lump of that name
        text_list_add(&launch->arguments, text_copy(given));
    }
    free(launch->demo);
    launch->demo = text_copy(path_name(given));
}

static bool add_recording(struct launch *launch, const char *given, const char *demos,
                          struct failure *failure)
{
    char *name = demo_files_record(&launch->recording, given, demos, failure);
    if (name) {
        text_list_add(&launch->arguments, name);
    }
    return name;
}

static bool add_doom_option(struct launch *launch, const struct doom_option *option, const char *demos,
                            struct failure *failure)
{
    text_list_add(&launch->arguments, text_copy(option->name));
    bool good = true;
    for (size_t i = 0; good && i < option->values.count; i++) {
        const char *value = option->values.items[i];
        switch (option->files) {
        case DOOM_IWAD: break; // comes first, in prepare_game
        case DOOM_NO_FILES: text_list_add(&launch->arguments, text_copy(value)); break;
        case DOOM_WADS: good = add_wad(launch, option->name, value, failure); break;
        case DOOM_READS: good = add_read(launch, option->name, value, failure); break;
        case DOOM_WRITTEN: good = add_written(launch, option->name, value, failure); break;
        case DOOM_DEMO_READ: add_demo(launch, value, demos); break;
        case DOOM_DEMO_WRITTEN: good = add_recording(launch, value, demos, failure); break;
        }
    }
    return good;
}

char *launch_program(void)
{
    const char *guest = getenv("NEURODOOM_GUEST");
    return guest && *guest ? text_copy(guest) : path_installed(PREFIX_GUEST);
}

// What the options ask for: WADs, files, the engine's command line, the clock.
static bool prepare_game(struct launch *launch, const struct options *options,
                         const struct settings *settings, struct failure *failure)
{
    if (!choose_iwad(launch, options, settings, failure)) {
        return false;
    }
    text_list_add(&launch->arguments, text_copy("doom"));
    text_list_add(&launch->arguments, text_copy("-iwad"));
    text_list_add(&launch->wads, text_copy(launch->iwad));
    grant_file(launch, text_copy(launch->iwad), false);

    char *saves = launch_data_folder("saves");
    char *demos = launch_data_folder("demos");
    bool good = true;
    for (size_t i = 0; good && i < options->doom_count; i++) {
        if (options->doom[i].files != DOOM_IWAD) {
            good = add_doom_option(launch, &options->doom[i], demos, failure);
        }
    }
    good = good && game_check(options, &launch->wads, demos, failure);
    const struct doom_option *start = options->state ? doom_options_start(options) : NULL;
    if (start) {
        log_line(LOG_WARNING, "--state goes on where it was saved, and not at what %s says", start->name);
    }
    struct machine_config *machine = &launch->setup.config;
    machine->cwd = demos ? GUEST_DEMOS : NULL;
    if (saves) {
        grants_add(&launch->setup.grants, saves, text_copy(GUEST_SAVES), true);
        static const char *const environment[] = {LAUNCH_SAVES_ENVIRONMENT};
        for (size_t i = 0; i < sizeof environment / sizeof environment[0]; i++) {
            text_list_add(&launch->environment, text_copy(environment[i]));
        }
    }
    if (demos) {
        grants_add(&launch->setup.grants, demos, text_copy(GUEST_DEMOS), true);
    }
    launch->timed_demo = doom_options_given(options, "-timedemo") != NULL;
    bool virtual_clock =
        settings->clock == CLOCK_VIRTUAL || (settings->clock == CLOCK_AUTO && options->headless);
    machine->clock = virtual_clock ? MACHINE_CLOCK_VIRTUAL : MACHINE_CLOCK_REAL;
    machine->ram = (uint64_t)settings->ram << 20;
    machine->record_input = options->record_input || options->split; // the right side replays it
    return good;
}

bool launch_prepare(struct launch *launch, const struct options *options, const struct settings *settings,
                    struct failure *failure)
{
    *launch = (struct launch){0};
    launch->program = launch_program();
    if (!(options->replay_input ? replay_prepare(launch, options, failure)
                                : prepare_game(launch, options, settings, failure)) ||
        !machine_setup_fill(&launch->setup, options, settings, false, failure)) {
        return false;
    }
    static const char *const no_environment[] = {NULL};
    struct machine_config *machine = &launch->setup.config;
    bool virtual_clock = machine->clock == MACHINE_CLOCK_VIRTUAL;
    machine->program = launch->program;
    machine->argv = (const char *const *)launch->arguments.items;
    machine->envp =
        launch->environment.count ? (const char *const *)launch->environment.items : no_environment;
    machine->device = true;
    machine->profile = options->profile;
    machine->count = options->count;
    machine->deterministic = virtual_clock || machine->record_input || machine->replay_input;
    // Nobody looks on while a replay runs without a window.
    bool hurries = virtual_clock || (machine->replay_input && options->headless);
    launch->speed = settings->speed != SPEED_AUTO ? settings->speed : hurries ? SPEED_MAX : 100;
    return true;
}

void launch_blame_wads(const struct launch *launch, struct failure *failure)
{
    char *list = text_copy("");
    bool damaged = false;
    for (size_t i = 0; i < launch->wads.count; i++) {
        char *damage = wad_find_damage(launch->wads.items[i]);
        damaged |= damage != NULL;
        char *longer = text_format("%s\n    %s%s%s", list, launch->wads.items[i], damage ? ": " : "",
                                   damage ? damage : "");
        free(list);
        free(damage);
        list = longer;
    }
    // An error of the engine says itself what is wrong, and that need not lie in a WAD.
    const char *text = "The engine trusts what is in a WAD; one that is damaged, or made for another engine, "
                       "is the likely cause:";
    if (failure->status == STATUS_ENGINE && !damaged) {
        text = launch->wads.count > 1 ? "A WAD that is made for another engine may be the cause:" : NULL;
    }
    if (text) {
        // Before the report, which is long: a window shows what comes first.
        const char *rest = failure->text + strcspn(failure->text, "\n");
        char *all = text_format("%.*s\n%s%s%s", (int)(rest - failure->text), failure->text, text, list, rest);
        free(failure->text);
        failure->text = all;
    }
    free(list);
}

void launch_free(struct launch *launch)
{
    machine_setup_free(&launch->setup);
    replay_free(launch);
    demo_files_free(&launch->recording);
    free(launch->program);
    free(launch->iwad);
    free(launch->demo);
    text_list_free(&launch->wads);
    text_list_free(&launch->arguments);
    text_list_free(&launch->environment);
    *launch = (struct launch){0};
}
