// SPDX-License-Identifier: MIT
// a64run: runs a static aarch64 Linux program on the core. Options, files and exit statuses: --help.
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/base/host.h"
#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/streams.h"
#include "frontend/command/a64run_options.h"
#include "frontend/command/machine_setup.h"
#include "frontend/command/program_grants.h"
#include "frontend/prepare.h"
#include "frontend/record/counters.h"
#include "frontend/record/explain.h"
#include "frontend/record/profile.h"
#include "frontend/record/writers.h"
#include "frontend/translate_behind.h"

enum { STATUS_OWN = 125, STATUS_NOT_PROGRAM = 126, STATUS_NO_FILE = 127 };

extern char **environ;

static struct translate_behind behind;

static bool write_stats(const char *file, const machine *m, int status, struct failure *failure)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "a64run-stats-2");
    cJSON_AddNumberToObject(json, "exit_status", status);
    counters_add(json, m);
    return counters_write(json, file) ||
           fail(failure, STATUS_USAGE, "cannot write %s: %s", file, strerror(errno));
}

// Of signals that report a mistake of the program; others are somebody's wish.
static void report_fault(const machine *m, const char *program)
{
    const struct machine_fault *f = machine_get_fault(m);
    switch (f->signal) {
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS: break;
    default: return;
    }
    uint64_t offset;
    const char *symbol = machine_symbol(m, f->pc, &offset);
    char *function = symbol ? text_format(" (%s+0x%" PRIx64 ")", symbol, offset) : text_copy("");
    log_line(LOG_ERROR, "%s: SIG%s at pc 0x%" PRIx64 "%s: %s", program, sigabbrev_np(f->signal), f->pc,
             function, f->what);
    free(function);
}

// What translating has come to in a run.
struct outcome {
    uint64_t kept, pieces; // of translated code: that it began with, and had when the program ended
    bool keeps; // machine_keeps_code, and what that was is written
    bool done; // it has come to the end
};

static bool check_files(const struct options *options, struct failure *failure)
{
    struct writers w = {0};
    writers_note_read(&w, "the program", options->program[0]);
    const bool good = writers_add(&w, "--stats", options->stats, failure) &&
                      writers_add(&w, "--profile", options->profile, failure) &&
                      writers_add(&w, "--count", options->count, failure);
    writers_free(&w);
    return good;
}

// Returns the exit status.
static int run(const struct machine_config *config, const struct options *options, struct outcome *outcome,
               struct failure *failure)
{
    struct error error;
    if (!check_files(options, failure)) {
        return STATUS_OWN;
    }
    machine *m = machine_create(config, &error);
    if (!m) {
        fail(failure, STATUS_USAGE, "%s", error.text);
        return error.kind == ERROR_NO_FILE       ? STATUS_NO_FILE
               : error.kind == ERROR_NOT_PROGRAM ? STATUS_NOT_PROGRAM
                                                 : STATUS_OWN;
    }
    enum machine_state state;
    while ((state = machine_run(m, UINT64_MAX)) == MACHINE_RUNNING) {
    }
    int status = machine_exit_status(m);
    if (state == MACHINE_FAULTED) {
        report_fault(m, config->program);
    }
    if (options->stats && !write_stats(options->stats, m, status, failure)) {
        status = STATUS_OWN;
    }
    if (!profile_report(m, options->profile, PROFILE_TIME) ||
        !profile_report(m, options->count, PROFILE_INSTRUCTIONS)) {
        status = STATUS_OWN;
    }
    explain_print(m, options->explain_loop);
    explain_idle_verify(m);
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    if (stats.verify_failures) {
        fail(failure, STATUS_DIFFERS,
             "--verify: %" PRIu64 " entries of replaced loops did not do what the plain loop does",
             stats.verify_failures);
        status = STATUS_OWN;
    }
    *outcome = (struct outcome){stats.cached_regions, stats.translated_regions, machine_keeps_code(m),
                                !failure->text};
    outcome->keeps &= machine_destroy(m);
    return status;
}

