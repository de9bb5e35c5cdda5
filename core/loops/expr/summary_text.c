// SPDX-License-Identifier: MIT
// Summaries as text, and the values of their nodes.
#include "symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"

// ---- values ----

void loop_start_vars(uint64_t vars[LOOP_VARS], const cpu *c)
{
    memcpy(vars, c->x, (REG_SP + 1) * sizeof vars[0]);
    vars[LOOP_VAR_FLAGS_A] = c->flags.a;
    vars[LOOP_VAR_FLAGS_B] = c->flags.b;
    vars[LOOP_VAR_FLAGS_KIND] = c->flags.kind;
    vars[LOOP_VAR_LENGTH] = 0;
}

uint64_t loop_evaluate(const struct loop_summary *s, unsigned node, const uint64_t vars[LOOP_VARS],
                       uint64_t (*load)(void *user, unsigned access, uint64_t address), void *user)
{
    uint64_t values[SUMMARY_NODES];
    bool needed[SUMMARY_NODES] = {false};
    needed[node] = true;
    values[node] = 0;
    for (unsigned k = node + 1; k-- > 0;) {
        const struct node *n = &s->nodes[k];
        if (!needed[k])
            continue;
        if (n->kind == NODE_LOAD)
            needed[s->accesses[n->a].address] = needed[s->accesses[n->a].condition] = true;
        const uint16_t v[3] = {n->a, n->b, n->c};
        for (unsigned o = symbol_operands(n->kind); o-- > 0;)
            needed[v[o]] = true;
    }
    for (unsigned k = 0; k <= node; k++) {
        const struct node *n = &s->nodes[k];
        unsigned operands = symbol_operands(n->kind);
        if (!needed[k])
            continue;
        if (n->kind == NODE_CONSTANT) {
            values[k] = n->value;
        } else if (n->kind == NODE_VAR) {
            values[k] = vars[n->a] & symbol_mask(n->bits);
        } else if (n->kind == NODE_LOAD) {
            const struct access *a = &s->accesses[n->a];
            values[k] =
                values[a->condition] ? load(user, n->a, values[a->address]) & symbol_mask(n->bits) : 0;
        } else {
            values[k] = symbol_compute(n->kind, n->bits, s->nodes[n->a].bits, values[n->a],
                                       operands > 1 ? values[n->b] : 0, operands > 2 ? values[n->c] : 0);
        }
    }
    return values[node];
}

// ---- text ----

struct printer {
    const struct loop_summary *s;
    struct text out;
};

static void add_var(struct printer *t, unsigned var)
{
    static const char *const names[] = {"flags.a", "flags.b", "flags.kind", "length"};
    if (var >= LINEAR_LOAD)
        text_add(&t->out, "m%u", var - LINEAR_LOAD);
    else if (var >= LOOP_VAR_FLAGS_A)
        text_add(&t->out, "%s", names[var - LOOP_VAR_FLAGS_A]);
    else if (var == REG_SP)
        text_add(&t->out, "sp");
    else
        text_add(&t->out, "x%u", var);
}

static void add_number(struct printer *t, uint64_t value)
{
    if (value + 1024 < 1024)
        text_add(&t->out, "-%" PRIu64, -value);
    else
        text_add(&t->out, value < 1024 ? "%" PRIu64 : "0x%" PRIx64, value);
}

static bool is_small_negative(const struct node *n)
{
    return n->kind == NODE_CONSTANT && n->bits >= 32 && n->value > symbol_mask(n->bits) - 1024;
}

static void add_node(struct printer *t, unsigned node)
{
    static const char *const operators[] = {
        [NODE_ADD] = "+",       [NODE_SUB] = "-",
        [NODE_MUL] = "*",       [NODE_AND] = "&",
        [NODE_OR] = "|",        [NODE_XOR] = "^",
        [NODE_SHL] = "<<",      [NODE_LSHR] = ">>",
        [NODE_ASHR] = ">>s",    [NODE_UDIV] = "/",
        [NODE_SDIV] = "/s",     [NODE_EQ] = "==",
        [NODE_ULT] = "<",       [NODE_ULE] = "<=",
        [NODE_SLT] = "<s",      [NODE_SLE] = "<=s",
        [NODE_ZEXT] = "zext",   [NODE_SEXT] = "sext",
        [NODE_TRUNC] = "low",   [NODE_CLZ] = "clz",
        [NODE_BSWAP] = "bswap", [NODE_BITREVERSE] = "bitreverse",
    };
    const struct node *n = &t->s->nodes[node];
    if (t->out.left <= 1)
        return;
    switch (symbol_operands(n->kind)) {
    case 0:
        if (n->kind == NODE_CONSTANT)
            add_number(t, is_small_negative(n) ? (uint64_t)symbol_signed(n->value, n->bits) : n->value);
        else
            add_var(t, n->kind == NODE_LOAD ? LINEAR_LOAD + n->a : n->a);
        return;
    case 1:
        text_add(&t->out, "%s%u(", operators[n->kind], n->bits);
        add_node(t, n->a);
        break;
    case 2:
        text_add(&t->out, "(");
        add_node(t, n->a);
        if (n->kind == NODE_ADD && is_small_negative(&t->s->nodes[n->b])) {
            text_add(&t->out, " - %" PRIu64, -(uint64_t)symbol_signed(t->s->nodes[n->b].value, n->bits));
            break;
        }
        text_add(&t->out, " %s ", operators[n->kind]);
        add_node(t, n->b);
        break;
    default:
        text_add(&t->out, "(");
        add_node(t, n->a);
        text_add(&t->out, " ? ");
        add_node(t, n->b);
        text_add(&t->out, " : ");
        add_node(t, n->c);
        break;
    }
    text_add(&t->out, ")");
}

