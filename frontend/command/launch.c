// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/base/models.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"

#define GUEST_SAVES "/saves"
#define GUEST_DEMOS "/demos"

// Takes ownership of host and guest.
static void grant(struct launch *launch, char *host, char *guest, bool writable)
{
    launch->grants = memory_resize(launch->grants, (launch->grant_count + 1) * sizeof *launch->grants);
    launch->grants[launch->grant_count++] =
        (struct machine_grant){.host = host, .guest = guest, .writable = writable};
}

// Grants one file at its own absolute path and adds that path to the engine's arguments. Takes ownership.
static void grant_file(struct launch *launch, char *absolute, bool writable)
{
    text_list_add(&launch->arguments, text_copy(absolute));
    grant(launch, absolute, text_copy(absolute), writable);
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

static bool no_iwad(struct failure *failure)
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
    fail(failure, STATUS_NO_WAD,
         "no WAD: DOOM needs the data of a game, and none was found in%s\n"
         "The free game Freedoom will do:\n"
         "    sudo apt install freedoom\n"
         "or name a WAD of your own:\n"
         "    neurodoom -iwad /path/to/doom.wad",
         list);
    free(list);
    text_list_free(&folders);
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

static bool choose_iwad(struct launch *launch, const struct options *options, const struct settings *settings,
                        struct failure *failure)
{
    const struct doom_option *option = options_doom(options, "-iwad");
    const char *given = option ? option->values.items[0] : settings->iwad;
    if (!*given) {
        launch->iwad = wad_find_any();
        if (!launch->iwad) {
            return no_iwad(failure);
        }
    } else {
        launch->iwad = wad_resolve(given);
        if (!launch->iwad) {
            return fail(failure, STATUS_NO_WAD,
                        "no WAD: there is no file %s%s\n"
                        "    neurodoom --list-wads       shows the WADs on this machine\n"
                        "    sudo apt install freedoom   installs free ones",
                        given, strchr(given, '/') ? "" : " in the folders that are searched");
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
        return fail(failure, STATUS_USAGE, "%s: there is no file %s", option, given);
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
    grant_file(launch, path, false);
    return true;
}

static bool add_read(struct launch *launch, const char *option, const char *given, struct failure *failure)
{
    char *path = path_is_file(given) ? path_absolute(given) : NULL;
    if (!path) {
        return fail(failure, STATUS_USAGE, "%s: there is no file %s", option, given);
    }
    grant_file(launch, path, false);
    return true;
}

// The engine's own configuration file: it is written at the end, so it has to exist to be granted.
static bool add_configuration(struct launch *launch, const char *option, const char *given,
                              struct failure *failure)
{
    int fd = open(given, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail(failure, STATUS_USAGE, "%s: cannot write %s: %s", option, given, strerror(errno));
    }
    close(fd);
    grant_file(launch, path_absolute(given), true);
    return true;
}

// A demo file as given, here or in the demo folder; what is no file is left to the engine, as a lump's name.
static void add_demo(struct launch *launch, const char *given, const char *demos)
{
    size_t length = strlen(given);
    const char *suffix = length > 4 && text_same(given + length - 4, ".lmp") ? "" : ".lmp";
    char *here = text_format("%s%s", given, suffix);
    char *kept = text_format("%s/%s%s", demos ? demos : ".", path_name(given), suffix);
    char *path = path_is_file(here) ? path_absolute(here) : path_is_file(kept) ? path_absolute(kept) : NULL;
    if (path) {
        grant_file(launch, path, false);
    } else {
        text_list_add(&launch->arguments, text_copy(given));
    }
    free(launch->demo);
    launch->demo = text_copy(path_name(given));
    free(here);
    free(kept);
}

// When the file was last written, in ns; 0: it does not exist.
static int64_t changed(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec : 0;
}

static bool add_recording(struct launch *launch, const char *given, const char *demos,
                          struct failure *failure)
{
    char *name = text_copy(path_name(given));
    size_t length = strlen(name);
    if (length > 4 && text_same(name + length - 4, ".lmp")) {
        name[length - 4] = '\0';
    }
    if (!*name || !demos) {
        free(name);
        return fail(failure, STATUS_USAGE, "-record: %s",
                    demos ? "a file has to be named, not a folder" : "there is no folder to record demos in");
    }
    free(launch->recorded);
    free(launch->recorded_target);
    launch->recorded = text_format("%s/%s.lmp", demos, name);
    launch->recorded_target = NULL;
    if (strchr(given, '/')) {
        char *folder = text_format("%.*s", (int)(path_name(given) - given), given);
        if (!path_is_folder(folder)) {
            fail(failure, STATUS_USAGE, "-record: there is no folder %s", folder);
            free(folder);
            free(name);
            return false;
        }
        launch->recorded_target = text_format("%s%s.lmp", folder, name);
        free(folder);
    }
    launch->recorded_before = changed(launch->recorded);
    text_list_add(&launch->arguments, name);
    return true;
}

static bool add_doom_option(struct launch *launch, const struct doom_option *option, const char *demos,
                            struct failure *failure)
{
    text_list_add(&launch->arguments, text_copy(option->name));
    bool good = true;
    for (size_t i = 0; good && i < option->values.count; i++) {
        const char *value = option->values.items[i];
        switch (option->files) {
        case DOOM_IWAD: break; // comes first, in launch_prepare
        case DOOM_NO_FILES: text_list_add(&launch->arguments, text_copy(value)); break;
        case DOOM_WADS: good = add_wad(launch, option->name, value, failure); break;
        case DOOM_READS: good = add_read(launch, option->name, value, failure); break;
        case DOOM_CONFIGURATION: good = add_configuration(launch, option->name, value, failure); break;
        case DOOM_DEMO_READ: add_demo(launch, value, demos); break;
        case DOOM_DEMO_WRITTEN: good = add_recording(launch, value, demos, failure); break;
        }
    }
    return good;
}

static bool is_at_or_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/' || length == 1);
}

// The folder for translated code, or NULL. That is code for the host: the guest must not be able to write
// anything in there, nor the folder itself.
static char *make_cache_folder(const struct launch *launch)
{
    char *wanted = path_user(PATH_CACHE, NULL);
    char *folder = path_make_folder(wanted) ? path_absolute(wanted) : NULL;
    if (!folder) {
        log_line(LOG_WARNING, "cannot create the folder %s: %s; translated code is not kept", wanted,
                 strerror(errno));
    }
    free(wanted);
    for (size_t i = 0; folder && i < launch->grant_count; i++) {
        const struct machine_grant *grant = &launch->grants[i];
        char *host = grant->writable ? path_absolute(grant->host) : NULL;
        if (host && (is_at_or_below(folder, host) || is_at_or_below(host, folder))) {
            log_line(LOG_WARNING, "the game may write to %s, so translated code is not kept in %s", host,
                     folder);
            free(folder);
            folder = NULL;
        }
        free(host);
    }
    return folder;
}

static void prepare_nets(struct launch *launch, const struct options *options,
                         const struct settings *settings)
{
    struct machine_config *machine = &launch->machine;
    if (settings->neural || options->dispatch_given) {
        machine->dispatch = (enum machine_dispatch)settings->dispatch;
    }
    machine->loops = settings->loops && (settings->neural || options->loops_given);
    machine->idle = settings->idle && (settings->neural || options->idle_given);
    machine->verify = settings->verify;
    if (find_model("dispatch-10279", NULL, launch->dispatch_model, sizeof launch->dispatch_model)) {
        machine->dispatch_model = launch->dispatch_model;
    } else {
        launch->dispatch_model[0] = '\0';
        log_line(LOG_WARNING, "there is no dispatch net (dispatch-10279.npy): the tables dispatch");
    }
    const char *missing = action_missing(ACTION_LOOPS);
    if (!missing && find_loop_models(NULL, launch->loop_models, sizeof launch->loop_models)) {
        machine->loop_models = launch->loop_models;
        return;
    }
    launch->loop_models[0] = '\0';
    if (machine->loops || machine->verify) {
        log_line(LOG_WARNING, "%s%s", missing ? missing : "there are no nets for loops: no loop is replaced",
                 machine->verify ? ", and --verify has nothing to compare" : "");
    }
}

bool launch_prepare(struct launch *launch, const struct options *options, const struct settings *settings,
                    struct failure *failure)
{
    *launch = (struct launch){0};
    const char *guest = getenv("NEURODOOM_GUEST");
    launch->program = guest && *guest ? text_copy(guest) : path_installed(PREFIX_GUEST);
    if (!choose_iwad(launch, options, settings, failure)) {
        return false;
    }
    text_list_add(&launch->arguments, text_copy("doom"));
    text_list_add(&launch->arguments, text_copy("-iwad"));
    grant_file(launch, text_copy(launch->iwad), false);

    char *saves = launch_data_folder("saves");
    char *demos = launch_data_folder("demos");
    bool good = true;
    for (size_t i = 0; good && i < options->doom_count; i++) {
        if (options->doom[i].files != DOOM_IWAD) {
            good = add_doom_option(launch, &options->doom[i], demos, failure);
        }
    }
    launch->machine.cwd = demos ? GUEST_DEMOS : NULL;
    if (saves) {
        grant(launch, saves, text_copy(GUEST_SAVES), true);
        text_list_add(&launch->environment, text_copy("HOME=" GUEST_SAVES));
        text_list_add(&launch->environment, text_copy("NEURODOOM_SAVEDIR=" GUEST_SAVES));
    }
    if (demos) {
        grant(launch, demos, text_copy(GUEST_DEMOS), true);
    }
    if (!good) {
        return false;
    }

    launch->timed_demo = options_doom(options, "-timedemo") != NULL;
    bool virtual_clock =
        settings->clock == CLOCK_VIRTUAL || (settings->clock == CLOCK_AUTO && options->headless);
    launch->speed = settings->speed != SPEED_AUTO ? settings->speed : virtual_clock ? SPEED_MAX : 100;
    static const char *const no_environment[] = {NULL};
    launch->machine.program = launch->program;
    launch->machine.argv = (const char *const *)launch->arguments.items;
    launch->machine.envp =
        launch->environment.count ? (const char *const *)launch->environment.items : no_environment;
    launch->machine.grants = launch->grants;
    launch->machine.grant_count = launch->grant_count;
    launch->cache = make_cache_folder(launch);
    launch->machine.engine = (enum machine_engine)settings->engine;
    launch->machine.cache_folder = launch->cache;
    launch->library = path_installed(PREFIX_LIBRARY);
    launch->machine.library_folder = launch->library;
    launch->machine.ram = (uint64_t)settings->ram << 20;
    launch->machine.device = true;
    prepare_nets(launch, options, settings);
    launch->machine.deterministic = virtual_clock;
    launch->machine.clock = virtual_clock ? MACHINE_CLOCK_VIRTUAL : MACHINE_CLOCK_REAL;
    return true;
}

// rename, or a copy where the target is on another file system.
static bool move_file(const char *from, const char *to)
{
    if (rename(from, to) == 0) {
        return true;
    }
    FILE *stream = errno == EXDEV ? fopen(from, "re") : NULL;
    struct new_file copy;
    if (!stream || !new_file_open(&copy, to)) {
        if (stream) {
            fclose(stream);
        }
        return false;
    }
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stream)) > 0;) {
        fwrite(buffer, 1, n, copy.stream);
    }
    bool good = !ferror(stream);
    fclose(stream);
    if (!good) {
        new_file_discard(&copy);
        return false;
    }
    return new_file_commit(&copy) && unlink(from) == 0;
}

