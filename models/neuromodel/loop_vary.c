// SPDX-License-Identifier: MIT
// Other code for the same loop: what another compiler, or the same one on another day, might have made of it.
#include "loop_train.h"

#include <string.h>

#include "core/loops/propose/loop_code.h"
#include "loop_shape.h"

struct varied {
    struct loop_body *body;
    struct code_insn insn[LOOP_BODY_MAX];
};

static bool touches(const struct code_insn *i, unsigned fields, unsigned var)
{
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if (fields >> f & 1 && i->var[f] == var && var != CODE_NO_VAR)
            return true;
    return false;
}

// Whether a writes what b reads or writes.
static bool feeds(const struct code_insn *a, const struct code_insn *b)
{
    for (unsigned f = 0; f < CODE_FIELDS; f++)
        if (a->writes >> f & 1 && touches(b, b->reads | b->writes, a->var[f]))
            return true;
    return a->sets_flags && (b->sets_flags || b->reads_flags);
}

static bool moves(const struct code_insn *i)
{
    bool by_pc = i->id == INSN_adr || i->id == INSN_adrp || isa_displacement_bits(i->id).count;
    // LD1 … ST4, TBL: of more vector registers than their fields name
    bool several = i->structure || isa_info[i->id].reads & Vn_list;
    return i->kind != CODE_BRANCH && i->kind != CODE_LEAVES && !by_pc && !several;
}

static bool is_target(const struct varied *v, unsigned at)
{
    for (unsigned i = 0; i < v->body->length; i++)
        if (v->insn[i].kind == CODE_BRANCH && (int)i + v->insn[i].target == (int)at)
            return true;
    return false;
}

// Puts a word before instruction at. A branch to it leads to the new word.
static void insert(struct varied *v, unsigned at, uint32_t word)
{
    struct loop_body *body = v->body;
    for (unsigned i = 0; i < body->length; i++) {
        struct code_insn *insn = &v->insn[i];
        int to = (int)i + insn->target;
        if (insn->kind != CODE_BRANCH)
            continue;
        // Where branches lead stays where it is.
        int by = i >= at && to <= (int)at ? -1 : i < at && to > (int)at;
        body->words[i] = code_set_displacement(body->words[i], insn, (uint32_t)(insn->target + by));
    }
    memmove(&body->words[at + 1], &body->words[at], (body->length - at) * sizeof body->words[0]);
    body->words[at] = word;
    body->length++;
    for (unsigned i = 0; i < body->length; i++)
        code_decode(body->words[i], &v->insn[i]);
}

// A register that no instruction names; 31 if there is none.
static unsigned free_register(const struct varied *v, struct rng *random)
{
    uint32_t used = 0;
    for (unsigned i = 0; i < v->body->length; i++)
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            used |= v->insn[i].var[f] < 32 ? 1u << v->insn[i].var[f] : 0;
    for (unsigned tries = 0; tries < 8; tries++) {
        unsigned r = rng_below(random, 29);
        if (!(used >> r & 1))
            return r;
    }
    return 31;
}

// Something that has nothing to do with the rest.
static void insert_idle(struct varied *v, struct rng *random)
{
    unsigned r = free_register(v, random), other = rng_below(random, 29);
    uint32_t wide = rng_below(random, 2) << 31, few = 1u << rng_below(random, 7);
    if (v->body->length == LOOP_BODY_MAX || r == 31)
        return;
    const uint32_t words[] = {
        0xd503201f, // NOP
        wide | 0x11000000 | few << 10 | r << 5 | r, // ADD r, r, #few
        wide | 0x51000000 | few << 10 | r << 5 | r, // SUB
        wide | 0x2a0003e0 | other << 16 | r, // MOV r, other
        wide | 0x0b000000 | other << 16 | r << 5 | r, // ADD r, r, other
        wide | 0x52800000 | few << 5 | r, // MOVZ
        0x93407c00 | other << 5 | r, // SXTW
    };
    insert(v, rng_below(random, v->body->length), words[rng_below(random, sizeof words / sizeof words[0])]);
}

// Around some of what follows, or out of the loop, if a register is 0 or is not.
static void insert_branch(struct varied *v, struct rng *random)
{
    if (v->body->length == LOOP_BODY_MAX)
        return;
    unsigned at = rng_below(random, v->body->length);
    uint32_t by = 2 + rng_below(random, v->body->length + 3 - at);
    insert(v, at,
           0x34000000 | rng_below(random, 2) << 31 | rng_below(random, 2) << 24 | by << 5 |
               rng_below(random, 29));
}

