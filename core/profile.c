// SPDX-License-Identifier: MIT
#include "profile.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/engine/translate/translate.h"
#include "profile_map.h"

// Of a sample: the host's general registers, the one that the interpreter keeps its op in first, and words
// from the top of the stack.
enum { REGISTERS = 15, STACK_WORDS = 12, WORDS = REGISTERS + STACK_WORDS };
enum { RING = 1024 }; // samples that wait for profile_take: a second of them
enum { INTERVAL_NS = 1000000 };

struct sample {
    uint64_t host_pc;
    uint64_t words[WORDS];
    uint32_t activity; // enum activity
    uint32_t header; // of the loop that a kernel stands in for
};

// What has been found out of an instruction: the row of its place.
struct known {
    uint32_t pc;
    uint32_t row; // 1 + its index; 0: free
    enum machine_profile_kind kind;
};

struct profile {
    struct guest *guest;
    struct profile_map *map;
    struct sample ring[RING];
    // Written by the handler and profile_take, both on the emulation thread.
    volatile unsigned head, tail;
    volatile uint64_t lost;
    atomic_bool signalled; // a signal is under way, or just about to be sent
    atomic_uint elsewhere[ACTIVITIES]; // samples of what is no code of the guest, not yet in rows

    pthread_t sampler;
    bool sampling; // the sampler has been started
    atomic_bool quit;
    pid_t process, thread; // to be sampled
    clockid_t clock; // its CPU time
    uint64_t began_ns, ended_ns; // by that clock

    struct machine_profile_row *rows;
    size_t row_count, row_room;
    uint64_t samples;
    struct known *known; // by hash; a power of two of them
    size_t known_count, known_room;
    volatile bool stale; // known and the map are of other code
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
    copy_stack(s, (uint64_t)registers[REG_RSP]);
#else
#error "tell here where this host has its registers"
#endif
}

bool profile_note_signal(const void *siginfo, void *context)
{
    const siginfo_t *info = siginfo;
    if (info->si_signo != SIGBUS || info->si_code != SI_QUEUE || info->si_value.sival_ptr != &mark)
        return false;
    struct profile *p = sampled;
    if (!p)
        return true;
    if (p->head - p->tail < RING) {
        struct sample *s = &p->ring[p->head % RING];
        copy_registers(s, context);
        s->activity = p->guest->activity;
        s->header = p->guest->activity_header;
        atomic_signal_fence(memory_order_release);
        p->head++;
    } else {
        p->lost++;
    }
    atomic_store(&p->signalled, false);
    return true;
}

// Once guest.activity says that the guest's code has been left, no signal comes any more behind this. (One
// that the host has lost is not waited for.)
static void await_signal(struct profile *p)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (unsigned i = 0; atomic_load(&p->signalled) && i < 10000; i++)
        sched_yield();
    atomic_store(&p->signalled, false);
}

// ---- when ----

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

// Whether the thread runs, or would if its processor were free: one that waits has no samples.
static bool is_at_work(const struct profile *p, uint64_t now, int state)
{
    char line[128];
    if (nanoseconds(p->clock) > now || state < 0)
        return true;
    ssize_t length = pread(state, line, sizeof line - 1, 0);
    line[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(line, ')'); // proc(5): the state comes behind the name
    return name_end && name_end[1] && name_end[2] == 'R';
}

static int open_state(const struct profile *p)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)p->thread);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void ask_for_sample(struct profile *p)
{
    siginfo_t info = {.si_signo = SIGBUS, .si_code = SI_QUEUE};
    info.si_pid = p->process;
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)&mark;
    atomic_store(&p->signalled, true); // before looking at the activity: await_signal
    uint32_t activity = p->guest->activity;
    if (activity != ACTIVITY_GUEST && activity != ACTIVITY_KERNEL) {
        atomic_store(&p->signalled, false);
        atomic_fetch_add(&p->elsewhere[activity], 1);
    } else if (syscall(SYS_rt_tgsigqueueinfo, p->process, p->thread, SIGBUS, &info) != 0) {
        atomic_store(&p->signalled, false);
    }
}

