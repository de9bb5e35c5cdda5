// SPDX-License-Identifier: MIT
// Runs an instruction's definition on symbols. Its operands are constants, so most of its branches fold; what
// depends on a symbol is done on both ways, and chosen from.
#include "semantics.h"
#include "symbolic.h"

#include <string.h>

static const char no_summary[INSN_COUNT][64] = {
#define INSN(name, ...) [INSN_##name] = "an instruction that has no summary: " #name,
#include "core/isa/insns.def"
#undef INSN
};

struct run {
    struct iteration *it;
    enum insn insn;
    struct symbols *s;
    const op *o;
    uint16_t values[SEMANTICS_OPS];
    uint16_t entered[SEMANTICS_BLOCKS]; // 1 bit: whether this block is reached
    bool reached[SEMANTICS_BLOCKS];
    struct {
        uint16_t from, to, condition;
    } edges[2 * SEMANTICS_BLOCKS];
    unsigned edge_count;
    unsigned block;
    uint16_t aligned; // an address
    uint8_t alignment; // that it has to have; 0: none is so far
};

static void give_up(struct run *r)
{
    r->it->reason = no_summary[r->insn];
}

static uint16_t operand(struct run *r, uint16_t k, unsigned bits)
{
    if (k >= SEMANTICS_CONSTANT)
        return symbol_constant(r->s, bits, semantics_constants[k - SEMANTICS_CONSTANT]);
    return r->values[k];
}

static void add_edge(struct run *r, unsigned to, uint16_t condition)
{
    uint16_t both = symbol_make(r->s, NODE_AND, 1, r->entered[r->block], condition, 0);
    if (symbol_is(r->s, both, 0))
        return;
    r->entered[to] = r->reached[to] ? symbol_make(r->s, NODE_OR, 1, r->entered[to], both, 0) : both;
    r->reached[to] = true;
    for (unsigned e = 0; e < r->edge_count; e++) // a switch may come here by several cases
        if (r->edges[e].from == r->block && r->edges[e].to == to) {
            r->edges[e].condition = symbol_make(r->s, NODE_OR, 1, r->edges[e].condition, both, 0);
            return;
        }
    if (r->edge_count == 2 * SEMANTICS_BLOCKS) {
        give_up(r);
        return;
    }
    r->edges[r->edge_count].from = (uint16_t)r->block;
    r->edges[r->edge_count].to = (uint16_t)to;
    r->edges[r->edge_count++].condition = both;
}

static uint16_t run_phi(struct run *r, const struct semantics_op *m)
{
    uint16_t result = 0;
    bool any = false;
    for (unsigned k = 1; k <= m->a; k++)
        for (unsigned e = 0; e < r->edge_count; e++)
            if (r->edges[e].to == r->block && r->edges[e].from == m[k].a) {
                uint16_t value = operand(r, m[k].b, m->bits);
                result = any ? symbol_make(r->s, NODE_SELECT, m->bits, r->edges[e].condition, value, result)
                             : value;
                any = true;
            }
    return result;
}

static void run_switch(struct run *r, const struct semantics_op *m)
{
    uint16_t value = operand(r, m->a, m->bits), other = symbol_constant(r->s, 1, 1);
    for (unsigned k = 1; k <= m->c; k++) {
        uint16_t equal = symbol_make(r->s, NODE_EQ, 1, value, operand(r, m[k].a, m->bits), 0);
        add_edge(r, m[k].b, equal);
        other = symbol_make(r->s, NODE_AND, 1, other, symbol_not(r->s, equal), 0);
    }
    add_edge(r, m->b, other);
}

static uint16_t op_field(struct run *r, unsigned offset, unsigned bits)
{
    uint64_t value = 0;
    if (offset + bits / 8 > sizeof *r->o)
        give_up(r);
    else
        memcpy(&value, (const char *)r->o + offset, (bits + 7) / 8);
    return symbol_constant(r->s, bits, value);
}

enum { PART_ZERO = LOOP_VARS, PART_SINK, PART_NONE };

