// SPDX-License-Identifier: MIT
// The decoder, compiled at start-up from the patterns of insns.def.
//
// A pattern lists the word from bit 31 down to bit 0, its parts separated by spaces:
//   0110x      literal bits; x matches both (a "should be" bit of the manual)
//   Rd         a field, by a name of fields.def
//   val:3      a field of another width than the table's
//   size!11    a field that must not have this value (several: size!11!10)
//   imm12*8    a field whose value is multiplied by a constant
// After the 32 bits may follow the names of finishing steps (decode_steps.h).
#include "isa.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "decode_steps.h"

const struct insn_info isa_info[INSN_COUNT] = {
    [INSN_UNDEFINED] = {"undefined", "", "udf", KIND_STOP, GROUP_SYSTEM, 0, 0},
#define INSN(name, kind, group, reads, writes, pattern, text)                                                \
    [INSN_##name] = {#name, pattern, text, KIND_##kind, GROUP_##group, reads, writes},
#include "insns.def"
#undef INSN
};

enum place {
    TO_D_SRC,
    TO_D_DST,
    TO_D_SP,
    TO_N_SRC,
    TO_N_SP,
    TO_M_SRC,
    TO_M_DST,
    TO_A_SRC,
    TO_A_DST, // register indices
    TO_D,
    TO_N,
    TO_M,
    TO_A, // the bytes of the op, as they are
    TO_IMM,
    TO_SIMM, // imm, zero- or sign-extended
    TO_VAL,
    TO_Q,
    TO_SIZE,
    TO_E,
    TO_F, // the SIMD view of imm
    TO_DISP, // disp, sign-extended
    TO_RAW, // nowhere: a finishing step reads it
};

static const struct field_info {
    const char *name;
    uint8_t width;
    uint8_t place;
} field_info[FIELD_COUNT] = {
#define FIELD(name, width, place) {#name, width, place},
#include "fields.def"
#undef FIELD
};

enum {
    MAX_FIELDS = 10,
    MAX_STEPS = 2,
    MAX_EXCLUSIONS = 6,
    BUCKET_BITS = 11, // a word's bits 31..21 choose its bucket
    BUCKET_COUNT = 1 << BUCKET_BITS,
};

// ---- compiled patterns ----

struct extract {
    uint8_t field; // enum field
    uint8_t place; // enum place
    uint8_t lsb, width;
    uint8_t scale;
};

struct pattern {
    uint32_t mask, match;
    uint8_t extract_count, step_count, exclusion_count;
    struct extract extract[MAX_FIELDS];
    decode_step *step[MAX_STEPS];
    struct {
        uint32_t mask, match;
    } exclusion[MAX_EXCLUSIONS];
};

static struct pattern patterns[INSN_COUNT];

// The patterns that fit each bucket.
struct table {
    uint16_t start[BUCKET_COUNT + 1];
    uint16_t *items; // enum insn, in the order of insns.def within a bucket
};

static struct table whole, kernels[GROUP_COUNT]; // of all instructions; of each group's

static _Noreturn void malformed(enum insn id, const char *why, const char *where)
{
    fprintf(stderr, "insns.def: %s: %s at '%s'\n", isa_info[id].name, why, where);
    abort();
}

static uint32_t low_mask(unsigned width)
{
    return width >= 32 ? ~0u : (1u << width) - 1;
}

// One field token: name[:width][!bits]...[*scale]
static void compile_field(enum insn id, struct pattern *p, const char *token, unsigned *bit)
{
    size_t length = strcspn(token, ":!*");
    unsigned field = 0;
    while (field < FIELD_COUNT &&
           (strlen(field_info[field].name) != length || memcmp(field_info[field].name, token, length) != 0))
        field++;
    if (field == FIELD_COUNT || p->extract_count == MAX_FIELDS)
        malformed(id, "unknown field or too many", token);
    struct extract *x = &p->extract[p->extract_count++];
    *x = (struct extract){(uint8_t)field, field_info[field].place, 0, field_info[field].width, 1};
    const char *rest = token + length;
    if (*rest == ':')
        x->width = (uint8_t)strtoul(rest + 1, (char **)&rest, 10);
    if (x->width == 0 || x->width > *bit)
        malformed(id, "more than 32 bits", token);
    *bit -= x->width;
    x->lsb = (uint8_t)*bit;
    while (*rest == '!') {
        uint32_t value = (uint32_t)strtoul(rest + 1, (char **)&rest, 2);
        if (p->exclusion_count == MAX_EXCLUSIONS)
            malformed(id, "too many exclusions", token);
        p->exclusion[p->exclusion_count].mask = low_mask(x->width) << x->lsb;
        p->exclusion[p->exclusion_count++].match = value << x->lsb;
    }
    if (*rest == '*')
        x->scale = (uint8_t)strtoul(rest + 1, (char **)&rest, 10);
    if (*rest)
        malformed(id, "trailing characters", token);
}

static void compile_step(enum insn id, struct pattern *p, const char *token)
{
    decode_step *step = decode_step_named(token);
    if (!step || p->step_count == MAX_STEPS)
        malformed(id, "unknown step or too many", token);
    p->step[p->step_count++] = step;
}

static void compile_pattern(enum insn id)
{
    struct pattern *p = &patterns[id];
    char text[256];
    if (strlen(isa_info[id].pattern) >= sizeof text)
        malformed(id, "pattern too long", isa_info[id].pattern);
    strcpy(text, isa_info[id].pattern);
    unsigned bit = 32;
    char *rest = text;
    for (char *token; (token = strtok_r(rest, " ", &rest)) != NULL;) {
        if (bit == 0) {
            compile_step(id, p, token);
        } else if (token[strspn(token, "01x")] == '\0') {
            for (; *token; token++) {
                if (bit == 0)
                    malformed(id, "more than 32 bits", token);
                bit--;
                if (*token != 'x') {
                    p->mask |= 1u << bit;
                    p->match |= (uint32_t)(*token - '0') << bit;
                }
            }
        } else {
            compile_field(id, p, token, &bit);
        }
    }
    if (bit != 0)
        malformed(id, "fewer than 32 bits", isa_info[id].pattern);
}

// Calls add with every bucket that has words of the pattern.
static void for_buckets(const struct pattern *p, unsigned id, void (*add)(unsigned id, uint32_t bucket))
{
    uint32_t fixed = p->mask >> (32 - BUCKET_BITS), free_bits = ~fixed & (BUCKET_COUNT - 1), subset = 0;
    uint32_t match = p->match >> (32 - BUCKET_BITS) & fixed;
    do {
        add(id, match | subset);
        subset = (subset - free_bits) & free_bits; // the next subset of the free bits
    } while (subset);
}

static uint16_t bucket_end[BUCKET_COUNT]; // while the buckets are filled

static void count_item(unsigned id, uint32_t bucket)
{
    (void)id;
    bucket_end[bucket]++;
}

static void add_item(unsigned id, uint32_t bucket)
{
    whole.items[bucket_end[bucket]++] = (uint16_t)id;
}

static void compile_all(void)
{
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        compile_pattern((enum insn)id);
        for_buckets(&patterns[id], id, count_item);
    }
    unsigned total = 0;
    for (uint32_t b = 0; b < BUCKET_COUNT; b++) {
        whole.start[b] = (uint16_t)total;
        total += bucket_end[b];
        bucket_end[b] = whole.start[b];
    }
    whole.start[BUCKET_COUNT] = (uint16_t)total;
    if (total > UINT16_MAX)
        malformed(INSN_UNDEFINED, "patterns too wide for the decoder's buckets", "");
    whole.items = malloc(total * sizeof whole.items[0]);
    if (!whole.items)
        abort();
    for (unsigned id = 1; id < INSN_COUNT; id++)
        for_buckets(&patterns[id], id, add_item);
}

