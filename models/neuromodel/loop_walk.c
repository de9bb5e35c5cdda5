// SPDX-License-Identifier: MIT
#include "loop_walk.h"

#include <string.h>

static const struct value unknown = {V_OTHER, 0, 0}, loaded = {V_LOADED, 0, 0}, made = {V_MADE, 0, 0};

static void write_register(struct walk *w, unsigned r, struct value v)
{
    if (r != ZERO)
        w->now[r] = v;
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
    bool none = variable == ZERO;
    if (is_load) {
        struct value v = slot ? *slot : loaded;
        if (!slot) {
            walk_count_access(w, address, true, unknown);
            if (address.kind == V_PLUS)
                v.id = address.id + 1; // for chases
        }
        if (!none)
            w->now[variable] = v;
    } else {
        struct value v = none ? (struct value){V_CONSTANT, 0, 0} : w->now[variable];
        w->shape->slots |= slot != NULL;
        if (slot)
            *slot = v;
        else
            walk_count_access(w, address, false, v);
    }
}

static struct value read_base(const struct walk *w, unsigned rn)
{
    return w->now[rn == 31 ? STACK_POINTER : rn];
}

static void write_back(struct walk *w, unsigned rn, int64_t offset)
{
    unsigned variable = rn == 31 ? STACK_POINTER : rn;
    w->now[variable] = plus(w->now[variable], offset);
}

static void walk_pair(struct walk *w, uint32_t word)
{
    unsigned rn = bits(word, 5, 5), mode = bits(word, 23, 2), vector = bits(word, 26, 1) ? VECTORS : 0;
    unsigned size = vector ? 4u << bits(word, 30, 2) : bits(word, 31, 1) ? 8 : 4;
    int64_t offset = signed_bits(word, 15, 7) * size, at = mode == 1 ? 0 : offset;
    bool is_load = bits(word, 22, 1), stack = rn == 31 || rn == FRAME;
    struct value base = read_base(w, rn);
    unsigned first = bits(word, 0, 5) + vector, second = bits(word, 10, 5) + vector;
    access_one(w, first, is_load, base, stack ? slot(w, rn, at) : NULL);
    access_one(w, second, is_load, base, stack ? slot(w, rn, at + size) : NULL);
    if (mode == 1 || mode == 3)
        write_back(w, rn, offset);
}

static void walk_register_access(struct walk *w, uint32_t word)
{
    unsigned rn = bits(word, 5, 5), opc = bits(word, 22, 2), vector = bits(word, 26, 1) ? VECTORS : 0;
    unsigned log_size = bits(word, 30, 2) + (vector && opc > 1 ? 4 : 0), rt = bits(word, 0, 5) + vector;
    bool is_load = vector ? opc & 1 : opc != 0, stack = rn == 31 || rn == FRAME;
    struct value base = read_base(w, rn);
    if (!vector && log_size == 3 && opc == 2)
        return; // a prefetch
    if (bits(word, 24, 1)) { // scaled offset
        int64_t offset = (int64_t)bits(word, 10, 12) << log_size;
        access_one(w, rt, is_load, base, stack ? slot(w, rn, offset) : NULL);
    } else if (bits(word, 21, 1) && bits(word, 10, 2) == 2) { // register offset
        struct value index = read_register(w, bits(word, 16, 5));
        access_one(w, rt, is_load, sum(w, base, index), NULL);
    } else if (bits(word, 21, 1)) { // an atomic operation
        access_one(w, rt, false, base, NULL);
        access_one(w, rt, true, base, NULL);
    } else {
        int64_t offset = signed_bits(word, 12, 9);
        unsigned mode = bits(word, 10, 2);
        access_one(w, rt, is_load, base, stack ? slot(w, rn, mode == 1 ? 0 : offset) : NULL);
        if (mode & 1)
            write_back(w, rn, offset);
    }
}

