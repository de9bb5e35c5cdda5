// SPDX-License-Identifier: MIT
#include "way_back.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/clock.h"
#include "core/devices/devices.h"
#include "core/linux/linux.h"
#include "core/state/journal.h"
#include "machine_internal.h"

#define LONGEST_WAY 1000000000u // instructions, which run again at a fault: 0.4 s in a simple loop
#define LONG_WAY (LONGEST_WAY / 4 * 3)
#define LONGEST_LOG (16u << 20) // bytes
#define MOST_COPIED 65536u // pages of the journal
// The part of the time that moments may take, and ns that they may take besides: precise code takes 20 to 27
// % more. It is measured, for a page that is copied takes from 0.7 to 17 us, by host.
#define COST_PART 8u
#define COST_FREE 20000000u

// What came to the guest from outside, in the log. Behind it a struct memory_effect each, and what was
// written.
struct answer {
    uint64_t pc; // behind the system call; 0: the counter
    uint64_t value; // of x0, or the counter
    uint32_t number; // of the system call
    uint32_t effect_count;
};

void way_back_destroy(machine *m)
{
    free(m->way_back.log.data);
}

bool way_back_is_denied(const machine *m)
{
    return m->guest.handles_faults && m->way_back.denied;
}

bool way_back_is_answering(const machine *m)
{
    return m->way_back.log.loading && m->way_back.log.at < m->way_back.log.size;
}

// ---- keeping one ----

static void forget_log(struct way_back *w)
{
    free(w->log.data);
    w->log = saved_writer();
}

static void stop(machine *m)
{
    struct way_back *w = &m->way_back;
    if (w->has_journal) {
        w->there = w->has_journal = false;
        forget_log(w);
        journal_end(&m->guest.memory);
    }
}

void way_back_deny(machine *m)
{
    stop(m);
    m->way_back.denied = true;
}

// What others see, or change, cannot be taken back; there is one journal, which moments may need; and a loop
// that is checked has changed what the check puts back.
static bool is_possible(const machine *m)
{
    const struct guest *g = &m->guest;
    return !g->memory.shares && !m->moments && !g->verify;
}

static bool pays(const machine *m)
{
    const struct way_back *w = &m->way_back;
    return w->cost < COST_FREE + (clock_monotonic_ns() - w->begin) / COST_PART;
}

static bool is_short(const machine *m)
{
    const struct way_back *w = &m->way_back;
    return m->guest.stats.retired - w->retired < LONGEST_WAY && w->log.size < LONGEST_LOG &&
           m->guest.memory.journal->copied < MOST_COPIED;
}

static void begin(machine *m)
{
    struct guest *g = &m->guest;
    struct way_back *w = &m->way_back;
    const uint64_t now = clock_monotonic_ns();
    if (!w->begin)
        w->begin = now;
    if (w->has_journal)
        w->cost += g->memory.journal->cost;
    if (!is_possible(m) || !pays(m) || !journal_begin(&g->memory)) {
        way_back_deny(m);
        return;
    }
    w->has_journal = true;
    w->log = (struct saved){.data = w->log.data, .room = w->log.room};
    machine_save_progress(m, &w->log);
    w->retired = g->stats.retired;
    w->there = true;
    w->cost += clock_monotonic_ns() - now;
}

static bool is_wanted(const machine *m)
{
    const struct guest *g = &m->guest;
    return g->handles_faults && g->translating && g->state == MACHINE_RUNNING;
}

bool way_back_is_due(const machine *m)
{
    return is_wanted(m) && !m->way_back.denied && !(m->way_back.there && is_possible(m) && is_short(m));
}

void way_back_keep(machine *m)
{
    if (!is_wanted(m))
        stop(m);
    else if (way_back_is_due(m))
        begin(m);
}

void way_back_lose(machine *m)
{
    m->way_back.there = false;
}

// ---- what comes from outside ----

void way_back_begin_call(machine *m)
{
    struct guest *g = &m->guest;
    struct way_back *w = &m->way_back;
    if (!w->there)
        return;
    if (!linux_is_plain_call(g)) {
        w->there = false;
        return;
    }
    w->effects.count = 0;
    w->effects.incomplete = false;
    w->pc = g->cpu.pc;
    g->memory.effects = &w->effects;
}

