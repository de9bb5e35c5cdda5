// SPDX-License-Identifier: MIT
// Makes lane programs from a summary.
#include "widen.h"

#include <string.h>

#include "match.h"

enum { NO_SLOT = 255 };

struct builder {
    struct prover *v;
    struct lane_program *program;
    uint8_t slot[SUMMARY_NODES]; // of each node that has one
    uint8_t low[SUMMARY_NODES], low_bits[SUMMARY_NODES]; // the same of the node's low bits alone
    struct lane_op nowhere; // what there is no room for
    const char *reason;
};

static unsigned give_up(struct builder *b, const char *reason)
{
    b->reason = b->reason ? b->reason : reason;
    return NO_SLOT;
}

static struct lane_op *add_op(struct builder *b, unsigned kind, unsigned bits)
{
    struct lane_program *p = b->program;
    if (p->op_count == LANE_OPS || p->slot_count == LANE_SLOTS) {
        give_up(b, "too complicated");
        return &b->nowhere;
    }
    struct lane_op *o = &p->ops[p->op_count++];
    *o = (struct lane_op){.kind = (uint8_t)kind, .bits = (uint8_t)bits, .from = (uint8_t)bits};
    o->start.slot = o->step.slot = REG_ZERO;
    if (kind < LANE_STORE)
        o->to = (uint8_t)p->slot_count++;
    return o;
}

static unsigned add_arithmetic(struct builder *b, unsigned kind, unsigned bits, unsigned x, unsigned y,
                               unsigned z)
{
    struct lane_op *o = add_op(b, kind, bits);
    o->a = (uint8_t)x;
    o->b = (uint8_t)y;
    o->c = (uint8_t)z;
    return o->to;
}

static unsigned add_constant(struct builder *b, uint64_t value, unsigned bits)
{
    struct lane_op *o = add_op(b, LANE_FIXED, bits);
    o->start.constant = value;
    return o->to;
}

static unsigned lane_of(struct builder *b, unsigned node);
static unsigned low_lane_of(struct builder *b, unsigned node, unsigned bits);

// What an access reads, as one node is made of it.
static unsigned add_load(struct builder *b, unsigned access)
{
    struct prover *v = b->v;
    const struct access *a = &v->s->accesses[access];
    struct lane_op *o;
    unsigned bits = a->size * 8u, index, to, condition;
    struct quantity fixed;
    if (a->size > 8)
        return give_up(b, "vectors in memory");
    if (v->shape[a->address] <= SHAPE_AFFINE) {
        o = add_op(b, LANE_LOAD, bits);
    } else {
        if (!values_split(v, a->address, &fixed, &index))
            return give_up(b, "an address that is not known at the entry");
        index = lane_of(b, index);
        o = add_op(b, LANE_GATHER, bits);
        o->start = fixed;
        o->a = (uint8_t)index;
    }
    o->size = a->size;
    o->range = (uint8_t)(v->range_of[access] - 1);
    to = o->to;
    if (match_always(v->s, a->condition))
        return to;
    condition = lane_of(b, a->condition); // what is not loaded is 0
    return add_arithmetic(b, NODE_SELECT, bits, condition, to, add_constant(b, 0, bits));
}

// The low bits of a variable in closed form, or of what such a one is cut to.
static unsigned add_affine(struct builder *b, unsigned node, unsigned bits)
{
    struct prover *v = b->v;
    const struct node *n = &v->s->nodes[node], *var = n->kind == NODE_VAR ? n : &v->s->nodes[n->a];
    unsigned width = v->s->vars[var->a].bits;
    struct lane_op *o = add_op(b, LANE_AFFINE, bits < width ? bits : width);
    if (!values_at_entry(v, node, &o->start) || !values_of_linear(v, &v->s->vars[var->a].step, &o->step))
        give_up(b, "a step that is not known at the entry");
    return o->to;
}

static unsigned sum_of_terms(struct builder *b, const struct reduction *r, unsigned from, unsigned to)
{
    unsigned sum = NO_SLOT;
    for (unsigned i = from; i < to; i++) {
        unsigned term = lane_of(b, r->terms[i].node);
        if (sum == NO_SLOT && !r->terms[i].negative)
            sum = term;
        else
            sum = add_arithmetic(b, r->terms[i].negative ? NODE_SUB : NODE_ADD, r->bits,
                                 sum == NO_SLOT ? add_constant(b, 0, r->bits) : sum, term, 0);
    }
    return sum == NO_SLOT ? add_constant(b, 0, r->bits) : sum;
}