static void walk_access(struct walk *w, uint32_t word)
{
    unsigned rn = bits(word, 5, 5), rt = bits(word, 0, 5);
    bool is_load = bits(word, 22, 1);
    if ((word & 0x3b000000u) == 0x18000000u) { // of a literal
        access_one(w, rt + (bits(word, 26, 1) ? VECTORS : 0), true, (struct value){V_CONSTANT, 0, 0}, NULL);
    } else if ((word & 0x3a000000u) == 0x28000000u) {
        walk_pair(w, word);
    } else if ((word & 0x3a000000u) == 0x38000000u) {
        walk_register_access(w, word);
    } else if ((word & 0x3f000000u) == 0x08000000u) { // exclusive or ordered
        access_one(w, rt, is_load, read_base(w, rn), NULL);
        if (!bits(word, 23, 1) && !is_load)
            write_register(w, bits(word, 16, 5), unknown);
    } else if ((word & 0xbe000000u) == 0x0c000000u) { // of vector structures
        unsigned opcode = bits(word, 12, 4);
        unsigned registers = opcode == 7 || opcode == 8 ? 1 : opcode == 10 || opcode == 9 ? 2 : 4;
        for (unsigned i = 0; i < registers; i++)
            access_one(w, VECTORS + (rt + i) % 32, is_load, read_base(w, rn), NULL);
        if (bits(word, 23, 1))
            write_back(w, rn, 16 * registers);
    } else {
        w->shape->strange = true;
    }
}

// ---- computing ----

static void set_flags(struct walk *w, struct value a, struct value b)
{
    w->now[FLAGS] = combine(a, b);
    w->compared[0] = a, w->compared[1] = b;
    w->chain = 0;
}

// SXTW and the like: counters, and what was loaded, stay what they are.
static bool keeps_counter(uint32_t word, struct value n)
{
    unsigned op = bits(word, 23, 3), highest = bits(word, 10, 6);
    if (bits(word, 16, 6) != 0)
        return false;
    if (op == 6 && bits(word, 29, 2) != 1)
        return highest >= 31 || (n.kind == V_PLUS && (highest == 7 || highest == 15));
    return op == 4 && bits(word, 29, 2) == 0 && n.kind == V_PLUS && (highest == 7 || highest == 15);
}

static void walk_immediate(struct walk *w, uint32_t word)
{
    unsigned rd = bits(word, 0, 5), rn = bits(word, 5, 5), op = bits(word, 23, 3);
    struct value n = read_register(w, rn);
    if (op == 2) { // ADD, SUB
        int64_t by = (int64_t)bits(word, 10, 12) << (bits(word, 22, 1) ? 12 : 0);
        bool flags = bits(word, 29, 1);
        struct value v = plus(read_base(w, rn), bits(word, 30, 1) ? -by : by);
        if (flags)
            set_flags(w, rd == ZERO ? read_base(w, rn) : v, (struct value){V_CONSTANT, 0, 0});
        if (flags)
            write_register(w, rd, v);
        else
            w->now[rd == 31 ? STACK_POINTER : rd] = v;
    } else if (op == 0 || op == 1 || (op == 5 && bits(word, 29, 2) != 3)) { // ADR, MOVZ, MOVN
        write_register(w, rd, (struct value){V_CONSTANT, 0, 0});
    } else if (op == 5) { // MOVK
        write_register(w, rd, combine(w->now[rd], (struct value){V_CONSTANT, 0, 0}));
    } else if (keeps_counter(word, n)) {
        write_register(w, rd, n);
    } else { // logical, bit fields, EXTR
        struct value v = combine(n, n);
        if (op == 4 && bits(word, 29, 2) == 3)
            set_flags(w, v, v);
        if (!(op == 4 && bits(word, 29, 2) == 3 && rd == ZERO))
            write_register(w, rd, op == 4 && n.kind == V_CONSTANT ? n : v);
    }
}

