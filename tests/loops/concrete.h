// SPDX-License-Identifier: MIT
// Runs a loop's body with numbers, one iteration at a time, by the instructions' definitions: all of memory
// is readable and writable, and holds noise until something is stored.
#ifndef TESTS_LOOPS_CONCRETE_H
#define TESTS_LOOPS_CONCRETE_H

#include <string.h>

#include "../../core/isa/isa.h"
#include "../../core/loops/expr/summary.h"

enum { BYTES = 1 << 12, RECORDS = 64 };

// One access of an iteration, in the order in which they happen.
struct record {
    uint32_t pc;
    unsigned size, alignment;
    bool is_store;
    uint64_t address, value;
};

static struct memory_image {
    uint64_t seed;
    unsigned count;
    struct {
        uint32_t address;
        uint8_t value;
    } bytes[BYTES]; // stored
} image;

static struct record records[RECORDS];
static unsigned record_count;
static uint32_t record_pc;
static struct {
    uint64_t address;
    unsigned size;
} aligned; // what the instruction has required, size 0: nothing

static uint8_t *stored_byte(uint32_t address)
{
    for (unsigned k = image.count; k-- > 0;)
        if (image.bytes[k].address == address)
            return &image.bytes[k].value;
    return NULL;
}

static void copy_image(struct memory_image *to, const struct memory_image *from)
{
    to->seed = from->seed;
    to->count = from->count;
    memcpy(to->bytes, from->bytes, from->count * sizeof from->bytes[0]);
}

static uint64_t image_load(uint64_t address, unsigned size)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < size; k++) {
        const uint8_t *stored = stored_byte((uint32_t)(address + k));
        uint64_t noise = ((uint32_t)(address + k) ^ image.seed) * 0x9e3779b97f4a7c15;
        value |= (stored ? *stored : (noise ^ noise >> 32) * 0xbf58476d1ce4e5b9 >> 56) << 8 * k;
    }
    return value;
}

static void image_store(uint64_t address, unsigned size, uint64_t value)
{
    for (unsigned k = 0; k < size; k++) {
        uint8_t *stored = stored_byte((uint32_t)(address + k));
        if (!stored && image.count < BYTES) {
            image.bytes[image.count].address = (uint32_t)(address + k);
            stored = &image.bytes[image.count++].value;
        }
        if (stored)
            *stored = (uint8_t)(value >> 8 * k);
    }
}

static void record(bool is_store, uint64_t address, unsigned size, uint64_t value)
{
    if (record_count < RECORDS)
        records[record_count++] =
            (struct record){record_pc, size,    aligned.size && aligned.address == address ? aligned.size : 1,
                            is_store,  address, value};
}

#define ACCESSORS(bits, type)                                                                                \
    static inline type load##bits(cpu *c, const op *o, uint64_t address)                                     \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        uint64_t value = image_load(address, bits / 8);                                                      \
        record(false, address, bits / 8, value);                                                             \
        return (type)value;                                                                                  \
    }                                                                                                        \
    static inline void store##bits(cpu *c, const op *o, uint64_t address, type value)                        \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        record(true, address, bits / 8, value);                                                              \
        image_store(address, bits / 8, value);                                                               \
    }

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)

static inline u64x2 load128(cpu *c, const op *o, uint64_t address)
{
    return (u64x2){load64(c, o, address), load64(c, o, address + 8)};
}

static inline void store128(cpu *c, const op *o, uint64_t address, u64x2 value)
{
    store64(c, o, address, value[0]);
    store64(c, o, address + 8, value[1]);
}

static inline void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store)
{
    (void)c, (void)o, (void)is_store;
    aligned.address = address;
    aligned.size = size;
}

static uint64_t read_counter(cpu *c)
{
    (void)c;
    return 0;
}

static void invalidate_code(cpu *c, uint64_t address)
{
    (void)c, (void)address;
}

#include "../../core/isa/sem.h"

#define RUN_OP(name) (sem_##name(c, o), false)
#define RUN_JUMP(name) (sem_##name(c, o), true)
#define RUN_CONDITION(name) sem_##name(c, o)
#define RUN_INDIRECT(name) (sem_##name(c, o), true)
#define RUN_STOP(name) (sem_##name(c, o), true)

// Runs one instruction; whether it branches.
static bool run_instruction(cpu *c, enum insn insn, const op *o)
{
    switch (insn) {
#define INSN(name, kind, ...)                                                                                \
    case INSN_##name:                                                                                        \
        return RUN_##kind(name);
#include "../../core/isa/insns_int.def"
#include "../../core/isa/insns_mem.def"
#undef INSN
    default: return false;
    }
}

// How an iteration ended.
struct outcome {
    bool left;
    uint32_t pc, target; // of the branch that left
    uint64_t length; // instructions
};

// One iteration of the loop of s, from and to c; its accesses are records.
static struct outcome run_iteration(const struct loop_summary *s, cpu *c)
{
    struct outcome end = {0};
    record_count = 0;
    for (uint32_t pc = s->header;;) {
        op o = {0};
        enum insn insn = isa_decode(s->words[(pc - s->header) / 4], pc, &o);
        record_pc = pc;
        aligned.size = 0;
        bool branches = run_instruction(c, insn, &o);
        c->x[REG_ZERO] = 0;
        end.length++;
        uint32_t next = branches ? pc + (uint32_t)o.disp * 4 : pc + 4;
        if (next == s->header)
            return end;
        if (next < s->header || next > s->branch) {
            end.left = true;
            end.pc = pc;
            end.target = next;
            return end;
        }
        pc = next;
    }
}

static void get_vars(const cpu *c, uint64_t vars[LOOP_VARS])
{
    memcpy(vars, c->x, 32 * sizeof vars[0]);
    vars[LOOP_VAR_FLAGS_A] = c->flags.a;
    vars[LOOP_VAR_FLAGS_B] = c->flags.b;
    vars[LOOP_VAR_FLAGS_KIND] = c->flags.kind;
    vars[LOOP_VAR_LENGTH] = 0;
}

static void set_vars(cpu *c, const uint64_t vars[LOOP_VARS])
{
    memcpy(c->x, vars, 32 * sizeof vars[0]);
    c->x[REG_ZERO] = 0;
    c->flags =
        (struct flags){vars[LOOP_VAR_FLAGS_A], vars[LOOP_VAR_FLAGS_B], (uint32_t)vars[LOOP_VAR_FLAGS_KIND]};
}

#endif
