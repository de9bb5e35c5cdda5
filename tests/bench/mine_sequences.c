// SPDX-License-Identifier: MIT
// Chooses the sequences that the interpreter runs in one handler, and prints
// core/engine/interp/sequences.def.
//
//   mine_sequences COUNT PROFILE…
//
// PROFILEs are what profile_ops.c writes; those of one program are added up. One sequence after the other is
// chosen: each time that which saves the most dispatches, counted on the code as it would be divided into the
// sequences chosen so far.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/isa/cpu.h"
#include "../../core/engine/interp/sequences.h"
#include "../../core/isa/isa.h"

enum {
    LENGTH_MAX = SEQUENCE_MAX,
    PARTS = 3, // of the file, which are compiled one by one
    PAGE = 4096,
    PLACES_MAX = 1 << 17,
    PATTERNS_MAX = 1 << 20,
};

// An instruction of the program.
static struct place {
    uint32_t pc, word;
    double ran, arrived;
    enum insn id;
    op o;
    // Of the sequences of so many instructions that begin here; 0: there is none.
    int patterns[LENGTH_MAX + 1];
} places[PLACES_MAX];

static size_t place_count;

struct step {
    uint16_t id;
    uint8_t bytes[4];
};

static struct pattern {
    struct step steps[LENGTH_MAX];
    unsigned length;
    enum sequence_direction direction;
    bool chosen;
    double gain; // dispatches that it would save
} patterns[PATTERNS_MAX];

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "mine_sequences: %s: %s\n", what, why);
    exit(1);
}

// ---- profiles ----

static int by_pc(const void *a, const void *b)
{
    uint32_t x = ((const struct place *)a)->pc, y = ((const struct place *)b)->pc;
    return (x > y) - (x < y);
}

static void read_profile(const char *name)
{
    FILE *file = fopen(name, "r");
    struct place p = {0};
    if (!file)
        fail(name, "cannot be read");
    while (fscanf(file, "%x %x %lf %lf", &p.pc, &p.word, &p.ran, &p.arrived) == 4) {
        if (place_count == PLACES_MAX)
            fail(name, "too many instructions");
        places[place_count++] = p;
    }
    fclose(file);
    qsort(places, place_count, sizeof places[0], by_pc);
    size_t kept = 0;
    for (size_t i = 0; i < place_count; i++) {
        struct place *last = kept ? &places[kept - 1] : NULL;
        if (last && last->pc == places[i].pc) {
            if (last->word != places[i].word)
                fail(name, "is of another program than the profile before");
            last->ran += places[i].ran;
            last->arrived += places[i].arrived;
        } else {
            places[kept++] = places[i];
        }
    }
    place_count = kept;
}

// ---- patterns ----

// Whether a sequence may have it: one that works on general registers and flags, and on memory in the plain
// way, not both loading and storing.
static bool is_suitable(enum insn id)
{
    const struct insn_info *info = &isa_info[id];
    const uint32_t states = info->reads | info->writes;
    return id != INSN_UNDEFINED && info->kind != KIND_STOP && info->group != GROUP_SYSTEM &&
           !(states & ~(uint32_t)(Xd | Xn | Xm | Xa | LR | NZCV | MEMORY)) &&
           !(info->reads & info->writes & MEMORY);
}

static uint8_t slot(uint8_t *slots, unsigned *count, uint8_t reg)
{
    if (reg >= REG_ZERO)
        return reg;
    if (!slots[reg])
        slots[reg] = (uint8_t)(*count += 1);
    return slots[reg] - 1;
}

// What the sequence of `length` instructions from p on looks like.
static void describe(const struct place *p, unsigned length, struct pattern *out)
{
    uint8_t slots[REG_SP + 1] = {0};
    unsigned count = 0;
    *out = (struct pattern){.length = length};
    for (unsigned i = 0; i < length; i++) {
        const struct insn_info *info = &isa_info[p[i].id];
        const uint32_t states = info->reads | info->writes;
        const op *o = &p[i].o;
        struct step *s = &out->steps[i];
        enum insn_kind kind = info->kind;
        out->direction = sequence_direction(p[i].id, o, i);
        *s = (struct step){(uint16_t)p[i].id, {_, _, _, _}};
        if (kind == KIND_JUMP || kind == KIND_INDIRECT)
            continue;
        if (states & Xd)
            s->bytes[0] = slot(slots, &count, o->d);
        if (states & Xn)
            s->bytes[1] = slot(slots, &count, o->n);
        if (states & Xm)
            s->bytes[2] = slot(slots, &count, o->m);
        if (states & Xa)
            s->bytes[3] = slot(slots, &count, o->a);
        else if (strstr(isa_texts[p[i].id].pattern, "cond") || strstr(isa_texts[p[i].id].pattern, " a:"))
            s->bytes[3] = SEQUENCE_FIELD + o->a;
    }
}

static int find_pattern(const struct place *p, unsigned length)
{
    struct pattern wanted;
    describe(p, length, &wanted);
    uint64_t hash = length * 3 + wanted.direction;
    for (size_t i = 0; i < sizeof wanted.steps; i++)
        hash = (hash ^ ((const uint8_t *)wanted.steps)[i]) * 0x100000001b3;
    unsigned at = (unsigned)(hash >> 20) % PATTERNS_MAX;
    for (;; at = (at + 1) % PATTERNS_MAX) {
        if (at != 0 && !patterns[at].length)
            patterns[at] = wanted;
        if (patterns[at].length == length && patterns[at].direction == wanted.direction &&
            memcmp(patterns[at].steps, wanted.steps, sizeof wanted.steps) == 0)
            return (int)at;
    }
}

