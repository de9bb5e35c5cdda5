// SPDX-License-Identifier: MIT
// sequences: the sequences that the interpreter runs in one handler, against its single instructions.
//
//   sequences [SEED] [FORMS]
//
// For each line of sequences.def FORMS programs (default 3) are made that it fits, with random immediates and
// registers, and each runs on random registers and flags: by the interpreter, and step by step. Registers,
// flags, memory, faults and the number of instructions have to be equal. Exit status 5 after the first
// differences.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stepper.h"
#undef interp_run
enum stop_reason interp_run(struct guest *g, uint64_t budget);

#include "../isa/random_instruction.h"
#include "program.h"

enum {
    PROGRAMS_MAX = 1 << 13,
    WORDS = 16, // of a program; together they fill pages, so that none crosses a page's end
    BEGIN = 1, // where in them the sequence begins: behind an SVC, where it may branch back to
    DATA = 0x800000, // the last page of it is read-only
    DATA_BYTES = 16 * 4096,
    READ_ONLY = DATA + DATA_BYTES - 4096,
    CASES = 16,
    BUDGET = 5000, // instructions of a case, so that branches become hot
    FAILURES_MAX = 10,
};

#define SVC 0xd4000001u

static const struct line {
    int number;
    enum sequence_direction direction;
    struct {
        uint16_t insn;
        uint8_t bytes[4]; // d, n, m, a
    } steps[SEQUENCE_MAX];
} lines[] = {
#define STEP(name, d, n, m, a) {INSN_##name, {d, n, m, a}},
#define LAST_CONDITION(name, d, n, m, a) {INSN_##name, {d, n, m, a}},
#define LAST_JUMP(name) {INSN_##name, {_, _, _, _}},
#define LAST_INDIRECT(name) {INSN_##name, {_, _, _, _}},
#define SEQUENCE(number, direction, steps) {number, direction, {steps}},
#define PART(number) 1
#include LINES_DEF
};

enum { LINES = sizeof lines / sizeof lines[0] };

static uint32_t code[PROGRAMS_MAX][WORDS];
static const struct line *line_of[PROGRAMS_MAX];
static unsigned program_count, failures;
static uint8_t pristine[DATA_BYTES], stepped_data[DATA_BYTES];

static unsigned length_of(const struct line *l)
{
    unsigned length = 0;
    while (length < SEQUENCE_MAX && l->steps[length].insn != INSN_UNDEFINED)
        length++;
    return length;
}

static bool fail(const struct line *l, const char *what)
{
    printf("not ok sequences: line %d: %s\n", l->number, what);
    if (++failures == FAILURES_MAX)
        exit(5);
    return false;
}

// ---- lines ----

// Whether byte i (of d, n, m, a) of the instruction's op is a general register.
static bool is_register(enum insn id, unsigned i)
{
    static const uint32_t state_of[] = {Xd, Xn, Xm, Xa};
    return (isa_info[id].reads | isa_info[id].writes) & state_of[i];
}

// What a handler relies on: only general registers, plainly accessed memory and flags; each register has a
// slot, in the order in which they come; what branches is the last.
static bool is_well_formed(const struct line *l)
{
    unsigned slots = 0, length = length_of(l);
    if (length < 2)
        return fail(l, "it is no sequence");
    for (unsigned k = 0; k < length; k++) {
        enum insn id = l->steps[k].insn;
        enum insn_kind kind = isa_info[id].kind;
        if ((isa_info[id].reads | isa_info[id].writes) &
                ~(uint32_t)(Xd | Xn | Xm | Xa | LR | NZCV | MEMORY) ||
            isa_info[id].group == GROUP_SYSTEM)
            return fail(l, "it needs more than general registers, flags and memory");
        if ((kind != KIND_OP) > (k == length - 1) || kind == KIND_STOP)
            return fail(l, "it branches before its end");
        if (kind == KIND_JUMP || kind == KIND_INDIRECT)
            continue;
        for (unsigned i = 0; i < 4; i++) {
            unsigned byte = l->steps[k].bytes[i];
            if (is_register(id, i) ? byte > slots && byte != REG_ZERO && byte != REG_SINK
                                   : byte < SEQUENCE_FIELD)
                return fail(l, "its slots are not in order");
            slots += byte == slots;
        }
    }
    return true;
}

// ---- programs ----

// The word with register number reg for byte i of its op.
static uint32_t with_register(uint32_t word, enum insn id, unsigned i, unsigned reg)
{
    unsigned bit = i == 0 ? 0 : i == 1 ? 5 : i == 3 || !(pattern_fields(id) & BIT(F_Rm)) ? 10 : 16;
    return (word & ~(31u << bit)) | (reg > 31 ? 31 : reg) << bit;
}

