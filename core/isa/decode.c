// SPDX-License-Identifier: MIT
// The decoder: looks words up in the tables that decode_gen.c has made of insns.def.
#include "isa.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu.h"
#include "decode_steps.h"
#include "patterns.h"

const struct insn_info isa_info[INSN_COUNT] = {
    [INSN_UNDEFINED] = {KIND_STOP, GROUP_SYSTEM, 0, 0},
#define INSN(name, kind, group, reads, writes, ...)                                                          \
    [INSN_##name] = {KIND_##kind, GROUP_##group, reads, writes},
#include "insns.def"
#undef INSN
};

const struct insn_text isa_texts[INSN_COUNT] = {
    [INSN_UNDEFINED] = {"undefined", "", "udf"},
#define INSN(name, kind, group, reads, writes, pattern, text) [INSN_##name] = {#name, pattern, text},
#include "insns.def"
#undef INSN
};

// ---- what the columns of insns.def say of an op ----

static uint32_t one_register(uint8_t index)
{
    return index <= REG_SP ? 1u << index : 0;
}

// CASP's: number * 2 and the next; 31 is ZR there.
static uint32_t pair_of_registers(uint8_t number)
{
    return (3u << number * 2) & ~(1u << REG_SP);
}

// count of them from first on, V0 behind V31.
static uint32_t list_of_registers(uint8_t first, unsigned count)
{
    uint64_t list = ((1ull << count) - 1) << first;
    return (uint32_t)(list | list >> 32);
}

struct isa_registers isa_registers(uint32_t states, const op *o)
{
    struct isa_registers r = {0, 0};
    r.x |= states & Xd ? one_register(o->d) : 0;
    r.x |= states & Xn ? one_register(o->n) : 0;
    r.x |= states & Xm ? one_register(o->m) : 0;
    r.x |= states & Xa ? one_register(o->a) : 0;
    r.x |= states & Xd_pair ? pair_of_registers(o->d) : 0;
    r.x |= states & Xa_pair ? pair_of_registers(o->a) : 0;
    r.x |= states & LR ? one_register(REG_LR) : 0;
    r.v |= states & Vd ? list_of_registers(o->d, 1) : 0;
    r.v |= states & Vd2 ? list_of_registers(o->d, 2) : 0;
    r.v |= states & Vd3 ? list_of_registers(o->d, 3) : 0;
    r.v |= states & Vd4 ? list_of_registers(o->d, 4) : 0;
    r.v |= states & Vn ? list_of_registers(o->n, 1) : 0;
    r.v |= states & Vn_list ? list_of_registers(o->n, o->val + 1) : 0;
    r.v |= states & Vm ? list_of_registers(o->m, 1) : 0;
    r.v |= states & Va ? list_of_registers(o->a, 1) : 0;
    return r;
}

// The places of the op that such a number goes to.
static bool is_place_of(enum place place, enum insn_state operand)
{
    switch (place) {
    case TO_D_SRC:
    case TO_D_DST:
    case TO_D_SP: return operand == Xd;
    case TO_N_SRC:
    case TO_N_SP: return operand == Xn;
    case TO_M_SRC:
    case TO_M_DST: return operand == Xm;
    case TO_A_SRC:
    case TO_A_DST: return operand == Xa;
    default: return false;
    }
}

struct isa_bits isa_register_bits(enum insn id, enum insn_state operand)
{
    const struct pattern *p = &isa_patterns[id];
    for (unsigned i = 0; i < p->extract_count; i++)
        if (is_place_of((enum place)p->extract[i].place, operand))
            return (struct isa_bits){p->extract[i].lsb, p->extract[i].width};
    return (struct isa_bits){0, 0};
}

struct isa_bits isa_displacement_bits(enum insn id)
{
    const struct pattern *p = &isa_patterns[id];
    for (unsigned i = 0; i < p->extract_count; i++)
        if (p->extract[i].place == TO_DISP)
            return (struct isa_bits){p->extract[i].lsb, p->extract[i].width};
    return (struct isa_bits){0, 0};
}

// ---- decoding ----

struct table {
    const uint16_t *start, *items; // as isa_bucket_start and isa_bucket_items
};

static struct table kernels[GROUP_COUNT]; // of each group's instructions

// Deals the whole table out to the groups.
static void compile_kernels(void)
{
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        uint16_t *start = malloc((BUCKET_COUNT + 1) * sizeof *start);
        uint16_t *items = malloc(isa_bucket_start[BUCKET_COUNT] * sizeof *items);
        unsigned total = 0;
        if (!start || !items)
            abort();
        for (uint32_t b = 0; b < BUCKET_COUNT; b++) {
            start[b] = (uint16_t)total;
            for (unsigned i = isa_bucket_start[b]; i < isa_bucket_start[b + 1]; i++)
                if ((unsigned)isa_info[isa_bucket_items[i]].group == group)
                    items[total++] = isa_bucket_items[i];
        }
        start[BUCKET_COUNT] = (uint16_t)total;
        kernels[group] = (struct table){start, items};
    }
}

