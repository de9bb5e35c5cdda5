// SPDX-License-Identifier: MIT
// From a summary to a plan: what class of loop it is, and what has to hold at its entry.
#include "prove.h"

#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "widen.h"

static bool add_counted(struct prover *v, const struct loop_exit *x, struct trip_count *c)
{
    bool is_signed = x->compare == NODE_SLT || x->compare == NODE_SLE;
    c->mask = UINT64_MAX >> (64 - x->bits);
    c->flip = is_signed ? (uint64_t)1 << (x->bits - 1) : 0;
    c->complement = x->swapped;
    c->is_equal = x->is_equal;
    switch (x->compare) {
    case NODE_EQ: c->compare = NODE_EQ; break;
    case NODE_ULT:
    case NODE_SLT: c->compare = NODE_ULT; break;
    default: c->compare = NODE_ULE;
    }
    if (!values_of_linear(v, &x->start, &c->start) || !values_of_linear(v, &x->step, &c->step) ||
        !values_of_linear(v, &x->limit, &c->limit))
        return false;
    uint64_t step = c->step.constant & c->mask;
    if (step > c->mask >> 1)
        step = -step & c->mask;
    if (c->compare != NODE_EQ || c->step.slot != REG_ZERO || !step)
        return true;
    c->shift = (uint8_t)__builtin_ctzll(step);
    c->most = c->mask / step;
    const uint64_t odd = step >> c->shift;
    c->inverse = odd;
    for (unsigned bits = 3; bits < 64; bits *= 2) // Newton: each time twice as many bits are right
        c->inverse *= 2 - odd * c->inverse;
    return true;
}

static const char *add_exits(struct prover *v)
{
    struct guard *g = v->g;
    const struct loop_summary *s = v->s;
    for (unsigned i = 0; i < s->exit_count; i++) {
        const struct loop_exit *x = &s->exits[i];
        const struct node *length = &s->nodes[x->length];
        struct guard_exit *to = &g->exits[g->exit_count++];
        if (length->kind != NODE_CONSTANT && !x->at_end)
            return "the length of its last iteration depends on the path";
        to->at_end = x->at_end;
        to->accesses_before = x->accesses_before;
        to->length = (uint32_t)length->value;
        if (x->counted) {
            to->kind = EXIT_COUNTED;
            if (!add_counted(v, x, &to->trip_count))
                return "its iterations cannot be counted at the entry";
        } else if (v->shape[x->condition] == SHAPE_FIXED) {
            to->kind = EXIT_FIXED;
            if (!values_at_entry(v, x->condition, &to->condition))
                return "an exit that is not known at the entry";
        } else {
            to->kind = EXIT_FOUND;
            g->finds = true;
        }
    }
    return NULL;
}

// Registers in closed form are brought up to date when the kernel is done.
static bool add_inductions(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    for (unsigned i = 0; i <= REG_SP; i++) {
        if (s->vars[i].shape != VAR_AFFINE)
            continue;
        struct induction *a = &p->inductions[p->induction_count++];
        a->reg = (uint8_t)i;
        a->mask = UINT64_MAX >> (64 - s->vars[i].bits);
        if (!values_of_linear(v, &s->vars[i].step, &a->step))
            return false;
    }
    return true;
}

// node is used as it is: if it is a register that counts in 32 bits, its upper half has to be zero at the
// entry, too.
static void note_use(struct prover *v, unsigned node)
{
    const struct node *n = &v->s->nodes[node];
    if (n->kind == NODE_VAR && n->a <= REG_SP && v->s->vars[n->a].shape == VAR_AFFINE &&
        v->s->vars[n->a].bits == 32)
        v->g->zero_upper |= (uint32_t)1 << n->a;
}

static void note_uses(struct prover *v)
{
    const struct loop_summary *s = v->s;
    for (unsigned i = 0; i < s->node_count; i++) {
        const struct node *n = &s->nodes[i];
        if (n->kind < NODE_ADD || (n->kind == NODE_TRUNC && n->bits <= 32))
            continue;
        note_use(v, n->a);
        if (n->kind < NODE_ZEXT)
            note_use(v, n->b);
        if (n->kind == NODE_SELECT)
            note_use(v, n->c);
    }
    for (unsigned i = 0; i < s->access_count; i++) {
        note_use(v, s->accesses[i].address);
        if (s->accesses[i].is_store)
            note_use(v, s->accesses[i].value);
    }
    for (unsigned i = 0; i <= REG_SP; i++)
        if (s->vars[i].shape == VAR_CARRIED)
            note_use(v, s->vars[i].value);
}

