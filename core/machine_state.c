// SPDX-License-Identifier: MIT
// A whole machine as bytes, and back.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/devices/devices.h"
#include "core/engine/dispatch/dispatch_modes.h"
#include "core/linux/linux.h"
#include "core/loops/optimizer.h"
#include "core/state/memory_state.h"
#include "machine_internal.h"

#define MAGIC 0x4d4f4f4454415453u // "STATDOOM"
#define VERSION 2u // of everything that is saved below; any change raises it
#define CPU_PART 0x20555043u
#define COUNTER_PART 0x544e5543u

// ---- registers and counters ----

static void transfer_cpu(cpu *c, struct saved *s)
{
    uint32_t nzcv = get_nzcv(c);
    saved_part(s, CPU_PART);
    for (unsigned i = 0; i <= REG_SP; i++)
        SAVED(s, c->x[i]);
    SAVED(s, c->v);
    SAVED(s, c->pc);
    SAVED(s, nzcv);
    SAVED(s, c->fpcr);
    SAVED(s, c->fpsr);
    SAVED(s, c->tpidr);
    SAVED(s, c->exclusive_address);
    SAVED(s, c->exclusive_value);
    saved_expect(s, !(c->fpcr & ~FPCR_MASK) && !(c->fpsr & ~FPSR_MASK), "its registers");
    set_flags_nzcv(c, nzcv);
}

// What the guest's way has made of them; host times and what was compiled belong to this run.
static void transfer_counters(struct machine_stats *n, struct saved *s)
{
    saved_part(s, COUNTER_PART);
    SAVED(s, n->retired);
    SAVED(s, n->system_calls);
    SAVED(s, n->frames);
    SAVED(s, n->credited);
    SAVED(s, n->iterations_skipped);
    SAVED(s, n->dispatch_total);
    SAVED(s, n->dispatch_hit);
    saved_expect(s, n->retired < UINT64_MAX / 4, "its counters");
}

// Makes g->stats what n is, from where everything counts on.
static void set_counters(machine *m, const struct machine_stats *n)
{
    struct guest *g = &m->guest;
    struct machine_stats counted = {0};
    struct dispatch_counts dispatch = {0};
    if (g->loops)
        loops_get_stats(g->loops, &counted);
    if (g->dispatch)
        dispatch_get_counts(g->dispatch, &dispatch);
    m->credited_before = n->credited - counted.credited;
    m->skipped_before = n->iterations_skipped - counted.iterations_skipped;
    m->dispatch_before = n->dispatch_total;
    m->dispatch_since = n->retired;
    m->wrong_before = n->dispatch_total - n->dispatch_hit - dispatch.wrong;
    g->stats.retired = n->retired;
    g->stats.system_calls = n->system_calls;
    g->stats.frames = n->frames;
    g->stats.credited = n->credited;
    g->stats.iterations_skipped = n->iterations_skipped;
    g->stats.dispatch_total = n->dispatch_total;
    g->stats.dispatch_hit = n->dispatch_hit;
}

void machine_save_progress(machine *m, struct saved *s)
{
    machine_publish(m);
    transfer_cpu(&m->guest.cpu, s);
    transfer_counters(&m->guest.stats, s);
}

void machine_load_progress(machine *m, struct saved *s)
{
    struct machine_stats counters = {0};
    transfer_cpu(&m->guest.cpu, s);
    transfer_counters(&counters, s);
    set_counters(m, &counters);
}

// ---- everything but memory ----

void machine_save_rest(machine *m, struct saved *s)
{
    struct guest *g = &m->guest;
    if (g->state != MACHINE_RUNNING)
        saved_fail(s, "the program has ended");
    if (g->check)
        saved_fail(s, "a loop is being checked (--verify)");
    if (way_back_is_answering(m))
        saved_fail(s, "the program is coming to a fault once more");
    machine_save_progress(m, s);
    linux_save(g->process, s);
    devices_save(g->devices, s);
}

struct rest_plan {
    cpu cpu;
    struct machine_stats counters;
    struct linux_plan *process;
    struct saved devices; // where they begin
};

