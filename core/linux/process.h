// SPDX-License-Identifier: MIT
// The inside of the Linux personality, for this folder only: the process, and what its system calls share.
#ifndef CORE_LINUX_PROCESS_H
#define CORE_LINUX_PROCESS_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "blocking.h"
#include "copy.h"
#include "files.h"
#include "linux.h"
#include "shared_memory.h"
#include "signals.h"

#define GUEST_STACK_TOP (GUEST_SPACE - 0x20000) // above it: the signal trampoline and a gap
#define GUEST_TRAMPOLINE (GUEST_SPACE - 0x10000)
#define GUEST_STACK_GAP 0x100000ull // kept free below the stack, as Linux does
#define GUEST_LIMITS 16 // RLIM_NLIMITS
#define GUEST_TIMERS 32
#define GROUPS_MAX 1024 // of a process, as far as it is told

// What a system call returns besides results and negative errnos.
#define RESTART (-512) // interrupted by a signal: restarted if the handler says SA_RESTART, else EINTR
#define RESTART_ALWAYS (-513) // a signal came before the call did anything: restarted behind the handler
#define RESTART_UNHANDLED (-514) // interrupted by a signal: EINTR if it has a handler, else restarted
#define KEEP_REGISTERS INT64_MIN // x0 is already as it should be

struct guest_limit {
    uint64_t current, maximum;
};

// One that timer_create made.
struct guest_timer {
    bool used;
    int host; // its number
    int32_t clock, notify, number; // what it was made with: SIGEV_NONE or SIGEV_SIGNAL, and the signal
    uint64_t value;
};

struct linux_process {
    struct guest *guest;
    struct elf_symbols *symbols; // NULL: none
    struct files *files;
    struct signals signals;
    // The guest is all that this host process does: it may fork, and its signals are the host's. Not so
    // beside a window, where only the guest's own signals to itself reach it.
    bool owns_host;
    bool forked; // a child that the guest made
    int pid; // as the guest sees it
    int parent, host_parent; // of a forked child: what getppid gives while the parent lives
    int vfork_pipe; // closed at exit or execve of a vfork child, which lets the parent go on; -1 = none
    struct shared_memory *shared;
    uint64_t shared_owner; // its number there, another one after each fork
    uint64_t brk_start, brk;
    uint64_t stack_low; // lowest mapped address of the stack
    uint64_t image_end;
    char name[16]; // PR_SET_NAME
    char *command_line; // argv, each with its zero byte
    size_t command_line_length;
    mode_t umask;
    uint32_t personality;
    struct guest_limit limits[GUEST_LIMITS];
    struct {
        mode_t umask;
        struct rlimit cpu_time;
    } before; // of the host process, when it had no guest
    bool has_time_limit;
    timer_t time_limit; // the host's timer that kills this process when its RLIMIT_CPU is used up
    uint64_t random_state; // for deterministic machines
    uint64_t epoch; // of the wall clock where the clock is our own, ns; 0 = not yet known
    uint64_t sleep_deadline; // of a nanosleep or FUTEX_WAIT that was interrupted and may go on, 0 = none
    int interrupted; // the last system call's RESTART…, else 0
    struct guest_timer timers[GUEST_TIMERS];
    bool replaced; // the program that was started has replaced itself by another
};

// ---- process ----

// A process without files and program; NULL with *error. linux_destroy frees it.
struct linux_process *process_create(struct guest *g, struct error *error);
int process_pid(struct guest *g);
// Whether pid is the guest itself or a process that it made.
bool process_may_name(struct linux_process *p, int pid);
// What the host's calls name the process by: 0 is the guest itself.
static inline int process_host_pid(const struct linux_process *p, int pid)
{
    return pid == p->pid ? 0 : pid;
}
// Ends the guest by a signal, or the host process if it is a forked child.
void process_die(struct linux_process *p, int signal, uint64_t address, const char *what);
// Whether the user is told of this system call for the first time, by any of the guest's processes.
bool process_first_mention(uint64_t number);
void process_after_exec(struct linux_process *p);
void process_fill_random(struct linux_process *p, void *to, size_t size);

// Replaces the program by the one open in host (owned by the callee), which the guest knows as path.
// 0 or a negative errno with *error (it is …), which may be NULL; a failure leaves the old program intact
// unless *committed is set.
struct exec_arguments {
    char **argv, **envp; // NULL-terminated
};
int exec_load(struct linux_process *p, int host, const char *path, const struct exec_arguments *arguments,
              bool *committed, struct error *error);

// Whether a process that the guest made still runs.
bool process_has_children(struct linux_process *p);
// Puts all limits of p->limits in force.
void process_apply_limits(struct linux_process *p);
// Has the host kill this process when its processor time is what RLIMIT_CPU allows at most, or not do so any
// more. The host's own limit would be final (setrlimit(2)), and end what the host program still does when the
// guest has ended. A forked process does not inherit it.
void process_limit_time(struct linux_process *p);
void process_unlimit_time(struct linux_process *p);

// How large RLIMIT_FSIZE lets the file become that the host descriptor has open; UINT64_MAX: that is not a
// regular one, or has not been opened for writing. It is kept here, and not put upon the host process, whose
// own files it would hit.
uint64_t process_file_limit(const struct linux_process *p, int host);
// It is exceeded: sends the signal; what the call returns.
int64_t process_exceed_file_limit(struct linux_process *p);
// Whether the file may become so large, which is that object of memory and held, or 0: 0 or a negative errno.
int64_t transfer_check_size(struct linux_process *p, int host, int object, uint64_t size);

// Bytes of the machine's memory, whatever RLIMIT_AS says, that the guest has not got yet.
uint64_t process_free_ram(const struct linux_process *p);

// The host's clock for one that the guest names, of its own processor time or of the system's, or -EINVAL.
int clock_of_host(struct linux_process *p, int clock);

#define CLOCK_TICKS 100 // a second

// What times(2) gives: *t, and the time that has passed, in clock ticks.
struct tms;
int64_t clock_times(struct linux_process *p, struct tms *t);

// The time in nanoseconds; one that never comes is far off. False if *t is no time.
bool clock_read_time(const struct timespec *t, uint64_t *ns);
// Sleeps until the guest's clock shows *t, or for that long. 0; -EINVAL if *t is no time; RESTART_UNHANDLED
// if it was interrupted: then *left tells what is missing of so long, in ns, and unless a signal handler runs
// it is called again and goes on (p->sleep_deadline).
int64_t clock_sleep(struct linux_process *p, int clock, bool absolute, const struct timespec *t,
                    uint64_t *left);

// Makes a host's timer of t, which may come from anywhere. 0 or a negative errno.
int timer_start(struct linux_process *p, struct guest_timer *t);
// The guest's number of a timer that has this one on the host. Safe in a signal handler.
int timer_number(const struct linux_process *p, int host);
// Deletes the guest's timers (execve), or forgets them because fork does not inherit them.
void timers_delete_all(struct linux_process *p);
void timers_forget(struct linux_process *p);

// ---- system calls: a holds x0 to x5 ----

typedef int64_t system_call(struct linux_process *p, const uint64_t *a);
#define CALL(number, name) system_call sys_##name;
#define PLAIN CALL
#include "calls.def"
#undef CALL
#undef PLAIN

#endif
