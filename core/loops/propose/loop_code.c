// SPDX-License-Identifier: MIT
#include "loop_code.h"

#include <string.h>

struct walk {
    struct code_body *code;
    struct form now[CODE_VARS];
    code_set fixed; // what no instruction writes
    code_set multiplied; // what multiples are made of
    code_set written, read_first; // read_first: the value of the iteration's start was used
    struct {
        uint8_t base;
        int64_t offset;
    } slot[CODE_SLOTS];
    unsigned slots, slots_met, flags;
    int conditional_until; // instructions before this one may be skipped
};

static code_set bit_of(unsigned var)
{
    return (code_set)1 << var;
}

static struct form form_of_var(unsigned var)
{
    struct form f = {.linear = true, .terms = 1, .var = {(uint8_t)var}, .factor = {1}};
    f.from = f.direct = bit_of(var);
    return f;
}

static struct form form_constant(int64_t value)
{
    return (struct form){.linear = true, .constant = value};
}

// What only is known to hang on both.
static struct form form_mixed(const struct form *a, const struct form *b)
{
    return (struct form){.from = a->from | b->from,
                         .direct = a->direct | b->direct,
                         .loads = a->loads > b->loads ? a->loads : b->loads,
                         .loaded = a->loaded | b->loaded};
}

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool add_term(struct form *f, unsigned var, int64_t factor)
{
    unsigned t = 0;
    while (t < f->terms && f->var[t] != var)
        t++;
    if (t == f->terms) {
        if (t == FORM_TERMS)
            return false;
        f->var[t] = (uint8_t)var;
        f->factor[t] = 0;
        f->terms++;
    }
    f->factor[t] = plus(f->factor[t], factor);
    if (f->factor[t] == 0) {
        f->terms--;
        f->var[t] = f->var[f->terms];
        f->factor[t] = f->factor[f->terms];
    }
    return true;
}

// a_factor · a + b_factor · b + constant
static struct form form_sum(const struct form *a, int64_t a_factor, const struct form *b, int64_t b_factor,
                            int64_t constant)
{
    static const struct form zero = {.linear = true};
    if (a_factor == 0)
        a = &zero;
    if (b_factor == 0)
        b = &zero;
    struct form f = form_mixed(a, b);
    f.linear = a->linear && b->linear;
    for (unsigned t = 0; f.linear && t < a->terms; t++)
        f.linear = add_term(&f, a->var[t], times(a->factor[t], a_factor));
    for (unsigned t = 0; f.linear && t < b->terms; t++)
        f.linear = add_term(&f, b->var[t], times(b->factor[t], b_factor));
    if (!f.linear)
        f.terms = 0;
    f.constant = plus(constant, plus(times(a->constant, a_factor), times(b->constant, b_factor)));
    return f;
}

static struct form value_of(struct walk *w, unsigned var)
{
    if (var == CODE_NO_VAR)
        return form_constant(0);
    if (!(w->written & bit_of(var)))
        w->read_first |= bit_of(var);
    return w->now[var];
}

static struct form value_in(struct walk *w, const struct code_insn *i, unsigned field)
{
    return value_of(w, i->var[field]);
}

static void set_var(struct walk *w, unsigned var, struct form value, bool conditional)
{
    if (conditional) {
        if (!(w->written & bit_of(var)))
            w->read_first |= bit_of(var);
        value = form_mixed(&value, &w->now[var]);
    }
    w->now[var] = value;
    w->written |= bit_of(var);
}

// The variable of a word of the stack: SP or X29 plus a constant. CODE_NO_VAR if it is no such place.
static unsigned slot_of(struct walk *w, const struct code_insn *i, const struct form *address)
{
    if (i->pair || i->structure || !address->linear || address->terms != 1 || address->factor[0] != 1 ||
        (address->var[0] != CODE_SP && address->var[0] != 29))
        return CODE_NO_VAR;
    for (unsigned s = 0; s < w->slots; s++)
        if (w->slot[s].base == address->var[0] && w->slot[s].offset == address->constant)
            return CODE_SLOT0 + s;
    if (w->slots == CODE_SLOTS)
        return CODE_NO_VAR;
    w->slot[w->slots].base = address->var[0];
    w->slot[w->slots].offset = address->constant;
    return CODE_SLOT0 + w->slots++;
}

