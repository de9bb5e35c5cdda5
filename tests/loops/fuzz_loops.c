// SPDX-License-Identifier: MIT
// fuzz_loops: plans against the plain interpreter.
//
//   fuzz_loops [--entries N] [--seed N] [--time TRIPS] [--verbose] CODE…
//
// CODE is A64 machine code as it lies in memory (objcopy -O binary). Every loop in it that gets a plan for
// the class that its summary shows is entered with random registers and memory, bent so that most addresses
// and counts make sense: once by the plan and the plain interpreter behind it, once by the plain interpreter
// alone. Registers, flags, memory, faults and counts have to be equal. Prints a line a class; status 1 at
// the first difference. With --time, what both take for each loop at that many trips instead.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../../core/engine/engine.h"
#include "../../core/isa/isa.h"
#include "../../core/loops/plan.h"
#include "../../core/machine.h"

enum {
    CODE_START = 0x800000,
    HEADER = 0xa00000,
    CODE_BYTES = 0x400000,
    LOOPS_MAX = 8192,
    EPOCH = 128, // entries with the same pages
    BREAKPOINT = 0xd4200000,
};
#define RUN_MAX 400000ull // instructions of a plain run
#define CREDITED_MAX 4000000ull

static const struct {
    uint64_t address;
    unsigned pages;
} regions[] = {{GUEST_MMAP_MIN, 3}, {0x200000, 20}, {0x300000, 12}, {GUEST_SPACE - 3 * GUEST_PAGE, 3}};
enum { REGIONS = sizeof regions / sizeof regions[0], PAGES = 38 };

static struct machine guest;
static uint8_t template[PAGES][GUEST_PAGE], planned[PAGES][GUEST_PAGE];
static uint64_t address_of_page[PAGES];
static uint8_t flags_of_page[PAGES]; // as memory.pages holds them
static uint64_t random_state = 1;
static bool verbose;
static bool calm; // nothing but entries that make sense
static uint64_t timed_trips; // of all entries; 0: random

static struct loop {
    const char *file;
    uint32_t offset;
    struct loop_summary *summary;
    struct loop_plan *plan;
    enum loop_class class;
} loops[LOOPS_MAX];
static unsigned loop_count;

static struct {
    unsigned loops;
    uint64_t entries, replaced, iterations;
} counts[LOOP_CLASSES];

static const char *const class_names[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) name,
#include "../../core/nn/loop_classes.def"
#undef LOOP_CLASS
};

// ---- random values ----

static uint64_t next_random(void)
{
    random_state ^= random_state << 13; // Marsaglia, Xorshift RNGs
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1d;
}

static uint64_t below(uint64_t n)
{
    return (next_random() >> 11) % n;
}

static uint64_t random_address(void)
{
    if (calm)
        return regions[1 + below(2)].address + (below(8 * GUEST_PAGE) & ~(uint64_t)7);
    unsigned kind = (unsigned)below(16), r = (unsigned)(below(8) < 6 ? 1 + below(2) : below(REGIONS));
    uint64_t length = regions[r].pages * GUEST_PAGE, offset = below(length);
    if (kind == 0)
        offset = below(64); // at the start
    else if (kind == 1)
        offset = length - 1 - below(64); // at the end
    else if (kind == 2)
        offset = below(length / GUEST_PAGE) * GUEST_PAGE - below(32); // around the end of a page
    else if (kind < 12)
        offset &= ~(uint64_t)15;
    return regions[r].address + offset;
}

static uint64_t random_value(void)
{
    switch (below(12)) {
    case 0: return 0;
    case 1: return below(4);
    case 2: return -below(300);
    case 3: return (uint32_t)next_random();
    case 4: return next_random();
    case 5: return (uint32_t)-below(300);
    case 6:
    case 7:
    case 8: return random_address();
    default: return below(300);
    }
}

static uint64_t random_trips(void)
{
    if (timed_trips)
        return timed_trips - 1;
    switch (calm ? 5 : below(8)) {
    case 0: return below(4);
    case 1:
    case 2: return below(12);
    case 3: return below(3000);
    case 4: return below(700);
    default: return below(100);
    }
}

// ---- memory ----