// The reduction of a register and the operation that does it: kind is LANE_SCAN or LANE_REDUCE.
static unsigned add_reduction(struct builder *b, unsigned reg, unsigned kind)
{
    const struct reduction *r = &b->v->reductions[reg];
    struct lane_program *p = b->program;
    struct lane_reduction to = {.kind = r->kind,
                                .reg = r->reg,
                                .bits = r->bits,
                                .has_condition = r->has_condition,
                                .size = b->v->s->accesses[r->load].size,
                                .shift = r->shift,
                                .table_mask = r->mask,
                                .k = r->k};
    if (r->kind == REDUCE_ADD && r->has_condition) {
        unsigned yes = sum_of_terms(b, r, 0, r->other), no = sum_of_terms(b, r, r->other, r->term_count);
        to.x = (uint8_t)add_arithmetic(b, NODE_SELECT, r->bits, lane_of(b, r->condition), yes, no);
    } else {
        to.x = (uint8_t)sum_of_terms(b, r, 0, r->term_count);
    }
    if (r->kind == REDUCE_LAST && r->has_condition) {
        to.condition = (uint8_t)lane_of(b, r->condition);
        if (r->negated)
            to.condition = (uint8_t)add_arithmetic(b, NODE_XOR, 1, to.condition, add_constant(b, 1, 1), 0);
    }
    if (p->reduction_count == REDUCTIONS)
        return give_up(b, "too many results");
    p->reductions[p->reduction_count] = to;
    struct lane_op *o = add_op(b, kind, 64);
    o->index = (uint8_t)p->reduction_count++;
    return o->to;
}

static unsigned add_fixed(struct builder *b, unsigned node, unsigned bits)
{
    struct lane_op *o = add_op(b, LANE_FIXED, bits);
    if (!values_at_entry(b->v, node, &o->start))
        give_up(b, "too complicated");
    return o->to;
}

// It, or what it is cut to.
static bool is_variable(const struct loop_summary *s, const struct node *n)
{
    return n->kind == NODE_VAR || (n->kind == NODE_TRUNC && s->nodes[n->a].kind == NODE_VAR);
}

// The lanes of the low bits of a node that has more: of most operations these come from the low bits of what
// they are made of, so that lanes can be zero_upper.
static unsigned make_low_lane(struct builder *b, unsigned node, unsigned bits)
{
    struct prover *v = b->v;
    const struct loop_summary *s = v->s;
    const struct node *n = &s->nodes[node];
    unsigned from = n->kind >= NODE_ADD ? s->nodes[n->a].bits : 0, x, y;
    if (v->shape[node] == SHAPE_FIXED)
        return add_fixed(b, node, bits);
    if (v->shape[node] == SHAPE_AFFINE && is_variable(s, n))
        return add_affine(b, node, bits);
    switch (n->kind) {
    case NODE_ADD:
    case NODE_SUB:
    case NODE_MUL:
    case NODE_AND:
    case NODE_OR:
    case NODE_XOR:
        x = low_lane_of(b, n->a, bits);
        y = low_lane_of(b, n->b, bits);
        return add_arithmetic(b, n->kind, bits, x, y, 0);
    case NODE_SHL:
        if (s->nodes[n->b].kind != NODE_CONSTANT || s->nodes[n->b].value >= bits)
            break;
        x = low_lane_of(b, n->a, bits);
        y = add_constant(b, s->nodes[n->b].value, bits);
        return add_arithmetic(b, NODE_SHL, bits, x, y, 0);
    case NODE_SELECT:
        x = lane_of(b, n->a);
        y = low_lane_of(b, n->b, bits);
        return add_arithmetic(b, NODE_SELECT, bits, x, y, low_lane_of(b, n->c, bits));
    case NODE_TRUNC:
    case NODE_ZEXT: return low_lane_of(b, n->a, bits);
    case NODE_SEXT:
        if (from >= bits)
            return low_lane_of(b, n->a, bits);
        x = add_arithmetic(b, NODE_SEXT, bits, lane_of(b, n->a), 0, 0);
        if (!b->reason)
            b->program->ops[b->program->op_count - 1].from = (uint8_t)from;
        return x;
    default: break;
    }
    x = add_arithmetic(b, NODE_TRUNC, bits, lane_of(b, node), 0, 0);
    if (!b->reason)
        b->program->ops[b->program->op_count - 1].from = n->bits;
    return x;
}

