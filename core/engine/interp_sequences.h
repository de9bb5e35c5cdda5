// SPDX-License-Identifier: MIT
// Part of interp.c: sequences of instructions that run in one handler, made from sequences.def and the same
// definitions as the handlers of single instructions.
//
// Its lines are in the file SEQUENCES_DEF; sequences.def explains them.
//
// What an interpreter mostly waits for is a register's value on its way through memory from one handler to
// the next. So a sequence also says which operands are the same register; its handler keeps a register file
// of its own, indexed by constants, that the compiler turns into host registers. Each result is stored to the
// cpu at once, too: the state is exact at every access.
#ifndef CORE_ENGINE_INTERP_SEQUENCES_H
#define CORE_ENGINE_INTERP_SEQUENCES_H

enum {
    SEQUENCE_MAX = 12, // instructions
    SEQUENCE_FIELD = 64, // plus a field's value
    _ = 255, // whatever the op has there
    FORWARD = false,
    BACKWARD = true,
};

// ---- handlers ----

#define INSN(name, kind, group, pattern, text)                                                               \
    static const char pattern_##name[] UNUSED = pattern, text_##name[] UNUSED = text;
#include "../isa/insns_int.def"
#include "../isa/insns_mem.def"
#undef INSN

#define SEQUENCE_FUNCTION static inline __attribute__((always_inline, unused))

// What stands in the op of a step for one of its bytes; a register that the file does not hold yet is loaded.
SEQUENCE_FUNCTION uint8_t step_byte(const cpu *c, cpu *file, uint64_t *held, unsigned wanted, uint8_t byte)
{
    if (wanted == _)
        return byte;
    if (wanted < REG_ZERO && !(*held >> wanted & 1)) {
        file->x[wanted] = c->x[byte];
        *held |= 1ull << wanted;
    }
    return (uint8_t)(wanted < SEQUENCE_FIELD ? wanted : wanted - SEQUENCE_FIELD);
}

// The op of a step, with slots of the register file in place of registers.
SEQUENCE_FUNCTION op begin_step(cpu *c, cpu *file, uint64_t *held, const op *o, bool accesses, unsigned d,
                                unsigned n, unsigned m, unsigned a)
{
    if (accesses)
        c->current = o;
    return (op){
        .d = step_byte(c, file, held, d, o->d),
        .n = step_byte(c, file, held, n, o->n),
        .m = step_byte(c, file, held, m, o->m),
        .a = step_byte(c, file, held, a, o->a),
        .imm = o->imm,
    };
}

// Member by member: a copy of the whole would keep the register file in memory.
SEQUENCE_FUNCTION void copy_flags(cpu *to, const cpu *from)
{
    to->flags.a = from->flags.a;
    to->flags.b = from->flags.b;
    to->flags.kind = from->flags.kind;
}

SEQUENCE_FUNCTION bool sets_flags(const char *name)
{
    return __builtin_strncmp(name, "adds", 4) == 0 || __builtin_strncmp(name, "subs", 4) == 0 ||
           __builtin_strncmp(name, "ands", 4) == 0 || __builtin_strncmp(name, "bics", 4) == 0 ||
           __builtin_strncmp(name, "adcs", 4) == 0 || __builtin_strncmp(name, "sbcs", 4) == 0 ||
           __builtin_strncmp(name, "ccm", 3) == 0;
}

// Stores what the instruction so called has written; its line in insns.def, which is constant, tells what.
SEQUENCE_FUNCTION void end_step(cpu *c, const cpu *file, const op *o, const char *name, const char *pattern,
                                const char *text, unsigned d, unsigned n, unsigned m)
{
    bool writes_d = __builtin_strstr(pattern, "Rd") ||
                    (__builtin_strstr(pattern, "Rt") && !__builtin_strstr(pattern, "Rts"));
    bool writes_m = __builtin_strstr(pattern, "Rt2") && !__builtin_strstr(pattern, "Rt2s");
    bool writes_n = __builtin_strstr(text, "]!") || __builtin_strstr(text, "],");
    if (writes_d && d < REG_ZERO)
        c->x[o->d] = file->x[d];
    if (writes_m && m < REG_ZERO)
        c->x[o->m] = file->x[m];
    if (writes_n && n < REG_ZERO)
        c->x[o->n] = file->x[n];
    if (sets_flags(name))
        copy_flags(c, file);
}