static void visit_memory(struct walk *w, unsigned at, const struct code_insn *i, struct code_fact *fact)
{
    struct form n = value_in(w, i, CODE_N), m = value_of(w, i->pair ? CODE_NO_VAR : i->var[CODE_M]);
    struct form moved = form_sum(&n, 1, &m, i->m_factor, i->constant);
    fact->address = i->after ? n : moved;
    unsigned slot = slot_of(w, i, &fact->address);
    fact->slot = slot != CODE_NO_VAR;
    struct form loaded = {.from = fact->address.from, .loads = fact->address.loads, .loaded = 1u << at};
    if (loaded.loads < 255)
        loaded.loads++;
    if (i->writes_back && i->var[CODE_N] != CODE_NO_VAR)
        set_var(w, i->var[CODE_N], moved, fact->conditional);
    if (i->kind == CODE_STORE) {
        fact->value = value_in(w, i, CODE_D);
        if (i->pair || i->structure) {
            struct form second = value_of(w, i->pair ? i->var[CODE_M] : CODE_NO_VAR);
            fact->value = form_mixed(&fact->value, &second);
        }
        if (fact->slot)
            set_var(w, slot, fact->value, fact->conditional);
    } else {
        fact->value = loaded;
        if (fact->slot)
            fact->value = value_of(w, slot);
        if (i->var[CODE_D] != CODE_NO_VAR)
            set_var(w, i->var[CODE_D], fact->value, fact->conditional);
        if (i->pair && i->var[CODE_M] != CODE_NO_VAR)
            set_var(w, i->var[CODE_M], loaded, fact->conditional);
    }
}

// What the flags that an instruction reads were made of.
static struct form flags_form(const struct walk *w)
{
    struct form none = form_constant(0);
    if (w->flags == LOOP_BODY_MAX)
        return none;
    const struct code_fact *fact = &w->code->fact[w->flags];
    return form_mixed(&fact->left, &fact->right);
}

static bool is_part(const struct code_insn *i, unsigned field, const struct form *f)
{
    return (!f->linear || i->extracts >> field & 1) && !f->loads && f->from;
}

// The product of two sums, of which one is fixed.
static bool is_multiple(struct walk *w, const struct form *n, const struct form *m)
{
    bool n_fixed = !(n->from & ~w->fixed), m_fixed = !(m->from & ~w->fixed);
    if (!n->linear || !m->linear || n->loads || m->loads || n_fixed == m_fixed)
        return false;
    w->multiplied |= n->from | m->from;
    return true;
}

static struct form computed(struct walk *w, const struct code_insn *i, struct code_fact *fact)
{
    struct form n = value_in(w, i, CODE_N), m = value_in(w, i, CODE_M), a = value_in(w, i, CODE_A);
    struct form d = form_constant(0);
    if (i->reads >> CODE_D & 1)
        d = value_in(w, i, CODE_D);
    fact->composes = is_part(i, CODE_N, &n) + is_part(i, CODE_M, &m) + is_part(i, CODE_D, &d) > 1;
    if (i->linear)
        return form_sum(&n, i->n_factor, &m, i->m_factor, i->constant);
    if (i->multiplies && n.linear && n.terms == 0)
        return form_sum(&a, 1, &m, times(n.constant, i->m_factor), 0);
    if (i->multiplies && m.linear && m.terms == 0)
        return form_sum(&a, 1, &n, times(m.constant, i->m_factor), 0);
    struct form f = form_mixed(&n, &m);
    if (i->multiplies && is_multiple(w, &n, &m)) {
        struct form multiple = form_of_var(CODE_MULTIPLE);
        multiple.from |= f.from;
        multiple.direct |= f.direct;
        return form_sum(&a, 1, &multiple, i->m_factor, 0);
    }
    f = form_mixed(&f, &a);
    f = form_mixed(&f, &d);
    if (i->reads_flags) {
        struct form flags = flags_form(w);
        f = form_mixed(&f, &flags);
    }
    if (f.loads || (f.from & ~w->fixed) || i->vector)
        return f;
    struct form fixed = form_of_var(CODE_FIXED);
    fixed.from |= f.from;
    return fixed;
}

