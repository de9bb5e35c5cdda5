// SPDX-License-Identifier: MIT
// words: instructions translated on their own, or made into blocks of stencils, against the interpreter.
//
//   words [--precise] [--blocks] [--length N] [SEED] [FORMS] [NAME]
//
// For each instruction that goes on with the next one or branches by a condition, FORMS random words (default
// 6; NAME: only instructions so called) run on random registers, as translated code and by the interpreter;
// registers, flags, vectors, FPSR, memory and faults have to be equal. Memory accesses meet mapped, unmapped
// and read-only addresses, aligned or not. --length: so many at a time, in random order. --precise: as code
// for programs that handle faults, after which every register has to be equal, too. --blocks: as blocks,
// which always are so, of code that lies high; with --length their instructions share few registers. Exit
// status 5 after the first differences.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stepper.h"
#undef interp_run
enum stop_reason interp_run(struct guest *g, uint64_t budget);

#include "../isa/random_instruction.h"
#include "program.h"

enum {
    WORDS_MAX = 1 << 14,
    DATA = 0x800000, // the last page of it is read-only
    DATA_BYTES = 48 * 4096,
    READ_ONLY = DATA + DATA_BYTES - 4096,
    CASES = 48,
    FAILURES_MAX = 10,
};
#define HIGH_CODE 0xe0000000ull

static uint32_t words[WORDS_MAX];
static unsigned word_count, length = 1, failures;
static bool precise, blocks;
static uint8_t pristine[DATA_BYTES], interpreted_data[DATA_BYTES];

// ---- the program: each sequence of words is followed by a BRK, which ends its region ----

// Whether instructions that follow each other will often have the same registers.
static bool has_few_registers(const struct instruction *i)
{
    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (i->present & BIT(f) & (general_sources | general_destinations) && i->value[f] >= 4 &&
            i->value[f] != 31)
            return false;
    return true;
}

// Whether the word, as the next one, would branch to another, not to a BRK. Blocks run that, too.
static bool leads_astray(const op *o)
{
    const int64_t to = 2 * (int64_t)word_count + o->disp;
    return to % 2 == 0 || (blocks && (to < 0 || to >= 2 * WORDS_MAX));
}

static void add_words(unsigned forms, const char *name)
{
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        enum insn_kind kind = isa_info[id].kind;
        if ((kind != KIND_OP && (kind != KIND_CONDITION || length > 1)) || id == INSN_mrs_cntvct_el0 ||
            (name && fnmatch(name, isa_texts[id].name, 0) != 0))
            continue;
        for (unsigned n = 0, tries = 0; n < forms && tries < 20000 && word_count < WORDS_MAX; tries++) {
            struct instruction i;
            draw_word(&i, id);
            if (isa_decode(i.word, 0, &i.op) != id || is_unpredictable(&i) ||
                (kind == KIND_CONDITION && leads_astray(&i.op)) ||
                (blocks && length > 1 && !has_few_registers(&i)))
                continue;
            words[word_count++] = i.word;
            n++;
        }
    }
    for (unsigned i = 0; length > 1 && i < word_count; i++) {
        unsigned other = i + random_below(word_count - i);
        uint32_t word = words[i];
        words[i] = words[other];
        words[other] = word;
    }
    word_count -= word_count % length;
}

static machine *load_program(void)
{
    static uint32_t code[WORDS_MAX * 2];
    for (unsigned i = 0; i < WORDS_MAX * 2; i++)
        code[i] = 0xd4200000; // brk #0
    for (unsigned i = 0; i < word_count; i++)
        code[i + i / length] = words[i];
    return load_words(code, WORDS_MAX * 2, blocks ? HIGH_CODE : CODE, DATA, DATA_BYTES,
                      MACHINE_ENGINE_TRANSLATE);
}

// ---- one case ----