// Which variable m reads or writes.
static unsigned part(struct run *r, const struct semantics_op *m)
{
    uint64_t offset = m->a;
    if (m->b != SEMANTICS_NONE) {
        const struct node *index = &r->s->nodes[operand(r, m->b, 64)];
        if (index->kind != NODE_CONSTANT)
            return PART_NONE;
        offset += index->value * m->c;
    }
    if (offset == offsetof(cpu, flags.a))
        return LOOP_VAR_FLAGS_A;
    if (offset == offsetof(cpu, flags.b))
        return LOOP_VAR_FLAGS_B;
    if (offset == offsetof(cpu, flags.kind))
        return LOOP_VAR_FLAGS_KIND;
    uint64_t x = (offset - offsetof(cpu, x)) / 8;
    if (offset < offsetof(cpu, x) || x >= REG_COUNT || offset % 8)
        return PART_NONE;
    return x == REG_ZERO ? PART_ZERO : x == REG_SINK ? PART_SINK : (unsigned)x;
}

static uint16_t run_read(struct run *r, const struct semantics_op *m)
{
    unsigned var = part(r, m);
    if (var == PART_ZERO || var == PART_SINK) // the sink: a part of it is kept, which nobody sees
        return symbol_constant(r->s, m->bits, 0);
    if (var >= LOOP_VARS || m->bits > r->s->nodes[r->it->state[var]].bits) {
        give_up(r);
        return 0;
    }
    return symbol_make(r->s, NODE_TRUNC, m->bits, r->it->state[var], 0, 0);
}

static void run_write(struct run *r, const struct semantics_op *m)
{
    unsigned var = part(r, m);
    if (var == PART_SINK)
        return;
    if (var >= LOOP_VARS || m->bits != (var == LOOP_VAR_FLAGS_KIND ? 32 : 64)) {
        give_up(r);
        return;
    }
    uint16_t *state = &r->it->state[var];
    *state =
        symbol_make(r->s, NODE_SELECT, m->bits, r->entered[r->block], operand(r, m[1].a, m->bits), *state);
}

// The address as another one plus a constant.
static uint16_t split_address(const struct symbols *s, uint16_t address, uint64_t *offset)
{
    const struct node *n = &s->nodes[address];
    bool is_sum = n->kind == NODE_ADD && s->nodes[n->b].kind == NODE_CONSTANT;
    *offset = is_sum ? s->nodes[n->b].value : 0;
    return is_sum ? n->a : address;
}

// What a load reads that an earlier store of the iteration has put there for sure; false if that is not
// known.
static bool find_stored(struct run *r, const struct access *load, uint16_t *value)
{
    const struct loop_summary *out = r->it->out;
    uint64_t at, stored_at;
    uint16_t base = split_address(r->s, load->address, &at);
    for (unsigned k = out->access_count; k-- > 0;) {
        const struct access *a = &out->accesses[k];
        if (!a->is_store)
            continue;
        if (split_address(r->s, a->address, &stored_at) != base)
            return false;
        if (at == stored_at && a->size == load->size &&
            (a->condition == load->condition || symbol_is(r->s, a->condition, 1))) {
            *value = a->value;
            return true;
        }
        // Addresses count modulo 2^32.
        if ((uint32_t)(at - stored_at) < a->size || (uint32_t)(stored_at - at) < load->size)
            return false;
    }
    return false;
}

static uint16_t run_access(struct run *r, const struct semantics_op *m)
{
    struct loop_summary *out = r->it->out;
    if (out->access_count == SUMMARY_ACCESSES) {
        r->it->reason = "too many loads and stores";
        return 0;
    }
    struct access *a = &out->accesses[out->access_count];
    *a = (struct access){.pc = r->it->pc,
                         .size = m->bits / 8,
                         .is_store = m->code == SEMANTICS_STORE,
                         .alignment = 1,
                         .address = operand(r, m->a, 64),
                         .condition = symbol_make(r->s, NODE_AND, 1, r->it->path, r->entered[r->block], 0)};
    if (r->alignment && a->address == r->aligned)
        a->alignment = r->alignment;
    uint16_t value = a->is_store ? operand(r, m->b, m->bits) : 0;
    if (!a->is_store && !find_stored(r, a, &value))
        value = symbol_load(r->s, m->bits, out->access_count);
    if (a->is_store)
        a->value = value;
    out->access_count++;
    return value;
}

static void run_align(struct run *r, const struct semantics_op *m)
{
    r->aligned = operand(r, m->a, 64);
    r->alignment = (uint8_t)r->s->nodes[operand(r, m->b, 64)].value;
}

