// SPDX-License-Identifier: MIT
// Runs the body of a loop once on symbols. Branches inside make the run go both ways: each way carries the
// condition under which it is taken, and where ways meet, values are chosen by it.
#include "semantics.h"
#include "symbolic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 16 };

// A way through the body that waits for the run to come to target.
struct way {
    uint32_t target;
    uint16_t condition;
    uint16_t state[LOOP_VARS];
};

struct body {
    struct iteration it;
    struct way ways[WAYS];
    unsigned way_count;
};

static uint16_t both(struct iteration *it, uint16_t a, uint16_t b)
{
    return symbol_make(&it->s, NODE_AND, 1, a, b, 0);
}

// Joins what waits for this pc with the present way.
static void join(struct body *b, uint32_t pc)
{
    struct iteration *it = &b->it;
    for (unsigned w = 0; w < b->way_count; w++) {
        const struct way *way = &b->ways[w];
        if (way->target != pc)
            continue;
        if (symbol_is(&it->s, it->path, 0)) {
            memcpy(it->state, way->state, sizeof it->state);
        } else {
            for (unsigned v = 0; v < LOOP_VARS; v++)
                it->state[v] = symbol_make(&it->s, NODE_SELECT, it->s.nodes[it->state[v]].bits,
                                           way->condition, way->state[v], it->state[v]);
        }
        it->path = symbol_make(&it->s, NODE_OR, 1, it->path, way->condition, 0);
    }
}

static void branch_within(struct body *b, uint32_t target, uint16_t condition)
{
    if (symbol_is(&b->it.s, condition, 0))
        return;
    if (b->way_count == WAYS) {
        b->it.reason = "too many branches";
        return;
    }
    struct way *way = &b->ways[b->way_count++];
    way->target = target;
    way->condition = condition;
    memcpy(way->state, b->it.state, sizeof way->state);
}

// The parts of a condition that holds if one of them does; returns how many, or more than max.
static unsigned split(struct symbols *s, uint16_t condition, uint16_t *parts, unsigned count, unsigned max)
{
    struct node n = s->nodes[condition];
    bool is_negation = n.kind == NODE_XOR && symbol_is(s, n.b, 1);
    struct node negated = s->nodes[is_negation ? n.a : condition];
    if (n.kind == NODE_OR)
        return split(s, n.b, parts, split(s, n.a, parts, count, max), max);
    if (is_negation && negated.kind == NODE_AND)
        return split(s, symbol_not(s, negated.b), parts,
                     split(s, symbol_not(s, negated.a), parts, count, max), max);
    if (count < max)
        parts[count] = condition;
    return count + 1;
}

static void leave(struct body *b, uint32_t target, uint16_t condition, bool at_end)
{
    struct loop_summary *out = b->it.out;
    uint16_t parts[SUMMARY_EXITS] = {condition};
    unsigned room = SUMMARY_EXITS - out->exit_count;
    if (symbol_is(&b->it.s, condition, 0))
        return;
    if (room == 0) {
        b->it.reason = "too many exits";
        return;
    }
    unsigned count = split(&b->it.s, condition, parts, 0, room);
    if (count > room) {
        parts[0] = condition;
        count = 1;
    }
    for (unsigned k = 0; k < count; k++)
        out->exits[out->exit_count++] = (struct loop_exit){.pc = b->it.pc,
                                                           .target = target,
                                                           .condition = parts[k],
                                                           .accesses_before = out->access_count,
                                                           .length = b->it.state[LOOP_VAR_LENGTH],
                                                           .at_end = at_end};
}

// taken: under what condition, apart from the path.
static void branch(struct body *b, uint32_t target, uint16_t taken)
{
    struct iteration *it = &b->it;
    uint32_t header = it->out->header, last = it->out->branch;
    uint16_t goes = both(it, it->path, taken), stays = both(it, it->path, symbol_not(&it->s, taken));
    if (it->pc == last) {
        leave(b, last + 4, stays, true);
        it->path = goes;
    } else if (target < header || target > last) {
        // After it the run goes on for those iterations that have not left: their path stays what it was,
        // unless all of them leave.
        leave(b, target, goes, false);
        if (symbol_is(&it->s, stays, 0))
            it->path = stays;
    } else if (target > it->pc || target == header) {
        branch_within(b, target == header ? last + 4 : target, goes);
        it->path = stays;
    } else {
        it->reason = "a loop inside";
    }
}

static void run_instruction(struct body *b, uint32_t word)
{
    struct iteration *it = &b->it;
    op o = {0};
    enum insn insn = isa_decode(word, it->pc, &o);
    enum insn_kind kind = isa_info[insn].kind;
    uint16_t one = symbol_constant(&it->s, 64, 1), taken = symbol_constant(&it->s, 1, 1);
    it->state[LOOP_VAR_LENGTH] = symbol_make(&it->s, NODE_ADD, 64, it->state[LOOP_VAR_LENGTH], one, 0);
    if (insn == INSN_UNDEFINED)
        it->reason = "a word that is no instruction";
    else if (insn == INSN_bl || insn == INSN_blr)
        it->reason = "calls a function";
    else if (kind == KIND_INDIRECT)
        it->reason = "an indirect branch";
    else if (kind == KIND_STOP)
        it->reason = "a system call or breakpoint";
    else if (kind != KIND_JUMP)
        run_definition(it, insn, &o, &taken);
    if (!it->reason && (kind == KIND_JUMP || kind == KIND_CONDITION))
        branch(b, it->pc + (uint32_t)o.disp * 4, taken);
}