static uint64_t random_address(unsigned number)
{
    uint64_t middle = DATA + DATA_BYTES / 2;
    switch (number % 8) {
    case 0: return middle + random_below(4096); // of any alignment
    case 1: return READ_ONLY - random_below(80);
    case 2: return DATA + DATA_BYTES - random_below(80);
    case 3: return random64() << 56 | (middle + random_below(256) * 16); // a tag, which does not count
    case 4: return random64() & 0x7ffffff0;
    default: return middle + random_below(256) * 16;
    }
}

// For one word that accesses memory, the base is such an address; for several, many registers are.
static void set_registers(cpu *c, uint32_t word, enum insn id, unsigned number)
{
    op o;
    isa_decode(word, 0, &o);
    for (unsigned i = 0; i <= REG_SP; i++)
        c->x[i] = length > 1 && one_in(2) ? random_address(random_below(16)) : random_general();
    if (length == 1 && (isa_info[id].group == GROUP_LDST || strncmp(isa_texts[id].name, "dc_", 3) == 0)) {
        c->x[word >> 16 & 31] = random64() >> (52 + random_below(12));
        c->x[o.n < REG_ZERO ? o.n : 0] = random_address(number);
        if (strncmp(isa_texts[id].name, "dc_", 3) == 0)
            c->x[word & 31] = random_address(number);
    }
}

static void set_state(cpu *c, uint32_t word, enum insn id, unsigned number)
{
    op o;
    isa_decode(word, 0, &o);
    set_registers(c, word, id, number);
    for (unsigned i = 0; i < 32; i++)
        random_vector((uint8_t *)&c->v[i]);
    unsigned mode = one_in(2) ? 0 : random_below(32);
    c->fpcr = (mode & 3) << 22 | (mode >> 2 & 1) << 24 | (mode >> 3 & 1) << 25 | (mode >> 4 & 1) << 26;
    c->fpsr = one_in(3) ? FPSR_IXC : one_in(2) ? (uint32_t)random64() & FPSR_MASK : 0;
    update_fp_fast(c);
    c->flags =
        (struct flags){random_general(), random_general(), number % 5}; // 32-bit operands are zero-extended
    if (c->flags.kind == FLAGS_SUB32 || c->flags.kind == FLAGS_ADD32)
        c->flags.a = (uint32_t)c->flags.a, c->flags.b = (uint32_t)c->flags.b;
    c->tpidr = random64();
    // What a store-exclusive finds: nothing, another address, its own with the right or a wrong value.
    c->exclusive_address = EXCLUSIVE_NONE;
    uint64_t at = c->x[o.n < REG_ZERO ? o.n : 0];
    if (one_in(2) && at - DATA < DATA_BYTES - 16) {
        c->exclusive_address = one_in(8) ? at + 16 : at;
        memset(c->exclusive_value, 0, sizeof c->exclusive_value);
        if (!one_in(8)) {
            static const uint8_t sizes[] = {1, 2, 4, 8};
            bool pair = word >> 21 & 1;
            memcpy(c->exclusive_value, pristine + (at - DATA),
                   pair ? (word >> 30 & 1 ? 16 : 8) : sizes[word >> 30]);
        }
    }
    c->pc = 0; // see run
}

static bool report(const char *what, uint64_t translated, uint64_t interpreted)
{
    printf("  %s is %" PRIx64 " translated, %" PRIx64 " interpreted\n", what, translated, interpreted);
    return false;
}

// Runs so many words from pc on, on g->cpu; false if one faulted. Leaves in cpu.budget how many are left.
static bool run_words(struct guest *g, uint64_t pc, unsigned count, bool translated, bool *entered)
{
    cpu *c = &g->cpu;
    struct fault_context context;
    volatile bool done = false, stepped = !translated;
    c->pc = pc;
    c->budget = count;
    c->stepping = NULL;
    c->stop = STOP_NONE;
    c->fault_address = c->fault_kind = 0;
    fault_begin(&context, g);
    if (__builtin_setjmp(context.env) == 0) {
        if (translated)
            *entered = translate_enter_code(g->translator);
        stepped = true;
        while ((!translated || *entered) &&
               c->budget > 0) { // what translated code leaves to the interpreter, too
            step(g);
            c->budget--;
        }
        done = true;
    } else if (c->stop == STOP_FAULT) {
        c->pc = pc_of(c, c->current);
        if (!stepped)
            c->budget = cpu_budget_at(c, c->current);
    }
    fault_end(&context);
    return done;
}

