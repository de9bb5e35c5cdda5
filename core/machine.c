// SPDX-License-Identifier: MIT
// Owns everything; the run loop: run a slice of guest code, then handle the reason it stopped for.
#include "core.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/clock.h"
#include "core/devices/devices.h"
#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/engine.h"
#include "core/engine/stencil/block.h"
#include "core/engine/translate/translate.h"
#include "core/isa/isa.h"
#include "core/linux/linux.h"
#include "core/loops/explain.h"
#include "core/loops/optimizer.h"
#include "core/loops/trace.h"
#include "core/loops/watch.h"
#include "core/state/counts.h"
#include "core/state/fault.h"
#include "machine_internal.h"
#include "profile.h"

// Linux signal and si_code numbers, the same on every architecture that we run on.
enum { SIG_ILL = 4, SIG_TRAP = 5, SIG_BUS = 7, SIG_SEGV = 11 };
enum {
    CODE_ILL_ILLOPC = 1,
    CODE_TRAP_BRKPT = 1,
    CODE_SEGV_MAPERR = 1,
    CODE_SEGV_ACCERR = 2,
    CODE_BUS_ADRALN = 1,
    CODE_BUS_ADRERR = 2,
};

// Instructions between two looks at requests and at code that has been compiled: 0.2 to 8 ms. To answer one
// means to leave what translated code is in the midst of, and to interpret all callers.
#define SLICE 200000u
#define TRANSLATED_SLICE 32000000u
// Iterations that replaced loops may do within one: some tens of milliseconds. Behind that, translated code
// goes on with plain loops, whose budget it has left, so that fewer would make these matter.
#define SKIPS (1 << 26)

// ---- counters ----

void machine_publish(machine *m)
{
    if (m->guest.ahead)
        return;
    struct guest *g = &m->guest;
    machine_count_dispatch(m);
    uint64_t now = clock_monotonic_ns(), elapsed = now - m->counted_ns,
             idle = g->stats.idle_ns - m->counted_idle_ns;
    g->stats.emulating_ns += elapsed > idle ? elapsed - idle : 0;
    m->counted_ns = now;
    m->counted_idle_ns = g->stats.idle_ns;
    if (g->loops) {
        loops_get_stats(g->loops, &g->stats);
        g->stats.credited += m->credited_before;
        g->stats.iterations_skipped += m->skipped_before;
    }
    g->stats.memory_mapped = g->memory.mapped;
    if (g->translator)
        translate_get_stats(g->translator, &g->stats);
    pthread_mutex_lock(&m->publish_lock);
    m->published = g->stats;
    pthread_mutex_unlock(&m->publish_lock);
}

// Leaves the time since machine_publish out of emulating_ns: a callback's, which is not the guest's.
static void skip_time(machine *m)
{
    m->counted_ns = clock_monotonic_ns();
}

// ---- what lower floors ask for ----

static void add_trace(const struct guest *g, struct machine_frame *frame)
{
    if (g->trace && loop_trace_is_whole(g->trace)) {
        frame->traced = g->trace->shown;
        frame->traced_loop = g->trace->header;
    }
}

static void present(struct guest *g, const struct machine_frame *frame)
{
    machine *m = (machine *)g;
    struct machine_frame shown = *frame;
    if (g->trace)
        loop_trace_present(g->trace);
    if (g->ahead && --g->ahead_frames > 0)
        return;
    if (g->ahead)
        atomic_store(&g->stop_requested, true);
    if (!g->config.present)
        return;
    machine_publish(m);
    add_trace(g, &shown);
    g->activity = ACTIVITY_PROGRAM;
    g->config.present(g->config.user, &shown);
    g->activity = ACTIVITY_SYSTEM;
    skip_time(m);
}

static void make_system_call(struct guest *g)
{
    machine *m = (machine *)g;
    g->stats.system_calls++;
    g->cpu.exclusive_address = EXCLUSIVE_NONE; // an exception return clears the monitor
    if (way_back_answer(m))
        return;
    way_back_begin_call(m);
    linux_system_call(g);
    way_back_end_call(m);
}

