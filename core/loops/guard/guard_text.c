// SPDX-License-Identifier: MIT
#include "guard_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_MAX = 64 };

// A quantity as x3 + 0x10, or v2 for what entry op 2 computes.
struct name {
    char text[NAME_MAX];
};

static struct name name_of(struct quantity q)
{
    struct name n;
    const int64_t constant = (int64_t)q.constant;
    char slot[16];
    if (q.slot >= SLOT_COMPUTED)
        snprintf(slot, sizeof slot, "v%d", q.slot - SLOT_COMPUTED);
    else if (q.slot == REG_SP)
        snprintf(slot, sizeof slot, "sp");
    else
        snprintf(slot, sizeof slot, "x%d", q.slot);
    if (q.slot == REG_ZERO)
        snprintf(n.text, sizeof n.text, "%" PRId64, constant);
    else if (constant)
        snprintf(n.text, sizeof n.text, "%s %c %#" PRIx64, slot, constant < 0 ? '-' : '+',
                 constant < 0 ? -(uint64_t)constant : (uint64_t)constant);
    else
        snprintf(n.text, sizeof n.text, "%s", slot);
    return n;
}

static const char *const op_names[] = {
    [NODE_ADD] = "+",
    [NODE_SUB] = "-",
    [NODE_MUL] = "*",
    [NODE_AND] = "&",
    [NODE_OR] = "|",
    [NODE_XOR] = "^",
    [NODE_SHL] = "<<",
    [NODE_LSHR] = ">>",
    [NODE_ASHR] = ">>",
    [NODE_UDIV] = "/",
    [NODE_SDIV] = "/",
    [NODE_EQ] = "==",
    [NODE_ULT] = "<",
    [NODE_ULE] = "<=",
    [NODE_SLT] = "<",
    [NODE_SLE] = "<=",
    [NODE_SELECT] = "",
    [NODE_ZEXT] = "",
    [NODE_SEXT] = "",
    [NODE_TRUNC] = "",
    [NODE_CLZ] = "clz ",
    [NODE_BSWAP] = "bswap ",
    [NODE_BITREVERSE] = "bitreverse ",
};

static void add_op(struct text *t, const struct guard *g, unsigned i)
{
    const struct entry_op *o = &g->ops[i];
    const struct name a = name_of(o->a), b = name_of(o->b), c = name_of(o->c);
    const bool is_signed = o->kind == NODE_ASHR || o->kind == NODE_SDIV || o->kind == NODE_SLT ||
                           o->kind == NODE_SLE || o->kind == NODE_SEXT;
    text_add(t, "  v%u = ", i);
    if (o->kind == NODE_LOAD)
        text_add(t, "%u bytes loaded once from %s, if a kernel may read there\n", o->bits / 8u, a.text);
    else if (o->kind == NODE_SELECT)
        text_add(t, "%s ? %s : %s\n", a.text, b.text, c.text);
    else if (o->kind >= NODE_ZEXT)
        text_add(t, "%s(%s), %u bits from %u%s\n", op_names[o->kind], a.text, o->bits, o->from,
                 is_signed ? ", signed" : "");
    else
        text_add(t, "(%s) %s (%s), %u bits%s\n", a.text, op_names[o->kind], b.text, o->bits,
                 is_signed ? ", signed" : "");
}

static void add_exit(struct text *t, const struct guard_exit *x, unsigned i)
{
    const struct trip_count *c = &x->trip_count;
    const struct name start = name_of(c->start), step = name_of(c->step), limit = name_of(c->limit);
    const char *how = c->compare == NODE_ULT ? "<" : "<=";
    text_add(t, "  exit %u: ", i);
    if (x->kind == EXIT_FIXED)
        text_add(t, "taken at once if %s is not 0, else never\n", name_of(x->condition).text);
    else if (x->kind == EXIT_FOUND)
        text_add(t, "hangs on what is loaded, and is looked for\n");
    else if (c->compare == NODE_EQ)
        text_add(t, "goes on while (%s) + i * (%s) %s %s, %u bits\n", start.text, step.text,
                 c->is_equal ? "==" : "!=", limit.text, c->mask == UINT64_MAX ? 64u : 32u);
    else if (c->complement)
        text_add(t, "goes on while %s %s (%s) + i * (%s), %s, %u bits\n", limit.text, how, start.text,
                 step.text, c->flip ? "signed" : "unsigned", c->mask == UINT64_MAX ? 64u : 32u);
    else
        text_add(t, "goes on while (%s) + i * (%s) %s %s, %s, %u bits\n", start.text, step.text, how,
                 limit.text, c->flip ? "signed" : "unsigned", c->mask == UINT64_MAX ? 64u : 32u);
}

static void add_range(struct text *t, const struct access_range *r, unsigned i)
{
    const struct name base = name_of(r->base), step = name_of(r->step);
    text_add(t, "  range %u: %s %u bytes at %s", i, r->is_store ? "stores" : "loads", r->size, base.text);
    if (r->at_entry)
        text_add(t, ", before the first iteration only\n");
    else if (r->is_stream)
        text_add(t, " + i * (%s); every page of it has to be %s\n", step.text,
                 r->is_store ? "writable and without decoded code" : "readable");
    else
        text_add(t, " + [%" PRId64 ", %" PRId64 "); every page of it has to be readable\n", r->low, r->high);
}

void guard_text_add(struct text *t, const struct guard *g)
{
    for (unsigned i = 0; i < g->op_count; i++)
        add_op(t, g, i);
    for (unsigned i = 0; i < g->exit_count; i++)
        add_exit(t, &g->exits[i], i);
    for (unsigned i = 0; i < g->range_count; i++)
        add_range(t, &g->ranges[i], i);
    text_add(t, "  check: at least %u whole iterations\n", g->least);
    for (unsigned r = 0; r < 32; r++)
        if (g->zero_upper >> r & 1)
            text_add(t, "  check: the upper half of x%u is 0\n", r);
    for (unsigned i = 0; i < g->no_wrap_count; i++) {
        const struct no_wrap *w = &g->no_wraps[i];
        text_add(t, "  check: (%s) + i * (%s) does not wrap around %u bits, %s\n", name_of(w->start).text,
                 name_of(w->step).text, w->bits, w->is_signed ? "signed" : "unsigned");
    }
    for (unsigned i = 0; i < g->alias_check_count; i++) {
        const struct alias_check *c = &g->alias_checks[i];
        text_add(t, "  check: ranges %u and %u do not overlap%s\n", c->earlier, c->later,
                 c->strict ? "" : ", or only many iterations later");
    }
}