struct rest_plan *machine_plan_rest(machine *m, struct saved *s)
{
    struct guest *g = &m->guest;
    struct rest_plan *plan = aligned_alloc(64, (sizeof *plan + 63) / 64 * 64);
    if (!plan) {
        saved_fail(s, "there is not enough memory to load the state");
        return NULL;
    }
    *plan = (struct rest_plan){.cpu = g->cpu};
    transfer_cpu(&plan->cpu, s);
    transfer_counters(&plan->counters, s);
    if (!s->failed)
        plan->process = linux_plan_load(g->process, s);
    plan->devices = *s;
    devices_check(g->devices, s);
    if (!s->failed)
        return plan;
    machine_free_rest(plan);
    return NULL;
}

void machine_free_rest(struct rest_plan *plan)
{
    if (plan)
        linux_plan_free(plan->process);
    free(plan);
}

void machine_load_rest(machine *m, struct rest_plan *plan)
{
    struct guest *g = &m->guest;
    g->cpu = plan->cpu;
    way_back_lose(m);
    g->state = MACHINE_RUNNING;
    g->exit_status = 0;
    linux_load(g->process, plan->process);
    devices_load(g->devices, &plan->devices);
    set_counters(m, &plan->counters);
    machine_free_rest(plan);
    machine_publish(m);
}

bool machine_break(machine *m, struct error *error)
{
    const char *what = "the host denied memory while a state of the program was put in its place";
    guest_kill(&m->guest, 9, 0, what);
    return error_set(error, "%s", what);
}

// ---- all of it ----

struct header {
    uint64_t magic;
    uint32_t version, reserved;
    uint64_t checksum; // XXH3 of all that follows it
    char program[72]; // SHA-256 of its file, in hex
};

static bool hash_program(machine *m, char hash[72])
{
    char path[40], text[65];
    snprintf(path, sizeof path, "/proc/self/fd/%d", linux_program(m->guest.process));
    memset(hash, 0, 72);
    bool good = sha256_file(path, text);
    memcpy(hash, text, sizeof text);
    return good;
}

static uint64_t checksum_of(const uint8_t *data, size_t size)
{
    const size_t start = offsetof(struct header, checksum) + sizeof(uint64_t);
    return XXH3_64bits(data + start, size - start);
}

bool machine_save(machine *m, struct machine_bytes *bytes, struct error *error)
{
    struct guest *g = &m->guest;
    struct saved s = saved_writer();
    struct header header = {.magic = MAGIC, .version = VERSION};
    *bytes = (struct machine_bytes){NULL, 0};
    if (!hash_program(m, header.program))
        saved_fail(&s, "the program's file cannot be read");
    SAVED(&s, header);
    machine_save_rest(m, &s);
    if (!s.failed)
        memory_save(&g->memory, g->config.device ? devices_fd(g->devices) : -1, &s);
    if (s.failed) {
        free(s.data);
        return error_set(error, "%s", s.error.text);
    }
    header.checksum = checksum_of(s.data, s.size);
    memcpy(s.data, &header, sizeof header);
    *bytes = (struct machine_bytes){s.data, s.size};
    return true;
}

static void check_header(machine *m, struct saved *s)
{
    struct header header;
    char program[72];
    SAVED(s, header);
    saved_expect(s, header.magic == MAGIC, "it does not begin as one");
    if (!s->failed && header.version != VERSION)
        saved_fail(s, "the state was saved by %s version of this program (format %" PRIu32 "; this is %u)",
                   header.version > VERSION ? "a newer" : "an older", header.version, VERSION);
    saved_expect(s, !s->failed && header.checksum == checksum_of(s->data, s->size),
                 "its checksum is not that of its contents");
    if (!s->failed && (!hash_program(m, program) || memcmp(program, header.program, sizeof program)))
        saved_fail(s, "the state is that of another program");
}

bool machine_load(machine *m, const void *data, size_t size, struct error *error)
{
    struct guest *g = &m->guest;
    struct saved s = saved_reader(data, size);
    struct rest_plan *rest = NULL;
    struct memory_plan *memory = NULL;
    check_header(m, &s);
    if (!s.failed)
        rest = machine_plan_rest(m, &s);
    if (!s.failed)
        memory =
            memory_plan_load(&g->memory, g->config.device ? devices_fd(g->devices) : -1, g->config.ram, &s);
    if (s.failed) {
        machine_free_rest(rest);
        return error_set(error, "%s", s.error.text);
    }
    bool good = memory_load(&g->memory, memory);
    memory_plan_free(memory);
    if (!good) {
        machine_free_rest(rest);
        return machine_break(m, error);
    }
    machine_load_rest(m, rest);
    return true;
}