static unsigned low_lane_of(struct builder *b, unsigned node, unsigned bits)
{
    node = b->v->same[node];
    if (b->v->s->nodes[node].bits <= bits)
        return lane_of(b, node);
    if (b->low_bits[node] != bits && !b->reason) {
        b->low[node] = (uint8_t)make_low_lane(b, node, bits);
        b->low_bits[node] = (uint8_t)bits;
    }
    return b->low[node];
}

static unsigned make_lane(struct builder *b, unsigned node)
{
    struct prover *v = b->v;
    const struct node *n = &v->s->nodes[node];
    unsigned x, y = 0, z = 0;
    switch (v->shape[node]) {
    case SHAPE_CARRIED: return give_up(b, "an iteration needs what the one before has made");
    case SHAPE_FIXED: return add_fixed(b, node, n->bits);
    case SHAPE_AFFINE:
        if (is_variable(v->s, n))
            return add_affine(b, node, n->bits);
    }
    if (n->kind == NODE_LOAD)
        return add_load(b, n->a);
    if (n->kind == NODE_VAR)
        return add_reduction(b, n->a, LANE_SCAN);
    if (n->kind == NODE_TRUNC)
        return low_lane_of(b, n->a, n->bits);
    x = lane_of(b, n->a);
    if (n->kind == NODE_ZEXT)
        return x;
    if (n->kind < NODE_ZEXT)
        y = lane_of(b, n->b);
    if (n->kind == NODE_SELECT)
        z = lane_of(b, n->c);
    unsigned to = add_arithmetic(b, n->kind, n->bits, x, y, z);
    if (!b->reason)
        b->program->ops[b->program->op_count - 1].from = v->s->nodes[n->a].bits;
    return to;
}

static unsigned lane_of(struct builder *b, unsigned node)
{
    node = b->v->same[node];
    if (b->slot[node] == NO_SLOT && !b->reason)
        b->slot[node] = (uint8_t)make_lane(b, node);
    return b->slot[node];
}

static void begin(struct builder *b, struct prover *v, struct lane_program *program)
{
    memset(b->slot, NO_SLOT, sizeof b->slot);
    memset(b->low_bits, 0, sizeof b->low_bits);
    b->v = v;
    b->program = program;
    b->reason = NULL;
}

// ---- what decides ----

static void build_find(struct builder *b)
{
    const struct loop_summary *s = b->v->s;
    for (unsigned i = 0; i < s->exit_count; i++) {
        if (s->exits[i].counted || b->v->shape[s->exits[i].condition] == SHAPE_FIXED)
            continue;
        unsigned condition = lane_of(b, s->exits[i].condition);
        struct lane_op *o = add_op(b, LANE_LEAVES, 1);
        o->a = (uint8_t)condition;
        o->index = (uint8_t)i;
    }
}

// ---- what is done ----

// Marks the nodes that node is made of, and itself.
static void mark(const struct loop_summary *s, bool *needed, unsigned node)
{
    needed[node] = true;
    for (unsigned k = node + 1; k-- > 0;) {
        const struct node *n = &s->nodes[k];
        if (!needed[k] || n->kind < NODE_LOAD)
            continue;
        if (n->kind == NODE_LOAD) {
            needed[s->accesses[n->a].address] = needed[s->accesses[n->a].condition] = true;
            continue;
        }
        needed[n->a] = true;
        if (n->kind < NODE_ZEXT)
            needed[n->b] = true;
        if (n->kind == NODE_SELECT)
            needed[n->c] = true;
    }
}

static void build_store(struct builder *b, unsigned access)
{
    const struct access *a = &b->v->s->accesses[access];
    bool always = match_always(b->v->s, a->condition);
    unsigned value = low_lane_of(b, a->value, a->size * 8u),
             condition = always ? 0 : lane_of(b, a->condition);
    struct lane_op *o = add_op(b, always ? LANE_STORE : LANE_STORE_IF, a->size * 8u);
    if (a->size > 8)
        give_up(b, "vectors in memory");
    o->a = (uint8_t)value;
    o->b = (uint8_t)condition;
    o->size = a->size;
    o->range = (uint8_t)(b->v->range_of[access] - 1);
}

