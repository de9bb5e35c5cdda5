// SPDX-License-Identifier: MIT
// Runs every scalar floating-point instruction over special and pseudo-random operands in every mode of FPCR,
// and prints a line of hashes of all results, FPSR and NZCV for each:  instruction  hash of RN RP RM RZ ...
//
// Built for aarch64 it executes the instructions: its output under another implementation of A64 and under
// ours is to be the same. Built for the host it calls their definitions in sem_fp.h instead, to the same end,
// without a decoder or an engine between.
//
//   fp_test                  all
//   fp_test NAME             that instruction
//   fp_test NAME MODE        every case of it in one mode: operands, then what came out
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What an instruction works on; the layout is known to the assembly text below.
struct state {
    uint64_t v[4][2];
    uint64_t x[4];
    uint64_t fpsr, nzcv;
};

typedef void run_function(struct state *s);

#ifdef __aarch64__

#define CASE(id, kinds, text, meaning)                                                                       \
    static void run_##id(struct state *s)                                                                    \
    {                                                                                                        \
        __asm__ volatile("ldp q0, q1, [%0]\n ldp q2, q3, [%0, #32]\n"                                        \
                         "ldp x0, x1, [%0, #64]\n ldp x2, x3, [%0, #80]\n"                                   \
                         "ldr x4, [%0, #96]\n msr fpsr, x4\n msr nzcv, x2\n" text                            \
                         "\n mrs x4, fpsr\n str x4, [%0, #96]\n mrs x4, nzcv\n str x4, [%0, #104]\n"         \
                         "str q3, [%0, #48]\n str x3, [%0, #88]\n"                                           \
                         :                                                                                   \
                         : "r"(s)                                                                            \
                         : "x0", "x1", "x2", "x3", "x4", "v0", "v1", "v2", "v3", "cc", "memory");            \
    }
#include "fp_cases.def"
#undef CASE

static void set_fpcr(uint32_t fpcr)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)fpcr));
}

#else

#include "../../core/isa/cpu.h"

#define SEM static inline __attribute__((always_inline, unused))
#define UNUSED __attribute__((unused))
#define OP(name) SEM void sem_##name(UNUSED cpu *c, UNUSED const op *o)
#define X(slot) c->x[o->slot]
#define V(slot) c->v[o->slot]
#define W(slot) ((uint32_t)c->x[o->slot])
#include "../../core/isa/sem_fp.h"

static cpu the_cpu;

static void take_state(const struct state *s)
{
    for (int i = 0; i < 4; i++) {
        the_cpu.v[i] = (u64x2){s->v[i][0], s->v[i][1]};
        the_cpu.x[i] = s->x[i];
    }
    the_cpu.fpsr = (uint32_t)s->fpsr;
    update_fp_fast(&the_cpu);
    set_flags_nzcv(&the_cpu, (uint32_t)s->x[2]);
}

static void give_state(struct state *s)
{
    s->v[3][0] = the_cpu.v[3][0];
    s->v[3][1] = the_cpu.v[3][1];
    s->x[3] = the_cpu.x[3];
    s->fpsr = the_cpu.fpsr;
    s->nzcv = get_nzcv(&the_cpu);
}

#define CASE(id, kinds, text, meaning)                                                                       \
    static void run_##id(struct state *s)                                                                    \
    {                                                                                                        \
        UNUSED cpu *c = &the_cpu;                                                                            \
        take_state(s);                                                                                       \
        meaning;                                                                                             \
        give_state(s);                                                                                       \
    }
#include "fp_cases.def"
#undef CASE

static void set_fpcr(uint32_t fpcr)
{
    the_cpu.fpcr = fpcr;
}

#endif

static const struct instruction {
    const char *name, *kinds;
    run_function *run;
} instructions[] = {
#define CASE(id, kinds, text, meaning) {#id, kinds, run_##id},
#include "fp_cases.def"
#undef CASE
};

enum {
    INSTRUCTION_COUNT = sizeof instructions / sizeof instructions[0],
    MODE_COUNT = 32, // bits 1..0 RMode, 2 FZ, 3 DN, 4 AHP
    MAX_VALUES = 512,
    RANDOM_CASES = 5000, // for each instruction and mode; the special operands come on top
};

static uint32_t fpcr_of_mode(unsigned mode)
{
    return (mode & 3) << 22 | (mode >> 2 & 1) << 24 | (mode >> 3 & 1) << 25 | (mode >> 4 & 1) << 26;
}

// ---- operands ----

static uint64_t random_state;

// SplitMix64, by its published constants.
static uint64_t random64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct values {
    unsigned count;
    uint64_t value[MAX_VALUES];
};