static bool is_interrupted(const struct guest *g)
{
    return atomic_load_explicit(&g->signal_pending, memory_order_relaxed) ||
           atomic_load_explicit(&g->stop_requested, memory_order_relaxed);
}

static enum stop_reason make_plain_system_call(struct guest *g)
{
    if (!linux_is_plain_call(g))
        return STOP_SVC;
    uint64_t code_changes = g->code_changes;
    g->activity = ACTIVITY_SYSTEM;
    make_system_call(g);
    way_back_keep((machine *)g);
    g->activity = ACTIVITY_GUEST;
    bool has_to_leave = g->state != MACHINE_RUNNING || g->code_changes != code_changes ||
                        !machine_may_enter((machine *)g) || is_interrupted(g);
    return has_to_leave ? STOP_SERVED : STOP_NONE;
}

// Without devices and samples, which are looked at when a slice ends, and loops that are to be.
static bool may_go_on(struct guest *g)
{
    machine *m = (machine *)g;
    const bool has_to_leave = g->config.device || (g->loops && loops_want_update(g->loops)) || m->profile ||
                              is_interrupted(g) || machine_wants_dispatch(m) || machine_wants_engine(m) ||
                              (g->translator && translate_has_to_leave(g->translator));
    if (!has_to_leave)
        g->skips_left = SKIPS;
    return !has_to_leave;
}

static uint64_t grant_more(struct guest *g)
{
    machine *m = (machine *)g;
    const uint64_t granted_to = g->stats.retired + (g->granted > 0 ? (uint64_t)g->granted : 0);
    if (granted_to >= m->run_end || !may_go_on(g))
        return 0;
    return m->run_end - granted_to < TRANSLATED_SLICE ? m->run_end - granted_to : TRANSLATED_SLICE;
}

static uint64_t read_counter(struct guest *g)
{
    return way_back_counter((machine *)g);
}

static void end_process(struct guest *g)
{
    machine_leave_rest((machine *)g, machine_keep_code((machine *)g));
}

static const struct guest_host host = {
    .symbol = linux_symbol,
    .present = present,
    .translated_pc = translate_guest_pc,
    .block_pc = blocks_guest_pc,
    .system_call = make_plain_system_call,
    .more = grant_more,
    .may_go_on = may_go_on,
    .counter = read_counter,
    .patch_loop = interp_patch_loop,
    .process_ends = end_process,
};

// ---- life ----

// Whether the guest may write in folder: then nothing that runs on the host may come from there.
static bool grants_reach(const struct machine_config *config, const char *folder)
{
    char inner[PATH_MAX], outer[PATH_MAX];
    if (!realpath(folder, inner))
        snprintf(inner, sizeof inner, "%s", folder);
    for (size_t i = 0; i < config->grant_count; i++) {
        const struct machine_grant *grant = &config->grants[i];
        if (!grant->writable || !grant->host || !realpath(grant->host, outer))
            continue;
        size_t length = strlen(outer);
        if (strncmp(inner, outer, length) == 0 &&
            (inner[length] == '/' || inner[length] == '\0' || length == 1))
            return true;
    }
    return false;
}

static void forget_code(void *owner, uint64_t address, uint64_t length)
{
    struct guest *g = owner;
    struct profile *profile = ((machine *)g)->profile;
    if (profile)
        profile_forget(profile);
    if (profile && length == GUEST_SPACE)
        profile_take(profile); // while the symbols are still those
    g->code_changes++;
    if (g->dispatch)
        dispatch_forget(g->dispatch, address, length);
    if (g->translator)
        translate_forget(g->translator, address, length);
    if (g->loops)
        loops_forget(g->loops, address, length);
}

static void load_dispatch(machine *m)
{
    struct guest *g = &m->guest;
    struct error error;
    g->dispatch = dispatch_create(g->config.dispatch_model, &error);
    if (!g->dispatch) {
        guest_log(g, "no dispatch by net: %s", error.text);
        return;
    }
    dispatch_set_mode(g->dispatch, g->config.dispatch);
    atomic_store(&m->dispatch_wanted, (int)g->config.dispatch);
}

