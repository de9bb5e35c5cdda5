// SPDX-License-Identifier: MIT
#include "proc_texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/times.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "process.h"

#define PAGES (GUEST_SPACE / GUEST_PAGE)

// ---- memory ----

// The pages from *page on that look the same to the guest: *page becomes that of the first behind them. 0:
// nothing is mapped there.
static uint8_t next_run(const struct memory *m, uint64_t *page)
{
    const uint8_t same = MEMORY_MAPPED | MEMORY_SHARED | MEMORY_FILE | 7;
    const uint8_t first = m->pages[*page] & same;
    while (++*page < PAGES && (m->pages[*page] & same) == first)
        ;
    return first;
}

static const char *mapping_name(const struct linux_process *p, uint64_t address)
{
    if (address >= p->stack_low && address < GUEST_STACK_TOP)
        return "[stack]";
    if (address >= p->brk_start && address < p->brk)
        return "[heap]";
    return address < p->image_end ? p->files->program : "";
}

static void write_maps(struct linux_process *p, FILE *out)
{
    const struct memory *m = &p->guest->memory;
    for (uint64_t page = 0; page < PAGES;) {
        const uint64_t start = page * GUEST_PAGE;
        const uint8_t run = next_run(m, &page);
        const uint64_t end = page * GUEST_PAGE;
        if (run)
            fprintf(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c 00000000 00:00 0 %s\n", start, end,
                    run & PROT_READ ? 'r' : '-', run & PROT_WRITE ? 'w' : '-', run & PROT_EXEC ? 'x' : '-',
                    run & MEMORY_SHARED ? 's' : 'p', mapping_name(p, start));
    }
}

// Sizes in pages.
struct sizes {
    uint64_t all, data, stack, code, libraries;
    uint64_t resident, resident_files;
    uint64_t code_start, code_end; // addresses of the program's own
};

// How many of the pages are resident. In a deterministic machine all, for it depends on the host.
static uint64_t resident(const struct linux_process *p, uint64_t first, uint64_t end)
{
    unsigned char here[1024];
    uint64_t count = 0;
    if (p->guest->config.deterministic)
        return end - first;
    for (uint64_t page = first; page < end; page += sizeof here) {
        const uint64_t n = end - page < sizeof here ? end - page : sizeof here;
        if (!mincore(p->guest->memory.base + page * GUEST_PAGE, n * GUEST_PAGE, here))
            for (uint64_t i = 0; i < n; i++)
                count += here[i] & 1;
    }
    return count;
}

static struct sizes measure(const struct linux_process *p)
{
    const struct memory *m = &p->guest->memory;
    struct sizes s = {0};
    for (uint64_t page = 0; page < PAGES;) {
        const uint64_t first = page, start = page * GUEST_PAGE;
        const uint8_t run = next_run(m, &page);
        if (!run)
            continue;
        const uint64_t pages = page - first, here = resident(p, first, page);
        s.all += pages;
        s.resident += here;
        s.resident_files += run & (MEMORY_FILE | MEMORY_SHARED) ? here : 0;
        if (start >= p->stack_low && start < GUEST_STACK_TOP) {
            s.stack += pages;
        } else if (run & PROT_WRITE && !(run & MEMORY_SHARED)) {
            s.data += pages;
        } else if (run & PROT_EXEC && start < p->image_end) {
            s.code += pages;
            s.code_start = s.code_start ? s.code_start : start;
            s.code_end = page * GUEST_PAGE;
        } else if (run & PROT_EXEC) {
            s.libraries += pages;
        }
    }
    return s;
}

static void write_statm(struct linux_process *p, FILE *out)
{
    const struct sizes s = measure(p);
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " 0\n", s.all, s.resident,
            s.resident_files, s.code, s.data + s.stack);
}

static void write_meminfo(struct linux_process *p, FILE *out)
{
    const uint64_t total = p->guest->config.ram / 1024, free = process_free_ram(p) / 1024;
    fprintf(out,
            "MemTotal:       %8" PRIu64 " kB\nMemFree:        %8" PRIu64 " kB\nMemAvailable:   %8" PRIu64
            " kB\n",
            total, free, free);
}

// ---- the process ----

static void write_cmdline(struct linux_process *p, FILE *out)
{
    fwrite(p->command_line, 1, p->command_line_length, out);
}

static void write_comm(struct linux_process *p, FILE *out)
{
    fprintf(out, "%s\n", p->name);
}

struct masks {
    uint64_t pending, blocked, ignored, caught;
};

