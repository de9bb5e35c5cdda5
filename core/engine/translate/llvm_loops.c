// SPDX-License-Identifier: MIT
#include "llvm_loops.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/loops/expr/summary.h"
#include "core/state/memory.h"
#include "llvm_copy.h"
#include "llvm_jit.h"
#include "llvm_leave.h"

enum {
    FAST_TRIPS_MIN = 3, // the guard has to pay
    FAST_TRIPS_MAX = 1 << 22, // requests are not looked at meanwhile
    UNROLLED = 4, // iterations
    UNROLLED_LENGTH_MAX = 12, // instructions of one
    KERNEL_TRIPS_MIN = 256, // state has to go to memory and back
    // Where only the data tell how long a loop goes on: the kernel is asked after that many iterations, and
    // again, if it leaves the loop going, after that many more.
    KERNEL_AFTER = 64,
    KERNEL_AGAIN_AFTER = 1024,
};

// What the part of a guard that has been built so far comes to.
struct guard {
    LLVMValueRef holds; // i1
    LLVMValueRef trips; // i64: complete iterations before the exit is taken
};

static void require(struct build *u, struct guard *g, LLVMValueRef condition)
{
    g->holds = g->holds ? LLVMBuildAnd(u->at, g->holds, condition, "") : condition;
}

static bool is_fixed(const struct linear *l)
{
    return l->valid && l->count == 0;
}

static bool is_of_registers(const struct linear *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->var[i] >= 32)
            return false;
    return l->valid;
}

static LLVMValueRef low_half(struct build *u, LLVMValueRef v)
{
    return LLVMBuildAnd(u->at, v, build_constant(u, 0xffffffff), "");
}

static LLVMValueRef linear_value(struct build *u, const struct linear *l)
{
    LLVMValueRef sum = build_constant(u, l->constant);
    for (unsigned i = 0; i < l->count; i++) {
        LLVMValueRef term = build_get(u, l->var[i]);
        if (l->factor[i] != 1)
            term = LLVMBuildMul(u->at, term, build_constant(u, (uint64_t)l->factor[i]), "");
        sum = LLVMBuildAdd(u->at, sum, term, "");
    }
    return l->bits == 32 ? low_half(u, sum) : sum;
}

// ---- how often ----

static bool is_countable(const struct loop_exit *e)
{
    if (!e->counted || !is_fixed(&e->step) || !is_of_registers(&e->start) || !is_of_registers(&e->limit))
        return false;
    int64_t step = e->bits == 32 ? (int32_t)e->step.constant : (int64_t)e->step.constant;
    if (step == 0 || step > 1 << 20 || step < -(1 << 20))
        return false;
    return e->compare == NODE_EQ ? !e->is_equal : (step > 0) == !e->swapped;
}

