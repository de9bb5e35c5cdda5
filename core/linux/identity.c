// SPDX-License-Identifier: MIT
// What a process may ask and set about itself and its system: numbers, users, limits, priority, names.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "process.h"

#include "core/base/clock.h"

// ---- processes, sessions ----

int64_t sys_getpid(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    return p->pid;
}

int64_t sys_gettid(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    return p->pid;
}

int64_t sys_getppid(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    if (p->forked)
        return getppid() == p->host_parent ? p->parent : getppid();
    return p->guest->config.deterministic ? 1 : getppid();
}

int64_t sys_setpgid(struct linux_process *p, const uint64_t *a)
{
    int pid = (int)a[0], group = (int)a[1];
    if (pid < 0 || group < 0)
        return -EINVAL;
    if (!p->owns_host || (pid && !process_may_name(p, pid)))
        return -ESRCH;
    if (group && group != getpgrp() && !process_may_name(p, group))
        return -EPERM;
    return setpgid(process_host_pid(p, pid), process_host_pid(p, group)) ? -errno : 0;
}

int64_t sys_getpgid(struct linux_process *p, const uint64_t *a)
{
    int pid = (int)a[0];
    if (pid && !process_may_name(p, pid))
        return -ESRCH;
    pid_t group = getpgid(process_host_pid(p, pid));
    return group < 0 ? -errno : group == getpid() ? p->pid : group;
}

int64_t sys_getsid(struct linux_process *p, const uint64_t *a)
{
    int pid = (int)a[0];
    if (pid && !process_may_name(p, pid))
        return -ESRCH;
    pid_t session = getsid(process_host_pid(p, pid));
    return session < 0 ? -errno : session == getpid() ? p->pid : session;
}

int64_t sys_setsid(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    if (!p->owns_host)
        return -EPERM;
    return setsid() < 0 ? -errno : p->pid;
}

int64_t sys_set_tid_address(struct linux_process *p, const uint64_t *a)
{
    (void)a; // it is written when one of several threads ends
    return p->pid;
}

int64_t sys_set_robust_list(struct linux_process *p, const uint64_t *a)
{
    (void)p; // it matters to other threads only
    return a[1] == 24 ? 0 : -EINVAL;
}

int64_t sys_get_robust_list(struct linux_process *p, const uint64_t *a)
{
    uint64_t none = 0, size = 24;
    return copy_out(p, a[1], &none, 8) && copy_out(p, a[2], &size, 8) ? 0 : -EFAULT;
}

// ---- users: those of the host; they cannot be changed ----

int64_t sys_getuid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return getuid();
}

int64_t sys_geteuid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return geteuid();
}

int64_t sys_getgid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return getgid();
}

int64_t sys_getegid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return getegid();
}

// Setting is granted where it changes nothing. -1 keeps an id.
static int64_t keep_id(const uint64_t *ids, int count, uint32_t own, uint32_t effective)
{
    for (int i = 0; i < count; i++) {
        uint32_t id = (uint32_t)ids[i];
        if (id != UINT32_MAX && id != own && id != effective)
            return -EPERM;
    }
    return 0;
}

int64_t sys_setuid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 1, getuid(), geteuid());
}

int64_t sys_setgid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 1, getgid(), getegid());
}

int64_t sys_setreuid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 2, getuid(), geteuid());
}

int64_t sys_setregid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 2, getgid(), getegid());
}

int64_t sys_setresuid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 3, getuid(), geteuid());
}

int64_t sys_setresgid(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return keep_id(a, 3, getgid(), getegid());
}

int64_t sys_setfsuid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return geteuid();
}

int64_t sys_setfsgid(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return getegid();
}

static int64_t write_ids(struct linux_process *p, const uint64_t *a, uint32_t own, uint32_t effective)
{
    return copy_out(p, a[0], &own, 4) && copy_out(p, a[1], &effective, 4) && copy_out(p, a[2], &effective, 4)
               ? 0
               : -EFAULT;
}

