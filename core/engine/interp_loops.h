// SPDX-License-Identifier: MIT
// Part of interp.c: loops that run as a plan (loops/plan.h). The op at such a loop's header has a handler of
// its own: it lets the plan do what it can, and the plain code the rest.
#ifndef CORE_ENGINE_INTERP_LOOPS_H
#define CORE_ENGINE_INTERP_LOOPS_H

enum {
    UNKNOWN_TRIPS_SKIP =
        15, // iterations without a look at the guard where it failed and nobody knows how many follow
    VERIFY_RANGES = 8,
};

static struct loop *loop_at(cpu *c, const op *o)
{
    return loops_find(machine_of(c)->loops, (uint32_t)pc_of(c, o));
}

static void credit(struct loop *loop, const struct plan_result *r)
{
    loop->cell.skipped += r->iterations;
    loop->cell.credited += r->credited + r->tail;
}

// Lets the plan run; returns the instructions of the tail, which is credited, too, so that it must not count
// as retired.
static uint64_t run_plan(cpu *c, struct loop *loop)
{
    struct plan_result r = plan_run(loop->plan, c, &machine_of(c)->memory);
    loop->cell.entries++;
    loop->cell.iterations += r.trips;
    if (r.iterations) {
        credit(loop, &r);
        loop->skip = loop->summary->length && r.tail > loop->summary->length;
        return r.tail;
    }
    loop->skip = r.trips ? (uint32_t)r.trips - 1 : UNKNOWN_TRIPS_SKIP;
    return 0;
}

static __attribute__((noinline)) handler_function *arrive_at_loop(cpu *c, const op *o, const char *code)
{
    struct loop *loop = loop_at(c, o);
    if (loop->skip)
        loop->skip--;
    else if (loop->cell.on)
        c->retired_bias -= (int64_t)(run_plan(c, loop) * sizeof(op));
    return (handler_function *)(code + (int32_t)loop->handler);
}

DEFINE(do_loop)
{
    return arrive_at_loop(c, o, code)(c, o, code);
}

// For translated code, which has a guard of its own and runs the tail: nothing is skipped there.
void interp_loop(struct machine *m)
{
    cpu *c = &m->cpu;
    struct loop *loop = loops_find(m->loops, (uint32_t)c->cold_pc);
    c->pc = c->cold_pc;
    if (loop->plan && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED)
        c->budget += (int64_t)run_plan(c, loop);
    else
        loops_request(m->loops, loop->header, loop->branch);
    loop->skip = 0;
}

// ---- verification: the plan and the plain loop, one after the other on the same state ----

static void run_from(cpu *c, op *o);

DEFINE(left_loop)
{
    (void)code;
    return stop_at(c, o, STOP_NONE);
}

// Runs plainly from the header until the loop is left; c->current is where to. Returns the instructions that
// this took, or -1 if it did not end there.
static int64_t run_plainly(cpu *c, struct loop *loop)
{
    const struct loop_summary *s = loop->summary;
    op *header = op_at(c, loop->header);
    uint32_t handler[SUMMARY_EXITS], loop_handler = header->handler;
    int64_t bias = -((int64_t)1 << 60) - (int64_t)(intptr_t)header;
    header->handler = loop->handler;
    for (unsigned i = 0; i < s->exit_count; i++) {
        op *exit = op_at(c, s->exits[i].target);
        handler[i] = exit->handler;
        exit->handler = (uint32_t)((const char *)left_loop - (const char *)decode_first);
    }
    struct fault_context context;
    int64_t outer_bias = c->retired_bias, ran = -1;
    c->retired_bias = bias;
    fault_begin(&context, machine_of(c));
    if (__builtin_setjmp(context.env) == 0) {
        run_from(c, header);
        if (c->stop == STOP_NONE)
            ran = (c->retired_bias - bias + (int64_t)((intptr_t)c->current - (intptr_t)header)) /
                  (int64_t)sizeof(op);
    }
    fault_end(&context);
    c->retired_bias = outer_bias;
    for (unsigned i = s->exit_count; i-- > 0;)
        op_at(c, s->exits[i].target)->handler = handler[i];
    header->handler = loop_handler;
    return ran;
}