// Streams that nothing compares, and vector code.
static void insert_stream(struct varied *v, struct rng *random)
{
    unsigned base = free_register(v, random), data = free_register(v, random);
    uint32_t a = rng_below(random, 32), b = rng_below(random, 32), c = rng_below(random, 32);
    uint32_t size = rng_below(random, 4), step = ((1u << size) * (1 + rng_below(random, 4))) & 0x1ff;
    if (v->body->length == LOOP_BODY_MAX || base == 31 || data == 31 || base == data)
        return;
    step = rng_below(random, 4) ? step : -step & 0x1ff;
    const uint32_t words[] = {
        size << 30 | 0x38400400 | step << 12 | base << 5 | data, // LDR data, [base], #step
        size << 30 | 0x38000400 | step << 12 | base << 5 | data, // STR
        0x3cc00400 | (step & 0x1f0) << 12 | base << 5 | a, // LDR Qa, [base], #step
        0x3c800400 | (step & 0x1f0) << 12 | base << 5 | a, // STR
        0x4cdf7000 | size << 10 | base << 5 | a, // LD1 {Va}, [base], #16
        0x4c9f0000 | size << 10 | base << 5 | a, // ST4 {Va, ...}, [base], #64
        0x4e208400 | size << 22 | c << 16 | b << 5 | a, // ADD Va, Vb, Vc
        0x6e201c00 | c << 16 | b << 5 | a, // EOR
        0x2f08a400 | b << 5 | a, // UXTL
        0x4f000400 | a, // MOVI
    };
    insert(v, rng_below(random, v->body->length), words[rng_below(random, sizeof words / sizeof words[0])]);
}

static void insert_call(struct varied *v, struct rng *random)
{
    if (v->body->length == LOOP_BODY_MAX)
        return;
    uint32_t far = (uint32_t)rng_next(random) & 0x3ffff, target = rng_below(random, 2) ? far : -far;
    uint32_t word = rng_below(random, 4) ? 0x94000000 | (target & 0x03ffffff) // BL
                                         : 0xd63f0000 | rng_below(random, 29) << 5; // BLR
    insert(v, rng_below(random, v->body->length), word);
}

// Exchanges neighbours of which neither needs the other.
static void reorder(struct varied *v, struct rng *random)
{
    uint32_t *words = v->body->words, pairs = v->body->length - 1;
    for (unsigned tries = 0; tries < 2 * pairs; tries++) {
        unsigned i = rng_below(random, pairs);
        struct code_insn *a = &v->insn[i], *b = a + 1;
        bool memory = a->kind != CODE_COMPUTE && b->kind != CODE_COMPUTE &&
                      (a->kind == CODE_STORE || b->kind == CODE_STORE);
        if (memory || !moves(a) || !moves(b) || feeds(a, b) || feeds(b, a) || is_target(v, i + 1))
            continue;
        struct code_insn insn = *a;
        uint32_t word = words[i];
        *a = *b;
        *b = insn;
        words[i] = words[i + 1];
        words[i + 1] = word;
    }
}

// Compares the other way round where only branches ask for the result.
static void turn_comparisons(struct varied *v, struct rng *random)
{
    // EQ NE HS LO MI PL VS VC HI LS GE LT GT LE, with the operands exchanged; 15: there is none.
    static const uint8_t turned[16] = {0, 1, 9, 8, 15, 15, 15, 15, 3, 2, 13, 12, 11, 10, 15, 15};
    uint32_t *words = v->body->words;
    for (unsigned i = 0; i < v->body->length; i++) {
        // CMP of two registers, neither shifted nor 31
        struct code_insn *insn = &v->insn[i];
        unsigned n = insn->var[CODE_N], m = insn->var[CODE_M];
        if ((insn->id != INSN_subs_w && insn->id != INSN_subs_x) || insn->var[CODE_D] != CODE_NO_VAR ||
            n == CODE_NO_VAR || m == CODE_NO_VAR || rng_below(random, 2))
            continue;
        unsigned end = i + 1;
        bool good = true;
        for (; end < v->body->length && !v->insn[end].sets_flags; end++)
            if (v->insn[end].reads_flags)
                good &= v->insn[end].kind == CODE_BRANCH && turned[v->insn[end].condition] != 15;
        for (unsigned j = 0; j < v->body->length; j++)
            good &= v->insn[j].kind != CODE_LEAVES;
        // The next iteration may ask, too.
        for (unsigned j = 0; j < i && end == v->body->length && !v->insn[j].sets_flags; j++)
            good &= !v->insn[j].reads_flags;
        if (!good)
            continue;
        words[i] = code_set_register(words[i], insn, CODE_N, m);
        words[i] = code_set_register(words[i], insn, CODE_M, n);
        code_decode(words[i], insn);
        for (unsigned j = i + 1; j < end; j++)
            if (v->insn[j].reads_flags) {
                words[j] = (words[j] & ~15u) | turned[v->insn[j].condition];
                code_decode(words[j], &v->insn[j]);
            }
    }
}