static uint32_t with_target(uint32_t word, enum insn id, int target)
{
    unsigned width = pattern_fields(id) & BIT(F_disp14) ? 14 : pattern_fields(id) & BIT(F_disp19) ? 19 : 26;
    unsigned bit = width == 26 ? 0 : 5;
    uint32_t ones = (1u << width) - 1;
    return (word & ~(ones << bit)) | ((uint32_t)target & ones) << bit;
}

// Where the branch that is step k goes, in words from itself.
static int target_of(const struct line *l, int k)
{
    return l->direction == FORWARD ? 2 : l->direction == ROUND ? -k : -(BEGIN + k);
}

// A word for step k of the line; false if it turned out to be another.
static bool draw_step(const struct line *l, unsigned k, const uint8_t *registers, uint32_t *word)
{
    enum insn id = l->steps[k].insn;
    enum insn_kind kind = isa_info[id].kind;
    struct instruction drawn;
    op o;
    draw_word(&drawn, id);
    *word = drawn.word;
    for (unsigned i = 0; i < 4; i++) {
        unsigned byte = l->steps[k].bytes[i];
        if (byte < SEQUENCE_FIELD)
            *word = with_register(*word, id, i, byte < REG_ZERO ? registers[byte] : byte);
    }
    if (kind == KIND_CONDITION || kind == KIND_JUMP)
        *word = with_target(*word, id, target_of(l, (int)k));
    if (isa_decode(*word, CODE, &o) != id)
        return false;
    const uint8_t bytes[] = {o.d, o.n, o.m, o.a};
    for (unsigned i = 0; i < 4; i++) {
        unsigned byte = l->steps[k].bytes[i];
        if (byte != _ && bytes[i] != (byte < REG_ZERO          ? registers[byte]
                                      : byte >= SEQUENCE_FIELD ? byte - SEQUENCE_FIELD
                                                               : byte))
            return false;
    }
    return true;
}

static bool draw_program(const struct line *l, uint32_t *words)
{
    uint8_t registers[REG_ZERO];
    for (unsigned i = 0; i < REG_ZERO; i++)
        registers[i] = (uint8_t)i;
    for (unsigned i = 0; i < REG_ZERO; i++) {
        unsigned other = i + random_below(REG_ZERO - i);
        uint8_t reg = registers[i];
        registers[i] = registers[other];
        registers[other] = reg;
    }
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = SVC;
    for (unsigned k = 0; k < length_of(l); k++)
        for (unsigned tries = 0; !draw_step(l, k, registers, &words[BEGIN + k]); tries++)
            if (tries == 1000)
                return false; // SP, where it cannot be
    return true;
}

// ---- one case ----

static uint64_t random_address(void)
{
    uint64_t middle = DATA + DATA_BYTES / 2;
    switch (random_below(16)) {
    case 0: return READ_ONLY - random_below(80);
    case 1: return DATA + DATA_BYTES - random_below(80);
    case 2: return random64() << 56 | (middle + random_below(256) * 16); // a tag, which does not count
    case 3: return random64();
    case 4: return middle + random_below(4096); // of any alignment
    default: return middle + random_below(512) * 8;
    }
}

// Mostly addresses and small numbers, so that more than the first access succeeds.
static void set_state(cpu *c, unsigned number)
{
    for (unsigned i = 0; i <= REG_SP; i++)
        c->x[i] = one_in(4) ? random_general() : one_in(4) ? random_below(256) : random_address();
    c->flags = (struct flags){random_general(), random_general(), number % 5};
    if (c->flags.kind == FLAGS_SUB32 || c->flags.kind == FLAGS_ADD32)
        c->flags.a = (uint32_t)c->flags.a, c->flags.b = (uint32_t)c->flags.b;
}

// As decode_op: fails where nothing can be executed.
static void check_fetch(struct guest *g)
{
    uint64_t pc = g->cpu.pc;
    g->cpu.current = op_at(&g->cpu, pc);
    if (!memory_mark_code(&g->memory, pc))
        fault_raise(g->memory.pages[pc / GUEST_PAGE] & MEMORY_MAPPED ? FAULT_PERMISSION : FAULT_MAPPING, pc,
                    false);
}

// Steps to an SVC, to what is no instruction, or until the budget is spent, which only branches back look at;
// the instructions that it took. As interp_run, else.
static uint64_t run_steps(struct guest *g)
{
    cpu *c = &g->cpu;
    struct fault_context context;
    volatile uint64_t count = 0;
    fault_begin(&context, g);
    if (__builtin_setjmp(context.env) == 0) {
        uint64_t from = 0;
        bool is_spent = false;
        for (check_fetch(g); !is_spent && (from = c->pc, step(g)); check_fetch(g))
            is_spent = ++count >= BUDGET && c->pc <= from;
        c->stop = is_spent ? STOP_BUDGET : word_at(c, op_at(c, c->pc)) == SVC ? STOP_SVC : STOP_UNDEFINED;
        c->pc += c->stop == STOP_SVC ? 4 : 0;
    } else {
        count += c->wild_pc != 0; // the branch there
        c->pc = c->wild_pc ? c->wild_pc : pc_of(c, c->current);
    }
    c->stepping = NULL;
    fault_end(&context);
    return count;
}

