// SPDX-License-Identifier: MIT
// Processes: creation and end of the guest, fork, wait, and signals between the processes that it made.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/state/journal.h"
#include "process.h"

#define DETERMINISTIC_PID 1000
#define SYS_CLONE 220 // of aarch64
#define FAMILY_LOGGED 512 // system call numbers
#define FAMILY_MAX 512 // processes of a guest at a time
#define HELD (1ull << 31) // of a member: no process, but a place that this one has taken for its next child
#define UNKNOWN UINT64_MAX // who it is cannot be told now
#define HOST_DESCRIPTORS 32 // that the host program needs beside the guest's

// What the guest and the processes that it forks share.
struct family {
    // Whom it may send signals to, as identify gives them; 0 = free; [0] is the first.
    _Atomic uint64_t members[FAMILY_MAX];
    atomic_bool logged[FAMILY_LOGGED]; // system calls that the user has been told about
};
static struct family *family;

// What tells a process of the host from a later one with its number: the pid, and above it when it began
// (field 22 of its stat, proc(5)), in hundredths of a second: two of one number that begin within one are the
// same, but to come round to a number takes the host's processes longer. 0 if there is none; UNKNOWN if no
// file can be opened. *ended, if not NULL: it is a zombie.
static uint64_t identify(int pid, bool *ended)
{
    char path[32], text[1024];
    if (ended)
        *ended = false;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? 0 : UNKNOWN;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    const char *at = strrchr(text, ')'); // ends field 2, in which anything may be
    if (ended)
        *ended = at && at[2] == 'Z';
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) << 32 | (uint32_t)pid : 0;
}

static int pid_of(uint64_t member)
{
    return (int)(uint32_t)member;
}

static void family_remove(int pid)
{
    for (int i = 1; i < FAMILY_MAX; i++)
        if (pid_of(atomic_load(&family->members[i])) == pid)
            atomic_store(&family->members[i], 0);
}

// Whether the place is free, or becomes so because who had it has gone: nobody removes who had no parent to
// wait for it.
static bool family_is_free(int i)
{
    uint64_t member = atomic_load(&family->members[i]);
    if (!member)
        return true;
    const uint64_t now = identify(pid_of(member & ~HELD), NULL);
    if (now == UNKNOWN || now == (member & ~HELD))
        return false;
    atomic_compare_exchange_strong(&family->members[i], &member, 0);
    return true;
}

// Takes a place for a child before it is made, for others may be making theirs: what is free, or else what
// somebody has left behind. Negative: there is none, or nobody could be told who the child is.
static int family_hold(uint64_t *held)
{
    const uint64_t self = identify(getpid(), NULL);
    if (!self || self == UNKNOWN)
        return -1;
    *held = self | HELD;
    for (int i = 1; i < 2 * FAMILY_MAX; i++) {
        uint64_t none = 0;
        if (i % FAMILY_MAX == 0 || (i > FAMILY_MAX && !family_is_free(i % FAMILY_MAX)))
            continue;
        if (atomic_compare_exchange_strong(&family->members[i % FAMILY_MAX], &none, *held))
            return i % FAMILY_MAX;
    }
    return -1;
}

// Gives the child the place that is held for it, or frees it if there is no such process any more. Both the
// child and its parent do so, for either may be killed before. Whether it is the child's now.
static bool family_enter(int i, uint64_t held, pid_t child)
{
    const uint64_t member = identify(child, NULL);
    if (member == UNKNOWN)
        return false;
    return (atomic_compare_exchange_strong(&family->members[i], &held, member) || held == member) && member;
}

static bool family_has(int pid)
{
    for (int i = 0; i < FAMILY_MAX; i++) {
        const uint64_t member = atomic_load(&family->members[i]);
        if (pid_of(member) == pid && identify(pid, NULL) == member)
            return true;
    }
    return false;
}

