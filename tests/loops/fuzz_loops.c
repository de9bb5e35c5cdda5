// SPDX-License-Identifier: MIT
// fuzz_loops: plans against the plain interpreter.
//
//   fuzz_loops [--entries N] [--seed N] [--random LOOPS] [--mutated LOOPS] [--time TRIPS] [--verbose] CODE…
//
// CODE is A64 machine code as it lies in memory (objcopy -O binary). Every loop in it that gets a plan for
// the class that its summary shows is entered with random registers and memory, bent so that most addresses
// and counts make sense: once by the plan and the plain interpreter behind it, once by the plain interpreter
// alone. Registers, flags, memory, faults and counts have to be equal. A loop that polls, and waits, must not
// end by itself. Prints a line a class; status 1 at the first difference. With --time, what both take for
// each loop at that many trips instead.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../core/engine/engine.h"
#include "../../core/state/fault.h"
#include "candidates.h"
#include "mutated_loops.h"

enum {
    CODE_START = 0x800000,
    CODE_BYTES = 0x400000,
    EPOCH = 128, // entries with the same pages
    BREAKPOINT = 0xd4200000,
    POLLED = 1000, // instructions of a loop that waits
};
#define RUN_MAX 400000ull // instructions of a plain run
#define CREDITED_MAX 4000000ull

static uint8_t planned[PAGES][GUEST_PAGE]; // what memory holds after a plan

static struct {
    unsigned loops;
    uint64_t entries, replaced, iterations;
} counts[LOOP_CLASSES];

// ---- runs ----

struct outcome {
    cpu cpu;
    enum stop_reason stop;
    uint64_t retired;
};

static struct outcome run_plainly(uint64_t budget)
{
    struct outcome o;
    uint64_t before = guest.stats.retired;
    guest.cpu.pc = HEADER;
    o.stop = interp_run(&guest, budget);
    o.cpu = guest.cpu;
    o.retired = guest.stats.retired - before;
    return o;
}

static const char *differing_page(const uint8_t (*with)[GUEST_PAGE], char *text, size_t size)
{
    for (unsigned p = 0; p < PAGES; p++) {
        const uint8_t *memory = guest.memory.base + address_of_page[p];
        if (!has_contents(p) || memcmp(memory, with[p], GUEST_PAGE) == 0)
            continue;
        unsigned i = 0;
        while (memory[i] == with[p][i])
            i++;
        snprintf(text, size, "memory at %" PRIx64 " is %02x, not %02x", address_of_page[p] + i, with[p][i],
                 memory[i]);
        return text;
    }
    return NULL;
}

static const char *differing(const struct outcome *a, const struct outcome *b, char *text, size_t size)
{
    for (unsigned i = 0; i <= REG_SP; i++)
        if (a->cpu.x[i] != b->cpu.x[i]) {
            snprintf(text, size, "x%u is %" PRIx64 ", not %" PRIx64, i, a->cpu.x[i], b->cpu.x[i]);
            return text;
        }
    if (get_nzcv(&a->cpu) != get_nzcv(&b->cpu))
        return "the flags differ";
    if (a->stop != b->stop || a->cpu.pc != b->cpu.pc)
        return "they stop at different places";
    if (a->stop == STOP_FAULT &&
        (a->cpu.fault_address != b->cpu.fault_address || a->cpu.fault_kind != b->cpu.fault_kind))
        return "the faults differ";
    return NULL;
}

static void fail(const struct loop *l, const cpu *start, struct plan_result r, const char *what)
{
    char text[8192];
    printf("not ok %s in %s at %x: after %" PRIu64 " of %" PRIu64 " iterations %s\n", class_names[l->class],
           l->file, l->offset, r.iterations, r.trips, what);
    for (unsigned i = 0; i <= (l->summary->branch - l->summary->header) / 4; i++)
        printf(" %08x", l->summary->words[i]);
    loop_summary_print(l->summary, text, sizeof text);
    printf("\ncredited %" PRIu64 ", tail %" PRIu64 "\n%s", r.credited, r.tail, text);
    for (unsigned i = 0; i <= REG_SP; i++)
        printf("x%-2u %016" PRIx64 "%c", i, start->x[i], i % 4 == 3 ? '\n' : ' ');
    exit(1);
}

static void check_counts(const struct loop *l, const cpu *start, struct plan_result r,
                         const struct outcome *with, const struct outcome *plain)
{
    char text[200];
    if (plain->stop == STOP_BRK && (r.goes_on ? r.tail >= with->retired : r.tail != with->retired)) {
        snprintf(text, sizeof text, "the tail was of %" PRIu64 " instructions", with->retired);
        fail(l, start, r, text);
    }
    if (r.credited + with->retired != plain->retired) {
        snprintf(text, sizeof text, "the plain loop has run %" PRIu64 " instructions", plain->retired);
        fail(l, start, r, text);
    }
}

