// SPDX-License-Identifier: MIT
#include "values.h"

#include <string.h>

// ---- shapes ----

static bool is_constant(const struct loop_summary *s, unsigned node)
{
    return s->nodes[node].kind == NODE_CONSTANT;
}

static unsigned worse(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned shape_of(const struct prover *v, const struct node *n)
{
    const struct loop_summary *s = v->s;
    unsigned a, b;
    switch (n->kind) {
    case NODE_CONSTANT: return SHAPE_FIXED;
    case NODE_VAR:
        switch (s->vars[n->a].shape) {
        case VAR_UNTOUCHED: return SHAPE_FIXED;
        case VAR_AFFINE: return n->a < LOOP_VAR_FLAGS_A ? SHAPE_AFFINE : SHAPE_CARRIED;
        default: return n->a <= REG_SP && v->reduced[n->a] ? SHAPE_VARYING : SHAPE_CARRIED;
        }
    case NODE_LOAD: a = v->shape[s->accesses[n->a].address]; return a == SHAPE_AFFINE ? SHAPE_VARYING : a;
    case NODE_ADD:
    case NODE_SUB: return worse(v->shape[n->a], v->shape[n->b]);
    case NODE_ZEXT:
    case NODE_SEXT:
    case NODE_TRUNC: return v->shape[n->a];
    case NODE_MUL:
    case NODE_SHL:
        a = v->shape[n->a];
        b = v->shape[n->b];
        if (a == SHAPE_AFFINE && b == SHAPE_FIXED && (n->kind == NODE_MUL || is_constant(s, n->b)))
            return SHAPE_AFFINE;
        break;
    default:
        a = worse(v->shape[n->a], n->kind >= NODE_CLZ ? SHAPE_FIXED : v->shape[n->b]);
        b = n->kind == NODE_SELECT ? v->shape[n->c] : SHAPE_FIXED;
    }
    a = worse(a, b);
    return a == SHAPE_AFFINE ? SHAPE_VARYING : a;
}

// ---- bounds ----

static const struct bounds unknown = {0, 0, false};

static struct bounds as_unsigned(struct bounds b, unsigned bits)
{
    if (bits >= 63)
        return b.known && b.low >= 0 ? b : unknown;
    int64_t top = (int64_t)1 << bits;
    return b.known && b.low >= 0 && b.high < top ? b : (struct bounds){0, top - 1, true};
}

static struct bounds as_signed(struct bounds b, unsigned bits)
{
    if (bits == 64)
        return b;
    int64_t top = (int64_t)1 << (bits - 1);
    return b.known && b.low >= -top && b.high < top ? b : (struct bounds){-top, top - 1, true};
}

static struct bounds bounds_of(const struct prover *v, const struct node *n)
{
    const int64_t far = (int64_t)1 << 40; // beyond, nothing is of use
    struct bounds a = unknown, b = unknown;
    if (n->kind >= NODE_ADD) {
        a = v->bounds[n->a];
        if (n->kind < NODE_ZEXT)
            b = v->bounds[n->b];
    }
    bool both = a.known && b.known;
    unsigned bits = n->bits, from = n->kind >= NODE_ADD ? v->s->nodes[n->a].bits : bits;
    bool shifts =
        n->kind >= NODE_ADD && n->kind < NODE_ZEXT && is_constant(v->s, n->b) && v->s->nodes[n->b].value < 64;
    unsigned shift = shifts ? (unsigned)v->s->nodes[n->b].value : 0;
    struct bounds r = unknown;
    switch (n->kind) {
    case NODE_CONSTANT:
        r = (struct bounds){(int64_t)n->value, (int64_t)n->value, (int64_t)n->value >= 0};
        break;
    case NODE_ADD: r = (struct bounds){a.low + b.low, a.high + b.high, both}; break;
    case NODE_SUB: r = (struct bounds){a.low - b.high, a.high - b.low, both}; break;
    case NODE_SHL:
        if (shifts && shift < 40 && a.known && a.low > -(far >> shift) && a.high < far >> shift)
            r = (struct bounds){a.low * ((int64_t)1 << shift), a.high * ((int64_t)1 << shift), true};
        break;
    case NODE_LSHR:
        a = as_unsigned(a, bits);
        if (shifts && a.known)
            r = (struct bounds){a.low >> shift, a.high >> shift, true};
        else if (shifts && shift)
            r = (struct bounds){0, (int64_t)(UINT64_MAX >> (64 - bits) >> shift), true};
        break;
    case NODE_ASHR:
        a = as_signed(a, bits);
        if (shifts && a.known)
            r = (struct bounds){a.low >> shift, a.high >> shift, true};
        break;
    case NODE_AND:
        a = as_unsigned(a, bits);
        b = as_unsigned(b, bits);
        r = (struct bounds){0, a.known && (!b.known || a.high < b.high) ? a.high : b.high,
                            a.known || b.known};
        break;
    case NODE_OR:
    case NODE_XOR:
        a = as_unsigned(a, bits);
        b = as_unsigned(b, bits);
        if (a.known && b.known) {
            uint64_t ones = (uint64_t)(a.high | b.high);
            r = (struct bounds){0, ones ? (int64_t)(UINT64_MAX >> __builtin_clzll(ones)) : 0, true};
        }
        break;
    case NODE_SELECT:
        a = v->bounds[n->c];
        r = (struct bounds){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high,
                            a.known && b.known};
        break;
    case NODE_ZEXT: r = as_unsigned(a, from); break;
    case NODE_SEXT: r = as_signed(a, from); break;
    case NODE_TRUNC: r = a; break;
    case NODE_EQ:
    case NODE_ULT:
    case NODE_ULE:
    case NODE_SLT:
    case NODE_SLE: r = (struct bounds){0, 1, true}; break;
    default: break;
    }
    if (!r.known || r.low < -far || r.high > far)
        r = as_unsigned(unknown, bits);
    return r;
}

// Whether two accesses load the same. A stream may go along with a store between them.
static bool is_same_load(const struct prover *v, unsigned i, unsigned j)
{
    const struct access *a = &v->s->accesses[i], *b = &v->s->accesses[j];
    if (a->is_store || b->is_store || a->size != b->size || v->same[a->address] != v->same[b->address] ||
        v->same[a->condition] != v->same[b->condition])
        return false;
    for (unsigned k = i + 1; k < j && v->shape[a->address] == SHAPE_AFFINE; k++)
        if (v->s->accesses[k].is_store)
            return false;
    return true;
}

static bool is_same(const struct prover *v, const struct node *m, const struct node *n)
{
    if (m->kind != n->kind || m->bits != n->bits || m->kind < NODE_LOAD)
        return false;
    if (m->kind == NODE_LOAD)
        return is_same_load(v, m->a, n->a);
    const uint16_t *same = v->same;
    bool equal = same[m->a] == same[n->a], unary = m->kind >= NODE_ZEXT;
    bool commutes = m->kind == NODE_ADD || m->kind == NODE_MUL || m->kind == NODE_AND || m->kind == NODE_OR ||
                    m->kind == NODE_XOR || m->kind == NODE_EQ;
    if (commutes && same[m->a] == same[n->b] && same[m->b] == same[n->a])
        return true;
    return equal && (unary || same[m->b] == same[n->b]) &&
           (m->kind != NODE_SELECT || same[m->c] == same[n->c]);
}

static void find_same(struct prover *v, unsigned node)
{
    const struct node *nodes = v->s->nodes;
    unsigned first = 0;
    while (first < node && !is_same(v, &nodes[first], &nodes[node]))
        first++;
    v->same[node] = (uint16_t)first;
}

void values_find_shapes(struct prover *v)
{
    for (unsigned i = 0; i < v->s->node_count; i++)
        v->shape[i] = (uint8_t)shape_of(v, &v->s->nodes[i]);
}

void values_begin(struct prover *v, const struct loop_summary *s, struct loop_plan *p)
{
    memset(v, 0, sizeof *v);
    v->s = s;
    v->p = p;
    v->g = &p->guard;
    v->effort = EFFORT;
    values_find_shapes(v);
    for (unsigned i = 0; i < s->node_count; i++) {
        v->bounds[i] = bounds_of(v, &s->nodes[i]);
        find_same(v, i);
    }
}

// ---- at the entry ----

static const struct quantity zero = {0, REG_ZERO};

static bool add_op(struct prover *v, struct entry_op o, struct quantity *q)
{
    if (v->g->op_count == ENTRY_OPS)
        return false;
    *q = (struct quantity){0, (uint8_t)(SLOT_COMPUTED + v->g->op_count)};
    v->g->ops[v->g->op_count++] = o;
    return true;
}

static bool add_quantities(struct prover *v, struct quantity a, struct quantity b, struct quantity *sum)
{
    if (a.slot == REG_ZERO || b.slot == REG_ZERO) {
        *sum = (struct quantity){a.constant + b.constant, a.slot == REG_ZERO ? b.slot : a.slot};
        return true;
    }
    return add_op(v, (struct entry_op){.kind = NODE_ADD, .bits = 64, .a = a, .b = b, .c = zero}, sum);
}

static bool scale(struct prover *v, struct quantity a, int64_t factor, struct quantity *q)
{
    *q = a;
    if (factor == 1)
        return true;
    if (a.slot == REG_ZERO) {
        q->constant *= (uint64_t)factor;
        return true;
    }
    return add_op(v, (struct entry_op){NODE_MUL, 64, 64, 0, a, {(uint64_t)factor, REG_ZERO}, zero}, q);
}

static bool load_at_entry(struct prover *v, unsigned access, struct quantity *q)
{
    const struct access *a = &v->s->accesses[access];
    struct entry_op o = {.kind = NODE_LOAD, .bits = (uint8_t)(a->size * 8), .b = zero, .c = zero};
    if (a->is_store || a->size > 8 || v->shape[a->address] != SHAPE_FIXED ||
        !values_at_entry(v, a->address, &o.a) || !values_add_range(v, access))
        return false;
    o.range = (uint8_t)(v->range_of[access] - 1);
    v->g->ranges[o.range].at_entry = true;
    v->g->ranges[o.range].is_stream = false;
    return add_op(v, o, q);
}

bool values_at_entry(struct prover *v, unsigned node, struct quantity *q)
{
    node = v->same[node];
    const struct node *n = &v->s->nodes[node];
    struct entry_op o = {.kind = n->kind, .bits = n->bits, .b = zero, .c = zero};
    if (v->has_entry[node]) {
        *q = v->entry[node];
        return true;
    }
    bool ok;
    switch (n->kind) {
    case NODE_CONSTANT:
        *q = (struct quantity){n->value, REG_ZERO};
        ok = true;
        break;
    case NODE_VAR:
        *q = (struct quantity){0, (uint8_t)n->a};
        ok = n->a <= REG_SP;
        break;
    case NODE_LOAD: ok = load_at_entry(v, n->a, q); break;
    default:
        o.from = v->s->nodes[n->a].bits;
        ok = values_at_entry(v, n->a, &o.a) && (n->kind >= NODE_ZEXT || values_at_entry(v, n->b, &o.b)) &&
             (n->kind != NODE_SELECT || values_at_entry(v, n->c, &o.c));
        if (n->kind == NODE_SELECT)
            o.from = 1;
        if (ok && n->kind == NODE_ADD && n->bits == 64)
            ok = add_quantities(v, o.a, o.b, q);
        else if (ok && n->kind == NODE_SUB && n->bits == 64 && o.b.slot == REG_ZERO)
            *q = (struct quantity){o.a.constant - o.b.constant, o.a.slot};
        else
            ok = ok && add_op(v, o, q);
    }
    v->has_entry[node] = ok;
    v->entry[node] = *q;
    return ok;
}

bool values_of_linear(struct prover *v, const struct linear *l, struct quantity *q)
{
    *q = (struct quantity){l->constant, REG_ZERO};
    if (!l->valid)
        return false;
    for (unsigned i = 0; i < l->count; i++) {
        struct quantity term = {0, l->var[i]};
        if (l->var[i] >= LINEAR_LOAD) {
            if (!load_at_entry(v, l->var[i] - LINEAR_LOAD, &term))
                return false;
        } else if (l->var[i] > REG_SP) {
            return false;
        }
        if (!scale(v, term, l->factor[i], &term) || !add_quantities(v, *q, term, q))
            return false;
    }
    return true;
}

// ---- affine ----

// The node, whose low bits bits advance by step, is used at a larger width.
static bool add_no_wrap(struct prover *v, unsigned node, unsigned bits, bool is_signed, unsigned number,
                        struct quantity *step)
{
    struct guard *g = v->g;
    struct quantity start;
    if (step->slot == REG_ZERO) {
        step->constant = (uint64_t)((int64_t)(step->constant << (64 - bits)) >> (64 - bits));
        if (step->constant == 0)
            return true;
    } else if (!add_op(v, (struct entry_op){NODE_SEXT, 64, (uint8_t)bits, 0, *step, zero, zero}, step)) {
        return false;
    }
    if (g->no_wrap_count == NO_WRAPS || !values_at_entry(v, node, &start))
        return false;
    g->no_wraps[g->no_wrap_count++] =
        (struct no_wrap){start, *step, (uint8_t)bits, (uint8_t)number, is_signed};
    return true;
}

bool values_step(struct prover *v, unsigned node, unsigned bits, unsigned number, struct quantity *step)
{
    const struct node *n = &v->s->nodes[node];
    struct quantity b;
    *step = zero;
    if (v->shape[node] == SHAPE_FIXED)
        return true;
    if (v->shape[node] != SHAPE_AFFINE || !v->effort)
        return false;
    v->effort--;
    switch (n->kind) {
    case NODE_VAR: {
        unsigned width = v->s->vars[n->a].bits;
        return values_of_linear(v, &v->s->vars[n->a].step, step) &&
               (bits <= width || add_no_wrap(v, node, width, false, number, step));
    }
    case NODE_ADD:
        return values_step(v, n->a, bits, number, step) && values_step(v, n->b, bits, number, &b) &&
               add_quantities(v, *step, b, step);
    case NODE_SUB:
        return values_step(v, n->a, bits, number, step) && values_step(v, n->b, bits, number, &b) &&
               scale(v, b, -1, &b) && add_quantities(v, *step, b, step);
    case NODE_SHL:
        return values_step(v, n->a, bits, number, step) &&
               scale(v, *step, (int64_t)((uint64_t)1 << v->s->nodes[n->b].value), step);
    case NODE_MUL: {
        struct entry_op o = {.kind = NODE_MUL, .bits = 64, .from = 64, .c = zero};
        return values_step(v, n->a, bits, number, &o.a) && values_at_entry(v, n->b, &o.b) &&
               add_op(v, o, step);
    }
    case NODE_TRUNC: return values_step(v, n->a, bits, number, step);
    case NODE_ZEXT:
    case NODE_SEXT: {
        unsigned width = v->s->nodes[n->a].bits;
        if (bits <= width)
            return values_step(v, n->a, bits, number, step);
        return values_step(v, n->a, width, number, step) &&
               add_no_wrap(v, n->a, width, n->kind == NODE_SEXT, number, step);
    }
    default: return false;
    }
}

// ---- addresses ----

bool values_split(struct prover *v, unsigned address, struct quantity *fixed, unsigned *index)
{
    const struct node *n = &v->s->nodes[address];
    if (v->shape[address] == SHAPE_FIXED || n->kind != NODE_ADD || n->bits != 64) {
        *fixed = zero;
        *index = address;
        return v->shape[address] != SHAPE_FIXED;
    }
    bool a_fixed = v->shape[n->a] == SHAPE_FIXED, b_fixed = v->shape[n->b] == SHAPE_FIXED;
    struct quantity more;
    if (a_fixed == b_fixed)
        return false;
    return values_at_entry(v, a_fixed ? n->a : n->b, &more) &&
           values_split(v, a_fixed ? n->b : n->a, fixed, index) && add_quantities(v, *fixed, more, fixed);
}

bool values_add_range(struct prover *v, unsigned access)
{
    const struct access *a = &v->s->accesses[access];
    for (unsigned i = 0; i < access && !v->range_of[access]; i++)
        if (is_same_load(v, i, access))
            v->range_of[access] = v->range_of[i];
    struct guard *g = v->g;
    struct access_range r = {
        .step = zero, .high = a->size, .size = a->size, .number = (uint8_t)access, .is_store = a->is_store};
    if (v->range_of[access])
        return true;
    r.is_stream = v->shape[a->address] <= SHAPE_AFFINE;
    if (r.is_stream) {
        if (!values_at_entry(v, a->address, &r.base) || !values_step(v, a->address, 64, access, &r.step))
            return false;
    } else {
        unsigned index;
        if (!values_split(v, a->address, &r.base, &index))
            return false;
        struct bounds b = v->bounds[index];
        if (!b.known || b.high - b.low > INDEX_MAX)
            return false;
        r.low = b.low;
        r.high = b.high + a->size;
    }
    if (g->range_count == ACCESS_RANGES)
        return false;
    g->ranges[g->range_count++] = r;
    v->range_of[access] = g->range_count;
    return true;
}