static void *sample_now_and_then(void *profile)
{
    struct profile *p = profile;
    uint64_t before = nanoseconds(p->clock);
    int state = open_state(p);
    uint32_t random = 1;
    guest_refuse_signals();
    while (!atomic_load_explicit(&p->quit, memory_order_relaxed)) {
        // Of uneven length, so as to keep no step with what the guest does.
        struct timespec t = {0, INTERVAL_NS / 2 + next_random(&random) % INTERVAL_NS};
        nanosleep(&t, NULL);
        uint64_t now = nanoseconds(p->clock);
        if (now > before + INTERVAL_NS / 8 && is_at_work(p, now, state))
            ask_for_sample(p);
        before = now;
    }
    if (state >= 0)
        close(state);
    return NULL;
}

static void start(struct profile *p)
{
    sampled = p;
    p->process = getpid();
    p->thread = (pid_t)syscall(SYS_gettid);
    if (pthread_getcpuclockid(pthread_self(), &p->clock) != 0)
        return;
    p->began_ns = p->ended_ns = nanoseconds(p->clock);
    p->sampling = pthread_create(&p->sampler, NULL, sample_now_and_then, p) == 0;
    if (!p->sampling)
        guest_log(p->guest, "there is no profile: the host denied a thread for it");
}

void profile_begin(struct profile *p)
{
    if (!p->process)
        start(p);
}

void profile_end(struct profile *p)
{
    if (p->sampling)
        p->ended_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

// ---- what samples say ----

static bool is_same_place(const struct machine_profile_row *row, enum machine_profile_kind kind,
                          const struct profile_place *place)
{
    return row->kind == kind && row->function == place->function && row->start == place->start &&
           row->header == place->header && row->branch == place->branch;
}

// Finds or adds the row; returns its index, or SIZE_MAX without memory.
static size_t row_of(struct profile *p, enum machine_profile_kind kind, const struct profile_place *place)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (is_same_place(&p->rows[i], kind, place))
            return i;
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
                                                         .branch = place->branch};
    return p->row_count++;
}

static size_t place_in_known(const struct profile *p, uint32_t pc, enum machine_profile_kind kind)
{
    size_t i = (pc / 4 * 2654435761u + kind) & (p->known_room - 1);
    while (p->known[i].row && (p->known[i].pc != pc || p->known[i].kind != kind))
        i = (i + 1) & (p->known_room - 1);
    return i;
}

// False without memory: then what is known already is enough.
static bool make_room_to_know(struct profile *p)
{
    if (p->known_count * 2 < p->known_room)
        return true;
    struct profile old = *p;
    size_t room = p->known_room ? 2 * p->known_room : 1024;
    struct known *more = calloc(room, sizeof *more);
    if (!more)
        return false;
    p->known = more;
    p->known_room = room;
    for (size_t i = 0; i < old.known_room; i++)
        if (old.known[i].row)
            p->known[place_in_known(p, old.known[i].pc, old.known[i].kind)] = old.known[i];
    free(old.known);
    return true;
}

static void count_row(struct profile *p, size_t row, unsigned samples)
{
    if (row == SIZE_MAX) {
        p->lost += samples;
        return;
    }
    p->rows[row].samples += samples;
    p->samples += samples;
}

static void count_guest(struct profile *p, enum machine_profile_kind kind, uint32_t pc)
{
    bool room = make_room_to_know(p);
    size_t at = p->known_room ? place_in_known(p, pc, kind) : 0;
    if (p->known_room && p->known[at].row) {
        count_row(p, p->known[at].row - 1, 1);
        return;
    }
    struct profile_place place = profile_map_find(p->map, pc);
    size_t row = row_of(p, kind, &place);
    count_row(p, row, 1);
    if (room && row != SIZE_MAX) {
        p->known[at] = (struct known){pc, (uint32_t)row + 1, kind};
        p->known_count++;
    }
}