static bool run(struct guest *g, uint64_t pc, bool translated, bool *entered)
{
    bool done = run_words(g, pc, length, translated, entered);
    if (g->cpu.stop == STOP_BACK)
        done = run_words(g, g->cpu.exact_pc, (unsigned)g->cpu.budget, false, NULL); // into the fault again
    return done;
}

// The same by the interpreter as it is, which makes blocks.
static bool run_block(struct guest *g, uint64_t pc)
{
    cpu *c = &g->cpu;
    uint64_t retired = g->stats.retired;
    c->pc = pc;
    c->stop = STOP_NONE;
    c->fault_address = c->fault_kind = 0;
    interp_run(g, 1000);
    c->budget = (int64_t)length - (int64_t)(g->stats.retired - retired);
    return c->stop == STOP_BRK;
}

static bool equal(const cpu *a, const cpu *b)
{
    char name[32];
    bool same = a->pc == b->pc || report("pc", a->pc, b->pc);
    for (unsigned i = 0; i <= REG_SP; i++) {
        snprintf(name, sizeof name, "x%u", i);
        same &= a->x[i] == b->x[i] || report(name, a->x[i], b->x[i]);
    }
    for (unsigned i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "v%u, half %u", i / 2, i % 2);
        same &=
            a->v[i / 2][i % 2] == b->v[i / 2][i % 2] || report(name, a->v[i / 2][i % 2], b->v[i / 2][i % 2]);
    }
    same &= get_nzcv(a) == get_nzcv(b) || report("NZCV", get_nzcv(a), get_nzcv(b));
    same &= a->fpsr == b->fpsr || report("FPSR", a->fpsr, b->fpsr);
    same &= a->fpcr == b->fpcr || report("FPCR", a->fpcr, b->fpcr);
    same &= a->tpidr == b->tpidr || report("TPIDR", a->tpidr, b->tpidr);
    same &= a->exclusive_address == b->exclusive_address ||
            report("the monitor", a->exclusive_address, b->exclusive_address);
    for (unsigned i = 0; i < 2 && a->exclusive_address != EXCLUSIVE_NONE; i++)
        same &= a->exclusive_value[i] == b->exclusive_value[i] ||
                report("the monitor's value", a->exclusive_value[i], b->exclusive_value[i]);
    return same;
}

static bool equal_faults(const cpu *a, const cpu *b)
{
    bool same = a->pc == b->pc || (length > 1 && !precise) || report("the fault's pc", a->pc, b->pc);
    same &= (blocks ? a->fault_address == b->fault_address
                    : (uint32_t)a->fault_address == (uint32_t)b->fault_address) ||
            report("the fault's address", a->fault_address, b->fault_address);
    same &= a->fault_kind == b->fault_kind || report("the fault's kind", a->fault_kind, b->fault_kind);
    same &= a->fault_is_store == b->fault_is_store ||
            report("whether a store faulted", a->fault_is_store, b->fault_is_store);
    if (precise) {
        same &=
            a->budget == b->budget || report("instructions left", (uint64_t)a->budget, (uint64_t)b->budget);
        same &= equal(a, b);
    }
    return same;
}

