// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "instant.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child_files.h"
#include "frontend/base/paths.h"

#define RECORDING "instant.replay"
#define SECOND_NS 1000000000
#define NICE 10

struct instant {
    struct instant_orders orders;
    struct past past;
    struct scratch scratch;
    pthread_t thread;
    pthread_mutex_t lock;
    // Under lock.
    struct instant_state state;
    bool cancelled;
    pid_t child; // 0: none
};

static bool give_up(struct instant *in, const char *why)
{
    pthread_mutex_lock(&in->lock);
    in->state.stage = INSTANT_FAILED;
    snprintf(in->state.text, sizeof in->state.text, "%.*s", (int)strcspn(why, "\n"), why);
    pthread_mutex_unlock(&in->lock);
    return false;
}

static bool is_cancelled(struct instant *in)
{
    pthread_mutex_lock(&in->lock);
    bool cancelled = in->cancelled;
    pthread_mutex_unlock(&in->lock);
    return cancelled;
}

// ---- the recording ----

// What the game has written itself cannot be had again: it would find what it has written later. A new file
// changes its folder.
static bool written_since(const struct machine_config *config, int64_t ns)
{
    for (size_t i = 0; i < config->grant_count; i++) {
        struct stat s;
        if (config->grants[i].writable && stat(config->grants[i].host, &s) == 0 &&
            (int64_t)s.st_mtim.tv_sec * SECOND_NS + s.st_mtim.tv_nsec >= ns) {
            return true;
        }
    }
    return false;
}

static void say_nothing(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static void write_nothing(void *user, int fd, const char *text, size_t length)
{
    (void)user;
    (void)fd;
    (void)text;
    (void)length;
}

// A machine that never runs, only to go back: it changes no file of the user's.
static machine *create_machine(const struct instant *in, struct error *error)
{
    struct machine_config config = in->orders.launch->setup.config;
    config.engine = MACHINE_ENGINE_INTERP;
    config.dispatch_model = config.loop_models = config.cache_folder = config.prepared_folder = NULL;
    config.record_input = false;
    config.present = NULL;
    config.audio = NULL;
    config.log = say_nothing;
    config.output = write_nothing; // as the game's own has one
    return machine_create(&config, error);
}

static bool write_recording(struct instant *in, const char *path)
{
    const struct machine_config *config = &in->orders.launch->setup.config;
    struct failure failure = {0};
    struct error error;
    struct machine_bytes state = {0};
    struct input_writer *w = NULL;
    machine *m = create_machine(in, &error);
    bool good = m && past_begin(&in->past, m, &error) && machine_save(m, &state, &error);
    if (!good) {
        fail(&failure, STATUS_USAGE, "%s", error.text);
    }
    good = good && (w = input_writer_open(path, config, &failure));
    if (good) {
        good = input_writer_begin(w, m, &state);
        input_writer_add(w, in->past.log, in->past.log_size);
        good = input_writer_close(w) && good;
        if (!good) {
            fail(&failure, STATUS_USAGE, "cannot write %s: %s", path, strerror(errno));
        }
    }
    machine_destroy(m);
    free(state.data);
    past_free(&in->past);
    if (failure.text) {
        give_up(in, failure.text);
        free(failure.text);
    }
    return good;
}

// ---- the process ----

static void add(struct text_list *words, const char *word)
{
    text_list_add(words, text_copy(word));
}

static void add_with(struct text_list *words, const char *option, const char *value)
{
    add(words, option);
    add(words, value);
}

static void command(const struct instant *in, const char *recording, struct text_list *words)
{
    const struct options *options = in->orders.options;
    const struct text_list *wads = &in->orders.launch->wads;
    text_list_add(words, path_absolute("/proc/self/exe"));
    for (size_t i = 0; i < wads->count; i++) {
        add_with(words, i ? "-file" : "-iwad", wads->items[i]);
    }
    if (options->config_file) {
        add_with(words, "--config", options->config_file);
    }
    if (options->models) {
        add_with(words, "--models", options->models);
    }
    for (size_t i = 0; i < options->settings.count; i++) {
        add_with(words, "--set", options->settings.items[i]);
    }
    add(words, "--headless");
    add_with(words, "--replay-input", recording);
    add_with(words, "--rerun", in->orders.sides);
    add_with(words, "--out", in->scratch.path);
}

// Our environment, but that what the process leaves is in our folder.
static void environment(const struct instant *in, struct text_list *list)
{
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "XDG_STATE_HOME=", 15) != 0 && strncmp(*e, "TMPDIR=", 7) != 0) {
            add(list, *e);
        }
    }
    text_list_add(list, text_format("XDG_STATE_HOME=%s/state", in->scratch.path));
    text_list_add(list, text_format("TMPDIR=%s", in->scratch.path));
}

// Starts it; *output is what it says. False: errno.
static bool spawn(struct instant *in, const char *recording, FILE **output)
{
    struct text_list words = {0}, variables = {0};
    int ends[2], error = pipe2(ends, O_CLOEXEC) ? errno : 0;
    posix_spawn_file_actions_t actions;
    char *errors = text_format("%s/" CHILD_ERRORS, in->scratch.path);
    if (!error) {
        command(in, recording, &words);
        environment(in, &variables);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        pthread_mutex_lock(&in->lock);
        error = in->cancelled
                    ? ECANCELED
                    : posix_spawn(&in->child, words.items[0], &actions, NULL, words.items, variables.items);
        pthread_mutex_unlock(&in->lock);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        *output = error ? NULL : fdopen(ends[0], "r");
        if (!*output) {
            close(ends[0]);
        }
    }
    text_list_free(&words);
    text_list_free(&variables);
    free(errors);
    errno = error;
    return !error;
}