bool process_has_children(struct linux_process *p)
{
    for (int i = 0; p->owns_host && i < FAMILY_MAX; i++) {
        const uint64_t member = atomic_load(&family->members[i]);
        const int pid = pid_of(member);
        bool ended;
        if (pid <= 0 || pid == getpid())
            continue;
        const uint64_t now = identify(pid, &ended);
        if (now == UNKNOWN || (now == member && !ended))
            return true;
    }
    return false;
}

bool process_may_name(struct linux_process *p, int pid)
{
    return pid == p->pid || (p->owns_host && family_has(pid));
}

bool process_first_mention(uint64_t number)
{
    // Numbers that Linux never had count as one.
    return !atomic_exchange(&family->logged[number < FAMILY_LOGGED ? number : 0], true);
}

// ---- creation ----

// Has the host give as many descriptors as it may: how many of them are for the guest.
static struct guest_limit find_descriptors(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r))
        return (struct guest_limit){DESCRIPTOR_MAX, DESCRIPTOR_MAX};
    const uint64_t wanted = r.rlim_cur;
    if (r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max < 4096 ? r.rlim_max : r.rlim_cur < 4096 ? 4096 : r.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &r);
    }
    const uint64_t rest = r.rlim_cur < 2 * HOST_DESCRIPTORS ? r.rlim_cur / 2 : r.rlim_cur - HOST_DESCRIPTORS;
    const uint64_t most = rest < DESCRIPTOR_MAX ? rest : DESCRIPTOR_MAX;
    return (struct guest_limit){wanted < most ? wanted : most, most};
}

static void set_limits(struct linux_process *p)
{
    for (int i = 0; i < GUEST_LIMITS; i++)
        p->limits[i] = (struct guest_limit){UINT64_MAX, UINT64_MAX};
    p->limits[RLIMIT_STACK].current = 8u << 20;
    p->limits[RLIMIT_CORE].current = 0;
    // As for any program that is started here.
    static const uint8_t inherited[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_STACK};
    struct rlimit r;
    for (size_t i = 0; i < sizeof inherited && p->owns_host; i++)
        if (!getrlimit(inherited[i], &r))
            p->limits[inherited[i]] = (struct guest_limit){r.rlim_cur, r.rlim_max};
    p->limits[RLIMIT_NOFILE] = find_descriptors();
    p->limits[RLIMIT_SIGPENDING] = (struct guest_limit){SIGNAL_QUEUE, SIGNAL_QUEUE};
    p->limits[RLIMIT_NPROC] = (struct guest_limit){FAMILY_MAX, FAMILY_MAX};
}

struct linux_process *process_create(struct guest *g, struct error *error)
{
    struct linux_process *p = calloc(1, sizeof *p);
    if (!p) {
        error_set(error, "out of memory");
        return NULL;
    }
    p->guest = g;
    p->owns_host = !g->config.device;
    p->pid = g->config.deterministic ? DETERMINISTIC_PID : getpid();
    p->vfork_pipe = -1;
    p->random_state = 1;
    p->umask = p->before.umask = umask(0);
    umask(p->umask);
    getrlimit(RLIMIT_CPU, &p->before.cpu_time);
    set_limits(p);
    if (!family) {
        family = mmap(NULL, sizeof *family, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (family == MAP_FAILED)
            family = NULL;
    }
    if (!family || !shared_memory_create(p)) {
        error_set(error, "out of memory");
        free(p);
        return NULL;
    }
    if (p->owns_host)
        atomic_store(&family->members[0], identify(getpid(), NULL));
    return p;
}

int process_pid(struct guest *g)
{
    return g->process->pid;
}

void process_fill_random(struct linux_process *p, void *to, size_t size)
{
    uint8_t *bytes = to;
    while (size) {
        size_t n = size < 256 ? size : 256;
        if (!p->guest->config.deterministic) {
            ssize_t got = getrandom(bytes, n, 0);
            assert(got == (ssize_t)n); // for 256 bytes or less (getrandom(2))
        } else {
            for (size_t i = 0; i < n; i++) { // splitmix64, the same bytes at every run
                uint64_t z = p->random_state += 0x9e3779b97f4a7c15u;
                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
                z = (z ^ z >> 27) * 0x94d049bb133111ebu;
                bytes[i] = (uint8_t)(z ^ z >> 31);
            }
        }
        bytes += n;
        size -= n;
    }
}

// ---- the end ----

void linux_release_host(struct linux_process *p)
{
    if (!p->owns_host)
        return;
    umask(p->before.umask);
    setrlimit(RLIMIT_CPU, &p->before.cpu_time);
    process_unlimit_time(p);
}

static void end(struct linux_process *p, int status)
{
    linux_release_host(p);
    if (p->forked) {
        p->guest->host->process_ends(p->guest);
        shared_memory_leave(p);
        _exit(status & 0xff);
    }
    guest_exit(p->guest, status & 0xff);
}

void process_die(struct linux_process *p, int number, uint64_t address, const char *what)
{
    linux_release_host(p);
    if (!p->forked) {
        guest_kill(p->guest, number, address, what);
        return;
    }
    p->guest->host->process_ends(p->guest);
    // The parent has to see the signal, and no core file of the host program.
    shared_memory_leave(p);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    sigset_t none;
    sigemptyset(&none);
    signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), number);
    _exit(128 + number);
}

