// SPDX-License-Identifier: MIT
// The process in a saved state: what its system calls and signals have left.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "files_state.h"
#include "process.h"

#define COMMAND_LINE_MAX (16u << 20)
#define TIMER_PART 0x524d4954u // names of the parts
#define PROCESS_PART 0x434f5250u
#define SIGNAL_PART 0x4e474953u

// ---- the process ----

// Whether the guest's time is that of devices.c: then a time of its clock needs no translation.
static bool own_clock(const struct linux_process *p)
{
    return p->guest->config.device || p->guest->config.clock == MACHINE_CLOCK_VIRTUAL;
}

static void transfer_sleep(struct linux_process *p, struct saved *s)
{
    uint8_t own = own_clock(p);
    uint64_t now = own ? 0 : clock_monotonic_ns(), deadline = p->sleep_deadline;
    uint64_t left = deadline > now ? deadline - now : deadline != 0;
    SAVED(s, own);
    SAVED(s, left);
    if (s->loading && own != own_clock(p))
        saved_fail(s, "the state was saved with another kind of clock: see --clock");
    p->sleep_deadline = left ? now + left : 0;
}

static void transfer_command_line(struct linux_process *p, struct saved *s)
{
    uint64_t length = p->command_line_length;
    SAVED(s, length);
    saved_expect(s, length <= COMMAND_LINE_MAX, "its command line");
    if (s->loading) {
        p->command_line_length = s->failed ? 0 : length;
        p->command_line = malloc(p->command_line_length + 1);
    }
    if (!p->command_line && p->command_line_length)
        saved_fail(s, "there is not enough memory to load the state");
    else
        saved_bytes(s, p->command_line, p->command_line_length);
}

static bool is_address(uint64_t address)
{
    return address >= GUEST_MMAP_MIN && address < GUEST_SPACE;
}

static void transfer_process(struct linux_process *p, struct saved *s)
{
    saved_part(s, PROCESS_PART);
    SAVED(s, p->pid);
    SAVED(s, p->brk_start);
    SAVED(s, p->brk);
    SAVED(s, p->stack_low);
    SAVED(s, p->image_end);
    SAVED(s, p->name);
    SAVED(s, p->umask);
    SAVED(s, p->personality);
    SAVED(s, p->limits);
    SAVED(s, p->random_state);
    SAVED(s, p->epoch);
    transfer_sleep(p, s);
    transfer_command_line(p, s);
    saved_expect(s,
                 p->pid > 0 && is_address(p->brk_start) && is_address(p->brk) && p->brk >= p->brk_start &&
                     is_address(p->stack_low - GUEST_STACK_GAP) && is_address(p->stack_low) &&
                     p->stack_low % GUEST_PAGE == 0 && is_address(p->image_end),
                 "its addresses");
    saved_expect(s, memchr(p->name, 0, sizeof p->name) && !(p->umask & ~0777u), "its name");
    for (int i = 0; i < GUEST_LIMITS; i++)
        saved_expect(s, p->limits[i].current <= p->limits[i].maximum, "its limits");
}

// ---- signals ----

static void transfer_info(struct signal_info *info, struct saved *s)
{
    int32_t kind = info->kind;
    SAVED(s, info->number);
    SAVED(s, info->code);
    SAVED(s, kind);
    SAVED(s, info->pid);
    SAVED(s, info->uid);
    SAVED(s, info->value);
    SAVED(s, info->status);
    SAVED(s, info->user_time);
    SAVED(s, info->system_time);
    saved_expect(
        s, info->number >= 1 && info->number <= SIGNAL_MAX && kind >= SIGNAL_SENT && kind <= SIGNAL_FAULT,
        "a signal");
    info->kind = (enum signal_kind)kind;
}

static void transfer_signals(struct signals *g, struct saved *s)
{
    const uint64_t never = SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);
    saved_part(s, SIGNAL_PART);
    for (int n = 1; n <= SIGNAL_MAX; n++)
        SAVED(s, g->actions[n]);
    SAVED(s, g->blocked);
    SAVED(s, g->altstack.base);
    SAVED(s, g->altstack.flags);
    SAVED(s, g->altstack.size);
    SAVED(s, g->queued);
    saved_expect(s, !(g->blocked & never) && g->queued <= SIGNAL_ROOM, "its signals");
    g->pending = 0;
    for (unsigned i = 0; i < g->queued && !s->failed; i++) {
        transfer_info(&g->queue[i], s);
        if (!s->failed)
            g->pending |= SIGNAL_BIT(g->queue[i].number);
    }
}

// ---- timers ----

