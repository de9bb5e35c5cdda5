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

// At the header: whether the loop only waits, so that the engine has to stop. Between two stops it goes round
// once: whatever else ends it does.
static bool stops_to_wait(cpu *c, struct loop *loop)
{
    bool waits = loop->guess.class == LOOP_POLL && loop->cell.on && !loop->skip &&
                 plan_waits(loop->plan, c, &machine_of(c)->memory);
    loop->skip += waits;
    return waits;
}

DEFINE(do_wait)
{
    (void)code;
    return stop_at(c, o, STOP_WAIT);
}

static __attribute__((noinline)) handler_function *arrive_at_loop(cpu *c, op *o, const char *code)
{
    struct loop *loop = loop_at(c, o);
    if (stops_to_wait(c, loop))
        return do_wait;
    if (loop->skip) {
        loop->skip--;
    } else if (loop->cell.on) {
        c->retired_bias -= (int64_t)(run_plan(c, loop) * sizeof(op));
        if (plan_rests(loop->plan)) { // arriving here costs, too, with each iteration
            o->handler = loop->handler;
            loop->rests = true;
        }
    }
    return (handler_function *)(code + (int32_t)loop->handler);
}

DEFINE(do_loop)
{
    return arrive_at_loop(c, o, code)(c, o, code);
}

// ---- verification: the plan and the plain loop, one after the other on the same state ----

static void set_plain_handler(cpu *c, op *o);

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
    set_plain_handler(c, header);
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

// The state before a replacement acts, for the plain loop to start from.
struct loop_check {
    cpu start;
    uint64_t credited;
    int count;
    struct plan_range ranges[VERIFY_RANGES];
    uint8_t *before; // their contents
};

static void free_check(struct loop_check *k)
{
    if (k)
        free(k->before);
    free(k);
}

// NULL: the guard does not hold, or there is no memory.
static struct loop_check *begin_check(cpu *c, const struct loop *loop)
{
    struct loop_check *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->start = *c;
    k->credited = loop->cell.credited;
    k->count = plan_writes(loop->plan, c, &machine_of(c)->memory, k->ranges, VERIFY_RANGES);
    k->before = k->count < 0 ? NULL : copy_ranges(c, k->ranges, k->count);
    if (k->before)
        return k;
    free_check(k);
    return NULL;
}

static void restore_start(cpu *c, const struct loop_check *k)
{
    restore_ranges(c, k->ranges, k->count, k->before);
    *c = k->start;
}

// c is what a replacement has left, which says that it stands for `replaced` instructions. Runs the plain
// loop from the start, and compares; what that has left remains. False if the plain loop faults: c is as at
// the start.
static bool end_check(cpu *c, struct loop *loop, const struct loop_check *k, int64_t replaced)
{
    cpu *other = malloc(sizeof *other);
    uint8_t *after = copy_ranges(c, k->ranges, k->count);
    char what[120] = "";
    if (other)
        *other = *c;
    restore_start(c, k);
    int64_t plain = run_plainly(c, loop);
    if (plain < 0)
        snprintf(what, sizeof what, "the plain loop faults");
    else if (plain != replaced)
        snprintf(what, sizeof what, "it stands for %lld instructions, not %lld", (long long)replaced,
                 (long long)plain);
    else if (other && after)
        differs(c, other, k->ranges, k->count, after, what, sizeof what);
    if (what[0])
        loops_fail(machine_of(c)->loops, loop, what);
    free(other);
    free(after);
    if (plain < 0)
        restore_start(c, k);
    return plain >= 0;
}

// Runs plan and tail, then the plain loop. Returns where that leads, or NULL: the plan does not act.
static op *verify_loop(cpu *c, struct loop *loop)
{
    struct loop_check *k = begin_check(c, loop);
    struct plan_result r = {0};
    bool done = false;
    if (k)
        r = plan_run(loop->plan, c, &machine_of(c)->memory);
    if (r.iterations) {
        int64_t tail = run_plainly(c, loop);
        done = end_check(c, loop, k, tail < 0 ? -1 : (int64_t)r.credited + tail);
        if (done) {
            if (tail != (int64_t)r.tail)
                loops_fail(machine_of(c)->loops, loop, "the iterations that it leaves are others");
            loop->cell.entries++;
            loop->cell.iterations += r.trips;
            credit(loop, &r);
        }
    }
    free_check(k);
    return done ? op_at(c, pc_of(c, c->current)) : NULL;
}

static __attribute__((noinline)) op *verify_at_loop(cpu *c, op *o)
{
    struct loop *loop = loop_at(c, o);
    int64_t bias = c->retired_bias;
    op *next = loop->cell.on ? verify_loop(c, loop) : NULL;
    if (next) // nothing has retired
        c->retired_bias = bias + (int64_t)((intptr_t)o - (intptr_t)next);
    return next;
}

