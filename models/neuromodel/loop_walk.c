// SPDX-License-Identifier: MIT
#include "loop_walk.h"

#include <string.h>

static const struct value unknown = {V_OTHER, 0, 0}, loaded = {V_LOADED, 0, 0}, made = {V_MADE, 0, 0};

static void write_variable(struct walk *w, unsigned variable, struct value v)
{
    if (variable != CODE_NO_VAR)
        w->now[variable] = v;
}

static struct value combine(struct value a, struct value b)
{
    if (hangs_on_data(a) || hangs_on_data(b))
        return made;
    if (a.kind == V_CONSTANT && b.kind == V_CONSTANT)
        return (struct value){V_CONSTANT, 0, 0};
    return unknown;
}

static struct value plus(struct value v, int64_t more)
{
    if (v.kind == V_PLUS)
        v.offset += more;
    else if (v.kind == V_LOADED)
        v = made;
    return v;
}

// The sum of two registers: a variable that counts, or not, and something that does not.
static struct value sum(const struct walk *w, struct value a, struct value b)
{
    if (a.kind == V_PLUS && is_fixed(w, b))
        return a;
    if (b.kind == V_PLUS && is_fixed(w, a))
        return b;
    return combine(a, b);
}

// ---- memory ----

static struct value *slot(struct walk *w, unsigned base, int64_t offset)
{
    int64_t key = offset * 2 + (base == FRAME);
    for (unsigned i = 0; i < w->slot_count; i++)
        if (w->slots[i] == key)
            return &w->now[SLOTS + i];
    if (w->slot_count == VARIABLES - SLOTS)
        return NULL;
    w->slots[w->slot_count] = key;
    return &w->now[SLOTS + w->slot_count++];
}

void walk_count_access(struct walk *w, struct value address, bool is_load, struct value stored)
{
    struct loop_shape *s = w->shape;
    if (!w->second)
        return;
    if (is_load) {
        s->loads++;
        s->gathers += hangs_on_data(address);
        s->fixed_loads += is_fixed(w, address);
        s->loose_loads += !is_fixed(w, address) && !counts(w, address);
        return;
    }
    s->stores++;
    s->fixed_stores += is_fixed(w, address);
    if (is_fixed(w, stored))
        s->same_stores++;
    else if (stored.kind == V_LOADED ||
             (stored.kind == V_PLUS && w->loaded_before[stored.id] && !stored.offset))
        s->copy_stores++;
    else if (stored.kind == V_MADE)
        s->made_stores++;
    else
        s->other_stores++;
}

// The value in memory that is read or written; a slot if slot is not NULL.
static void access_one(struct walk *w, unsigned variable, bool is_load, struct value address,
                       struct value *slot)
{
    if (is_load) {
        struct value v = slot ? *slot : loaded;
        if (!slot) {
            walk_count_access(w, address, true, unknown);
            if (address.kind == V_PLUS)
                v.id = address.id + 1; // for chases
        }
        write_variable(w, variable, v);
    } else {
        struct value v = walk_read(w, variable);
        w->shape->slots |= slot != NULL;
        if (slot)
            *slot = v;
        else
            walk_count_access(w, address, false, v);
    }
}

// The slot that is more bytes behind what is accessed, if that is on the stack.
static struct value *slot_of(struct walk *w, const struct code_insn *i, int64_t more)
{
    unsigned base = i->var[CODE_N];
    bool stack = (base == CODE_SP || base == FRAME) && !i->m_factor;
    return stack ? slot(w, base, (i->after ? 0 : i->constant) + more) : NULL;
}

// The registers of a structure follow one another.
static void walk_structure(struct walk *w, const struct code_insn *i)
{
    uint32_t states = isa_info[i->id].reads | isa_info[i->id].writes;
    unsigned registers = states & Vd4 ? 4 : states & Vd3 ? 3 : states & Vd2 ? 2 : 1;
    struct value address = walk_read(w, i->var[CODE_N]);
    for (unsigned k = 0; k < registers; k++)
        access_one(w, CODE_V0 + (i->op.d + k) % 32, i->kind == CODE_LOAD, address, NULL);
    if (i->writes_back)
        write_variable(w, i->var[CODE_N], plus(address, 16 * registers));
}