// Everything between the command line and the run, or what takes its place. Returns the exit status.
static int set_up_and_run(const struct options *options, const struct settings *settings,
                          struct outcome *outcome, struct failure *failure)
{
    static struct machine_setup setup;
    struct program_grants grants = {0};
    setup.config = (struct machine_config){
        .program = options->program[0],
        .argv = (const char *const *)options->program,
        .envp = (const char *const *)environ,
        .host_stdin = true,
        .clock = MACHINE_CLOCK_REAL,
        .profile = options->profile,
        .count = options->count,
    };
    int status = STATUS_OWN;
    if (program_grants_make(&grants, &setup.grants, &options->folders, options->program[0], failure) &&
        machine_setup_fill(&setup, options, settings, true, failure)) {
        setup.config.cwd = grants.cwd;
        setup.config.prepare = options->request == REQUEST_PREPARE;
        if (!setup.config.prepare && options->request != REQUEST_TRANSLATE_REST &&
            translate_behind_is_wanted()) {
            setup.config.leave_rest = translate_behind_start;
            setup.config.user = &behind;
        }
        if (options->request == REQUEST_TRANSLATE_REST) {
            status = translate_behind_run(&setup.config, failure) ? 0 : STATUS_OWN;
        } else if (!setup.config.prepare || setup.config.cache_folder ||
                   fail(failure, STATUS_USAGE, "--prepare: there is nowhere to keep translated code")) {
            status = run(&setup.config, options, outcome, failure);
        }
    }
    program_grants_end(&grants);
    machine_setup_free(&setup);
    return status;
}

static int report(struct failure *failure, int status)
{
    if (failure->text) {
        failure_report(failure);
    }
    return status;
}

// A round of --prepare, in a process of its own, as the program may leave anything behind. Returns that one's
// exit status.
static int run_round(const struct options *options, const struct settings *settings, struct outcome *outcome,
                     struct failure *failure)
{
    int status = 0;
    outcome->done = false;
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
        }
        exit(report(failure, set_up_and_run(options, settings, outcome, failure)));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        fail(failure, STATUS_USAGE, "--prepare: no process for the program: %s", strerror(errno));
        return STATUS_OWN;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_OWN;
}

// What a run compiles while the program ends shows at the start of the next one. Returns the exit status.
static int prepare(const struct options *options, struct settings *settings, struct failure *failure)
{
    settings->engine = MACHINE_ENGINE_TRANSLATE;
    if (machine_default_engine() != MACHINE_ENGINE_TRANSLATE) {
        fail(failure, STATUS_USAGE, "--prepare: this build has no translator: every program is interpreted");
        return STATUS_OWN;
    }
    struct outcome *now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED) {
        fail(failure, STATUS_USAGE, "--prepare: no memory: %s", strerror(errno));
        return STATUS_OWN;
    }
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    uint64_t before = 0;
    for (unsigned round = 0; round < PREPARE_ROUNDS_MOST; round++) {
        if (input >= 0) {
            lseek(STDIN_FILENO, input, SEEK_SET);
        }
        int status = run_round(options, settings, now, failure);
        if (!now->done) { // why has been said
            return status;
        }
        fprintf(stderr, "prepare: round %u: %" PRIu64 " pieces of code translated\n", round + 1, now->pieces);
        if (!now->keeps || (round && now->pieces && !now->kept)) { // the disk may be full
            fail(failure, STATUS_USAGE, "--prepare: nothing of that is kept");
            return STATUS_OWN;
        }
        if (prepare_is_done(now->pieces - before, now->pieces)) {
            break;
        }
        before = now->kept;
    }
    fprintf(stderr, "prepare: that is kept for later runs of %s\n", options->program[0]);
    return 0;
}

static int answer(const struct options *options, struct settings *settings, struct outcome *outcome,
                  struct failure *failure)
{
    switch (options->request) {
    case REQUEST_HELP: a64run_options_print_help(stdout); break;
    case REQUEST_VERSION: host_print_version("a64run", stdout); break;
    case REQUEST_PREPARE: return prepare(options, settings, failure);
    default: return set_up_and_run(options, settings, outcome, failure);
    }
    if (!streams_end()) {
        fail(failure, STATUS_USAGE, "cannot write to standard output: %s", strerror(errno));
        return STATUS_OWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct settings settings = {0};
    struct failure failure = {0};
    log_set_program("a64run");
    streams_hold();
    int status = STATUS_OWN;
    const struct config_sources sources = {.command_line = &options.settings};
    if (a64run_options_parse(&options, argc, argv, &failure) && config_load(&settings, &sources, &failure)) {
        struct outcome outcome;
        behind = (struct translate_behind){argv, options.program};
        status = answer(&options, &settings, &outcome, &failure);
    }
    status = report(&failure, status);
    config_free(&settings);
    options_free(&options);
    return status;
}
