// SPDX-License-Identifier: MIT
#include "host_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "blocking.h"
#include "process.h"

#define STANDARD ((1ull << 31) - 1)
// SIGSEGV and SIGBUS belong to the engine, which passes on what other processes sent; 32 and 33 to libc.
#define OURS (~(NEVER_BLOCKED | SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(32) | SIGNAL_BIT(33)))

_Static_assert((SIGNAL_ARRIVALS & (SIGNAL_ARRIVALS - 1)) == 0, "its index wraps with the counters");
static struct {
    struct linux_process *owner; // who gets the host's signals
    struct signal_info ring[SIGNAL_ARRIVALS];
    atomic_uint head; // written by the handler
    atomic_uint tail; // read by the emulation thread
    struct sigaction previous[SIGNAL_MAX + 1];
    bool installed[SIGNAL_MAX + 1];
    // What the emulation thread blocks on the host, which keeps it meanwhile: a standard signal until the
    // guest has got the one before (so does its timer wait, as on Linux, instead of leaving the guest no
    // time), others while there is no room for them.
    _Atomic uint64_t held;
} host;

static struct signal_info from_host(const siginfo_t *info)
{
    struct signal_info s = {.number = info->si_signo, .code = info->si_code, .kind = SIGNAL_SENT};
    if (info->si_signo == SIGCHLD && info->si_code > 0) {
        s.kind = SIGNAL_CHILD;
        s.pid = info->si_pid;
        s.uid = info->si_uid;
        s.status = info->si_status;
        s.user_time = info->si_utime;
        s.system_time = info->si_stime;
    } else if (info->si_code == SI_TIMER) {
        s.kind = SIGNAL_TIMER;
        s.pid = timer_number(host.owner, info->si_timerid);
        s.uid = (uint32_t)info->si_overrun;
        s.value = (uint64_t)info->si_value.sival_ptr;
    } else {
        s.pid = info->si_pid;
        s.uid = info->si_uid;
        s.value = info->si_code == SI_QUEUE || info->si_code == SI_MESGQ || info->si_code == SI_ASYNCIO
                      ? (uint64_t)info->si_value.sival_ptr
                      : 0;
    }
    return s;
}

static bool is_ours(int number)
{
    return OURS & SIGNAL_BIT(number);
}

// Takes over a host signal, in its handler.
static void note(const siginfo_t *info, void *context)
{
    unsigned head = atomic_load(&host.head), waiting = head - atomic_load(&host.tail);
    if (waiting < SIGNAL_ARRIVALS) {
        host.ring[head % SIGNAL_ARRIVALS] = from_host(info);
        atomic_store(&host.head, head + 1);
    }
    // If there is no room for more: until the emulation thread has made some.
    const uint64_t held =
        waiting >= SIGNAL_ARRIVALS - 1 ? OURS : SIGNAL_BIT(info->si_signo) & STANDARD & OURS;
    sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;
    uint64_t blocked;
    memcpy(&blocked, mask, sizeof blocked); // the kernel's has no more
    blocked |= held;
    memcpy(mask, &blocked, sizeof blocked);
    atomic_fetch_or(&host.held, held);
    atomic_store(&host.owner->guest->signal_pending, true);
    blocking_interrupt(context);
}

static void on_host_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (!host.owner || (SIGNAL_BIT(number) & SYNCHRONOUS && info->si_code > 0)) {
        // Raised by a mistake of this very program: the instruction runs again, without a handler.
        signal(number, SIG_DFL);
        return;
    }
    note(info, context);
    errno = saved;
}

bool linux_note_host_signal(const void *siginfo, void *context)
{
    if (!host.owner)
        return false;
    note(siginfo, context);
    return true;
}

