// SPDX-License-Identifier: MIT
// Owns everything; the run loop: run a slice of guest code, then handle the reason it stopped for.
#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/linux/elf.h"
#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/engine.h"
#include "core/engine/translate/translate.h"
#include "core/isa/isa.h"
#include "core/loops/watch.h"
#include "core/loops/optimizer.h"
#include "core/nn/tensor.h"

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

// Instructions between two looks at requests: about 0.2 ms.
#define SLICE 200000u
#define TRANSLATED_SLICE 2000000u

static uint64_t host_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#ifdef TRANSLATE
#define FASTEST_ENGINE MACHINE_ENGINE_TRANSLATE
#else
#define FASTEST_ENGINE MACHINE_ENGINE_INTERP
#endif

const char *machine_engine_name(enum machine_engine engine)
{
    return engine == MACHINE_ENGINE_TRANSLATE ? "translate" : "interp";
}

bool machine_engine_by_name(const char *name, enum machine_engine *engine)
{
    *engine = strcmp(name, "translate") == 0 ? MACHINE_ENGINE_TRANSLATE : MACHINE_ENGINE_INTERP;
    return strcmp(name, machine_engine_name(*engine)) == 0 && *engine <= FASTEST_ENGINE;
}

const char *machine_engine_names(void)
{
    return FASTEST_ENGINE == MACHINE_ENGINE_TRANSLATE ? "interp, translate" : "interp";
}

enum machine_engine machine_default_engine(void)
{
    return FASTEST_ENGINE;
}