static void compare(struct walk *w, const struct code_insn *i, struct code_fact *fact)
{
    struct form m = value_in(w, i, CODE_M), flags = flags_form(w);
    fact->left = value_in(w, i, CODE_N);
    fact->right = i->compares && i->linear ? form_sum(&m, -i->m_factor, &m, 0, -i->constant) : m;
    if (i->reads_flags)
        fact->right = form_mixed(&fact->right, &flags);
}

static void visit(struct walk *w, unsigned at)
{
    struct code_insn *i = &w->code->insn[at];
    struct code_fact *fact = &w->code->fact[at];
    fact->conditional = (int)at < w->conditional_until;
    if (i->reads_flags)
        w->code->flags_from[at] = (uint8_t)w->flags;
    if (i->kind == CODE_LOAD || i->kind == CODE_STORE) {
        visit_memory(w, at, i, fact);
    } else if (i->kind == CODE_BRANCH) {
        if (i->tests)
            fact->left = value_in(w, i, CODE_D);
        fact->right = form_constant(0);
        if (i->target > 1 && at + i->target < w->code->length && !code_is_exit(w->code, at) &&
            (int)at + i->target > w->conditional_until)
            w->conditional_until = (int)at + i->target;
    } else if (i->kind == CODE_LEAVES) {
        // What a call gives back is as unknown as what a load gets. Of the other registers that a function
        // may change, compilers use those that they know it leaves alone.
        struct form given = {.loads = 1, .loaded = 1u << at};
        set_var(w, 0, given, fact->conditional);
    } else if (i->kind == CODE_COMPUTE) {
        fact->value = computed(w, i, fact);
        if (i->sets_flags) {
            compare(w, i, fact);
            w->flags = at;
        }
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            if (i->writes >> f & 1 && i->var[f] != CODE_NO_VAR)
                set_var(w, i->var[f], fact->value, fact->conditional);
    }
}

// Makes v AFFINE, or UNTOUCHED, if an iteration adds what does not change to it.
static void find_step(struct code_body *code, unsigned v)
{
    struct form step = code->end[v], self = form_of_var(v);
    step = form_sum(&step, 1, &self, -1, 0);
    if (!code->end[v].linear || !step.linear)
        return;
    for (unsigned t = 0; t < step.terms; t++)
        if (code->shape[step.var[t]] != SHAPE_UNTOUCHED)
            return;
    code->step[v] = step;
    code->shape[v] = step.terms || step.constant ? SHAPE_AFFINE : SHAPE_UNTOUCHED;
}

static void walk(struct walk *w, code_set fixed)
{
    *w = (struct walk){.code = w->code, .flags = LOOP_BODY_MAX, .fixed = fixed};
    for (unsigned v = 0; v < CODE_VARS; v++)
        w->now[v] = form_of_var(v);
    for (unsigned i = 0; i < w->code->length; i++)
        if (w->code->back >> i & 1)
            visit(w, i);
}

static bool leads_back(const struct code_body *code, int at)
{
    return at >= 0 && at < (int)code->length && code->back >> at & 1;
}

static void find_ways_back(struct code_body *code)
{
    for (uint32_t before = ~code->back; before != code->back;) {
        before = code->back;
        for (unsigned i = code->length; i-- > 0;) {
            const struct code_insn *insn = &code->insn[i];
            bool branch = insn->kind == CODE_BRANCH,
                 goes_on = insn->id != INSN_ret && (!branch || insn->conditional);
            if (i + 1 == code->length || (goes_on && leads_back(code, (int)i + 1)) ||
                (branch && leads_back(code, (int)i + insn->target)))
                code->back |= 1u << i;
        }
    }
}