void host_signals_catch(const struct signals *s, int number)
{
    const struct guest_action *action = &s->actions[number];
    if (!is_ours(number))
        return;
    struct sigaction new = {.sa_sigaction = on_host_signal, .sa_flags = SA_SIGINFO};
    sigfillset(&new.sa_mask);
    if (action->handler == GUEST_SIG_IGN && (number == SIGCHLD || !(s->blocked & SIGNAL_BIT(number))))
        new = (struct sigaction){.sa_handler = SIG_IGN};
    if (number == SIGCHLD)
        new.sa_flags |= (action->flags & GUEST_SA_NOCLDSTOP ? SA_NOCLDSTOP : 0) |
                        (action->flags & GUEST_SA_NOCLDWAIT ? SA_NOCLDWAIT : 0);
    sigaction(number, &new, host.installed[number] ? NULL : &host.previous[number]);
    host.installed[number] = true;
}

static void block_host(int how, uint64_t signals)
{
    sigset_t set;
    sigemptyset(&set);
    memcpy(&set, &signals, sizeof signals);
    sigprocmask(how, &set, NULL);
}

void host_signals_hold(const struct signals *s)
{
    if (!host.owner || s != &host.owner->signals)
        return;
    const uint64_t full = s->queued < SIGNAL_QUEUE ? 0 : OURS & ~STANDARD;
    const uint64_t held = atomic_load(&host.held);
    const uint64_t given = held & ~full & ~(s->pending & STANDARD), kept = full & ~held;
    if (given) {
        atomic_fetch_and(&host.held, ~given); // first: what comes at once is held anew
        block_host(SIG_UNBLOCK, given);
    }
    if (kept) {
        block_host(SIG_BLOCK, kept);
        atomic_fetch_or(&host.held, kept);
    }
}

void host_signals_begin(struct linux_process *p)
{
    struct signals *s = &p->signals;
    if (!p->owns_host) {
        // Writing to a pipe that the guest closed must not end the host.
        signal(SIGPIPE, SIG_IGN);
        return;
    }
    host.owner = p;
    atomic_store(&host.tail, atomic_load(&host.head));
    sigset_t mask, none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int n = 1; n <= SIGNAL_MAX; n++) {
        if (is_ours(n) && sigismember(&mask, n) == 1)
            s->blocked |= SIGNAL_BIT(n);
        host_signals_catch(s, n);
        if (is_ours(n) && host.previous[n].sa_handler == SIG_IGN) {
            s->actions[n].handler = GUEST_SIG_IGN;
            host_signals_catch(s, n);
        }
    }
    sigprocmask(SIG_SETMASK, &none, NULL); // last: some may be waiting already
}

void host_signals_end(struct linux_process *p)
{
    if (host.owner != p)
        return;
    // The guest's timers end with it: they would hit the host program, which then has no handler for them.
    const struct itimerval off = {{0, 0}, {0, 0}};
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
        setitimer((__itimer_which_t)which, &off, NULL);
    timers_delete_all(p);
    p->signals.queued = 0;
    p->signals.pending = 0;
    host_signals_hold(&p->signals);
    for (int n = 1; n <= SIGNAL_MAX; n++)
        if (host.installed[n])
            sigaction(n, &host.previous[n], NULL);
    memset(host.installed, 0, sizeof host.installed);
    host.owner = NULL;
}

void host_signals_after_fork(void)
{
    atomic_store(&host.tail, atomic_load(&host.head));
    atomic_store(&host.held, 0);
}

bool host_signals_next(const struct linux_process *p, struct signal_info *info)
{
    const unsigned tail = atomic_load(&host.tail);
    if (host.owner != p || tail == atomic_load(&host.head))
        return false;
    *info = host.ring[tail % SIGNAL_ARRIVALS];
    atomic_store(&host.tail, tail + 1);
    return true;
}

void host_signals_stop(struct linux_process *p, int number)
{
    if (!p->owns_host)
        return;
    if (number != SIGSTOP) {
        signal(number, SIG_DFL);
        atomic_fetch_and(&host.held, ~SIGNAL_BIT(number)); // another may have come
        block_host(SIG_UNBLOCK, SIGNAL_BIT(number));
    }
    kill(getpid(), number);
    if (number != SIGSTOP)
        host_signals_catch(&p->signals, number);
}