// The iterations before this exit is taken, as far as the guard holds.
static void count_iterations(struct build *u, const struct loop_exit *e, struct guard *g)
{
    int64_t step = e->bits == 32 ? (int32_t)e->step.constant : (int64_t)e->step.constant;
    LLVMValueRef size = build_constant(u, (uint64_t)(step < 0 ? -step : step)), trips;
    LLVMValueRef start = linear_value(u, &e->start), limit = linear_value(u, &e->limit);
    if (e->compare == NODE_EQ) {
        LLVMValueRef way =
            step > 0 ? LLVMBuildSub(u->at, limit, start, "") : LLVMBuildSub(u->at, start, limit, "");
        if (e->bits == 32)
            way = low_half(u, way);
        trips = LLVMBuildUDiv(u->at, way, size, "");
        if (step != 1 && step != -1)
            require(u, g,
                    LLVMBuildICmp(u->at, LLVMIntEQ, LLVMBuildURem(u->at, way, size, ""), build_constant(u, 0),
                                  ""));
    } else {
        bool is_signed = e->compare == NODE_SLT || e->compare == NODE_SLE;
        bool or_equal = e->compare == NODE_ULE || e->compare == NODE_SLE;
        if (is_signed && e->bits == 32) {
            start = LLVMBuildSExt(u->at, LLVMBuildTrunc(u->at, start, u->j->i32, ""), u->j->i64, "");
            limit = LLVMBuildSExt(u->at, LLVMBuildTrunc(u->at, limit, u->j->i32, ""), u->j->i64, "");
        }
        LLVMValueRef low = step > 0 ? start : limit, high = step > 0 ? limit : start;
        LLVMIntPredicate less = is_signed  ? or_equal ? LLVMIntSLE : LLVMIntSLT
                                : or_equal ? LLVMIntULE
                                           : LLVMIntULT;
        LLVMValueRef way = LLVMBuildSub(u->at, high, low, "");
        // The last value may not wrap: bounded by the way, and by the width below.
        require(u, g, LLVMBuildICmp(u->at, less, low, high, ""));
        require(u, g, LLVMBuildICmp(u->at, LLVMIntULT, way, build_constant(u, 1ull << 42), ""));
        uint64_t round = (uint64_t)(step < 0 ? -step : step) - (or_equal ? 0 : 1);
        trips = LLVMBuildUDiv(u->at, LLVMBuildAdd(u->at, way, build_constant(u, round), ""), size, "");
        LLVMValueRef moved = LLVMBuildMul(u->at, trips, build_constant(u, (uint64_t)step), "");
        LLVMValueRef last = LLVMBuildAdd(u->at, start, moved, "");
        if (e->bits == 32) {
            LLVMValueRef cut = LLVMBuildTrunc(u->at, last, u->j->i32, "");
            cut = is_signed ? LLVMBuildSExt(u->at, cut, u->j->i64, "")
                            : LLVMBuildZExt(u->at, cut, u->j->i64, "");
            require(u, g, LLVMBuildICmp(u->at, LLVMIntEQ, cut, last, ""));
        } else {
            LLVMIntPredicate order = is_signed ? LLVMIntSLE : LLVMIntULE;
            require(u, g,
                    step > 0 ? LLVMBuildICmp(u->at, order, start, last, "")
                             : LLVMBuildICmp(u->at, order, last, start, ""));
        }
    }
    if (g->trips) {
        LLVMValueRef earlier = LLVMBuildICmp(u->at, LLVMIntULT, trips, g->trips, "");
        trips = LLVMBuildSelect(u->at, earlier, trips, g->trips, "");
    }
    g->trips = trips;
}

// ---- what is loaded once ----

static bool is_always(const struct loop_summary *s, const struct access *a)
{
    const struct node *n = &s->nodes[a->condition];
    return n->kind == NODE_CONSTANT && n->value;
}

static bool can_hoist(const struct loop_summary *s, const struct access *a)
{
    return !a->is_store && a->shape == ACCESS_INVARIANT && a->size <= 8 && is_of_registers(&a->base) &&
           is_always(s, a);
}

// Whether the bytes that the store can write are known at the entry.
static bool is_bounded_store(const struct access *a)
{
    return (a->shape == ACCESS_STREAM && is_fixed(&a->step) && is_of_registers(&a->base)) ||
           (a->shape == ACCESS_INVARIANT && is_of_registers(&a->base)) ||
           (a->shape == ACCESS_GATHER && is_of_registers(&a->base) && a->index_max < 1ull << 32);
}

static bool is_same_but_constant(const struct linear *a, const struct linear *b)
{
    return a->bits == b->bits && a->count == b->count && memcmp(a->var, b->var, a->count) == 0 &&
           memcmp(a->factor, b->factor, a->count * sizeof a->factor[0]) == 0;
}