static void find_patterns(void)
{
    for (size_t i = 0; i < place_count; i++)
        places[i].id = isa_decode(places[i].word, places[i].pc, &places[i].o);
    for (size_t i = 0; i < place_count; i++) {
        struct place *p = &places[i];
        for (unsigned length = 1; length <= LENGTH_MAX && i + length <= place_count; length++) {
            const struct place *last = &p[length - 1];
            if (last->pc != p->pc + (length - 1) * 4 || last->pc / PAGE != p->pc / PAGE ||
                !is_suitable(last->id))
                break;
            if (length > 1)
                p->patterns[length] = find_pattern(p, length);
            if (isa_info[last->id].kind != KIND_OP)
                break;
        }
    }
}

// ---- choosing ----

// Divides the code into what has been chosen: the dispatches that are left. Notes what each pattern would
// save.
static double divide(void)
{
    static double dispatched[PLACES_MAX + LENGTH_MAX];
    double all = 0;
    for (size_t i = 0; i < PATTERNS_MAX; i++)
        patterns[i].gain = 0;
    for (size_t i = 0; i < place_count; i++)
        dispatched[i] = places[i].arrived;
    for (size_t i = 0; i < place_count; i++) {
        const struct place *p = &places[i];
        unsigned length = LENGTH_MAX;
        while (length > 1 && !patterns[p->patterns[length]].chosen)
            length--;
        for (unsigned n = length + 1; n <= LENGTH_MAX; n++)
            patterns[p->patterns[n]].gain += dispatched[i] * (n - length);
        all += dispatched[i];
        const struct place *last = p + length - 1, *next = p + length;
        if (next == places + place_count || next->pc != last->pc + 4 ||
            isa_info[last->id].kind == KIND_JUMP || isa_info[last->id].kind == KIND_INDIRECT)
            continue;
        dispatched[i + length] += isa_info[last->id].kind == KIND_CONDITION
                                      ? dispatched[i] * (next->ran - next->arrived) / last->ran
                                      : dispatched[i];
    }
    patterns[0].gain = 0;
    return all;
}

static void choose(unsigned count)
{
    double ran = 0, left = 0;
    for (size_t i = 0; i < place_count; i++)
        ran += places[i].ran;
    for (unsigned n = 0; n <= count; n++) {
        struct pattern *best = &patterns[0];
        left = divide();
        for (size_t i = 1; i < PATTERNS_MAX && n < count; i++)
            if (!patterns[i].chosen && patterns[i].gain > best->gain)
                best = &patterns[i];
        if (best != &patterns[0])
            best->chosen = true;
    }
    fprintf(stderr, "%.0f million instructions, %.3f dispatches each\n", ran / 1e6, left / ran);
}

// ---- output ----

// As interp_sequences.inc looks for them.
static int by_steps(const void *a, const void *b)
{
    const struct pattern *x = *(struct pattern *const *)a, *y = *(struct pattern *const *)b;
    for (unsigned k = 0; k < LENGTH_MAX; k++) {
        int order = x->steps[k].id != y->steps[k].id
                        ? x->steps[k].id - y->steps[k].id
                        : memcmp(x->steps[k].bytes, y->steps[k].bytes, sizeof x->steps[k].bytes);
        if (order)
            return order;
    }
    return (int)x->direction - (int)y->direction;
}

static void print_step(const struct step *s)
{
    static const char *const macros[] = {"STEP", "LAST_CONDITION", "LAST_JUMP", "LAST_INDIRECT"};
    enum insn_kind kind = isa_info[s->id].kind;
    printf(" %s(%s", macros[kind], isa_texts[s->id].name);
    for (unsigned i = 0; i < 4 && (kind == KIND_OP || kind == KIND_CONDITION); i++)
        printf(s->bytes[i] == _ ? ", _" : ", %u", s->bytes[i]);
    printf(")");
}

static void print(void)
{
    // clang-format off
    puts("// SPDX-License-Identifier: MIT\n"
         "// Sequences of instructions that the interpreter runs in one handler, made by tests/bench/sequences from what\n"
         "// DOOM's timed demos run, once with loops on and once with loops off. A line says, of each instruction, which\n"
         "// register of the sequence, in the order of their appearance, its d, n, m and a are; 32 and 33 are the zero\n"
         "// register as a source and as a destination, 64 and more a field's value, _ what is no register. It fits code in\n"
         "// which the same operands are the same register, and others are not. Of two that fit, the longer one is taken.\n"
         "// The parts are compiled one by one.");
    // clang-format on
    static const char *const directions[] = {"FORWARD", "BACKWARD", "ROUND"};
    static const struct pattern *lines[PATTERNS_MAX];
    size_t count = 0;
    for (size_t i = 1; i < PATTERNS_MAX; i++)
        if (patterns[i].chosen)
            lines[count++] = &patterns[i];
    qsort(lines, count, sizeof lines[0], by_steps);
    unsigned steps = 0, before = 0, part = 0;
    for (size_t i = 0; i < count; i++)
        steps += lines[i]->length;
    puts("#if PART(0)");
    for (size_t i = 0; i < count; i++) {
        const struct pattern *p = lines[i];
        if (before * PARTS >= steps * (part + 1))
            printf("#endif\n#if PART(%u)\n", ++part);
        before += p->length;
        printf("SEQUENCE(%zu, %s,", i, directions[p->direction]);
        for (unsigned k = 0; k < p->length; k++)
            print_step(&p->steps[k]);
        printf(")\n");
    }
    puts("#endif");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage", "mine_sequences COUNT PROFILE…");
    for (int i = 2; i < argc; i++)
        read_profile(argv[i]);
    find_patterns();
    choose((unsigned)atoi(argv[1]));
    print();
}
