// SPDX-License-Identifier: MIT
#include "llvm_guard.h"

#include <llvm-c/Core.h>

#define STEP_MAX (1 << 20)
#define LOW_ADDRESSES (1ull << 32) // translated code uses no others

static LLVMTypeRef type64(const struct llvm_guard *l)
{
    return LLVMInt64TypeInContext(l->context);
}

static LLVMValueRef constant(const struct llvm_guard *l, uint64_t value)
{
    return LLVMConstInt(type64(l), value, false);
}

static LLVMValueRef compare(struct llvm_guard *l, LLVMIntPredicate how, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(l->at, how, a, b, "");
}

void llvm_guard_require(struct llvm_guard *l, LLVMValueRef condition)
{
    l->holds = l->holds ? LLVMBuildAnd(l->at, l->holds, condition, "") : condition;
}

// ---- entry values ----

static LLVMValueRef masked(struct llvm_guard *l, LLVMValueRef v, unsigned bits)
{
    return bits == 64 ? v : LLVMBuildAnd(l->at, v, constant(l, UINT64_MAX >> (64 - bits)), "");
}

static LLVMValueRef value_of(struct llvm_guard *l, struct quantity q);

// As symbol_compute does, in 64 bits.
static LLVMValueRef compute(struct llvm_guard *l, const struct entry_op *o)
{
    LLVMBuilderRef at = l->at;
    LLVMValueRef a = value_of(l, o->a), up;
    switch (o->kind) {
    case NODE_ADD: return masked(l, LLVMBuildAdd(at, a, value_of(l, o->b), ""), o->bits);
    case NODE_SUB: return masked(l, LLVMBuildSub(at, a, value_of(l, o->b), ""), o->bits);
    case NODE_MUL: return masked(l, LLVMBuildMul(at, a, value_of(l, o->b), ""), o->bits);
    case NODE_AND: return LLVMBuildAnd(at, a, value_of(l, o->b), "");
    case NODE_OR: return LLVMBuildOr(at, a, value_of(l, o->b), "");
    case NODE_XOR: return LLVMBuildXor(at, a, value_of(l, o->b), "");
    case NODE_SHL: return masked(l, LLVMBuildShl(at, a, value_of(l, o->b), ""), o->bits);
    case NODE_LSHR: return LLVMBuildLShr(at, a, value_of(l, o->b), "");
    case NODE_TRUNC: return masked(l, a, o->bits);
    case NODE_SEXT:
        up = constant(l, 64u - o->from);
        a = LLVMBuildAShr(at, LLVMBuildShl(at, a, up, ""), up, "");
        return masked(l, a, o->bits);
    default: return a; // NODE_ZEXT
    }
}

static LLVMValueRef value_of(struct llvm_guard *l, struct quantity q)
{
    if (q.slot == REG_ZERO)
        return constant(l, q.constant);
    LLVMValueRef slot;
    if (q.slot < SLOT_COMPUTED) {
        slot = l->get(l->user, q.slot);
    } else {
        LLVMValueRef *computed = &l->computed[q.slot - SLOT_COMPUTED];
        if (!*computed)
            *computed = compute(l, &l->guard->ops[q.slot - SLOT_COMPUTED]);
        slot = *computed;
    }
    return q.constant ? LLVMBuildAdd(l->at, slot, constant(l, q.constant), "") : slot;
}

// ---- how often ----

// Goes on while different.
static LLVMValueRef count_to(struct llvm_guard *l, const struct trip_count *c, LLVMValueRef start,
                             LLVMValueRef limit)
{
    LLVMValueRef way = guard_constant_step(c) < 0 ? LLVMBuildSub(l->at, start, limit, "")
                                                  : LLVMBuildSub(l->at, limit, start, "");
    way = LLVMBuildAnd(l->at, way, constant(l, c->mask), "");
    if (c->inverse != 1)
        way = LLVMBuildMul(l->at, way, constant(l, c->inverse), "");
    if (c->shift) {
        LLVMValueRef low = LLVMBuildLShr(l->at, way, constant(l, c->shift), "");
        way = LLVMBuildOr(l->at, low, LLVMBuildShl(l->at, way, constant(l, 64u - c->shift), ""), "");
    }
    if (c->most != c->mask)
        llvm_guard_require(l, compare(l, LLVMIntULE, way, constant(l, c->most)));
    return way;
}