// Whether the guest may write in folder: then nothing that runs on the host may come from there.
static bool grants_reach(const struct machine_config *config, const char *folder)
{
    char inner[PATH_MAX], outer[PATH_MAX];
    if (!realpath(folder, inner))
        snprintf(inner, sizeof inner, "%s", folder);
    for (size_t i = 0; i < config->grant_count; i++) {
        if (!config->grants[i].writable || !realpath(config->grants[i].host, outer))
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
    struct machine *m = owner;
    if (m->dispatch)
        dispatch_forget(m->dispatch, address, length);
    if (m->translator)
        translate_forget(m->translator, address, length);
    if (m->loops)
        loops_forget(m->loops, address, length);
}

static void load_dispatch(machine *m)
{
    struct nn_error error;
    m->dispatch = dispatch_create(m->config.dispatch_model, &error);
    if (!m->dispatch) {
        machine_log(m, "no dispatch by net: %s", error.text);
        return;
    }
    dispatch_set_mode(m->dispatch, m->config.dispatch);
    atomic_store(&m->dispatch_wanted, (int)m->config.dispatch);
}

static void create_loops(machine *m)
{
    char error[600];
    m->loops = loops_create(m, m->config.loop_models, error, sizeof error);
    if (!m->loops)
        machine_log(m, "no loop is replaced: %s", error);
    else if (m->config.cache_folder && !grants_reach(&m->config, m->config.cache_folder))
        loops_load_cache(m->loops, m->config.cache_folder);
}

void machine_set_engine(machine *m, enum machine_engine engine)
{
    atomic_store_explicit(&m->engine, engine, memory_order_relaxed);
}

enum machine_engine machine_get_engine(const machine *m)
{
    return atomic_load_explicit(&m->engine, memory_order_relaxed);
}

// Without a translator, everything is interpreted.
static void start_translator(machine *m)
{
    char error[256];
    m->translator = translator_create(m, m->precise_faults, error, sizeof error);
    if (!m->translator) {
        machine_log(m, "the program is interpreted: %s", error);
        machine_set_engine(m, MACHINE_ENGINE_INTERP);
        m->translating = false;
    } else if (m->config.cache_folder && !m->config.verify &&
               !grants_reach(&m->config, m->config.cache_folder)) { // checking makes other code
        translate_load_cache(m->translator, m->config.cache_folder);
    }
}

// Follows machine_set_engine. The translator is started when it is first wanted.
static void switch_engine(machine *m)
{
    m->translating = machine_get_engine(m) == MACHINE_ENGINE_TRANSLATE;
    if (m->translating && !m->translator)
        start_translator(m);
}

static void set_entering(machine *m, bool entering)
{
    if (entering == m->entering)
        return;
    m->entering = entering;
    translate_set_entered(m->translator, entering);
}

// Follows the engine and precise_faults. Precise code serves every need: there is one change at most.
static void update_entering(machine *m)
{
    if (m->translating && m->precise_faults && !translator_is_precise(m->translator) &&
        !translator_is_copy()) {
        set_entering(m, false);
        translator_destroy(m->translator);
        start_translator(m);
    }
    set_entering(m, m->translating && (!m->precise_faults || translator_is_precise(m->translator)));
}

machine *machine_create(const struct machine_config *config, enum machine_error *reason, char *error,
                        size_t size)
{
    isa_init();
    fault_init();
    *reason = MACHINE_ERROR_HOST;
    // Below 2 GiB, where translated code can address it.
    machine *m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (m == MAP_FAILED) {
        snprintf(error, size, "no memory for the machine");
        return NULL;
    }
    m->config = *config;
    pthread_mutex_init(&m->publish_lock, NULL);
    if (memory_create(&m->memory, config->ram ? config->ram : 1ull << 30) != 0) {
        snprintf(error, size,
                 "the host denied 20 GiB of address space (not memory) for the guest: %s; "
                 "raise the limit that `ulimit -v` shows",
                 strerror(errno));
        munmap(m, sizeof *m);
        return NULL;
    }
    m->cpu.memory = m->memory.base;
    m->cpu.exclusive_address = EXCLUSIVE_NONE;
    m->cpu.call_counts = m->call_counts;
    if (config->dispatch_model)
        load_dispatch(m);
    if (config->loop_models)
        create_loops(m);
    m->memory.on_forget = forget_code;
    m->memory.owner = m;
    m->devices = devices_create(m);
    if (!m->devices)
        snprintf(error, size, "the host denied the device page: %s", strerror(errno));
    else
        m->process = linux_create(m, reason, error, size);
    if (!m->process) {
        machine_destroy(m);
        return NULL;
    }
    if (config->loop_entered)
        m->loop_watch = loop_watch_create(config->loop_entered, config->user);
    machine_set_loops(m, config->loops);
    machine_set_idle(m, config->idle);
    machine_set_engine(m, m->loop_watch ? MACHINE_ENGINE_INTERP : config->engine);
    switch_engine(m);
    return m;
}

void machine_destroy(machine *m)
{
    if (!m)
        return;
    translator_destroy(m->translator);
    loops_destroy(m->loops);
    loop_watch_destroy(m->loop_watch);
    if (m->process)
        linux_destroy(m->process);
    if (m->devices)
        devices_destroy(m->devices);
    memory_destroy(&m->memory);
    dispatch_destroy(m->dispatch);
    pthread_mutex_destroy(&m->publish_lock);
    munmap(m, sizeof *m);
}

void machine_exit(machine *m, int status)
{
    m->state = MACHINE_EXITED;
    m->exit_status = status & 0xff;
}

// ---- faults ----

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void write_report(machine *m)
{
    struct machine_fault *f = &m->fault;
    const cpu *c = &m->cpu;
    f->report[0] = '\0';
    uint64_t offset;
    const char *symbol = machine_symbol(m, f->pc, &offset);
    append(f->report, sizeof f->report, "%s\n  pc %#" PRIx64, f->what, f->pc);
    if (symbol)
        append(f->report, sizeof f->report, " in %s+%#" PRIx64, symbol, offset);
    append(f->report, sizeof f->report, "\n");
    for (unsigned i = 0; i < 31; i++)
        append(f->report, sizeof f->report, "%s%3s%u %016" PRIx64,
               i % 4 ? ""
               : i   ? "\n "
                     : " ",
               "x", i, c->x[i]);
    append(f->report, sizeof f->report, "  sp %016" PRIx64 "\n  nzcv %x\n", c->x[REG_SP], get_nzcv(c) >> 28);
    append(f->report, sizeof f->report, "  the instructions up to there:\n");
    for (uint64_t pc = f->pc >= 20 ? f->pc - 20 : 0; pc <= f->pc && pc < GUEST_SPACE; pc += 4) {
        uint32_t word;
        char line[128];
        if (!memory_allows(&m->memory, pc, 4, PROT_READ))
            continue;
        memcpy(&word, m->memory.base + pc, sizeof word);
        isa_disassemble(word, (uint32_t)pc, line, sizeof line);
        append(f->report, sizeof f->report, "  %s %8" PRIx64 ":  %08" PRIx32 "  %s\n",
               pc == f->pc ? ">" : " ", pc, word, line);
    }
}

void machine_kill(machine *m, int signal, uint64_t address, const char *what)
{
    m->state = MACHINE_FAULTED;
    m->exit_status = 128 + signal;
    m->fault.signal = signal;
    m->fault.pc = m->cpu.pc;
    m->fault.address = address;
    snprintf(m->fault.what, sizeof m->fault.what, "%s", what);
    write_report(m);
}

static void handle_fault(machine *m)
{
    static const char *const why[] = {
        [FAULT_MAPPING] = "nothing is mapped there",
        [FAULT_PERMISSION] = "which its mapping does not allow",
        [FAULT_ALIGNMENT] = "which is not aligned",
        [FAULT_FILE_END] = "which lies behind the end of the mapped file",
    };
    const cpu *c = &m->cpu;
    bool fetch = c->fault_address == c->pc && !c->fault_is_store;
    char what[160];
    snprintf(what, sizeof what, "the program %s address %#" PRIx64 ", %s",
             fetch               ? "jumped to"
             : c->fault_is_store ? "wrote to"
                                 : "read from",
             c->fault_address, why[c->fault_kind]);
    switch ((enum fault_kind)c->fault_kind) {
    case FAULT_MAPPING: linux_exception(m, SIG_SEGV, CODE_SEGV_MAPERR, c->fault_address, what); break;
    case FAULT_PERMISSION: linux_exception(m, SIG_SEGV, CODE_SEGV_ACCERR, c->fault_address, what); break;
    case FAULT_ALIGNMENT: linux_exception(m, SIG_BUS, CODE_BUS_ADRALN, c->fault_address, what); break;
    case FAULT_FILE_END: linux_exception(m, SIG_BUS, CODE_BUS_ADRERR, c->fault_address, what); break;
    }
}

static void handle_undefined(machine *m)
{
    uint32_t word;
    char what[160];
    memcpy(&word, m->memory.base + m->cpu.pc, sizeof word);
    snprintf(what, sizeof what, "the program executed the undefined instruction %#010" PRIx32, word);
    linux_exception(m, SIG_ILL, CODE_ILL_ILLOPC, m->cpu.pc, what);
}

static void handle_dispatch_fault(machine *m)
{
    uint32_t word;
    char what[160];
    memcpy(&word, m->memory.base + m->cpu.pc, sizeof word);
    dispatch_describe_fault(m->dispatch, word, what, sizeof what);
    machine_kill(m, SIG_ILL, m->cpu.pc, what); // not the guest's doing, so not for its handlers
}

// ---- the dispatch net ----

static void count_dispatch(machine *m)
{
    struct dispatch_counts counts;
    if (!m->dispatch)
        return;
    dispatch_get_counts(m->dispatch, &counts);
    m->stats.dispatch_total = m->dispatch_before;
    if (dispatch_mode(m->dispatch) != MACHINE_DISPATCH_OFF)
        m->stats.dispatch_total += m->stats.retired - m->dispatch_since;
    m->stats.dispatch_hit = m->stats.dispatch_total - counts.wrong;
    m->stats.dispatch_words = counts.words;
    m->stats.dispatch_words_hit = counts.words - counts.words_wrong;
}

static void switch_dispatch(machine *m)
{
    count_dispatch(m);
    m->dispatch_before = m->stats.dispatch_total;
    m->dispatch_since = m->stats.retired;
    interp_switch_dispatch(m);
}

const char *const machine_dispatch_names[MACHINE_DISPATCH_MODES] = {"off", "hybrid", "pure", "live"};

bool machine_dispatch_by_name(const char *name, enum machine_dispatch *dispatch)
{
    for (int i = 0; i < MACHINE_DISPATCH_MODES; i++) {
        if (strcmp(name, machine_dispatch_names[i]) == 0) {
            *dispatch = (enum machine_dispatch)i;
            return true;
        }
    }
    return false;
}

bool machine_check_dispatch(const char *base, char *error, size_t size)
{
    struct nn_error reason;
    struct dispatch *d = dispatch_create(base, &reason);
    if (!d)
        snprintf(error, size, "%s", reason.text);
    dispatch_destroy(d);
    return d != NULL;
}

bool machine_has_dispatch(const machine *m)
{
    return m->dispatch != NULL;
}

void machine_set_dispatch(machine *m, enum machine_dispatch dispatch)
{
    if (m->dispatch)
        atomic_store_explicit(&m->dispatch_wanted, (int)dispatch, memory_order_relaxed);
}

enum machine_dispatch machine_get_dispatch(const machine *m)
{
    return (enum machine_dispatch)atomic_load_explicit(&m->dispatch_wanted, memory_order_relaxed);
}

// ---- loops and waits ----

bool machine_has_loops(const machine *m)
{
    return m->loops != NULL;
}

void machine_set_loops(machine *m, bool on)
{
    atomic_store_explicit(&m->loops_wanted, on, memory_order_relaxed);
}

bool machine_get_loops(const machine *m)
{
    return atomic_load_explicit(&m->loops_wanted, memory_order_relaxed);
}

size_t machine_list_loops(const machine *m, struct machine_loop *loops, size_t max)
{
    return m->loops ? loops_list(m->loops, loops, max) : 0;
}

void machine_set_idle(machine *m, bool on)
{
    atomic_store_explicit(&m->idle_wanted, on, memory_order_relaxed);
}

bool machine_get_idle(const machine *m)
{
    return atomic_load_explicit(&m->idle_wanted, memory_order_relaxed);
}

// ---- running ----

void machine_publish(machine *m)
{
    count_dispatch(m);
    uint64_t now = host_ns(), elapsed = now - m->counted_ns, idle = m->stats.idle_ns - m->counted_idle_ns;
    m->stats.emulating_ns += elapsed > idle ? elapsed - idle : 0;
    m->counted_ns = now;
    m->counted_idle_ns = m->stats.idle_ns;
    if (m->loops)
        loops_get_stats(m->loops, &m->stats);
    m->stats.memory_mapped = m->memory.mapped;
    if (m->translator)
        translate_get_stats(m->translator, &m->stats);
    pthread_mutex_lock(&m->publish_lock);
    m->published = m->stats;
    pthread_mutex_unlock(&m->publish_lock);
}

void machine_skip_time(machine *m)
{
    m->counted_ns = host_ns();
}

enum machine_state machine_run(machine *m, uint64_t budget)
{
    uint64_t end = budget > UINT64_MAX - m->stats.retired ? UINT64_MAX : m->stats.retired + budget;
    machine_skip_time(m);
    while (m->state == MACHINE_RUNNING && m->stats.retired < end) {
        uint64_t left = end - m->stats.retired;
        uint64_t slice = m->translating ? TRANSLATED_SLICE : SLICE;
        if (m->dispatch && machine_get_dispatch(m) != dispatch_mode(m->dispatch))
            switch_dispatch(m);
        if (m->translating != (machine_get_engine(m) == MACHINE_ENGINE_TRANSLATE))
            switch_engine(m);
        update_entering(m);
        if (m->translator)
            translate_install(m->translator);
        if (m->loops)
            loops_update(m->loops);
        enum stop_reason reason = interp_run(m, left < slice ? left : slice);
        switch (reason) {
        case STOP_SVC:
            m->stats.system_calls++;
            m->cpu.exclusive_address = EXCLUSIVE_NONE; // an exception return clears the monitor
            linux_system_call(m);
            break;
        case STOP_BRK:
            linux_exception(m, SIG_TRAP, CODE_TRAP_BRKPT, m->cpu.pc,
                            "the program executed a breakpoint (BRK)");
            break;
        case STOP_UNDEFINED: handle_undefined(m); break;
        case STOP_DISPATCH: handle_dispatch_fault(m); break;
        case STOP_FAULT: handle_fault(m); break;
        case STOP_WAIT: devices_wait(m); break;
        case STOP_RETURN:
        case STOP_BUDGET:
        case STOP_NONE: devices_poll(m); break;
        }
        if (m->state == MACHINE_RUNNING && atomic_load_explicit(&m->signal_pending, memory_order_relaxed))
            linux_deliver_signals(m);
        if (reason == STOP_BUDGET || reason == STOP_WAIT)
            machine_publish(m);
        if (atomic_exchange_explicit(&m->stop_requested, false, memory_order_acquire))
            break;
    }
    machine_publish(m);
    return m->state;
}

int machine_exit_status(const machine *m)
{
    return m->exit_status;
}

const struct machine_fault *machine_get_fault(const machine *m)
{
    return &m->fault;
}

void machine_request_stop(machine *m)
{
    atomic_store_explicit(&m->stop_requested, true, memory_order_release);
    devices_wake(m->devices);
}

void machine_get_stats(const machine *m, struct machine_stats *stats)
{
    machine *mutable = (machine *)m;
    pthread_mutex_lock(&mutable->publish_lock);
    *stats = m->published;
    pthread_mutex_unlock(&mutable->publish_lock);
}

void machine_log(machine *m, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (m->config.log)
        m->config.log(m->config.user, line);
    else
        fprintf(stderr, "%s\n", line);
}

void machine_disassemble(uint32_t word, uint64_t pc, char *text, size_t size)
{
    isa_init();
    isa_disassemble(word, (uint32_t)pc, text, size);
}

bool machine_read_memory(machine *m, uint64_t address, void *to, size_t length)
{
    return memory_read(&m->memory, address, to, length);
}