// The guard: [address, address + size) is touched by no store.
static void require_untouched(struct build *u, struct guard *g, const struct loop_summary *s,
                              LLVMValueRef address, uint64_t size)
{
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        if (!a->is_store)
            continue;
        LLVMValueRef low = low_half(u, linear_value(u, &a->base)), length = build_constant(u, a->size);
        if (a->shape == ACCESS_GATHER) {
            length = build_constant(u, a->size + a->index_max);
        } else if (a->shape == ACCESS_STREAM) {
            int64_t step = (int64_t)a->step.constant;
            LLVMValueRef way =
                LLVMBuildMul(u->at, g->trips, build_constant(u, (uint64_t)(step < 0 ? -step : step)), "");
            length = LLVMBuildAdd(u->at, length, way, "");
            if (step < 0)
                low = LLVMBuildSub(u->at, low, way, "");
        }
        LLVMValueRef high = LLVMBuildAdd(u->at, low, length, "");
        require(u, g, LLVMBuildICmp(u->at, LLVMIntULE, high, build_constant(u, 1ull << 32), "")); // no wrap
        LLVMValueRef end = LLVMBuildAdd(u->at, address, build_constant(u, size), "");
        require(u, g,
                LLVMBuildOr(u->at, LLVMBuildICmp(u->at, LLVMIntULE, end, low, ""),
                            LLVMBuildICmp(u->at, LLVMIntULE, high, address, ""), ""));
    }
}

// The guard: the page is nobody else's, neither a device's, whose words change by themselves, nor mapped a
// second time, where a store would reach it by another address.
static void require_unshared(struct build *u, struct guard *g, LLVMValueRef address)
{
    LLVMValueRef page = LLVMBuildTrunc(
        u->at, LLVMBuildLShr(u->at, low_half(u, address), build_constant(u, 12), ""), u->j->i32, "");
    LLVMValueRef at =
        LLVMBuildInBoundsGEP2(u->at, u->j->i8, build_global(u, "guest_pages", u->j->i8), &page, 1, "");
    LLVMValueRef shared = LLVMBuildAnd(u->at, LLVMBuildLoad2(u->at, u->j->i8, at, ""),
                                       LLVMConstInt(u->j->i8, MEMORY_SHARED, false), "");
    require(u, g, LLVMBuildICmp(u->at, LLVMIntEQ, shared, LLVMConstInt(u->j->i8, 0, false), ""));
}

// Marks what is loaded once in u->hoisted, and adds what that takes to the guard. Neighbours are checked
// together.
static void plan_hoisting(struct build *u, const struct loop_summary *s, struct guard *g)
{
    for (unsigned i = 0; i < s->access_count; i++) {
        u->hoisted[i] = (struct hoisted){0};
        if (s->accesses[i].is_store && !is_bounded_store(&s->accesses[i]))
            return;
    }
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        if (u->hoisted[i].chosen || !can_hoist(s, a))
            continue;
        uint64_t first = a->base.constant, end = first + a->size;
        for (unsigned k = i; k < s->access_count; k++) {
            const struct access *other = &s->accesses[k];
            uint64_t at = other->base.constant;
            if (!can_hoist(s, other) || !is_same_but_constant(&a->base, &other->base) ||
                at - a->base.constant + 256 >= 512)
                continue;
            u->hoisted[k] = (struct hoisted){.chosen = true, .pc = other->pc, .size = other->size};
            if ((int64_t)(at - first) < 0)
                first = at;
            if ((int64_t)(at + other->size - end) > 0)
                end = at + other->size;
        }
        struct linear low = a->base;
        low.constant = first;
        LLVMValueRef address = low_half(u, linear_value(u, &low));
        require_untouched(u, g, s, address, end - first);
        require_unshared(u, g, address);
        require_unshared(u, g, LLVMBuildAdd(u->at, address, build_constant(u, end - first - 1), ""));
    }
}

static void load_hoisted(struct build *u, const struct loop_summary *s)
{
    for (unsigned i = 0; i < s->access_count; i++) {
        struct hoisted *h = &u->hoisted[i];
        if (!h->chosen)
            continue;
        LLVMTypeRef type = LLVMIntTypeInContext(u->j->context, 8u * h->size);
        LLVMValueRef address = LLVMBuildTrunc(u->at, linear_value(u, &s->accesses[i].base), u->j->i32, "");
        LLVMValueRef pointer =
            LLVMBuildIntToPtr(u->at, address, LLVMPointerTypeInContext(u->j->context, 256), "");
        h->value = LLVMBuildLoad2(u->at, type, pointer, "");
        LLVMSetVolatile(h->value, true);
        LLVMSetAlignment(h->value, 1);
        LLVMInstructionSetDebugLoc(
            h->value, LLVMDIBuilderCreateDebugLocation(u->j->context, h->pc / 4, 0, u->scope, NULL));
    }
}

