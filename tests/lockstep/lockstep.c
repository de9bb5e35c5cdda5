// SPDX-License-Identifier: MIT
// lockstep: runs a program with every translated region held against the interpreter, instruction for
// instruction.
//
//   lockstep [--checks N] [--instructions N] [--eager N] [--faults SEED] [--dir FOLDER]… [--cache FOLDER]
//   PROGRAM [ARG…]
//
// Where translated code would be entered, a copy of the process (fork) enters it, for at most --instructions,
// and interprets what that calls if it is not translated; this one then steps the interpreter by as many, and
// registers, flags, vectors and all of guest memory have to be equal. Each entry is checked N times (default
// 3), then interpreted. The first difference is described; exit status 5. --faults: as code for guests that
// handle faults; the copy cannot access the page that one of its registers, drawn at random, points to. Where
// translated code faults, the interpreter has to fault, too, and with --faults after as many instructions.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xxhash.h>

#include "../../core/base/forks.h"
#include "../../core/core.h"
#include "stepper.h"

enum {
    ENTRIES = 1 << 16,
    OVERRUN_MOST = 1 << 16, // of the budget, which translated code looks at only where it is entered or loops
};

static unsigned checks_each = 3;
static int64_t instructions_most = 20000;
static uint8_t checked[ENTRIES];
static uint64_t check_count, fault_count;
static uint64_t random_state; // 0: nothing is made to fault

// What the copy says.
static struct outcome {
    cpu cpu;
    uint64_t memory_hash;
    bool faulted;
    uint64_t page; // that could not be accessed, or 0
} * outcome;

static uint64_t hash_memory(const struct memory *m)
{
    uint64_t hash = 0;
    for (uint64_t page = 0; page < GUEST_SPACE / GUEST_PAGE; page++)
        if ((m->pages[page] & (MEMORY_MAPPED | PROT_WRITE | PROT_READ)) ==
            (MEMORY_MAPPED | PROT_WRITE | PROT_READ))
            hash = XXH3_64bits_withSeed(m->base + page * GUEST_PAGE, GUEST_PAGE, hash + page);
    return hash;
}

static enum stop_reason leave_system_call(struct guest *g)
{
    (void)g;
    return STOP_SVC;
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
    return *state >> 33;
}

// Of those that a register points to, a page of data; 0 if it points to none.
static uint64_t draw_page(struct guest *g)
{
    uint64_t page = g->cpu.x[draw(&random_state) % (REG_SP + 1)] / GUEST_PAGE;
    uint8_t wanted = MEMORY_MAPPED | PROT_READ | PROT_WRITE;
    bool is_data =
        page < GUEST_SPACE / GUEST_PAGE && (g->memory.pages[page] & (wanted | PROT_EXEC)) == wanted;
    return is_data ? page * GUEST_PAGE : 0;
}

// Steps into a fault, which has to come within so many instructions; pc is at it then. Returns how many there
// are in front of it, -1 if none comes. Its own function for the sake of what the caller has in registers.
static __attribute__((noinline)) int64_t step_into_fault(struct guest *g, int64_t most)
{
    struct fault_context context;
    volatile int64_t count = 0;
    fault_begin(&context, g);
    if (__builtin_setjmp(context.env) == 0) {
        while (count < most && step(g))
            count++;
        count = -1;
    } else {
        g->cpu.stepping = NULL;
        g->cpu.pc = pc_of(&g->cpu, g->cpu.current);
    }
    fault_end(&context);
    return count;
}