void launch_finish(const struct launch *launch)
{
    if (!launch->recorded || changed(launch->recorded) == launch->recorded_before) {
        return;
    }
    const char *place = launch->recorded;
    if (launch->recorded_target) {
        if (move_file(launch->recorded, launch->recorded_target)) {
            place = launch->recorded_target;
        } else {
            log_line(LOG_WARNING, "cannot move the recording to %s: %s", launch->recorded_target,
                     strerror(errno));
        }
    }
    log_line(LOG_INFO, "the demo is in %s", place);
}

void launch_free(struct launch *launch)
{
    for (size_t i = 0; i < launch->grant_count; i++) {
        free((char *)launch->grants[i].host);
        free((char *)launch->grants[i].guest);
    }
    free(launch->grants);
    free(launch->program);
    free(launch->cache);
    free(launch->library);
    free(launch->iwad);
    free(launch->demo);
    free(launch->recorded);
    free(launch->recorded_target);
    text_list_free(&launch->arguments);
    text_list_free(&launch->environment);
    *launch = (struct launch){0};
}

int launch_play(const struct options *options, struct settings *settings,
                int (*run)(const struct options *options, struct settings *settings))
{
    char *folder = path_user(PATH_STATE, NULL);
    char *path = path_user(PATH_STATE, "neurodoom.log");
    if (path_make_folder(folder)) {
        log_open(path);
    }
    free(folder);
    free(path);
    interrupt_catch();
    int status = run(options, settings);
    log_close();
    return status;
}