// ---- the loop ----

static LLVMValueRef cell_field(struct build *u, const struct loop_summary *s, size_t offset)
{
    char name[JIT_SYMBOL_MAX];
    snprintf(name, sizeof name, LOOP_SYMBOL, s->header, s->branch);
    LLVMValueRef index = LLVMConstInt(u->j->i32, offset, false);
    return LLVMConstInBoundsGEP2(u->j->i8, build_global(u, name, u->j->i8), &index, 1);
}

static void add_to_cell(struct build *u, const struct loop_summary *s, size_t offset, LLVMValueRef value)
{
    LLVMValueRef cell = cell_field(u, s, offset);
    LLVMValueRef sum = LLVMBuildAdd(u->at, LLVMBuildLoad2(u->at, u->j->i64, cell, ""), value, "");
    LLVMBuildStore(u->at, sum, cell);
}

// Where the last of the loop's blocks goes on when it leaves.
static int leaving_block(const struct region_block *b, int header)
{
    return b->taken == header ? b->next : b->taken;
}

// Stores everything and calls the host's side of a check, which leaves everything as it has to be: goes on if
// that is at pc, else leaves the region.
static void call_check(struct build *u, const char *name, uint64_t cold_pc, LLVMBasicBlockRef elsewhere)
{
    LLVMBasicBlockRef as_expected = build_block(u);
    LLVMBasicBlockRef not_so = build_block(u);
    static const var_set nothing;
    leave_store(u, &u->used);
    LLVMBuildStore(u->at, build_constant(u, cold_pc), build_cpu_field(u, offsetof(cpu, cold_pc)));
    LLVMValueRef pc = leave_call(u, leave_glue(u, name));
    leave_load_used(u);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntEQ, pc, build_constant(u, cold_pc), ""), as_expected,
                        not_so);
    LLVMPositionBuilderAtEnd(u->at, not_so);
    if (elsewhere)
        LLVMBuildBr(u->at, elsewhere);
    else
        leave_to(u, pc, &nothing);
    LLVMPositionBuilderAtEnd(u->at, as_expected);
}

// The edge that leaves the loop behind `length` instructions of an iteration: they are credited.
static LLVMBasicBlockRef leaving_edge(struct build *u, const struct loop_summary *s, unsigned length,
                                      unsigned from, int to)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->at);
    LLVMBasicBlockRef edge = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, edge);
    add_to_cell(u, s, offsetof(struct loop_cell, credited), build_constant(u, length));
    if (u->r->verify)
        call_check(u, GLUE_WAY_BACK(end_check), u->r->blocks[to].pc, NULL);
    LLVMBuildBr(u->at, leave_edge(u, from, to, u->block[to].start));
    LLVMPositionBuilderAtEnd(u->at, here);
    return edge;
}

// The instructions of block b as what the guard guarantees allows; returns what the last one does.
static LLVMValueRef copy_fast(struct build *u, const struct region_block *b)
{
    LLVMValueRef result = NULL;
    u->in_fast_loop = true;
    for (unsigned k = 0; k < b->count && !u->failed; k++)
        result = copy_template(u, &u->r->ops[b->first + k]);
    u->in_fast_loop = false;
    return result;
}

// Several iterations at once, without a look at the exits: as many as there surely are.
static void add_unrolled_body(struct build *u, const struct region_loop *loop, LLVMValueRef trips)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(u->at);
    LLVMBasicBlockRef body = build_block(u);
    LLVMBasicBlockRef rest = build_block(u);
    LLVMValueRef unrolled = build_constant(u, UNROLLED);
    LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntUGE, trips, unrolled, ""), body, rest);
    LLVMPositionBuilderAtEnd(u->at, body);
    LLVMValueRef left = LLVMBuildPhi(u->at, u->j->i64, "");
    for (unsigned i = 0; i < UNROLLED && !u->failed; i++) {
        u->next_access = 0;
        for (unsigned k = 0; k < loop->count; k++)
            copy_fast(u, &u->r->blocks[loop->blocks[k]]);
    }
    LLVMValueRef after = LLVMBuildSub(u->at, left, unrolled, "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(u->at);
    LLVMAddIncoming(left, &trips, &before, 1);
    LLVMAddIncoming(left, &after, &end, 1);
    LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntUGE, after, unrolled, ""), body, rest);
    LLVMPositionBuilderAtEnd(u->at, rest);
}

