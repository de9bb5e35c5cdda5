// SPDX-License-Identifier: MIT
// Runs every word of Advanced SIMD data processing that the decoder knows (all values of all fields but Rn
// and Rd) on special and pseudo-random registers in every mode of FPCR, and prints a line for each
// instruction, Q and bits 23 to 22 of the word (size, mostly):  instruction  Q.size  words  hash of all
// results and FPSR
//
// Built for aarch64 it executes the words: its output under another implementation of A64 and under ours is
// to be the same. Built for the host it calls their definitions in sem_simd*.h instead, to the same end,
// without an engine between. Links with core/isa/decode.c.
//
//   simd_test                  all
//   simd_test NAME             every case of that instruction: operands, then what came out
//   simd_test --allocation     for aarch64: executes the words that the decoder refuses, too, and prints
//   those on which
//                              it and the processor, one of ARMv8.0-A, disagree
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/isa/cpu.h"
#include "../../core/isa/isa.h"
#include "random_values.h"

// What an instruction works on; the layout is known to the assembly text below.
struct state {
    uint64_t v[32][2];
    uint64_t x[4];
    uint64_t fpcr, fpsr;
};

struct test {
    uint32_t word;
    uint16_t id; // enum insn
};

enum {
    FIELD_BITS = 18, // bits 30 to 28, 24 and 23 to 10
    MAX_TESTS = 1 << FIELD_BITS,
    CASES = 64, // for each word
    MODE_COUNT = 32, // bits 1..0 RMode, 2 FZ, 3 DN, 4 AHP
    POOL = 499, // vectors to take operands from; prime, so that steps visit all
};

static struct test tests[MAX_TESTS];
static unsigned test_count;

#ifdef __aarch64__

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

// Loads the state, calls code, which may change v0 to v31 and x0 to x3, and stores the state.
void run_code(struct state *s, const uint32_t *code);

#define EACH_PAIR(instruction)                                                                               \
    instruction " q0, q1, [x19]\n" instruction " q2, q3, [x19, #32]\n" instruction                           \
                " q4, q5, [x19, #64]\n" instruction " q6, q7, [x19, #96]\n" instruction                      \
                " q8, q9, [x19, #128]\n" instruction " q10, q11, [x19, #160]\n" instruction                  \
                " q12, q13, [x19, #192]\n" instruction " q14, q15, [x19, #224]\n" instruction                \
                " q16, q17, [x19, #256]\n" instruction " q18, q19, [x19, #288]\n" instruction                \
                " q20, q21, [x19, #320]\n" instruction " q22, q23, [x19, #352]\n" instruction                \
                " q24, q25, [x19, #384]\n" instruction " q26, q27, [x19, #416]\n" instruction                \
                " q28, q29, [x19, #448]\n" instruction " q30, q31, [x19, #480]\n"

__asm__(".text\n.global run_code\n.type run_code, %function\nrun_code:\n"
        "stp x19, x30, [sp, #-80]!\n stp d8, d9, [sp, #16]\n stp d10, d11, [sp, #32]\n"
        "stp d12, d13, [sp, #48]\n stp d14, d15, [sp, #64]\n"
        "mov x19, x0\n mov x9, x1\n ldr x10, [x19, #544]\n msr fpcr, x10\n ldr x10, [x19, #552]\n msr fpsr, "
        "x10\n" EACH_PAIR("ldp") "ldr x0, [x19, #512]\n ldr x1, [x19, #520]\n ldr x2, [x19, #528]\n ldr x3, "
                                 "[x19, #536]\n blr x9\n"
                                 "str x0, [x19, #512]\n str x1, [x19, #520]\n str x2, [x19, #528]\n str x3, "
                                 "[x19, #536]\n" EACH_PAIR(
                                     "stp") "mrs x10, fpsr\n str x10, [x19, #552]\n msr fpcr, xzr\n"
                                            "ldp d8, d9, [sp, #16]\n ldp d10, d11, [sp, #32]\n ldp d12, d13, "
                                            "[sp, #48]\n ldp d14, d15, [sp, #64]\n"
                                            "ldp x19, x30, [sp], #80\n ret\n");