int64_t sys_getresuid(struct linux_process *p, const uint64_t *a)
{
    return write_ids(p, a, getuid(), geteuid());
}

int64_t sys_getresgid(struct linux_process *p, const uint64_t *a)
{
    return write_ids(p, a, getgid(), getegid());
}

int64_t sys_getgroups(struct linux_process *p, const uint64_t *a)
{
    gid_t groups[GROUPS_MAX];
    int size = (int)a[0], count = getgroups(GROUPS_MAX, groups);
    if (count < 0 || size < 0 || (size && size < count))
        return -EINVAL;
    return size && !copy_out(p, a[1], groups, (uint64_t)count * 4) ? -EFAULT : count;
}

// Granted where it changes nothing, as for the ids above.
int64_t sys_setgroups(struct linux_process *p, const uint64_t *a)
{
    gid_t now[GROUPS_MAX], wanted[GROUPS_MAX];
    const int count = getgroups(GROUPS_MAX, now);
    if (geteuid())
        return -EPERM;
    if ((uint32_t)a[0] > GROUPS_MAX)
        return -EINVAL;
    const uint64_t size = (uint32_t)a[0] * sizeof *wanted;
    if (!copy_in(p, a[1], wanted, size))
        return -EFAULT;
    return (int)a[0] == count && !memcmp(now, wanted, size) ? 0 : -EPERM;
}

int64_t sys_capget(struct linux_process *p, const uint64_t *a)
{
    uint32_t header[2], none[6] = {0};
    if (!copy_in(p, a[0], header, sizeof header))
        return -EFAULT;
    if (header[0] != 0x20080522) { // _LINUX_CAPABILITY_VERSION_3
        header[0] = 0x20080522;
        return copy_out(p, a[0], header, 4) ? -EINVAL : -EFAULT;
    }
    return a[1] && !copy_out(p, a[1], none, sizeof none) ? -EFAULT : 0;
}

int64_t sys_capset(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -EPERM;
}

// ---- limits ----

uint64_t process_free_ram(const struct linux_process *p)
{
    const struct memory *m = &p->guest->memory;
    const uint64_t used = m->mapped + m->shared_bytes(m->shared_owner, false), ram = p->guest->config.ram;
    return used < ram ? ram - used : 0;
}

void process_limit_time(struct linux_process *p)
{
    const uint64_t most = p->limits[RLIMIT_CPU].maximum;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    const struct itimerspec end = {.it_value.tv_sec = most ? (time_t)most : 1};
    process_unlimit_time(p);
    if (most == UINT64_MAX || timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &p->time_limit))
        return;
    p->has_time_limit = true;
    timer_settime(p->time_limit, TIMER_ABSTIME, &end, NULL);
}

void process_unlimit_time(struct linux_process *p)
{
    if (p->has_time_limit)
        timer_delete(p->time_limit);
    p->has_time_limit = false;
}

// Passes on what the host's kernel enforces, and applies what is enforced here.
static void apply_limit(struct linux_process *p, int which)
{
    const struct guest_limit *l = &p->limits[which];
    if (which == RLIMIT_AS) {
        const uint64_t ram = p->guest->config.ram;
        p->guest->memory.limit = l->current < ram ? l->current : ram;
    } else if (which == RLIMIT_CPU && p->owns_host) {
        struct rlimit host;
        getrlimit(which, &host);
        host.rlim_cur = l->current < host.rlim_max ? l->current : host.rlim_max;
        setrlimit(which, &host);
        if (which == RLIMIT_CPU)
            process_limit_time(p);
    } else if (which == RLIMIT_NOFILE) {
        p->files->descriptor_limit = l->current < DESCRIPTOR_MAX ? (int)l->current : DESCRIPTOR_MAX;
    }
}

