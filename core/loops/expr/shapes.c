// SPDX-License-Identifier: MIT
// What the values of one iteration say about all of them: linear forms, how variables and addresses go from
// iteration to iteration, and how often an exit is passed by.
#include "symbolic.h"

enum {
    FORM_TERMS = 12,
    FORM_NODES = 256, // looked at for one form
    GATHER_MAX = 1 << 24, // bytes
    TERM_NODE = 256, // + a node: a value that is not linear
};

// constant + the sum of factor x term, modulo 2^bits. A term is numbered as the var of a struct linear, or
// a node.
struct form {
    unsigned bits, count, looked_at;
    bool failed;
    uint64_t constant;
    struct {
        uint16_t term;
        uint64_t factor;
    } terms[FORM_TERMS];
};

struct finder {
    struct symbols *s;
    struct loop_summary *out;
    bool fixed[SUMMARY_ACCESSES]; // loads that always read the same address: base says which
};

// ---- linear forms ----

static void add_term(struct form *f, unsigned term, uint64_t factor)
{
    unsigned k = 0;
    while (k < f->count && f->terms[k].term != term)
        k++;
    if (k == FORM_TERMS) {
        f->failed = true;
        return;
    }
    if (k == f->count) {
        f->terms[f->count].term = (uint16_t)term;
        f->terms[f->count++].factor = 0;
    }
    f->terms[k].factor = (f->terms[k].factor + factor) & symbol_mask(f->bits);
    if (f->terms[k].factor == 0)
        f->terms[k] = f->terms[--f->count];
}

// node is at least f->bits wide, or zero-extended to that.
static void add_node(const struct finder *x, struct form *f, uint16_t node, uint64_t factor)
{
    const struct node *n = &x->s->nodes[node];
    bool b_is_constant = symbol_operands(n->kind) > 1 && x->s->nodes[n->b].kind == NODE_CONSTANT;
    if (f->looked_at++ == FORM_NODES)
        f->failed = true;
    if (f->failed)
        return;
    switch (n->kind) {
    case NODE_CONSTANT: f->constant += factor * n->value; return;
    case NODE_VAR:
        if (n->bits == 64) {
            add_term(f, n->a, factor);
            return;
        }
        break;
    case NODE_LOAD:
        if (x->fixed[n->a]) {
            add_term(f, LINEAR_LOAD + n->a, factor);
            return;
        }
        break;
    case NODE_OR:
        if (x->s->possible[n->a] & x->s->possible[n->b])
            break;
        // fall through
    case NODE_ADD:
    case NODE_SUB:
        if (n->bits < f->bits)
            break;
        add_node(x, f, n->a, factor);
        add_node(x, f, n->b, n->kind == NODE_SUB ? -factor : factor);
        return;
    case NODE_XOR: // with all ones: -1 - a
        if (n->bits < f->bits || !symbol_is(x->s, n->b, symbol_mask(n->bits)))
            break;
        add_node(x, f, n->a, -factor);
        f->constant -= factor;
        return;
    case NODE_MUL:
        if (n->bits < f->bits || !b_is_constant)
            break;
        add_node(x, f, n->a, factor * x->s->nodes[n->b].value);
        return;
    case NODE_SHL:
        if (n->bits < f->bits || !b_is_constant || x->s->nodes[n->b].value >= n->bits)
            break;
        add_node(x, f, n->a, factor << x->s->nodes[n->b].value);
        return;
    case NODE_ZEXT:
        if (x->s->nodes[n->a].bits >= f->bits || x->s->nodes[n->a].kind == NODE_LOAD) {
            add_node(x, f, n->a, factor);
            return;
        }
        break;
    case NODE_SEXT:
        if (x->s->nodes[n->a].bits < f->bits)
            break;
        add_node(x, f, n->a, factor);
        return;
    case NODE_TRUNC:
        if (n->bits < f->bits)
            break;
        add_node(x, f, n->a, factor);
        return;
    default: break;
    }
    add_term(f, TERM_NODE + node, factor);
}

static struct form form_of(const struct finder *x, uint16_t node, unsigned bits)
{
    struct form f = {.bits = bits};
    add_node(x, &f, node, 1);
    f.constant &= symbol_mask(bits);
    return f;
}

static void linear_add(struct linear *l, unsigned var, uint64_t factor)
{
    if (l->count == LINEAR_TERMS) {
        l->valid = false;
        return;
    }
    l->var[l->count] = (uint8_t)var;
    l->factor[l->count++] = symbol_signed(factor & symbol_mask(l->bits), l->bits);
}

// The part of f that does not consist of nodes. Constants and factors of 32 bits are kept sign-extended.
static struct linear linear_of(const struct form *f)
{
    struct linear l = {.valid = !f->failed, .bits = (uint8_t)f->bits};
    l.constant = (uint64_t)symbol_signed(f->constant, f->bits);
    for (unsigned k = 0; k < f->count; k++)
        if (f->terms[k].term < TERM_NODE)
            linear_add(&l, f->terms[k].term, f->terms[k].factor);
    return l;
}