static void map_pages(void)
{
    unsigned page = 0;
    for (unsigned r = 0; r < REGIONS; r++) {
        for (unsigned i = 0; i < regions[r].pages; i++, page++) {
            uint64_t address = regions[r].address + i * GUEST_PAGE;
            int prot = PROT_READ | PROT_WRITE;
            bool code = false;
            switch ((r == 1 || r == 2) && !calm ? below(40) : 9) {
            case 0: prot = PROT_READ; break;
            case 1: prot = PROT_NONE; break;
            case 2: prot |= PROT_EXEC; code = true;
            }
            address_of_page[page] = address;
            if (memory_map(&guest.memory, address, GUEST_PAGE, PROT_READ | PROT_WRITE))
                abort();
            memcpy(guest.memory.base + address, template[page], GUEST_PAGE);
            memory_protect(&guest.memory, address, GUEST_PAGE, prot);
            if (code)
                memory_mark_code(&guest.memory, address);
            flags_of_page[page] = guest.memory.pages[address / GUEST_PAGE];
        }
    }
}

// What an entry may find in memory. A list is made of pointers.
static void fill_template(enum loop_class class)
{
    unsigned kind = class == LOOP_LIST_WALK ? 2 : (unsigned)below(6), rare = 1 + (unsigned)below(60);
    uint8_t common = below(3) ? 0 : (uint8_t)next_random();
    for (unsigned p = 0; p < PAGES; p++) {
        for (unsigned i = 0; i < GUEST_PAGE; i += 8) {
            uint64_t v;
            switch (kind) {
            case 0: v = next_random(); break;
            case 1: v = below(rare) ? common * 0x0101010101010101u : next_random(); break;
            case 2: v = below(rare) ? random_address() & ~(uint64_t)15 : 0; break;
            case 3: v = next_random() & 0x0303030303030303; break;
            case 4: v = next_random() | 0x0101010101010101; break;
            default: v = below(200) | below(200) << 32;
            }
            memcpy(template[p] + i, &v, sizeof v);
        }
    }
}

static bool is_writable(unsigned page)
{
    return flags_of_page[page] & PROT_WRITE;
}

// Puts the template's contents back into memory.
static void restore(void)
{
    for (unsigned p = 0; p < PAGES; p++) {
        uint8_t *flags = &guest.memory.pages[address_of_page[p] / GUEST_PAGE];
        bool was_code = flags_of_page[p] & MEMORY_CODE;
        if (!is_writable(p) || (was_code && *flags & MEMORY_CODE))
            continue;
        memcpy(guest.memory.base + address_of_page[p], template[p], GUEST_PAGE);
        if (was_code)
            memory_mark_code(&guest.memory, address_of_page[p]);
    }
}

static uint8_t *template_at(uint64_t address)
{
    for (unsigned p = 0; p < PAGES; p++)
        if (address - address_of_page[p] < GUEST_PAGE)
            return template[p] + address % GUEST_PAGE;
    return NULL;
}

static uint64_t peek(uint64_t address, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        const uint8_t *at = template_at((address + i) << 8 >> 8);
        value |= at ? (uint64_t)*at << 8 * i : 0;
    }
    return value;
}

static void poke(uint64_t address, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++) {
        uint8_t *at = template_at((address + i) << 8 >> 8);
        unsigned page = at ? (unsigned)((at - template[0]) / GUEST_PAGE) : 0;
        if (at && is_writable(page) && !(flags_of_page[page] & MEMORY_CODE))
            *at = (uint8_t)(value >> 8 * i);
    }
}

// ---- states that make sense ----

static uint64_t load(void *user, unsigned access, uint64_t address)
{
    const struct loop_summary *s = user;
    return peek(address, s->accesses[access].size);
}

static uint64_t node_value(const struct loop_summary *s, const uint64_t *vars, unsigned node)
{
    return loop_evaluate(s, node, vars, load, (void *)s);
}

// One of the registers and loads that a node is made of; -1: none. *is_load: an access.
static int random_leaf(const struct loop_summary *s, unsigned node, bool *is_load)
{
    for (;;) {
        const struct node *n = &s->nodes[node];
        if (n->kind == NODE_CONSTANT)
            return -1;
        if (n->kind <= NODE_LOAD) {
            *is_load = n->kind == NODE_LOAD;
            return n->a;
        }
        bool two = n->kind < NODE_ZEXT && n->kind != NODE_SELECT;
        if (two && s->nodes[n->a].kind > NODE_SUB) // an index: rather the base
            node = n->b;
        else if (two && s->nodes[n->b].kind > NODE_SUB)
            node = n->a;
        else
            node = two && below(2) ? n->b : n->a;
    }
}

