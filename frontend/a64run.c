// SPDX-License-Identifier: MIT
// a64run: runs a static aarch64 Linux program on the core. Options, files and exit statuses: --help.
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "frontend/base/models.h"
#include "frontend/base/prefix.h"

enum { STATUS_OWN = 125, STATUS_NOT_PROGRAM = 126, STATUS_NO_FILE = 127 };

#define DIRS_MAX 64

extern char **environ;

struct options {
    const char *dirs[DIRS_MAX];
    size_t dir_count;
    const char *stats;
    enum machine_engine engine;
    enum machine_dispatch dispatch;
    bool loops, verify;
    const char *models; // NULL: those that belong to a64run
    char **program; // and its arguments
};

static const char help[] =
    "usage: a64run [OPTION]... PROGRAM [ARGUMENT]...\n"
    "Runs PROGRAM, a static aarch64 Linux program, with its arguments and this environment.\n"
    "\n"
    "  --dir FOLDER     the program may read and write in FOLDER (may be repeated; the current\n"
    "                   folder if not given). It sees the same path, and of the other files only\n"
    "                   itself, /dev/null and the like, and a /tmp of its own that is empty and\n"
    "                   removed in the end\n"
    "  --engine NAME    interp or translate (the default where it is built in)\n"
    "  --opt dispatch=MODE  who picks the kernel of an instruction: off (the tables), hybrid (the tables,\n"
    "                   the net's answers counted), pure (the net alone), live (asked at every step)\n"
    "  --opt loops=on   loops that a net has proposed, once proved, are done by kernels (off if not given);\n"
    "                   several --opt may be joined by commas\n"
    "  --verify         run the plain loop beside every replaced one, and compare\n"
    "  --models FOLDER  with the nets' weights, if not those that came with a64run\n"
    "  --stats FILE     write the counters of the run to FILE as JSON\n"
    "  --help           show this text\n"
    "\n"
    "Exit status: that of PROGRAM, 128 + N if signal N ended it; 125 if a64run itself fails or\n"
    "--verify found a difference, 126 if PROGRAM is not a static aarch64 program, 127 if there is no\n"
    "such file.\n";

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "a64run: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(STATUS_OWN);
}

// ---- options ----

// The value of option name at argv[*i], written as "--name VALUE" or "--name=VALUE"; NULL: another option.
static const char *option_value(char **argv, int *i, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length))
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    if (argv[*i][length])
        return NULL;
    if (!argv[*i + 1])
        fail("%s needs a value; try --help", name);
    return argv[++*i];
}

// dispatch=MODE,loops=on|off
static void parse_opts(const char *value, struct options *o)
{
    char *all = strdup(value), *rest = all;
    for (char *one = all ? strsep(&rest, ",") : NULL; one; one = strsep(&rest, ",")) {
        bool on = !strcmp(one, "loops=on");
        if (on || !strcmp(one, "loops=off"))
            o->loops = on;
        else if (strncmp(one, "dispatch=", 9) || !machine_dispatch_by_name(one + 9, &o->dispatch))
            fail("--opt takes dispatch=off|hybrid|pure|live and loops=on|off, not '%s'", one);
    }
    free(all);
}

static void parse_options(char **argv, struct options *o)
{
    int i = 1;
    for (; argv[i] && argv[i][0] == '-'; i++) {
        const char *value;
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        } else if (!strcmp(argv[i], "--help")) {
            fputs(help, stdout);
            exit(0);
        } else if ((value = option_value(argv, &i, "--dir"))) {
            if (o->dir_count == DIRS_MAX)
                fail("more than %d folders", DIRS_MAX);
            o->dirs[o->dir_count++] = value;
        } else if ((value = option_value(argv, &i, "--stats"))) {
            o->stats = value;
        } else if ((value = option_value(argv, &i, "--engine"))) {
            if (!machine_engine_by_name(value, &o->engine))
                fail("there is no engine '%s'; this build has: %s", value, machine_engine_names());
        } else if ((value = option_value(argv, &i, "--opt"))) {
            parse_opts(value, o);
        } else if (!strcmp(argv[i], "--verify")) {
            o->verify = true;
        } else if ((value = option_value(argv, &i, "--models"))) {
            o->models = value;
        } else {
            fail("unknown option '%s'; try --help", argv[i]);
        }
    }
    if (!argv[i])
        fail("which program? Try --help");
    o->program = argv + i;
}

// ---- grants ----

static bool is_at_or_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length == 1)
        return true; // "/"
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

struct grants {
    struct machine_grant list[DIRS_MAX + 3];
    size_t count;
    char *cwd; // the guest's
    char tmp[PATH_MAX]; // the host's folder for the guest's /tmp, "" if there is none
};