#define BEGIN_STEP(name, d, n, m, a) begin_step(c, &file, &held, o, accesses_##name, d, n, m, a)
#define STEP(name, d, n, m, a)                                                                               \
    {                                                                                                        \
        op step = BEGIN_STEP(name, d, n, m, a);                                                              \
        sem_##name(&file, &step);                                                                            \
        end_step(c, &file, o, #name, pattern_##name, text_##name, d, n, m);                                  \
        o++;                                                                                                 \
    }
#define LAST_CONDITION(name, d, n, m, a)                                                                     \
    {                                                                                                        \
        op step = BEGIN_STEP(name, d, n, m, a);                                                              \
        if (sem_##name(&file, &step)) {                                                                      \
            if (is_back)                                                                                     \
                TAKE_BACKWARD(o);                                                                            \
            TAKE_FORWARD(o);                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    o++;
// These may write LR: they work on the cpu itself.
#define LAST_JUMP(name) RUN_JUMP(name, is_back);
#define LAST_INDIRECT(name) RUN_INDIRECT(name);

// o ends at the last one's op, so that its branch is accounted for there.
#define SEQUENCE(number, direction, steps)                                                                   \
    DEFINE(do_sequence_##number)                                                                             \
    {                                                                                                        \
        __attribute__((unused)) const bool is_back = direction;                                              \
        uint64_t held = 0;                                                                                   \
        cpu file = {.memory = c->memory};                                                                    \
        copy_flags(&file, c);                                                                                \
        steps GO_ON(o);                                                                                      \
    }
#include SEQUENCES_DEF
#undef SEQUENCE
#undef STEP
#undef LAST_CONDITION
#undef LAST_JUMP
#undef LAST_INDIRECT

// ---- the lines as a table ----

// An instruction and what the line says of d, n, m and a; 0 behind the last.
#define STEP_KEY(insn, d, n, m, a) ((uint64_t)(insn) << 32 | (uint32_t)(d) << 24 | (n) << 16 | (m) << 8 | (a))

static const struct sequence {
    handler_function *handler;
    bool is_back;
    uint64_t steps[SEQUENCE_MAX + 1];
} sequences[] = {
#define STEP(name, d, n, m, a) STEP_KEY(INSN_##name, d, n, m, a),
#define LAST_CONDITION(name, d, n, m, a) STEP_KEY(INSN_##name, d, n, m, a),
#define LAST_JUMP(name) STEP_KEY(INSN_##name, _, _, _, _),
#define LAST_INDIRECT(name) STEP_KEY(INSN_##name, _, _, _, _),
#define SEQUENCE(number, direction, steps) {do_sequence_##number, direction, {steps}},
#include SEQUENCES_DEF
#undef SEQUENCE
#undef STEP
#undef LAST_CONDITION
#undef LAST_JUMP
#undef LAST_INDIRECT
};

enum { SEQUENCE_COUNT = sizeof sequences / sizeof sequences[0] };

static unsigned sequence_length(const struct sequence *s)
{
    unsigned length = 0;
    while (s->steps[length])
        length++;
    return length;
}

// The op at o gets a handler of its own: the sequences that run over it are decoded anew.
static void end_sequences_at(const cpu *c, op *o)
{
    for (unsigned n = 1; n < SEQUENCE_MAX && n <= pc_of(c, o) % GUEST_PAGE / 4; n++)
        for (const struct sequence *s = sequences; s < sequences + SEQUENCE_COUNT; s++)
            if (o[-(int)n].handler == handler_offset(s->handler) && s->steps[n])
                o[-(int)n].handler = 0;
}

// The lines that begin with what has been compared so far: they stand together.
struct lines {
    const struct sequence *low, *high; // [low, high)
    unsigned compared; // steps
    unsigned slots; // that they have
    uint8_t slot_of[REG_SP + 1]; // of a register: 0 = none, else the slot + 1
};

// The first line whose next step is not below key.
static const struct sequence *bound(const struct lines *l, uint64_t key)
{
    const struct sequence *low = l->low, *high = l->high;
    while (low < high) {
        const struct sequence *middle = low + (high - low) / 2;
        if (middle->steps[l->compared] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Leaves the lines whose next step is in [first, last]; false if there are none.
static bool keep_lines(struct lines *l, uint64_t first, uint64_t last)
{
    l->low = bound(l, first);
    l->high = bound(l, last + 1);
    return l->low < l->high;
}

// How a line would have to say byte; like is what one says that has the same instruction there.
static uint8_t byte_of_line(struct lines *l, uint8_t like, uint8_t byte)
{
    if (like == _)
        return _;
    if (like >= SEQUENCE_FIELD)
        return (uint8_t)(byte + SEQUENCE_FIELD);
    if (byte > REG_SP)
        return byte;
    if (!l->slot_of[byte])
        l->slot_of[byte] = (uint8_t)++l->slots;
    return (uint8_t)(l->slot_of[byte] - 1);
}

// Leaves the lines that go on with o, an instruction id; false if there are none.
static bool compare_step(struct lines *l, enum insn id, const op *o)
{
    if (!keep_lines(l, STEP_KEY(id, 0, 0, 0, 0), STEP_KEY(id, _, _, _, _)))
        return false;
    const uint64_t like = l->low->steps[l->compared];
    const uint8_t d = byte_of_line(l, (uint8_t)(like >> 24), o->d);
    const uint8_t n = byte_of_line(l, (uint8_t)(like >> 16), o->n);
    const uint8_t m = byte_of_line(l, (uint8_t)(like >> 8), o->m);
    const uint8_t a = byte_of_line(l, (uint8_t)like, o->a);
    const uint64_t key = STEP_KEY(id, d, n, m, a);
    const bool any = keep_lines(l, key, key);
    l->compared++;
    return any;
}

#endif