// What the ranges belong to.
static void add_accesses(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct guard *g = v->g;
    g->access_count = s->access_count;
    for (unsigned i = 0; i < s->access_count && v->range_of[i]; i++)
        g->accesses[i] = (struct guard_access){.pc = s->accesses[i].pc,
                                               .size = s->accesses[i].size,
                                               .range = (uint8_t)(v->range_of[i] - 1),
                                               .is_always = match_always(s, s->accesses[i].condition)};
}

// Whether two streams always overlap too soon.
static bool always_aliases(const struct access_range *x, const struct access_range *y, bool swapped)
{
    if (x->base.slot != y->base.slot || x->step.slot != REG_ZERO || y->step.slot != REG_ZERO ||
        x->step.constant != y->step.constant)
        return false;
    int64_t away = (int64_t)(x->base.constant - y->base.constant), far = (int64_t)1 << 40;
    if (away > far || away < -far || (int64_t)x->step.constant > far || (int64_t)x->step.constant < -far)
        return false;
    return guard_alias_distance(x, y, away, (int64_t)x->step.constant, swapped) < BATCH_LEAST;
}

static const char *add_alias_checks(struct prover *v)
{
    struct guard *g = v->g;
    const bool in_order = v->p->kernel.run == lookup_run; // the kernel stores as the program does
    for (unsigned i = 0; i < g->range_count; i++) {
        for (unsigned j = 0; j < g->range_count; j++) {
            const struct access_range *x = &g->ranges[i], *y = &g->ranges[j];
            bool streams = x->is_stream && y->is_stream;
            if (x->number >= y->number || !(x->is_store || y->is_store) ||
                (in_order && x->is_store && y->is_store) || (v->p->class == LOOP_SORT_PASS && streams))
                continue;
            if (g->alias_check_count == ALIAS_CHECKS)
                return "too many accesses";
            struct alias_check *check = &g->alias_checks[g->alias_check_count++];
            *check = (struct alias_check){(uint8_t)i, (uint8_t)j, !streams || in_order, false};
            // What is looked for is loaded before anything is stored.
            check->strict |= g->finds && x->is_store;
            if (v->loads_first && x->is_store && !y->is_store)
                *check = (struct alias_check){(uint8_t)j, (uint8_t)i, check->strict, true};
            if (streams &&
                always_aliases(&g->ranges[check->earlier], &g->ranges[check->later], check->swapped))
                return "an iteration needs what the one before has stored";
        }
    }
    return NULL;
}

// How many iterations it takes until a plan pays. Measured, in nanoseconds: what a guard takes and what each
// operation of a lane program takes for up to 32 iterations; an instruction of the plain loop takes about
// one.
enum { GUARD_NS = 40, FAST_GUARD_NS = 22, BATCH_NS = 20, LANE_OP_NS = 4, PATH_NS = 150 };

static unsigned mean_length(const struct loop_summary *s)
{
    return s->length ? s->length : (s->branch - s->header) / 4 + 1;
}

static void set_cost(struct loop_plan *p, const struct loop_summary *s, unsigned operations)
{
    p->cost = GUARD_NS + (operations ? BATCH_NS + LANE_OP_NS * operations : 0) + (s->length ? 0 : PATH_NS);
}

static const char *build_batch(struct prover *v)
{
    struct kernel *k = &v->p->kernel;
    const char *reason = "no memory";
    k->batch = calloc(1, sizeof *k->batch);
    if (!k->batch || !widen_loop(v, k->batch, &reason))
        return reason;
    const bool scans = k->batch->scan.count > 0;
    set_cost(v->p, v->s, (scans ? 0 : k->batch->find.op_count) + k->batch->run.op_count);
    k->run = k->batch->run.op_count ? batch_run : kernel_run_nothing;
    return NULL;
}

static const char *build_sort(struct prover *v)
{
    struct kernel *k = &v->p->kernel;
    k->sort = calloc(1, sizeof *k->sort);
    if (!k->sort || v->g->finds || !match_sort(v, k->sort))
        return "no kernel for this form of exchange";
    k->run = sort_run;
    return NULL;
}

static const char *build_list(struct prover *v)
{
    struct kernel *k = &v->p->kernel;
    k->list = calloc(1, sizeof *k->list);
    if (!k->list || !match_list(v, k->list))
        return "no kernel for this form of list";
    k->run = list_run;
    return NULL;
}

// Nothing but streams and registers in closed form: else a lane program is needed in any case.
static bool is_simple(const struct prover *v)
{
    return v->s->length && !v->g->finds && !v->loads_first;
}