struct format {
    unsigned width, fraction_bits;
};

static struct format format_of(char kind)
{
    switch (kind) {
    case 'H': return (struct format){16, 10};
    case 'S': return (struct format){32, 23};
    default: return (struct format){64, 52};
    }
}

static void put(struct values *v, uint64_t value)
{
    if (v->count == MAX_VALUES)
        abort();
    v->value[v->count++] = value;
}

// Both signs of an exponent field with a fraction.
static void put_fp(struct values *v, struct format f, unsigned exponent, uint64_t fraction)
{
    uint64_t bits = (uint64_t)exponent << f.fraction_bits | fraction;
    put(v, bits);
    put(v, bits | 1ull << (f.width - 1));
}

// How many operands an instruction has decides how many values each may take.
enum depth { FEW, SOME, MANY };

static void special_fp(struct values *v, struct format f, enum depth depth)
{
    unsigned max = (1u << (f.width - 1 - f.fraction_bits)) - 1, bias = max / 2;
    uint64_t ones = (1ull << f.fraction_bits) - 1, half = 1ull << (f.fraction_bits - 1);
    put_fp(v, f, 0, 0);
    put_fp(v, f, 0, 1);
    put_fp(v, f, 1, 0);
    put_fp(v, f, bias, 0);
    put_fp(v, f, max - 1, ones);
    put_fp(v, f, max, 0);
    put_fp(v, f, max, half | 5);
    put_fp(v, f, max, 9);
    if (depth == FEW)
        return;
    put_fp(v, f, 0, ones);
    put_fp(v, f, 1, 1);
    put_fp(v, f, bias - 1, ones);
    put_fp(v, f, bias, 1);
    put_fp(v, f, bias + 1, half);
    put_fp(v, f, bias + 1, 0);
    put_fp(v, f, bias - f.fraction_bits, 0);
    put_fp(v, f, max, half);
    put_fp(v, f, max, ones);
    put_fp(v, f, max, 1);
    if (depth == SOME)
        return;
    // halves, and what lies about integers of 31 to 64 bits and about the limits of formats
    static const int exponents[] = {-150, -149, -148, -127, -126, -125, -25,  -24,  -15,   -14,  -2, -1,
                                    0,    1,    2,    9,    10,   11,   14,   15,   16,    22,   23, 24,
                                    30,   31,   32,   33,   51,   52,   53,   61,   62,    63,   64, 65,
                                    126,  127,  128,  129,  252,  1021, 1022, 1023, -1022, -1023};
    uint64_t fractions[] = {0, 1, half, half - 1, half | 1, ones, ones - 1};
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        int exponent = exponents[i] + (int)bias;
        if (exponent < 0 || exponent > (int)max - 1)
            continue;
        for (size_t j = i % 2; j < sizeof fractions / sizeof fractions[0]; j += 2)
            put_fp(v, f, (unsigned)exponent, fractions[j]);
    }
}

static void special_integers(struct values *v, unsigned width, enum depth depth)
{
    static const uint8_t bits[] = {0, 1, 24, 25, 31, 32, 53, 54, 62, 63};
    if (depth == FEW) { // as NZCV
        for (uint64_t i = 0; i < 16; i++)
            put(v, i << 28);
        return;
    }
    put(v, 0);
    for (size_t i = 0; i < sizeof bits; i++) {
        if (bits[i] >= width)
            continue;
        uint64_t value = 1ull << bits[i];
        for (int64_t offset = -3; offset <= 3; offset++) {
            put(v, value + (uint64_t)offset);
            put(v, 0 - value + (uint64_t)offset);
        }
    }
}

static void special_values(struct values *v, char kind, enum depth depth)
{
    v->count = 0;
    if (kind == 'W' || kind == 'X')
        special_integers(v, kind == 'W' ? 32 : 64, depth);
    else
        special_fp(v, format_of(kind), depth);
}

// Bits that are often near a special exponent, a previous operand's, or have few ones.
static uint64_t random_operand(char kind, uint64_t previous)
{
    uint64_t bits = random64(), choice = random64();
    if (kind == 'W' || kind == 'X')
        return bits >> (choice & 63);
    struct format f = format_of(kind);
    unsigned max = (1u << (f.width - 1 - f.fraction_bits)) - 1;
    uint64_t ones = (1ull << f.fraction_bits) - 1, fraction = bits & ones;
    unsigned exponent = (unsigned)(bits >> f.fraction_bits) & max;
    switch (choice & 7) {
    case 0:
    case 1: exponent = ((unsigned)(previous >> f.fraction_bits) + (exponent & 7) - 4) & max; break;
    case 2: exponent = max / 2 + (exponent & 127) - 64; break;
    case 3: exponent = max - (unsigned)(previous >> f.fraction_bits) % (max + 1); break;
    default: break;
    }
    if (choice & 0x100)
        fraction &= ~(ones >> (choice >> 16 & 31));
    if (choice & 0x200)
        fraction ^= ones >> (choice >> 24 & 31);
    return (bits & 1ull << (f.width - 1)) | (uint64_t)(exponent & max) << f.fraction_bits | fraction;
}

