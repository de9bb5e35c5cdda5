// SPDX-License-Identifier: MIT
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doom_options.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "input_file.h"
#include "wad_search.h"

// ---- files that the game reads ----

// A file of that sum among those that the user names, or NULL.
static char *find_named(const struct options *options, const char *sha256)
{
    for (size_t i = 0; i < options->doom_count; i++) {
        const struct text_list *values = &options->doom[i].values;
        for (size_t k = 0; k < values->count; k++) {
            char *path = wad_resolve(values->items[k]), sum[65];
            if (path && sha256_file(path, sum) && strcmp(sum, sha256) == 0) {
                return path;
            }
            free(path);
        }
    }
    return NULL;
}

// The file lies where it lay, or is named on the command line, or is found by its name as any WAD is.
static char *find_file(const struct options *options, const struct input_part *part)
{
    char sum[65], *path = find_named(options, part->sha256);
    if (!path) {
        path = path_is_file(part->guest) ? text_copy(part->guest) : wad_resolve(path_name(part->guest));
    }
    if (path && (!sha256_file(path, sum) || strcmp(sum, part->sha256) != 0)) {
        free(path);
        path = NULL;
    }
    return path;
}

static bool grant_reads(struct launch *launch, const struct options *options, struct failure *failure)
{
    const struct input_file *f = launch->replayed;
    for (size_t i = 0; i < f->read_count; i++) {
        char *path = find_file(options, &f->reads[i]);
        if (!path) {
            return fail(failure, STATUS_USAGE,
                        "--replay-input: the recording was made with %s, and no file like it is there.\n"
                        "It has the SHA-256 %s; if it lies elsewhere now, name it with -iwad or -file",
                        f->reads[i].guest, f->reads[i].sha256);
        }
        grants_add(&launch->setup.grants, path, text_copy(f->reads[i].guest), false);
        struct wad_info info;
        wad_inspect(path, &info);
        if (info.kind != WAD_NOT_WAD) {
            text_list_add(&launch->wads, text_copy(path));
        }
    }
    return true;
}

// ---- files that it may change ----

static bool write_file(const char *path, const struct input_part *file)
{
    char *folder = text_format("%.*s", (int)(path_name(path) - path), path);
    int fd = path_make_folder(folder) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
                                      : -1;
    FILE *to = fd < 0 ? NULL : fdopen(fd, "wb");
    bool good = to && fwrite(file->bytes, 1, file->size, to) == file->size;
    good = to && fclose(to) == 0 && good;
    free(folder);
    return good;
}

// Each folder or file is copied to one of its own, named by a number.
static bool grant_writes(struct launch *launch, struct failure *failure)
{
    const struct input_file *f = launch->replayed;
    bool good = scratch_make(&launch->copies);
    for (size_t i = 0; good && i < f->write_count; i++) {
        const struct input_part *place = &f->writes[i];
        char *copy = text_format("%s/%zu", launch->copies.path, i);
        good = !place->folder || path_make_folder(copy);
        for (size_t k = 0; good && k < f->file_count; k++) {
            if (path_is_at_or_below(f->files[k].guest, place->guest)) {
                char *path = text_format("%s%s", copy, f->files[k].guest + strlen(place->guest));
                good = write_file(path, &f->files[k]);
                free(path);
            }
        }
        grants_add(&launch->setup.grants, copy, text_copy(place->guest), true);
    }
    return good || fail(failure, STATUS_USAGE, "--replay-input: cannot copy the game's files to $TMPDIR: %s",
                        strerror(errno));
}

void replay_free(struct launch *launch)
{
    scratch_remove(&launch->copies);
    input_file_free(launch->replayed);
}

// ---- the launch ----

static bool check_options(const struct options *options, struct failure *failure)
{
    for (size_t i = 0; i < options->doom_count; i++) {
        const struct doom_option *option = &options->doom[i];
        if (option->files != DOOM_IWAD && option->files != DOOM_WADS && option->files != DOOM_READS) {
            return fail(failure, STATUS_USAGE,
                        "--replay-input: the recording says how the game is started; leave out %s",
                        option->name);
        }
    }
    return !options->record_input || fail(failure, STATUS_USAGE,
                                          "--record-input: what a recording brings about is not recorded "
                                          "again; leave out --replay-input");
}

static bool check_program(const struct launch *launch, struct failure *failure)
{
    char sum[65];
    if (!sha256_file(launch->program, sum)) {
        return fail(failure, STATUS_USAGE, "cannot read the game's program %s: %s", launch->program,
                    strerror(errno));
    }
    return strcmp(sum, launch->replayed->program) == 0 ||
           fail(failure, STATUS_USAGE,
                "--replay-input: the recording was made with another version of the game's program\n"
                "(SHA-256 %s, not %s): build that version, or name its program in NEURODOOM_GUEST",
                launch->replayed->program, sum);
}

// What follows that argument of the game, or NULL.
static const char *argument_after(const struct input_file *f, const char *name)
{
    for (size_t i = 0; i + 1 < f->arguments.count; i++) {
        if (text_same(f->arguments.items[i], name)) {
            return f->arguments.items[i + 1];
        }
    }
    return NULL;
}

bool replay_prepare(struct launch *launch, const struct options *options, struct failure *failure)
{
    launch->replayed =
        check_options(options, failure) ? input_file_read(options->replay_input, failure) : NULL;
    const struct input_file *f = launch->replayed;
    if (!f || !check_program(launch, failure) || !grant_reads(launch, options, failure) ||
        !grant_writes(launch, failure)) {
        return false;
    }
    if (f->cut) {
        log_line(LOG_WARNING, "%s was cut short: its %llu frames are replayed", options->replay_input,
                 (unsigned long long)f->extent.frames);
    }
    for (size_t i = 0; i < f->arguments.count; i++) {
        text_list_add(&launch->arguments, text_copy(f->arguments.items[i]));
    }
    for (size_t i = 0; i < f->environment.count; i++) {
        text_list_add(&launch->environment, text_copy(f->environment.items[i]));
    }
    const char *iwad = argument_after(f, "-iwad"), *timed = argument_after(f, "-timedemo"),
               *demo = timed ? timed : argument_after(f, "-playdemo");
    for (size_t i = 0; iwad && i < launch->setup.grants.count; i++) {
        if (strcmp(launch->setup.grants.list[i].guest, iwad) == 0) {
            launch->iwad = text_copy(launch->setup.grants.list[i].host);
        }
    }
    if (!launch->iwad) {
        return fail(failure, STATUS_USAGE, "--replay-input: the recording names no IWAD");
    }
    wad_inspect(launch->iwad, &launch->iwad_info);
    launch->demo = demo ? text_copy(path_name(demo)) : NULL;
    launch->timed_demo = timed != NULL;
    struct machine_config *machine = &launch->setup.config;
    machine->cwd = f->cwd;
    machine->ram = f->ram;
    machine->clock = f->virtual_clock ? MACHINE_CLOCK_VIRTUAL : MACHINE_CLOCK_REAL;
    machine->replay_input = f->log;
    machine->replay_size = f->extent.size;
    return true;
}