static void add_fast_body(struct build *u, const struct region_loop *loop)
{
    const struct region *r = u->r;
    const struct loop_summary *s = loop->summary;
    LLVMBasicBlockRef first = build_block(u);
    unsigned length = 0;
    LLVMBuildBr(u->at, first);
    LLVMPositionBuilderAtEnd(u->at, first);
    u->next_access = 0;
    for (unsigned i = 0; i < loop->count && !u->failed; i++) {
        const struct region_block *b = &r->blocks[loop->blocks[i]];
        bool is_last = i + 1 == loop->count;
        LLVMValueRef result = copy_fast(u, b);
        length += b->count;
        LLVMBasicBlockRef on = is_last ? first : build_block(u);
        unsigned from = (unsigned)loop->blocks[i];
        int inside = is_last ? loop->blocks[0] : loop->blocks[i + 1];
        LLVMBasicBlockRef stay = leave_edge(u, from, inside, on);
        if (b->end == END_NEXT) {
            LLVMBuildBr(u->at, stay);
        } else {
            LLVMBasicBlockRef out = leaving_edge(u, s, length, from, leaving_block(b, inside));
            bool stays = b->taken == inside;
            build_branch_as_seen(u, result, stays ? stay : out, stays ? out : stay, b->seen);
        }
        LLVMPositionBuilderAtEnd(u->at, on);
    }
}

// Lets the host's kernel do what it can; the plain loop does the rest.
static void call_kernel(struct build *u, const struct region_loop *loop)
{
    const struct block_build *x = &u->block[loop->blocks[0]];
    var_set dirty = x->flags_live ? x->dirty : var_but_flags(&x->dirty);
    leave_store(u, &dirty);
    LLVMBuildStore(u->at, build_constant(u, loop->summary->header),
                   build_cpu_field(u, offsetof(cpu, cold_pc)));
    leave_call(u, leave_glue(u, GLUE_WAY_BACK(loop)));
    leave_load_used(u);
    LLVMBuildBr(u->at, x->again);
}

// The kernel in front of what comes next, for entries at which it pays; of a loop that polls, for all.
static void add_kernel_guard(struct build *u, const struct region_loop *loop, const struct guard *g)
{
    LLVMBasicBlockRef kernel = build_block(u);
    LLVMBasicBlockRef next = build_block(u);
    LLVMValueRef pays = g->holds;
    if (g->trips) {
        LLVMValueRef least = build_constant(u, KERNEL_TRIPS_MIN);
        pays = LLVMBuildAnd(u->at, pays, LLVMBuildICmp(u->at, LLVMIntUGE, g->trips, least, ""), "");
    }
    build_branch_mostly(u, LLVMBuildNot(u->at, pays, ""), next, kernel);
    LLVMPositionBuilderAtEnd(u->at, kernel);
    call_kernel(u, loop);
    LLVMPositionBuilderAtEnd(u->at, next);
}

// The loop compiled anew, behind the rest of its guard.
static void add_fast_loop(struct build *u, const struct region_loop *loop, struct guard *g)
{
    const struct loop_summary *s = loop->summary;
    LLVMBasicBlockRef again = u->block[loop->blocks[0]].again;
    LLVMBasicBlockRef fast = build_block(u);
    plan_hoisting(u, s, g);
    LLVMBuildCondBr(u->at, g->holds, fast, again);
    LLVMPositionBuilderAtEnd(u->at, fast);
    if (u->r->verify)
        call_check(u, GLUE_WAY_BACK(begin_check), s->header, again);
    LLVMValueRef all = LLVMBuildAdd(u->at, g->trips, build_constant(u, 1), "");
    add_to_cell(u, s, offsetof(struct loop_cell, entries), build_constant(u, 1));
    add_to_cell(u, s, offsetof(struct loop_cell, iterations), all);
    add_to_cell(u, s, offsetof(struct loop_cell, skipped), all);
    add_to_cell(u, s, offsetof(struct loop_cell, credited),
                LLVMBuildMul(u->at, g->trips, build_constant(u, s->length), ""));
    load_hoisted(u, s);
    if (s->length <= UNROLLED_LENGTH_MAX)
        add_unrolled_body(u, loop, g->trips);
    add_fast_body(u, loop);
}

