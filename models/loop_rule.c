// SPDX-License-Identifier: MIT
// The hand rule that the nets are compared with: from the same reading of the body that gives them their
// inputs.
#include "loop_train.h"

#include <math.h>
#include <string.h>

#include "../core/nn/loop_code.h"

// What the body does with memory, apart from the stack's own slots.
struct traffic {
    unsigned loads, stores, invariant_loads, looked_up, chased, strided, contiguous;
    const struct code_fact *lookup; // a load whose address is no plain stream
    const struct code_fact *store;
    bool calls;
};

static bool chases(const struct code_body *code, const struct form *address)
{
    for (unsigned v = 0; v < CODE_VARS; v++) {
        const struct form *end = &code->end[v];
        if (address->from >> v & 1 && code->shape[v] == SHAPE_CARRIED && end->loads && end->from >> v & 1 &&
            !(end->direct >> v & 1))
            return true;
    }
    return false;
}

static void look_at_memory(const struct code_body *code, struct traffic *t)
{
    memset(t, 0, sizeof *t);
    for (unsigned i = 0; i < code->length; i++) {
        const struct code_insn *insn = &code->insn[i];
        const struct code_fact *fact = &code->fact[i];
        t->calls |= insn->kind == CODE_LEAVES;
        if ((insn->kind != CODE_LOAD && insn->kind != CODE_STORE) || fact->slot)
            continue;
        int64_t step, size = insn->pair ? 2 * insn->size : insn->size;
        bool stream = code_form_step(code, &fact->address, &step);
        bool load = insn->kind == CODE_LOAD;
        t->loads += load;
        t->stores += !load;
        t->chased += chases(code, &fact->address);
        if (!load)
            t->store = fact;
        if (!stream) {
            t->looked_up += load;
            if (load)
                t->lookup = fact;
        } else if (step == 0) {
            t->invariant_loads += load;
        } else {
            t->contiguous += step == size || step == -size;
            t->strided += step != size && step != -size;
        }
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
    if (t.stores) {
        if (!t.loads)
            return affine_in(code, t.store->value.from) || t.store->value.loads ? LOOP_OTHER : LOOP_FILL;
        if (swaps(code, &t))
            return LOOP_SORT_PASS;
        if (t.looked_up && !t.chased && t.store->value.loads)
            return affine_in(code, t.lookup->address.from) > 1 ? LOOP_SPAN : LOOP_COLUMN;
        if (!t.store->value.loads)
            return LOOP_OTHER;
        for (unsigned i = 0; i < code->length; i++)
            if (code->insn[i].kind == CODE_COMPUTE && code->fact[i].value.loads)
                return LOOP_MAP;
        return t.strided ? LOOP_STRIDED_COPY : LOOP_COPY;
    }
    if (t.chased)
        return LOOP_LIST_WALK;
    if (!t.loads)
        return accumulates(code) ? LOOP_OTHER : LOOP_COUNTDOWN;
    if (t.loads == t.invariant_loads)
        return tested ? LOOP_POLL : LOOP_OTHER;
    if (accumulates(code))
        return LOOP_REDUCTION;
    if (tested > 1)
        return LOOP_COMPARE;
    if (tested)
        return t.strided ? LOOP_SEARCH : LOOP_SCAN;
    return LOOP_OTHER;
}

void loop_rule(const struct loop_body *body, struct loop_guess *guess)
{
    struct code_body code;
    struct code_way way;
    code_read(body, &code);
    code_find_way(&code, body->x, 31, &way);
    memset(guess, 0, sizeof *guess);
    guess->class = class_of(&code);
    guess->confidence = 1;
    guess->counter = way.counter;
    guess->type = guess->class == LOOP_NONE    ? LOOP_TYPE_NONE
                  : !way.found                 ? LOOP_TYPE_DATA
                  : code.step[way.counter] > 0 ? LOOP_TYPE_UP
                                               : LOOP_TYPE_DOWN;
    double trips = way.found ? fabs((double)way.distance / (double)way.step) + way.inclusive : 1;
    guess->predicted_trips = (float)log2(fmax(trips, 1));
    guess->detector_trips = (float)log10(fmax(trips, 1));
}