static void take_line(struct instant_state *s, const char *line)
{
    unsigned block, side, frame;
    double ms;
    if (sscanf(line, "frames %" SCNu32, &s->frames) == 1) {
        s->stage = INSTANT_WARMS_UP;
    } else if (sscanf(line, "blocks %u %" SCNu32, &block, &s->run_frames) == 2) {
        s->stage = INSTANT_MEASURES;
        s->planned = 2 * (block < RERUN_BLOCKS ? block : RERUN_BLOCKS);
    } else if (sscanf(line, "run %u %u %lf", &block, &side, &ms) == 3 && block >= 1 &&
               block <= RERUN_BLOCKS && side < 2) {
        s->ms[side][block - 1] = ms;
        s->done++;
        s->blocks = s->done / 2;
    } else if (sscanf(line, "differs %u %u", &side, &frame) == 2 && side < 2) {
        s->stage = INSTANT_DIFFERS;
        s->differing = side;
        s->frame = frame;
    } else if (strncmp(line, "end", 3) == 0) {
        s->stage = INSTANT_DONE;
    }
}

static void follow(struct instant *in, FILE *output)
{
    char *line = NULL;
    size_t room = 0;
    while (output && getline(&line, &room, output) > 0) {
        pthread_mutex_lock(&in->lock);
        take_line(&in->state, line);
        pthread_mutex_unlock(&in->lock);
        in->orders.wake(in->orders.user);
    }
    free(line);
    if (output) {
        fclose(output);
    }
}

// The process has said all: its errors, if it has not come to an end.
static void finish(struct instant *in)
{
    int status = 0;
    pid_t child = in->child;
    siginfo_t info;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&in->lock); // its number is its own for as long as nobody has waited for it
    waitpid(child, &status, 0);
    in->child = 0;
    bool known = in->state.stage == INSTANT_DONE || in->state.stage == INSTANT_DIFFERS;
    pthread_mutex_unlock(&in->lock);
    if (!known) {
        char *said = child_errors(in->scratch.path);
        give_up(in, *said ? said : WIFSIGNALED(status) ? "its process was killed" : "its process ended");
        free(said);
    }
}

// ---- what is kept of a difference ----

static void keep_evidence(struct instant *in, const char *recording)
{
    char stamp[32], text[sizeof in->state.text];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    char *kept = text_format("%s/%s.replay", in->orders.kept, stamp);
    char *picture = text_format("%s/%s.png", in->orders.kept, stamp);
    char *made = text_format("%s/difference.png", in->scratch.path);
    if (path_make_folder(in->orders.kept) && copy_file(recording, kept)) {
        char *shown = path_shown(kept);
        bool pictured = path_is_file(made) && copy_file(made, picture);
        snprintf(text, sizeof text, "%s%s", shown, pictured ? " and .png" : "");
        free(shown);
    } else {
        snprintf(text, sizeof text, "nowhere: %s", strerror(errno));
    }
    pthread_mutex_lock(&in->lock);
    memcpy(in->state.text, text, sizeof text);
    pthread_mutex_unlock(&in->lock);
    free(kept);
    free(picture);
    free(made);
}

// ---- all of it ----

static void work(struct instant *in)
{
    if (written_since(&in->orders.launch->setup.config, in->past.since_ns)) {
        give_up(in, "the game has written files meanwhile, which it would find now; play on for 10 s");
        return;
    }
    if (!scratch_make(&in->scratch)) {
        give_up(in, "there is no folder for temporary files");
        return;
    }
    char *recording = text_format("%s/" RECORDING, in->scratch.path);
    FILE *output;
    if (write_recording(in, recording) && !is_cancelled(in)) {
        if (spawn(in, recording, &output)) {
            follow(in, output);
            finish(in);
            if (in->state.stage == INSTANT_DIFFERS) {
                keep_evidence(in, recording);
            }
        } else {
            give_up(in, strerror(errno));
        }
    }
    free(recording);
}

static void *run(void *user)
{
    struct instant *in = user;
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); // of this thread alone
    work(in);
    scratch_remove(&in->scratch);
    pthread_mutex_lock(&in->lock);
    in->state.over = true;
    pthread_mutex_unlock(&in->lock);
    in->orders.wake(in->orders.user);
    return NULL;
}

static void free_all(struct instant *in)
{
    pthread_mutex_destroy(&in->lock);
    past_free(&in->past);
    free(in->orders.kept);
    free(in->orders.sides);
    free(in);
}

struct instant *instant_start(const struct instant_orders *orders, struct past *past)
{
    struct instant *in = memory_resize(NULL, sizeof *in);
    *in = (struct instant){.orders = *orders, .past = *past, .state.frames = past->frames};
    *past = (struct past){0};
    pthread_mutex_init(&in->lock, NULL);
    if (pthread_create(&in->thread, NULL, run, in)) {
        free_all(in);
        return NULL;
    }
    return in;
}

void instant_get(struct instant *in, struct instant_state *state)
{
    pthread_mutex_lock(&in->lock);
    *state = in->state;
    pthread_mutex_unlock(&in->lock);
}

void instant_end(struct instant *in)
{
    if (!in) {
        return;
    }
    pthread_mutex_lock(&in->lock);
    in->cancelled = true;
    if (in->child) {
        kill(in->child, SIGKILL);
    }
    pthread_mutex_unlock(&in->lock);
    pthread_join(in->thread, NULL);
    free_all(in);
}
