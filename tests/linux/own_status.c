// SPDX-License-Identifier: MIT
// What /proc tells a process about itself. Printed is what has to be the same natively: names and masks as
// they are, of sizes and times how they hang together and how they change.
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

#define MIB (1 << 20)

static char text[65536];

static const char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    if (f)
        fclose(f);
    return text;
}

static void show_line(const char *path, const char *name)
{
    char start[40];
    snprintf(start, sizeof start, "\n%s:\t", name);
    const char *line = strstr(read_text(path), start);
    if (!line && !strncmp(text, start + 1, strlen(start) - 1))
        line = text - 1;
    printf("%s %.*s\n", path, line ? (int)strcspn(line + 1, "\n") : 4, line ? line + 1 : "none");
}

static long status_number(const char *name)
{
    char start[40];
    snprintf(start, sizeof start, "\n%s:", name);
    const char *line = strstr(read_text("/proc/self/status"), start);
    return line ? atol(line + strlen(start)) : -1;
}

// Fields from 3 on follow the last parenthesis.
static long stat_number(int field)
{
    const char *at = strrchr(read_text("/proc/self/stat"), ')');
    for (int n = 2; at && n < field; n++)
        at = strchr(at + 1, ' ');
    return at ? strtol(at + 1, NULL, 10) : -1;
}

static long statm_number(int field)
{
    const char *at = read_text("/proc/self/statm");
    for (; at && field > 1; field--)
        at = strchr(at + 1, ' ');
    return at ? atol(at) : -1;
}

static void on_signal(int number)
{
    (void)number;
}

static void names(void)
{
    show_line("/proc/self/status", "Name");
    printf("%s", read_text("/proc/self/comm"));
    prctl(PR_SET_NAME, "other) R (name");
    show_line("/proc/self/status", "Name");
    printf("%s", read_text("/proc/self/comm"));
    const char *end = strrchr(read_text("/proc/self/stat"), ')');
    printf("%.*s\n", end ? (int)(end - strchr(text, '(')) + 1 : 0, strchr(text, '('));
    int fields = 2;
    for (const char *at = end; at && (at = strchr(at + 1, ' ')); fields++)
        ;
    SHOW(fields);
    SHOW(atoi(text) == getpid());
}

static void identities(void)
{
    char path[64];
    SHOW(status_number("Tgid") == getpid());
    SHOW(status_number("Pid") == getpid());
    SHOW(status_number("PPid") == getppid());
    SHOW(stat_number(4) == getppid());
    SHOW(stat_number(5) == getpgrp());
    SHOW(stat_number(6) == getsid(0));
    SHOW(stat_number(7));
    SHOW(stat_number(8));
    SHOW(stat_number(19));
    SHOW(nice(3));
    SHOW(stat_number(19));
    SHOW(stat_number(20));
    SHOW(stat_number(38));
    SHOW(status_number("Threads"));
    SHOW(status_number("TracerPid"));
    umask(027);
    show_line("/proc/self/status", "Umask");
    show_line("/proc/self/status", "State");
    show_line("/proc/self/status", "Uid");
    show_line("/proc/self/status", "Gid");
    show_line("/proc/self/status", "Groups");
    snprintf(path, sizeof path, "/proc/%d/stat", getpid());
    SHOW(atoi(read_text(path)) == getpid());
    SHOW(atoi(read_text("/proc/thread-self/stat")) == getpid());
    snprintf(path, sizeof path, "%d", getpid());
    bool listed = false;
    DIR *proc = opendir("/proc");
    for (const struct dirent *entry; (entry = readdir(proc));)
        listed |= !strcmp(entry->d_name, path) && entry->d_type == DT_DIR;
    closedir(proc);
    SHOW(listed);
    const int parent = getpid();
    fflush(stdout);
    if (!fork()) {
        SHOW(status_number("Pid") == getpid());
        SHOW(status_number("PPid") == parent);
        SHOW(stat_number(4) == parent);
        setsid();
        SHOW(stat_number(6) == getpid());
        exit(0);
    }
    wait(NULL);
}

static void signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 3);
    sigaddset(&set, 64);
    sigprocmask(SIG_SETMASK, &set, NULL);
    for (int n = 1; n <= 64; n++)
        signal(n, SIG_DFL);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGRTMIN, SIG_IGN);
    signal(SIGHUP, on_signal);
    signal(SIGRTMAX, on_signal);
    kill(getpid(), SIGUSR1);
    kill(getpid(), 64);
    static const char *const lines[] = {"ShdPnd", "SigBlk", "SigIgn", "SigCgt"};
    for (int i = 0; i < 4; i++)
        show_line("/proc/self/status", lines[i]);
    for (int field = 31; field <= 34; field++)
        SHOW(stat_number(field));
}

static void sizes(void)
{
    const long size = status_number("VmSize"), data = status_number("VmData");
    SHOW(size > 0 && data > 0 && status_number("VmStk") > 0 && status_number("VmExe") > 0);
    SHOW(statm_number(1) * 4 == size);
    SHOW(stat_number(23) / 1024 == size);
    SHOW(stat_number(24) > 0 && statm_number(2) > 0 && status_number("VmRSS") > 0);
    SHOW(statm_number(4) * 4 == status_number("VmExe"));
    const long before = status_number("VmRSS");
    SHOW(before <= size);
    char *area = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(status_number("VmSize") - size);
    SHOW(status_number("VmData") - data);
    SHOW(status_number("VmRSS") - before < 4096);
    memset(area, 1, 16 * MIB);
    const long after = status_number("VmRSS");
    SHOW(after - before >= 16 * 1024 && after - before < 24 * 1024);
    mprotect(area, 32 * MIB, PROT_NONE);
    SHOW(status_number("VmSize") - size);
    SHOW(status_number("VmData") - data);
    munmap(area, 64 * MIB);
    SHOW(status_number("VmSize") - size);
    SHOW(before + 4096 > status_number("VmRSS"));
    int local;
    SHOW((unsigned long)stat_number(28) > (unsigned long)&local);
    SHOW((unsigned long)stat_number(26) <= (unsigned long)sizes &&
         (unsigned long)stat_number(27) > (unsigned long)sizes);
}

static void processor_time(void)
{
    struct tms t;
    do
        times(&t);
    while (t.tms_utime + t.tms_stime < 5);
    SHOW(stat_number(14) + stat_number(15) >= 5);
    fflush(stdout);
    if (!fork()) {
        do
            times(&t);
        while (t.tms_utime + t.tms_stime < 3);
        _exit(0);
    }
    wait(NULL);
    SHOW(stat_number(16) + stat_number(17) >= 3);
}

// What the system tells of itself goes with what it tells of the process.
static void the_system(void)
{
    double up, idle, loads[3];
    int running, all, last;
    unsigned long user, nice, system, rest, wait;
    SHOW(sscanf(read_text("/proc/uptime"), "%lf %lf\n", &up, &idle));
    SHOW(up * 100 + 1 >= stat_number(22) && stat_number(22) >= 0);
    SHOW(sscanf(read_text("/proc/loadavg"), "%lf %lf %lf %d/%d %d\n", &loads[0], &loads[1], &loads[2],
                &running, &all, &last));
    SHOW(sscanf(read_text("/proc/stat"), "cpu %lu %lu %lu %lu %lu", &user, &nice, &system, &rest, &wait));
    SHOW(user + nice + system >= 5);
    SHOW(strstr(text, "\ncpu0 ") && strstr(text, "\nprocs_running "));
}

int main(void)
{
    names();
    identities();
    signals();
    sizes();
    processor_time();
    the_system();
    return 0;
}