static bool is_fixed(const struct finder *x, unsigned term)
{
    return (term >= LINEAR_LOAD && term < TERM_NODE) ||
           (term < LOOP_VARS && x->out->vars[term].shape == VAR_UNTOUCHED);
}

static bool all_fixed(const struct finder *x, const struct form *f)
{
    for (unsigned k = 0; k < f->count; k++)
        if (!is_fixed(x, f->terms[k].term))
            return false;
    return !f->failed;
}

// By how much f, which has no nodes, grows from one iteration to the next; valid is false if that is not
// always the same.
static struct linear step_of(const struct finder *x, const struct form *f)
{
    struct form sum = {.bits = f->bits};
    sum.failed = f->failed;
    for (unsigned k = 0; k < f->count; k++) {
        unsigned term = f->terms[k].term;
        if (is_fixed(x, term))
            continue;
        const struct linear *step = term < LOOP_VARS ? &x->out->vars[term].step : NULL;
        if (!step || x->out->vars[term].shape != VAR_AFFINE || x->out->vars[term].bits < f->bits) {
            sum.failed = true;
            break;
        }
        sum.constant += f->terms[k].factor * step->constant;
        for (unsigned t = 0; t < step->count; t++)
            add_term(&sum, step->var[t], f->terms[k].factor * (uint64_t)step->factor[t]);
    }
    sum.constant &= symbol_mask(f->bits);
    return linear_of(&sum);
}

static bool is_zero(const struct linear *l)
{
    return l->valid && l->count == 0 && l->constant == 0;
}

// ---- variables ----

static bool is_start(const struct finder *x, unsigned var)
{
    const struct node *n = &x->s->nodes[x->out->vars[var].value];
    return n->kind == NODE_VAR && n->a == var;
}

static void find_reads(const struct finder *x)
{
    bool used[SYMBOLS] = {false};
    struct loop_summary *out = x->out;
    for (unsigned k = 0; k < out->access_count; k++) {
        used[out->accesses[k].address] = used[out->accesses[k].condition] = true;
        if (out->accesses[k].is_store)
            used[out->accesses[k].value] = true;
    }
    for (unsigned k = 0; k < out->exit_count; k++)
        used[out->exits[k].condition] = used[out->exits[k].length] = true;
    for (unsigned v = 0; v < LOOP_VARS; v++)
        if (!is_start(x, v))
            used[out->vars[v].value] = true;
    for (unsigned k = x->s->count; k-- > 0;) {
        const struct node *n = &x->s->nodes[k];
        unsigned operands = used[k] ? symbol_operands(n->kind) : 0;
        const uint16_t v[3] = {n->a, n->b, n->c};
        for (unsigned o = 0; o < operands; o++)
            used[v[o]] = true;
        if (used[k] && n->kind == NODE_VAR)
            out->vars[n->a].read = true;
    }
}

// Whether var is value + step each time, modulo 2^bits.
static bool is_affine(const struct finder *x, unsigned var, unsigned bits)
{
    uint16_t value = x->out->vars[var].value;
    const struct node *n = &x->s->nodes[value];
    if (bits == 32 && (n->kind != NODE_ZEXT || x->s->nodes[n->a].bits != 32))
        return false;
    struct form f = form_of(x, bits == 32 ? n->a : value, bits);
    add_term(&f, var, (uint64_t)-1);
    if (!all_fixed(x, &f))
        return false;
    x->out->vars[var].step = linear_of(&f);
    x->out->vars[var].bits = (uint8_t)bits;
    return x->out->vars[var].step.valid;
}

static void find_variables(const struct finder *x)
{
    find_reads(x);
    for (unsigned v = 0; v < LOOP_VARS; v++)
        x->out->vars[v].shape = is_start(x, v)         ? VAR_UNTOUCHED
                                : x->out->vars[v].read ? VAR_CARRIED
                                                       : VAR_TEMPORARY;
}

static void find_affine(const struct finder *x)
{
    bool affine[LOOP_VARS];
    for (unsigned v = 0; v < LOOP_VARS; v++)
        affine[v] = x->out->vars[v].shape == VAR_CARRIED && v != LOOP_VAR_FLAGS_KIND &&
                    (is_affine(x, v, 64) || is_affine(x, v, 32));
    for (unsigned v = 0; v < LOOP_VARS; v++)
        if (affine[v])
            x->out->vars[v].shape = VAR_AFFINE;
}

// ---- accesses ----

static bool find_stream(const struct finder *x, struct access *a, unsigned bits)
{
    struct form f = form_of(x, a->address, bits);
    struct linear base = linear_of(&f), step = step_of(x, &f);
    for (unsigned k = 0; k < f.count; k++)
        if (f.terms[k].term >= TERM_NODE)
            return false;
    if (!base.valid || !step.valid)
        return false;
    a->base = base;
    a->step = step;
    a->shape = is_zero(&step) ? ACCESS_INVARIANT : ACCESS_STREAM;
    return true;
}

