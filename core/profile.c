// SPDX-License-Identifier: MIT
#include "profile.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/engine/translate/translate.h"
#include "core/state/counts.h"
#include "profile_callers.h"

// Of a sample: the host's general registers, the one that the interpreter keeps its op in first, and words
// from the top of the stack.
enum { REGISTERS = 15, STACK_WORDS = 12, WORDS = REGISTERS + STACK_WORDS };
enum { RING = 1024 }; // samples that wait for profile_take: a second of them, or more
enum { INTERVAL_NS = 1000000 }; // the host takes a longer one, if it looks less often

struct sample {
    uint64_t host_pc;
    uint64_t words[WORDS];
    uint32_t activity; // enum activity
    uint32_t header; // of the loop that a kernel stands in for
    struct profile_chain chain; // of the guest's code
};

struct profile {
    struct guest *guest;
    struct profile_map *map;
    struct sample ring[RING];
    // Written by the handler and profile_take, both on the emulation thread.
    volatile unsigned head, tail;
    volatile uint64_t lost;

    bool begun, sampling; // profile_begin has been called; there is a timer
    timer_t timer;
    uint64_t began_ns, ended_ns; // CPU time of the emulation thread

    struct machine_profile_row *rows;
    size_t row_count, row_room, last_row; // last_row: that was found last
    uint64_t samples, instructions; // of all rows
    struct profile_callers callers;
    volatile bool stale; // the map is of other code
};

// The profile that the calling thread is sampled for.
static _Thread_local struct profile *sampled;
static const char mark; // its address is the value of our signals

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- taking a sample ----

// As far as the page goes: a stack pointer that begins one may be the end of the stack.
__attribute__((no_sanitize("address"))) static void copy_stack(struct sample *s, uint64_t top)
{
    const size_t page = 4096, in_page = top % page ? (page - top % page) / sizeof s->words[0] : 0;
    const volatile uint64_t *words = (const volatile uint64_t *)top;
    for (size_t i = 0; i < STACK_WORDS; i++)
        s->words[REGISTERS + i] = i < in_page ? words[i] : 0;
}

static uint64_t stack_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
#error "tell here where this host has its stack pointer"
#endif
}

static void copy_registers(struct sample *s, const ucontext_t *context)
{
#if defined(__x86_64__)
    static const uint8_t order[REGISTERS] = {REG_RSI, REG_RAX, REG_RBX, REG_RBP, REG_R12,
                                             REG_R13, REG_R14, REG_R15, REG_RCX, REG_RDX,
                                             REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11};
    const greg_t *registers = context->uc_mcontext.gregs;
    s->host_pc = (uint64_t)registers[REG_RIP];
    for (unsigned i = 0; i < REGISTERS; i++)
        s->words[i] = (uint64_t)registers[order[i]];
    copy_stack(s, stack_of(context));
#else
#error "tell here where this host has its registers"
#endif
}

static void copy_chain(struct sample *s, const struct guest *g, const ucontext_t *context)
{
    if (s->activity == ACTIVITY_GUEST && translate_is_code(g->translator, s->host_pc))
        profile_chain_take_translated(&s->chain, g, s->host_pc, stack_of(context));
    else if (s->activity == ACTIVITY_GUEST || s->activity == ACTIVITY_KERNEL)
        profile_chain_take(&s->chain, g);
}

bool profile_note_signal(const void *siginfo, void *context)
{
    const siginfo_t *info = siginfo;
    if (info->si_signo != SIGBUS || info->si_code != SI_TIMER || info->si_value.sival_ptr != &mark)
        return false;
    struct profile *p = sampled;
    if (!p)
        return true;
    if (p->head - p->tail < RING) {
        struct sample *s = &p->ring[p->head % RING];
        copy_registers(s, context);
        s->activity = p->guest->activity;
        s->header = p->guest->activity_header;
        copy_chain(s, p->guest, context);
        atomic_signal_fence(memory_order_release);
        p->head++;
    } else {
        p->lost++;
    }
    return true;
}

// ---- when ----

static void start_sampling(struct profile *p)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGBUS};
    event.sigev_value.sival_ptr = (void *)&mark;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    const struct itimerspec interval = {{0, INTERVAL_NS}, {0, INTERVAL_NS}};
    sampled = p;
    p->sampling = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &p->timer) == 0;
    if (!p->sampling || timer_settime(p->timer, 0, &interval, NULL) != 0)
        guest_log(p->guest, "there is no profile: the host denied a timer for it: %s", strerror(errno));
}

void profile_begin(struct profile *p)
{
    if (p->begun)
        return;
    p->begun = true;
    p->began_ns = p->ended_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    if (p->guest->config.profile)
        start_sampling(p);
}

