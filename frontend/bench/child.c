// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
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
    if (errand == ERRAND_COUNT) {
        add_file(words, "--count", shop, CHILD_PROFILE);
        add(words, "--opt");
        add(words, "dispatch=off"); // asking at every step would take minutes
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

// Our environment, but that the run's log and what it remembers stay in the workshop.
static struct text_list environment(const struct workshop *shop)
{
    struct text_list list = {0};
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "XDG_STATE_HOME=", 15) != 0) {
            add(&list, *e);
        }
    }
    text_list_add(&list, text_format("XDG_STATE_HOME=%s/state", shop->folder));
    return list;
}

// A process that makes a run.
struct child {
    struct workshop shop;
    struct run *run;
    struct text_list words;
    bool foreign; // it is to run in the workshop, where it may leave what it likes
    pid_t pid; // 0: not yet, or no longer
    int line; // the other end of its standard input: a byte there says that a turn is over, one back that
              // the next has come
    int status; // as of wait(2), -1 if it could not be started
};

static void start(struct child *child)
{
    int ends[2];
    child->status = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        return;
    }
    posix_spawn_file_actions_t actions;
    char *errors = text_format("%s/" CHILD_ERRORS, child->shop.folder);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (child->foreign) {
        posix_spawn_file_actions_addchdir_np(&actions, child->shop.folder);
    }
    struct text_list variables = environment(&child->shop);
    if (posix_spawn(&child->pid, child->words.items[0], &actions, NULL, child->words.items,
                    variables.items)) {
        child->pid = 0;
        close(ends[0]);
    }
    child->line = ends[0];
    close(ends[1]);
    text_list_free(&variables);
    posix_spawn_file_actions_destroy(&actions);
    free(errors);
}

// Waits for the process; one that is still there when we are to end is ended, too.
static void end(struct child *child)
{
    struct rusage usage = {0};
    bool told = false;
    close(child->line);
    do {
        if (interrupt_seen() && !told) {
            kill(child->pid, SIGTERM);
            told = true;
        }
        errno = 0;
    } while (wait4(child->pid, &child->status, 0, &usage) < 0 && errno == EINTR);
    child->pid = 0;
    child->run->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    child->run->preempted = usage.ru_nivcsw;
}

static double cpu_seconds(pid_t pid)
{
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(pid, &clock) == 0) {
        clock_gettime(clock, &t);
    }
    return seconds(
        (struct timeval){t.tv_sec, t.tv_nsec / 1000}); // as exactly as the rest, and runs.csv, has it
}

// Lets it run until its turn is over; the first begins with the process. Returns whether there will be more.
static bool take_turn(struct child *child, bool first)
{
    int64_t from = clock_now_ns();
    char byte = 0;
    if (first) {
        start(child);
    } else {
        send(child->line, &byte, 1, MSG_NOSIGNAL);
    }
    if (!child->pid) {
        return false;
    }
    ssize_t got;
    while ((got = read(child->line, &byte, 1)) < 0 && errno == EINTR && !interrupt_seen()) {
    }
    if (got != 1) {
        end(child);
    } else if (first) {
        child->run->start_s = cpu_seconds(child->pid);
    }
    child->run->wall_s += (double)(clock_now_ns() - from) / 1e9;
    return child->pid;
}

// Each goes twice in a row, but at both ends: A B B A A B B … leaves none ahead.
static void execute(struct child *children, size_t count)
{
    size_t left = count;
    for (unsigned round = 0; left && !interrupt_seen(); round++) {
        for (size_t i = 0; i < count; i++) {
            struct child *child = &children[round % 2 ? count - 1 - i : i];
            left -= (round == 0 || child->pid) && !take_turn(child, round == 0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (children[i].pid) {
            end(&children[i]);
        }
    }
}

// We, and what we start, run on that core.
static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static bool describe_failure(const struct comparison *c, const struct child *child, struct failure *failure)
{
    char *said = child_errors(child->shop.folder), *line = text_copy("");
    int status = child->status;
    for (size_t i = 0; i < child->words.count; i++) {
        char *longer = text_format("%s%s%s", line, i ? " " : "", child->words.items[i]);
        free(line);
        line = longer;
    }
    enum status own =
        WIFEXITED(status) && WEXITSTATUS(status) != 0 ? (enum status)WEXITSTATUS(status) : STATUS_USAGE;
    fail(failure, own, "--bench: %s, %s, cannot be run\n    %s\n%s", c->works[child->run->work].name,
         c->sides[child->run->side].name, line, *said ? said : "it says nothing");
    free(said);
    free(line);
    return false;
}

static bool read_run(struct comparison *c, enum errand errand, const struct child *child,
                     struct failure *failure)
{
    if (interrupt_seen()) {
        return false; // its times mean nothing
    }
    if (child->status != 0) {
        return describe_failure(c, child, failure);
    }
    struct child_run_files files = {.shop = &child->shop,
                                    .own = !child->foreign,
                                    .sound = errand == ERRAND_SOUND,
                                    .counters = errand != ERRAND_TIMES};
    return child_read(c, &files, child->run, failure);
}

bool child_run(struct comparison *c, const struct workshop *shop, enum errand errand, struct run *runs,
               size_t count, struct failure *failure)
{
    struct child children[TOGETHER];
    cpu_set_t before;
    for (size_t i = 0; i < count; i++) {
        struct child *child = &children[i];
        *child = (struct child){.shop = *shop, .run = &runs[i]};
        child->shop.folder = i ? shop->beside : shop->folder;
        child->foreign = c->sides[runs[i].side].kind != SIDE_OURS;
        (child->foreign ? foreign_command : own_command)(&child->words, c, &child->shop, errand, &runs[i]);
        if (count > 1) {
            add(&child->words, "--turns");
            text_list_add(&child->words, text_format("%u", c->works[runs[i].work].turn));
        }
    }
    bool pinned = runs->core >= 0 && sched_getaffinity(0, sizeof before, &before) == 0;
    if (pinned) {
        pin(runs->core);
    }
    execute(children, count);
    if (pinned) {
        sched_setaffinity(0, sizeof before, &before);
    }
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = good && read_run(c, errand, &children[i], failure);
        text_list_free(&children[i].words);
    }
    return good;
}

bool child_picture(const struct comparison *c, const struct workshop *shop, size_t side, size_t work,
                   uint32_t frame, const char *path)
{
    struct run run = {0};
    struct child child = {.shop = *shop, .run = &run};
    our_words(&child.words, c, shop, side, work);
    add(&child.words, "--frames");
    text_list_add(&child.words, text_format("%u", frame));
    add(&child.words, "--screenshot");
    text_list_add(&child.words, text_format("%u:%s", frame, path));
    execute(&child, 1);
    text_list_free(&child.words);
    return child.status == 0;
}