static __attribute__((noinline)) bool waits_at(cpu *c, const op *o)
{
    struct loop *loop = loop_at(c, o);
    bool waits = stops_to_wait(c, loop);
    loop->skip = waits;
    return waits;
}

DEFINE(do_verified_loop)
{
    if (waits_at(c, o))
        return stop_at(c, o, STOP_WAIT);
    op *next = verify_at_loop(c, o);
    if (next)
        GO_ON(next);
    return ((handler_function *)(code + (int32_t)loop_at(c, o)->handler))(c, o, code);
}

// The plan of a kernel that translated code calls: whatever comes out, the plain loop runs afterwards.
static void verify_kernel(cpu *c, struct loop *loop)
{
    cpu start = *c;
    uint64_t credited = loop->cell.credited;
    struct loop_check *k = loop->plan ? begin_check(c, loop) : NULL;
    if (k && verify_loop(c, loop)) {
        restore_start(c, k);
        start.budget +=
            (int64_t)(loop->cell.credited - credited); // the plain loop's are no more than a check
    }
    *c = start;
    free_check(k);
}

// Leaves translated code for interp_run at pc, which is where guest_cpu is.
static _Noreturn void leave_to_wait(cpu *c, uint64_t pc)
{
    c->current = op_at(c, pc);
    c->retired_bias = -c->budget * (int64_t)sizeof(op) - (int64_t)(intptr_t)c->current;
    c->stop = STOP_WAIT;
    fault_leave();
}

// For translated code, which has a guard of its own and runs the tail: nothing is skipped there.
void interp_loop(struct machine *m)
{
    cpu *c = &m->cpu;
    struct loop *loop = loops_find(m->loops, (uint32_t)c->cold_pc);
    bool has_plan = loop->plan && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED;
    c->pc = c->cold_pc;
    if (has_plan && stops_to_wait(c, loop))
        leave_to_wait(c, c->pc);
    if (m->config.verify)
        verify_kernel(c, loop);
    else if (has_plan)
        c->budget += (int64_t)run_plan(c, loop);
    else
        loops_request(m->loops, loop->header, loop->branch);
    loop->skip = 0;
}

// For translated code, around its own replacement of the loop at cold_pc: pc tells whether the guard holds
// (the header) or not (0).
void interp_begin_check(struct machine *m)
{
    cpu *c = &m->cpu;
    const struct loop *loop = loops_find(m->loops, (uint32_t)c->cold_pc);
    if (loop->plan && atomic_load_explicit(&loop->state, memory_order_acquire) == LOOP_EXAMINED)
        m->check = begin_check(c, loop);
    c->pc = m->check ? loop->header : 0;
}

// It has left the loop for cold_pc; pc is there, or at the header if the loop has to be run plainly.
void interp_end_check(struct machine *m)
{
    cpu *c = &m->cpu;
    struct loop_check *k = m->check;
    struct loop *loop = loops_find(m->loops, (uint32_t)k->start.cold_pc);
    int64_t budget = c->budget;
    c->current = op_at(c, c->cold_pc);
    bool done = end_check(c, loop, k, (int64_t)(loop->cell.credited - k->credited));
    if (!done)
        loop->cell.credited = k->credited;
    c->pc = done ? pc_of(c, c->current) : loop->header;
    c->budget = budget;
    free_check(k);
    m->check = NULL;
}

// ---- the op at a header ----

static void patch_loop(const struct machine *m, struct loop *loop, op *header)
{
    loop->handler = header->handler;
    loop->skip = 0;
    loop->rests = false;
    header->handler = handler_offset(m->config.verify ? do_verified_loop : do_loop);
}

// The branch back to header has become hot, once more: a plan that rests gets another chance.
static void wake_loop(cpu *c, op *header)
{
    struct loop *loop = loop_at(c, header);
    if (loop && loop->rests && loop->cell.on && header->handler == loop->handler)
        patch_loop(machine_of(c), loop, header);
}

void interp_patch_loop(struct machine *m, struct loop *loop, bool replaced)
{
    op *header = op_at(&m->cpu, loop->header);
    bool is_patched =
        header->handler == handler_offset(do_loop) || header->handler == handler_offset(do_verified_loop);
    if (!replaced && is_patched) {
        header->handler = loop->handler;
    } else if (replaced && !is_patched && header->handler && header->handler != handler_offset(do_enter)) {
        patch_loop(m, loop, header);
        end_sequences_at(&m->cpu, header);
    }
}

#endif
