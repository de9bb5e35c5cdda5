// SPDX-License-Identifier: MIT
#include "llvm_guard.h"

#include <llvm-c/Core.h>
#include <sys/mman.h>

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

bool llvm_guard_knows(const struct llvm_guard *l, struct quantity q)
{
    return guard_is_of(l->guard, q, l->loaded);
}

static bool is_constant(struct quantity q)
{
    return q.slot == REG_ZERO;
}

static bool knows_range(const struct llvm_guard *l, const struct access_range *r)
{
    const int64_t step = (int64_t)r->step.constant;
    return llvm_guard_knows(l, r->base) &&
           (!r->is_stream || (is_constant(r->step) && step <= STEP_MAX && step >= -STEP_MAX));
}

bool llvm_guard_knows_stores(const struct llvm_guard *l)
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < g->range_count; i++)
        if (g->ranges[i].is_store && !knows_range(l, &g->ranges[i]))
            return false;
    return true;
}

LLVMValueRef llvm_guard_value(struct llvm_guard *l, struct quantity q)
{
    return value_of(l, q);
}

void llvm_guard_set_loaded(struct llvm_guard *l, unsigned access, LLVMValueRef value)
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < g->op_count; i++) {
        if (g->ops[i].kind != NODE_LOAD || g->ops[i].range != g->accesses[access].range)
            continue;
        l->computed[i] = LLVMBuildZExt(l->at, value, type64(l), "");
        l->loaded |= 1ull << i;
    }
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

// ---- where accesses go ----

static LLVMValueRef address_of(struct llvm_guard *l, struct quantity base, int64_t offset)
{
    base.constant += (uint64_t)offset;
    return LLVMBuildAnd(l->at, value_of(l, base), constant(l, UINT64_MAX >> 8), "");
}

// Guest addresses; high is that of the first byte behind.
struct span {
    LLVMValueRef low, high;
};

// Where it goes in all iterations, the last one among them. Adds that this does not begin below 0, and lies
// among low addresses.
static struct span span_of(struct llvm_guard *l, const struct access_range *r)
{
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
    const struct span span = {low, LLVMBuildAdd(l->at, low, length, "")};
    llvm_guard_require(l, compare(l, LLVMIntULE, span.high, constant(l, LOW_ADDRESSES)));
    return span;
}

// No store of the trips reaches the bytes from low on, so many.
static void require_no_alias(struct llvm_guard *l, LLVMValueRef low, uint64_t bytes)
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < g->range_count; i++) {
        if (!g->ranges[i].is_store)
            continue;
        // From low to the store's last byte it is at least as far as both are long, or it lies in front.
        const struct span store = span_of(l, &g->ranges[i]);
        LLVMValueRef last = LLVMBuildSub(l->at, store.high, constant(l, 1), "");
        LLVMValueRef both =
            LLVMBuildAdd(l->at, LLVMBuildSub(l->at, store.high, store.low, ""), constant(l, bytes - 1), "");
        llvm_guard_require(l, compare(l, LLVMIntUGE, LLVMBuildSub(l->at, last, low, ""), both));
    }
}

static LLVMTypeRef type8(const struct llvm_guard *l)
{
    return LLVMInt8TypeInContext(l->context);
}

static LLVMValueRef number_of_page(struct llvm_guard *l, LLVMValueRef address)
{
    LLVMValueRef low = LLVMBuildAnd(l->at, address, constant(l, LOW_ADDRESSES - 1), "");
    return LLVMBuildTrunc(l->at, LLVMBuildLShr(l->at, low, constant(l, 12), ""),
                          LLVMInt32TypeInContext(l->context), "");
}

// As an integer of type: of as many pages, the first one's in its low byte.
static LLVMValueRef flags_from(struct llvm_guard *l, LLVMValueRef page, LLVMTypeRef type)
{
    LLVMValueRef at = LLVMBuildInBoundsGEP2(l->at, type8(l), l->pages, &page, 1, "");
    LLVMValueRef flags = LLVMBuildLoad2(l->at, type, at, "");
    LLVMSetAlignment(flags, 1);
    return flags;
}

static LLVMValueRef flags_of(struct llvm_guard *l, LLVMValueRef page)
{
    return flags_from(l, page, type8(l));
}

static LLVMValueRef masked_flags(struct llvm_guard *l, LLVMValueRef flags, unsigned mask)
{
    return LLVMBuildAnd(l->at, flags, LLVMConstInt(type8(l), mask, false), "");
}

static LLVMValueRef is_zero(struct llvm_guard *l, LLVMValueRef flags)
{
    return compare(l, LLVMIntEQ, flags, LLVMConstInt(type8(l), 0, false));
}

// The page of address is nobody else's, neither a device's, whose words change by themselves, nor mapped a
// second time, where a store would reach it by another address.
static void require_unshared(struct llvm_guard *l, LLVMValueRef address)
{
    LLVMValueRef flags = flags_of(l, number_of_page(l, address));
    llvm_guard_require(l, is_zero(l, masked_flags(l, flags, MEMORY_SHARED)));
}

