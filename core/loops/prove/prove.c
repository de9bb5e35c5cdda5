// SPDX-License-Identifier: MIT
// From a summary to a plan: what class of loop it is, and what has to hold at its entry.
#include <stdlib.h>
#include <string.h>

#include "core/loops/kernels/block.h"
#include "guard.h"
#include "core/loops/kernels/kernels.h"
#include "core/loops/kernels/kernels_batch.h"
#include "core/loops/kernels/list.h"
#include "poll.h"
#include "short.h"
#include "core/loops/kernels/sort.h"

// ---- the plan ----

static bool add_counted(struct prover *v, const struct loop_exit *x, struct counted *c)
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
    struct loop_plan *p = v->p;
    const struct loop_summary *s = v->s;
    for (unsigned i = 0; i < s->exit_count; i++) {
        const struct loop_exit *x = &s->exits[i];
        const struct node *length = &s->nodes[x->length];
        struct plan_exit *to = &p->exits[p->exit_count++];
        if (length->kind != NODE_CONSTANT && !x->at_end)
            return "the length of its last iteration depends on the path";
        to->at_end = x->at_end;
        to->accesses_before = x->accesses_before;
        to->length = (uint32_t)length->value;
        if (x->counted) {
            to->kind = EXIT_COUNTED;
            if (!add_counted(v, x, &to->counted))
                return "its iterations cannot be counted at the entry";
        } else if (v->shape[x->condition] == SHAPE_FIXED) {
            to->kind = EXIT_FIXED;
            if (!values_at_entry(v, x->condition, &to->condition))
                return "an exit that is not known at the entry";
        } else {
            to->kind = EXIT_FOUND;
            p->finds = true;
        }
    }
    return NULL;
}