static uint16_t sign_of(struct run *r, uint16_t v, unsigned bits)
{
    return symbol_make(r->s, NODE_SLT, 1, v, symbol_constant(r->s, bits, 0), 0);
}

static uint16_t run_overflow(struct run *r, const struct semantics_op *m)
{
    struct symbols *s = r->s;
    unsigned bits = m->bits;
    uint16_t a = operand(r, m->a, bits), b = operand(r, m->b, bits);
    bool is_sum = m->code == SEMANTICS_SADD_OVERFLOWS || m->code == SEMANTICS_UADD_OVERFLOWS;
    uint16_t result = symbol_make(s, is_sum ? NODE_ADD : NODE_SUB, bits, a, b, 0);
    if (m->code == SEMANTICS_UADD_OVERFLOWS)
        return symbol_make(s, NODE_ULT, 1, result, a, 0);
    if (m->code == SEMANTICS_USUB_OVERFLOWS)
        return symbol_make(s, NODE_ULT, 1, a, b, 0);
    // The sign of the result is wrong: unlike that of a, and b does not explain it.
    uint16_t differs = symbol_make(s, NODE_XOR, bits, a, result, 0);
    uint16_t other = symbol_make(s, NODE_XOR, bits, is_sum ? b : a, is_sum ? result : b, 0);
    return sign_of(r, symbol_make(s, NODE_AND, bits, differs, other, 0), bits);
}

static uint16_t run_funnel(struct run *r, const struct semantics_op *m)
{
    struct symbols *s = r->s;
    unsigned bits = m->bits;
    bool left = m->code == SEMANTICS_FUNNEL_LEFT;
    uint16_t high = operand(r, m->a, bits), low = operand(r, m->b, bits);
    uint16_t amount =
        symbol_make(s, NODE_AND, bits, operand(r, m->c, bits), symbol_constant(s, bits, bits - 1), 0);
    uint16_t rest = symbol_make(s, NODE_SUB, bits, symbol_constant(s, bits, bits), amount, 0);
    // A shift by all bits gives 0, so that no case is special.
    return symbol_make(s, NODE_OR, bits, symbol_make(s, NODE_SHL, bits, high, left ? amount : rest, 0),
                       symbol_make(s, NODE_LSHR, bits, low, left ? rest : amount, 0), 0);
}

static uint16_t run_extreme(struct run *r, const struct semantics_op *m)
{
    bool is_max = m->code == SEMANTICS_UMAX || m->code == SEMANTICS_SMAX;
    bool is_signed = m->code == SEMANTICS_SMAX || m->code == SEMANTICS_SMIN;
    uint16_t a = operand(r, m->a, m->bits), b = operand(r, m->b, m->bits);
    uint16_t less = symbol_make(r->s, is_signed ? NODE_SLT : NODE_ULT, 1, a, b, 0);
    return symbol_make(r->s, NODE_SELECT, m->bits, less, is_max ? b : a, is_max ? a : b);
}

// What stands for itself in both tables; the width of its operands is from.
static uint16_t run_plain(struct run *r, const struct semantics_op *m)
{
    static const uint8_t kinds[] = {
        [SEMANTICS_ADD] = NODE_ADD,     [SEMANTICS_SUB] = NODE_SUB,
        [SEMANTICS_MUL] = NODE_MUL,     [SEMANTICS_AND] = NODE_AND,
        [SEMANTICS_OR] = NODE_OR,       [SEMANTICS_XOR] = NODE_XOR,
        [SEMANTICS_SHL] = NODE_SHL,     [SEMANTICS_LSHR] = NODE_LSHR,
        [SEMANTICS_ASHR] = NODE_ASHR,   [SEMANTICS_UDIV] = NODE_UDIV,
        [SEMANTICS_SDIV] = NODE_SDIV,   [SEMANTICS_EQ] = NODE_EQ,
        [SEMANTICS_ULT] = NODE_ULT,     [SEMANTICS_ULE] = NODE_ULE,
        [SEMANTICS_SLT] = NODE_SLT,     [SEMANTICS_SLE] = NODE_SLE,
        [SEMANTICS_ZEXT] = NODE_ZEXT,   [SEMANTICS_SEXT] = NODE_SEXT,
        [SEMANTICS_CLZ] = NODE_CLZ,     [SEMANTICS_TRUNC] = NODE_TRUNC,
        [SEMANTICS_BSWAP] = NODE_BSWAP, [SEMANTICS_BITREVERSE] = NODE_BITREVERSE,
    };
    enum node_kind kind = kinds[m->code];
    bool is_compare = m->code >= SEMANTICS_EQ && m->code <= SEMANTICS_SLE;
    uint16_t a = operand(r, m->a, m->bits), b = symbol_operands(kind) > 1 ? operand(r, m->b, m->bits) : 0;
    return symbol_make(r->s, kind, is_compare ? 1 : m->bits, a, b, 0);
}