// False if the case could not be run as translated code.
static bool check_case(struct guest *g, const uint32_t *sequence, uint64_t pc, unsigned number)
{
    static cpu before, interpreted;
    uint8_t *data = g->memory.base + DATA;
    cpu *c = &g->cpu;
    op unused;
    enum insn id = isa_decode(sequence[0], (uint32_t)pc, &unused);
    bool touches = length > 1 || isa_info[id].group == GROUP_LDST || isa_info[id].group == GROUP_SYSTEM;
    bool entered = false;
    set_state(c, sequence[0], id, number);
    before = *c;
    bool done = run(g, pc, false, NULL);
    interpreted = *c;
    if (touches) {
        memcpy(interpreted_data, data, READ_ONLY - DATA);
        memcpy(data, pristine, READ_ONLY - DATA);
    }
    if (!done && interpreted.fault_address >> 32 && !blocks)
        return true; // translated code takes such addresses for others
    *c = before;
    bool translated_done = blocks ? run_block(g, pc) : run(g, pc, true, &entered);
    if (translated_done && !entered && !blocks)
        return false;
    bool same = done == translated_done || report("whether it is done", translated_done, done);
    if (!done && !translated_done)
        same &= equal_faults(c, &interpreted);
    else
        same &= equal(c, &interpreted);
    if (touches) {
        same &= memcmp(data, interpreted_data, READ_ONLY - DATA) == 0 || report("memory", 1, 0);
        memcpy(data, pristine, READ_ONLY - DATA);
    }
    if (!same) {
        char text[128];
        printf("not ok words: case %u, FPCR %" PRIx32 ", FPSR %" PRIx32 "\n", number, before.fpcr,
               before.fpsr);
        for (unsigned i = 0; i < length; i++) {
            isa_disassemble(sequence[i], (uint32_t)pc + 4 * i, text, sizeof text);
            printf("  %" PRIx64 "  %08" PRIx32 "  %s\n", pc + 4 * i, sequence[i], text);
        }
        if (++failures == FAILURES_MAX)
            exit(5);
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned checked = 0, left = 0;
    for (; argc > 1 && strncmp(argv[1], "--", 2) == 0; argc--, argv++) {
        blocks |= strcmp(argv[1], "--blocks") == 0;
        precise |= strcmp(argv[1], "--precise") == 0 || blocks;
        if (strcmp(argv[1], "--length") == 0 && argc > 2) {
            length = (unsigned)atoi(argv[2]);
            argc--, argv++;
        }
    }
    unsigned forms = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
    random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    add_words(forms, argc > 3 ? argv[3] : NULL);
    machine *m = load_program();
    struct guest *g = guest_in(m);
    if (precise && !blocks) {
        translator_destroy(g->translator);
        struct error error;
        g->translator = translator_create(g, true, &error);
    }
    g->entering = true;
    for (uint64_t page = 0; page < GUEST_SPACE; page += GUEST_PAGE) // only what is put back between runs
        if (g->memory.pages[page / GUEST_PAGE] & PROT_WRITE && page - DATA >= DATA_BYTES)
            memory_protect(&g->memory, page, GUEST_PAGE, PROT_READ);
    memory_protect(&g->memory, READ_ONLY, 4096, PROT_READ);
    for (unsigned i = 0; i < DATA_BYTES; i++)
        pristine[i] = (uint8_t)(random64() >> 56);
    memcpy(g->memory.base + DATA, pristine, READ_ONLY - DATA);
    uint64_t first = g->cpu.pc;
    for (unsigned i = 0; i < word_count; i += length) {
        uint64_t pc = first + (i + i / length) * 4;
        if (!blocks)
            translate_now(g->translator, (uint32_t)pc);
        bool run = true;
        for (unsigned number = 0; number < CASES && run; number++)
            run = check_case(g, &words[i], pc, number);
        checked += run;
        left += blocks ? blocks_length(g->blocks, op_at(&g->cpu, pc)->handler) != length : !run;
    }
    const char *aim = blocks ? "whole in a block" : "translated";
    // Of single words one in a hundred has no stencil, of which a sequence has some.
    if (left * (blocks && length > 1 ? 3 : 50) > checked) {
        printf("not ok words: %u of %u sequences are not %s\n", left, word_count / length, aim);
        failures++;
    }
    if (!failures)
        printf("ok words: %u sequences of %u, %u not %s%s\n", checked, length, left, aim,
               precise ? "; faults are precise" : "");
    machine_destroy(m);
    return failures ? 5 : 0;
}
