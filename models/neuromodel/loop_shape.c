// SPDX-License-Identifier: MIT
#include "loop_shape.h"

#include <stdlib.h>
#include <string.h>

#include "loop_walk.h"

static const struct value unknown = {V_OTHER, 0, 0}, made = {V_MADE, 0, 0};

// ---- ways ----

static bool same_value(struct value a, struct value b)
{
    return a.kind == b.kind && a.id == b.id && a.offset == b.offset;
}

static struct value either(struct value a, struct value b, bool data)
{
    if (same_value(a, b))
        return a;
    return data || hangs_on_data(a) || hangs_on_data(b) ? made : unknown;
}

static void join_ways(struct walk *w, uint32_t pc)
{
    for (unsigned i = 0; i < w->way_count; i++) {
        const struct way *way = &w->ways[i];
        if (way->to != pc)
            continue;
        for (unsigned v = 0; v < VARIABLES; v++)
            w->now[v] = w->dead ? way->now[v] : either(w->now[v], way->now[v], way->data);
        for (unsigned k = 0; k < 2; k++)
            w->compared[k] = w->dead ? way->compared[k] : either(w->compared[k], way->compared[k], way->data);
        w->dead = false;
    }
}

static void branch_within(struct walk *w, uint32_t target, bool data)
{
    if (w->way_count == WAYS) {
        w->shape->strange = true;
        return;
    }
    struct way *way = &w->ways[w->way_count++];
    way->to = target;
    way->data = data;
    memcpy(way->now, w->now, sizeof way->now);
    memcpy(way->compared, w->compared, sizeof way->compared);
}

// Where the branch at pc leads.
static uint32_t target_of(const struct code_insn *branch, uint32_t pc)
{
    return pc + 4 * (uint32_t)branch->target;
}

static bool leads_back(const struct walk *w, uint32_t pc)
{
    return pc >= w->header && pc <= w->last && w->back[(pc - w->header) / 4];
}

static bool always_jumps(const struct code_insn *i)
{
    return (i->kind == CODE_BRANCH && !i->conditional) || i->id == INSN_br || i->id == INSN_ret;
}

static void find_ways_back(struct walk *w, unsigned length)
{
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = length; i-- > 0;) {
            const struct code_insn *insn = &w->insn[i];
            uint32_t pc = w->header + 4 * i;
            bool branches = insn->kind == CODE_BRANCH && leads_back(w, target_of(insn, pc));
            bool back = pc == w->last || insn->id == INSN_br || branches ||
                        (!always_jumps(insn) && leads_back(w, pc + 4));
            more |= back && !w->back[i];
            w->back[i] = back;
        }
    }
}

// ---- exits ----

// What the exit at pc hangs on, which is compared with limit.
static void note_exit(struct walk *w, uint32_t pc, struct value v, struct value limit)
{
    struct loop_shape *s = w->shape;
    struct shape_exit exit = {.pc = pc, .kind = SHAPE_EXIT_UNKNOWN, .counter = 31};
    if (!w->second)
        return;
    struct value counter = counts(w, v) ? v : limit;
    if (hangs_on_data(v) || hangs_on_data(limit) || pc < w->data_until) {
        exit.kind = SHAPE_EXIT_DATA;
    } else if (counts(w, counter)) {
        exit.kind = w->step[counter.id] > 0 ? SHAPE_EXIT_UP : SHAPE_EXIT_DOWN;
        exit.counter = counter.id < 31 ? counter.id : 31;
    } else if (is_fixed(w, v) && is_fixed(w, limit)) {
        exit.kind = SHAPE_EXIT_FIXED;
    }
    if (s->exit_count < SHAPE_EXITS)
        s->exits[s->exit_count++] = exit;
    else
        s->strange = true;
}

// The exit at the end counts, or else the first one that does.
static void conclude(struct loop_shape *s, uint32_t last)
{
    const struct shape_exit *counted = NULL;
    for (unsigned i = 0; i < s->exit_count; i++) {
        const struct shape_exit *exit = &s->exits[i];
        bool counts = exit->kind == SHAPE_EXIT_UP || exit->kind == SHAPE_EXIT_DOWN;
        s->strange |= exit->kind == SHAPE_EXIT_UNKNOWN;
        s->counted &= exit->kind != SHAPE_EXIT_DATA;
        if (counts && (!counted || exit->pc == last))
            counted = exit;
    }
    s->counter = counted ? counted->counter : 31;
    if (!s->counted)
        s->type = LOOP_TYPE_DATA;
    else if (counted)
        s->type = counted->kind == SHAPE_EXIT_UP ? LOOP_TYPE_UP : LOOP_TYPE_DOWN;
}

static bool is_system(const struct code_insn *i)
{
    return isa_info[i->id].group == GROUP_SYSTEM;
}

// Anything that leaves the code and may come back, and what the system registers or caches are asked for.
static bool is_call(const struct code_insn *i)
{
    switch (i->id) {
    case INSN_ret:
    case INSN_dc_zva:
    case INSN_hint:
    case INSN_clrex:
    case INSN_dsb:
    case INSN_dmb:
    case INSN_isb: return false;
    default: return i->kind == CODE_LEAVES || is_system(i);
    }
}

static void walk_other(struct walk *w, const struct code_insn *i)
{
    if (i->id == INSN_dc_zva)
        walk_count_access(w, walk_read(w, i->var[CODE_D]), false, (struct value){V_CONSTANT, 0, 0});
    // Of the other registers that a function may change, compilers use those that they know it leaves
    // alone.
    if (is_call(i)) {
        w->shape->calls = w->shape->comes_to_call = true;
        w->now[0] = made;
        w->now[30] = unknown;
    }
}