// A timer as it stands, with the time that is left.
struct timer_value {
    int64_t interval[2], left[2]; // seconds; micro- or nanoseconds
};

struct timers {
    struct timer_value intervals[3]; // ITIMER_REAL to ITIMER_PROF
    struct timer_value values[GUEST_TIMERS];
};
_Static_assert(sizeof(struct itimerval) == sizeof(struct timer_value) &&
                   sizeof(struct itimerspec) == sizeof(struct timer_value),
               "what the kernel takes");

static void read_timers(const struct linux_process *p, struct timers *t)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < 3 && p->owns_host; i++)
        getitimer((__itimer_which_t)i, (struct itimerval *)&t->intervals[i]);
    for (int i = 0; i < GUEST_TIMERS; i++)
        if (p->timers[i].used)
            syscall(SYS_timer_gettime, p->timers[i].host, &t->values[i]);
}

static void write_timers(struct linux_process *p, const struct timers *t)
{
    for (int i = 0; i < 3 && p->owns_host; i++)
        setitimer((__itimer_which_t)i, (const struct itimerval *)&t->intervals[i], NULL);
    for (int i = 0; i < GUEST_TIMERS; i++)
        if (p->timers[i].used && !timer_start(p, &p->timers[i]))
            syscall(SYS_timer_settime, p->timers[i].host, 0, &t->values[i], NULL);
}

static bool is_time(const int64_t time[2], int64_t second)
{
    return time[0] >= 0 && time[1] >= 0 && time[1] < second;
}

static void transfer_timers(struct linux_process *p, struct timers *t, struct saved *s)
{
    saved_part(s, TIMER_PART);
    SAVED(s, t->intervals);
    for (int i = 0; i < 3; i++)
        saved_expect(s, is_time(t->intervals[i].interval, 1000000) && is_time(t->intervals[i].left, 1000000),
                     "a timer");
    for (int i = 0; i < GUEST_TIMERS; i++) {
        uint8_t used = p->timers[i].used;
        SAVED(s, used);
        SAVED(s, p->timers[i].clock);
        SAVED(s, p->timers[i].notify);
        SAVED(s, p->timers[i].number);
        SAVED(s, p->timers[i].value);
        SAVED(s, t->values[i]);
        saved_expect(s,
                     used <= p->owns_host && is_time(t->values[i].interval, 1000000000) &&
                         is_time(t->values[i].left, 1000000000) &&
                         (p->timers[i].notify == SIGEV_NONE || p->timers[i].notify == SIGEV_SIGNAL) &&
                         p->timers[i].number >= 0 && p->timers[i].number <= SIGNAL_MAX,
                     "a timer");
        p->timers[i].used = used;
    }
}

// ---- all of it ----

void linux_save(struct linux_process *p, struct saved *s)
{
    struct timers timers;
    if (p->forked || process_has_children(p))
        saved_fail(s, "the program has made other processes, which cannot be saved");
    if (p->replaced)
        saved_fail(s, "the program has replaced itself by another one (execve)");
    read_timers(p, &timers);
    transfer_process(p, s);
    transfer_signals(&p->signals, s);
    transfer_timers(p, &timers, s);
    files_save(p->files, s);
}

struct linux_plan {
    struct linux_process process;
    struct timers timers;
    struct files_plan *files;
};

struct linux_plan *linux_plan_load(struct linux_process *p, struct saved *s)
{
    struct linux_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        saved_fail(s, "there is not enough memory to load the state");
        return NULL;
    }
    plan->process = *p;
    plan->process.command_line = NULL;
    if (p->forked || process_has_children(p) || p->replaced)
        saved_fail(s, "the program that runs has made other processes, or replaced itself by another one");
    transfer_process(&plan->process, s);
    transfer_signals(&plan->process.signals, s);
    transfer_timers(&plan->process, &plan->timers, s);
    plan->process.signals.restore_mask = false;
    plan->process.interrupted = 0;
    if (!s->failed)
        plan->files = files_plan_load(p->files, s);
    if (!s->failed)
        return plan;
    linux_plan_free(plan);
    return NULL;
}

void linux_plan_free(struct linux_plan *plan)
{
    if (!plan)
        return;
    files_plan_free(plan->files);
    free(plan->process.command_line);
    free(plan);
}

void linux_load(struct linux_process *p, struct linux_plan *plan)
{
    timers_delete_all(p);
    free(p->command_line);
    *p = plan->process;
    plan->process.command_line = NULL;
    files_load(p->files, plan->files);
    process_apply_limits(p);
    if (p->owns_host)
        umask(p->umask);
    signals_after_load(p);
    write_timers(p, &plan->timers);
}
