// SPDX-License-Identifier: MIT
// peers: the same programs natively, under qemu-aarch64 and on our engines, interleaved.
//
//   peers [--runs N] [--demos WAD:DEMO[+sound],…] [--engine NAME] BUILD_DIR
//
// Timed demos of DOOM run in neurodoom; the programs that tests/bench/fetch-programs has built, if they are
// there, in a64run. Each of our engines has two columns, with loops off and on. --engine leaves only that one
// engine. First every column runs everything and its frame hashes and outputs are compared: unless all are
// equal, nothing is timed. Ours do that several times, in which the cache, a temporary folder of each
// column's own, fills: what is timed is a warm one. Until then what is translated behind a run is waited for.
// Then the columns take turns, work by work, run by run. What is reported is CPU time (user + system, all
// threads) of the whole process, medians, and the ratio of the medians' sums. Exit status 1 when something
// differs or a program fails.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS_MAX = 6, WORKS_MAX = 32, RUNS_MAX = 101, ARGUMENTS_MAX = 20, OURS = 2 };

// Native and qemu come first, then our engines, each with loops off and on.
static struct column {
    const char *name, *engine, *loops;
} columns[COLUMNS_MAX] = {{.name = "native"}, {.name = "qemu-aarch64"}};
static unsigned column_count = OURS;

// A timed demo, or a program with up to three arguments, run in BUILD_DIR/bench.
struct work {
    char name[80]; // in the table
    char wad[64], demo[16];
    bool sound; // a demo with sound and music: its samples are compared, not its frames
    const char *program; // NULL: a demo
    const char *arguments[3];
};

static const struct work programs[] = {
    {.name = "Lua 5.4", .program = "lua", .arguments = {"workload.lua"}},
    {.name = "bzip2 -9", .program = "bzip2", .arguments = {"-9c", "input"}},
    {.name = "bzip2 -d", .program = "bzip2", .arguments = {"-dc", "input.bz2"}},
    {.name = "zstd -16", .program = "zstd", .arguments = {"-q16c", "input"}},
    {.name = "SQLite", .program = "sqlite", .arguments = {":memory:", ".read workload.sql"}},
    {.name = "core: lists, matrices, states, CRC", .program = "core"},
#define KERNEL(kernel)                                                                                       \
    {                                                                                                        \
        .name = "kernel: " kernel, .program = "kernels", .arguments = { kernel }                             \
    }
    KERNEL("copy"),
    KERNEL("scan"),
    KERNEL("checksum"),
    KERNEL("blend"),
    KERNEL("hex"),
    KERNEL("aes"),
    KERNEL("sha256"),
    KERNEL("crc"),
    KERNEL("matrix"),
    KERNEL("dot"),
    KERNEL("bodies"),
    KERNEL("atomics"),
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

struct usage {
    double cpu; // seconds, user + system
    long peak_kb; // resident
};

static char build[512], temporary[] = "/tmp/peers.XXXXXX";
static const char *wad_folder = "/usr/share/games/doom";

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    return remove(path);
}