static bool covers(const struct grants *g, const char *path)
{
    for (size_t i = 0; i < g->count; i++)
        if (is_at_or_below(path, g->list[i].guest))
            return true;
    return false;
}

static void grant_folder(struct grants *g, const char *folder)
{
    struct stat s;
    char *path = realpath(folder, NULL);
    if (!path || stat(path, &s))
        fail("folder %s: %s", folder, strerror(errno));
    if (!S_ISDIR(s.st_mode))
        fail("%s is not a folder", folder);
    g->list[g->count++] = (struct machine_grant){path, path, true};
}

// The program may always read itself, under the name that it was called by and under its real one.
static void grant_program(struct grants *g, const char *program)
{
    char *real = realpath(program, NULL), *named = NULL;
    if (!real)
        return; // what is wrong with it is reported later
    if (*program == '/')
        named = strdup(program);
    else if (g->cwd && asprintf(&named, "%s/%s", g->cwd, program) < 0)
        named = NULL;
    if (!covers(g, real))
        g->list[g->count++] = (struct machine_grant){real, real, false};
    if (named && strcmp(named, real) && !covers(g, named))
        g->list[g->count++] = (struct machine_grant){real, named, false};
}

// C libraries expect a /tmp where tmpfile and tmpnam work.
static void grant_tmp(struct grants *g)
{
    const char *folder = getenv("TMPDIR");
    *g->tmp = 0;
    if (covers(g, "/tmp"))
        return;
    snprintf(g->tmp, sizeof g->tmp, "%s/a64run-XXXXXX", folder && *folder == '/' ? folder : "/tmp");
    if (!mkdtemp(g->tmp))
        *g->tmp = 0; // then there is none
    else
        g->list[g->count++] = (struct machine_grant){g->tmp, "/tmp", true};
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    remove(path);
    return 0;
}