// ---- running ----

static uint64_t hash;
static bool verbose;

static void add_to_hash(uint64_t value)
{
    hash = (hash ^ value) * 0x9fb21c651e98df25u;
    hash ^= hash >> 29;
}

static void run_case(const struct instruction *insn, const uint64_t operand[3], uint64_t fpsr)
{
    struct state s = {.fpsr = fpsr};
    for (int i = 0; i < 3; i++) {
        char kind = insn->kinds[i < (int)strlen(insn->kinds) ? i : 0];
        uint64_t unused = kind == 'H' ? ~0ull << 16 : kind == 'S' || kind == 'W' ? ~0ull << 32 : 0;
        s.x[i] = s.v[i][0] = (operand[i] & ~unused) | (0x123456789abcdef0u & unused);
        s.v[i][1] = 0xfedcba9876543210u ^ operand[i];
    }
    s.v[3][0] = s.v[3][1] = s.x[3] = 0x5a5a5a5a5a5a5a5au;
    insn->run(&s);
    add_to_hash(s.v[3][0]);
    add_to_hash(s.v[3][1]);
    add_to_hash(s.x[3]);
    add_to_hash(s.fpsr << 32 | s.nzcv);
    if (verbose)
        printf("%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " fpsr %02" PRIx64 " = %016" PRIx64 "%016" PRIx64
               " %016" PRIx64 " fpsr %02" PRIx64 " nzcv %" PRIx64 "\n",
               s.v[0][0], s.v[1][0], s.v[2][0], fpsr, s.v[3][1], s.v[3][0], s.x[3], s.fpsr, s.nzcv >> 28);
}

// FPSR before a case: clear, with IXC (the usual state of a running program), or with all others.
static const uint64_t fpsr_before[] = {0, 0x10, 0x0800008f};

static void run_special(const struct instruction *insn)
{
    static struct values table[3];
    size_t operands = strlen(insn->kinds);
    enum depth depth = operands == 1 ? MANY : operands == 2 ? SOME : FEW;
    for (size_t i = 0; i < 3; i++) {
        if (i < operands)
            special_values(&table[i], insn->kinds[i], depth);
        else
            table[i] = (struct values){.count = 1};
    }
    unsigned number = 0;
    for (unsigned i = 0; i < table[0].count; i++)
        for (unsigned j = 0; j < table[1].count; j++)
            for (unsigned k = 0; k < table[2].count; k++) {
                uint64_t operand[3] = {table[0].value[i], table[1].value[j], table[2].value[k]};
                run_case(insn, operand, 0x10);
                run_case(insn, operand, fpsr_before[number++ % 3]);
            }
}

static void run_random(const struct instruction *insn)
{
    size_t operands = strlen(insn->kinds);
    random_state = 1;
    for (unsigned i = 0; i < RANDOM_CASES; i++) {
        uint64_t operand[3] = {0}, previous = 0;
        for (size_t j = 0; j < operands; j++)
            previous = operand[j] = random_operand(insn->kinds[j], previous);
        run_case(insn, operand, fpsr_before[i % 3]);
    }
}

static uint64_t run_mode(const struct instruction *insn, unsigned mode)
{
    hash = mode;
    set_fpcr(fpcr_of_mode(mode));
    run_special(insn);
    run_random(insn);
    set_fpcr(0);
    return hash;
}

int main(int argc, char **argv)
{
    verbose = argc > 2;
    for (int i = 0; i < INSTRUCTION_COUNT; i++) {
        const struct instruction *insn = &instructions[i];
        if (argc > 1 && strcmp(argv[1], insn->name) != 0)
            continue;
        if (verbose) {
            run_mode(insn, (unsigned)atoi(argv[2]));
            continue;
        }
        printf("%s", insn->name);
        // AHP concerns half precision only
        bool half = strchr(insn->kinds, 'H') || strncmp(insn->name, "fcvt_h", 6) == 0;
        for (unsigned mode = 0; mode < (half ? MODE_COUNT : MODE_COUNT / 2); mode++)
            printf(" %08" PRIx32, (uint32_t)run_mode(insn, mode));
        printf("\n");
    }
    return 0;
}