void profile_end(struct profile *p)
{
    p->ended_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

// ---- what samples say ----

static bool is_same_place(const struct machine_profile_row *row, enum machine_profile_kind kind,
                          const struct profile_place *place, uint32_t caller)
{
    return row->kind == kind && row->caller == caller && row->function == place->function &&
           row->start == place->start && row->header == place->header && row->branch == place->branch;
}

// Finds or adds the row; returns its index, or SIZE_MAX without memory.
static size_t row_of(struct profile *p, enum machine_profile_kind kind, const struct profile_place *place,
                     uint32_t caller)
{
    if (p->last_row < p->row_count && is_same_place(&p->rows[p->last_row], kind, place, caller))
        return p->last_row;
    for (size_t i = 0; i < p->row_count; i++)
        if (is_same_place(&p->rows[i], kind, place, caller))
            return p->last_row = i;
    if (p->row_count == p->row_room) {
        size_t room = p->row_room ? 2 * p->row_room : 256;
        void *more = realloc(p->rows, room * sizeof *p->rows);
        if (!more)
            return SIZE_MAX;
        p->rows = more;
        p->row_room = room;
    }
    p->rows[p->row_count] = (struct machine_profile_row){.kind = kind,
                                                         .function = place->function,
                                                         .start = place->start,
                                                         .header = place->header,
                                                         .branch = place->branch,
                                                         .caller = caller};
    return p->last_row = p->row_count++;
}

static void count_row(struct profile *p, size_t row)
{
    if (row == SIZE_MAX) {
        p->lost++;
        return;
    }
    p->rows[row].samples++;
    p->samples++;
}

static void count_guest(struct profile *p, enum machine_profile_kind kind, uint32_t pc,
                        const struct sample *s)
{
    struct profile_place place = profile_map_find(p->map, pc);
    count_row(p, row_of(p, kind, &place,
                        profile_callers_find(&p->callers, p->map, p->guest->translator, pc, &s->chain)));
}

static void count_other(struct profile *p, enum machine_profile_kind kind)
{
    static const struct profile_place nowhere;
    count_row(p, row_of(p, kind, &nowhere, MACHINE_PROFILE_OUTERMOST));
}

// In translated code: where, or behind which of its calls of what regions share.
static void count_translated(struct profile *p, const struct sample *s)
{
    uint32_t pc = s->chain.frames[0].at.pc;
    bool found = s->chain.frame_count || translate_nearest_pc(p->guest->translator, s->host_pc, &pc);
    for (unsigned i = REGISTERS; i < WORDS && !found; i++)
        found = translate_nearest_pc(p->guest->translator, s->words[i] - 1, &pc);
    if (found)
        count_guest(p, MACHINE_PROFILE_TRANSLATED, pc, s);
    else
        count_other(p, MACHINE_PROFILE_ENGINE);
}

// Elsewhere: what the interpreter has in hand is an op.
static void count_interpreted(struct profile *p, const struct sample *s)
{
    const uint64_t ops = (uint64_t)(uintptr_t)p->guest->memory.ops, size = GUEST_SPACE / 4 * sizeof(op);
    for (unsigned i = 0; i < WORDS; i++) {
        if (s->words[i] - ops < size) {
            count_guest(p, MACHINE_PROFILE_INTERPRETED, (uint32_t)((s->words[i] - ops) / sizeof(op) * 4), s);
            return;
        }
    }
    count_other(p, MACHINE_PROFILE_ENGINE);
}

static void count(struct profile *p, const struct sample *s)
{
    switch ((enum activity)s->activity) {
    case ACTIVITY_GUEST:
        if (translate_is_code(p->guest->translator, s->host_pc))
            count_translated(p, s);
        else
            count_interpreted(p, s);
        break;
    case ACTIVITY_KERNEL: count_guest(p, MACHINE_PROFILE_KERNEL, s->header, s); break;
    case ACTIVITY_ENGINE: count_other(p, MACHINE_PROFILE_ENGINE); break;
    case ACTIVITY_SYSTEM: count_other(p, MACHINE_PROFILE_SYSTEM); break;
    case ACTIVITY_PROGRAM: count_other(p, MACHINE_PROFILE_PROGRAM); break;
    }
}

// ---- instructions that have been counted ----

static void add_instruction(void *user, uint32_t pc, uint64_t times)
{
    struct profile *p = user;
    struct profile_place place = profile_map_find(p->map, pc);
    size_t row = row_of(p, MACHINE_PROFILE_INTERPRETED, &place, MACHINE_PROFILE_OUTERMOST);
    if (row == SIZE_MAX)
        return;
    p->rows[row].instructions += times;
    p->instructions += times;
}

static void take_counts(struct profile *p)
{
    if (p->guest->counts)
        counts_take(p->guest->counts, add_instruction, p);
}

void profile_take(struct profile *p)
{
    while (p->tail != p->head) {
        atomic_signal_fence(memory_order_acquire);
        count(p, &p->ring[p->tail % RING]);
        atomic_signal_fence(memory_order_release);
        p->tail++;
    }
    if (!p->stale)
        return;
    p->stale = false;
    take_counts(p);
    profile_map_forget(p->map);
}

void profile_forget(struct profile *p)
{
    p->stale = true;
}

void profile_get(struct profile *p, struct machine_profile *profile)
{
    profile_take(p);
    take_counts(p);
    *profile = (struct machine_profile){.rows = p->rows,
                                        .row_count = p->row_count,
                                        .callers = p->callers.list,
                                        .samples = p->samples,
                                        .instructions = p->instructions,
                                        .lost = p->lost,
                                        .cpu_ns = p->ended_ns - p->began_ns};
}

// ---- life ----

struct profile *profile_create(struct guest *g, struct error *error)
{
    struct profile *p = calloc(1, sizeof *p);
    if (!p || !(p->map = profile_map_create(g))) {
        free(p);
        error_set(error, "there is no memory for a profile");
        return NULL;
    }
    p->guest = g;
    return p;
}

void profile_destroy(struct profile *p)
{
    if (!p)
        return;
    if (p->sampling)
        timer_delete(p->timer);
    if (sampled == p)
        sampled = NULL;
    profile_map_destroy(p->map);
    profile_callers_free(&p->callers);
    free(p->rows);
    free(p);
}