static uint32_t *code; // two words for each test

static void prepare(void)
{
    size_t size = (size_t)test_count * 8;
    code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        abort();
    for (unsigned i = 0; i < test_count; i++) {
        code[i * 2] = tests[i].word;
        code[i * 2 + 1] = 0xd65f03c0; // ret
    }
    __builtin___clear_cache((char *)code, (char *)code + size);
    if (mprotect(code, size, PROT_READ | PROT_EXEC) != 0)
        abort();
}

static void run(unsigned test, struct state *s)
{
    run_code(s, code + test * 2);
}

static sigjmp_buf undefined;

static void on_undefined(int signal)
{
    (void)signal;
    siglongjmp(undefined, 1);
}

static int check_allocation(void)
{
    static unsigned i, wrong; // kept over siglongjmp, as all else here
    static bool allocated;
    struct sigaction action = {.sa_handler = on_undefined};
    sigaction(SIGILL, &action, NULL);
    for (i = 0; i < test_count; i++) {
        static struct state s;
        allocated = false;
        if (sigsetjmp(undefined, 1) == 0) {
            run(i, &s);
            allocated = true;
        }
        if (allocated != (tests[i].id != INSN_UNDEFINED)) {
            wrong++;
            printf("%08" PRIx32 " %s\n", tests[i].word, isa_texts[tests[i].id].name);
        }
    }
    printf("%u words, %u wrong\n", test_count, wrong);
    return wrong != 0;
}

#else

#define SEM static inline __attribute__((always_inline, unused))
#define UNUSED __attribute__((unused))
#define OP(name) static void sem_##name(UNUSED cpu *c, UNUSED const op *o)
#define X(slot) c->x[o->slot]
#define V(slot) c->v[o->slot]
#define W(slot) ((uint32_t)X(slot))
#include "../../core/isa/sem_simd.h"

static void (*const meanings[INSN_COUNT])(cpu *, const op *) = {
#define INSN(name, ...) [INSN_##name] = sem_##name,
#include "../../core/isa/insns_simd.def"
#undef INSN
};

static void prepare(void)
{
}

static void run(unsigned test, struct state *s)
{
    static cpu c;
    op o;
    isa_decode(tests[test].word, 0, &o);
    memcpy(c.v, s->v, sizeof c.v);
    memcpy(c.x, s->x, sizeof s->x);
    c.fpcr = (uint32_t)s->fpcr;
    c.fpsr = (uint32_t)s->fpsr;
    update_fp_fast(&c);
    meanings[tests[test].id](&c, &o);
    memcpy(s->v, c.v, sizeof c.v);
    memcpy(s->x, c.x, sizeof s->x);
    s->fpsr = c.fpsr;
}

static int check_allocation(void)
{
    return 1;
}

#endif

// ---- words ----

static bool is_simd(enum insn id)
{
    static const bool simd[INSN_COUNT] = {
#define INSN(name, ...) [INSN_##name] = true,
#include "../../core/isa/insns_simd.def"
#undef INSN
    };
    return simd[id];
}

static uint32_t word_of_fields(uint32_t fields)
{
    return (fields >> 15) << 28 | 7u << 25 | (fields >> 14 & 1) << 24 | (fields & 0x3fff) << 10;
}

// Rn and Rd, of those that the state has as general and as vector registers.
static uint32_t random_registers(void)
{
    static const uint8_t registers[] = {0, 1, 2, 3, 31};
    uint32_t n = registers[random_below(5)], d = registers[random_below(5)];
    return n << 5 | d;
}

static void list_words(bool unallocated)
{
    for (uint32_t fields = 0; fields < 1u << FIELD_BITS; fields++) {
        op o;
        uint32_t word = word_of_fields(fields);
        bool scalar_fp = (word >> 28 & 5) == 1; // the classes of scalar floating point
        enum insn id = isa_decode(word, 0, &o);
        if (scalar_fp || (id == INSN_UNDEFINED ? !unallocated : !is_simd(id)))
            continue;
        tests[test_count++] = (struct test){word | random_registers(), (uint16_t)id};
    }
}