void code_read(const struct loop_body *body, struct code_body *code)
{
    memset(code, 0, sizeof *code);
    memset(code->flags_from, LOOP_BODY_MAX, sizeof code->flags_from);
    code->length = body->length;
    for (unsigned i = 0; i < code->length; i++)
        code_decode(body->words[i], &code->insn[i]);
    find_ways_back(code);
    // Twice: only the first time tells what stays as it is.
    struct walk w = {.code = code};
    walk(&w, 0);
    walk(&w, ~w.written);
    for (unsigned v = 0; v < CODE_VARS; v++) {
        code->end[v] = w.now[v];
        code->shape[v] = !(w.written & bit_of(v))   ? SHAPE_UNTOUCHED
                         : w.read_first & bit_of(v) ? SHAPE_CARRIED
                                                    : SHAPE_TEMPORARY;
    }
    // What is added has to be known to stay as it is first.
    for (unsigned v = 0; v < CODE_VARS; v++)
        if (w.written & bit_of(v))
            find_step(code, v);
    bool steady = true;
    for (unsigned v = 0; v < CODE_VARS; v++)
        if (w.multiplied & bit_of(v))
            steady &= code->shape[v] == SHAPE_AFFINE || code->shape[v] == SHAPE_UNTOUCHED;
    code->shape[CODE_MULTIPLE] = steady ? SHAPE_AFFINE : SHAPE_CARRIED;
    code->step[CODE_MULTIPLE] = form_of_var(CODE_FIXED);
}

bool code_form_is_steady(const struct code_body *code, const struct form *f)
{
    bool steady = f->linear;
    for (unsigned t = 0; t < f->terms; t++)
        steady &= code->shape[f->var[t]] == SHAPE_AFFINE || code->shape[f->var[t]] == SHAPE_UNTOUCHED;
    return steady;
}

bool code_form_step(const struct code_body *code, const struct form *f, const uint64_t *x, int64_t *step)
{
    *step = 0;
    if (!code_form_is_steady(code, f))
        return false;
    for (unsigned t = 0; t < f->terms; t++) {
        const struct form *s = &code->step[f->var[t]];
        int64_t one = s->constant;
        if (s->terms && (!x || !code_form_value(s, x, &one)))
            return false;
        *step = plus(*step, times(f->factor[t], one));
    }
    return true;
}

bool code_form_chases(const struct code_body *code, const struct form *f)
{
    for (unsigned v = 0; v < CODE_VARS; v++) {
        const struct form *end = &code->end[v];
        if (f->from >> v & 1 && code->shape[v] == SHAPE_CARRIED && end->loads && end->from >> v & 1 &&
            !(end->direct >> v & 1))
            return true;
    }
    return false;
}

unsigned code_bytes(const struct code_insn *insn)
{
    return insn->pair || insn->structure ? 2 * insn->size : insn->size;
}

unsigned code_bytes_beside(const struct code_body *code, unsigned at, enum code_kind kind)
{
    const struct form *a = &code->fact[at].address;
    unsigned bytes = 0;
    for (unsigned i = 0; i < code->length; i++) {
        const struct form *b = &code->fact[i].address;
        if (code->insn[i].kind != kind || code->fact[i].slot || a->linear != b->linear ||
            a->terms != b->terms || a->from != b->from || a->loaded != b->loaded)
            continue;
        bool same = true;
        for (unsigned t = 0; t < a->terms; t++) {
            unsigned u = 0;
            while (u < b->terms && (a->var[t] != b->var[u] || a->factor[t] != b->factor[u]))
                u++;
            same &= u < b->terms;
        }
        if (same)
            bytes += code_bytes(&code->insn[i]);
    }
    return bytes;
}

bool code_form_value(const struct form *f, const uint64_t x[32], int64_t *value)
{
    *value = f->constant;
    for (unsigned t = 0; t < f->terms; t++) {
        if (f->var[t] > CODE_SP)
            return false;
        *value = plus(*value, times(f->factor[t], (int64_t)x[f->var[t]]));
    }
    return f->linear;
}

// Where the exit at i has to lead for the loop to go on.
static bool goes_on_if_taken(const struct code_body *code, unsigned i)
{
    return i + 1 == code->length || leads_back(code, (int)i + code->insn[i].target);
}