// Registers in closed form are advanced.
static bool add_advances(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    for (unsigned i = 0; i <= REG_SP; i++) {
        if (s->vars[i].shape != VAR_AFFINE)
            continue;
        struct advance *a = &p->advances[p->advance_count++];
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
        v->p->narrow |= (uint32_t)1 << n->a;
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

// Whether two streams always meet too soon.
static bool always_meets(const struct reach *x, const struct reach *y, bool swapped)
{
    if (x->base.slot != y->base.slot || x->step.slot != REG_ZERO || y->step.slot != REG_ZERO ||
        x->step.constant != y->step.constant)
        return false;
    int64_t away = (int64_t)(x->base.constant - y->base.constant), far = (int64_t)1 << 40;
    if (away > far || away < -far || (int64_t)x->step.constant > far || (int64_t)x->step.constant < -far)
        return false;
    return guard_meeting_distance(x, y, away, (int64_t)x->step.constant, swapped) < BATCH_LEAST;
}

static const char *add_pairs(struct prover *v)
{
    struct loop_plan *p = v->p;
    bool in_order = p->class == LOOP_COLUMN || p->class == LOOP_SPAN; // the kernel stores as the program does
    for (unsigned i = 0; i < p->reach_count; i++) {
        for (unsigned j = 0; j < p->reach_count; j++) {
            const struct reach *x = &p->reaches[i], *y = &p->reaches[j];
            bool streams = x->is_stream && y->is_stream;
            if (x->number >= y->number || !(x->is_store || y->is_store) ||
                (in_order && x->is_store && y->is_store) || (p->class == LOOP_SORT_PASS && streams))
                continue;
            if (p->pair_count == PAIRS)
                return "too many accesses";
            struct pair *pair = &p->pairs[p->pair_count++];
            *pair = (struct pair){(uint8_t)i, (uint8_t)j, !streams || in_order, false};
            // What is looked for is loaded before anything is stored.
            pair->strict |= p->finds && x->is_store;
            if (p->loads_first && x->is_store && !y->is_store)
                *pair = (struct pair){(uint8_t)j, (uint8_t)i, pair->strict, true};
            if (streams && always_meets(&p->reaches[pair->earlier], &p->reaches[pair->later], pair->swapped))
                return "an iteration needs what the one before has stored";
        }
    }
    return NULL;
}

static bool build_lookup(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    struct lookup *l = &p->lookup;
    struct chain chain = {0};
    for (unsigned i = 0; i < s->access_count; i++) {
        if (!form_is_always(s, s->accesses[i].condition))
            return false;
        if (!s->accesses[i].is_store)
            continue;
        const struct reach *r = &p->reaches[v->reach_of[i] - 1], *first = &p->reaches[l->store[0]];
        if (l->stores == 2 || !form_chain(v, &s->accesses[i], &chain) || !chain.bytes)
            return false;
        if (l->stores && (v->same[s->accesses[i].value] != v->same[s->accesses[first->number].value] ||
                          r->step.slot != first->step.slot || r->step.constant != first->step.constant))
            return false;
        l->store[l->stores++] = (uint8_t)(v->reach_of[i] - 1);
    }
    const struct node *root = &s->nodes[chain.index.root];
    unsigned bits = root->kind == NODE_VAR ? s->vars[root->a].bits : root->bits;
    if (chain.index.count > 2 || (chain.index.is_signed && chain.index.field[0].to) ||
        !values_at_entry(v, chain.index.root, &l->r) ||
        !values_step(v, chain.index.root, bits, 0, &l->r_step))
        return false;
    l->index = chain.index.is_signed ? INDEX_SIGNED : chain.index.count == 1 ? INDEX_ONE : INDEX_TWO;
    for (unsigned i = 0; i < chain.index.count; i++) {
        unsigned from = chain.index.field[i].from, to = chain.index.field[i].to;
        if (from < to)
            return false;
        l->shift[i] = (uint8_t)(from - to);
        l->mask[i] = UINT64_MAX >> (64 - chain.index.field[i].width) << to;
    }
    if (chain.index.is_signed) {
        l->shift[0] = (uint8_t)(64 - chain.index.field[0].width);
        l->shift[1] = (uint8_t)(l->shift[0] - chain.index.field[0].from);
    }
    l->tables = (uint8_t)chain.levels;
    for (unsigned i = 0; i < chain.levels; i++)
        l->table[i] = chain.table[chain.levels - 1 - i];
    kernel_choose_lookup(p);
    return true;
}

static uint64_t run_nothing(const struct loop_plan *p, const struct entry *e, uint64_t *x)
{
    (void)x;
    return e->count * p->length;
}

// How many iterations it takes until a plan pays. Measured, in nanoseconds: what a guard takes and what each
// operation of a lane program takes for up to 32 iterations; an instruction of the plain loop takes about
// one.
enum { GUARD_NS = 40, SHORT_GUARD_NS = 22, BATCH_NS = 20, LANE_OP_NS = 4, PATH_NS = 150 };

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
    struct loop_plan *p = v->p;
    const char *reason = "no memory";
    p->batch = calloc(1, sizeof *p->batch);
    if (!p->batch || !batch_build(v, p->batch, &reason))
        return reason;
    const bool scans = p->batch->scan.count > 0;
    set_cost(p, v->s, (scans ? 0 : p->batch->find.op_count) + p->batch->run.op_count);
    p->run = p->batch->run.op_count ? batch_run : run_nothing;
    return NULL;
}

// Fills, and copies of one stream to another, go without a lane program unless exits have to be looked for.
static bool build_streams(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    unsigned loads = 0;
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct access *a = &s->accesses[i];
        const struct reach *r = &p->reaches[v->reach_of[i] - 1];
        if (!form_is_always(s, a->condition) || a->size > 8 || (!r->is_stream && !r->at_entry))
            return false;
        loads += !a->is_store && !r->at_entry;
        if (!a->is_store)
            continue;
        struct stream *to = &p->streams[p->stream_count++];
        int load = form_load(s, a->value);
        to->store = (uint8_t)(v->reach_of[i] - 1);
        if (p->stream_count == STREAMS)
            return false;
        const struct node *value = &s->nodes[a->value]; // no more than its low bits are stored
        if (p->class == LOOP_FILL &&
            !values_at_entry(v, value->kind == NODE_TRUNC ? value->a : a->value, &to->value))
            return false;
        if (p->class != LOOP_FILL && load < 0)
            return false;
        if (p->class != LOOP_FILL)
            to->load = (uint8_t)(v->reach_of[load] - 1);
    }
    if (p->class == LOOP_FILL)
        kernel_choose_fill(p);
    else if (p->stream_count == 1 && loads == 1)
        kernel_choose_copy(p);
    return p->run != NULL;
}

