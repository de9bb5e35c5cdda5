// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_files.h"
#include "frontend/base/clock.h"
#include "frontend/base/interrupt.h"
#include "plan.h"

static void add(struct text_list *words, const char *word)
{
    text_list_add(words, text_copy(word));
}

static void add_file(struct text_list *words, const char *option, const struct workshop *shop,
                     const char *name)
{
    add(words, option);
    text_list_add(words, text_format("%s/%s", shop->folder, name));
}

// The game comes first: of two -iwad the first counts.
static void our_words(struct text_list *words, const struct comparison *c, const struct workshop *shop,
                      size_t side, size_t work)
{
    const struct work *w = &c->works[work];
    add(words, shop->program);
    if (w->wad) {
        add(words, "-iwad");
        add(words, w->wad);
    }
    for (size_t i = 0; i < shop->passed->count; i++) {
        add(words, shop->passed->items[i]);
    }
    for (size_t i = 0; i < c->sides[side].words.count; i++) {
        add(words, c->sides[side].words.items[i]);
    }
    add(words, "--headless");
    add(words, w->replay ? "--replay-input" : "-timedemo");
    add(words, w->replay ? w->replay : w->demo);
}

static void own_command(struct text_list *words, const struct comparison *c, const struct workshop *shop,
                        enum errand errand, const struct run *run)
{
    our_words(words, c, shop, run->side, run->work);
    add_file(words, "--csv", shop, CHILD_FRAMES);
    if (errand != ERRAND_TIMES) {
        add_file(words, "--stats", shop, CHILD_COUNTERS);
    }
    if (errand == ERRAND_PROFILE) {
        add_file(words, "--profile", shop, CHILD_PROFILE);
    }
    if (errand == ERRAND_SOUND) {
        add_file(words, "--audio-hash", shop, CHILD_SOUND);
        if (shop->sound_frames) {
            add(words, "--frames");
            text_list_add(words, text_format("%u", shop->sound_frames));
        }
    }
}

// The same engine by itself, or under qemu: it takes DOOM's options only.
static void foreign_command(struct text_list *words, const struct comparison *c, const struct workshop *shop,
                            enum errand errand, const struct run *run)
{
    enum side_kind kind = c->sides[run->side].kind;
    const struct work *w = &c->works[run->work];
    if (kind == SIDE_QEMU) {
        add(words, "/usr/bin/qemu-aarch64");
    }
    text_list_add(words, plan_guest(kind));
    add(words, "-iwad");
    add(words, w->wad);
    add(words, "-timedemo");
    add(words, w->demo);
    add_file(words, "-framehash", shop, CHILD_HASHES);
    if (errand == ERRAND_SOUND) {
        add_file(words, "-audiohash", shop, CHILD_SOUND);
    } else {
        add(words, "-nosound");
    }
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

// Waits for the process; one that is still there when we are to end is ended, too.
static int wait_for(pid_t pid, struct rusage *usage)
{
    int status;
    bool told = false;
    while (wait4(pid, &status, 0, usage) != pid) {
        if (errno != EINTR) {
            return -1;
        }
        if (interrupt_seen() && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
    }
    return status;
}

// Our environment, but that the run's log and what it remembers stay in the workshop.
static char **environment(const struct workshop *shop)
{
    struct text_list list = {0};
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "XDG_STATE_HOME=", 15) != 0) {
            add(&list, *e);
        }
    }
    text_list_add(&list, text_format("XDG_STATE_HOME=%s/state", shop->folder));
    return list.items;
}

// Runs the command. Returns its status as of wait(2), -1 if it could not be started. foreign: it is to run in
// the workshop, where it may leave what it likes.
static int execute(const struct text_list *words, const struct workshop *shop, bool foreign, struct run *run)
{
    posix_spawn_file_actions_t actions;
    char *errors = text_format("%s/" CHILD_ERRORS, shop->folder);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (foreign) {
        posix_spawn_file_actions_addchdir_np(&actions, shop->folder);
    }
    char **variables = environment(shop);
    pid_t pid;
    int64_t start = clock_now_ns();
    int error = posix_spawn(&pid, words->items[0], &actions, NULL, words->items, variables);
    struct rusage usage = {0};
    int status = error == 0 ? wait_for(pid, &usage) : -1;
    run->wall_s = (double)(clock_now_ns() - start) / 1e9;
    run->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    run->preempted = usage.ru_nivcsw;
    struct text_list list = {.items = variables};
    while (variables[list.count]) {
        list.count++;
    }
    text_list_free(&list);
    posix_spawn_file_actions_destroy(&actions);
    free(errors);
    return status;
}

static bool describe_failure(const struct comparison *c, const struct run *run, const struct text_list *words,
                             const struct workshop *shop, int status, struct failure *failure)
{
    char *said = child_errors(shop->folder), *line = text_copy("");
    for (size_t i = 0; i < words->count; i++) {
        char *longer = text_format("%s%s%s", line, i ? " " : "", words->items[i]);
        free(line);
        line = longer;
    }
    enum status own =
        WIFEXITED(status) && WEXITSTATUS(status) != 0 ? (enum status)WEXITSTATUS(status) : STATUS_USAGE;
    fail(failure, own, "--bench: %s, %s, cannot be run\n    %s\n%s", c->works[run->work].name,
         c->sides[run->side].name, line, *said ? said : "it says nothing");
    free(said);
    free(line);
    return false;
}

bool child_run(struct comparison *c, const struct workshop *shop, enum errand errand, struct run *run,
               struct failure *failure)
{
    struct text_list words = {0};
    bool own = c->sides[run->side].kind == SIDE_OURS;
    (own ? own_command : foreign_command)(&words, c, shop, errand, run);
    int status = execute(&words, shop, !own, run);
    bool good = false;
    if (interrupt_seen()) {
        // Its times mean nothing.
    } else if (status != 0) {
        describe_failure(c, run, &words, shop, status, failure);
    } else {
        struct child_run_files files = {
            .shop = shop, .own = own, .sound = errand == ERRAND_SOUND, .counters = errand != ERRAND_TIMES};
        good = child_read(c, &files, run, failure);
    }
    text_list_free(&words);
    return good;
}

bool child_picture(const struct comparison *c, const struct workshop *shop, size_t side, size_t work,
                   uint32_t frame, const char *path)
{
    struct text_list words = {0};
    struct run run = {0};
    our_words(&words, c, shop, side, work);
    add(&words, "--frames");
    text_list_add(&words, text_format("%u", frame));
    add(&words, "--screenshot");
    text_list_add(&words, text_format("%u:%s", frame, path));
    bool good = execute(&words, shop, false, &run) == 0;
    text_list_free(&words);
    return good;
}