int64_t sys_exit(struct linux_process *p, const uint64_t *a)
{
    end(p, (int)a[0]);
    return KEEP_REGISTERS;
}

int64_t sys_exit_group(struct linux_process *p, const uint64_t *a)
{
    return sys_exit(p, a);
}

// ---- fork ----

static void close_pipe_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void process_after_exec(struct linux_process *p)
{
    close_pipe_end(&p->vfork_pipe);
    timers_delete_all(p);
    p->replaced = true;
    p->guest->program_is_new = true;
}

static void become_child(struct linux_process *p, const uint64_t *a, int pipe_end, pid_t host_parent)
{
    cpu *c = &p->guest->cpu;
    p->forked = true;
    p->parent = p->pid;
    p->host_parent = host_parent;
    p->pid = getpid();
    close_pipe_end(&p->vfork_pipe); // the grandparent does not wait for this one
    p->vfork_pipe = pipe_end;
    timers_forget(p);
    p->has_time_limit = false; // it was the parent's
    process_limit_time(p);
    signals_after_fork(p);
    shared_memory_after_fork(p);
    journal_end(&p->guest->memory); // nobody goes back here
    if (a[1])
        c->x[REG_SP] = a[1];
    if (a[0] & CLONE_SETTLS)
        c->tpidr = a[3];
    if (a[0] & CLONE_CHILD_SETTID)
        copy_out(p, a[4], &p->pid, 4);
}