static bool differ(const char *what, uint64_t together, uint64_t stepped)
{
    printf("  %s is %" PRIx64 ", step by step %" PRIx64 "\n", what, together, stepped);
    return false;
}

static bool equal(const cpu *a, const cpu *b)
{
    char name[32];
    bool same = a->pc == b->pc || differ("pc", a->pc, b->pc);
    same &= a->stop == b->stop || differ("the reason of the stop", a->stop, b->stop);
    for (unsigned i = 0; i <= REG_SP; i++) {
        snprintf(name, sizeof name, "x%u", i);
        same &= a->x[i] == b->x[i] || differ(name, a->x[i], b->x[i]);
    }
    same &= get_nzcv(a) == get_nzcv(b) || differ("NZCV", get_nzcv(a), get_nzcv(b));
    if (a->stop == STOP_FAULT) {
        same &= a->fault_address == b->fault_address ||
                differ("the fault's address", a->fault_address, b->fault_address);
        same &= a->fault_kind == b->fault_kind || differ("the fault's kind", a->fault_kind, b->fault_kind);
        same &= a->fault_is_store == b->fault_is_store ||
                differ("whether a store faulted", a->fault_is_store, b->fault_is_store);
    }
    return same;
}

// Returns whether nothing faulted.
static bool check_case(struct guest *g, unsigned program, uint64_t pc, unsigned number)
{
    static cpu before, stepped;
    const struct line *l = line_of[program];
    uint8_t *data = g->memory.base + DATA;
    cpu *c = &g->cpu;
    set_state(c, number);
    c->pc = pc;
    c->wild_pc = 0;
    before = *c;
    uint64_t steps = run_steps(g);
    stepped = *c;
    memcpy(stepped_data, data, READ_ONLY - DATA);
    memcpy(data, pristine, READ_ONLY - DATA);
    *c = before;
    uint64_t retired = g->stats.retired;
    interp_run(g, BUDGET);
    retired = g->stats.retired - retired - (c->stop == STOP_SVC); // which retires
    bool same = equal(c, &stepped);
    same &= retired == steps || differ("the number of instructions", retired, steps);
    same &= memcmp(data, stepped_data, READ_ONLY - DATA) == 0 || differ("memory", 1, 0);
    memcpy(data, pristine, READ_ONLY - DATA);
    const op *o = op_at(c, pc);
    static uint32_t later; // of all sequences: the one handler of ops but the first
    later = later ? later : o[1].handler;
    for (unsigned k = 1; k < length_of(l); k++)
        same &= o[k].handler == later || differ("a handler of its own for step", k, 0);
    if (!same) {
        char text[128];
        fail(l, "it does something else");
        for (unsigned k = 0; k < length_of(l); k++) {
            isa_disassemble(code[program][BEGIN + k], (uint32_t)pc + 4 * k, text, sizeof text);
            printf("  %" PRIx64 "  %08" PRIx32 "  %s\n", pc + 4 * k, code[program][BEGIN + k], text);
        }
    }
    return stepped.stop == STOP_SVC;
}

int main(int argc, char **argv)
{
    unsigned forms = argc > 2 ? (unsigned)atoi(argv[2]) : 3, whole = 0;
    random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    for (const struct line *l = lines; l < lines + LINES; l++) {
        if (!is_well_formed(l))
            continue;
        for (unsigned n = 0, tries = 0; n < forms; tries++) {
            if (tries == 100 || program_count == PROGRAMS_MAX) {
                fail(l, tries == 100 ? "no program fits it" : "there is no room for its programs");
                break;
            }
            if (!draw_program(l, code[program_count]))
                continue;
            line_of[program_count++] = l;
            n++;
        }
    }
    machine *m = load_words(code[0], program_count * WORDS, CODE, DATA, DATA_BYTES, MACHINE_ENGINE_INTERP);
    struct guest *g = guest_in(m);
    memory_protect(&g->memory, READ_ONLY, 4096, PROT_READ);
    for (unsigned i = 0; i < DATA_BYTES; i += 8) { // what is loaded may be an address, too
        uint64_t value = one_in(2) ? random_address() : random64();
        memcpy(pristine + i, &value, sizeof value);
    }
    memcpy(g->memory.base + DATA, pristine, READ_ONLY - DATA);
    uint64_t first = g->cpu.pc;
    for (unsigned i = 0; i < program_count; i++)
        for (unsigned number = 0; number < CASES; number++)
            whole += check_case(g, i, first + (i * WORDS + BEGIN) * 4, number);
    if (!failures)
        printf("ok sequences: %d lines, %u runs, %u to the end\n", LINES, program_count * CASES, whole);
    machine_destroy(m);
    return failures ? 5 : 0;
}
