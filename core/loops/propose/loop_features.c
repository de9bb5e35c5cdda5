// SPDX-License-Identifier: MIT
// The 40 static features of an instruction in a loop body: nine opcode bits below the top byte (those of the
// dispatch net; of branches, where they are displacement, the condition instead), what kind of instruction it
// is, and how its operands move through the iteration and from one iteration to the next.
#include "pattern_recognizer.h"

#include <string.h>

#include "loop_code.h"

static const uint8_t opcode_bits[] = {23, 22, 21, 15, 14, 13, 12, 11, 10};
enum { OPCODE_BITS = sizeof opcode_bits };

static code_set of_shape(const struct code_body *code, enum code_shape shape)
{
    code_set set = 0;
    for (unsigned v = 0; v < CODE_VARS; v++)
        set |= (code_set)(code->shape[v] == shape) << v;
    return set;
}

// A variable that takes in something of each iteration: a sum, a hash, a minimum.
static bool gathers(const struct code_body *code, const struct code_insn *insn)
{
    for (unsigned f = 0; f < CODE_FIELDS; f++) {
        unsigned v = insn->var[f];
        if (insn->writes >> f & 1 && v != CODE_NO_VAR && code->shape[v] == SHAPE_CARRIED &&
            code->end[v].direct >> v & 1)
            return true;
    }
    return false;
}

static bool writes_shape(const struct code_body *code, const struct code_insn *insn, enum code_shape shape)
{
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if (insn->writes >> f & 1 && insn->var[f] != CODE_NO_VAR && code->shape[insn->var[f]] == shape)
            return true;
    return false;
}

static bool two_loads(uint32_t loaded)
{
    return loaded & (loaded - 1);
}

// What a branch asks, where other instructions have their opcode's bits: the condition in bits 15:12, whether
// it asks one bit in bit 11, and in bit 10 whether that is the sign.
static uint32_t of_branch(const struct code_insn *insn)
{
    bool one_bit = insn->tests && insn->bit < 64;
    if (!insn->conditional)
        return 0;
    return (uint32_t)insn->condition << 12 | (uint32_t)one_bit << 11 |
           (uint32_t)(one_bit && (insn->bit & 31) == 31) << 10;
}

static void features_of(const struct code_body *code, unsigned at, code_set affine, code_set carried,
                        uint32_t word, float out[LOOP_FEATURES])
{
    const struct code_insn *insn = &code->insn[at];
    const struct code_fact *fact = &code->fact[at];
    const struct form *address = &fact->address, *value = &fact->value;
    float *to = out;
    bool load = insn->kind == CODE_LOAD, store = insn->kind == CODE_STORE, memory = load || store;
    bool branch = insn->kind == CODE_BRANCH;
    uint32_t opcode = branch ? of_branch(insn) : word;
    for (unsigned b = 0; b < OPCODE_BITS; b++)
        *to++ = (float)(opcode >> opcode_bits[b] & 1);

    *to++ = load && !fact->slot;
    *to++ = store && !fact->slot;
    *to++ = fact->slot;
    *to++ = memory ? (float)__builtin_ctz(insn->size | 16) / 4 : 0;
    *to++ = insn->extends_sign;
    *to++ = insn->pair || insn->structure;
    *to++ = insn->vector;
    *to++ = insn->kind == CODE_LEAVES;
    *to++ = fact->conditional;

    // branches, comparisons
    const struct code_fact *test = fact;
    if (branch && !insn->tests && code->flags_from[at] < LOOP_BODY_MAX)
        test = &code->fact[code->flags_from[at]];
    bool decides = branch && insn->conditional, compares = decides || insn->sets_flags;
    struct form none = {0};
    const struct form *left = compares ? &test->left : &none, *right = compares ? &test->right : &none;
    uint32_t compared = left->loaded | right->loaded;
    *to++ = decides && code_is_exit(code, at);
    // Back to the header, or -1: to before what is seen of the body.
    *to++ = !branch || insn->target > 0 ? 0 : (int)at + insn->target < 0 ? -1 : (int)at + insn->target == 0;
    *to++ = branch && insn->target > 0 && at + insn->target < code->length;
    *to++ = compared != 0;
    *to++ = two_loads(compared);
    *to++ = ((left->from | right->from) & affine) != 0 && !compared;
    *to++ = ((left->direct | right->direct) & carried) != 0;

    // memory
    int64_t step = 0;
    bool heap = memory && !fact->slot, steady = heap && code_form_is_steady(code, address);
    bool known = steady && code_form_step(code, address, NULL, &step);
    int64_t loaded = heap ? code_bytes_beside(code, at, CODE_LOAD) : 0;
    int64_t stored = heap ? code_bytes_beside(code, at, CODE_STORE) : 0;
    int64_t dense = load ? loaded : stored, length = step < 0 ? -step : step;
    *to++ = known && step && length <= dense;
    *to++ = steady && (!known || length > dense);
    *to++ = known && step == 0;
    *to++ = memory && address->loads > 0;
    *to++ = memory && address->loads > 1;
    *to++ = fact->composes;
    *to++ = memory && code_form_chases(code, address);
    *to++ = load ? loaded > code_bytes(insn) : loaded > 0;
    *to++ = store ? stored > code_bytes(insn) : stored > 0;

    // values
    *to++ = value->loads > 0;
    *to++ = two_loads(value->loaded);
    *to++ = insn->kind == CODE_STORE && !value->loads && !(value->from & (affine | carried));
    *to++ = writes_shape(code, insn, SHAPE_AFFINE);
    *to++ = gathers(code, insn);
    *to++ = (value->direct & carried) != 0;
}

void loop_features(const struct loop_body *body, float features[LOOP_BODY_MAX][LOOP_FEATURES])
{
    struct code_body code;
    code_read(body, &code);
    code_set affine = of_shape(&code, SHAPE_AFFINE), carried = of_shape(&code, SHAPE_CARRIED);
    for (unsigned i = 0; i < body->length; i++)
        features_of(&code, i, affine, carried, body->words[i], features[i]);
}