static void create_loops(machine *m)
{
    struct guest *g = &m->guest;
    struct error error;
    g->loops = loops_create(g, g->config.loop_models, &error);
    if (!g->loops)
        guest_log(g, "no loop is replaced: %s", error.text);
    else if (g->config.cache_folder)
        loops_load_cache(g->loops, g->config.cache_folder);
}

machine *machine_create(const struct machine_config *config, struct error *error)
{
    fault_init(profile_note_signal, linux_note_host_signal);
    // Below 2 GiB, where translated code can address it.
    machine *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (m == MAP_FAILED) {
        error_set(error, "no memory for the machine");
        return NULL;
    }
    struct guest *g = &m->guest;
    g->host = &host;
    g->config = *config;
    if (!g->config.ram)
        g->config.ram = 1ull << 30;
    if (config->cache_folder && grants_reach(config, config->cache_folder))
        g->config.cache_folder = NULL;
    pthread_mutex_init(&m->publish_lock, NULL);
    if (memory_create(&g->memory, g->config.ram) != 0) {
        error_set(error,
                  "the host denied 20 GiB of address space (not memory) for the guest: %s; "
                  "raise the limit that `ulimit -v` shows",
                  strerror(errno));
        munmap(m, sizeof *m);
        return NULL;
    }
    g->cpu.memory = g->memory.base;
    g->cpu.exclusive_address = EXCLUSIVE_NONE;
    g->cpu.call_counts = m->call_counts;
    if (config->dispatch_model)
        load_dispatch(m);
    if (config->loop_models && !config->count)
        create_loops(m);
    g->memory.on_forget = forget_code;
    g->memory.owner = g;
    g->devices = devices_create(g);
    if (!g->devices)
        error_set(error, "the host denied the device page: %s", strerror(errno));
    else
        g->process = linux_create(g, error);
    if (g->process && config->count && !(g->counts = counts_create(&g->memory)))
        error_set(error, "the host denied 16 GiB of address space (not memory) for counting instructions: %s",
                  strerror(errno));
    bool profiled = config->profile || config->count;
    if (!g->process || (config->count && !g->counts) ||
        (profiled && !(m->profile = profile_create(g, error)))) {
        machine_destroy(m);
        return NULL;
    }
    if (config->loop_entered)
        g->loop_watch = loop_watch_create(config->loop_entered, config->user);
    machine_set_loops(m, config->loops);
    machine_set_verify(m, config->verify);
    g->verify = config->verify;
    machine_set_idle(m, config->idle);
    machine_set_engine(m, g->loop_watch || g->counts ? MACHINE_ENGINE_INTERP : config->engine);
    machine_follow_engine(m);
    return m;
}

bool machine_destroy(machine *m)
{
    struct guest *g = &m->guest;
    if (!m)
        return true;
    if (g->process)
        linux_release_host(g->process);
    profile_destroy(m->profile);
    m->profile = NULL;
    moments_destroy(m);
    way_back_destroy(m);
    const uint64_t rest = machine_keep_code(m);
    translator_destroy(g->translator);
    shared_history_destroy(g->shared_history);
    blocks_destroy(g->blocks);
    loops_destroy(g->loops);
    loop_trace_destroy(g->trace);
    loop_watch_destroy(g->loop_watch);
    counts_destroy(g->counts);
    if (g->process)
        linux_destroy(g->process);
    if (g->devices)
        devices_destroy(g->devices);
    memory_destroy(&g->memory);
    dispatch_destroy(g->dispatch);
    pthread_mutex_destroy(&m->publish_lock);
    const bool kept = !g->told_unkept;
    machine_leave_rest(m, rest);
    munmap(m, sizeof *m);
    return kept;
}

// ---- faults ----

// What the handler finds and leaves cannot be taken back.
static void raise_exception(machine *m, int signal, int code, uint64_t address, const char *what)
{
    way_back_lose(m);
    linux_exception(&m->guest, signal, code, address, what);
}