// Bends a register or a pointer in memory so that access a starts where it may.
static void bend_address(const struct loop_summary *s, uint64_t *vars, const struct access *a)
{
    for (unsigned tries = 0; tries < 3; tries++) {
        uint64_t now = node_value(s, vars, a->address), wanted = random_address();
        bool is_load;
        int leaf = random_leaf(s, a->address, &is_load);
        if (leaf < 0)
            continue;
        if (is_load && s->accesses[leaf].size == 8) {
            uint64_t at = node_value(s, vars, s->accesses[leaf].address);
            poke(at, 8, peek(at, 8) + wanted - now);
        } else if (!is_load && leaf < LOOP_VAR_FLAGS_A) {
            vars[leaf] += wanted - now;
        }
        if (node_value(s, vars, a->address) == wanted)
            return;
    }
}

static uint64_t linear_value(const struct loop_summary *s, const uint64_t *vars, const struct linear *l)
{
    uint64_t sum = l->constant;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned k = l->var[i];
        uint64_t term = k < LINEAR_LOAD ? vars[k]
                                        : peek(node_value(s, vars, s->accesses[k - LINEAR_LOAD].address),
                                               s->accesses[k - LINEAR_LOAD].size);
        sum += (uint64_t)l->factor[i] * term;
    }
    return sum;
}

static void bend_count(const struct loop_summary *s, uint64_t *vars, const struct loop_exit *x)
{
    uint64_t step = linear_value(s, vars, &x->step), trips = random_trips();
    uint64_t away = linear_value(s, vars, &x->start) + trips * step - linear_value(s, vars, &x->limit);
    const struct linear *l = x->limit.count && below(4) ? &x->limit : &x->start;
    if (!l->count)
        l = l == &x->limit ? &x->start : &x->limit;
    if (!l->count)
        return;
    if (l == &x->start)
        away = -away;
    unsigned i = (unsigned)below(l->count), k = l->var[i];
    if (l->factor[i] == -1)
        away = -away;
    else if (l->factor[i] != 1)
        away /= (uint64_t)l->factor[i];
    if (!calm && below(16) == 0)
        away += below(5) - 2;
    if (k >= LINEAR_LOAD) {
        unsigned size = s->accesses[k - LINEAR_LOAD].size;
        uint64_t at = node_value(s, vars, s->accesses[k - LINEAR_LOAD].address);
        poke(at, size, peek(at, size) + away);
    } else if (x->bits == 32) {
        vars[k] = (uint32_t)(vars[k] + away) | (calm || below(32) ? 0 : next_random() << 32);
    } else {
        vars[k] += away;
    }
}

static void make_state(const struct loop_summary *s, cpu *c)
{
    uint64_t vars[LOOP_VARS] = {0};
    for (unsigned i = 0; i < REG_SP; i++)
        vars[i] = random_value();
    vars[REG_SP] = random_address() & ~(uint64_t)15;
    for (unsigned i = 0; i < s->exit_count; i++) // steps of a size that goes anywhere
        for (unsigned k = 0; k < s->exits[i].step.count; k++)
            if (s->exits[i].step.var[k] < REG_SP && below(8))
                vars[s->exits[i].step.var[k]] = below(2) ? below(64) : -below(64);
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct linear *step = &s->accesses[i].step;
        for (unsigned k = 0; k < step->count; k++)
            if (step->var[k] < REG_SP && below(8))
                vars[step->var[k]] = below(2) ? below(64) : -below(64);
    }
    bool near = !calm && below(4) == 0; // all that is accessed lies close together
    for (unsigned i = 0; i < s->access_count; i++)
        if (!near || i == 0)
            bend_address(s, vars, &s->accesses[i]);
    if (near) {
        uint64_t first = s->access_count ? node_value(s, vars, s->accesses[0].address) : 0;
        for (unsigned i = 0; i < REG_SP; i++)
            if (vars[i] - GUEST_MMAP_MIN < GUEST_SPACE - GUEST_MMAP_MIN && vars[i] > 0x1000)
                vars[i] = first + below(256) - 128;
    }
    for (unsigned i = 0; i < s->exit_count; i++)
        if (s->exits[i].counted)
            bend_count(s, vars, &s->exits[i]);
    if (below(64) == 0)
        vars[below(REG_SP)] |= next_random() << 56; // a tag
    memcpy(c->x, vars, (REG_SP + 1) * sizeof vars[0]);
    c->flags = (struct flags){next_random() << 28 & 0xf0000000, 0, FLAGS_NZCV};
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
        if (!(flags_of_page[p] & PROT_READ) || memcmp(memory, with[p], GUEST_PAGE) == 0)
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
    loop_summary_print(l->summary, text, sizeof text);
    printf("credited %" PRIu64 ", tail %" PRIu64 "\n%s", r.credited, r.tail, text);
    for (unsigned i = 0; i <= REG_SP; i++)
        printf("x%-2u %016" PRIx64 "%c", i, start->x[i], i % 4 == 3 ? '\n' : ' ');
    exit(1);
}