static const char *build_kernel(struct prover *v)
{
    struct loop_plan *p = v->p;
    struct kernel *k = &p->kernel;
    set_cost(v->p, v->s, 0);
    if (k->block)
        k->run = block_run;
    if (k->run)
        return NULL;
    switch (p->class) {
    case LOOP_FILL:
    case LOOP_COPY:
    case LOOP_STRIDED_COPY: return is_simple(v) && match_streams(v) ? NULL : build_batch(v);
    case LOOP_SORT_PASS: return build_sort(v);
    case LOOP_LIST_WALK: return build_list(v);
    default: return build_batch(v);
    }
}

static bool add_history(struct loop_plan *p)
{
    p->history = calloc(1, sizeof *p->history);
    return p->history;
}

// Whether it takes the state to tell how long an iteration is.
static bool lengths_vary(const struct guard *g)
{
    bool vary = !g->length;
    for (unsigned i = 0; i < g->exit_count; i++)
        vary |= !g->exits[i].length;
    return vary;
}

static bool keep_summary(struct prover *v)
{
    v->p->summary = malloc(sizeof *v->p->summary);
    if (v->p->summary)
        *v->p->summary = *v->s;
    return v->p->summary;
}

// Of a loop that waits: there is nothing to replace.
static const char *build_poll(struct prover *v)
{
    const char *reason = match_poll(v);
    return reason ? reason : add_history(v->p) && keep_summary(v) ? NULL : "no memory";
}

static const char *build(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    struct guard *g = v->g;
    for (unsigned i = 0; i < s->access_count; i++)
        if (s->accesses[i].alignment > 1)
            return "an access that has to be aligned";
    const char *reason = add_exits(v);
    if (reason)
        return reason;
    g->exit_ops = g->op_count;
    g->counts = !g->finds;
    for (unsigned i = 0; i < g->exit_ops; i++)
        g->counts &= g->ops[i].kind != NODE_LOAD;
    if (!add_inductions(v))
        return "a step that is not known at the entry";
    note_uses(v);
    for (unsigned i = 0; i < s->access_count; i++)
        if (p->class != LOOP_LIST_WALK && !values_add_range(v, i))
            return "an address that is not known at the entry";
    for (unsigned i = 0; i < s->access_count; i++)
        g->stores |= s->accesses[i].is_store;
    for (unsigned i = 0; i <= REG_SP; i++)
        v->loads_first |= v->reduced[i];
    if (p->class == LOOP_COPY && p->guard.length && !g->finds)
        p->kernel.block = match_block(v);
    if ((p->class == LOOP_COLUMN || p->class == LOOP_SPAN) && is_simple(v))
        match_lookup(v);
    if (!p->kernel.block) {
        add_accesses(v);
        reason = add_alias_checks(v);
    }
    if (!add_history(p))
        return "no memory";
    if (!reason)
        reason = build_kernel(v);
    if (!reason) {
        fast_plan_make(p);
        p->cost -= p->fast.valid ? GUARD_NS - FAST_GUARD_NS : 0;
        g->least = p->fast.least = p->cost / mean_length(s) + 1;
    }
    if (reason || !lengths_vary(g))
        return reason;
    return keep_summary(v) ? NULL : "no memory";
}

static const char *const other_class[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) "the nets guessed wrong, its kind is: " name,
#include "core/loops/propose/loop_classes.def"
#undef LOOP_CLASS
};

enum loop_class prove_class(const struct loop_summary *s)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *scratch = calloc(1, sizeof *scratch);
    enum loop_class class = LOOP_OTHER;
    if (v && scratch) {
        reductions_begin(v, s, scratch);
        class = match_class(v);
    }
    free(scratch);
    free(v);
    return class;
}

struct loop_plan *prove_plan(const struct loop_summary *s, enum loop_class proposed, const char **reason)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *p = calloc(1, sizeof *p);
    *reason = "no memory";
    if (v && p) {
        p->class = prove_class(s);
        p->guard.header = s->header;
        p->guard.branch = s->branch;
        p->guard.length = s->length;
        reductions_begin(v, s, p);
        if (p->class != proposed)
            *reason = other_class[p->class];
        else if (p->class == LOOP_POLL)
            *reason = build_poll(v);
        else if (p->class == LOOP_OTHER || p->class == LOOP_NONE)
            *reason = "no kernel";
        else
            *reason = build(v);
    }
    free(v);
    if (!*reason)
        return p;
    plan_free(p);
    return NULL;
}