// What waits is not over by itself.
static void enter_poll(const struct loop *l)
{
    cpu start = guest.cpu;
    counts[l->class].entries++;
    if (!plan_waits(l->plan, &guest.cpu, &guest.memory))
        return;
    counts[l->class].replaced++;
    struct outcome plain = run_plainly(POLLED);
    if (plain.stop != STOP_BUDGET || plain.cpu.pc - HEADER > l->summary->branch - HEADER)
        fail(l, &start, (struct plan_result){0}, "the plain loop is over");
}

// Copies what the first load goes along to where the last one goes.
static void make_equal(const struct loop_summary *s, const cpu *c)
{
    uint64_t vars[LOOP_VARS] = {0};
    memcpy(vars, c->x, (REG_SP + 1) * sizeof vars[0]);
    uint64_t from = node_value(s, vars, s->accesses[0].address);
    uint64_t to = node_value(s, vars, s->accesses[s->access_count - 1].address);
    for (unsigned i = 0, n = (unsigned)below(1000); i < n; i++)
        poke(to + i, 1, peek(from + i, 1));
}

static void enter(const struct loop *l)
{
    cpu *c = &guest.cpu;
    char text[200];
    make_state(l->summary, c);
    if (l->class == LOOP_COMPARE && below(4))
        make_equal(l->summary, c);
    disturb(l->summary, c);
    restore();
    if (l->class == LOOP_POLL) {
        enter_poll(l);
        return;
    }
    cpu start = *c;
    struct plan_range ranges[8];
    int range_count = plan_writes(l->plan, c, &guest.memory, ranges, 8);
    struct plan_result r = plan_run(l->plan, c, &guest.memory);
    counts[l->class].entries++;
    if (r.iterations == 0) {
        struct outcome before = {.cpu = start}, now = {.cpu = *c};
        const char *what = differing(&now, &before, text, sizeof text);
        if (!what && below(8) == 0)
            what = differing_page((const uint8_t(*)[GUEST_PAGE]) template, text, sizeof text);
        if (what)
            fail(l, &start, r, what);
        return;
    }
    if (r.credited > CREDITED_MAX) // the plain loop would take too long
        return;
    counts[l->class].replaced++;
    counts[l->class].iterations += r.iterations;
    if (range_count < 0)
        fail(l, &start, r, "plan_writes says that the guard does not hold");
    struct outcome with = run_plainly(RUN_MAX);
    for (unsigned p = 0; p < PAGES; p++) {
        if (!has_contents(p))
            continue;
        memcpy(planned[p], guest.memory.base + address_of_page[p], GUEST_PAGE);
        for (unsigned i = 0; i < GUEST_PAGE && with.stop == STOP_BRK; i++) {
            uint64_t address = address_of_page[p] + i;
            bool told = planned[p][i] == template[p][i];
            for (int k = 0; k < range_count && !told; k++)
                told = address - ranges[k].address < ranges[k].length;
            if (!told)
                fail(l, &start, r, "plan_writes does not know of a write");
        }
    }
    restore();
    memcpy(c->x, start.x, sizeof c->x);
    c->flags = start.flags;
    struct outcome plain = run_plainly(r.credited + RUN_MAX);
    const char *what = differing(&with, &plain, text, sizeof text);
    if (!what)
        what = differing_page((const uint8_t(*)[GUEST_PAGE])planned, text, sizeof text);
    if (what)
        fail(l, &start, r, what);
    check_counts(l, &start, r, &with, &plain);
}

// ---- time ----

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// The least time of ten series of runs from start, one run.
static double time_runs(const struct loop *l, const cpu *start, bool by_plan)
{
    enum { RUNS = 300 };
    double best = 1e18;
    for (unsigned series = 0; series < 10; series++) {
        double begin = now_ns();
        for (unsigned i = 0; i < RUNS; i++) {
            memcpy(guest.cpu.x, start->x, sizeof start->x);
            if (by_plan) {
                plan_run(l->plan, &guest.cpu, &guest.memory);
            } else {
                guest.cpu.pc = HEADER;
                interp_run(&guest, RUN_MAX);
            }
        }
        double each = (now_ns() - begin) / RUNS;
        best = each < best ? each : best;
    }
    return best;
}

