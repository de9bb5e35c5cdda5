// SPDX-License-Identifier: MIT
// guard_test: the interpreter's evaluation of guards and their code against a naive evaluation.
// usage: guard_test [--entries N] [--seed N] [--plant range|alias|trips] [--random LOOPS] CODE…
//
// CODE is A64 machine code as it lies in memory, as for fuzz_loops. Every loop in it that is proved is
// entered with random registers and memory, near where counters wrap around and ranges overlap too. --plant:
// what the engines get of every guard is wrong in that way, so that some entry has to differ. Status 1 at a
// difference.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "naive_guard.h"
#ifdef TRANSLATE
#include <llvm-c/Core.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>

#include "../../core/engine/translate/llvm_guard.h"
#endif

enum { EPOCH = 256, TRIPS_MIN = 3, TRIPS_MAX = 1 << 22 };
#define REFUSED UINT64_MAX

static enum { PLANT_NOTHING, PLANT_RANGE, PLANT_ALIAS, PLANT_TRIPS } planted;
static uint64_t holds_interpreted, holds_as_code, runs_as_code;

// The guard as the engines get it.
static struct guard planted_guard(const struct guard *g)
{
    struct guard wrong = *g;
    for (unsigned i = 0; i < wrong.range_count && planted == PLANT_RANGE; i++)
        if (wrong.ranges[i].is_store)
            wrong.ranges[i].base.constant -= 64;
    if (planted == PLANT_ALIAS)
        wrong.alias_check_count = 0;
    for (unsigned i = 0; i < wrong.exit_count && planted == PLANT_TRIPS; i++)
        wrong.exits[i].trip_count.start.constant += wrong.exits[i].trip_count.step.constant;
    return wrong;
}

static int fail(const struct loop *l, const char *what, const cpu *c, uint64_t naive, uint64_t engine)
{
    printf("not ok %s in %s at %x: %s: naively %" PRId64 ", not %" PRId64 "\n", class_names[l->class],
           l->file, l->offset, what, (int64_t)naive, (int64_t)engine);
    for (unsigned i = 0; i <= REG_SP; i++)
        printf("# x%u %#" PRIx64 "\n", i, c->x[i]);
    for (unsigned i = 0; i <= (l->summary->branch - l->summary->header) / 4; i++)
        printf("# .inst %#010x\n", l->summary->words[i]);
    return 1;
}

// ---- as code ----

#ifdef TRANSLATE

typedef uint64_t guard_code(const uint64_t *x, const uint8_t *pages);

struct lowered {
    LLVMContextRef context;
    LLVMExecutionEngineRef engine;
    guard_code *run; // NULL: not for this loop
    bool invariant[SUMMARY_ACCESSES];
    LLVMValueRef registers; // while it is being built
    LLVMBuilderRef at;
};

static LLVMValueRef get_register(void *user, unsigned reg)
{
    struct lowered *l = user;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(l->context);
    LLVMValueRef index = LLVMConstInt(i64, reg, false);
    return LLVMBuildLoad2(l->at, i64, LLVMBuildGEP2(l->at, i64, l->registers, &index, 1, ""), "");
}

// trips where it holds, else REFUSED.
static void lower(struct lowered *l, const struct guard *g)
{
    *l = (struct lowered){.context = LLVMContextCreate()};
    if (!guard_counts_by_registers(g) || !g->length)
        return;
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("guard", l->context);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(l->context), pointer = LLVMPointerTypeInContext(l->context, 0);
    LLVMTypeRef type = LLVMFunctionType(i64, (LLVMTypeRef[]){pointer, pointer}, 2, false);
    LLVMValueRef function = LLVMAddFunction(module, "guard", type);
    l->at = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderAtEnd(l->at, LLVMAppendBasicBlockInContext(l->context, function, ""));
    l->registers = LLVMGetParam(function, 0);
    struct llvm_guard code = {.guard = g,
                              .context = l->context,
                              .at = l->at,
                              .get = get_register,
                              .user = l,
                              .pages = LLVMGetParam(function, 1)};
    llvm_guard_add_trips(&code);
    LLVMValueRef above = LLVMBuildSub(l->at, code.trips, LLVMConstInt(i64, TRIPS_MIN, false), "");
    llvm_guard_require(&code,
                       LLVMBuildICmp(l->at, LLVMIntULT, above, LLVMConstInt(i64, TRIPS_MAX, false), ""));
    llvm_guard_add_invariants(&code, l->invariant);
    LLVMValueRef refused = LLVMConstInt(i64, REFUSED, false);
    LLVMBuildRet(l->at, LLVMBuildSelect(l->at, code.holds, code.trips, refused, ""));
    LLVMDisposeBuilder(l->at);
    char *error;
    if (LLVMCreateJITCompilerForModule(&l->engine, module, 1, &error)) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    uint64_t address = LLVMGetFunctionAddress(l->engine, "guard");
    memcpy(&l->run, &address, sizeof address);
}

static void discard(struct lowered *l)
{
    if (l->engine)
        LLVMDisposeExecutionEngine(l->engine);
    LLVMContextDispose(l->context);
}

// Whether no store of trips + 1 iterations touches [low, end), which nobody else writes.
static bool naive_untouched(const struct naive *n, integer low, integer end, integer trips)
{
    const integer top = (integer)1 << 32;
    if (end > top || guest.memory.pages[(uint64_t)low / GUEST_PAGE] & MEMORY_SHARED ||
        guest.memory.pages[(uint64_t)(end - 1) / GUEST_PAGE] & MEMORY_SHARED)
        return false;
    for (unsigned i = 0; i < n->g->range_count; i++) {
        const struct access_range *r = &n->g->ranges[i];
        struct quantity base = r->base;
        base.constant += (uint64_t)r->low;
        const integer first = naive_address(n, base), travel = (integer)(int64_t)r->step.constant * trips;
        const integer from = first + (travel < 0 ? travel : 0);
        const integer to = first + (travel > 0 ? travel : 0) + (r->high - r->low);
        if (r->is_store && (from < 0 || to > top || (low < to && from < end)))
            return false;
    }
    return true;
}

