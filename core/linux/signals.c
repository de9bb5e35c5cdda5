// SPDX-License-Identifier: MIT
// The guest's signals: what is pending, and the guest's actions, which are taken between two of its
// instructions.
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "blocking.h"
#include "host_signals.h"
#include "process.h"

#include "core/base/clock.h"

#define STOPS (SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))

void signals_set_blocked(struct linux_process *p, uint64_t mask)
{
    struct signals *s = &p->signals;
    uint64_t changed = s->blocked ^ (mask & ~NEVER_BLOCKED);
    s->blocked ^= changed;
    for (; changed && p->owns_host; changed &= changed - 1) {
        const int number = __builtin_ctzll(changed) + 1;
        if (s->actions[number].handler == GUEST_SIG_IGN)
            host_signals_catch(s, number);
    }
}

void signals_create(struct linux_process *p)
{
    p->signals.altstack.flags = SS_DISABLE;
    host_signals_begin(p);
}

void signals_after_fork(struct linux_process *p)
{
    atomic_store(&p->guest->signal_pending, false);
    p->signals.pending = 0;
    p->signals.queued = 0;
    host_signals_after_fork();
}

void signals_after_exec(struct linux_process *p)
{
    struct signals *s = &p->signals;
    for (int n = 1; n <= SIGNAL_MAX; n++) {
        uint64_t kept = s->actions[n].handler == GUEST_SIG_IGN ? GUEST_SIG_IGN : GUEST_SIG_DFL;
        bool changed = s->actions[n].flags & (GUEST_SA_NOCLDSTOP | GUEST_SA_NOCLDWAIT);
        s->actions[n] = (struct guest_action){.handler = kept};
        if (changed && p->owns_host)
            host_signals_catch(s, n);
    }
    s->altstack = (struct guest_altstack){.flags = SS_DISABLE};
    p->guest->handles_faults = false;
}

// ---- pending ----

static bool is_ignored_by_default(int number)
{
    return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
}

// Whether delivering the signal now would do nothing.
static bool is_idle(const struct signals *s, int number)
{
    const struct guest_action *action = &s->actions[number];
    return action->handler == GUEST_SIG_IGN ||
           (action->handler == GUEST_SIG_DFL && is_ignored_by_default(number));
}

// Removes what is pending of set, or only what came first of it.
static void discard(struct signals *s, uint64_t set, bool all)
{
    const unsigned queued = s->queued;
    s->queued = 0;
    s->pending = 0;
    for (unsigned i = 0; i < queued; i++)
        if (SIGNAL_BIT(s->queue[i].number) & set) {
            set = all ? set : 0;
        } else {
            s->pending |= SIGNAL_BIT(s->queue[i].number);
            s->queue[s->queued++] = s->queue[i];
        }
    host_signals_hold(s);
}

static void queue(struct signals *s, const struct signal_info *info)
{
    uint64_t bit = SIGNAL_BIT(info->number);
    // One that stops and one that continues undo each other, whether blocked or ignored (signal(7)).
    if (SIGNAL_BIT(info->number) & (STOPS | SIGNAL_BIT(SIGCONT)))
        discard(s, info->number == SIGCONT ? STOPS : SIGNAL_BIT(SIGCONT), true);
    if (info->number < 32 && s->pending & bit)
        return; // standard signals do not queue
    if (is_idle(s, info->number) && !(s->blocked & bit))
        return;
    if (s->queued == SIGNAL_ROOM)
        return; // only where a saved state, which may come from anywhere, has filled it
    s->queue[s->queued++] = *info;
    s->pending |= bit;
}

bool signal_post(struct linux_process *p, const struct signal_info *info)
{
    struct signals *s = &p->signals;
    bool is_standard = info->number < 32;
    if ((s->queued < SIGNAL_QUEUE && s->queued < p->limits[RLIMIT_SIGPENDING].current) ||
        (is_standard && info->code >= 0)) {
        queue(s, info);
        return true;
    }
    if (!is_standard && info->code != SI_USER)
        return false;
    if (!(s->pending & SIGNAL_BIT(info->number)))
        queue(s, &(struct signal_info){.number = info->number, .code = SI_USER, .kind = SIGNAL_SENT});
    return true;
}

static void take_arrived(struct linux_process *p)
{
    struct signal_info info;
    if (!p->owns_host || !atomic_exchange(&p->guest->signal_pending, false))
        return;
    while (host_signals_next(p, &info))
        queue(&p->signals, &info);
    host_signals_hold(&p->signals);
}

bool signal_take(struct linux_process *p, uint64_t set, struct signal_info *info)
{
    struct signals *s = &p->signals;
    take_arrived(p);
    uint64_t ready = s->pending & set;
    if (!ready)
        return false;
    // Faults come first: their frame has to show the instruction that caused them.
    int number = __builtin_ctzll(ready & SYNCHRONOUS ? ready & SYNCHRONOUS : ready) + 1;
    unsigned i = 0;
    while (s->queue[i].number != number)
        i++;
    *info = s->queue[i];
    discard(s, SIGNAL_BIT(number), false);
    return true;
}