static bool find_gather(const struct finder *x, struct access *a, unsigned bits)
{
    struct form f = form_of(x, a->address, bits), rest = f;
    uint16_t index = 0;
    uint64_t max = 0;
    rest.count = 0;
    for (unsigned k = 0; k < f.count; k++) {
        uint64_t factor = f.terms[k].factor;
        if (f.terms[k].term < TERM_NODE) {
            rest.terms[rest.count++] = f.terms[k];
            continue;
        }
        uint16_t node = (uint16_t)(f.terms[k].term - TERM_NODE);
        if (x->s->max[node] > GATHER_MAX || factor > GATHER_MAX)
            return false;
        max += x->s->max[node] * factor;
        uint16_t value = x->s->nodes[node].bits < 64 ? symbol_make(x->s, NODE_ZEXT, 64, node, 0, 0) : node;
        value = symbol_make(x->s, NODE_MUL, 64, value, symbol_constant(x->s, 64, factor), 0);
        index = index ? symbol_make(x->s, NODE_ADD, 64, index, value, 0) : value;
    }
    if (!all_fixed(x, &rest) || max > GATHER_MAX)
        return false;
    a->base = linear_of(&rest);
    a->index = index;
    a->index_max = max;
    if (a->base.valid)
        a->shape = ACCESS_GATHER;
    return a->base.valid;
}

// Finds the loads that always read the same address, to which the loop does not plainly store; from what is
// known of earlier ones.
static void find_fixed(struct finder *x)
{
    for (unsigned k = 0; k < x->out->access_count; k++) {
        struct access *a = &x->out->accesses[k];
        x->fixed[k] = !a->is_store && a->size <= 8 && symbol_is(x->s, a->condition, 1) &&
                      find_stream(x, a, 64) && a->shape == ACCESS_INVARIANT;
        for (unsigned o = 0; o < x->out->access_count; o++)
            x->fixed[k] &= !x->out->accesses[o].is_store || x->out->accesses[o].address != a->address;
    }
}

// ---- exits ----

static bool has_nodes(const struct form *f)
{
    for (unsigned k = 0; k < f->count; k++)
        if (f->terms[k].term >= TERM_NODE)
            return true;
    return f->failed;
}

static void find_count(const struct finder *x, struct loop_exit *e)
{
    uint16_t goes_on = symbol_not(x->s, e->condition);
    struct node n = x->s->nodes[goes_on];
    bool negated = n.kind == NODE_XOR && symbol_is(x->s, n.b, 1);
    if (negated)
        n = x->s->nodes[n.a];
    bool equal = n.kind == NODE_EQ;
    if (!equal && (negated || n.kind < NODE_ULT || n.kind > NODE_SLE))
        return;
    unsigned bits = x->s->nodes[n.a].bits;
    if (bits != 32 && bits != 64)
        return;
    struct form a = form_of(x, n.a, bits), b = form_of(x, n.b, bits);
    if (has_nodes(&a) || has_nodes(&b))
        return;
    struct linear step_a = step_of(x, &a), step_b = step_of(x, &b);
    if (equal && !is_zero(&step_a) && !is_zero(&step_b)) { // both move: their difference against 0
        for (unsigned k = 0; k < b.count; k++)
            add_term(&a, b.terms[k].term, -b.terms[k].factor);
        a.constant -= b.constant;
        b = (struct form){.bits = bits};
        step_a = step_of(x, &a);
        step_b = step_of(x, &b);
    }
    if (!step_a.valid || !step_b.valid || is_zero(&step_a) == is_zero(&step_b))
        return;
    bool b_counts = is_zero(&step_a);
    e->compare = n.kind;
    e->swapped = b_counts && !equal;
    e->is_equal = equal && !negated;
    e->bits = (uint8_t)bits;
    e->start = linear_of(b_counts ? &b : &a);
    e->step = b_counts ? step_b : step_a;
    e->limit = linear_of(b_counts ? &a : &b);
    e->counted = e->start.valid && e->limit.valid;
}

void find_shapes(struct iteration *it)
{
    struct finder x = {.s = &it->s, .out = it->out};
    find_variables(&x);
    find_fixed(&x);
    find_affine(&x);
    for (unsigned k = 0; k < it->out->access_count; k++) {
        struct access *a = &it->out->accesses[k];
        a->shape = ACCESS_UNKNOWN;
        if (!find_stream(&x, a, 64) && !find_stream(&x, a, 32) && !find_gather(&x, a, 64))
            find_gather(&x, a, 32);
    }
    for (unsigned k = 0; k < it->out->exit_count; k++)
        find_count(&x, &it->out->exits[k]);
}
