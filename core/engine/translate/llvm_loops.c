// SPDX-License-Identifier: MIT
#include "llvm_loops.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/state/guest.h"
#include "llvm_copy.h"
#include "llvm_exact.h"
#include "llvm_guard.h"
#include "llvm_jit.h"
#include "llvm_leave.h"
#include "llvm_lookup.h"

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

// ---- the guard ----

static LLVMValueRef get_register(void *user, unsigned reg)
{
    return build_get(user, reg);
}

static struct llvm_guard begin_guard(struct build *u, const struct region_loop *loop)
{
    return (struct llvm_guard){.guard = &loop->guard,
                               .context = u->j->context,
                               .at = u->at,
                               .get = get_register,
                               .user = u,
                               .pages = build_global(u, "guest_pages", u->j->i8)};
}

// Marks what is loaded once in u->hoisted, and adds what that takes to the guard.
static void plan_hoisting(struct build *u, struct llvm_guard *g)
{
    bool invariant[SUMMARY_ACCESSES];
    llvm_guard_add_invariants(g, invariant);
    for (unsigned i = 0; i < SUMMARY_ACCESSES; i++) {
        const struct guard_access *a = &g->guard->accesses[i];
        u->hoisted[i] = (struct hoisted){.chosen = invariant[i], .pc = a->pc, .size = a->size};
    }
}

static void load_hoisted(struct build *u, struct llvm_guard *g, unsigned header)
{
    for (unsigned i = 0; i < SUMMARY_ACCESSES; i++) {
        struct hoisted *h = &u->hoisted[i];
        if (!h->chosen)
            continue;
        LLVMTypeRef type = LLVMIntTypeInContext(u->j->context, 8u * h->size);
        LLVMValueRef address = LLVMBuildTrunc(u->at, llvm_guard_address(g, i), u->j->i32, "");
        h->value = LLVMBuildLoad2(u->at, type, build_guest_pointer(u, address), "");
        LLVMSetVolatile(h->value, true);
        LLVMSetAlignment(h->value, 1);
        LLVMInstructionSetDebugLoc(h->value, build_location(u, header, h->pc, COLUMN_ACCESS));
        llvm_guard_set_loaded(g, i, h->value);
    }
}

// ---- the loop ----

static LLVMValueRef cell_field(struct build *u, const struct guard *g, size_t offset)
{
    char name[JIT_SYMBOL_MAX];
    snprintf(name, sizeof name, LOOP_SYMBOL, g->header, g->branch);
    LLVMValueRef index = LLVMConstInt(u->j->i32, offset, false);
    return LLVMConstInBoundsGEP2(u->j->i8, build_global(u, name, u->j->i8), &index, 1);
}

static void add_to_cell(struct build *u, const struct guard *g, size_t offset, LLVMValueRef value)
{
    LLVMValueRef cell = cell_field(u, g, offset);
    LLVMValueRef sum = LLVMBuildAdd(u->at, LLVMBuildLoad2(u->at, u->j->i64, cell, ""), value, "");
    LLVMBuildStore(u->at, sum, cell);
}

// Whether every iteration is done whole, the last one, too.
static bool leaves_at_end(const struct region_loop *loop)
{
    return loop->count == 1;
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
    exact_at(u, build_constant(u, cold_pc));
    LLVMBuildStore(u->at, build_constant(u, cold_pc), build_cpu_field(u, offsetof(cpu, cold_pc)));
    LLVMValueRef pc = leave_call(u, leave_glue(u, name));
    leave_load(u, &u->used);
    build_branch_mostly(u, LLVMBuildICmp(u->at, LLVMIntEQ, pc, build_constant(u, cold_pc), ""), as_expected,
                        not_so);
    LLVMPositionBuilderAtEnd(u->at, not_so);
    if (elsewhere)
        LLVMBuildBr(u->at, elsewhere);
    else
        leave_to(u, pc, &nothing);
    LLVMPositionBuilderAtEnd(u->at, as_expected);
}