static void put(op *o, const struct extract *x, uint32_t value)
{
    uint8_t byte = (uint8_t)value;
    uint8_t source = byte == 31 ? REG_ZERO : byte, destination = byte == 31 ? REG_SINK : byte;
    int64_t sign_extended = (int64_t)((uint64_t)value << (64 - x->width)) >> (64 - x->width);
    switch ((enum place)x->place) {
    case TO_D_SRC: o->d = source; break;
    case TO_D_DST: o->d = destination; break;
    case TO_N_SRC: o->n = source; break;
    case TO_M_SRC: o->m = source; break;
    case TO_M_DST: o->m = destination; break;
    case TO_A_SRC: o->a = source; break;
    case TO_A_DST: o->a = destination; break;
    case TO_D_SP:
    case TO_D: o->d = byte; break;
    case TO_N_SP:
    case TO_N: o->n = byte; break;
    case TO_M: o->m = byte; break;
    case TO_A: o->a = byte; break;
    case TO_IMM: o->imm = (uint64_t)value * x->scale; break;
    case TO_SIMM: o->imm = (uint64_t)(sign_extended * x->scale); break;
    case TO_DISP: o->disp = (int32_t)sign_extended; break;
    case TO_VAL: o->val = value * x->scale; break;
    case TO_Q: o->q = byte; break;
    case TO_SIZE: o->size = byte; break;
    case TO_E: o->e = byte; break;
    case TO_F: o->f = byte; break;
    case TO_RAW: break;
    }
}

static bool excluded(const struct pattern *p, uint32_t word)
{
    for (unsigned i = 0; i < p->exclusion_count; i++)
        if ((word & p->exclusion[i].mask) == p->exclusion[i].match)
            return true;
    return false;
}

static bool take(const struct pattern *p, uint32_t word, uint32_t pc, op *o)
{
    struct raw_fields raw;
    raw.pc = pc;
    *o = (op){0};
    for (unsigned i = 0; i < p->extract_count; i++) {
        const struct extract *x = &p->extract[i];
        uint32_t value = word >> x->lsb & low_mask(x->width);
        raw.field[x->field] = value;
        put(o, x, value);
    }
    for (unsigned i = 0; i < p->step_count; i++)
        if (!decode_steps[p->step[i]](&raw, o))
            return false;
    return true;
}

static inline enum insn decode_with(const struct table *t, uint32_t word, uint32_t pc, op *out)
{
    uint32_t bucket = word >> (32 - BUCKET_BITS);
    for (unsigned i = t->start[bucket]; i < t->start[bucket + 1]; i++) {
        const struct pattern *p = &isa_patterns[t->items[i]];
        if ((word & p->mask) == p->match && !excluded(p, word) && take(p, word, pc, out))
            return (enum insn)t->items[i];
    }
    return INSN_UNDEFINED;
}

enum insn isa_decode(uint32_t word, uint32_t pc, op *out)
{
    return decode_with(&(struct table){isa_bucket_start, isa_bucket_items}, word, pc, out);
}

bool isa_resembles(uint32_t word, enum insn id)
{
    return (word & isa_patterns[id].mask) == isa_patterns[id].match;
}

// Only a machine in pure mode asks the kernels, so only it pays for their tables.
enum insn isa_decode_in(enum insn_group group, uint32_t word, uint32_t pc, op *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile_kernels);
    return decode_with(&kernels[group], word, pc, out);
}
