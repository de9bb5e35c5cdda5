// SPDX-License-Identifier: MIT
// peers: the same timed demos on the native twin, on qemu-aarch64 and on neurodoom, interleaved.
//
//   peers [--runs N] [--demos WAD:DEMO,…] BUILD_DIR
//
// First every engine writes its frame hashes for every demo: unless all are equal, nothing is timed. Then the
// engines take turns, demo by demo, run by run. What is reported is CPU time (user + system) of the whole
// process, medians, and the ratio of the medians' sums. Exit status 1 when frames differ or a program fails.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENGINES = 3, DEMOS_MAX = 16, RUNS_MAX = 101, ARGUMENTS_MAX = 16 };

static const char *const engine_names[ENGINES] = {"native", "qemu-aarch64", "neurodoom"};

struct demo {
    char wad[64], name[16];
};

struct usage {
    double cpu; // seconds, user + system
    long peak_kb; // resident
};

static char build[512];
static const char *wad_folder = "/usr/share/games/doom";

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

// Runs the engine on the demo; with hash_file it writes its frame hashes there. Ends the program on failure.
static struct usage run(unsigned engine, const struct demo *demo, const char *hash_file)
{
    char program[600], wad[600];
    const char *argv[ARGUMENTS_MAX];
    size_t n = 0;
    snprintf(wad, sizeof wad, "%s/%s", wad_folder, demo->wad);
    if (engine == 0) {
        snprintf(program, sizeof program, "%s/guest/doom.native", build);
    } else if (engine == 1) {
        argv[n++] = "qemu-aarch64";
        snprintf(program, sizeof program, "%s/guest/doom.aarch64", build);
    } else {
        snprintf(program, sizeof program, "%s/neurodoom", build);
    }
    argv[n++] = program;
    if (engine == 2)
        argv[n++] = "--headless";
    argv[n++] = "-iwad";
    argv[n++] = wad;
    argv[n++] = "-timedemo";
    argv[n++] = demo->name;
    if (hash_file) {
        argv[n++] = engine == 2 ? "--frame-hash" : "-framehash";
        argv[n++] = hash_file;
    }
    argv[n] = NULL;
    pid_t pid = fork();
    if (pid < 0)
        fail("fork", strerror(errno));
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid)
        fail("wait4", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        char text[700];
        snprintf(text, sizeof text, "status %#x on %s %s", (unsigned)status, demo->wad, demo->name);
        fail(argv[0], text);
    }
    return (struct usage){(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
                          usage.ru_maxrss};
}

static bool same_file(const char *a, const char *b, unsigned *frames)
{
    FILE *f = fopen(a, "r"), *g = fopen(b, "r");
    bool same = f && g;
    *frames = 0;
    while (same) {
        char x[128], y[128];
        char *p = fgets(x, sizeof x, f), *q = fgets(y, sizeof y, g);
        if (!p || !q) {
            same = !p && !q && *frames > 0;
            break;
        }
        same = strcmp(x, y) == 0;
        *frames += same;
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same;
}

// The gate: frames of every engine equal to the native twin's. Returns their number.
static unsigned compare_frames(const struct demo *demos, size_t count)
{
    char folder[] = "/tmp/peers.XXXXXX", file[ENGINES][64];
    unsigned total = 0;
    if (!mkdtemp(folder))
        fail("mkdtemp", strerror(errno));
    for (unsigned e = 0; e < ENGINES; e++)
        snprintf(file[e], sizeof file[e], "%s/%u", folder, e);
    for (size_t d = 0; d < count; d++) {
        unsigned frames = 0;
        for (unsigned e = 0; e < ENGINES; e++)
            run(e, &demos[d], file[e]);
        for (unsigned e = 1; e < ENGINES; e++) {
            if (!same_file(file[0], file[e], &frames)) {
                fprintf(stderr, "peers: %s %s: %s differs from native in line %u (files in %s)\n",
                        demos[d].wad, demos[d].name, engine_names[e], frames + 1, folder);
                exit(1);
            }
        }
        total += frames;
    }
    for (unsigned e = 0; e < ENGINES; e++)
        unlink(file[e]);
    rmdir(folder);
    return total;
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

static size_t parse_demos(char *text, struct demo *demos)
{
    size_t n = 0;
    for (char *item = strtok(text, ","); item; item = strtok(NULL, ",")) {
        char *colon = strchr(item, ':');
        if (!colon || n == DEMOS_MAX)
            fail("--demos takes WAD:DEMO,…, at most 16", item);
        snprintf(demos[n].wad, sizeof demos[n].wad, "%.*s", (int)(colon - item), item);
        snprintf(demos[n++].name, sizeof demos[0].name, "%s", colon + 1);
    }
    return n;
}

int main(int argc, char **argv)
{
    static double cpu[ENGINES][DEMOS_MAX][RUNS_MAX];
    char all[] = "freedoom1.wad:demo1,freedoom1.wad:demo2,freedoom1.wad:demo3,freedoom1.wad:demo4,"
                 "freedoom2.wad:demo1,freedoom2.wad:demo2,freedoom2.wad:demo3";
    char *demo_text = all;
    struct demo demos[DEMOS_MAX];
    long peak[ENGINES] = {0};
    size_t runs = 5;
    int i = 1;
    for (; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--runs") == 0)
            runs = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--demos") == 0)
            demo_text = argv[i + 1];
        else
            break;
    }
    if (i != argc - 1 || runs < 1 || runs > RUNS_MAX)
        fail("usage", "peers [--runs N] [--demos WAD:DEMO,…] BUILD_DIR");
    snprintf(build, sizeof build, "%s", argv[i]);
    size_t count = parse_demos(demo_text, demos);

    printf("frames: %u, identical on all engines\n", compare_frames(demos, count));
    for (size_t r = 0; r < runs; r++) {
        for (size_t d = 0; d < count; d++) {
            for (unsigned e = 0; e < ENGINES; e++) {
                struct usage u = run(e, &demos[d], NULL);
                cpu[e][d][r] = u.cpu;
                if (u.peak_kb > peak[e])
                    peak[e] = u.peak_kb;
            }
        }
    }
    print_machine();
    printf("CPU seconds, medians of %zu interleaved runs\n\n| demo |", runs);
    double sum[ENGINES] = {0};
    for (unsigned e = 0; e < ENGINES; e++)
        printf(" %s |", engine_names[e]);
    printf(" neurodoom / native | neurodoom / qemu |\n|---|---|---|---|---|---|\n");
    for (size_t d = 0; d < count; d++) {
        double m[ENGINES];
        printf("| %.*s %s |", (int)strcspn(demos[d].wad, "."), demos[d].wad, demos[d].name);
        for (unsigned e = 0; e < ENGINES; e++) {
            m[e] = median(cpu[e][d], runs);
            sum[e] += m[e];
            printf(" %.3f |", m[e]);
        }
        printf(" %.2f | %.2f |\n", m[2] / m[0], m[2] / m[1]);
    }
    printf("| all | %.3f | %.3f | %.3f | %.2f | %.2f |\n", sum[0], sum[1], sum[2], sum[2] / sum[0],
           sum[2] / sum[1]);
    printf("| peak memory, MB | %.1f | %.1f | %.1f | | |\n", (double)peak[0] / 1024, (double)peak[1] / 1024,
           (double)peak[2] / 1024);
    return 0;
}