static void count_other(struct profile *p, enum machine_profile_kind kind, unsigned samples)
{
    static const struct profile_place nowhere;
    if (samples)
        count_row(p, row_of(p, kind, &nowhere), samples);
}

// In translated code: where, or behind which of its calls of what regions share.
static void count_translated(struct profile *p, const struct sample *s)
{
    uint32_t pc;
    bool found = translate_nearest_pc(p->guest->translator, s->host_pc, &pc);
    for (unsigned i = REGISTERS; i < WORDS && !found; i++)
        found = translate_nearest_pc(p->guest->translator, s->words[i] - 1, &pc);
    if (found)
        count_guest(p, MACHINE_PROFILE_TRANSLATED, pc);
    else
        count_other(p, MACHINE_PROFILE_ENGINE, 1);
}

// Elsewhere: what the interpreter has in hand is an op.
static void count_interpreted(struct profile *p, const struct sample *s)
{
    const uint64_t ops = (uint64_t)(uintptr_t)p->guest->memory.ops, size = GUEST_SPACE / 4 * sizeof(op);
    for (unsigned i = 0; i < WORDS; i++) {
        if (s->words[i] - ops < size) {
            count_guest(p, MACHINE_PROFILE_INTERPRETED, (uint32_t)((s->words[i] - ops) / sizeof(op) * 4));
            return;
        }
    }
    count_other(p, MACHINE_PROFILE_ENGINE, 1);
}

static const enum machine_profile_kind kind_elsewhere[ACTIVITIES] = {
    [ACTIVITY_PROGRAM] = MACHINE_PROFILE_PROGRAM,
    [ACTIVITY_ENGINE] = MACHINE_PROFILE_ENGINE,
    [ACTIVITY_SYSTEM] = MACHINE_PROFILE_SYSTEM,
};

static void count(struct profile *p, const struct sample *s)
{
    switch ((enum activity)s->activity) {
    case ACTIVITY_GUEST:
        if (translate_is_code(p->guest->translator, s->host_pc))
            count_translated(p, s);
        else
            count_interpreted(p, s);
        break;
    case ACTIVITY_KERNEL: count_guest(p, MACHINE_PROFILE_KERNEL, s->header); break;
    case ACTIVITY_ENGINE:
    case ACTIVITY_SYSTEM:
    case ACTIVITY_PROGRAM:
    case ACTIVITIES: count_other(p, kind_elsewhere[s->activity % ACTIVITIES], 1); break;
    }
}

void profile_take(struct profile *p)
{
    await_signal(p);
    for (unsigned i = 0; i < ACTIVITIES; i++)
        if (atomic_load_explicit(&p->elsewhere[i], memory_order_relaxed))
            count_other(p, kind_elsewhere[i], atomic_exchange(&p->elsewhere[i], 0));
    while (p->tail != p->head) {
        atomic_signal_fence(memory_order_acquire);
        count(p, &p->ring[p->tail % RING]);
        atomic_signal_fence(memory_order_release);
        p->tail++;
    }
    if (!p->stale)
        return;
    p->stale = false;
    profile_map_forget(p->map);
    memset(p->known, 0, p->known_room * sizeof *p->known);
    p->known_count = 0;
}

void profile_forget(struct profile *p)
{
    p->stale = true;
}

static int by_samples(const void *a, const void *b)
{
    const struct machine_profile_row *x = a, *y = b;
    return (x->samples < y->samples) - (x->samples > y->samples);
}

void profile_get(struct profile *p, struct machine_profile *profile)
{
    profile_take(p);
    p->stale = true; // known has the rows by their index
    qsort(p->rows, p->row_count, sizeof *p->rows, by_samples);
    *profile = (struct machine_profile){.rows = p->rows,
                                        .row_count = p->row_count,
                                        .samples = p->samples,
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
    if (p->sampling) {
        atomic_store(&p->quit, true);
        pthread_join(p->sampler, NULL);
    }
    if (sampled == p)
        sampled = NULL;
    profile_map_destroy(p->map);
    free(p->known);
    free(p->rows);
    free(p);
}