static uint16_t run_value(struct run *r, const struct semantics_op *m)
{
    switch (m->code) {
    case SEMANTICS_PHI: return run_phi(r, m);
    case SEMANTICS_OP_FIELD: return op_field(r, m->a, m->bits);
    case SEMANTICS_READ: return run_read(r, m);
    case SEMANTICS_LOAD:
    case SEMANTICS_STORE: return run_access(r, m);
    case SEMANTICS_NE:
        return symbol_not(
            r->s, symbol_make(r->s, NODE_EQ, 1, operand(r, m->a, m->bits), operand(r, m->b, m->bits), 0));
    case SEMANTICS_SELECT:
        return symbol_make(r->s, NODE_SELECT, m->bits, operand(r, m->a, 1), operand(r, m->b, m->bits),
                           operand(r, m->c, m->bits));
    case SEMANTICS_FUNNEL_LEFT:
    case SEMANTICS_FUNNEL_RIGHT: return run_funnel(r, m);
    case SEMANTICS_UMAX:
    case SEMANTICS_UMIN:
    case SEMANTICS_SMAX:
    case SEMANTICS_SMIN: return run_extreme(r, m);
    case SEMANTICS_SADD_OVERFLOWS:
    case SEMANTICS_SSUB_OVERFLOWS:
    case SEMANTICS_UADD_OVERFLOWS:
    case SEMANTICS_USUB_OVERFLOWS: return run_overflow(r, m);
    default: return run_plain(r, m);
    }
}

void run_definition(struct iteration *it, enum insn insn, const op *o, uint16_t *taken)
{
    struct run r;
    const struct semantics *semantics = &semantics_of[insn];
    const struct semantics_op *m = &semantics_ops[semantics->first];
    uint16_t yes = symbol_constant(&it->s, 1, 1), returned = 0;
    bool any = false;
    r.it = it;
    r.insn = insn;
    r.s = &it->s;
    r.o = o;
    r.edge_count = r.block = 0;
    r.alignment = 0;
    memset(r.reached, 0, sizeof r.reached);
    r.entered[0] = yes;
    r.reached[0] = true;
    if (semantics->count == 0)
        give_up(&r);
    for (unsigned k = 0; k < semantics->count && !it->reason; k++) {
        if (m[k].code == SEMANTICS_BLOCK)
            r.block = m[k].a;
        if (!r.reached[r.block])
            continue;
        switch (m[k].code) {
        case SEMANTICS_BLOCK:
        case SEMANTICS_ARGUMENT: break;
        case SEMANTICS_WRITE: run_write(&r, &m[k]); break;
        case SEMANTICS_ALIGN: run_align(&r, &m[k]); break;
        case SEMANTICS_JUMP: add_edge(&r, m[k].a, yes); break;
        case SEMANTICS_BRANCH: {
            uint16_t condition = operand(&r, m[k].a, 1);
            add_edge(&r, m[k].b, condition);
            add_edge(&r, m[k].c, symbol_not(&it->s, condition));
            break;
        }
        case SEMANTICS_SWITCH: run_switch(&r, &m[k]); break;
        case SEMANTICS_RETURN:
            if (m[k].a != SEMANTICS_NONE) {
                uint16_t value = operand(&r, m[k].a, 1);
                returned =
                    any ? symbol_make(&it->s, NODE_SELECT, 1, r.entered[r.block], value, returned) : value;
                any = true;
            }
            break;
        default: r.values[k] = run_value(&r, &m[k]); break;
        }
    }
    if (any)
        *taken = returned;
}