int64_t sys_clone(struct linux_process *p, const uint64_t *a)
{
    uint64_t flags = a[0];
    int ends[2] = {-1, -1};
    bool vfork = flags & CLONE_VFORK;
    if (flags & (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                 CLONE_NEWNET))
        return -EPERM;
    if (flags & CLONE_PIDFD)
        return -EINVAL;
    if ((flags & CLONE_VM && !vfork) || flags & CLONE_THREAD) {
        if (process_first_mention(SYS_CLONE))
            guest_log(p->guest,
                      "the program asks for a thread, and this machine has none to give: it gets EAGAIN. "
                      "Unless it goes on without, tell it to use one thread (an option, or a variable such "
                      "as OMP_NUM_THREADS=1), or run it under qemu-aarch64");
        return -EAGAIN;
    }
    // No children beside a window, where host threads hold locks that a child never gets.
    if (!p->owns_host)
        return -EAGAIN;
    if (vfork && pipe2(ends, O_CLOEXEC))
        return -errno;
    files_make_folders(p->files); // first: it may use up descriptors
    uint64_t held;
    const int place = family_hold(&held);
    if (place < 0) {
        close_pipe_end(&ends[0]);
        close_pipe_end(&ends[1]);
        return -EAGAIN;
    }
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    const pid_t self = getpid(); // which may be gone when the child asks for its parent
    pid_t pid = fork();
    if (pid == 0) {
        close_pipe_end(&ends[0]);
        if (!family_enter(place, held, getpid()))
            kill(getpid(), SIGKILL); // no process that nobody could end
        become_child(p, a, ends[1], self);
        sigemptyset(&old); // what the parent holds back is not the child's
        sigprocmask(SIG_SETMASK, &old, NULL);
        return 0;
    }
    int error = errno;
    if (pid > 0) {
        shared_memory_after_fork(p);
        family_enter(place, held, pid);
    } else {
        atomic_store(&family->members[place], 0);
    }
    if (p->guest->memory.journal)
        p->guest->memory.journal->lost = true; // there is no way back from having a child
    sigprocmask(SIG_SETMASK, &old, NULL);
    close_pipe_end(&ends[1]);
    if (pid > 0 && flags & CLONE_PARENT_SETTID)
        copy_out(p, a[2], &pid, 4);
    // A vfork parent goes on when the child has its own program or has ended, or to its own end.
    if (pid > 0 && vfork)
        blocking_wait_readable(p, ends[0]);
    close_pipe_end(&ends[0]);
    return pid < 0 ? -error : pid;
}

int64_t sys_wait4(struct linux_process *p, const uint64_t *a)
{
    int status = 0;
    struct rusage usage;
    _Static_assert(sizeof usage == 144, "struct rusage is the same in every 64-bit ABI");
    if (!p->owns_host)
        return -ECHILD;
    int64_t pid = blocking_call(p, !(a[2] & WNOHANG), SYS_wait4, (int)a[0], (long)&status, (int)a[2],
                                (long)&usage, 0, 0);
    if (pid <= 0)
        return pid;
    if (WIFEXITED(status) || WIFSIGNALED(status))
        family_remove((int)pid);
    if ((a[1] && !copy_out(p, a[1], &status, sizeof status)) ||
        (a[3] && !copy_out(p, a[3], &usage, sizeof usage)))
        return -EFAULT;
    return pid;
}

int64_t sys_waitid(struct linux_process *p, const uint64_t *a)
{
    siginfo_t info = {0};
    struct rusage usage;
    uint8_t bytes[GUEST_SIGINFO_SIZE] = {0};
    int64_t result;
    if (!p->owns_host)
        result = -ECHILD;
    else if ((int)a[0] == P_PIDFD)
        result = (int)a[1] < 0 ? -EINVAL : -EBADF; // no descriptor of the guest's is one of a process
    else
        result = blocking_call(p, !(a[3] & WNOHANG), SYS_waitid, (int)a[0], (int)a[1], (long)&info, (int)a[3],
                               (long)&usage, 0);
    if (result == RESTART || result == RESTART_ALWAYS)
        return result;
    if (info.si_pid) {
        const struct signal_info child = {.number = SIGCHLD,
                                          .code = info.si_code,
                                          .kind = SIGNAL_CHILD,
                                          .pid = info.si_pid,
                                          .uid = info.si_uid,
                                          .status = info.si_status};
        signal_frame_siginfo(&child, bytes);
        if (!(a[3] & WNOWAIT) && info.si_code != CLD_STOPPED && info.si_code != CLD_CONTINUED)
            family_remove(info.si_pid);
        if (a[4] && !copy_out(p, a[4], &usage, sizeof usage))
            return -EFAULT;
    }
    // What tells that there is no child is written, too, and errors are such.
    return a[2] && !copy_out(p, a[2], bytes, sizeof bytes) ? -EFAULT : result;
}

// ---- signals between processes ----