static uint8_t *copy_ranges(const cpu *c, const struct plan_range *ranges, int count)
{
    uint64_t size = 0, at = 0;
    for (int i = 0; i < count; i++)
        size += ranges[i].length;
    uint8_t *copy = malloc(size + 1);
    for (int i = 0; copy && i < count; at += ranges[i++].length)
        memcpy(copy + at, c->memory + ranges[i].address, ranges[i].length);
    return copy;
}

static void restore_ranges(cpu *c, const struct plan_range *ranges, int count, const uint8_t *copy)
{
    for (int i = 0; i < count; copy += ranges[i++].length)
        memcpy(c->memory + ranges[i].address, copy, ranges[i].length);
}

// What differs between the state now, which is the plain loop's, and that of the replacement. False: nothing.
static bool differs(const cpu *c, const cpu *other, const struct plan_range *ranges, int count,
                    const uint8_t *copy, char *what, size_t size)
{
    for (int i = 0; i < count; i++) {
        for (uint64_t k = 0; k < ranges[i].length; k++, copy++) {
            uint8_t plain = c->memory[ranges[i].address + k];
            if (*copy != plain) {
                snprintf(what, size, "the byte at %#llx is %#x, not %#x",
                         (unsigned long long)(ranges[i].address + k), *copy, plain);
                return true;
            }
        }
    }
    for (unsigned i = 0; i < 32; i++) {
        if (c->x[i] != other->x[i]) {
            snprintf(what, size, "%s%.0u is %#llx, not %#llx", i == REG_SP ? "SP" : "X", i == REG_SP ? 0 : i,
                     (unsigned long long)other->x[i], (unsigned long long)c->x[i]);
            return true;
        }
    }
    const char *other_difference = c->current != other->current               ? "it goes on elsewhere"
                                   : get_nzcv(c) != get_nzcv(other)           ? "NZCV"
                                   : memcmp(c->v, other->v, sizeof c->v) != 0 ? "a vector register"
                                                                              : "";
    snprintf(what, size, "%s", other_difference);
    return other_difference[0] != '\0';
}

// Runs plan and tail, then the same again plainly, which is what remains. NULL: the plan does not act.
static op *verify_loop(cpu *c, struct loop *loop)
{
    struct machine *m = machine_of(c);
    struct plan_range ranges[VERIFY_RANGES];
    int count = plan_writes(loop->plan, c, &m->memory, ranges, VERIFY_RANGES);
    uint8_t *before = count < 0 ? NULL : copy_ranges(c, ranges, count), *after = NULL;
    cpu *start = malloc(2 * sizeof *start), *replaced = start + 1;
    char what[120] = "";
    op *next = NULL;
    if (before && start) {
        *start = *c;
        struct plan_result r = plan_run(loop->plan, c, &m->memory);
        if (r.iterations) {
            int64_t tail = run_plainly(c, loop);
            *replaced = *c;
            after = copy_ranges(c, ranges, count);
            restore_ranges(c, ranges, count, before);
            *c = *start;
            int64_t all = run_plainly(c, loop);
            if (all < 0 || tail < 0)
                snprintf(what, sizeof what, "it faults");
            else if ((uint64_t)tail != r.tail || (uint64_t)all != r.credited + r.tail)
                snprintf(what, sizeof what, "%llu instructions are credited, not %lld",
                         (unsigned long long)(r.credited + r.tail), (long long)all);
            else if (after)
                differs(c, replaced, ranges, count, after, what, sizeof what);
            if (what[0])
                loops_fail(m->loops, loop, what);
            if (all < 0) { // the plain code will find out again, and tell the guest
                restore_ranges(c, ranges, count, before);
                *c = *start;
            } else {
                loop->cell.entries++;
                loop->cell.iterations += r.trips;
                credit(loop, &r);
                next = op_at(c, pc_of(c, c->current));
                c->retired_bias =
                    start->retired_bias + (int64_t)((intptr_t)op_at(c, loop->header) - (intptr_t)next);
            }
        }
    }
    free(before);
    free(after);
    free(start);
    return next;
}

static __attribute__((noinline)) op *verify_at_loop(cpu *c, op *o)
{
    struct loop *loop = loop_at(c, o);
    return loop->cell.on ? verify_loop(c, loop) : NULL;
}

DEFINE(do_verified_loop)
{
    op *next = verify_at_loop(c, o);
    if (next)
        GO_ON(next);
    return ((handler_function *)(code + (int32_t)loop_at(c, o)->handler))(c, o, code);
}

#endif