static const char *build_sort(struct prover *v)
{
    struct loop_plan *p = v->p;
    p->sort = calloc(1, sizeof *p->sort);
    if (!p->sort || p->finds || !sort_form(v, p->sort))
        return "no kernel for this form of exchange";
    p->run = sort_run;
    return NULL;
}

static uint64_t run_list(const struct loop_plan *p, const struct entry *e, uint64_t *x)
{
    x[p->list->reg] = e->exit->at_end ? e->present_item : e->previous_item;
    return e->count * p->length;
}

static const char *build_list(struct prover *v)
{
    struct loop_plan *p = v->p;
    p->list = calloc(1, sizeof *p->list);
    if (!p->list || !list_form(v, p->list))
        return "no kernel for this form of list";
    p->run = run_list;
    return NULL;
}

static const char *build_kernel(struct prover *v)
{
    struct loop_plan *p = v->p;
    // Nothing but streams and registers in closed form: else a lane program is needed in any case.
    bool simple = v->s->length && !p->finds && !p->loads_first;
    set_cost(p, v->s, 0);
    if (p->block) {
        p->run = block_run;
        return NULL;
    }
    switch (p->class) {
    case LOOP_COLUMN:
    case LOOP_SPAN: return simple && build_lookup(v) ? NULL : build_batch(v);
    case LOOP_FILL:
    case LOOP_COPY:
    case LOOP_STRIDED_COPY: return simple && build_streams(v) ? NULL : build_batch(v);
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
    const char *reason = poll_form(v);
    return reason ? reason : add_history(v->p) && keep_summary(v) ? NULL : "no memory";
}

static const char *build(struct prover *v)
{
    const struct loop_summary *s = v->s;
    struct loop_plan *p = v->p;
    p->length = s->length;
    for (unsigned i = 0; i < s->access_count; i++)
        if (s->accesses[i].alignment > 1)
            return "an access that has to be aligned";
    const char *reason = add_exits(v);
    if (reason)
        return reason;
    p->exit_ops = p->op_count;
    p->counts = !p->finds;
    for (unsigned i = 0; i < p->exit_ops; i++)
        p->counts &= p->ops[i].kind != NODE_LOAD;
    if (!add_advances(v))
        return "a step that is not known at the entry";
    note_uses(v);
    for (unsigned i = 0; i < s->access_count; i++)
        if (p->class != LOOP_LIST_WALK && !values_add_reach(v, i))
            return "an address that is not known at the entry";
    for (unsigned i = 0; i < s->access_count; i++)
        p->stores |= s->accesses[i].is_store;
    for (unsigned i = 0; i <= REG_SP; i++)
        p->loads_first |= v->reduced[i];
    if (p->class == LOOP_COPY && p->length && !p->finds)
        p->block = block_make(v);
    if (!p->block)
        reason = add_pairs(v);
    if (!add_history(p))
        return "no memory";
    if (!reason)
        reason = build_kernel(v);
    if (!reason) {
        short_make(p);
        p->cost -= p->brief.valid ? GUARD_NS - SHORT_GUARD_NS : 0;
        p->least = p->brief.least = p->cost / mean_length(s) + 1;
    }
    if (reason || p->length)
        return reason;
    return keep_summary(v) ? NULL : "no memory";
}

static const char *const other_class[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) "the code is something else: " name,
#include "core/loops/propose/loop_classes.def"
#undef LOOP_CLASS
};

enum loop_class plan_class_of(const struct loop_summary *s)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *scratch = calloc(1, sizeof *scratch);
    enum loop_class class = LOOP_OTHER;
    if (v && scratch) {
        forms_begin(v, s, scratch);
        class = form_class(v);
    }
    free(scratch);
    free(v);
    return class;
}

struct loop_plan *plan_make(const struct loop_summary *s, enum loop_class proposed, const char **reason)
{
    struct prover *v = malloc(sizeof *v);
    struct loop_plan *p = calloc(1, sizeof *p);
    *reason = "no memory";
    if (v && p) {
        p->class = plan_class_of(s);
        forms_begin(v, s, p);
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

void plan_free(struct loop_plan *p)
{
    if (!p)
        return;
    free(p->history);
    free(p->block);
    free(p->batch);
    free(p->sort);
    free(p->list);
    free(p->summary);
    free(p);
}