// Deals the whole table out to the groups.
static void compile_kernels(void)
{
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        struct table *t = &kernels[group];
        unsigned total = 0;
        t->items = malloc(whole.start[BUCKET_COUNT] * sizeof t->items[0]);
        if (!t->items)
            abort();
        for (uint32_t b = 0; b < BUCKET_COUNT; b++) {
            t->start[b] = (uint16_t)total;
            for (unsigned i = whole.start[b]; i < whole.start[b + 1]; i++)
                if ((unsigned)isa_info[whole.items[i]].group == group)
                    t->items[total++] = whole.items[i];
        }
        t->start[BUCKET_COUNT] = (uint16_t)total;
    }
}

void isa_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile_all);
}

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
    const struct pattern *p = &patterns[id];
    for (unsigned i = 0; i < p->extract_count; i++)
        if (is_place_of((enum place)p->extract[i].place, operand))
            return (struct isa_bits){p->extract[i].lsb, p->extract[i].width};
    return (struct isa_bits){0, 0};
}

struct isa_bits isa_displacement_bits(enum insn id)
{
    const struct pattern *p = &patterns[id];
    for (unsigned i = 0; i < p->extract_count; i++)
        if (p->extract[i].place == TO_DISP)
            return (struct isa_bits){p->extract[i].lsb, p->extract[i].width};
    return (struct isa_bits){0, 0};
}

// ---- decoding ----

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
        if (!p->step[i](&raw, o))
            return false;
    return true;
}

static inline enum insn decode_with(const struct table *t, uint32_t word, uint32_t pc, op *out)
{
    uint32_t bucket = word >> (32 - BUCKET_BITS);
    for (unsigned i = t->start[bucket]; i < t->start[bucket + 1]; i++) {
        const struct pattern *p = &patterns[t->items[i]];
        if ((word & p->mask) == p->match && !excluded(p, word) && take(p, word, pc, out))
            return (enum insn)t->items[i];
    }
    return INSN_UNDEFINED;
}

enum insn isa_decode(uint32_t word, uint32_t pc, op *out)
{
    return decode_with(&whole, word, pc, out);
}

// Only a machine in pure mode asks the kernels, so only it pays for their tables.
enum insn isa_decode_in(enum insn_group group, uint32_t word, uint32_t pc, op *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile_kernels);
    return decode_with(&kernels[group], word, pc, out);
}
