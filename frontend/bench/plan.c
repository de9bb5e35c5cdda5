// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/base/paths.h"
#include "frontend/command/demo_files.h"
#include "frontend/command/doom_options.h"
#include "frontend/command/game_demos.h"
#include "frontend/command/launch.h"
#include "frontend/command/sides.h"
#include "frontend/command/wad_search.h"

static struct side *add_side(struct comparison *c, enum side_kind kind, const char *name)
{
    c->sides = memory_resize(c->sides, (c->side_count + 1) * sizeof *c->sides);
    struct side *side = &c->sides[c->side_count++];
    *side = (struct side){.kind = kind, .name = text_copy(name)};
    return side;
}

static bool add_compared(struct comparison *c, const char *ab, struct failure *failure)
{
    struct side_words sides[2];
    bool good = sides_parse(sides, "ab", ab, failure);
    for (int i = 0; good && i < 2; i++) {
        struct side *side = add_side(c, SIDE_OURS, sides[i].name);
        side->words = sides[i].words;
        sides[i].words = (struct text_list){0};
    }
    sides_free(sides);
    return good;
}

char *plan_guest(enum side_kind kind)
{
    char *program = launch_program();
    char *end = strstr(program, ".aarch64");
    if (kind != SIDE_NATIVE) {
        return program;
    }
    char *twin = text_format("%.*s.native", (int)(end ? end - program : (long)strlen(program)), program);
    free(program);
    return twin;
}

static bool add_against(struct comparison *c, const char *against, struct failure *failure)
{
    for (const char *at = against; *at;) {
        size_t length = strcspn(at, ",");
        bool native = length == 6 && strncmp(at, "native", 6) == 0;
        if (!native && (length != 4 || strncmp(at, "qemu", 4) != 0)) {
            return fail(failure, STATUS_USAGE,
                        "--against takes native and qemu, with a comma between, not \"%s\"", against);
        }
        char *guest = plan_guest(native ? SIDE_NATIVE : SIDE_QEMU);
        bool again = false;
        for (size_t s = 0; s < c->side_count; s++) {
            again |= c->sides[s].kind == (native ? SIDE_NATIVE : SIDE_QEMU);
        }
        bool there = access(guest, X_OK) == 0 && (native || access("/usr/bin/qemu-aarch64", X_OK) == 0);
        if (again) {
            // once is enough
        } else if (there) {
            add_side(c, native ? SIDE_NATIVE : SIDE_QEMU, native ? "native" : "qemu-aarch64");
        } else {
            text_list_add(&c->warnings,
                          native ? text_format("not compared with the native twin: there is no %s", guest)
                                 : text_copy("not compared with qemu-aarch64, which is not installed"));
        }
        free(guest);
        at += length + (at[length] == ',');
    }
    return true;
}

static struct work *add_work(struct comparison *c)
{
    c->works = memory_resize(c->works, (c->work_count + 1) * sizeof *c->works);
    c->works[c->work_count] = (struct work){0};
    return &c->works[c->work_count++];
}

static void add_demo(struct comparison *c, const char *wad, const char *demo)
{
    struct work *work = add_work(c);
    work->wad = text_copy(wad);
    work->demo = text_copy(demo);
    work->name = text_format("%s of %s", path_name(demo), path_name(wad));
}

// The shortest of Freedoom's is demo3; of any other game the first will do.
static const struct game_demo *quick_demo(const struct game_demos *demos)
{
    for (size_t i = 0; i < demos->count; i++) {
        if (strcmp(demos->items[i].name, "demo3") == 0) {
            return &demos->items[i];
        }
    }
    return &demos->items[0];
}

// A demo with no game named is one of the first game's that has it.
static bool add_named(struct comparison *c, const struct game_demos *demos, const char *name,
                      struct failure *failure)
{
    for (size_t i = 0; i < demos->count; i++) {
        if (text_same(demos->items[i].name, name)) {
            add_demo(c, demos->items[i].wad, demos->items[i].name);
            return true;
        }
    }
    char *folder = path_user(PATH_DATA, "demos"), *file = demo_files_find(name, folder);
    free(folder);
    if (!file) {
        return fail(failure, STATUS_USAGE, "--bench: there is no demo %s, neither in %s nor as a file", name,
                    demos->items[0].wad);
    }
    add_demo(c, demos->items[0].wad, file);
    free(file);
    return true;
}

static bool add_demos(struct comparison *c, const char *names, const struct options *options,
                      const struct settings *settings, struct failure *failure)
{
    struct game_demos demos;
    bool good = game_demos_find(&demos, options, settings, "--bench", failure);
    if (good && (!*names || strcmp(names, "quick") == 0)) {
        const struct game_demo *demo = quick_demo(&demos);
        add_demo(c, demo->wad, demo->name);
    } else if (good && strcmp(names, "full") == 0) {
        for (size_t i = 0; i < demos.count; i++) {
            add_demo(c, demos.items[i].wad, demos.items[i].name);
        }
    } else {
        for (const char *at = names; good && *at;) {
            size_t length = strcspn(at, ",");
            char *name = text_format("%.*s", (int)length, at);
            good = add_named(c, &demos, name, failure);
            free(name);
            at += length + (at[length] == ',');
        }
    }
    game_demos_free(&demos);
    return good;
}

static bool add_replay(struct comparison *c, const char *file, struct failure *failure)
{
    char *path = path_is_file(file) ? path_absolute(file) : NULL;
    if (!path) {
        char *why = path_tell_no_file(file);
        fail(failure, STATUS_USAGE, "--bench: %s", why);
        free(why);
        return false;
    }
    struct work *work = add_work(c);
    work->replay = path;
    work->name = text_copy(path_name(path));
    return true;
}

static bool makes_files(const struct options *o)
{
    return o->stats || o->profile || o->count || o->frame_hash || o->audio_hash || o->wav ||
           o->record_input || o->replay_input || o->state || o->screenshots.count || o->saves.count ||
           o->frames || o->explain_loop || doom_options_given(o, "-timedemo") ||
           doom_options_given(o, "-playdemo") || doom_options_given(o, "-record") ||
           doom_options_given(o, "-framehash") || doom_options_given(o, "-audiohash");
}

bool plan_is_full(const struct options *options)
{
    return strcmp(options->bench.works, "full") == 0;
}

bool plan_make(struct comparison *c, const struct options *options, const struct settings *settings,
               struct failure *failure)
{
    const struct bench_options *bench = &options->bench;
    const char *names = bench->works, *dot = strrchr(names, '.');
    bool replay = dot && strcmp(dot, ".replay") == 0;
    if (makes_files(options)) {
        return fail(
            failure, STATUS_USAGE,
            "--bench makes runs of its own, of whole demos: it takes no option that names a demo, a number "
            "of "
            "frames, or a file to be written but --csv, --json, --plot and --out. Demos are named so:\n"
            "    --bench=demo1,demo2");
    }
    for (size_t i = 0; bench->against && i < options->doom_count; i++) {
        if (options->doom[i].files != DOOM_IWAD) {
            return fail(failure, STATUS_USAGE, "--against compares the plain game: not with %s",
                        options->doom[i].name);
        }
    }
    if (replay && bench->against) {
        return fail(failure, STATUS_USAGE, "--against: recorded input is played by this program only");
    }
    return add_compared(c, bench->sides ? bench->sides : "loops", failure) &&
           (!bench->against || add_against(c, bench->against, failure)) &&
           (replay ? add_replay(c, names, failure) : add_demos(c, names, options, settings, failure));
}