// In the copy: runs the translated code and tells.
static void run_translated(struct translator *t, struct guest *g)
{
    cpu *c = &g->cpu;
    struct fault_context context;
    const uint64_t page = outcome->page = random_state ? draw_page(g) : 0;
    if (page)
        memory_protect(&g->memory, page, GUEST_PAGE, PROT_NONE);
    c->stop = STOP_NONE;
    fault_begin(&context, g);
    if (__builtin_setjmp(context.env) == 0) {
        translate_enter_code(t);
    } else if (c->stop == STOP_BACK) {
        c->pc = c->exact_pc;
        c->budget -= step_into_fault(g, c->budget + OVERRUN_MOST);
        c->stop = STOP_FAULT; // that of the translated code, even if the interpreter has none
    } else {
        if (c->stop == STOP_SVC)
            c->current--; // not done yet: the machine would
        c->budget = cpu_budget_at(c, c->current);
        c->pc = pc_of(c, c->current);
    }
    outcome->faulted = c->stop == STOP_FAULT;
    if (page)
        memory_protect(&g->memory, page, GUEST_PAGE, PROT_READ | PROT_WRITE);
    outcome->cpu = *c;
    outcome->memory_hash = hash_memory(&g->memory);
    _exit(0);
}

static void fail(const struct guest *g, uint64_t entry, int64_t count, const char *what, uint64_t translated,
                 uint64_t interpreted)
{
    uint64_t offset;
    const char *symbol = g->host->symbol(g, entry, &offset);
    printf("not ok lockstep: region %" PRIx64 " (%s), after %" PRId64 " instructions at %" PRIx64
           ": %s is %" PRIx64 " translated, %" PRIx64 " interpreted\n",
           entry, symbol ? symbol : "?", count, g->cpu.pc, what, translated, interpreted);
    exit(5);
}

// Whether the code at pc reads the flags before it sets them or branches: translated code need not keep them
// otherwise.
static bool flags_are_read(struct guest *g, uint64_t pc)
{
    for (unsigned n = 0; n < 32; n++, pc += 4) {
        op o;
        enum dispatch_verdict unused;
        enum insn id = decode_at(&g->cpu, pc, &o, &unused);
        if (isa_info[id].reads & NZCV)
            return true;
        if (isa_info[id].writes & NZCV || isa_info[id].kind != KIND_OP)
            return false;
    }
    return false;
}

static void compare(struct guest *g, uint64_t entry, int64_t count)
{
    const cpu *a = &outcome->cpu, *b = &g->cpu;
    char name[32];
    if (a->pc != b->pc)
        fail(g, entry, count, "pc", a->pc, b->pc);
    for (unsigned i = 0; i <= REG_SP; i++) {
        snprintf(name, sizeof name, "x%u", i);
        if (a->x[i] != b->x[i])
            fail(g, entry, count, name, a->x[i], b->x[i]);
    }
    if ((random_state || flags_are_read(g, b->pc)) && get_nzcv(a) != get_nzcv(b))
        fail(g, entry, count, "NZCV", get_nzcv(a), get_nzcv(b));
    for (unsigned i = 0; i < 32; i++) {
        for (unsigned half = 0; half < 2; half++) {
            snprintf(name, sizeof name, "v%u, half %u", i, half);
            if (a->v[i][half] != b->v[i][half])
                fail(g, entry, count, name, a->v[i][half], b->v[i][half]);
        }
    }
    if (a->fpsr != b->fpsr || a->fpcr != b->fpcr)
        fail(g, entry, count, "FPSR", a->fpsr, b->fpsr);
    uint64_t hash = hash_memory(&g->memory);
    if (outcome->memory_hash != hash)
        fail(g, entry, count, "the hash of memory", outcome->memory_hash, hash);
}

// Has the interpreter fault, too: an instruction of several stores has done some of them then. Returns after
// how many instructions.
static int64_t fault_likewise(struct guest *g, uint64_t entry, int64_t most)
{
    if (outcome->page)
        memory_protect(&g->memory, outcome->page, GUEST_PAGE, PROT_NONE);
    int64_t count = step_into_fault(g, most);
    if (count < 0)
        fail(g, entry, 0, "whether it faults", 1, 0);
    if (outcome->page)
        memory_protect(&g->memory, outcome->page, GUEST_PAGE, PROT_READ | PROT_WRITE);
    return count;
}

static struct guest *checked_guest;