// What a line stands for.
static unsigned line_of(const struct test *t)
{
    return (unsigned)t->id << 3 | (t->word >> 30 & 1) << 2 | (t->word >> 22 & 3);
}

static int compare_tests(const void *a, const void *b)
{
    const struct test *x = a, *y = b;
    if (line_of(x) != line_of(y))
        return line_of(x) < line_of(y) ? -1 : 1;
    return x->word < y->word ? -1 : 1;
}

// ---- running ----

static uint64_t pool[POOL][2];
static uint64_t hash;

static void add_to_hash(uint64_t value)
{
    hash = (hash ^ value) * 0x9fb21c651e98df25u;
    hash ^= hash >> 29;
}

static void set_state(struct state *s, unsigned number)
{
    unsigned at = random_below(POOL), step = 1 + random_below(POOL - 1), mode = number % MODE_COUNT;
    for (unsigned i = 0; i < 32; i++) {
        memcpy(s->v[i], pool[at], sizeof s->v[i]);
        at = (at + step) % POOL;
    }
    for (unsigned i = 0; i < 4; i++)
        s->x[i] = random_general();
    s->fpcr = (mode & 3) << 22 | (mode >> 2 & 1) << 24 | (mode >> 3 & 1) << 25 | (mode >> 4 & 1) << 26;
    s->fpsr = one_in(2) ? FPSR_IXC : one_in(2) ? FPSR_MASK & ~FPSR_IXC : 0;
}

static void run_case(unsigned test, unsigned number, bool verbose)
{
    static const uint8_t checked[] = {0, 1, 2, 3, 31};
    static struct state s, before;
    set_state(&s, number);
    before = s;
    run(test, &s);
    for (unsigned i = 0; i < sizeof checked; i++) {
        add_to_hash(s.v[checked[i]][0]);
        add_to_hash(s.v[checked[i]][1]);
    }
    for (unsigned i = 0; i < 4; i++)
        add_to_hash(s.x[i]);
    add_to_hash(s.fpsr);
    if (verbose) {
        uint32_t word = tests[test].word;
        unsigned d = word & 31, n = word >> 5 & 31, m = word >> 16 & 31;
        printf("%08" PRIx32 " fpcr %08" PRIx64 " fpsr %08" PRIx64 " d %016" PRIx64 "%016" PRIx64
               " n %016" PRIx64 "%016" PRIx64 " m %016" PRIx64 "%016" PRIx64 " = %016" PRIx64 "%016" PRIx64
               " x %016" PRIx64 " fpsr %08" PRIx64 "\n",
               word, before.fpcr, before.fpsr, before.v[d][1], before.v[d][0], before.v[n][1], before.v[n][0],
               before.v[m][1], before.v[m][0], s.v[d][1], s.v[d][0], s.x[d & 3], s.fpsr);
    }
}

int main(int argc, char **argv)
{
    bool allocation = argc > 1 && strcmp(argv[1], "--allocation") == 0;
    const char *only = allocation ? NULL : argv[1];
    list_words(allocation);
    qsort(tests, test_count, sizeof tests[0], compare_tests);
    prepare();
    if (allocation)
        return check_allocation();
    for (unsigned i = 0; i < POOL; i++)
        random_vector((uint8_t *)pool[i]);
    unsigned words = 0;
    for (unsigned i = 0; i < test_count; i++) {
        const char *name = isa_texts[tests[i].id].name;
        random_state = tests[i].word;
        for (unsigned number = 0; number < CASES && (!only || strcmp(name, only) == 0); number++)
            run_case(i, number, only);
        words++;
        if (i + 1 == test_count || line_of(&tests[i]) != line_of(&tests[i + 1])) {
            if (!only)
                printf("%-12s %u.%u %4u %016" PRIx64 "\n", name, line_of(&tests[i]) >> 2 & 1,
                       line_of(&tests[i]) & 3, words, hash);
            words = 0;
            hash = 0;
        }
    }
    return 0;
}