static bool log_effect(struct memory *memory, struct saved *log, struct memory_effect *effect)
{
    SAVED(log, *effect);
    if (effect->kind != MEMORY_WRITTEN)
        return true;
    if (log->size + effect->length > LONGEST_LOG ||
        !memory_allows(memory, effect->address, effect->length, PROT_READ))
        return false;
    saved_bytes(log, memory->base + effect->address, effect->length);
    return true;
}

void way_back_end_call(machine *m)
{
    struct guest *g = &m->guest;
    struct way_back *w = &m->way_back;
    g->memory.effects = NULL;
    if (!w->there)
        return;
    struct answer answer = {w->pc, g->cpu.x[0], (uint32_t)g->cpu.x[8], w->effects.count};
    const uint64_t begin = clock_monotonic_ns();
    // Another pc: in a signal's handler. A way that is long ends here, where another one can begin: in the
    // midst of translated code, that would have to be left.
    w->there = g->state == MACHINE_RUNNING && g->cpu.pc == w->pc && !w->effects.incomplete &&
               g->stats.retired - w->retired < LONG_WAY;
    SAVED(&w->log, answer);
    for (unsigned i = 0; i < w->effects.count && w->there; i++)
        w->there = log_effect(&g->memory, &w->log, &w->effects.list[i]);
    w->cost += clock_monotonic_ns() - begin;
}

// Ends the guest, which can neither go on nor be where it was.
static void give_up(machine *m, const char *what)
{
    guest_log(&m->guest, "the program is ended: %s", what);
    guest_kill(&m->guest, 9, m->guest.cpu.pc, what);
}

static void give_up_astray(machine *m)
{
    give_up(m, "it came to a fault once more, and went another way than before");
}

static struct answer next_answer(machine *m, uint64_t pc, uint32_t number)
{
    struct answer answer;
    SAVED(&m->way_back.log, answer);
    if (answer.pc != pc || answer.number != number)
        give_up_astray(m);
    return answer;
}

uint64_t way_back_counter(machine *m)
{
    if (way_back_is_answering(m))
        return next_answer(m, 0, 0).value;
    struct answer answer = {.value = devices_clock_ns(&m->guest, false)};
    if (m->way_back.there)
        SAVED(&m->way_back.log, answer);
    return answer.value;
}

// ---- the way back ----

static bool put_back_memory(struct memory *memory)
{
    struct saved changes = saved_writer();
    journal_write(memory, &changes);
    bool good = !memory->journal->lost && !changes.failed;
    journal_end(memory);
    changes.loading = true;
    good = good && journal_apply(memory, &changes);
    free(changes.data);
    return good;
}

bool way_back_take(machine *m)
{
    struct way_back *w = &m->way_back;
    if (way_back_is_answering(m)) {
        give_up_astray(m);
        return true;
    }
    if (!m->guest.handles_faults || !w->there)
        return false;
    w->there = w->has_journal = false;
    w->denied = true;
    if (w->log.failed || !put_back_memory(&m->guest.memory)) {
        give_up(m, "the host denied memory for the way back in front of a fault");
        return true;
    }
    w->log.loading = true;
    machine_load_progress(m, &w->log);
    return true;
}

static bool repeat(struct memory *memory, struct saved *log)
{
    struct memory_effect effect;
    SAVED(log, effect);
    if (effect.kind != MEMORY_WRITTEN)
        return memory_repeat(memory, &effect);
    void *to = memory_access(memory, effect.address, effect.length, PROT_WRITE);
    if (to)
        saved_bytes(log, to, effect.length);
    return to;
}

bool way_back_answer(machine *m)
{
    if (!way_back_is_answering(m))
        return false;
    struct guest *g = &m->guest;
    const struct answer answer = next_answer(m, g->cpu.pc, (uint32_t)g->cpu.x[8]);
    for (unsigned i = 0; i < answer.effect_count && g->state == MACHINE_RUNNING; i++)
        if (!repeat(&g->memory, &m->way_back.log))
            give_up(m, "the host denied memory while it came to a fault once more");
    g->cpu.x[0] = answer.value;
    return true;
}