static void add_linear(struct printer *t, const struct linear *l)
{
    bool first = true;
    for (unsigned k = 0; k < l->count; k++) {
        int64_t factor = l->factor[k];
        text_add(&t->out, "%s", factor < 0 ? first ? "-" : " - " : first ? "" : " + ");
        if (factor != 1 && factor != -1)
            text_add(&t->out, "%" PRIu64 " * ", factor < 0 ? -(uint64_t)factor : (uint64_t)factor);
        add_var(t, l->var[k]);
        first = false;
    }
    if (first || l->constant) {
        bool negative = (int64_t)l->constant < 0 && !first;
        text_add(&t->out, "%s", negative ? " - " : first ? "" : " + ");
        add_number(t, negative ? -l->constant : l->constant);
    }
    if (l->bits == 32)
        text_add(&t->out, " (32 bits)");
}

static void add_variable(struct printer *t, unsigned var)
{
    static const char *const shapes[] = {"untouched", "temporary", "affine", "carried"};
    unsigned shape = t->s->vars[var].shape;
    if (shape == VAR_UNTOUCHED && !t->s->vars[var].read)
        return;
    text_add(&t->out, "  ");
    add_var(t, var);
    text_add(&t->out, ": %s", shapes[shape]);
    if (shape == VAR_AFFINE) {
        text_add(&t->out, ", step ");
        add_linear(t, &t->s->vars[var].step);
    } else if (shape != VAR_UNTOUCHED) {
        text_add(&t->out, " = ");
        add_node(t, t->s->vars[var].value);
    }
    text_add(&t->out, "\n");
}

static void add_access(struct printer *t, unsigned k)
{
    static const char *const shapes[] = {"invariant", "stream", "gather", "unknown"};
    const struct access *a = &t->s->accesses[k];
    text_add(&t->out, "  0x%" PRIx32 " m%u: %s %u at ", a->pc, k, a->is_store ? "store" : "load", a->size);
    add_node(t, a->address);
    if (a->alignment > 1)
        text_add(&t->out, ", aligned to %u", a->alignment);
    text_add(&t->out, ": %s", shapes[a->shape]);
    if (a->shape != ACCESS_UNKNOWN) {
        text_add(&t->out, " ");
        add_linear(t, &a->base);
    }
    if (a->shape == ACCESS_STREAM) {
        text_add(&t->out, ", step ");
        add_linear(t, &a->step);
    }
    if (a->shape == ACCESS_GATHER) {
        text_add(&t->out, " [0..%" PRIu64 "] ", a->index_max);
        add_node(t, a->index);
    }
    if (a->is_store) {
        text_add(&t->out, ", of ");
        add_node(t, a->value);
    }
    const struct node *condition = &t->s->nodes[a->condition];
    if (condition->kind != NODE_CONSTANT) {
        text_add(&t->out, ", if ");
        add_node(t, a->condition);
    }
    text_add(&t->out, "\n");
}

static void add_exit(struct printer *t, const struct loop_exit *e)
{
    static const char *const compares[] = {
        [NODE_EQ] = "!=", [NODE_ULT] = "<", [NODE_ULE] = "<=", [NODE_SLT] = "<s", [NODE_SLE] = "<=s"};
    text_add(&t->out, "  0x%" PRIx32 " exit to 0x%" PRIx32 "%s, after %u accesses and ", e->pc, e->target,
             e->at_end ? " at the end" : "", e->accesses_before);
    add_node(t, e->length);
    text_add(&t->out, " instructions, if ");
    add_node(t, e->condition);
    if (e->counted) {
        text_add(&t->out, "; goes on while ");
        add_linear(t, e->swapped ? &e->limit : &e->start);
        text_add(&t->out, e->swapped ? " %s " : ", step ", e->is_equal ? "==" : compares[e->compare]);
        if (e->swapped) {
            add_linear(t, &e->start);
            text_add(&t->out, ", step ");
        }
        add_linear(t, &e->step);
        if (!e->swapped) {
            text_add(&t->out, ", %s ", e->is_equal ? "==" : compares[e->compare]);
            add_linear(t, &e->limit);
        }
    }
    text_add(&t->out, "\n");
}

void loop_summary_print(const struct loop_summary *s, char *text, size_t size)
{
    struct printer t = {.s = s, .out = {text, size}};
    if (size == 0)
        return;
    *text = '\0';
    text_add(&t.out, "loop 0x%" PRIx32 "..0x%" PRIx32 ", ", s->header, s->branch);
    if (s->length)
        text_add(&t.out, "%" PRIu32, s->length);
    else
        add_node(&t, s->vars[LOOP_VAR_LENGTH].value);
    text_add(&t.out, " instructions, %u nodes\n", s->node_count);
    for (unsigned v = 0; v < LOOP_VAR_LENGTH; v++)
        add_variable(&t, v);
    for (unsigned k = 0; k < s->access_count; k++)
        add_access(&t, k);
    for (unsigned k = 0; k < s->exit_count; k++)
        add_exit(&t, &s->exits[k]);
}

void loop_node_print(const struct loop_summary *s, unsigned node, char *text, size_t size)
{
    struct printer t = {.s = s, .out = {text, size}};
    *text = '\0';
    add_node(&t, node);
}

void loop_linear_print(const struct loop_summary *s, const struct linear *l, char *text, size_t size)
{
    struct printer t = {.s = s, .out = {text, size}};
    *text = '\0';
    add_linear(&t, l);
}