static struct masks read_masks(struct linux_process *p)
{
    struct signals *s = &p->signals;
    signal_due(p); // takes what has arrived
    struct masks m = {.pending = s->pending, .blocked = s->blocked};
    for (int n = 1; n <= SIGNAL_MAX; n++) {
        m.ignored |= s->actions[n].handler == GUEST_SIG_IGN ? SIGNAL_BIT(n) : 0;
        m.caught |= s->actions[n].handler > GUEST_SIG_IGN ? SIGNAL_BIT(n) : 0;
    }
    return m;
}

// Number n of the fields of the host's own stat (proc(5)) from 7 on, where that is the guest's, too.
static int64_t host_field(const struct linux_process *p, int n, int64_t otherwise)
{
    char text[1024] = "";
    FILE *own = p->owns_host && !p->guest->config.deterministic ? fopen("/proc/self/stat", "re") : NULL;
    if (!own)
        return otherwise;
    const size_t length = fread(text, 1, sizeof text - 1, own);
    fclose(own);
    text[length] = 0;
    const char *at = strrchr(text, ')'); // ends field 2, in which anything may be
    for (int field = 2; at && field < n; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at + 1, NULL, 10) : otherwise;
}

static void write_stat(struct linux_process *p, FILE *out)
{
    static const uint64_t self[6];
    const struct sizes sizes = measure(p);
    const struct masks masks = read_masks(p);
    struct tms times;
    clock_times(p, &times);
    fprintf(out, "%d (%s) R %d %d %d %d %d 0 0 0 0 0", p->pid, p->name, (int)sys_getppid(p, self),
            (int)sys_getpgid(p, self), (int)sys_getsid(p, self), (int)host_field(p, 7, 0),
            (int)host_field(p, 8, -1));
    fprintf(out, " %ld %ld %ld %ld 20 %d 1 0 %" PRId64, times.tms_utime, times.tms_stime, times.tms_cutime,
            times.tms_cstime, 20 - (int)sys_getpriority(p, self), host_field(p, 22, 0));
    fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 0",
            sizes.all * (uint64_t)GUEST_PAGE, sizes.resident, p->limits[RLIMIT_RSS].current, sizes.code_start,
            sizes.code_end, (uint64_t)GUEST_STACK_TOP);
    const uint64_t shown = 0x7fffffff; // of real-time signals there is nothing here
    fprintf(out, " 0 %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 0 0 17 0 0 0 0 0 0 0 0 %" PRIu64,
            masks.blocked & shown, masks.ignored & shown, masks.caught & shown, p->brk_start);
    fprintf(out, " 0 0 0 0 0\n"); // where arguments and environment lie is not kept
}

static void write_users(FILE *out)
{
    gid_t groups[GROUPS_MAX];
    const int count = getgroups(GROUPS_MAX, groups);
    fprintf(out, "Uid:\t%u\t%u\t%u\t%u\n", getuid(), geteuid(), geteuid(), geteuid());
    fprintf(out, "Gid:\t%u\t%u\t%u\t%u\n", getgid(), getegid(), getegid(), getegid());
    fprintf(out, "FDSize:\t%d\nGroups:\t", DESCRIPTOR_MAX);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%u", i ? " " : "", groups[i]);
    fprintf(out, " \n");
}

static void write_status(struct linux_process *p, FILE *out)
{
    static const uint64_t self[6];
    const struct sizes sizes = measure(p);
    const struct masks masks = read_masks(p);
    const struct {
        const char *name;
        uint64_t pages;
    } lines[] = {
        {"VmSize", sizes.all},
        {"VmRSS", sizes.resident},
        {"RssAnon", sizes.resident - sizes.resident_files},
        {"RssFile", sizes.resident_files},
        {"VmData", sizes.data},
        {"VmStk", sizes.stack},
        {"VmExe", sizes.code},
        {"VmLib", sizes.libraries},
        {"VmSwap", 0},
    };
    fprintf(out, "Name:\t%s\nUmask:\t%04o\nState:\tR (running)\n", p->name, p->umask);
    fprintf(out, "Tgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", p->pid, p->pid,
            (int)sys_getppid(p, self));
    write_users(out);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fprintf(out, "%s:\t%8" PRIu64 " kB\n", lines[i].name, lines[i].pages * (uint64_t)(GUEST_PAGE / 1024));
    fprintf(out, "Threads:\t1\nSigQ:\t%u/%" PRIu64 "\n", p->signals.queued,
            p->limits[RLIMIT_SIGPENDING].current);
    fprintf(out, "SigPnd:\t%016x\nShdPnd:\t%016" PRIx64 "\nSigBlk:\t%016" PRIx64 "\n", 0, masks.pending,
            masks.blocked);
    fprintf(out, "SigIgn:\t%016" PRIx64 "\nSigCgt:\t%016" PRIx64 "\n", masks.ignored, masks.caught);
    fprintf(out, "CapInh:\t%016x\nCapPrm:\t%016x\nCapEff:\t%016x\nCapBnd:\t%016x\nCapAmb:\t%016x\n", 0, 0, 0,
            0, 0);
    fprintf(out, "NoNewPrivs:\t1\nSeccomp:\t0\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n");
}