// The host has the process, in fd, before it is asked who that is: so no other one gets the signal.
static int64_t send_to_member(int pid, int number, int code, uint64_t value)
{
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)value;
    int fd = pid > 0 ? pidfd_open(pid, 0) : -1;
    if (fd < 0)
        return -ESRCH;
    int64_t result = -ESRCH;
    if (family_has(pid))
        result = pidfd_send_signal(fd, number, code == SI_QUEUE ? &info : NULL, 0) ? -errno : 0;
    close(fd);
    return result;
}

static int64_t send(struct linux_process *p, int pid, int number, int code, uint64_t value)
{
    if (number < 0 || number > SIGNAL_MAX)
        return -EINVAL;
    if (pid == p->pid) {
        const struct signal_info info = {.number = number,
                                         .code = code,
                                         .kind = SIGNAL_SENT,
                                         .pid = p->pid,
                                         .uid = getuid(),
                                         .value = value};
        return !number || signal_post(p, &info) ? 0 : -EAGAIN;
    }
    if (number == 32 || number == 33)
        return -EINVAL; // they are the host's libc's: nobody catches them there
    if (p->owns_host && p->forked && pid == DETERMINISTIC_PID && p->guest->config.deterministic)
        pid = pid_of(atomic_load(&family->members[0]));
    return p->owns_host ? send_to_member(pid, number, code, value) : -ESRCH;
}

// To every process of the guest that is in group (0: all but the sender).
static int64_t send_to_group(struct linux_process *p, int group, int number)
{
    bool found = false;
    for (int i = 0; i < FAMILY_MAX && p->owns_host; i++) {
        int pid = pid_of(atomic_load(&family->members[i]));
        if (!pid || (group ? getpgid(pid) != group : pid == getpid()))
            continue;
        found |= send(p, pid == getpid() ? p->pid : pid, number, SI_USER, 0) == 0;
    }
    return found ? 0 : -ESRCH;
}

int64_t sys_kill(struct linux_process *p, const uint64_t *a)
{
    int pid = (int)a[0], number = (int)a[1];
    if (number < 0 || number > SIGNAL_MAX)
        return -EINVAL;
    if (pid > 0)
        return send(p, pid, number, SI_USER, 0);
    if (!p->owns_host)
        return send(p, p->pid, number, SI_USER, 0);
    if (pid == INT_MIN)
        return -ESRCH; // no group has that number
    return send_to_group(p, pid == 0 ? getpgrp() : pid == -1 ? 0 : -pid, number);
}

int64_t sys_tkill(struct linux_process *p, const uint64_t *a)
{
    return (int)a[0] > 0 ? send(p, (int)a[0], (int)a[1], SI_TKILL, 0) : -EINVAL;
}

int64_t sys_tgkill(struct linux_process *p, const uint64_t *a)
{
    if ((int)a[0] <= 0 || (int)a[1] <= 0)
        return -EINVAL;
    return a[0] == a[1] ? send(p, (int)a[0], (int)a[2], SI_TKILL, 0) : -ESRCH;
}

static int64_t queue_info(struct linux_process *p, int pid, int number, uint64_t address)
{
    uint8_t bytes[GUEST_SIGINFO_SIZE];
    int32_t code;
    uint64_t value;
    if (!copy_in(p, address, bytes, sizeof bytes))
        return -EFAULT;
    memcpy(&code, bytes + 8, sizeof code);
    memcpy(&value, bytes + 24, sizeof value);
    if (pid != p->pid && (code >= 0 || code == SI_TKILL))
        return -EPERM;
    return send(p, pid, number, pid == p->pid ? code : SI_QUEUE, value);
}

int64_t sys_rt_sigqueueinfo(struct linux_process *p, const uint64_t *a)
{
    return queue_info(p, (int)a[0], (int)a[1], a[2]);
}

int64_t sys_rt_tgsigqueueinfo(struct linux_process *p, const uint64_t *a)
{
    return a[0] == a[1] ? queue_info(p, (int)a[0], (int)a[2], a[3]) : -ESRCH;
}