static void walk_registers(struct walk *w, uint32_t word)
{
    unsigned rd = bits(word, 0, 5), rn = bits(word, 5, 5), rm = bits(word, 16, 5);
    struct value n = read_register(w, rn), m = read_register(w, rm);
    if ((word & 0x1f000000u) == 0x0b000000u) { // ADD, SUB of registers
        bool flags = bits(word, 29, 1);
        struct value v = bits(word, 30, 1) ? (is_fixed(w, m) ? n : combine(n, m)) : sum(w, n, m);
        if (rd != ZERO && rd == rn && v.kind == V_PLUS && m.kind != V_CONSTANT)
            v = unknown; // by a step that is not known
        if (flags)
            set_flags(w, n, m);
        write_register(w, rd, v);
    } else if ((word & 0x7fe0ffe0u) == 0x2a0003e0u) { // MOV
        write_register(w, rd, m);
    } else if ((word & 0x1fe00000u) == 0x1a400000u) { // CCMP, CCMN: with what was compared before
        struct value first[2] = {w->compared[0], w->compared[1]};
        bool chained = w->chain != 0;
        set_flags(w, n, bits(word, 11, 1) ? (struct value){V_CONSTANT, 0, 0} : m);
        memcpy(w->after, w->compared, sizeof w->after);
        if (hangs_on_data(combine(first[0], first[1])))
            w->compared[0] = made;
        w->chain = chained ? 0 : word;
        memcpy(w->before, first, sizeof first);
    } else {
        struct value v = combine(n, m);
        if ((word & 0x1f000000u) == 0x1b000000u) // MADD, …
            v = combine(v, read_register(w, bits(word, 10, 5)));
        if ((word & 0x1fe00000u) == 0x1a800000u) // CSEL, …
            v = combine(v, w->now[FLAGS]);
        if ((word & 0x7f000000u) == 0x6a000000u) // ANDS
            set_flags(w, v, v);
        write_register(w, rd, v);
    }
}

// Vectors and floating point: whatever is computed of something loaded is made of it.
static void walk_vector(struct walk *w, uint32_t word)
{
    unsigned rd = bits(word, 0, 5), rn = bits(word, 5, 5), rm = bits(word, 16, 5);
    bool from_general = (word & 0xbfe0fc00u) == 0x0e000c00u || (word & 0x7f36fc00u) == 0x1e260000u ||
                        (word & 0xffe0fc00u) == 0x4e001c00u || (word & 0x7f3ffc00u) == 0x1e270000u ||
                        (word & 0x7f3efc00u) == 0x1e220000u; // DUP, INS, FMOV, SCVTF of a general register
    bool to_general = (word & 0xbfe0f400u) == 0x0e003400u || (word & 0xbfe0fc00u) == 0x0e002c00u ||
                      (word & 0x7f3ffc00u) == 0x1e260000u || (word & 0x7f36fc00u) == 0x1e200000u;
    if ((word & 0xff203c00u) == 0x1e202000u) { // FCMP
        set_flags(w, combine(w->now[VECTORS + rn], w->now[VECTORS + rm]), unknown);
    } else if (to_general) {
        write_register(w, rd, combine(w->now[VECTORS + rn], unknown));
    } else if (from_general) {
        struct value v = read_register(w, rn);
        w->now[VECTORS + rd] = is_fixed(w, v) ? v : combine(v, v);
    } else if ((word & 0x9ff80400u) == 0x0f000400u) { // MOVI, …
        w->now[VECTORS + rd] = (struct value){V_CONSTANT, 0, 0};
    } else {
        struct value v = combine(w->now[VECTORS + rn], w->now[VECTORS + rm]);
        w->now[VECTORS + rd] = hangs_on_data(w->now[VECTORS + rd]) ? made : v;
    }
}

void walk_instruction(struct walk *w, uint32_t word)
{
    switch (bits(word, 25, 4)) {
    case 8:
    case 9: walk_immediate(w, word); break;
    case 5:
    case 13: walk_registers(w, word); break;
    case 7:
    case 15: walk_vector(w, word); break;
    case 4:
    case 6:
    case 12:
    case 14: walk_access(w, word); break;
    default: w->shape->strange = true;
    }
}