// Whether all of its exits are counted.
static bool is_counted_loop(const struct loop_summary *s)
{
    bool countable = s->exit_count > 0;
    for (unsigned i = 0; i < s->exit_count; i++)
        countable &= is_countable(&s->exits[i]);
    return countable;
}

static bool counts_iterations(const struct region_loop *loop)
{
    return loop->kernel && !loop->polls && !is_counted_loop(loop->summary);
}

void llvm_loop_place(struct build *u, const struct region_loop *loop)
{
    struct block_build *x = &u->block[loop->blocks[0]];
    x->again = x->back = build_block(u);
    if (counts_iterations(loop))
        x->back = build_block(u);
}

static void require_on(struct build *u, struct guard *g, const struct loop_summary *s)
{
    LLVMValueRef on = LLVMBuildLoad2(u->at, u->j->i64, cell_field(u, s, offsetof(struct loop_cell, on)), "");
    require(u, g, LLVMBuildICmp(u->at, LLVMIntNE, on, build_constant(u, 0), ""));
}

// The kernel for what is left of a loop that has turned out to go on.
static void add_late_kernel(struct build *u, const struct region_loop *loop)
{
    const struct block_build *x = &u->block[loop->blocks[0]];
    struct guard g = {0};
    LLVMValueRef left = LLVMBuildAlloca(u->entry, u->j->i64, "");
    LLVMBasicBlockRef ask = build_block(u);
    LLVMBasicBlockRef kernel = build_block(u);
    LLVMBuildStore(u->entry, build_constant(u, KERNEL_AFTER), left); // it may be entered in the middle
    LLVMPositionBuilderAtEnd(u->at, x->start);
    LLVMBuildStore(u->at, build_constant(u, KERNEL_AFTER), left);
    LLVMBuildBr(u->at, x->again);
    LLVMPositionBuilderAtEnd(u->at, x->back);
    LLVMValueRef less =
        LLVMBuildSub(u->at, LLVMBuildLoad2(u->at, u->j->i64, left, ""), build_constant(u, 1), "");
    LLVMBuildStore(u->at, less, left);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntNE, less, build_constant(u, 0), ""), x->again, ask);
    LLVMPositionBuilderAtEnd(u->at, ask);
    LLVMBuildStore(u->at, build_constant(u, KERNEL_AGAIN_AFTER), left);
    require_on(u, &g, loop->summary);
    LLVMBuildCondBr(u->at, g.holds, kernel, x->again);
    LLVMPositionBuilderAtEnd(u->at, kernel);
    call_kernel(u, loop);
}

void llvm_loop_add(struct build *u, const struct region_loop *loop)
{
    const struct loop_summary *s = loop->summary;
    const struct block_build *x = &u->block[loop->blocks[0]];
    struct guard g = {0};
    bool countable = is_counted_loop(s);
    if (counts_iterations(loop)) {
        add_late_kernel(u, loop);
        return;
    }
    LLVMPositionBuilderAtEnd(u->at, x->start);
    require_on(u, &g, s);
    if (countable) {
        for (unsigned i = 0; i < s->exit_count; i++)
            count_iterations(u, &s->exits[i], &g);
        LLVMValueRef above = LLVMBuildSub(u->at, g.trips, build_constant(u, FAST_TRIPS_MIN), "");
        require(u, &g, LLVMBuildICmp(u->at, LLVMIntULT, above, build_constant(u, FAST_TRIPS_MAX), ""));
    }
    if (loop->kernel)
        add_kernel_guard(u, loop, &g);
    if (countable && s->length)
        add_fast_loop(u, loop, &g);
    else
        LLVMBuildBr(u->at, x->again);
}