static void time_loop(const struct loop *l)
{
    for (unsigned tries = 0; tries < 4000; tries++) {
        if (tries % 100 == 0) {
            fill_template(l->class);
            restore();
        }
        make_state(l->summary, &guest.cpu);
        restore();
        cpu start = guest.cpu;
        struct plan_result r = plan_run(l->plan, &guest.cpu, &guest.memory);
        restore();
        if (r.trips < timed_trips || r.trips > timed_trips + 1 || r.iterations == 0)
            continue;
        double plan = time_runs(l, &start, true);
        restore();
        double plain = time_runs(l, &start, false);
        printf("%-16s %s %5x: %" PRIu64
               " trips of %u: plan %.0f ns, plain %.0f ns, %.2f and %.2f ns an iteration\n",
               class_names[l->class], l->file, l->offset, r.trips, l->summary->length, plan, plain,
               plan / (double)r.trips, plain / (double)r.trips);
        return;
    }
    printf("%-16s %s %5x: never replaced\n", class_names[l->class], l->file, l->offset);
}

// Puts the loop's code at HEADER and a breakpoint wherever it leaves, or takes both away.
static void place(const struct loop *l, bool there)
{
    const struct loop_summary *s = l->summary;
    uint8_t *base = guest.memory.base;
    memory_protect(&guest.memory, CODE_START, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (unsigned i = 0; i < s->exit_count; i++) {
        uint32_t word = there ? BREAKPOINT : 0;
        if (s->exits[i].target - CODE_START < CODE_BYTES)
            memcpy(base + s->exits[i].target, &word, sizeof word);
    }
    for (uint32_t pc = s->header; pc <= s->branch; pc += 4)
        memcpy(base + pc, there ? &s->words[(pc - s->header) / 4] : &(uint32_t){0}, 4);
    memory_protect(&guest.memory, CODE_START, CODE_BYTES, PROT_READ | PROT_EXEC);
}

// No process sends this one a SIGSEGV that matters.
static bool refuse(const void *siginfo, void *context)
{
    (void)siginfo, (void)context;
    return false;
}

// Of those there are.
static void add_mutated_loops(unsigned count)
{
    const unsigned known = loop_count;
    for (unsigned i = 0; i < count && known; i++) {
        const struct loop_summary *s = loops[below(known)].summary;
        struct random_loop l = {.count = (s->branch - s->header) / 4 + 1};
        if (l.count > RANDOM_WORDS)
            continue;
        memcpy(l.words, s->words, l.count * sizeof l.words[0]);
        mutate_loop(&l);
        find_loop("mutated", l.words, 0, l.count - 1);
    }
}

int main(int argc, char **argv)
{
    uint64_t entries = 20000;
    unsigned random_loops = 0, mutated_loops = 0;
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--verbose") == 0)
            verbose = true;
        else if (strcmp(argv[i], "--entries") == 0 && i + 1 < argc)
            entries = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
            random_loops = (unsigned)strtoul(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--mutated") == 0 && i + 1 < argc)
            mutated_loops = (unsigned)strtoul(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc)
            timed_trips = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            random_state = strtoull(argv[++i], NULL, 0) * 0x9e3779b97f4a7c15 + 1;
    }
    fault_init(refuse, refuse);
    if (memory_create(&guest.memory, 1 << 30))
        return 1;
    guest.cpu.memory = guest.memory.base;
    static uint32_t call_counts[CALL_COUNTS];
    guest.cpu.call_counts = call_counts;
    memory_map(&guest.memory, CODE_START, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (; i < argc; i++)
        find_loops(argv[i]);
    add_random_loops(random_loops);
    add_mutated_loops(mutated_loops);
    for (unsigned k = 0; k < loop_count; k++)
        counts[loops[k].class].loops++;
    if (loop_count == 0) {
        printf("not ok loops: none has a plan\n");
        return 1;
    }
    if (timed_trips) {
        calm = true;
        map_pages(false);
        for (unsigned k = 0; k < loop_count; k++) {
            place(&loops[k], true);
            time_loop(&loops[k]);
            place(&loops[k], false);
        }
        return 0;
    }
    for (uint64_t done = 0, round = 0; done < entries; round++) {
        struct loop *l = &loops[round % loop_count];
        const char *reason;
        calm = round / loop_count % 2;
        if (round % 4 == 0 || l->class == LOOP_LIST_WALK)
            fill_template(l->class);
        map_pages(l->class == LOOP_POLL);
        plan_free(l->plan); // a plan that does not pay rests for a while
        l->plan = prove_plan(l->summary, l->class, &reason);
        place(l, true);
        for (unsigned n = 0; n < EPOCH; n++, done++)
            enter(l);
        place(l, false);
    }
    for (unsigned k = 0; k < LOOP_CLASSES; k++)
        if (counts[k].loops)
            printf("%s %s: %u loops, %" PRIu64 " of %" PRIu64 " entries replaced, %" PRIu64 " iterations\n",
                   counts[k].replaced || counts[k].entries < 2000 ? "ok" : "not ok", class_names[k],
                   counts[k].loops, counts[k].replaced, counts[k].entries, counts[k].iterations);
    return 0;
}
