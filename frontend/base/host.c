// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "host.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "git_version.h"

const char host_version[] = NEURODOOM_VERSION;
const char host_git[] = NEURODOOM_GIT;
#ifdef __clang__
const char host_flags[] = __VERSION__ " " NEURODOOM_FLAGS;
#else
const char host_flags[] = "gcc " __VERSION__ " " NEURODOOM_FLAGS;
#endif

void host_print_version(const char *program, FILE *stream)
{
    fprintf(stream, "%s %s (%s)\n%s\n", program, host_version, host_git, host_flags);
}

// The rest of the first line of the file that begins with key, after blanks, separators and quotes.
static void read_value(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    FILE *stream = fopen(path, "re");
    snprintf(value, size, "unknown");
    while (stream && fgets(line, sizeof line, stream)) {
        if (strncmp(line, key, strlen(key)) == 0) {
            char *start = line + strlen(key);
            start += strspn(start, " \t:=\"");
            start[strcspn(start, "\"\n")] = '\0';
            snprintf(value, size, "%s", start);
            break;
        }
    }
    if (stream) {
        fclose(stream);
    }
}

// Whether cores may run faster than their nominal speed.
static const char *turbo(void)
{
    char value[8];
    read_value("/sys/devices/system/cpu/cpufreq/boost", "", value, sizeof value);
    if (strcmp(value, "unknown") != 0) {
        return *value == '0' ? "off" : "on";
    }
    read_value("/sys/devices/system/cpu/intel_pstate/no_turbo", "", value, sizeof value);
    return strcmp(value, "unknown") == 0 ? "unknown" : *value == '0' ? "on" : "off";
}

// By its file: what the library says of itself would take loading it.
static void find_blas(char *name, size_t size)
{
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libopenblas.so.0",
                                         "/usr/lib64/libopenblas.so.0", "/usr/lib/libopenblas.so.0"};
    snprintf(name, size, "none");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *file = realpath(places[i], NULL);
        if (file) {
            snprintf(name, size, "%s", strrchr(file, '/') + 1);
            free(file);
            return;
        }
    }
}

void host_describe_machine(struct host_machine *machine)
{
    *machine = (struct host_machine){0};
    read_value("/proc/cpuinfo", "model name", machine->cpu, sizeof machine->cpu);
    read_value("/etc/os-release", "PRETTY_NAME", machine->system, sizeof machine->system);
    read_value("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", machine->governor,
               sizeof machine->governor);
    snprintf(machine->turbo, sizeof machine->turbo, "%s", turbo());
    find_blas(machine->blas, sizeof machine->blas);
    struct utsname names;
    if (uname(&names) == 0) {
        snprintf(machine->kernel, sizeof machine->kernel, "%.40s %.60s %.20s", names.sysname, names.release,
                 names.machine);
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    machine->cores = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    machine->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t host_peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
}
