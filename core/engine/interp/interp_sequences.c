// SPDX-License-Identifier: MIT
// Sequences of instructions that run in one handler, made from sequences.def and the same definitions as the
// handlers of single instructions. Compiled once for each part of that file, SEQUENCES_PART.
//
// What an interpreter mostly waits for is a register's value on its way through memory from one handler to
// the next. So a sequence also says which operands are the same register; its handler keeps a register file
// of its own, indexed by constants, that the compiler turns into host registers. Each result is stored to the
// cpu at once, too: the state is exact at every access.
#include "interp_handlers.h"
#include "sequences.h"

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

// Stores what the instruction has written, which is constant.
SEQUENCE_FUNCTION void end_step(cpu *c, const cpu *file, const op *o, uint32_t writes, unsigned d, unsigned n,
                                unsigned m)
{
    if (writes & Xd && d < REG_ZERO)
        c->x[o->d] = file->x[d];
    if (writes & Xm && m < REG_ZERO)
        c->x[o->m] = file->x[m];
    if (writes & Xn && n < REG_ZERO)
        c->x[o->n] = file->x[n];
    if (writes & NZCV)
        copy_flags(c, file);
}

#define BEGIN_STEP(name, d, n, m, a) begin_step(c, &file, &held, o, ACCESSES(name), d, n, m, a)
#define STEP(name, d, n, m, a)                                                                               \
    {                                                                                                        \
        op step = BEGIN_STEP(name, d, n, m, a);                                                              \
        sem_##name(&file, &step);                                                                            \
        end_step(c, &file, o, writes_##name, d, n, m);                                                       \
        o++;                                                                                                 \
    }
#define LAST_CONDITION(name, d, n, m, a)                                                                     \
    {                                                                                                        \
        op step = BEGIN_STEP(name, d, n, m, a);                                                              \
        if (sem_##name(&file, &step)) {                                                                      \
            if (direction == FORWARD)                                                                        \
                TAKE_FORWARD(o);                                                                             \
            if (direction == BACKWARD || HANDLER(first) != own)                                              \
                TAKE_BACKWARD(o);                                                                            \
            TAKE_BACKWARD_TO(o, first, GO_ROUND);                                                            \
        }                                                                                                    \
    }                                                                                                        \
    o++;
#define GO_ROUND(target) goes_round = true
// These may write LR: they work on the cpu itself.
#define LAST_JUMP(name) RUN_JUMP(name, direction == BACKWARD);
#define LAST_INDIRECT(name) RUN_INDIRECT(name);

// A round behind the first finds its registers in the file. There is one for as long as the first op has this
// handler: a plan, a watch or translated code that takes its place is come to.
#define AGAIN_FORWARD(steps)
#define AGAIN_BACKWARD(steps)
#define AGAIN_ROUND(steps)                                                                                   \
    while (goes_round) {                                                                                     \
        o = first;                                                                                           \
        goes_round = false;                                                                                  \
        steps                                                                                                \
    }

// o ends at the last one's op, so that its branch is accounted for there.
#define SEQUENCE(number, way, steps)                                                                         \
    extern handler_function interp_sequence_##number;                                                        \
    HANDLER_FUNCTION(interp_sequence_##number)                                                               \
    {                                                                                                        \
        __attribute__((unused)) const enum sequence_direction direction = way;                               \
        __attribute__((unused)) handler_function *const own = interp_sequence_##number;                      \
        __attribute__((unused)) op *const first = o;                                                         \
        __attribute__((unused)) bool goes_round = false;                                                     \
        uint64_t held = 0;                                                                                   \
        cpu file = {.memory = c->memory};                                                                    \
        copy_flags(&file, c);                                                                                \
        steps AGAIN_##way(steps) GO_ON(o);                                                                   \
    }
#define PART(number) ((number) == SEQUENCES_PART)
#include SEQUENCES_DEF