// Calls visit for every reference from the summary to a node.
static void each_reference(struct loop_summary *out, uint16_t *moved,
                           void (*visit)(uint16_t *moved, uint16_t *node))
{
    for (unsigned k = 0; k < out->access_count; k++) {
        struct access *a = &out->accesses[k];
        visit(moved, &a->address);
        visit(moved, &a->condition);
        if (a->is_store)
            visit(moved, &a->value);
        if (a->shape == ACCESS_GATHER)
            visit(moved, &a->index);
    }
    for (unsigned k = 0; k < out->exit_count; k++) {
        visit(moved, &out->exits[k].condition);
        visit(moved, &out->exits[k].length);
    }
    for (unsigned v = 0; v < LOOP_VARS; v++)
        visit(moved, &out->vars[v].value);
}

static void mark(uint16_t *moved, uint16_t *node)
{
    moved[*node] = 1;
}

static void move(uint16_t *moved, uint16_t *node)
{
    *node = moved[*node];
}

// Moves the nodes that are used to the summary, in their order.
static void keep_nodes(struct iteration *it)
{
    struct loop_summary *out = it->out;
    enum { USED = 1 };
    uint16_t moved[SYMBOLS];
    memset(moved, 0, it->s.count * sizeof moved[0]);
    each_reference(out, moved, mark);
    for (unsigned k = it->s.count; k-- > 0;) {
        const struct node *n = &it->s.nodes[k];
        unsigned operands = moved[k] == USED ? symbol_operands(n->kind) : 0;
        const uint16_t v[3] = {n->a, n->b, n->c};
        assert(operands <= 3);
        for (unsigned o = 0; o < operands; o++)
            moved[v[o]] = USED;
    }
    for (unsigned k = 0; k < it->s.count; k++) {
        struct node n = it->s.nodes[k];
        unsigned operands = symbol_operands(n.kind);
        if (!moved[k])
            continue;
        if (out->node_count == SUMMARY_NODES) {
            it->reason = "too complicated";
            return;
        }
        if (operands > 0)
            n.a = moved[n.a];
        if (operands > 1)
            n.b = moved[n.b];
        if (operands > 2)
            n.c = moved[n.c];
        out->nodes[out->node_count] = n;
        moved[k] = out->node_count++;
    }
    each_reference(out, moved, move);
}

static void run_body(struct body *b, const uint32_t *words, unsigned length)
{
    struct iteration *it = &b->it;
    struct loop_summary *out = it->out;
    symbols_clear(&it->s);
    it->path = symbol_constant(&it->s, 1, 1);
    for (unsigned v = 0; v < LOOP_VAR_LENGTH; v++)
        it->state[v] = symbol_var(&it->s, v);
    it->state[LOOP_VAR_LENGTH] = symbol_constant(&it->s, 64, 0);
    for (unsigned k = 0; k < length && !it->reason; k++) {
        it->pc = out->header + 4 * k;
        join(b, it->pc);
        if (!symbol_is(&it->s, it->path, 0))
            run_instruction(b, words[k]);
    }
    if (it->reason)
        return;
    join(b, out->branch + 4);
    if (symbol_is(&it->s, it->path, 0))
        it->reason = "never goes round";
    const struct node *total = &it->s.nodes[it->state[LOOP_VAR_LENGTH]];
    out->length = total->kind == NODE_CONSTANT ? (uint32_t)total->value : 0;
    for (unsigned v = 0; v < LOOP_VARS; v++)
        out->vars[v].value = it->state[v];
    find_shapes(it);
    if (it->s.full)
        it->reason = "too complicated";
    if (!it->reason)
        keep_nodes(it);
}

bool loop_summarize(struct loop_summary *s, uint32_t header, const uint32_t *words, unsigned length,
                    const char **reason)
{
    memset(s, 0, sizeof *s);
    bool fits = length > 0 && length <= SUMMARY_BODY_MAX;
    struct body *b = fits && semantics_exists ? malloc(sizeof *b) : NULL;
    if (!b) {
        *reason = !semantics_exists ? "this build has no definitions to summarise from"
                  : fits            ? "no memory"
                                    : "too long";
        return false;
    }
    s->header = header;
    s->branch = header + 4 * (length - 1);
    memcpy(s->words, words, length * sizeof words[0]);
    b->it.out = s;
    b->it.reason = NULL;
    b->way_count = 0;
    run_body(b, words, length);
    *reason = b->it.reason;
    free(b);
    return !*reason;
}