uint64_t process_file_limit(const struct linux_process *p, int host)
{
    const uint64_t limit = p->limits[RLIMIT_FSIZE].current;
    struct stat s;
    if (limit == UINT64_MAX || fstat(host, &s) || !S_ISREG(s.st_mode))
        return UINT64_MAX;
    const int flags = fcntl(host, F_GETFL);
    return flags & (O_ACCMODE | O_PATH) ? limit : UINT64_MAX;
}

int64_t process_exceed_file_limit(struct linux_process *p)
{
    sys_kill(p, (const uint64_t[]){(uint64_t)p->pid, SIGXFSZ});
    return -EFBIG;
}

void process_apply_limits(struct linux_process *p)
{
    for (int which = 0; which < GUEST_LIMITS; which++)
        apply_limit(p, which);
}

static int64_t limit(struct linux_process *p, uint64_t which, uint64_t new_address, uint64_t old_address)
{
    struct guest_limit new, old;
    if (which >= GUEST_LIMITS)
        return -EINVAL;
    old = p->limits[which];
    if (new_address) {
        if (!copy_in(p, new_address, &new, sizeof new))
            return -EFAULT;
        if (new.current > new.maximum)
            return -EINVAL;
        if (new.maximum > old.maximum)
            return -EPERM;
        p->limits[which] = new;
        apply_limit(p, (int)which);
    }
    return old_address && !copy_out(p, old_address, &old, sizeof old) ? -EFAULT : 0;
}

int64_t sys_getrlimit(struct linux_process *p, const uint64_t *a)
{
    return limit(p, (uint32_t)a[0], 0, a[1]);
}

int64_t sys_setrlimit(struct linux_process *p, const uint64_t *a)
{
    return a[1] ? limit(p, (uint32_t)a[0], a[1], 0) : -EFAULT;
}

int64_t sys_prlimit64(struct linux_process *p, const uint64_t *a)
{
    if ((int)a[0] && (int)a[0] != p->pid)
        return process_may_name(p, (int)a[0]) ? -EPERM : -ESRCH;
    return limit(p, (uint32_t)a[1], a[2], a[3]);
}

int64_t sys_getrusage(struct linux_process *p, const uint64_t *a)
{
    struct rusage usage;
    if (getrusage((int)a[0], &usage))
        return -errno;
    return copy_out(p, a[1], &usage, sizeof usage) ? 0 : -EFAULT;
}

// ---- priority ----

int64_t sys_getpriority(struct linux_process *p, const uint64_t *a)
{
    if ((uint32_t)a[0] > PRIO_USER)
        return -EINVAL;
    if ((int)a[1] && !process_may_name(p, (int)a[1]))
        return -ESRCH;
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, process_host_pid(p, (int)a[1]));
    return nice == -1 && errno ? -errno : 20 - nice;
}

int64_t sys_setpriority(struct linux_process *p, const uint64_t *a)
{
    if ((uint32_t)a[0] > PRIO_USER)
        return -EINVAL;
    if ((int)a[1] && (int)a[1] != p->pid)
        return process_may_name(p, (int)a[1]) ? -EPERM : -ESRCH;
    if (!p->owns_host || (int)a[0] != PRIO_PROCESS)
        return -EPERM;
    return setpriority(PRIO_PROCESS, 0, (int)a[2]) ? -errno : 0;
}

int64_t sys_membarrier(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return a[0] == 0 ? 0 : -EINVAL; // MEMBARRIER_CMD_QUERY: none is supported
}

// ---- the system ----

int64_t sys_uname(struct linux_process *p, const uint64_t *a)
{
    struct utsname name, host;
    _Static_assert(sizeof name == 6 * 65, "struct new_utsname");
    memset(&name, 0, sizeof name);
    uname(&host);
    snprintf(name.sysname, sizeof name.sysname, "Linux");
    snprintf(name.nodename, sizeof name.nodename, "%s",
             p->guest->config.deterministic ? "neurodoom" : host.nodename);
    snprintf(name.release, sizeof name.release, "6.1.0");
    snprintf(name.version, sizeof name.version, "#1 SMP");
    snprintf(name.machine, sizeof name.machine, "aarch64");
    snprintf(name.domainname, sizeof name.domainname, "(none)");
    return copy_out(p, a[0], &name, sizeof name) ? 0 : -EFAULT;
}

