// SPDX-License-Identifier: MIT
// Clocks and sleeping. With the device page, and with the virtual clock, the guest's time is that of
// devices.c; else it is the host's.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/devices/devices.h"
#include "process.h"

#define SECOND 1000000000ull
#define VIRTUAL_EPOCH 946684800ull // what a deterministic machine shows at its start: 1 January 2000

static bool own_clock(const struct linux_process *p)
{
    return p->guest->config.device || p->guest->config.clock == MACHINE_CLOCK_VIRTUAL;
}

static bool is_wall_clock(int clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_of_host(struct linux_process *p, int clock)
{
    if (clock > CLOCK_TAI || (clock < 0 && (clock & 7) == 3))
        return -EINVAL; // host devices
    if (clock >= 0)
        return clock;
    const int pid = ~(clock >> 3);
    if (pid && pid != p->pid)
        return -EINVAL;
    return clock & 4 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
}

// Whether it is that of the processor time of another one of the guest's processes, which the host knows by
// the same name.
static bool is_of_another(struct linux_process *p, int clock)
{
    const int pid = ~(clock >> 3);
    return clock < 0 && (clock & 7) != 3 && pid && pid != p->pid && process_may_name(p, pid);
}

// The time of a clock of the guest; 0 or a negative errno.
static int read_clock(struct linux_process *p, int clock, struct timespec *t)
{
    if (!own_clock(p)) {
        if (!is_of_another(p, clock) && (clock = clock_of_host(p, clock)) < 0)
            return clock;
        return clock_gettime(clock, t) ? -errno : 0;
    }
    if (clock > CLOCK_TAI || clock < 0)
        return -EINVAL;
    uint64_t now = devices_clock_ns(p->guest, true);
    if (is_wall_clock(clock)) {
        if (!p->epoch) {
            struct timespec host;
            clock_gettime(CLOCK_REALTIME, &host);
            uint64_t wall = (uint64_t)host.tv_sec * SECOND + (uint64_t)host.tv_nsec - now;
            if (p->guest->config.clock == MACHINE_CLOCK_VIRTUAL)
                wall = VIRTUAL_EPOCH * SECOND;
            p->epoch = devices_log_number(p->guest->devices, wall);
        }
        now += p->epoch;
    }
    *t = (struct timespec){(time_t)(now / SECOND), (long)(now % SECOND)};
    return 0;
}

int64_t sys_clock_gettime(struct linux_process *p, const uint64_t *a)
{
    struct timespec t;
    if (own_clock(p))
        devices_look(p->guest);
    int result = read_clock(p, (int)a[0], &t);
    return result ? result : copy_out(p, a[1], &t, sizeof t) ? 0 : -EFAULT;
}

int64_t sys_clock_getres(struct linux_process *p, const uint64_t *a)
{
    struct timespec t;
    int result = read_clock(p, (int)a[0], &t);
    if (result)
        return result;
    bool coarse = (int)a[0] == CLOCK_REALTIME_COARSE || (int)a[0] == CLOCK_MONOTONIC_COARSE;
    t = (struct timespec){0, coarse ? 4000000 : 1};
    return a[1] && !copy_out(p, a[1], &t, sizeof t) ? -EFAULT : 0;
}

int64_t sys_clock_settime(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return (int)a[0] == CLOCK_REALTIME ? -EPERM : -EINVAL;
}

int64_t sys_gettimeofday(struct linux_process *p, const uint64_t *a)
{
    struct timespec t;
    const uint64_t zone = 0;
    if (own_clock(p))
        devices_look(p->guest);
    read_clock(p, CLOCK_REALTIME, &t);
    const int64_t value[2] = {t.tv_sec, t.tv_nsec / 1000};
    if ((a[0] && !copy_out(p, a[0], value, sizeof value)) || (a[1] && !copy_out(p, a[1], &zone, 8)))
        return -EFAULT;
    return 0;
}

int64_t clock_times(struct linux_process *p, struct tms *t)
{
    if (!own_clock(p))
        return times(t);
    const int64_t now = (int64_t)(devices_clock_ns(p->guest, true) / (SECOND / CLOCK_TICKS));
    *t = (struct tms){.tms_utime = now};
    return now;
}

int64_t sys_times(struct linux_process *p, const uint64_t *a)
{
    struct tms t;
    const int64_t now = clock_times(p, &t);
    return a[0] && !copy_out(p, a[0], &t, sizeof t) ? -EFAULT : now;
}

// ---- sleeping ----

// What read_clock(clock) has passed since, in ns.
static uint64_t clock_ns(struct linux_process *p, int clock)
{
    struct timespec t = {0, 0};
    read_clock(p, clock, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static int64_t sleep_until(struct linux_process *p, int clock, uint64_t deadline)
{
    for (;;) {
        uint64_t now = clock_ns(p, clock);
        if (now >= deadline)
            return 0;
        if (own_clock(p)) {
            if (!devices_sleep(p->guest, deadline - now))
                return RESTART_UNHANDLED;
        } else {
            uint64_t host = clock_monotonic_ns(), left = deadline - now;
            int64_t result = blocking_wait(p, left > UINT64_MAX - host ? UINT64_MAX : host + left);
            if (result)
                return RESTART_UNHANDLED;
        }
    }
}

bool clock_read_time(const struct timespec *t, uint64_t *ns)
{
    if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= (long)SECOND)
        return false;
    *ns = (uint64_t)t->tv_sec > UINT64_MAX / SECOND / 4 ? UINT64_MAX / 2
                                                        : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
    return true;
}

int64_t clock_sleep(struct linux_process *p, int clock, bool absolute, const struct timespec *t,
                    uint64_t *left)
{
    uint64_t time;
    *left = 0;
    if (!clock_read_time(t, &time))
        return -EINVAL;
    if (absolute)
        return sleep_until(p, clock, time);
    uint64_t deadline = p->sleep_deadline ? p->sleep_deadline : clock_ns(p, CLOCK_MONOTONIC) + time;
    p->sleep_deadline = 0;
    int64_t result = sleep_until(p, CLOCK_MONOTONIC, deadline);
    if (result != RESTART_UNHANDLED)
        return result;
    p->sleep_deadline = deadline;
    uint64_t now = clock_ns(p, CLOCK_MONOTONIC);
    *left = now < deadline ? deadline - now : 0;
    return result;
}

static int64_t sleep_for(struct linux_process *p, int clock, bool absolute, uint64_t request,
                         uint64_t remaining)
{
    struct timespec t;
    uint64_t left;
    if (!copy_in(p, request, &t, sizeof t))
        return -EFAULT;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI: break;
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_PROCESS_CPUTIME_ID: return -EOPNOTSUPP;
    default: return -EINVAL;
    }
    int64_t result = clock_sleep(p, clock, absolute, &t, &left);
    if (absolute || result != RESTART_UNHANDLED || !remaining || !signal_due(p))
        return result;
    t = (struct timespec){(time_t)(left / SECOND), (long)(left % SECOND)};
    return copy_out(p, remaining, &t, sizeof t) ? result : -EFAULT;
}

int64_t sys_nanosleep(struct linux_process *p, const uint64_t *a)
{
    return sleep_for(p, CLOCK_MONOTONIC, false, a[0], a[1]);
}

int64_t sys_clock_nanosleep(struct linux_process *p, const uint64_t *a)
{
    return sleep_for(p, (int)a[0], a[1] & TIMER_ABSTIME, a[2], a[3]);
}

int64_t sys_sched_yield(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    if (p->owns_host)
        sched_yield(); // to the guest's other processes
    return 0;
}

int64_t sys_restart_syscall(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -EINTR;
}