// Goes on while less, or no greater, unsigned.
static LLVMValueRef count_up_to(struct llvm_guard *l, const struct trip_count *c, LLVMValueRef start,
                                LLVMValueRef limit)
{
    const uint64_t flip = c->flip ^ (c->complement ? c->mask : 0), step = (uint64_t)guard_constant_step(c);
    start = LLVMBuildXor(l->at, start, constant(l, flip), "");
    limit = LLVMBuildXor(l->at, limit, constant(l, flip), "");
    if (c->compare == NODE_ULE) {
        llvm_guard_require(l, compare(l, LLVMIntNE, limit, constant(l, c->mask)));
        limit = LLVMBuildAdd(l->at, limit, constant(l, 1), "");
    }
    llvm_guard_require(l, compare(l, LLVMIntULT, start, limit));
    LLVMValueRef way = LLVMBuildSub(l->at, limit, start, "");
    if (step == 1)
        return way;
    // The counter's last value, which is no longer less, does not wrap around.
    way = LLVMBuildSub(l->at, way, constant(l, 1), "");
    LLVMValueRef rest = LLVMBuildURem(l->at, way, constant(l, step), "");
    LLVMValueRef beyond = LLVMBuildSub(l->at, constant(l, step - 1), rest, "");
    LLVMValueRef room = LLVMBuildSub(l->at, constant(l, c->mask), limit, "");
    llvm_guard_require(l, compare(l, LLVMIntULE, beyond, room));
    way = LLVMBuildUDiv(l->at, way, constant(l, step), "");
    return LLVMBuildAdd(l->at, way, constant(l, 1), "");
}

void llvm_guard_add_trips(struct llvm_guard *l)
{
    for (unsigned i = 0; i < l->guard->exit_count; i++) {
        const struct trip_count *c = &l->guard->exits[i].trip_count;
        LLVMValueRef mask = constant(l, c->mask),
                     start = LLVMBuildAnd(l->at, value_of(l, c->start), mask, "");
        LLVMValueRef limit = LLVMBuildAnd(l->at, value_of(l, c->limit), mask, "");
        LLVMValueRef trips =
            c->compare == NODE_EQ ? count_to(l, c, start, limit) : count_up_to(l, c, start, limit);
        if (l->trips) {
            LLVMValueRef earlier = compare(l, LLVMIntULT, trips, l->trips);
            trips = LLVMBuildSelect(l->at, earlier, trips, l->trips, "");
        }
        l->trips = trips;
    }
}

// ---- what is loaded once ----

static bool is_constant(struct quantity q)
{
    return q.slot == REG_ZERO;
}

static const struct access_range *range_of(const struct guard *g, unsigned access)
{
    return &g->ranges[g->accesses[access].range];
}

static bool is_invariant(const struct guard *g, unsigned access)
{
    const struct access_range *r = range_of(g, access);
    const bool stays = r->at_entry || (r->is_stream && is_constant(r->step) && r->step.constant == 0);
    return stays && !r->is_store && r->size <= 8 && g->accesses[access].is_always &&
           guard_is_of_registers(g, r->base);
}

static LLVMValueRef address_of(struct llvm_guard *l, struct quantity base, int64_t offset)
{
    base.constant += (uint64_t)offset;
    return LLVMBuildAnd(l->at, value_of(l, base), constant(l, UINT64_MAX >> 8), "");
}

LLVMValueRef llvm_guard_address(struct llvm_guard *l, unsigned access)
{
    return address_of(l, range_of(l->guard, access)->base, 0);
}