static void check_counts(const struct loop *l, const cpu *start, struct plan_result r,
                         const struct outcome *with, const struct outcome *plain)
{
    char text[200];
    if (plain->stop == STOP_BRK && r.tail != with->retired) {
        snprintf(text, sizeof text, "the tail was of %" PRIu64 " instructions", with->retired);
        fail(l, start, r, text);
    }
    if (r.credited + with->retired != plain->retired) {
        snprintf(text, sizeof text, "the plain loop has run %" PRIu64 " instructions", plain->retired);
        fail(l, start, r, text);
    }
}

static void enter(const struct loop *l)
{
    cpu *c = &guest.cpu;
    char text[200];
    make_state(l->summary, c);
    if (l->class == LOOP_COMPARE && below(4))
        make_equal(l->summary, c);
    for (unsigned i = (unsigned)below(6); i; i--)
        poke(random_address(), 1, next_random());
    restore();
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
        if (!(flags_of_page[p] & PROT_READ))
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

// ---- loops ----

static bool is_known(const struct loop_summary *s)
{
    for (unsigned i = 0; i < loop_count; i++)
        if (memcmp(loops[i].summary->words, s->words, sizeof s->words) == 0)
            return true;
    return false;
}

static void find_loop(const char *file, const uint32_t *words, uint32_t first, uint32_t last)
{
    struct loop_summary *s = malloc(sizeof *s);
    const char *reason = NULL;
    enum loop_class class = LOOP_OTHER;
    struct loop_plan *plan = NULL;
    if (s && loop_count < LOOPS_MAX && loop_summarize(s, HEADER, words + first, last - first + 1, &reason)) {
        class = plan_class_of(s);
        if (!is_known(s))
            plan = plan_make(s, class, &reason);
    }
    if (verbose && (plan || reason))
        printf("# %s %x: %s%s%s\n", file, first * 4, class_names[class], plan ? "" : ": ",
               plan ? "" : reason);
    if (plan) {
        loops[loop_count++] = (struct loop){file, first * 4, s, plan, class};
        counts[class].loops++;
    } else {
        free(s);
    }
}

static void find_loops(const char *file)
{
    FILE *f = fopen(file, "rb");
    static uint32_t words[1 << 20];
    size_t count = f ? fread(words, 4, sizeof words / 4, f) : 0;
    if (f)
        fclose(f);
    for (uint32_t i = 0; i < count; i++) {
        op o;
        enum insn insn = isa_decode(words[i], HEADER + i * 4, &o);
        enum insn_kind kind = isa_info[insn].kind;
        if ((kind == KIND_CONDITION || kind == KIND_JUMP) && insn != INSN_bl && o.disp < 0 &&
            -o.disp < SUMMARY_BODY_MAX && (uint32_t)-o.disp <= i)
            find_loop(file, words, i + (uint32_t)o.disp, i);
    }
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

int main(int argc, char **argv)
{
    uint64_t entries = 20000;
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--verbose") == 0)
            verbose = true;
        else if (strcmp(argv[i], "--entries") == 0 && i + 1 < argc)
            entries = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc)
            timed_trips = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            random_state = strtoull(argv[++i], NULL, 0) * 0x9e3779b97f4a7c15 + 1;
    }
    isa_init();
    fault_init();
    if (memory_create(&guest.memory, 1 << 30))
        return 1;
    guest.cpu.memory = guest.memory.base;
    guest.cpu.call_counts = guest.call_counts;
    memory_map(&guest.memory, CODE_START, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (; i < argc; i++)
        find_loops(argv[i]);
    if (loop_count == 0) {
        printf("not ok loops: none has a plan\n");
        return 1;
    }
    if (timed_trips) {
        calm = true;
        map_pages();
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
        map_pages();
        plan_free(l->plan); // a plan that does not pay rests for a while
        l->plan = plan_make(l->summary, l->class, &reason);
        place(l, true);
        for (unsigned n = 0; n < EPOCH; n++, done++)
            enter(l);
        place(l, false);
    }
    for (unsigned k = 0; k < LOOP_CLASSES; k++)
        if (counts[k].loops)
            printf("%s %s: %u loops, %" PRIu64 " of %" PRIu64 " entries replaced, %" PRIu64 " iterations\n",
                   counts[k].replaced ? "ok" : "not ok", class_names[k], counts[k].loops, counts[k].replaced,
                   counts[k].entries, counts[k].iterations);
    return 0;
}