int64_t sys_sysinfo(struct linux_process *p, const uint64_t *a)
{
    struct {
        int64_t uptime;
        uint64_t loads[3];
        uint64_t total, free, shared, buffers, total_swap, free_swap;
        uint16_t processes, padding;
        uint64_t total_high, free_high;
        uint32_t unit;
    } info = {.uptime = (int64_t)(clock_monotonic_ns() / 1000000000u),
              .total = p->guest->config.ram,
              .free = process_free_ram(p),
              .processes = 1,
              .unit = 1};
    _Static_assert(sizeof info == 112, "struct sysinfo");
    return copy_out(p, a[0], &info, sizeof info) ? 0 : -EFAULT;
}

int64_t sys_getrandom(struct linux_process *p, const uint64_t *a)
{
    uint64_t length = a[1] < 1u << 25 ? a[1] : 1u << 25;
    if (a[2] & ~7ull)
        return -EINVAL;
    for (uint64_t done = 0; done < length;) {
        uint8_t bytes[256];
        uint64_t n = length - done < sizeof bytes ? length - done : sizeof bytes;
        process_fill_random(p, bytes, n);
        if (!copy_out(p, a[0] + done, bytes, n))
            return done ? (int64_t)done : -EFAULT;
        done += n;
    }
    return (int64_t)length;
}

int64_t sys_personality(struct linux_process *p, const uint64_t *a)
{
    uint32_t old = p->personality;
    if ((uint32_t)a[0] != UINT32_MAX) {
        if (a[0] & 0xff)
            return -EINVAL; // another system than Linux
        p->personality = (uint32_t)a[0];
    }
    return old;
}

int64_t sys_prctl(struct linux_process *p, const uint64_t *a)
{
    char name[16] = "";
    int value = 0;
    switch ((int)a[0]) {
    case PR_SET_NAME: {
        int result = copy_string(p, a[1], name, sizeof name);
        if (result == -EFAULT)
            return result;
        name[15] = 0; // a longer one is cut
        memcpy(p->name, name, sizeof name);
        return 0;
    }
    case PR_GET_NAME: return copy_out(p, a[1], p->name, sizeof p->name) ? 0 : -EFAULT;
    case PR_SET_PDEATHSIG:
        if (a[1] > SIGNAL_MAX || a[1] == 32 || a[1] == 33)
            return -EINVAL; // the host's libc has these two
        return p->owns_host && prctl(PR_SET_PDEATHSIG, a[1]) ? -errno : 0;
    case PR_SET_CHILD_SUBREAPER: return p->owns_host && prctl(PR_SET_CHILD_SUBREAPER, a[1] != 0) ? -errno : 0;
    case PR_GET_PDEATHSIG:
    case PR_GET_CHILD_SUBREAPER:
        if (p->owns_host)
            prctl((int)a[0], &value);
        return copy_out(p, a[1], &value, sizeof value) ? 0 : -EFAULT;
    case PR_GET_DUMPABLE: return 1;
    case PR_SET_DUMPABLE: return a[1] <= 1 ? 0 : -EINVAL;
    case PR_GET_KEEPCAPS:
    case PR_GET_SECUREBITS:
    case PR_GET_SECCOMP: return 0;
    case PR_SET_NO_NEW_PRIVS: return a[1] == 1 ? 0 : -EINVAL;
    case PR_GET_NO_NEW_PRIVS: return 1;
    case PR_GET_TIMERSLACK: return p->owns_host ? prctl(PR_GET_TIMERSLACK) : 50000;
    case PR_SET_TIMERSLACK: return p->owns_host && prctl(PR_SET_TIMERSLACK, a[1]) ? -errno : 0;
    default: return -EINVAL;
    }
}