// LDADD, CAS and their kin: the operand goes to memory, what was there to a register.
static void walk_atomic(struct walk *w, const struct code_insn *i)
{
    struct value address = walk_read(w, i->var[CODE_N]);
    access_one(w, i->var[i->reads >> CODE_D & 1 ? CODE_D : CODE_M], false, address, NULL);
    access_one(w, i->var[i->writes >> CODE_D & 1 ? CODE_D : CODE_A], true, address, NULL);
}

static void walk_access(struct walk *w, const struct code_insn *i)
{
    bool is_load = i->kind == CODE_LOAD;
    if (i->structure) {
        walk_structure(w, i);
        return;
    }
    if (is_load && isa_info[i->id].writes & MEMORY) {
        walk_atomic(w, i);
        return;
    }
    struct value base = walk_read(w, i->var[CODE_N]), address = base;
    if (i->m_factor)
        address = sum(w, base, walk_read(w, i->var[CODE_M]));
    access_one(w, i->var[CODE_D], is_load, address, slot_of(w, i, 0));
    if (i->pair)
        access_one(w, i->var[CODE_M], is_load, address, slot_of(w, i, i->size));
    if (i->writes_back)
        write_variable(w, i->var[CODE_N], plus(base, i->constant));
    if (i->writes >> CODE_A & 1) // whether an exclusive store was made
        write_variable(w, i->var[CODE_A], unknown);
}

// ---- computing ----

static void set_flags(struct walk *w, struct value a, struct value b)
{
    w->now[FLAGS] = combine(a, b);
    w->compared[0] = a, w->compared[1] = b;
    w->chained = false;
}

// CCMP and its kin: with what was compared before.
static void compare_again(struct walk *w, const struct code_insn *i)
{
    struct value first[2] = {w->compared[0], w->compared[1]};
    bool chained = w->chained;
    set_flags(w, walk_read(w, i->var[CODE_N]), walk_read(w, i->var[CODE_M]));
    memcpy(w->after, w->compared, sizeof w->after);
    if (hangs_on_data(combine(first[0], first[1])))
        w->compared[0] = made;
    w->chained = !chained;
    w->otherwise = i->op.d;
    memcpy(w->before, first, sizeof first);
}

// What SXTW and the like keep of the lowest bits of n; 0: not those, or more is done.
static unsigned kept_bits(const struct code_insn *i)
{
    switch (i->id) {
    case INSN_sbfm_w: return i->op.a == i->op.m ? 32 - i->op.m : 0;
    case INSN_sbfm_x: return i->op.a == i->op.m ? 64 - i->op.m : 0;
    case INSN_ubfm_w:
    case INSN_ubfm_x: return i->op.a == 0 ? (unsigned)__builtin_popcountll(i->op.imm) : 0;
    case INSN_and_w_imm:
    case INSN_and_x_imm: return i->op.imm == 0xff ? 8 : i->op.imm == 0xffff ? 16 : 0;
    default: return 0;
    }
}

// Counters, and what was loaded, stay what they are.
static bool keeps_counter(const struct code_insn *i, struct value n)
{
    unsigned bits = kept_bits(i);
    return bits >= 32 || (n.kind == V_PLUS && (bits == 8 || bits == 16));
}

enum sum_kind { NO_SUM, SUM_OF_CONSTANT, SUM, DIFFERENCE };

