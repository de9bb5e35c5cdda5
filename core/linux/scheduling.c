// SPDX-License-Identifier: MIT
// Scheduling: one processor, and the policies that need no rights.
#include <errno.h>
#include <sched.h>

#include "process.h"

// Why the guest may not ask about pid, 0 meaning itself: 0 if it may.
static int64_t refusal(struct linux_process *p, int pid)
{
    return pid < 0 ? -EINVAL : pid && !process_may_name(p, pid) ? -ESRCH : 0;
}

// The most and the least priority of a policy; -EINVAL: there is none of this number.
static int most(uint64_t policy)
{
    switch ((int)policy) {
    case SCHED_FIFO:
    case SCHED_RR: return 99;
    case SCHED_OTHER:
    case SCHED_BATCH:
    case SCHED_IDLE:
    case SCHED_DEADLINE: return 0;
    default: return -EINVAL;
    }
}

static int least(uint64_t policy)
{
    const int result = most(policy);
    return result > 0 ? 1 : result;
}

static int64_t set_policy(struct linux_process *p, int pid, uint64_t policy, int priority)
{
    const uint64_t kind = policy & ~(uint64_t)SCHED_RESET_ON_FORK;
    if (most(kind) < 0 || kind == SCHED_DEADLINE || priority < least(kind) || priority > most(kind))
        return -EINVAL;
    if (kind == SCHED_FIFO || kind == SCHED_RR || process_host_pid(p, pid))
        return -EPERM;
    if (!p->owns_host)
        return kind == SCHED_OTHER ? 0 : -EPERM;
    const struct sched_param none = {0};
    return sched_setscheduler(0, (int)policy, &none) ? -errno : 0;
}

int64_t sys_sched_setparam(struct linux_process *p, const uint64_t *a)
{
    int32_t priority;
    if ((int)a[0] < 0 || !a[1])
        return -EINVAL;
    if (!copy_in(p, a[1], &priority, 4))
        return -EFAULT;
    const int64_t refused = refusal(p, (int)a[0]);
    return refused ? refused : priority ? -EINVAL : 0;
}

int64_t sys_sched_getparam(struct linux_process *p, const uint64_t *a)
{
    struct sched_param now = {0};
    const int64_t refused = a[1] ? refusal(p, (int)a[0]) : -EINVAL;
    if (refused)
        return refused;
    if (p->owns_host && sched_getparam(process_host_pid(p, (int)a[0]), &now))
        return -errno;
    return copy_out(p, a[1], &now.sched_priority, 4) ? 0 : -EFAULT;
}

int64_t sys_sched_setscheduler(struct linux_process *p, const uint64_t *a)
{
    int32_t priority;
    if ((int)a[0] < 0 || (int)a[1] < 0 || !a[2])
        return -EINVAL;
    if (!copy_in(p, a[2], &priority, 4))
        return -EFAULT;
    const int64_t refused = refusal(p, (int)a[0]);
    return refused ? refused : set_policy(p, (int)a[0], (uint32_t)a[1], priority);
}

int64_t sys_sched_getscheduler(struct linux_process *p, const uint64_t *a)
{
    const int64_t refused = refusal(p, (int)a[0]);
    if (refused || !p->owns_host)
        return refused ? refused : SCHED_OTHER;
    const int policy = sched_getscheduler(process_host_pid(p, (int)a[0]));
    return policy < 0 ? -errno : policy;
}

int64_t sys_sched_get_priority_max(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return most(a[0]);
}

int64_t sys_sched_get_priority_min(struct linux_process *p, const uint64_t *a)
{
    (void)p;
    return least(a[0]);
}

int64_t sys_sched_rr_get_interval(struct linux_process *p, const uint64_t *a)
{
    const int64_t interval[2] = {0, 4000000}, refused = refusal(p, (int)a[0]);
    return refused ? refused : copy_out(p, a[1], interval, sizeof interval) ? 0 : -EFAULT;
}

int64_t sys_sched_getaffinity(struct linux_process *p, const uint64_t *a)
{
    const uint64_t mask = 1;
    if (a[1] < sizeof mask || a[1] % sizeof mask)
        return -EINVAL;
    if ((int)a[0] && !process_may_name(p, (int)a[0]))
        return -ESRCH;
    return copy_out(p, a[2], &mask, sizeof mask) ? (int64_t)sizeof mask : -EFAULT;
}

int64_t sys_sched_setaffinity(struct linux_process *p, const uint64_t *a)
{
    uint8_t first = 0;
    if (a[1] && !copy_in(p, a[2], &first, 1))
        return -EFAULT;
    if ((int)a[0] && !process_may_name(p, (int)a[0]))
        return -ESRCH;
    return first & 1 ? 0 : -EINVAL;
}

int64_t sys_getcpu(struct linux_process *p, const uint64_t *a)
{
    const uint32_t zero = 0;
    return (!a[0] || copy_out(p, a[0], &zero, 4)) && (!a[1] || copy_out(p, a[1], &zero, 4)) ? 0 : -EFAULT;
}