static void rename_registers(struct varied *v, struct loop_sample *sample, struct rng *random)
{
    enum { MOVED = 29 }; // not the frame's and the link register, which have a meaning of their own
    struct loop_body *body = v->body;
    uint8_t name[32];
    for (uint8_t r = 0; r < 32; r++)
        name[r] = r;
    for (uint32_t left = MOVED; left > 1; left--) {
        uint32_t other = rng_below(random, left);
        uint8_t kept = name[left - 1];
        name[left - 1] = name[other];
        name[other] = kept;
    }
    uint64_t x[32];
    memcpy(x, body->x, sizeof x);
    for (unsigned r = 0; r < 32; r++)
        body->x[name[r]] = x[r];
    for (unsigned i = 0; i < body->length; i++)
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            if (v->insn[i].var[f] < 32)
                body->words[i] = code_set_register(body->words[i], &v->insn[i], f, name[v->insn[i].var[f]]);
    sample->counter = name[sample->counter];
}

// What comes in changes the answers: they are read off the code anew. False if they cannot be.
static bool insert_some(struct varied *v, struct loop_sample *sample, bool classless, struct rng *random)
{
    struct loop_shape shape;
    if (sample->type == LOOP_TYPE_NONE || v->body->length == LOOP_BODY_MAX)
        return true;
    loop_shape_of(v->body->pc, v->body->words, v->body->length, &shape);
    bool shown = shape.type == sample->type && shape.counter == sample->counter;
    bool calls = shown && rng_below(random, 12) == 0;
    bool branches = shown && classless && rng_below(random, 3) == 0;
    if (calls)
        insert_call(v, random);
    if (branches)
        insert_branch(v, random);
    bool streams = classless && rng_below(random, 2) == 0;
    for (unsigned n = streams ? 1 + rng_below(random, 4) : 0; n; n--)
        insert_stream(v, random);
    for (unsigned n = rng_below(random, 4); n; n--)
        insert_idle(v, random);
    loop_shape_of(v->body->pc, v->body->words, v->body->length, &shape);
    if (shape.type == LOOP_TYPE_NONE || shape.strange || shape.inner)
        return false;
    if (shape.calls)
        sample->class = LOOP_NONE;
    if (calls || branches) {
        sample->type = shape.type;
        sample->counter = shape.counter;
        sample->counted = shape.counted;
        sample->trips_count = 0;
    }
    return true;
}

// The beginning of a loop, which is none. False if a branch in it leads back.
static bool cut_end(struct loop_sample *sample, struct rng *random)
{
    struct loop_body *body = &sample->body;
    if (body->length < 3)
        return false;
    body->length = 2 + rng_below(random, body->length - 2);
    for (unsigned i = 0; i < body->length; i++) {
        struct code_insn insn;
        code_decode(body->words[i], &insn);
        if (insn.kind == CODE_BRANCH && insn.target <= 0)
            return false;
    }
    sample->class = LOOP_NONE;
    sample->type = LOOP_TYPE_NONE;
    sample->counter = 31;
    sample->counted = false;
    sample->trips_count = 0;
    return true;
}

void loop_vary(struct loop_sample *sample, bool classless, struct rng *random)
{
    const struct loop_sample original = *sample;
    struct varied v = {.body = &sample->body};
    bool leaves = false;
    if (classless && rng_below(random, 16) == 0 && !cut_end(sample, random))
        *sample = original;
    for (unsigned i = 0; i < v.body->length; i++) {
        code_decode(v.body->words[i], &v.insn[i]);
        if (!v.insn[i].known)
            return;
    }
    if (rng_below(random, 2) && !insert_some(&v, sample, classless, random)) {
        *sample = original;
        return;
    }
    for (unsigned i = 0; i < v.body->length; i++)
        leaves |= v.insn[i].kind == CODE_LEAVES;
    if (v.body->length > 1)
        reorder(&v, random);
    turn_comparisons(&v, random);
    if (!leaves)
        rename_registers(&v, sample, random);
}