// ---- the system ----

static void write_cpuinfo(struct linux_process *p, FILE *out)
{
    (void)p;
    fprintf(out, "processor\t: 0\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32 atomics cpuid\n"
                 "CPU architecture: 8\n");
}

// Clock ticks since the start, and how many of them the guest has used: as times and sysinfo tell.
struct ticks {
    uint64_t all, user, system;
};

static struct ticks read_ticks(struct linux_process *p)
{
    struct tms times;
    const uint64_t now = (uint64_t)clock_times(p, &times);
    struct ticks t = {.user = (uint64_t)(times.tms_utime + times.tms_cutime),
                      .system = (uint64_t)(times.tms_stime + times.tms_cstime)};
    t.all = p->guest->config.deterministic ? now : clock_monotonic_ns() / (1000000000u / CLOCK_TICKS);
    if (t.all < t.user + t.system) // a virtual clock may run ahead
        t.all = t.user + t.system;
    return t;
}

static void write_uptime(struct linux_process *p, FILE *out)
{
    const struct ticks t = read_ticks(p);
    const uint64_t idle = t.all - t.user - t.system;
    fprintf(out, "%" PRIu64 ".%02d %" PRIu64 ".%02d\n", t.all / CLOCK_TICKS, (int)(t.all % CLOCK_TICKS),
            idle / CLOCK_TICKS, (int)(idle % CLOCK_TICKS));
}

static void write_loadavg(struct linux_process *p, FILE *out)
{
    fprintf(out, "0.00 0.00 0.00 1/1 %d\n", p->pid);
}

// The system's: it has one processor, and nobody but the guest uses that.
static void write_system_stat(struct linux_process *p, FILE *out)
{
    const struct ticks t = read_ticks(p);
    for (const char *const *name = (const char *const[]){"cpu ", "cpu0", NULL}; *name; name++)
        fprintf(out, "%s %" PRIu64 " 0 %" PRIu64 " %" PRIu64 " 0 0 0 0 0 0\n", *name, t.user, t.system,
                t.all - t.user - t.system);
    fprintf(out, "processes 1\nprocs_running 1\nprocs_blocked 0\n");
}

// As in /etc/fstab: white space and backslashes are octal (getmntent(3)).
static void write_mount_point(const char *path, FILE *out)
{
    for (; *path; path++)
        fprintf(out, strchr(" \t\n\\#", *path) ? "\\%03o" : "%c", (unsigned char)*path);
}

// What the guest sees of files: where they come from on the host is no business of its.
static void write_mounts(struct linux_process *p, FILE *out)
{
    const struct files *f = p->files;
    bool covered = false; // there is a grant of the root
    for (size_t i = 0; i < f->grant_count; i++)
        covered |= !f->grants[i].length;
    if (!covered)
        fprintf(out, "root / rootfs ro 0 0\n");
    for (size_t i = 0; i < f->grant_count; i++) {
        fprintf(out, "grant ");
        write_mount_point(f->grants[i].length ? f->grants[i].path : "/", out);
        fprintf(out, " grant %s 0 0\n", f->grants[i].writable ? "rw" : "ro");
    }
    fprintf(out, "proc /proc proc ro 0 0\n");
}

const struct proc_text proc_texts[] = {
    {"/proc/self/maps", write_maps},   {"/proc/self/cmdline", write_cmdline},
    {"/proc/self/comm", write_comm},   {"/proc/self/stat", write_stat},
    {"/proc/self/statm", write_statm}, {"/proc/self/status", write_status},
    {"/proc/cpuinfo", write_cpuinfo},  {"/proc/meminfo", write_meminfo},
    {"/proc/loadavg", write_loadavg},  {"/proc/stat", write_system_stat},
    {"/proc/uptime", write_uptime},    {"/proc/self/mounts", write_mounts},
    {"/proc/mounts", write_mounts},
};
const size_t proc_text_count = sizeof proc_texts / sizeof *proc_texts;