static bool holds(unsigned condition, unsigned nzcv)
{
    bool n = nzcv >> 3 & 1, z = nzcv >> 2 & 1, c = nzcv >> 1 & 1, v = nzcv & 1;
    const bool even[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
    return even[condition >> 1 & 7] != (condition & 1);
}

// Whether the branch leaves as soon as one of the two comparisons of a chain wants it.
static bool leaves_by_either(const struct walk *w, const struct code_insn *branch, bool if_taken)
{
    return w->chained && holds(branch->condition, w->otherwise) == if_taken;
}

static void walk_branch(struct walk *w, const struct code_insn *i, uint32_t pc)
{
    uint32_t target = target_of(i, pc);
    if (target >= w->header && target <= pc && pc != w->last)
        w->shape->inner = true;
    struct value v = i->reads_flags ? w->compared[0] : walk_read(w, i->var[CODE_D]);
    struct value limit = i->reads_flags ? w->compared[1] : (struct value){V_CONSTANT, 0, 0};
    bool data = hangs_on_data(v) || hangs_on_data(limit), always = !i->conditional;
    bool goes = pc == w->last || leads_back(w, target), stays = pc != w->last && leads_back(w, pc + 4);
    bool is_exit = !always && goes != stays;
    if (is_exit && i->reads_flags && leaves_by_either(w, i, stays)) {
        note_exit(w, pc, w->before[0], w->before[1]);
        note_exit(w, pc, w->after[0], w->after[1]);
    } else if (is_exit) {
        note_exit(w, pc, v, limit);
    }
    if (goes && target > pc && pc != w->last)
        branch_within(w, target, data && !always);
    bool skips = always ? pc < w->data_until : data && goes && stays;
    if (skips && goes && target > w->data_until)
        w->data_until = target;
    w->dead |= pc != w->last && (always || !stays);
}

static void walk_body(struct walk *w)
{
    for (unsigned v = 0; v < VARIABLES; v++)
        w->now[v] = (struct value){V_PLUS, v, 0};
    w->compared[0] = w->compared[1] = unknown;
    w->way_count = 0;
    w->data_until = 0;
    w->dead = w->chained = false;
    for (uint32_t pc = w->header; pc <= w->last; pc += 4) {
        const struct code_insn *i = &w->insn[(pc - w->header) / 4];
        join_ways(w, pc);
        if (w->dead) {
            w->shape->loops &= pc != w->last;
            w->shape->calls |= is_call(i);
            w->shape->returns |= i->id == INSN_ret;
            continue;
        }
        if (i->kind == CODE_BRANCH)
            walk_branch(w, i, pc);
        else if (i->known && (i->kind == CODE_LEAVES || is_system(i)))
            walk_other(w, i);
        else
            walk_instruction(w, i);
    }
}

void loop_shape_of(uint32_t header, const uint32_t *words, unsigned length, struct loop_shape *shape)
{
    struct walk w = {.shape = shape, .header = header, .last = header + 4 * (length - 1)};
    *shape = (struct loop_shape){.type = LOOP_TYPE_NONE, .counter = 31, .counted = true};
    for (unsigned i = 0; i < length; i++)
        code_decode(words[i], &w.insn[i]);
    const struct code_insn *last = &w.insn[length - 1];
    shape->loops = last->kind == CODE_BRANCH && target_of(last, w.last) == header;
    find_ways_back(&w, length);
    // An address may hang on a step that is found only behind it: from the second time on all are known.
    for (unsigned pass = 0; pass < 3; pass++) {
        w.second = pass == 2;
        walk_body(&w);
        for (unsigned v = 0; v < VARIABLES; v++) {
            w.affine[v] = w.now[v].kind == V_PLUS && w.now[v].id == v;
            w.step[v] = w.affine[v] ? w.now[v].offset : 0;
            w.loaded_before[v] = w.now[v].kind == V_LOADED;
            if (w.second && w.now[v].kind == V_LOADED && w.now[v].id == v + 1)
                shape->chases = true;
        }
    }
    conclude(shape, w.last);
}

bool loop_shape_allows(const struct loop_shape *s, enum loop_class class)
{
    bool data = s->type == LOOP_TYPE_DATA, stores = s->stores > 0;
    unsigned moving = s->loads - s->fixed_loads;
    if (!s->loops || s->inner)
        return false;
    if (s->calls || class == LOOP_NONE)
        return s->calls && class == LOOP_NONE;
    switch (class) {
    case LOOP_FILL: return stores && s->same_stores + s->other_stores == s->stores && moving == 0 && !data;
    case LOOP_COPY:
    case LOOP_STRIDED_COPY: return s->copy_stores == s->stores && stores && s->gathers == 0 && !data;
    case LOOP_COLUMN:
    case LOOP_SPAN: return stores && s->loads && (s->gathers || s->loose_loads) && !data;
    case LOOP_MAP: return stores && moving && !data;
    case LOOP_REDUCTION: return s->loads && s->stores == s->fixed_stores && !s->chases;
    case LOOP_SCAN:
    case LOOP_SEARCH: return moving && !stores && data && !s->chases;
    case LOOP_COMPARE: return moving > 1 && !stores && data && !s->chases;
    case LOOP_SORT_PASS: return moving && stores;
    case LOOP_POLL: return s->loads && moving == 0 && !stores && data;
    case LOOP_COUNTDOWN: return s->loads == 0 && !stores && !data;
    case LOOP_LIST_WALK: return s->chases || s->gathers || s->loose_loads;
    default: return true;
    }
}