bool signal_due(struct linux_process *p)
{
    struct signals *s = &p->signals;
    take_arrived(p);
    if (s->pending & s->waited)
        return true;
    for (uint64_t ready = s->pending & ~s->blocked; ready; ready &= ready - 1) {
        int number = __builtin_ctzll(ready) + 1;
        if (!is_idle(s, number))
            return true;
        discard(s, SIGNAL_BIT(number), true);
    }
    return false;
}

bool signal_ends_guest(struct linux_process *p)
{
    const struct signals *s = &p->signals;
    take_arrived(p);
    for (uint64_t ready = s->pending & ~s->blocked; ready; ready &= ready - 1) {
        int number = __builtin_ctzll(ready) + 1;
        if (s->actions[number].handler == GUEST_SIG_DFL && !is_ignored_by_default(number) &&
            !(SIGNAL_BIT(number) & STOPS))
            return true;
    }
    return false;
}

void signals_set_temporary_mask(struct linux_process *p, uint64_t mask)
{
    struct signals *s = &p->signals;
    s->saved_mask = s->blocked;
    s->restore_mask = true;
    signals_set_blocked(p, mask);
}

// ---- delivery ----

static const char *death(int number)
{
    switch (number) {
    case SIGABRT: return "the program called abort";
    case SIGKILL: return "the program was killed";
    default: return "the program was ended by a signal";
    }
}

static void start_handler(struct linux_process *p, const struct signal_info *info);

// The stack has no room for the handler's frame. As Linux has it, that is a SIGSEGV, whose handler may have
// another stack; the guest ends if that is what could not be handled, or nobody handles it now.
static void start_frameless(struct linux_process *p, int number)
{
    const struct signals *s = &p->signals;
    const struct signal_info info = {.number = SIGSEGV, .code = SI_KERNEL, .kind = SIGNAL_SENT};
    if (number == SIGSEGV || s->actions[SIGSEGV].handler <= GUEST_SIG_IGN || s->blocked & SIGNAL_BIT(SIGSEGV))
        process_die(p, SIGSEGV, p->guest->cpu.x[REG_SP], "no room for a signal handler's frame");
    else
        start_handler(p, &info);
}

// Starts the handler, or what takes its place if its frame cannot be written.
static void start_handler(struct linux_process *p, const struct signal_info *info)
{
    struct signals *s = &p->signals;
    struct guest_action action = s->actions[info->number];
    cpu *c = &p->guest->cpu;
    if (p->interrupted) {
        if (p->interrupted == RESTART_ALWAYS ||
            (p->interrupted == RESTART && action.flags & GUEST_SA_RESTART))
            c->pc -= 4;
        else
            c->x[0] = (uint64_t)-EINTR;
        p->interrupted = 0;
    }
    p->sleep_deadline = 0;
    if (action.flags & GUEST_SA_RESETHAND)
        s->actions[info->number].handler = GUEST_SIG_DFL;
    if (!signal_frame_push(p, info, &action, s->restore_mask ? s->saved_mask : s->blocked)) {
        start_frameless(p, info->number);
        return;
    }
    s->restore_mask = false;
    signals_set_blocked(p, s->blocked | action.mask |
                               (action.flags & GUEST_SA_NODEFER ? 0 : SIGNAL_BIT(info->number)));
}

static void restore_mask(struct linux_process *p)
{
    if (p->signals.restore_mask)
        signals_set_blocked(p, p->signals.saved_mask);
    p->signals.restore_mask = false;
}

void linux_deliver_signals(struct guest *g)
{
    struct linux_process *p = g->process;
    struct signals *s = &p->signals;
    struct signal_info info;
    if (!p->interrupted)
        restore_mask(p); // nothing ended the wait early: what only the temporary mask lets through stays
    while (g->state == MACHINE_RUNNING && signal_take(p, ~s->blocked, &info)) {
        uint64_t handler = s->actions[info.number].handler;
        if (is_idle(s, info.number))
            continue;
        if (handler != GUEST_SIG_DFL)
            start_handler(p, &info);
        else if (SIGNAL_BIT(info.number) & STOPS)
            host_signals_stop(p, info.number);
        else
            process_die(p, info.number, 0, death(info.number));
    }
    if (p->interrupted) { // and there is no handler: as if nothing had happened
        p->interrupted = 0;
        g->cpu.pc -= 4;
    }
    restore_mask(p);
}

void linux_exception(struct guest *g, int signal, int code, uint64_t address, const char *what)
{
    struct linux_process *p = g->process;
    struct signals *s = &p->signals;
    uint64_t handler = s->actions[signal].handler;
    struct signal_info info = {.number = signal, .code = code, .kind = SIGNAL_FAULT, .value = address};
    // One that is blocked or ignored cannot be put off: the instruction would fault for ever.
    if (handler == GUEST_SIG_DFL || handler == GUEST_SIG_IGN || s->blocked & SIGNAL_BIT(signal))
        process_die(p, signal, address, what);
    else
        start_handler(p, &info);
}

// ---- system calls ----