static void handle_fault(machine *m)
{
    const struct guest *g = &m->guest;
    static const char *const why[] = {
        [FAULT_MAPPING] = "nothing is mapped there",
        [FAULT_PERMISSION] = "which its mapping does not allow",
        [FAULT_ALIGNMENT] = "which is not aligned",
        [FAULT_FILE_END] = "which lies behind the end of the mapped file",
    };
    const cpu *c = &g->cpu;
    bool fetch = c->fault_address == c->pc && !c->fault_is_store;
    char what[160];
    snprintf(what, sizeof what, "the program %s address %#" PRIx64 ", %s",
             fetch               ? "jumped to"
             : c->fault_is_store ? "wrote to"
                                 : "read from",
             c->fault_address, why[c->fault_kind]);
    switch ((enum fault_kind)c->fault_kind) {
    case FAULT_MAPPING: raise_exception(m, SIG_SEGV, CODE_SEGV_MAPERR, c->fault_address, what); break;
    case FAULT_PERMISSION: raise_exception(m, SIG_SEGV, CODE_SEGV_ACCERR, c->fault_address, what); break;
    case FAULT_ALIGNMENT: raise_exception(m, SIG_BUS, CODE_BUS_ADRALN, c->fault_address, what); break;
    case FAULT_FILE_END: raise_exception(m, SIG_BUS, CODE_BUS_ADRERR, c->fault_address, what); break;
    }
}

// The instruction at the pc; 0 where the file that it was decoded from has been cut since.
static uint32_t current_word(struct guest *g)
{
    uint32_t word = 0;
    memory_read(&g->memory, g->cpu.pc, &word, sizeof word);
    return word;
}

static void handle_undefined(machine *m)
{
    struct guest *g = &m->guest;
    uint32_t word = current_word(g);
    char what[160];
    snprintf(what, sizeof what, "the program executed the undefined instruction 0x%08" PRIx32, word);
    raise_exception(m, SIG_ILL, CODE_ILL_ILLOPC, g->cpu.pc, what);
}

static void handle_dispatch_fault(machine *m)
{
    struct guest *g = &m->guest;
    char what[160];
    dispatch_describe_fault(g->dispatch, current_word(g), what, sizeof what);
    guest_kill(g, SIG_ILL, g->cpu.pc, what); // not the guest's doing, so not for its handlers
}

// ---- loops and waits ----

bool machine_has_loops(const machine *m)
{
    return m->guest.loops != NULL;
}

void machine_set_loops(machine *m, bool on)
{
    atomic_store_explicit(&m->guest.loops_wanted, on, memory_order_relaxed);
}

void machine_set_loop(machine *m, uint64_t address, bool on)
{
    if (m->guest.loops)
        loops_set(m->guest.loops, (uint32_t)address, on);
}

void machine_set_verify(machine *m, bool on)
{
    atomic_store_explicit(&m->verify_wanted, on, memory_order_relaxed);
}

bool machine_get_verify(const machine *m)
{
    return atomic_load_explicit(&m->verify_wanted, memory_order_relaxed);
}

void machine_trace_loop(machine *m, uint64_t address)
{
    atomic_store_explicit(&m->trace_wanted, (uint32_t)address, memory_order_relaxed);
}

bool machine_get_loops(const machine *m)
{
    return atomic_load_explicit(&m->guest.loops_wanted, memory_order_relaxed);
}

size_t machine_list_loops(const machine *m, struct machine_loop *loops, size_t max)
{
    const struct guest *g = &m->guest;
    return g->loops ? loops_list(g->loops, loops, max) : 0;
}

bool machine_explain_loop(const machine *m, uint64_t address, struct machine_loop_explanation *explanation)
{
    if (m->guest.loops)
        explain_loop(m->guest.loops, (uint32_t)address, explanation);
    return m->guest.loops != NULL;
}

bool machine_get_profile(const machine *m, struct machine_profile *profile)
{
    if (m->profile)
        profile_get(m->profile, profile);
    return m->profile != NULL;
}

void machine_set_idle(machine *m, bool on)
{
    atomic_store_explicit(&m->guest.idle_wanted, on, memory_order_relaxed);
}

