// SPDX-License-Identifier: MIT
// The Linux personality's life, and the dispatch of system calls.
#include "linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "elf.h"
#include "host_signals.h"
#include "process.h"

// ---- life ----

// Opens config.program and starts it.
static bool start(struct linux_process *p, struct error *error)
{
    const struct machine_config *config = &p->guest->config;
    int host = open(config->program, O_RDONLY | O_CLOEXEC);
    if (host < 0)
        return error_set_kind(error, ERROR_NO_FILE, "%s: %s", config->program, strerror(errno));
    struct error why;
    bool committed;
    const struct exec_arguments arguments = {(char **)config->argv, (char **)config->envp};
    if (exec_load(p, host, config->program, &arguments, &committed, &why))
        return error_set_kind(error, why.kind,
                              why.kind == ERROR_NOT_PROGRAM ? "%s is not a static aarch64 Linux program: %s"
                                                            : "%s cannot be started: %s",
                              config->program, why.text);
    return true;
}

struct linux_process *linux_create(struct guest *g, struct error *error)
{
    struct linux_process *p = process_create(g, error);
    g->process = p;
    if (!p)
        return NULL;
    p->files = files_create(g, error);
    if (!p->files || !start(p, error)) {
        linux_destroy(p);
        return NULL;
    }
    signals_create(p);
    return p;
}

void linux_destroy(struct linux_process *p)
{
    if (!p)
        return;
    host_signals_end(p);
    files_destroy(p->files);
    elf_symbols_close(p->symbols);
    p->guest->process = NULL;
    shared_memory_destroy(p);
    free(p->command_line);
    free(p);
}

const char *linux_symbol(const struct guest *g, uint64_t pc, uint64_t *offset)
{
    return g->process && g->process->symbols ? elf_symbols_find(g->process->symbols, pc, offset) : NULL;
}

int linux_program(const struct linux_process *p)
{
    return p->files->program_host;
}

// ---- system calls ----

#define CALL_NUMBERS 512

static system_call *const calls[CALL_NUMBERS] = {
#define CALL(number, name) [number] = sys_##name,
#define PLAIN CALL
#include "calls.def"
#undef CALL
#undef PLAIN
};

// Offers that every C library makes at its start, and does without.

int64_t sys_rseq(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -ENOSYS;
}

int64_t sys_clone3(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -ENOSYS; // libc then calls clone
}

// Calls whose results are the host's, and in no log of input. No game makes one; should a program, then a
// replay that goes another way is no riddle.
static void tell_unlogged(const struct guest *g, uint64_t number)
{
    static const struct {
        uint16_t number;
        const char *name;
    } unlogged[] = {
        {20, "epoll_create1"}, {43, "statfs"},         {44, "fstatfs"},      {72, "pselect6"},
        {73, "ppoll"},         {85, "timerfd_create"}, {141, "getpriority"}, {165, "getrusage"},
        {168, "getcpu"},       {179, "sysinfo"},       {198, "socket"},
    };
    for (size_t i = 0; i < sizeof unlogged / sizeof *unlogged; i++)
        if (number == unlogged[i].number && process_first_mention(number))
            guest_log(g, "the program calls %s, whose results a recording of input does not hold",
                      unlogged[i].name);
}

// Whether a program that runs ahead may call it: nothing of the host's changes by it.
static bool goes_ahead(uint64_t number)
{
    static const uint16_t harmless[] = {
        29 /* ioctl */,          62 /* lseek */,         63 /* read */,
        65 /* readv */,          67 /* pread64 */,       101 /* nanosleep */,
        113 /* clock_gettime */, 114 /* clock_getres */, 115 /* clock_nanosleep */,
        124 /* sched_yield */,   169 /* gettimeofday */,
    };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (number == harmless[i])
            return true;
    return false;
}

bool linux_is_plain_call(const struct guest *g)
{
#define CALL(number, name)
#define PLAIN(number, name) [number] = true,
    static const bool plain[CALL_NUMBERS] = {
#include "calls.def"
    };
#undef CALL
#undef PLAIN
    uint32_t number = (uint32_t)g->cpu.x[8];
    return number < CALL_NUMBERS && plain[number];
}

void linux_system_call(struct guest *g)
{
    struct linux_process *p = g->process;
    cpu *c = &g->cpu;
    uint64_t number = (uint32_t)c->x[8];
    int64_t result;
    if (g->ahead && !goes_ahead(number)) {
        g->ahead_frames = AHEAD_BLOCKED;
        atomic_store(&g->stop_requested, true);
        return;
    }
    if (g->config.record_input || g->config.replay_input)
        tell_unlogged(g, number);
    if (number < CALL_NUMBERS && calls[number]) {
        result = calls[number](p, c->x);
    } else {
        if (process_first_mention(number))
            guest_log(g, "system call %llu is not implemented: the program gets ENOSYS",
                      (unsigned long long)number);
        result = -ENOSYS;
    }
    if (g->state != MACHINE_RUNNING)
        return;
    if (result == RESTART || result == RESTART_ALWAYS || result == RESTART_UNHANDLED)
        p->interrupted = (int)result;
    else if (result != KEEP_REGISTERS)
        c->x[0] = (uint64_t)result;
    linux_deliver_signals(g);
}