static enum sum_kind sum_kind(enum insn id)
{
    switch (id) {
        CODE_W_AND_X(add, _imm)
            : CODE_W_AND_X(adds, _imm)
            : CODE_W_AND_X(sub, _imm) : CODE_W_AND_X(subs, _imm) : return SUM_OF_CONSTANT;
        CODE_W_AND_X(add, )
            : CODE_W_AND_X(add, _lsl)
            : CODE_W_AND_X(add, _shift)
            : CODE_W_AND_X(add, _ext)
            : CODE_W_AND_X(adds, )
            : CODE_W_AND_X(adds, _lsl) : CODE_W_AND_X(adds, _shift) : CODE_W_AND_X(adds, _ext) : return SUM;
        CODE_W_AND_X(sub, )
            : CODE_W_AND_X(sub, _lsl)
            : CODE_W_AND_X(sub, _shift)
            : CODE_W_AND_X(sub, _ext)
            : CODE_W_AND_X(subs, )
            : CODE_W_AND_X(subs, _lsl)
            : CODE_W_AND_X(subs, _shift) : CODE_W_AND_X(subs, _ext) : return DIFFERENCE;
    default: return NO_SUM;
    }
}

// Everything that goes in.
static struct value mixed(const struct walk *w, const struct code_insn *i)
{
    struct value v = {V_CONSTANT, 0, 0};
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if (i->reads >> f & 1)
            v = combine(v, walk_read(w, i->var[f]));
    return i->reads_flags ? combine(v, w->now[FLAGS]) : v;
}

static void walk_sum(struct walk *w, const struct code_insn *i, enum sum_kind kind)
{
    unsigned d = i->var[CODE_D];
    struct value n = walk_read(w, i->var[CODE_N]), m = walk_read(w, i->var[CODE_M]), v;
    if (kind == SUM_OF_CONSTANT) {
        v = plus(n, i->constant);
    } else {
        v = kind == SUM ? sum(w, n, m) : is_fixed(w, m) ? n : combine(n, m);
        if (d != CODE_NO_VAR && d == i->var[CODE_N] && v.kind == V_PLUS && m.kind != V_CONSTANT)
            v = unknown; // by a step that is not known
    }
    if (i->sets_flags)
        set_flags(w, kind == SUM_OF_CONSTANT && d != CODE_NO_VAR ? v : n, m);
    write_variable(w, d, v);
}

static void walk_integer(struct walk *w, const struct code_insn *i)
{
    struct value n = walk_read(w, i->var[CODE_N]);
    bool moves = (i->id == INSN_orr_w || i->id == INSN_orr_x) && i->linear;
    enum sum_kind kind = sum_kind(i->id);
    if (kind != NO_SUM) {
        walk_sum(w, i, kind);
        return;
    }
    struct value v = moves ? walk_read(w, i->var[CODE_M]) : keeps_counter(i, n) ? n : mixed(w, i);
    if (i->sets_flags)
        set_flags(w, v, v);
    if (i->writes >> CODE_D & 1)
        write_variable(w, i->var[CODE_D], v);
}

// Vectors and floating point: whatever is computed of something loaded is made of it.
static void walk_vector(struct walk *w, const struct code_insn *i)
{
    unsigned d = i->var[CODE_D];
    struct value n = walk_read(w, i->var[CODE_N]), v = mixed(w, i);
    if (i->sets_flags) {
        set_flags(w, v, unknown);
        return;
    }
    if (i->reads >> CODE_N & 1 && i->var[CODE_N] >= CODE_V0 && d < CODE_V0)
        v = combine(v, unknown); // an element, or a number in another form
    else if (i->reads >> CODE_N & 1 && is_fixed(w, n))
        v = n;
    write_variable(w, d, v);
}

void walk_instruction(struct walk *w, const struct code_insn *i)
{
    if (!i->known)
        w->shape->strange = true;
    else if (i->kind == CODE_LOAD || i->kind == CODE_STORE)
        walk_access(w, i);
    else if (i->sets_flags && i->reads_flags && !i->writes)
        compare_again(w, i);
    else if (i->vector)
        walk_vector(w, i);
    else
        walk_integer(w, i);
}
