// SPDX-License-Identifier: MIT
// The hand rule that the nets are compared with: from the same reading of the body that gives them their
// inputs.
#include "loop_train.h"

#include <math.h>
#include <string.h>

#include "core/loops/propose/loop_code.h"

// What the body does with memory, apart from the stack's own slots.
struct traffic {
    unsigned loads, stores, fixed_loads, strided;
    bool looked_up; // a load's address is no plain stream
    bool chased; // a load's address is what a load got in the iteration before
    bool composes; // two parts of registers are brought together
    bool made; // something is computed of what was loaded
    bool calls;
    const struct code_fact *store;
};

static void look_at_memory(const struct code_body *code, struct traffic *t)
{
    memset(t, 0, sizeof *t);
    for (unsigned i = 0; i < code->length; i++) {
        const struct code_insn *insn = &code->insn[i];
        const struct code_fact *fact = &code->fact[i];
        t->calls |= insn->kind == CODE_LEAVES;
        t->composes |= fact->composes;
        bool moved = insn->linear && insn->n_factor + insn->m_factor == 1 && insn->constant == 0;
        bool writes = insn->writes >> CODE_D & 1 && insn->var[CODE_D] != CODE_NO_VAR;
        t->made |= insn->kind == CODE_COMPUTE && writes && fact->value.loads && !moved;
        if ((insn->kind != CODE_LOAD && insn->kind != CODE_STORE) || fact->slot)
            continue;
        int64_t step = 0;
        bool load = insn->kind == CODE_LOAD, steady = code_form_is_steady(code, &fact->address);
        bool known = code_form_step(code, &fact->address, NULL, &step);
        int64_t dense = code_bytes_beside(code, i, insn->kind);
        t->loads += load;
        t->stores += !load;
        t->chased |= code_form_chases(code, &fact->address);
        if (!load)
            t->store = fact;
        t->looked_up |= load && !steady;
        t->fixed_loads += load && known && step == 0;
        t->strided += steady && (!known || step > dense || -step > dense);
    }
}

static unsigned affine_in(const struct code_body *code, code_set from)
{
    unsigned n = 0;
    for (unsigned v = 0; v < CODE_VARS; v++)
        n += from >> v & 1 && code->shape[v] == SHAPE_AFFINE;
    return n;
}

// Some variable takes in what the iteration loads.
static bool accumulates(const struct code_body *code)
{
    for (unsigned v = 0; v < CODE_VARS; v++)
        if (code->shape[v] == SHAPE_CARRIED && code->end[v].loads && code->end[v].direct >> v & 1)
            return true;
    return false;
}

static const struct code_fact *compared(const struct code_body *code, unsigned i)
{
    if (code->insn[i].tests || code->flags_from[i] == LOOP_BODY_MAX)
        return &code->fact[i];
    return &code->fact[code->flags_from[i]];
}

// Loads that an exit's comparison hangs on: 0, 1, or 2 for more.
static unsigned loads_compared(const struct code_body *code)
{
    unsigned most = 0;
    for (unsigned i = 0; i < code->length; i++) {
        if (!code_is_exit(code, i))
            continue;
        const struct code_fact *f = compared(code, i);
        unsigned n = (unsigned)__builtin_popcount(f->left.loaded | f->right.loaded);
        most = n > most ? n : most;
    }
    return most > 2 ? 2 : most;
}

// Every exit that tests what was loaded wants it equal to something, or different.
static bool for_equality(const struct code_body *code)
{
    bool all = true;
    for (unsigned i = 0; i < code->length; i++)
        if (code_is_exit(code, i) && (compared(code, i)->left.loaded | compared(code, i)->right.loaded))
            all &= code->insn[i].condition < 2;
    return all;
}

static bool swaps(const struct code_body *code, const struct traffic *t)
{
    if (t->loads < 2 || t->stores < 2 || t->looked_up)
        return false;
    for (unsigned i = 0; i < code->length; i++) {
        const struct code_insn *insn = &code->insn[i];
        bool decides = insn->kind == CODE_BRANCH && insn->conditional && !code_is_exit(code, i);
        decides |= insn->kind == CODE_COMPUTE && insn->reads_flags;
        if (decides && code->flags_from[i] < LOOP_BODY_MAX) {
            const struct code_fact *f = compared(code, i);
            if (f->left.loaded && f->right.loaded)
                return true;
        }
    }
    return false;
}

static enum loop_class class_of(const struct code_body *code)
{
    struct traffic t;
    look_at_memory(code, &t);
    const struct code_insn *last = &code->insn[code->length - 1];
    if (t.calls || last->kind != CODE_BRANCH || (int)code->length - 1 + last->target > 0)
        return LOOP_NONE;
    unsigned tested = loads_compared(code);
    if (t.chased)
        return LOOP_LIST_WALK;
    if (t.stores && !t.loads)
        return affine_in(code, t.store->value.from) || t.store->value.loads ? LOOP_OTHER : LOOP_FILL;
    if (t.stores) {
        if (swaps(code, &t) || (tested && t.store->value.loads && !t.looked_up))
            return LOOP_SORT_PASS;
        if (t.looked_up && t.store->value.loads)
            return t.composes ? LOOP_SPAN : LOOP_COLUMN;
        if (!t.store->value.loads)
            return LOOP_OTHER;
        return t.made ? LOOP_MAP : t.strided ? LOOP_STRIDED_COPY : LOOP_COPY;
    }
    if (!t.loads)
        return accumulates(code) ? LOOP_OTHER : LOOP_COUNTDOWN;
    if (t.loads == t.fixed_loads)
        return tested ? LOOP_POLL : LOOP_OTHER;
    if (accumulates(code))
        return LOOP_REDUCTION;
    if (tested > 1)
        return LOOP_COMPARE;
    if (tested)
        return t.strided || t.made || !for_equality(code) ? LOOP_SEARCH : LOOP_SCAN;
    return LOOP_OTHER;
}

static bool hangs_on_loads(const struct code_body *code)
{
    for (unsigned i = 0; i < code->length; i++)
        if (code_is_exit(code, i) && (compared(code, i)->left.loads || compared(code, i)->right.loads))
            return true;
    return false;
}

void loop_rule(const struct loop_body *body, struct loop_guess *guess)
{
    struct code_body code;
    struct code_way way;
    code_read(body, &code);
    code_find_way(&code, body->x, 31, &way);
    const struct code_insn *last = &code.insn[code.length - 1];
    bool loops = last->kind == CODE_BRANCH && (int)code.length - 1 + last->target <= 0;
    if (!loops)
        way = (struct code_way){.counter = 31};
    memset(guess, 0, sizeof *guess);
    guess->class = class_of(&code);
    guess->confidence = 1;
    guess->counter = way.counter;
    guess->type = !loops                                ? LOOP_TYPE_NONE
                  : !way.found || hangs_on_loads(&code) ? LOOP_TYPE_DATA
                  : way.up                              ? LOOP_TYPE_UP
                                                        : LOOP_TYPE_DOWN;
    double trips = way.found ? fabs((double)way.distance / (double)way.step) + way.inclusive : 1;
    guess->predicted_trips = (float)log2(fmax(trips, 1));
    guess->detector_trips = (float)log10(fmax(trips, 1));
}
