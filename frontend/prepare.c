// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "frontend/base/interrupt.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/prefix.h"
#include "frontend/command/game_demos.h"
#include "frontend/command/launch.h"
#include "frontend/command/machine_setup.h"
#include "frontend/command/prepared.h"
#include "frontend/session/session.h"

struct preparation {
    const struct options *options;
    struct settings settings;
    char *folder;
    bool is_shared; // it is the installation's
    struct game_demos demos;
    struct scratch saves; // what a game writes there, the next one reads
    uint64_t regions, compiled; // there are; made by this pass
};

// Sound is slow, and all demos play it alike: one a game is enough, once.
static bool has_sound(const struct preparation *p, unsigned pass, size_t i)
{
    return pass == 0 && (i == 0 || strcmp(p->demos.items[i].wad, p->demos.items[i - 1].wad) != 0);
}

static bool write_nothing(FILE *to, const void *user)
{
    (void)to;
    (void)user;
    return true;
}

// From here on all users of the installation may read what is there.
static void mark_complete(const struct preparation *p)
{
    char *mark = text_format("%s/" PREPARED_COMPLETE, p->folder);
    if (!file_replace(AT_FDCWD, mark, 0644, false, write_nothing, NULL) ||
        (p->is_shared && chmod(p->folder, 0755) != 0)) {
        fprintf(stderr, "prepare: %s: %s\n", mark, strerror(errno));
    }
    free(mark);
}

// Without a folder of its own the user's cache. While code is written there it is this user's alone.
static bool find_folder(struct preparation *p, struct failure *failure)
{
    char *prepared = prepared_folder();
    char *wanted = prepared ? text_copy(prepared) : path_user(PATH_CACHE, NULL);
    char *installed = path_installed(PREFIX_PREPARED);
    p->is_shared = strcmp(wanted, installed) == 0;
    if (path_make_folder(wanted) && (!p->is_shared || chmod(wanted, 0700) == 0)) {
        p->folder = path_absolute(wanted);
    }
    bool good =
        p->folder || fail(failure, STATUS_USAGE, "--prepare: cannot keep anything in the folder %s: %s",
                          wanted, strerror(errno));
    free(prepared);
    free(wanted);
    free(installed);
    return good;
}

static bool make_saves(struct preparation *p, struct failure *failure)
{
    return scratch_make(&p->saves) ||
           fail(failure, STATUS_USAGE, "--prepare: cannot create a folder for what games write: %s",
                strerror(errno));
}

static void drop_audio(void *user, const int16_t (*samples)[2], size_t count)
{
    (void)user;
    (void)samples;
    (void)count;
}

// How many rounds there will be is not known: as many as find something.
static void tell_progress(const struct preparation *p, unsigned pass, size_t i)
{
    const struct game_demo *d = &p->demos.items[i];
    fprintf(stderr, "%sprepare: round %u, game %zu of %zu (%s of %s): %llu pieces of code translated%s",
            isatty(STDERR_FILENO) ? "\r" : "", pass + 1, i + 1, p->demos.count, d->name, path_name(d->wad),
            (unsigned long long)p->regions, isatty(STDERR_FILENO) ? "\033[K" : "\n");
}

// Runs one demo to its end. False: *failure, or interrupted. Whatever the reason is that nothing is kept (the
// translator has told it), the rounds would find the same code again and again.
static bool run_demo(struct preparation *p, const struct game_demo *d, bool sound, struct failure *failure)
{
    const char *const arguments[] = {"doom", "-iwad", d->wad, "-timedemo", d->name, NULL};
    static const char *const environment[] = {LAUNCH_SAVES_ENVIRONMENT, NULL};
    struct machine_setup setup = {0};
    char *program = launch_program();
    struct session *s = NULL;
    bool ended = false;
    grants_add(&setup.grants, text_copy(d->wad), text_copy(d->wad), false);
    grants_add(&setup.grants, text_copy(p->saves.path), text_copy(GUEST_SAVES), true);
    if (machine_setup_fill(&setup, p->options, &p->settings, false, failure)) {
        struct machine_config *config = &setup.config;
        config->program = program;
        config->argv = arguments;
        config->envp = environment;
        config->ram = (uint64_t)p->settings.ram << 20;
        config->device = true;
        config->deterministic = true;
        config->clock = MACHINE_CLOCK_VIRTUAL;
        config->cache_folder = p->folder;
        config->prepared_folder = NULL;
        config->prepare = true;
        struct session_callbacks callbacks = {.audio = sound ? drop_audio : NULL};
        s = session_start(config, 0, &callbacks, failure);
    }
    if (s) {
        while (!(ended = session_wait(s, 100)) && !interrupt_seen()) {
        }
        session_stop(s);
        struct machine_stats stats;
        machine_get_stats(session_machine(s), &stats);
        const bool is_lost = p->regions && !stats.cached_regions; // what the game before has left
        if (!session_end(s) || is_lost) {
            ended = ended && fail(failure, STATUS_USAGE, "--prepare: nothing is kept in %s", p->folder);
        }
        p->regions = stats.translated_regions;
        p->compiled += stats.translated_regions - stats.cached_regions;
    }
    machine_setup_free(&setup);
    free(program);
    return ended;
}

static bool run_passes(struct preparation *p, struct failure *failure)
{
    for (unsigned pass = 0; pass < PREPARE_ROUNDS_MOST; pass++) {
        p->compiled = 0;
        for (size_t i = 0; i < p->demos.count; i++) {
            tell_progress(p, pass, i);
            if (!run_demo(p, &p->demos.items[i], has_sound(p, pass, i), failure)) {
                return false;
            }
        }
        if (prepare_is_done(p->compiled, p->regions)) {
            break;
        }
    }
    return true;
}

int prepare_run(const struct options *options, struct settings *settings)
{
    struct failure failure = {0};
    struct preparation p = {.options = options, .settings = *settings};
    p.settings.engine = MACHINE_ENGINE_TRANSLATE;
    p.settings.neural = p.settings.loops = true;
    p.settings.verify = false;
    bool done = false;
    prctl(PR_SET_NAME, program_invocation_short_name); // lists would call what a window has started "exe"
    if (machine_default_engine() != MACHINE_ENGINE_TRANSLATE) {
        fail(&failure, STATUS_USAGE, "--prepare: this build has no translator: the game is interpreted");
    } else if (game_demos_find(&p.demos, options, settings, "--prepare", &failure) &&
               find_folder(&p, &failure) && make_saves(&p, &failure)) {
        interrupt_catch();
        if (p.settings.log_level == LOG_INFO) {
            log_set_level(LOG_WARNING); // what the engine says at each start
        }
        done = run_passes(&p, &failure);
        if (isatty(STDERR_FILENO)) {
            fputc('\n', stderr);
        }
    }
    if (done) {
        mark_complete(&p);
        fprintf(stderr, "prepare: %llu pieces of code are kept in %s\n", (unsigned long long)p.regions,
                p.folder);
    }
    scratch_remove(&p.saves);
    game_demos_free(&p.demos);
    free(p.folder);
    return failure.text ? failure_report(&failure) : done ? STATUS_OK : STATUS_INTERRUPTED;
}