bool code_is_exit(const struct code_body *code, unsigned i)
{
    const struct code_insn *branch = &code->insn[i];
    return branch->kind == CODE_BRANCH && branch->conditional && leads_back(code, (int)i) &&
           (i + 1 == code->length || goes_on_if_taken(code, i) != leads_back(code, (int)i + 1));
}

// Both sides of what the exit at i compares, and the condition under which the loop goes on.
static bool exit_sides(const struct code_body *code, unsigned i, const struct form **left,
                       const struct form **right, unsigned *condition, bool *wide)
{
    const struct code_insn *branch = &code->insn[i];
    unsigned from = i;
    if (branch->tests) {
        if (branch->bit < 64 && branch->bit != 31 && branch->bit != 63)
            return false;
    } else {
        from = code->flags_from[i];
        if (from == LOOP_BODY_MAX || !code->insn[from].compares)
            return false;
    }
    *left = &code->fact[from].left;
    *right = &code->fact[from].right;
    *wide = code->insn[from].wide;
    *condition = branch->condition ^ !goes_on_if_taken(code, i);
    return true;
}

// A loop that goes on while left - right is below 0, above 0, or not 0: the sign that its rate needs (0:
// any).
static bool sense_of(unsigned condition, int *sign, bool *inclusive)
{
    enum { NE = 1, HS, LO, MI, PL, HI = 8, LS, GE, LT, GT, LE };
    *inclusive = condition == HS || condition == PL || condition == LS || condition == GE || condition == LE;
    switch (condition) {
    case NE: *sign = 0; return true;
    case LO:
    case MI:
    case LS:
    case LT:
    case LE: *sign = 1; return true;
    case HS:
    case PL:
    case HI:
    case GE:
    case GT: *sign = -1; return true;
    default: return false;
    }
}

static unsigned counter_of(const struct code_body *code, const struct form *left, const struct form *right,
                           unsigned preferred)
{
    unsigned found = 31;
    const struct form *side[2] = {right, left};
    for (unsigned s = 0; s < 2; s++)
        for (unsigned t = 0; t < side[s]->terms; t++) {
            unsigned v = side[s]->var[t];
            if (v < 31 && code->shape[v] == SHAPE_AFFINE && (found == 31 || found != preferred))
                found = v;
        }
    return found;
}

// Whether the counter grows, or else what is compared, by step.
static bool grows(const struct code_body *code, const uint64_t x[32], unsigned counter, int64_t step)
{
    int64_t own;
    if (counter < 31 && code_form_value(&code->step[counter], x, &own))
        step = own;
    return step > 0;
}

void code_find_way(const struct code_body *code, const uint64_t x[32], unsigned counter, struct code_way *way)
{
    *way = (struct code_way){.counter = 31};
    for (unsigned i = 0; i < code->length; i++) {
        const struct form *left, *right;
        unsigned condition;
        bool wide, inclusive;
        int sign;
        int64_t a, b, a_step, b_step;
        if (!code_is_exit(code, i) || !exit_sides(code, i, &left, &right, &condition, &wide) ||
            !sense_of(condition, &sign, &inclusive) || !code_form_step(code, left, x, &a_step) ||
            !code_form_step(code, right, x, &b_step) || !code_form_value(left, x, &a) ||
            !code_form_value(right, x, &b))
            continue;
        int64_t step = plus(a_step, -b_step), first = plus(a, -b);
        if (!wide)
            first = (int32_t)first;
        if (step == 0 || step == INT64_MIN || (sign && (step > 0) != (sign > 0)))
            continue;
        unsigned counts = counter_of(code, left, right, counter);
        if (way->found && way->counter == counter && counts != counter)
            continue;
        // The loop's last instruction compares what the iteration has already moved.
        int64_t distance = i + 1 == code->length ? plus(first, -step) : first;
        bool behind = (distance < 0) == (step < 0);
        *way = (struct code_way){.found = true,
                                 .at = i,
                                 .counter = counts,
                                 .up = grows(code, x, counts, a_step ? a_step : b_step),
                                 .step = step,
                                 .distance = behind && sign ? 0 : distance,
                                 .inclusive = inclusive};
    }
}