// [address, end) lies among low addresses, and no store of the trips reaches it.
static void require_no_alias(struct llvm_guard *l, LLVMValueRef address, LLVMValueRef end)
{
    const struct guard *g = l->guard;
    LLVMValueRef top = constant(l, LOW_ADDRESSES);
    llvm_guard_require(l, compare(l, LLVMIntULE, end, top));
    for (unsigned i = 0; i < g->range_count; i++) {
        const struct access_range *r = &g->ranges[i];
        if (!r->is_store)
            continue;
        LLVMValueRef low = address_of(l, r->base, r->low);
        LLVMValueRef length = constant(l, (uint64_t)(r->high - r->low));
        const int64_t step = r->is_stream ? (int64_t)r->step.constant : 0;
        if (step) {
            LLVMValueRef size = constant(l, (uint64_t)(step < 0 ? -step : step));
            LLVMValueRef way = LLVMBuildMul(l->at, l->trips, size, "");
            length = LLVMBuildAdd(l->at, length, way, "");
            if (step < 0) {
                llvm_guard_require(l, compare(l, LLVMIntULE, way, low));
                low = LLVMBuildSub(l->at, low, way, "");
            }
        }
        LLVMValueRef high = LLVMBuildAdd(l->at, low, length, "");
        llvm_guard_require(l, compare(l, LLVMIntULE, high, top));
        llvm_guard_require(l, LLVMBuildOr(l->at, compare(l, LLVMIntULE, end, low),
                                          compare(l, LLVMIntULE, high, address), ""));
    }
}

// The page of address is nobody else's, neither a device's, whose words change by themselves, nor mapped a
// second time, where a store would reach it by another address.
static void require_unshared(struct llvm_guard *l, LLVMValueRef address)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(l->context), i32 = LLVMInt32TypeInContext(l->context);
    LLVMValueRef low = LLVMBuildAnd(l->at, address, constant(l, LOW_ADDRESSES - 1), "");
    LLVMValueRef page = LLVMBuildTrunc(l->at, LLVMBuildLShr(l->at, low, constant(l, 12), ""), i32, "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(l->at, i8, l->pages, &page, 1, "");
    LLVMValueRef shared =
        LLVMBuildAnd(l->at, LLVMBuildLoad2(l->at, i8, at, ""), LLVMConstInt(i8, MEMORY_SHARED, false), "");
    llvm_guard_require(l, compare(l, LLVMIntEQ, shared, LLVMConstInt(i8, 0, false)));
}

// Where a store may go is known at the entry.
static bool knows_stores(const struct guard *g)
{
    for (unsigned i = 0; i < g->range_count; i++) {
        const struct access_range *r = &g->ranges[i];
        if (r->is_store && (!guard_is_of_registers(g, r->base) || (r->is_stream && !is_constant(r->step)) ||
                            (int64_t)r->step.constant > STEP_MAX || (int64_t)r->step.constant < -STEP_MAX))
            return false;
    }
    return true;
}

// Neighbours are checked together.
void llvm_guard_add_invariants(struct llvm_guard *l, bool invariant[SUMMARY_ACCESSES])
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < SUMMARY_ACCESSES; i++)
        invariant[i] = false;
    if (!knows_stores(g))
        return;
    for (unsigned i = 0; i < g->access_count; i++) {
        if (invariant[i] || !is_invariant(g, i))
            continue;
        const struct access_range *r = range_of(g, i);
        int64_t first = 0, end = r->size;
        for (unsigned k = i; k < g->access_count; k++) {
            const struct access_range *other = range_of(g, k);
            const int64_t at = (int64_t)(other->base.constant - r->base.constant);
            if (!is_invariant(g, k) || other->base.slot != r->base.slot || at < -256 || at >= 256)
                continue;
            invariant[k] = true;
            first = at < first ? at : first;
            end = at + other->size > end ? at + other->size : end;
        }
        LLVMValueRef address = address_of(l, r->base, first);
        LLVMValueRef behind = LLVMBuildAdd(l->at, address, constant(l, (uint64_t)(end - first)), "");
        require_no_alias(l, address, behind);
        require_unshared(l, address);
        require_unshared(l, LLVMBuildSub(l->at, behind, constant(l, 1), ""));
    }
}
