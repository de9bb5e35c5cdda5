// SPDX-License-Identifier: MIT
// The guest's timers are the host's, whose signals reach the guest as its own.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

// A signal costs the host some microseconds before the guest gets it, or has it dropped: one that came every
// nanosecond would leave the guest no time at all, not even for another signal that ends it.
enum { INTERVAL_LEAST_US = 50 };

int64_t sys_getitimer(struct linux_process *p, const uint64_t *a)
{
    struct itimerval value = {{0, 0}, {0, 0}};
    if ((uint32_t)a[0] > ITIMER_PROF)
        return -EINVAL;
    if (p->owns_host)
        getitimer((__itimer_which_t)a[0], &value);
    return copy_out(p, a[1], &value, sizeof value) ? 0 : -EFAULT;
}

int64_t sys_setitimer(struct linux_process *p, const uint64_t *a)
{
    struct itimerval new = {{0, 0}, {0, 0}}, old;
    if ((uint32_t)a[0] > ITIMER_PROF)
        return -EINVAL;
    if (a[1] && !copy_in(p, a[1], &new, sizeof new))
        return -EFAULT;
    if (!p->owns_host)
        return -ENOSYS;
    if (!new.it_interval.tv_sec &&new.it_interval.tv_usec > 0 && new.it_interval.tv_usec < INTERVAL_LEAST_US)
        new.it_interval.tv_usec = INTERVAL_LEAST_US;
    if (setitimer((__itimer_which_t)a[0], &new, &old))
        return -errno;
    return a[2] && !copy_out(p, a[2], &old, sizeof old) ? -EFAULT : 0;
}

// struct sigevent
struct event {
    uint64_t value;
    int32_t number, notify, thread;
    uint8_t rest[44];
};
_Static_assert(sizeof(struct event) == 64, "struct sigevent");

int timer_start(struct linux_process *p, struct guest_timer *t)
{
    struct event event = {.value = t->value, .number = t->number, .notify = t->notify};
    const int clock = clock_of_host(p, t->clock);
    t->used = false;
    // Signals 32 and 33 are the host's libc's: nobody catches them here, so they would end the host program.
    if (clock < 0 || (t->notify == SIGEV_SIGNAL && (t->number == 32 || t->number == 33)))
        return -EINVAL;
    t->used = !syscall(SYS_timer_create, clock, &event, &t->host);
    return t->used ? 0 : -errno;
}

int timer_number(const struct linux_process *p, int host)
{
    for (int id = 0; id < GUEST_TIMERS; id++)
        if (p->timers[id].used && p->timers[id].host == host)
            return id;
    return host;
}

int64_t sys_timer_create(struct linux_process *p, const uint64_t *a)
{
    struct event event = {.number = SIGALRM, .notify = SIGEV_SIGNAL};
    int32_t id = 0;
    while (id < GUEST_TIMERS && p->timers[id].used)
        id++;
    if (!p->owns_host)
        return -ENOSYS;
    if (id == GUEST_TIMERS)
        return -EAGAIN;
    event.value = (uint64_t)id;
    if (a[1] && !copy_in(p, a[1], &event, sizeof event))
        return -EFAULT;
    bool to_thread = event.notify == 4 && event.thread == p->pid; // SIGEV_THREAD_ID
    if (event.notify != SIGEV_NONE && event.notify != SIGEV_SIGNAL && !to_thread)
        return -EINVAL;
    if (to_thread)
        event.notify = SIGEV_SIGNAL;
    struct guest_timer *t = &p->timers[id];
    *t = (struct guest_timer){
        .clock = (int32_t)a[0], .notify = event.notify, .number = event.number, .value = event.value};
    int result = timer_start(p, t);
    if (result)
        return result;
    if (copy_out(p, a[2], &id, sizeof id))
        return 0;
    const uint64_t made = (uint64_t)id;
    sys_timer_delete(p, &made);
    return -EFAULT;
}

static bool has_timer(const struct linux_process *p, uint64_t id)
{
    return id < GUEST_TIMERS && p->timers[id].used;
}

int64_t sys_timer_settime(struct linux_process *p, const uint64_t *a)
{
    struct itimerspec new, old;
    if (!has_timer(p, a[0]))
        return -EINVAL;
    if (!copy_in(p, a[2], &new, sizeof new))
        return -EFAULT;
    if (!new.it_interval.tv_sec &&new.it_interval.tv_nsec > 0 &&
        new.it_interval.tv_nsec < INTERVAL_LEAST_US * 1000)
        new.it_interval.tv_nsec = INTERVAL_LEAST_US * 1000;
    if (syscall(SYS_timer_settime, p->timers[a[0]].host, (int)a[1], &new, &old))
        return -errno;
    return a[3] && !copy_out(p, a[3], &old, sizeof old) ? -EFAULT : 0;
}

int64_t sys_timer_gettime(struct linux_process *p, const uint64_t *a)
{
    struct itimerspec value;
    if (!has_timer(p, a[0]))
        return -EINVAL;
    if (syscall(SYS_timer_gettime, p->timers[a[0]].host, &value))
        return -errno;
    return copy_out(p, a[1], &value, sizeof value) ? 0 : -EFAULT;
}

int64_t sys_timer_getoverrun(struct linux_process *p, const uint64_t *a)
{
    long result = has_timer(p, a[0]) ? syscall(SYS_timer_getoverrun, p->timers[a[0]].host) : -1;
    return result < 0 ? -EINVAL : result;
}

int64_t sys_timer_delete(struct linux_process *p, const uint64_t *a)
{
    if (!has_timer(p, a[0]))
        return -EINVAL;
    syscall(SYS_timer_delete, p->timers[a[0]].host);
    p->timers[a[0]].used = false;
    return 0;
}

void timers_delete_all(struct linux_process *p)
{
    for (uint64_t id = 0; id < GUEST_TIMERS; id++)
        sys_timer_delete(p, &id);
}

void timers_forget(struct linux_process *p)
{
    memset(p->timers, 0, sizeof p->timers);
}