static void remove_temporary(void)
{
    nftw(temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void fail(const char *what, const char *detail)
{
    fprintf(stderr, "peers: %s: %s\n", what, detail);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t n)
{
    double sorted[RUNS_MAX];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

// The command line of a column; result: where the output that is compared goes, or NULL.
static void command(const struct work *work, unsigned column, const char *result, const char **argv)
{
    static char program[600], guest[600], wad[600];
    bool ours = column >= OURS;
    size_t n = 0;
    snprintf(guest, sizeof guest, "%s/%s/%s.%s", build, work->program ? "bench" : "guest",
             work->program ? work->program : "doom", column ? "aarch64" : "native");
    if (ours) {
        snprintf(program, sizeof program, "%s/%s", build, work->program ? "a64run" : "neurodoom");
        argv[n++] = program;
        argv[n++] = "--engine";
        argv[n++] = columns[column].engine;
        argv[n++] = "--opt";
        argv[n++] = columns[column].loops;
    } else if (column == 1) {
        argv[n++] = "qemu-aarch64";
    }
    if (!ours || work->program)
        argv[n++] = guest;
    if (work->program) {
        for (size_t i = 0; i < 3 && work->arguments[i]; i++)
            argv[n++] = work->arguments[i];
    } else {
        snprintf(wad, sizeof wad, "%s/%s", wad_folder, work->wad);
        if (ours)
            argv[n++] = "--headless";
        argv[n++] = "-iwad";
        argv[n++] = wad;
        argv[n++] = "-timedemo";
        argv[n++] = work->demo;
        if (work->sound) {
            argv[n++] = ours ? "--audio-hash" : "-audiohash";
            argv[n++] = result ? result : "/dev/null";
        } else if (result) {
            argv[n++] = ours ? "--frame-hash" : "-framehash";
            argv[n++] = result;
        }
    }
    argv[n] = NULL;
}

static void redirect(const char *path, int fd)
{
    int file = open(path, fd ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(126);
}

// Runs the work in a column, with the output that is compared into the file result, or nowhere if NULL: then
// nothing is translated behind it, else that is over, too, on return. Ends the program on failure.
static struct usage run(const struct work *work, unsigned column, const char *result)
{
    const char *argv[ARGUMENTS_MAX];
    command(work, column, result, argv);
    pid_t pid = fork();
    if (pid < 0)
        fail("fork", strerror(errno));
    if (pid == 0) {
        redirect("/dev/null", 0);
        redirect(result && work->program ? result : "/dev/null", 1);
        redirect("/dev/null", 2);
        char folder[600];
        snprintf(folder, sizeof folder, "%s/cache%u", temporary, column);
        setenv("XDG_CACHE_HOME", folder, 1);
        if (!result)
            setenv("NEURODOOM_TRANSLATE_BEHIND", "off", 1); // nothing is to run beside what is timed
        snprintf(folder, sizeof folder, "%s/bench", build);
        if (work->program && chdir(folder) != 0)
            _exit(126);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid)
        fail("wait4", strerror(errno));
    while (wait(NULL) > 0) // for what it has left behind, which has become a child of ours
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        char text[700];
        snprintf(text, sizeof text, "status %#x, %s, %s", (unsigned)status, work->name, columns[column].name);
        fail(argv[0], text);
    }
    return (struct usage){(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
                          usage.ru_maxrss};
}

// Are the files equal, and not empty? lines: how many are.
static bool same_file(const char *a, const char *b, unsigned *lines)
{
    FILE *f = fopen(a, "r"), *g = fopen(b, "r");
    bool same = f && g;
    size_t bytes = 0;
    *lines = 0;
    for (int x, y; same && (x = getc(f), y = getc(g), x != EOF || y != EOF); bytes++) {
        same = x == y;
        *lines += same && x == '\n';
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same && bytes > 0;
}

// Nothing is translated behind a demo, which is too short for the compile thread to be done with it in fewer
// runs.
static unsigned passes(const struct work *work, unsigned column)
{
    if (column < OURS)
        return 1;
    if (strcmp(columns[column].engine, "translate") != 0)
        return 2;
    return work->program ? 3 : 12;
}

static bool is_silent_demo(const struct work *work)
{
    return !work->program && !work->sound;
}

// The gate: what every column puts out equals what the native program does. Returns the number of frames.
static unsigned compare_outputs(const struct work *works, size_t count)
{
    char expected[64], file[64];
    unsigned frames = 0;
    snprintf(expected, sizeof expected, "%s/native", temporary);
    snprintf(file, sizeof file, "%s/other", temporary);
    for (size_t w = 0; w < count; w++) {
        unsigned lines = 0;
        run(&works[w], 0, expected);
        for (unsigned c = 1; c < column_count; c++) {
            for (unsigned times = passes(&works[w], c); times > 0; times--) {
                run(&works[w], c, file);
                if (!same_file(expected, file, &lines)) {
                    fprintf(stderr, "peers: %s: %s differs from native in line %u\n", works[w].name,
                            columns[c].name, lines + 1);
                    exit(1);
                }
            }
        }
        frames += is_silent_demo(&works[w]) ? lines : 0;
    }
    return frames;
}

static void print_machine(void)
{
    char line[256], model[256] = "unknown processor";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
    struct utsname u;
    uname(&u);
    printf("machine: %s, %ld cores, %s %s\n", model, sysconf(_SC_NPROCESSORS_ONLN), u.sysname, u.release);
}

static void add_column(const char *engine, const char *loops, const char *note)
{
    struct column *c = &columns[column_count++];
    char *name;
    if (asprintf(&name, "%s%s", engine, note) < 0)
        fail("asprintf", strerror(errno));
    *c = (struct column){name, strdup(engine), loops};
}

// Which of our engines there are, or the one that is asked for.
static void find_engines(const char *wanted)
{
    char line[700];
    snprintf(line, sizeof line, "'%s/neurodoom' --features", build);
    FILE *features = popen(line, "r");
    if (!features)
        fail("popen", strerror(errno));
    while (fgets(line, sizeof line, features)) {
        char name[16], there[8];
        if (sscanf(line, "engine %15s %7s", name, there) == 2 && strcmp(there, "yes") == 0 &&
            (!wanted || strcmp(wanted, name) == 0) && column_count + 2 <= COLUMNS_MAX) {
            add_column(name, "loops=off", "");
            add_column(name, "loops=on", ", loops");
        }
    }
    pclose(features);
    if (column_count == OURS)
        fail("no engine", wanted ? wanted : build);
}

static size_t parse_demos(char *text, struct work *works)
{
    size_t n = 0;
    for (char *item = strtok(text, ","); item; item = strtok(NULL, ",")) {
        char *colon = strchr(item, ':');
        if (!colon || n == WORKS_MAX - PROGRAMS)
            fail("--demos takes WAD:DEMO,… or WAD:DEMO+sound,…, and not that many", item);
        struct work *work = &works[n++];
        *work = (struct work){0};
        char *plus = strchr(colon, '+');
        work->sound = plus && strcmp(plus, "+sound") == 0;
        if (work->sound)
            *plus = '\0';
        snprintf(work->wad, sizeof work->wad, "%.*s", (int)(colon - item), item);
        snprintf(work->demo, sizeof work->demo, "%s", colon + 1);
        snprintf(work->name, sizeof work->name, "%.*s %s%s", (int)strcspn(work->wad, "."), work->wad,
                 work->demo, work->sound ? ", with sound" : "");
    }
    return n;
}

static size_t add_programs(struct work *works, size_t n)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/bench/%s.aarch64", build, programs[i].program);
        if (access(path, X_OK) == 0)
            works[n++] = programs[i];
        else
            fprintf(stderr, "peers: without %s: tests/bench/fetch-programs builds it\n", programs[i].name);
    }
    return n;
}

static void print_row(const char *name, const double *seconds)
{
    printf("| %s |", name);
    for (unsigned c = 0; c < column_count; c++)
        printf(" %.3f |", seconds[c]);
    for (unsigned c = OURS; c < column_count; c++)
        printf(" %.2f |", seconds[c] / seconds[0]);
    for (unsigned c = OURS; c < column_count; c += 2)
        printf(" %.2f |", seconds[c] / seconds[c + 1]);
    printf("\n");
}

static void print_table(const struct work *works, size_t count, size_t runs,
                        double cpu[COLUMNS_MAX][WORKS_MAX][RUNS_MAX], const long *peak)
{
    double sum[COLUMNS_MAX] = {0};
    print_machine();
    printf("CPU seconds, medians of %zu interleaved runs\n\n| |", runs);
    for (unsigned c = 0; c < column_count; c++)
        printf(" %s |", columns[c].name);
    for (unsigned c = OURS; c < column_count; c++)
        printf(" %s / native |", columns[c].name);
    for (unsigned c = OURS; c < column_count; c += 2)
        printf(" %s, loops off / on |", columns[c].engine);
    printf("\n|---|");
    for (unsigned c = 0; c < column_count + (column_count - OURS) * 3 / 2; c++)
        printf("---:|");
    printf("\n");
    for (size_t w = 0; w < count; w++) {
        double m[COLUMNS_MAX];
        for (unsigned c = 0; c < column_count; c++) {
            m[c] = median(cpu[c][w], runs);
            sum[c] += is_silent_demo(&works[w]) ? m[c] : 0;
        }
        print_row(works[w].name, m);
        if (is_silent_demo(&works[w]) && (w + 1 == count || !is_silent_demo(&works[w + 1])))
            print_row("all demos", sum);
    }
    printf("| peak memory, MB |");
    for (unsigned c = 0; c < column_count; c++)
        printf(" %.1f |", (double)peak[c] / 1024);
    for (unsigned c = OURS; c < column_count; c += 2)
        printf(" | | |");
    printf("\n");
}

int main(int argc, char **argv)
{
    static double cpu[COLUMNS_MAX][WORKS_MAX][RUNS_MAX];
    static struct work works[WORKS_MAX];
    char all[] = "freedoom1.wad:demo1,freedoom1.wad:demo2,freedoom1.wad:demo3,freedoom1.wad:demo4,"
                 "freedoom2.wad:demo1,freedoom2.wad:demo2,freedoom2.wad:demo3,freedoom1.wad:demo3+sound";
    char *demo_text = all;
    const char *engine = NULL;
    long peak[COLUMNS_MAX] = {0};
    size_t runs = 5;
    int i = 1;
    for (; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--runs") == 0)
            runs = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--demos") == 0)
            demo_text = argv[i + 1];
        else if (strcmp(argv[i], "--engine") == 0)
            engine = argv[i + 1];
        else
            break;
    }
    if (i != argc - 1 || runs < 1 || runs > RUNS_MAX)
        fail("usage", "peers [--runs N] [--demos WAD:DEMO[+sound],…] [--engine NAME] BUILD_DIR");
    char *absolute = realpath(argv[i], NULL);
    if (!absolute || snprintf(build, sizeof build, "%s", absolute) >= (int)sizeof build)
        fail(argv[i], strerror(absolute ? ENAMETOOLONG : errno));
    find_engines(engine);
    size_t count = add_programs(works, parse_demos(demo_text, works));
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!mkdtemp(temporary))
        fail("mkdtemp", strerror(errno));
    atexit(remove_temporary);

    printf("frames: %u, identical in all columns, as are samples and what the other programs put out\n",
           compare_outputs(works, count));
    for (size_t r = 0; r < runs; r++) {
        for (size_t w = 0; w < count; w++) {
            for (unsigned c = 0; c < column_count; c++) {
                struct usage u = run(&works[w], c, NULL);
                cpu[c][w][r] = u.cpu;
                if (u.peak_kb > peak[c])
                    peak[c] = u.peak_kb;
            }
        }
    }
    print_table(works, count, runs, cpu, peak);
    return 0;
}