bool machine_get_idle(const machine *m)
{
    return atomic_load_explicit(&m->guest.idle_wanted, memory_order_relaxed);
}

// ---- running ----

enum machine_state machine_run(machine *m, uint64_t budget)
{
    struct guest *g = &m->guest;
    m->run_end = budget > UINT64_MAX - g->stats.retired ? UINT64_MAX : g->stats.retired + budget;
    skip_time(m);
    if (m->profile)
        profile_begin(m->profile);
    while (g->state == MACHINE_RUNNING && g->stats.retired < m->run_end) {
        g->activity = ACTIVITY_ENGINE;
        uint64_t left = m->run_end - g->stats.retired;
        uint64_t slice = g->translating && m->is_settled ? TRANSLATED_SLICE : SLICE;
        uint64_t retired = g->stats.retired, interpreted = g->interpreted;
        machine_follow_dispatch(m);
        machine_follow_engine(m);
        if (g->translator)
            translate_install(g->translator);
        if (g->loops)
            loops_update(g->loops);
        if (g->trace)
            interp_patch_trace(g, true);
        g->skips_left = SKIPS;
        g->activity = ACTIVITY_GUEST;
        enum stop_reason reason = interp_run(g, left < slice ? left : slice);
        g->activity = ACTIVITY_ENGINE;
        if (m->profile)
            profile_take(m->profile);
        g->activity = ACTIVITY_SYSTEM;
        m->is_settled = (g->interpreted - interpreted) * 16 <= g->stats.retired - retired;
        switch (reason) {
        case STOP_SVC: make_system_call(g); break;
        case STOP_SERVED: break;
        case STOP_BRK:
            raise_exception(m, SIG_TRAP, CODE_TRAP_BRKPT, g->cpu.pc,
                            "the program executed a breakpoint (BRK)");
            break;
        case STOP_UNDEFINED: handle_undefined(m); break;
        case STOP_DISPATCH: handle_dispatch_fault(m); break;
        case STOP_FAULT:
            if (!way_back_take(m))
                handle_fault(m);
            break;
        case STOP_WAIT: devices_wait(g); break;
        case STOP_BACK:
        case STOP_RETURN:
        case STOP_BUDGET:
        case STOP_NONE: devices_poll(g->devices); break;
        }
        if (g->state == MACHINE_RUNNING && atomic_load_explicit(&g->signal_pending, memory_order_relaxed) &&
            !way_back_is_answering(m)) {
            way_back_lose(m);
            linux_deliver_signals(g);
        }
        if (reason == STOP_BUDGET || reason == STOP_WAIT)
            machine_publish(m);
        if (atomic_exchange_explicit(&g->stop_requested, false, memory_order_acquire))
            break;
    }
    if (g->state != MACHINE_RUNNING && !g->ahead)
        devices_log_end(g->devices, (uint32_t)g->state);
    machine_publish(m);
    g->activity = ACTIVITY_PROGRAM;
    if (m->profile)
        profile_end(m->profile);
    return g->state;
}

int machine_exit_status(const machine *m)
{
    return m->guest.exit_status;
}

const struct machine_fault *machine_get_fault(const machine *m)
{
    return &m->guest.fault;
}

void machine_request_stop(machine *m)
{
    struct guest *g = &m->guest;
    atomic_store_explicit(&g->stop_requested, true, memory_order_release);
    devices_wake(g->devices);
}

void machine_get_stats(const machine *m, struct machine_stats *stats)
{
    machine *mutable = (machine *)m;
    pthread_mutex_lock(&mutable->publish_lock);
    *stats = m->published;
    pthread_mutex_unlock(&mutable->publish_lock);
}

// ---- devices ----

bool machine_get_frame(const machine *m, struct machine_frame *frame)
{
    bool there = devices_get_frame(&m->guest, frame);
    if (there)
        add_trace(&m->guest, frame);
    return there;
}

bool machine_get_device_info(const machine *m, struct device_info *info)
{
    return devices_get_info(m->guest.devices, info);
}

const char *machine_symbol(const machine *m, uint64_t pc, uint64_t *offset)
{
    return linux_symbol(&m->guest, pc, offset);
}
