// SPDX-License-Identifier: MIT
#include "llvm_lookup.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "llvm_jit.h"

enum {
    LANES = 16, // iterations at once
    VECTOR = 64, // bytes of one of the host's registers
    VECTORS_MAX = 4,
    BYTE_VALUES = 256,
    TABLE_MAX = GUEST_PAGE, // bytes of one whose indices have more than a byte
};

struct table {
    LLVMValueRef part[VECTORS_MAX]; // in vector registers, or
    unsigned parts; // 0: where it is
    LLVMValueRef address;
};

struct lookup_build {
    struct build *u;
    struct llvm_guard *guard;
    const struct region_loop *loop;
    const struct lookup *lookup;
    LLVMTypeRef lane, lanes, bytes, vector; // i32, of them LANES, i8 as many, and a vector full
    struct table table[LOOKUP_TABLES];
};

static bool host_can(void)
{
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

// ---- constants and conversions ----

static LLVMValueRef lane_constant(const struct lookup_build *b, uint64_t value)
{
    return LLVMConstInt(b->lane, value, false);
}

static LLVMValueRef splat_constant(const struct lookup_build *b, uint64_t value)
{
    LLVMValueRef lanes[LANES];
    for (unsigned i = 0; i < LANES; i++)
        lanes[i] = lane_constant(b, value);
    return LLVMConstVector(lanes, LANES);
}

// Lanes 0, 1, 2, …
static LLVMValueRef numbers(const struct lookup_build *b)
{
    LLVMValueRef lanes[LANES];
    for (unsigned i = 0; i < LANES; i++)
        lanes[i] = lane_constant(b, i);
    return LLVMConstVector(lanes, LANES);
}

// v with so many lanes: its first ones, or more, which are of no meaning.
static LLVMValueRef with_lanes(const struct lookup_build *b, LLVMValueRef v, unsigned count)
{
    const unsigned has = LLVMGetVectorSize(LLVMTypeOf(v));
    LLVMValueRef mask[VECTOR];
    for (unsigned i = 0; i < count; i++)
        mask[i] = i < has ? lane_constant(b, i) : LLVMGetUndef(b->lane);
    return LLVMBuildShuffleVector(b->u->at, v, LLVMGetUndef(LLVMTypeOf(v)), LLVMConstVector(mask, count), "");
}

static LLVMValueRef splat(const struct lookup_build *b, LLVMValueRef lane)
{
    LLVMValueRef zero = lane_constant(b, 0), undefined = LLVMGetUndef(b->lanes);
    LLVMValueRef first = LLVMBuildInsertElement(b->u->at, undefined, lane, zero, "");
    return LLVMBuildShuffleVector(b->u->at, first, undefined, LLVMConstNull(b->lanes), "");
}

static LLVMValueRef low_half(const struct lookup_build *b, LLVMValueRef value)
{
    return LLVMBuildTrunc(b->u->at, value, b->lane, "");
}

static LLVMValueRef moved(const struct lookup_build *b, LLVMValueRef pointer, int64_t bytes)
{
    LLVMValueRef offset = lane_constant(b, (uint64_t)bytes);
    return LLVMBuildGEP2(b->u->at, b->u->j->i8, pointer, &offset, 1, "");
}

// Taking a vector's lanes one after the other: by general registers of the host, each of which holds several.
// (To store each lane from the vector register took 25 % longer for a column of 60 rows, to load each from
// memory 60 % for a span of 41.)
struct apart {
    LLVMValueRef words, word;
    LLVMTypeRef lane;
    unsigned next;
};

static struct apart begin_apart(const struct lookup_build *b, LLVMValueRef v)
{
    LLVMTypeRef lane = LLVMGetElementType(LLVMTypeOf(v));
    const unsigned words = LANES * LLVMGetIntTypeWidth(lane) / 64;
    LLVMValueRef as_words = LLVMBuildBitCast(b->u->at, v, LLVMVectorType(b->u->j->i64, words), "");
    return (struct apart){.words = as_words, .lane = lane};
}

// Two are read from a word before it is shifted: the host can store a register's second byte, too.
static LLVMValueRef next_lane(const struct lookup_build *b, struct apart *a)
{
    struct build *u = b->u;
    const unsigned bits = LLVMGetIntTypeWidth(a->lane), in_word = 64 / bits;
    const unsigned word = a->next / in_word, lane = a->next++ % in_word;
    if (lane == 0)
        a->word = LLVMBuildExtractElement(u->at, a->words, lane_constant(b, word), "");
    else if (lane % 2 == 0)
        a->word = LLVMBuildLShr(u->at, a->word, build_constant(u, 2 * bits), "");
    if (lane % 2 == 1)
        return LLVMBuildTrunc(u->at, LLVMBuildLShr(u->at, a->word, build_constant(u, bits), ""), a->lane, "");
    a->word = build_in_register(u, a->word);
    return LLVMBuildTrunc(u->at, a->word, a->lane, "");
}

// ---- tables ----

// Bytes of table i that are looked at: what is loaded whole is rounded up to what registers are looked up in.
static unsigned table_bytes(const struct lookup *l, unsigned i)
{
    uint64_t bytes = i ? BYTE_VALUES : lookup_reach(l);
    return bytes <= 2 * VECTOR ? 2 * VECTOR : bytes <= BYTE_VALUES ? BYTE_VALUES : TABLE_MAX;
}

// Whether all that it hangs on is known at the entry.
static bool is_known(const struct lookup_build *b)
{
    const struct lookup *l = b->lookup;
    if (!llvm_guard_knows(b->guard, l->r) || !llvm_guard_knows(b->guard, l->r_step))
        return false;
    for (unsigned i = 0; i < l->tables; i++)
        if (!llvm_guard_knows(b->guard, l->table[i]))
            return false;
    for (unsigned i = 0; i < b->loop->lookup.induction_count; i++)
        if (!llvm_guard_knows(b->guard, b->loop->lookup.inductions[i].step))
            return false;
    return true;
}

static void load_table(struct lookup_build *b, unsigned i)
{
    struct table *t = &b->table[i];
    const unsigned bytes = table_bytes(b->lookup, i);
    t->address = low_half(b, llvm_guard_value(b->guard, b->lookup->table[i]));
    t->parts = bytes <= BYTE_VALUES ? bytes / VECTOR : 0;
    for (unsigned k = 0; k < t->parts; k++) {
        LLVMValueRef from = moved(b, build_guest_pointer(b->u, t->address), k * VECTOR);
        t->part[k] = LLVMBuildLoad2(b->u->at, b->vector, from, "");
        LLVMSetAlignment(t->part[k], 1);
    }
}

static LLVMValueRef permute(struct lookup_build *b, LLVMValueRef low, LLVMValueRef index, LLVMValueRef high)
{
    static const char name[] = "llvm.x86.avx512.vpermi2var.qi.512";
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(b->u->module, id, NULL, 0);
    LLVMValueRef arguments[] = {low, index, high};
    return LLVMBuildCall2(b->u->at, LLVMGlobalGetValueType(f), f, arguments, 3, "");
}

// What is in the table for each byte of index, a vector full.
static LLVMValueRef look_up_bytes(struct lookup_build *b, const struct table *t, LLVMValueRef index)
{
    LLVMValueRef low = permute(b, t->part[0], index, t->part[1]); // by the low seven bits
    if (t->parts == 2)
        return low;
    LLVMValueRef high = permute(b, t->part[2], index, t->part[3]);
    LLVMValueRef is_high = LLVMBuildICmp(b->u->at, LLVMIntSLT, index, LLVMConstNull(b->vector), "");
    return LLVMBuildSelect(b->u->at, is_high, high, low, "");
}

// What is there for each lane of index, one after the other; in the first lanes of a vector full.
static LLVMValueRef look_up_lanes(struct lookup_build *b, const struct table *t, LLVMValueRef index)
{
    struct build *u = b->u;
    _Static_assert(TABLE_MAX <= UINT16_MAX, "the index fits");
    LLVMTypeRef narrow = LLVMVectorType(LLVMInt16TypeInContext(u->j->context), LANES);
    struct apart indices = begin_apart(b, LLVMBuildTrunc(u->at, index, narrow, ""));
    LLVMValueRef found = LLVMGetUndef(b->bytes);
    for (unsigned i = 0; i < LANES; i++) {
        LLVMValueRef one = LLVMBuildZExt(u->at, next_lane(b, &indices), b->lane, "");
        LLVMValueRef from = build_guest_pointer(u, LLVMBuildAdd(u->at, t->address, one, ""));
        LLVMValueRef byte = LLVMBuildLoad2(u->at, u->j->i8, from, "");
        LLVMSetVolatile(byte, true); // one by one: then few registers are needed
        found = LLVMBuildInsertElement(u->at, found, byte, lane_constant(b, i), "");
    }
    return with_lanes(b, found, VECTOR);
}

// ---- iterations ----

static LLVMValueRef field_of(struct lookup_build *b, LLVMValueRef r, unsigned i)
{
    const struct lookup *l = b->lookup;
    LLVMValueRef shifted = LLVMBuildLShr(b->u->at, r, splat_constant(b, l->shift[i]), "");
    return LLVMBuildAnd(b->u->at, shifted, splat_constant(b, l->mask[i]), "");
}

// The bytes that iterations store in which r has these values.
static LLVMValueRef values_for(struct lookup_build *b, LLVMValueRef r)
{
    const struct lookup *l = b->lookup;
    LLVMValueRef index = field_of(b, r, 0), value;
    if (l->index == INDEX_TWO)
        index = LLVMBuildOr(b->u->at, index, field_of(b, r, 1), "");
    if (b->table[0].parts) {
        LLVMValueRef narrow = LLVMBuildTrunc(b->u->at, index, b->bytes, "");
        value = look_up_bytes(b, &b->table[0], with_lanes(b, narrow, VECTOR));
    } else {
        value = look_up_lanes(b, &b->table[0], index);
    }
    for (unsigned i = 1; i < l->tables; i++)
        value = look_up_bytes(b, &b->table[i], value);
    return with_lanes(b, value, LANES);
}

static uint32_t pc_of_store(const struct guard *g, unsigned range)
{
    for (unsigned i = 0; i < g->access_count; i++)
        if (g->accesses[i].range == range)
            return g->accesses[i].pc;
    return g->header;
}

// As guest accesses, one byte after the other if they do not follow each other.
static void store_value(struct lookup_build *b, LLVMValueRef value, LLVMValueRef to, unsigned range)
{
    struct build *u = b->u;
    LLVMSetCurrentDebugLocation2(u->at, build_location(u, (unsigned)b->loop->blocks[0],
                                                       pc_of_store(&b->loop->guard, range), COLUMN_ACCESS));
    LLVMValueRef store = LLVMBuildStore(u->at, value, to);
    LLVMSetVolatile(store, true);
    LLVMSetAlignment(store, 1);
    LLVMSetCurrentDebugLocation2(u->at, NULL);
}

static void store_values(struct lookup_build *b, LLVMValueRef values, LLVMValueRef iteration)
{
    struct build *u = b->u;
    const struct guard *g = &b->loop->guard;
    const struct lookup *l = b->lookup;
    const int64_t step = (int64_t)g->ranges[l->store[0]].step.constant;
    LLVMValueRef to[2];
    for (unsigned s = 0; s < l->stores; s++) {
        LLVMValueRef base = llvm_guard_value(b->guard, g->ranges[l->store[s]].base);
        LLVMValueRef way = LLVMBuildMul(u->at, iteration, lane_constant(b, (uint64_t)step), "");
        to[s] = build_guest_pointer(u, LLVMBuildAdd(u->at, low_half(b, base), way, ""));
    }
    if (l->stores == 1 && step == 1) {
        store_value(b, values, to[0], l->store[0]);
        return;
    }
    struct apart bytes = begin_apart(b, values);
    for (unsigned i = 0; i < LANES; i++) {
        LLVMValueRef value = next_lane(b, &bytes);
        for (unsigned s = 0; s < l->stores; s++)
            store_value(b, value, moved(b, to[s], step * (int64_t)i), l->store[s]);
    }
}

// All complete iterations. The last block of them begins where it ends with the last one, and does some a
// second time: what they store is the same again, and what has been stored over it as well.
static void add_iterations(struct lookup_build *b)
{
    struct build *u = b->u;
    LLVMValueRef r = low_half(b, llvm_guard_value(b->guard, b->lookup->r));
    LLVMValueRef step = low_half(b, llvm_guard_value(b->guard, b->lookup->r_step));
    LLVMValueRef offsets = LLVMBuildMul(u->at, numbers(b), splat(b, step), "");
    LLVMValueRef last = LLVMBuildSub(u->at, low_half(b, b->guard->trips), lane_constant(b, LANES), "");
    for (unsigned i = 0; i < b->lookup->tables; i++)
        load_table(b, i);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(u->at), body = build_block(u), on = build_block(u);
    LLVMBuildBr(u->at, body);
    LLVMPositionBuilderAtEnd(u->at, body);
    LLVMValueRef iteration = LLVMBuildPhi(u->at, b->lane, "");
    LLVMValueRef first = LLVMBuildAdd(u->at, r, LLVMBuildMul(u->at, iteration, step, ""), "");
    store_values(b, values_for(b, LLVMBuildAdd(u->at, splat(b, first), offsets, "")), iteration);
    LLVMValueRef next = LLVMBuildAdd(u->at, iteration, lane_constant(b, LANES), "");
    LLVMValueRef fits = LLVMBuildICmp(u->at, LLVMIntULT, next, last, "");
    next = LLVMBuildSelect(u->at, fits, next, last, "");
    LLVMAddIncoming(iteration, (LLVMValueRef[]){lane_constant(b, 0), next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(u->at)}, 2);
    LLVMBuildCondBr(u->at, LLVMBuildICmp(u->at, LLVMIntEQ, iteration, last, ""), on, body);
    LLVMPositionBuilderAtEnd(u->at, on);
}

static void move_inductions(struct lookup_build *b)
{
    const struct lookup_loop *x = &b->loop->lookup;
    LLVMValueRef moved_by[LOOKUP_INDUCTIONS];
    for (unsigned i = 0; i < x->induction_count; i++)
        moved_by[i] =
            LLVMBuildMul(b->u->at, b->guard->trips, llvm_guard_value(b->guard, x->inductions[i].step), "");
    for (unsigned i = 0; i < x->induction_count; i++) {
        const struct induction *a = &x->inductions[i];
        LLVMValueRef value = LLVMBuildAdd(b->u->at, build_get(b->u, a->reg), moved_by[i], "");
        build_set(b->u, a->reg, LLVMBuildAnd(b->u->at, value, build_constant(b->u, a->mask), ""));
    }
}

void llvm_lookup_add(struct build *u, const struct region_loop *loop, struct llvm_guard *l,
                     LLVMBasicBlockRef last)
{
    struct lookup_build b = {.u = u, .guard = l, .loop = loop, .lookup = &loop->lookup.lookup};
    if (!host_can() || !is_known(&b) || !llvm_guard_knows_stores(l))
        return;
    b.lane = u->j->i32;
    b.lanes = LLVMVectorType(b.lane, LANES);
    b.bytes = LLVMVectorType(u->j->i8, LANES);
    b.vector = LLVMVectorType(u->j->i8, VECTOR);
    unsigned bytes[LOOKUP_TABLES];
    for (unsigned i = 0; i < b.lookup->tables; i++)
        bytes[i] = table_bytes(b.lookup, i);
    LLVMBasicBlockRef look = build_block(u), vectors = build_block(u), otherwise = build_block(u);
    // Apart from the rest: four of ten columns are shorter.
    LLVMValueRef enough = LLVMBuildICmp(u->at, LLVMIntUGE, l->trips, build_constant(u, LANES), "");
    LLVMBuildCondBr(u->at, enough, look, otherwise);
    LLVMPositionBuilderAtEnd(u->at, look);
    l->holds = NULL;
    llvm_guard_add_tables(l, b.lookup->table, bytes, b.lookup->tables);
    LLVMBuildCondBr(u->at, l->holds, vectors, otherwise);
    LLVMPositionBuilderAtEnd(u->at, vectors);
    add_iterations(&b);
    move_inductions(&b);
    LLVMBuildBr(u->at, last);
    LLVMPositionBuilderAtEnd(u->at, otherwise);
}