// The edge that leaves the loop behind `length` instructions of an iteration: they are credited, but for
// those of a loop that has been credited all.
static LLVMBasicBlockRef leaving_edge(struct build *u, const struct region_loop *loop, unsigned length,
                                      unsigned from, int to)
{
    const struct guard *g = &loop->guard;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(u->at);
    LLVMBasicBlockRef edge = build_block(u);
    LLVMPositionBuilderAtEnd(u->at, edge);
    if (!leaves_at_end(loop))
        add_to_cell(u, g, offsetof(struct loop_cell, credited), build_constant(u, length));
    if (u->r->verify)
        call_check(u, GLUE_WAY_BACK(end_check), u->r->blocks[to].pc, NULL);
    else if (u->r->precise) { // what has been counted and stored is not done again
        leave_store(u, &u->used);
        exact_at(u, build_constant(u, u->r->blocks[to].pc));
    }
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

static void add_fast_body(struct build *u, const struct region_loop *loop, LLVMBasicBlockRef first)
{
    const struct region *r = u->r;
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
            LLVMBasicBlockRef out = leaving_edge(u, loop, length, from, leaving_block(b, inside));
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
    exact_at(u, build_constant(u, loop->guard.header));
    LLVMBuildStore(u->at, build_constant(u, loop->guard.header), build_cpu_field(u, offsetof(cpu, cold_pc)));
    leave_call(u, leave_glue(u, GLUE_WAY_BACK(loop)));
    leave_load(u, &u->used);
    LLVMBuildBr(u->at, x->again);
}

// The kernel in front of what comes next, for entries at which it pays; of a loop that polls, for all.
static void add_kernel_guard(struct build *u, const struct region_loop *loop, const struct llvm_guard *l)
{
    LLVMBasicBlockRef kernel = build_block(u);
    LLVMBasicBlockRef next = build_block(u);
    LLVMValueRef pays = l->holds;
    if (l->trips) {
        LLVMValueRef least = build_constant(u, KERNEL_TRIPS_MIN);
        pays = LLVMBuildAnd(u->at, pays, LLVMBuildICmp(u->at, LLVMIntUGE, l->trips, least, ""), "");
    }
    build_branch_mostly(u, LLVMBuildNot(u->at, pays, ""), next, kernel);
    LLVMPositionBuilderAtEnd(u->at, kernel);
    call_kernel(u, loop);
    LLVMPositionBuilderAtEnd(u->at, next);
}

// Counts the iterations that are about to be skipped; where so many have been that the slice may be over, the
// plain loop, which uses up what is left of it.
static void take_skips(struct build *u, const struct region_loop *loop, LLVMValueRef iterations)
{
    // The guest begins with its cpu.
    LLVMValueRef field = build_cpu_field(u, offsetof(struct guest, skips_left));
    LLVMValueRef left = LLVMBuildLoad2(u->at, u->j->i64, field, "");
    LLVMValueRef some = LLVMBuildICmp(u->at, LLVMIntSGT, left, build_constant(u, 0), "");
    LLVMBasicBlockRef next = build_block(u);
    build_branch_mostly(u, some, next, u->block[loop->blocks[0]].again);
    LLVMPositionBuilderAtEnd(u->at, next);
    LLVMBuildStore(u->at, LLVMBuildSub(u->at, left, iterations, ""), field);
}

// Goes on if the guard holds, else in the plain loop.
static void check_guard(struct build *u, const struct region_loop *loop, const struct llvm_guard *l)
{
    LLVMBasicBlockRef holds = build_block(u);
    LLVMBuildCondBr(u->at, l->holds, holds, u->block[loop->blocks[0]].again);
    LLVMPositionBuilderAtEnd(u->at, holds);
}

// The loop compiled anew, behind the rest of its guard. Precise code makes guest_cpu exact nowhere inside:
// there must be no faults.
static void add_fast_loop(struct build *u, const struct region_loop *loop, struct llvm_guard *l)
{
    const struct guard *g = &loop->guard;
    LLVMBasicBlockRef again = u->block[loop->blocks[0]].again;
    plan_hoisting(u, l);
    check_guard(u, loop, l);
    load_hoisted(u, l, (unsigned)loop->blocks[0]);
    if (u->r->precise) {
        if (!llvm_guard_add_pages(l)) {
            LLVMBuildBr(u->at, again);
            return;
        }
        check_guard(u, loop, l);
    }
    LLVMValueRef all = LLVMBuildAdd(u->at, l->trips, build_constant(u, 1), "");
    take_skips(u, loop, all);
    if (u->r->verify)
        call_check(u, GLUE_WAY_BACK(begin_check), g->header, again);
    add_to_cell(u, g, offsetof(struct loop_cell, entries), build_constant(u, 1));
    add_to_cell(u, g, offsetof(struct loop_cell, skipped), all);
    add_to_cell(u, g, offsetof(struct loop_cell, credited),
                LLVMBuildMul(u->at, leaves_at_end(loop) ? all : l->trips, build_constant(u, g->length), ""));
    LLVMBasicBlockRef first = build_block(u);
    if (loop->looks_up)
        llvm_lookup_add(u, loop, l, first);
    if (g->length <= UNROLLED_LENGTH_MAX)
        add_unrolled_body(u, loop, l->trips);
    add_fast_body(u, loop, first);
}

static bool counts_iterations(const struct region_loop *loop)
{
    return loop->kernel && !loop->polls && !guard_counts_by_registers(&loop->guard);
}

void llvm_loop_place(struct build *u, const struct region_loop *loop)
{
    struct block_build *x = &u->block[loop->blocks[0]];
    x->again = x->back = build_block(u);
    if (counts_iterations(loop))
        x->back = build_block(u);
}

static void require_on(struct build *u, struct llvm_guard *l)
{
    LLVMValueRef on =
        LLVMBuildLoad2(u->at, u->j->i64, cell_field(u, l->guard, offsetof(struct loop_cell, on)), "");
    llvm_guard_require(l, LLVMBuildICmp(u->at, LLVMIntNE, on, build_constant(u, 0), ""));
}

// The kernel for what is left of a loop that has turned out to go on.
static void add_late_kernel(struct build *u, const struct region_loop *loop)
{
    const struct block_build *x = &u->block[loop->blocks[0]];
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
    struct llvm_guard l = begin_guard(u, loop);
    require_on(u, &l);
    LLVMBuildCondBr(u->at, l.holds, kernel, x->again);
    LLVMPositionBuilderAtEnd(u->at, kernel);
    call_kernel(u, loop);
}

void llvm_loop_add(struct build *u, const struct region_loop *loop)
{
    const struct block_build *x = &u->block[loop->blocks[0]];
    bool countable = guard_counts_by_registers(&loop->guard);
    if (counts_iterations(loop)) {
        add_late_kernel(u, loop);
        return;
    }
    LLVMPositionBuilderAtEnd(u->at, x->start);
    struct llvm_guard l = begin_guard(u, loop);
    require_on(u, &l);
    if (countable) {
        llvm_guard_add_trips(&l);
        LLVMValueRef above = LLVMBuildSub(u->at, l.trips, build_constant(u, FAST_TRIPS_MIN), "");
        llvm_guard_require(&l,
                           LLVMBuildICmp(u->at, LLVMIntULT, above, build_constant(u, FAST_TRIPS_MAX), ""));
    }
    if (loop->kernel)
        add_kernel_guard(u, loop, &l);
    if (countable && loop->guard.length)
        add_fast_loop(u, loop, &l);
    else
        LLVMBuildBr(u->at, x->again);
}