static bool is_reduced_in(const struct lane_program *p, unsigned reg)
{
    for (unsigned i = 0; i < p->reduction_count; i++)
        if (p->reductions[i].reg == reg)
            return true;
    return false;
}

static void mark_needed(const struct prover *v, bool *needed)
{
    const struct loop_summary *s = v->s;
    for (unsigned i = 0; i <= REG_SP; i++) {
        const struct reduction *r = &v->reductions[i];
        if (!v->reduced[i])
            continue;
        for (unsigned k = 0; k < r->term_count; k++)
            mark(s, needed, r->terms[k].node);
        if (r->has_condition)
            mark(s, needed, r->condition);
    }
    for (unsigned i = 0; i < s->access_count; i++) {
        if (!s->accesses[i].is_store)
            continue;
        mark(s, needed, s->accesses[i].value);
        mark(s, needed, s->accesses[i].condition);
    }
    if (!s->length)
        mark(s, needed, s->vars[LOOP_VAR_LENGTH].value);
}

static void build_loads(struct builder *b, const bool *needed, unsigned access)
{
    const struct loop_summary *s = b->v->s;
    for (unsigned k = 0; k < s->node_count; k++)
        if (needed[k] && s->nodes[k].kind == NODE_LOAD && s->nodes[k].a == access)
            lane_of(b, k);
}

// Loads stay where they are between the stores, or all come first: the guard counts on it.
static void build_run(struct builder *b, struct batch *batch)
{
    struct prover *v = b->v;
    const struct loop_summary *s = v->s;
    bool needed[SUMMARY_NODES] = {false}, loads_first = v->loads_first;
    for (unsigned i = 0; i <= REG_SP; i++)
        if (s->vars[i].shape == VAR_CARRIED && !v->reduced[i])
            give_up(b, "an iteration needs what the one before has made");
    mark_needed(v, needed);
    for (unsigned i = 0; i < s->access_count && loads_first; i++)
        if (!s->accesses[i].is_store)
            build_loads(b, needed, i);
    for (unsigned i = 0; i < s->access_count && !b->reason; i++) {
        if (s->accesses[i].is_store)
            build_store(b, i);
        else
            build_loads(b, needed, i);
    }
    batch->sums_length = !s->length;
    if (batch->sums_length)
        batch->length = (uint8_t)lane_of(b, s->vars[LOOP_VAR_LENGTH].value);
    for (unsigned i = 0; i <= REG_SP; i++)
        if (v->reduced[i] && !is_reduced_in(b->program, i))
            add_reduction(b, i, LANE_REDUCE);
}

static void set_width(struct lane_program *p)
{
    unsigned bits = 8;
    for (unsigned i = 0; i < p->op_count; i++) {
        const struct lane_op *o = &p->ops[i];
        const unsigned more = o->bits > o->from ? o->bits : o->from;
        const bool is_rare = o->kind == LANE_GATHER || o->kind == LANE_SCAN || o->kind == NODE_UDIV ||
                             o->kind == NODE_SDIV || (o->kind >= NODE_CLZ && o->kind < LANE_FIXED);
        if (is_rare)
            bits = 64;
        else if (o->kind != LANE_REDUCE && o->kind != LANE_STORE && o->kind != LANE_STORE_IF && more > bits)
            bits = more;
    }
    for (unsigned i = 0; i < p->reduction_count; i++) {
        const struct lane_reduction *r = &p->reductions[i];
        const unsigned more = r->kind == REDUCE_TABLE ? 64 : r->bits;
        bits = more > bits ? more : bits;
    }
    p->width = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

bool widen_loop(struct prover *v, struct batch *batch, const char **reason)
{
    struct builder b;
    begin(&b, v, &batch->find);
    build_find(&b);
    *reason = b.reason;
    if (b.reason)
        return false;
    set_width(&batch->find);
    match_scan(v, &batch->scan);
    begin(&b, v, &batch->run);
    build_run(&b, batch);
    set_width(&batch->run);
    if (batch->sums_length)
        batch->run.width = sizeof(uint64_t);
    *reason = b.reason;
    return !b.reason;
}