static bool check(struct translator *t)
{
    struct guest *g = checked_guest;
    cpu *c = &g->cpu;
    uint64_t entry = c->pc;
    int64_t budget = c->budget;
    if (forks_count() > 0 || checked[entry / 4 % ENTRIES] >= checks_each)
        return false;
    checked[entry / 4 % ENTRIES]++;
    if (random_state)
        draw(&random_state); // the copies draw on from here
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("lockstep: fork");
        exit(1);
    }
    if (pid == 0) {
        c->budget = budget < instructions_most ? budget : instructions_most;
        outcome->cpu.budget = c->budget;
        run_translated(t, g);
    }
    int status;
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(g, entry, 0, "the wait status of the copy", (uint64_t)status, 0);
    int64_t granted = budget < instructions_most ? budget : instructions_most;
    int64_t count = granted - outcome->cpu.budget;
    fault_count += outcome->faulted;
    if (outcome->faulted) {
        int64_t until_fault = fault_likewise(g, entry, granted + OVERRUN_MOST);
        if (random_state && until_fault != count)
            fail(g, entry, until_fault, "instructions in front of a fault", (uint64_t)count,
                 (uint64_t)until_fault);
        count = until_fault;
    } else {
        for (int64_t i = 0; i < count; i++)
            if (!step(g))
                fail(g, entry, i, "a step that the interpreter cannot do alone: instructions retired",
                     (uint64_t)count, (uint64_t)i);
    }
    if (random_state || !outcome->faulted) // code that is not precise leaves nothing to compare
        compare(g, entry, count);
    check_count++;
    c->budget = budget - count;
    return count > 0;
}

int main(int argc, char **argv)
{
    static struct machine_grant grants[16];
    size_t grant_count = 0;
    const char *cache = NULL;
    unsigned eager = 0;
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        char *folder = realpath(argv[i + 1], NULL);
        if (strcmp(argv[i], "--checks") == 0)
            checks_each = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--instructions") == 0)
            instructions_most = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "--eager") == 0)
            eager = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--faults") == 0)
            random_state = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--dir") == 0 && grant_count < 15 && folder)
            grants[grant_count++] = (struct machine_grant){.host = folder, .guest = folder, .writable = true};
        else if (strcmp(argv[i], "--cache") == 0)
            cache = argv[i + 1];
    }
    if (i >= argc) {
        fprintf(stderr, "usage: lockstep [--checks N] [--instructions N] [--dir FOLDER]… PROGRAM [ARG…]\n");
        return 1;
    }
    char home[4200];
    snprintf(home, sizeof home, "HOME=%s", grant_count ? grants[0].guest : "/");
    const char *const environment[] = {home, NULL};
    char *program = realpath(argv[i], NULL);
    grants[grant_count++] = (struct machine_grant){.host = program, .guest = program};
    const struct machine_config config = {
        .program = program,
        .argv = (const char *const *)argv + i,
        .envp = environment,
        .cwd = grant_count > 1 ? grants[0].guest : "/",
        .grants = grants,
        .grant_count = grant_count,
        .deterministic = true,
        .clock = MACHINE_CLOCK_VIRTUAL,
        .engine = MACHINE_ENGINE_TRANSLATE,
        .cache_folder = cache,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    if (!m) {
        fprintf(stderr, "lockstep: %s\n", error.text);
        return 1;
    }
    outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct guest *g = checked_guest = (struct guest *)m; // a machine begins with its guest
    struct guest_host host = *g->host; // a copy makes no system calls
    host.system_call = leave_system_call;
    g->host = &host;
    g->handles_faults = g->memory.shares = random_state != 0; // so that code has to be precise
    machine_run(m, 1); // starts the translator for that
    translate_set_lockstep(g->translator, check);
    uint64_t state = 1;
    while (machine_run(m, eager ? draw(&state) & 127 : UINT64_MAX) == MACHINE_RUNNING) {
        if (eager) {
            translate_now(g->translator, (uint32_t)g->cpu.pc);
            eager--;
        }
    }
    printf("ok lockstep: %" PRIu64 " entries checked, %" PRIu64 " faults, the program ended with status %d\n",
           check_count, fault_count, machine_exit_status(m));
    machine_destroy(m);
    return 0;
}