static uint64_t naive_code(const struct naive *n, const bool *invariant)
{
    const struct guard *g = n->g;
    integer trips = NAIVE_NEVER;
    for (unsigned i = 0; i < n->s->exit_count; i++) {
        const struct loop_exit *x = &n->s->exits[i];
        const integer own = naive_trips(n, x);
        if (own == NAIVE_UNKNOWN || own == NAIVE_NEVER || (own == 0 && x->compare != NODE_EQ))
            return REFUSED;
        trips = own < trips ? own : trips;
    }
    if (trips < TRIPS_MIN || trips >= TRIPS_MIN + TRIPS_MAX)
        return REFUSED;
    for (unsigned i = 0; i < g->access_count; i++) {
        if (!invariant[i])
            continue;
        // It goes with its neighbours.
        const struct access_range *r = &g->ranges[g->accesses[i].range];
        const integer at = naive_address(n, r->base);
        if (!naive_untouched(n, at, at + r->size, trips))
            return REFUSED;
        for (unsigned k = 0; k < g->access_count; k++) {
            const struct access_range *other = &g->ranges[g->accesses[k].range];
            const int64_t away = (int64_t)(other->base.constant - r->base.constant);
            const bool first = away >= 0 && away < 256 && other->base.slot == r->base.slot;
            if (invariant[k] && first && !naive_untouched(n, at, at + away + other->size, trips))
                return REFUSED;
        }
    }
    return (uint64_t)trips;
}

static int compare_code(const struct loop *l, const struct lowered *code, const struct naive *n)
{
    const uint64_t expected = naive_code(n, code->invariant);
    const uint64_t trips = code->run(guest.cpu.x, guest.memory.pages);
    runs_as_code++;
    holds_as_code += trips != REFUSED;
    return trips == expected ? 0 : fail(l, "its code", &guest.cpu, expected, trips);
}

#endif

// ---- entries ----

static int compare(const struct loop *l, const struct guard *engines, struct naive *n)
{
    cpu *c = &guest.cpu;
    make_state(l->summary, c);
    disturb(l->summary, c);
    restore();
    naive_begin(n, l->summary, plan_guard(l->plan), c);
    if (n->g->finds)
        return 0;
    const bool expected = naive_holds(n);
    struct entry e;
    entry_begin(&e, engines, c->x, &guest.memory);
    bool holds = guard_begin(&e) && guard_end(&e);
    holds_interpreted += holds;
    if (holds != expected)
        return fail(l, "the interpreter", c, expected, holds);
    if (planted)
        return 0;
    plan_rests(l->plan);
    cpu start = *c;
    const struct plan_result r = plan_run(l->plan, c, &guest.memory); // its fast form
    return (r.iterations > 0) == expected ? 0 : fail(l, "the plan", &start, expected, r.iterations);
}

static int enter(const struct loop *l)
{
    const struct guard engines = planted_guard(plan_guard(l->plan));
    struct naive n;
    int failures = 0;
#ifdef TRANSLATE
    struct lowered code;
    lower(&code, &engines);
#endif
    for (unsigned i = 0; i < EPOCH && !failures; i++) {
        failures = compare(l, &engines, &n);
#ifdef TRANSLATE
        if (code.run && !failures) {
            memcpy(guest.cpu.x, n.vars, (REG_SP + 1) * sizeof n.vars[0]);
            restore();
            failures = compare_code(l, &code, &n);
        }
#endif
    }
#ifdef TRANSLATE
    discard(&code);
#endif
    return failures;
}

int main(int argc, char **argv)
{
    static const char *const plants[] = {"", "range", "alias", "trips"};
    uint64_t entries = 20000;
    unsigned random_loops = 0;
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--entries") == 0)
            entries = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--random") == 0)
            random_loops = (unsigned)strtoul(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seed") == 0)
            random_state = strtoull(argv[i + 1], NULL, 0) * 0x9e3779b97f4a7c15 + 1;
        for (unsigned k = 1; k < 4 && strcmp(argv[i], "--plant") == 0; k++)
            if (strcmp(argv[i + 1], plants[k]) == 0)
                planted = k;
    }
    if (memory_create(&guest.memory, 1 << 30))
        return 2;
    guest.cpu.memory = guest.memory.base;
#ifdef TRANSLATE
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
#endif
    for (; i < argc; i++)
        find_loops(argv[i]);
    add_random_loops(random_loops);
    int failures = 0;
    uint64_t done = 0;
    for (uint64_t round = 0; done < entries && loop_count && !failures; round++, done += EPOCH) {
        const struct loop *l = &loops[below(loop_count)];
        calm = below(2);
        if (round % 4 == 0)
            fill_template(l->class);
        map_pages(false);
        if (l->class != LOOP_POLL && l->class != LOOP_LIST_WALK)
            failures += enter(l);
    }
    if (failures)
        return 1;
    bool good = holds_interpreted > 0;
#ifdef TRANSLATE
    good = good && holds_as_code > 0;
#endif
    printf("%s guards: %u loops, %" PRIu64 " entries: %" PRIu64 " hold; as code, %" PRIu64 " of %" PRIu64
           "\n",
           good ? "ok" : "not ok", loop_count, done, holds_interpreted, holds_as_code, runs_as_code);
    return !good;
}