static void remove_tmp(const struct grants *g)
{
    if (*g->tmp && rmdir(g->tmp) && errno == ENOTEMPTY)
        nftw(g->tmp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_grants(struct grants *g, const struct options *o)
{
    g->count = 0;
    g->cwd = getcwd(NULL, 0);
    for (size_t i = 0; i < o->dir_count; i++)
        grant_folder(g, o->dirs[i]);
    if (!o->dir_count)
        grant_folder(g, ".");
    grant_program(g, o->program[0]);
    bool visible = false;
    for (size_t i = 0; g->cwd && i < g->count && !visible; i++)
        visible = g->list[i].writable && is_at_or_below(g->cwd, g->list[i].guest);
    if (!visible)
        g->cwd = strdup(g->list[0].guest);
    grant_tmp(g);
}

// ---- the end ----

static void write_stats(const char *file, const machine *m, const char *engine, int status)
{
    struct machine_stats s;
    machine_get_stats(m, &s);
    double seconds = (double)s.emulating_ns / 1e9;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "schema", 1);
    cJSON_AddStringToObject(json, "engine", engine);
    cJSON_AddNumberToObject(json, "exit_status", status);
    cJSON_AddNumberToObject(json, "retired", (double)s.retired);
    cJSON_AddNumberToObject(json, "seconds", seconds);
    cJSON_AddNumberToObject(json, "translated_regions", (double)s.translated_regions);
    cJSON_AddNumberToObject(json, "cached_regions", (double)s.cached_regions);
    cJSON_AddNumberToObject(json, "compile_seconds", (double)s.compile_ns / 1e9);
    cJSON_AddNumberToObject(json, "ips", seconds > 0 ? (double)s.retired / seconds : 0);
    cJSON_AddNumberToObject(json, "idle_seconds", (double)s.idle_ns / 1e9);
    cJSON_AddNumberToObject(json, "system_calls", (double)s.system_calls);
    cJSON_AddNumberToObject(json, "memory_mapped", (double)s.memory_mapped);
    cJSON_AddBoolToObject(json, "loops", machine_has_loops(m) && machine_get_loops(m));
    cJSON_AddNumberToObject(json, "credited", (double)s.credited);
    cJSON_AddNumberToObject(json, "ips_effective",
                            seconds > 0 ? (double)(s.retired + s.credited) / seconds : 0);
    cJSON_AddNumberToObject(json, "iterations_skipped", (double)s.iterations_skipped);
    cJSON_AddNumberToObject(json, "loops_detected", (double)s.loops_detected);
    cJSON_AddNumberToObject(json, "loops_proved", (double)s.loops_proved);
    cJSON_AddNumberToObject(json, "loops_rejected", (double)s.loops_rejected);
    cJSON_AddNumberToObject(json, "verify_failures", (double)s.verify_failures);
    cJSON_AddNumberToObject(json, "dispatch_total", (double)s.dispatch_total);
    cJSON_AddNumberToObject(json, "dispatch_hit", (double)s.dispatch_hit);
    cJSON_AddNumberToObject(json, "dispatch_words", (double)s.dispatch_words);
    cJSON_AddNumberToObject(json, "dispatch_words_hit", (double)s.dispatch_words_hit);
    char *text = cJSON_Print(json), temporary[PATH_MAX];
    cJSON_Delete(json);
    if (!text || (size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", file) >= sizeof temporary)
        fail("cannot write %s: out of memory", file);
    int fd = mkstemp(temporary);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        fail("cannot write %s: %s", file, strerror(errno));
    fchmod(fd, 0644);
    fprintf(out, "%s\n", text);
    if (fclose(out) || rename(temporary, file)) {
        int error = errno;
        unlink(temporary);
        fail("cannot write %s: %s", file, strerror(error));
    }
    free(text);
}

// Signals that report a mistake of the program; others are somebody's wish.
static bool is_fault(int signal)
{
    return signal == 4 || signal == 5 || signal == 6 || signal == 7 || signal == 8 || signal == 11 ||
           signal == 31;
}

static void report_fault(const machine *m, const char *program)
{
    const struct machine_fault *f = machine_get_fault(m);
    uint64_t offset;
    if (!is_fault(f->signal))
        return;
    const char *symbol = machine_symbol(m, f->pc, &offset);
    fprintf(stderr, "a64run: %s: SIG%s at pc 0x%" PRIx64, program, sigabbrev_np(f->signal), f->pc);
    if (symbol)
        fprintf(stderr, " (%s+0x%" PRIx64 ")", symbol, offset);
    fprintf(stderr, ": %s\n", f->what);
}

// $XDG_CACHE_HOME/neurodoom, or NULL where there is none to be had.
static const char *cache_folder(void)
{
    static char folder[PATH_MAX];
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/')
        snprintf(folder, sizeof folder, "%s", base);
    else if (home && home[0] == '/')
        snprintf(folder, sizeof folder, "%s/.cache", home);
    else
        return NULL;
    mkdir(folder, 0700);
    strncat(folder, "/neurodoom", sizeof folder - strlen(folder) - 1);
    return folder;
}

int main(int argc, char **argv)
{
    static struct options options;
    options.engine = machine_default_engine();
    static struct grants grants;
    (void)argc;
    parse_options(argv, &options);
    char model[PATH_MAX];
    const char *base = find_model("dispatch-10279", options.models, model, sizeof model);
    if (options.dispatch != MACHINE_DISPATCH_OFF && !base)
        fail("there is no dispatch net; --models FOLDER tells where it is");
    char loop_models[PATH_MAX];
    const char *loops = find_loop_models(options.models, loop_models, sizeof loop_models);
    enum machine_engine translate;
    if (options.loops && !machine_engine_by_name("translate", &translate))
        fail("built without LLVM: no loop can be replaced");
    if (options.loops && !loops)
        fail("there are no nets for loops; --models FOLDER tells where they are");
    if (options.verify && !options.loops)
        fail("--verify compares replaced loops: it needs --opt loops=on");
    make_grants(&grants, &options);
    char library[PATH_MAX];
    const struct machine_config config = {
        .program = options.program[0],
        .argv = (const char *const *)options.program,
        .envp = (const char *const *)environ,
        .cwd = grants.cwd,
        .grants = grants.list,
        .grant_count = grants.count,
        .host_stdin = true,
        .clock = MACHINE_CLOCK_REAL,
        .engine = options.engine,
        .cache_folder = cache_folder(),
        .library_folder = prefix_path(PREFIX_LIBRARY, library, sizeof library),
        .dispatch_model = options.dispatch != MACHINE_DISPATCH_OFF ? base : NULL,
        .dispatch = options.dispatch,
        .loop_models = options.loops ? loops : NULL,
        .loops = options.loops,
        .verify = options.verify,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    if (!m) {
        fprintf(stderr, "a64run: %s\n", error.text);
        remove_tmp(&grants);
        return error.kind == ERROR_NO_FILE       ? STATUS_NO_FILE
               : error.kind == ERROR_NOT_PROGRAM ? STATUS_NOT_PROGRAM
                                                 : STATUS_OWN;
    }
    enum machine_state state;
    while ((state = machine_run(m, UINT64_MAX)) == MACHINE_RUNNING)
        ;
    int status = machine_exit_status(m);
    if (state == MACHINE_FAULTED)
        report_fault(m, options.program[0]);
    remove_tmp(&grants);
    if (options.stats)
        write_stats(options.stats, m, machine_engine_name(options.engine), status);
    struct machine_stats stats;
    machine_get_stats(m, &stats);
    if (stats.verify_failures) {
        fprintf(stderr,
                "a64run: --verify: %" PRIu64
                " entries of replaced loops did not do what the plain loop does\n",
                stats.verify_failures);
        status = STATUS_OWN;
    }
    machine_destroy(m);
    return status;
}