// Whether the guest wants to see faults in its own handler.
static bool handles_faults(const struct signals *s)
{
    return s->actions[SIGSEGV].handler > GUEST_SIG_IGN || s->actions[SIGBUS].handler > GUEST_SIG_IGN;
}

void signals_after_load(struct linux_process *p)
{
    p->guest->handles_faults = handles_faults(&p->signals);
    for (int n = 1; n <= SIGNAL_MAX && p->owns_host; n++)
        host_signals_catch(&p->signals, n);
}

int64_t sys_rt_sigaction(struct linux_process *p, const uint64_t *a)
{
    uint64_t number = (uint32_t)a[0];
    if (a[3] != 8 || !number || number > SIGNAL_MAX)
        return -EINVAL;
    struct guest_action *action = &p->signals.actions[number], old = *action, new;
    if (a[1]) {
        if (!copy_in(p, a[1], &new, sizeof new))
            return -EFAULT;
        if (SIGNAL_BIT(number) & NEVER_BLOCKED)
            return -EINVAL;
        new.mask &= ~NEVER_BLOCKED;
        *action = new;
        p->guest->handles_faults = handles_faults(&p->signals);
        if (p->owns_host &&
            (number == SIGCHLD || (old.handler == GUEST_SIG_IGN) != (new.handler == GUEST_SIG_IGN)))
            host_signals_catch(&p->signals, (int)number);
        if (is_idle(&p->signals, (int)number)) { // what is pending is discarded, blocked or not
            take_arrived(p);
            discard(&p->signals, SIGNAL_BIT(number), true);
        }
    }
    return a[2] && !copy_out(p, a[2], &old, sizeof old) ? -EFAULT : 0;
}

int64_t sys_rt_sigprocmask(struct linux_process *p, const uint64_t *a)
{
    uint64_t set, old = p->signals.blocked;
    if (a[3] != 8)
        return -EINVAL;
    if (a[1]) {
        if (!copy_in(p, a[1], &set, sizeof set))
            return -EFAULT;
        switch ((uint32_t)a[0]) {
        case SIG_BLOCK: set |= old; break;
        case SIG_UNBLOCK: set = old & ~set; break;
        case SIG_SETMASK: break;
        default: return -EINVAL;
        }
        signals_set_blocked(p, set);
    }
    return a[2] && !copy_out(p, a[2], &old, sizeof old) ? -EFAULT : 0;
}

int64_t sys_rt_sigpending(struct linux_process *p, const uint64_t *a)
{
    signal_due(p);
    uint64_t set = p->signals.pending & p->signals.blocked;
    if (a[1] > 8)
        return -EINVAL;
    return copy_out(p, a[0], &set, a[1]) ? 0 : -EFAULT;
}

int64_t sys_rt_sigsuspend(struct linux_process *p, const uint64_t *a)
{
    uint64_t mask;
    if (a[1] != 8)
        return -EINVAL;
    if (!copy_in(p, a[0], &mask, sizeof mask))
        return -EFAULT;
    signals_set_temporary_mask(p, mask);
    return blocking_wait(p, UINT64_MAX) ? RESTART_UNHANDLED : 0;
}

int64_t sys_rt_sigtimedwait(struct linux_process *p, const uint64_t *a)
{
    struct signals *s = &p->signals;
    uint64_t set, deadline = UINT64_MAX;
    int64_t time[2];
    uint8_t bytes[GUEST_SIGINFO_SIZE];
    struct signal_info info;
    if (a[3] != 8)
        return -EINVAL;
    if (!copy_in(p, a[0], &set, sizeof set) || (a[2] && !copy_in(p, a[2], time, sizeof time)))
        return -EFAULT;
    if (a[2]) {
        if (time[0] < 0 || time[1] < 0 || time[1] >= 1000000000)
            return -EINVAL;
        deadline = time[0] > 1000000000
                       ? UINT64_MAX
                       : clock_monotonic_ns() + (uint64_t)time[0] * 1000000000u + (uint64_t)time[1];
    }
    set &= ~NEVER_BLOCKED;
    while (!signal_take(p, set, &info)) {
        s->waited = set;
        int64_t result = blocking_wait(p, deadline);
        s->waited = 0;
        bool found = s->pending & set;
        if (!found && (!result || signal_due(p)))
            return result ? -EINTR : -EAGAIN;
        if (!found && atomic_load(&p->guest->stop_requested))
            return RESTART;
    }
    signal_frame_siginfo(&info, bytes);
    if (a[1] && !copy_out(p, a[1], bytes, sizeof bytes))
        return -EFAULT;
    return info.number;
}

int64_t sys_rt_sigreturn(struct linux_process *p, const uint64_t *a)
{
    (void)a;
    const uint64_t sp = p->guest->cpu.x[REG_SP];
    if (!signal_frame_pop(p)) // Linux calls it a missing mapping only if there is none above either
        linux_exception(p->guest, SIGSEGV, sp <= GUEST_TRAMPOLINE ? SEGV_ACCERR : SEGV_MAPERR, sp,
                        "rt_sigreturn from a damaged frame");
    return KEEP_REGISTERS;
}