// Flags by which guard_may does not allow what is wanted.
static LLVMValueRef objections(struct llvm_guard *l, LLVMValueRef flags, unsigned wanted)
{
    _Static_assert(MEMORY_STEADY == MEMORY_FILE << 1, "shifted");
    LLVMValueRef other = LLVMBuildXor(l->at, flags, LLVMConstInt(type8(l), wanted, false), "");
    LLVMValueRef is_steady = LLVMBuildLShr(l->at, flags, LLVMConstInt(type8(l), 1, false), "");
    LLVMValueRef ends = LLVMBuildAnd(l->at, flags, LLVMBuildNot(l->at, is_steady, ""), "");
    return LLVMBuildOr(l->at, masked_flags(l, other, wanted), masked_flags(l, ends, MEMORY_FILE), "");
}

// All looked at together: there are not many instructions that these checks may take. Hence the flags of a
// table's first page and of the one behind are loaded as one, whether it reaches that or not.
void llvm_guard_add_tables(struct llvm_guard *l, const struct quantity *base, const unsigned *bytes,
                           unsigned count)
{
    LLVMTypeRef two = LLVMInt16TypeInContext(l->context);
    LLVMValueRef upper = constant(l, 0), wrong = LLVMConstInt(two, 0, false);
    LLVMValueRef readable = LLVMConstInt(two, PROT_READ * 0x101u, false);
    for (unsigned reg = 0; reg < REG_ZERO; reg++)
        if (l->guard->zero_upper >> reg & 1)
            upper = LLVMBuildOr(l->at, upper, l->get(l->user, reg), "");
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef low = value_of(l, base[i]), flags = flags_from(l, number_of_page(l, low), two);
        wrong = LLVMBuildOr(l->at, wrong, LLVMBuildXor(l->at, flags, readable, ""), "");
        upper = LLVMBuildOr(l->at, upper, low, "");
        require_no_alias(l, low, bytes[i]);
    }
    llvm_guard_require(l, compare(l, LLVMIntULT, upper, constant(l, LOW_ADDRESSES)));
    wrong = LLVMBuildAnd(l->at, wrong,
                         LLVMConstInt(two, (PROT_READ | MEMORY_SHARED | MEMORY_FILE) * 0x101u, false), "");
    llvm_guard_require(l, compare(l, LLVMIntEQ, wrong, LLVMConstInt(two, 0, false)));
}

// All pages of the span are looked at, where what has been required so far holds.
static void require_access(struct llvm_guard *l, struct span x, unsigned wanted)
{
    LLVMTypeRef i1 = LLVMInt1TypeInContext(l->context), i32 = LLVMInt32TypeInContext(l->context);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(l->at);
    LLVMValueRef function = LLVMGetBasicBlockParent(before), holds = l->holds;
    LLVMBasicBlockRef scan = LLVMAppendBasicBlockInContext(l->context, function, "");
    LLVMBasicBlockRef on = LLVMAppendBasicBlockInContext(l->context, function, "");
    LLVMValueRef first = number_of_page(l, x.low);
    LLVMValueRef last = number_of_page(l, LLVMBuildSub(l->at, x.high, constant(l, 1), ""));
    LLVMBuildCondBr(l->at, holds, scan, on);
    LLVMPositionBuilderAtEnd(l->at, scan);
    LLVMValueRef page = LLVMBuildPhi(l->at, i32, ""), so_far = LLVMBuildPhi(l->at, type8(l), "");
    LLVMValueRef all = LLVMBuildOr(l->at, so_far, objections(l, flags_of(l, page), wanted), "");
    LLVMValueRef next = LLVMBuildAdd(l->at, page, LLVMConstInt(i32, 1, false), "");
    LLVMValueRef none = LLVMConstInt(type8(l), 0, false), fine = is_zero(l, all);
    LLVMAddIncoming(page, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, scan}, 2);
    LLVMAddIncoming(so_far, (LLVMValueRef[]){none, all}, (LLVMBasicBlockRef[]){before, scan}, 2);
    LLVMBuildCondBr(l->at, compare(l, LLVMIntEQ, page, last), on, scan);
    LLVMPositionBuilderAtEnd(l->at, on);
    l->holds = LLVMBuildPhi(l->at, i1, "");
    LLVMAddIncoming(l->holds, (LLVMValueRef[]){holds, fine}, (LLVMBasicBlockRef[]){before, scan}, 2);
}

bool llvm_guard_add_pages(struct llvm_guard *l)
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < g->range_count; i++)
        if (!knows_range(l, &g->ranges[i]))
            return false;
    for (unsigned i = 0; i < g->range_count; i++) {
        const struct access_range *r = &g->ranges[i];
        require_access(l, span_of(l, r), r->is_store ? PROT_WRITE : PROT_READ);
    }
    return true;
}

// ---- what is loaded once ----

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

LLVMValueRef llvm_guard_address(struct llvm_guard *l, unsigned access)
{
    return address_of(l, range_of(l->guard, access)->base, 0);
}

// Neighbours are checked together.
void llvm_guard_add_invariants(struct llvm_guard *l, bool invariant[SUMMARY_ACCESSES])
{
    const struct guard *g = l->guard;
    for (unsigned i = 0; i < SUMMARY_ACCESSES; i++)
        invariant[i] = false;
    if (!llvm_guard_knows_stores(l))
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
        LLVMValueRef low = address_of(l, r->base, first);
        LLVMValueRef high = LLVMBuildAdd(l->at, low, constant(l, (uint64_t)(end - first)), "");
        llvm_guard_require(l, compare(l, LLVMIntULE, high, constant(l, LOW_ADDRESSES)));
        require_no_alias(l, low, (uint64_t)(end - first));
        require_unshared(l, low);
        require_unshared(l, LLVMBuildSub(l->at, high, constant(l, 1), ""));
    }
}
