// SPDX-License-Identifier: MIT
// Summaries of loops against running them: of random bodies, or of all loops in a program's code.
// usage: summary_test random COUNT SEED
//        summary_test program ELF
//        summary_test print WORDS (the summary of the first loop in a file of instructions)
//        summary_test tables (whether this build can summarise)
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../core/loops/expr/semantics.h"
#include "../isa/random_instruction.h"
#include "concrete.h"

enum { ITERATIONS = 6, STATES = 6 };

static unsigned done, rejected, iterations, affine, streams, gathers, counted_exits;

// ---- one iteration ----

struct trial {
    const struct loop_summary *s;
    uint64_t start[LOOP_VARS], first[LOOP_VARS]; // of this iteration, of the first
    uint64_t loaded[SUMMARY_ACCESSES], first_loaded[SUMMARY_ACCESSES];
    bool steady[SUMMARY_ACCESSES]; // has always read the same
    unsigned number; // of the iteration
};

static void fail(const struct trial *t, const char *format, uint64_t a, uint64_t b, uint64_t c)
{
    static char text[1 << 16];
    printf("not ok summary: ");
    printf(format, (unsigned long long)a, (unsigned long long)b, (unsigned long long)c);
    printf(" (iteration %u)\n", t->number);
    for (uint32_t pc = t->s->header; pc <= t->s->branch; pc += 4) {
        isa_disassemble(t->s->words[(pc - t->s->header) / 4], pc, text, sizeof text);
        printf("  0x%x %s\n", pc, text);
    }
    loop_summary_print(t->s, text, sizeof text);
    fputs(text, stdout);
    for (unsigned v = 0; v < LOOP_VARS; v++)
        printf("  var %u = 0x%llx\n", v, (unsigned long long)t->start[v]);
    exit(1);
}

static uint64_t loaded_value(void *user, unsigned access, uint64_t address)
{
    struct trial *t = user;
    (void)address; // compared when the access happened
    return t->loaded[access];
}

static uint64_t evaluate(struct trial *t, unsigned node)
{
    return loop_evaluate(t->s, node, t->start, loaded_value, t);
}

// Compares the accesses of the iteration before the exit that it took, or all of them.
static void compare_accesses(struct trial *t, unsigned limit)
{
    unsigned seen = 0;
    for (unsigned k = 0; k < limit; k++) {
        const struct access *a = &t->s->accesses[k];
        if (!evaluate(t, a->condition))
            continue;
        const struct record *r = &records[seen++];
        if (seen > record_count || r->pc != a->pc || r->size != a->size || r->is_store != a->is_store ||
            r->alignment != a->alignment)
            fail(t, "access %llu is not what happened", k, 0, 0);
        uint64_t address = evaluate(t, a->address);
        if (address != r->address)
            fail(t, "access %llu is at 0x%llx, not 0x%llx", k, r->address, address);
        t->loaded[k] = r->value;
        if (a->is_store && evaluate(t, a->value) != r->value)
            fail(t, "access %llu stores 0x%llx, not 0x%llx", k, r->value, evaluate(t, a->value));
    }
    if (seen != record_count)
        fail(t, "%llu accesses happened, not %llu", record_count, seen, 0);
}

static unsigned accesses_before(const struct trial *t, const struct outcome *end)
{
    for (unsigned k = 0; k < t->s->exit_count; k++)
        if (end->left && t->s->exits[k].pc == end->pc)
            return t->s->exits[k].accesses_before;
    return t->s->access_count;
}

static void compare_exits(struct trial *t, const struct outcome *end)
{
    for (unsigned k = 0; k < t->s->exit_count; k++) {
        const struct loop_exit *e = &t->s->exits[k];
        if (!evaluate(t, e->condition))
            continue;
        if (!end->left || e->pc != end->pc || e->target != end->target)
            fail(t, "exit %llu was not taken, but 0x%llx -> 0x%llx", k, end->pc, end->target);
        if (evaluate(t, e->length) != end->length)
            fail(t, "exit %llu is after %llu instructions, not %llu", k, end->length, evaluate(t, e->length));
        return;
    }
    if (end->left)
        fail(t, "no exit taken, but 0x%llx -> 0x%llx", end->pc, end->target, 0);
}

static void compare_vars(struct trial *t, const cpu *c, const struct outcome *end)
{
    uint64_t now[LOOP_VARS];
    get_vars(c, now);
    now[LOOP_VAR_LENGTH] = end->length;
    for (unsigned v = 0; v < LOOP_VARS; v++)
        if (evaluate(t, t->s->vars[v].value) != now[v])
            fail(t, "variable %llu is 0x%llx, not 0x%llx", v, now[v], evaluate(t, t->s->vars[v].value));
    if (t->s->length && t->s->length != end->length)
        fail(t, "%llu instructions, not %llu", end->length, t->s->length, 0);
}

// ---- what is said of all iterations ----

// False if it hangs on a load that did not always read the same.
static bool linear_value(const struct trial *t, const struct linear *l, uint64_t *value)
{
    *value = l->constant;
    for (unsigned k = 0; k < l->count; k++) {
        if (l->var[k] >= LINEAR_LOAD && !t->steady[l->var[k] - LINEAR_LOAD])
            return false;
        *value += (uint64_t)l->factor[k] *
                  (l->var[k] >= LINEAR_LOAD ? t->first_loaded[l->var[k] - LINEAR_LOAD] : t->first[l->var[k]]);
    }
    if (l->bits == 32)
        *value = (uint32_t)*value;
    return l->valid;
}

static void check_variables(struct trial *t)
{
    uint64_t step;
    for (unsigned v = 0; v < LOOP_VAR_LENGTH; v++) {
        if (t->s->vars[v].shape == VAR_UNTOUCHED && t->start[v] != t->first[v])
            fail(t, "variable %llu is not untouched", v, 0, 0);
        if (t->s->vars[v].shape != VAR_AFFINE || !linear_value(t, &t->s->vars[v].step, &step))
            continue;
        uint64_t expected = t->first[v] + t->number * step;
        if (t->s->vars[v].bits == 32 && t->number)
            expected = (uint32_t)expected;
        if (t->start[v] != expected)
            fail(t, "variable %llu is 0x%llx, not 0x%llx as it is affine", v, t->start[v], expected);
        affine++;
    }
}

static void check_accesses(struct trial *t, unsigned limit)
{
    for (unsigned k = 0; k < limit; k++) {
        const struct access *a = &t->s->accesses[k];
        uint64_t base, step = 0, mask = a->base.bits == 32 ? 0xffffffff : ~(uint64_t)0;
        if (a->shape == ACCESS_UNKNOWN || !evaluate(t, a->condition) || !linear_value(t, &a->base, &base) ||
            (a->shape == ACCESS_STREAM && !linear_value(t, &a->step, &step)))
            continue;
        if (a->shape == ACCESS_GATHER) {
            uint64_t index = evaluate(t, a->index);
            if (index > a->index_max)
                fail(t, "access %llu has index %llu", k, index, 0);
            base += index;
            gathers++;
        } else {
            streams++;
        }
        uint64_t address = evaluate(t, a->address);
        if (((base + t->number * step) & mask) != (address & mask))
            fail(t, "access %llu is at 0x%llx, not 0x%llx as its shape says", k, address,
                 base + t->number * step);
    }
}

static bool compares(const struct loop_exit *e, uint64_t counter, uint64_t limit)
{
    uint64_t a = e->swapped ? limit : counter, b = e->swapped ? counter : limit;
    int64_t sa = e->bits == 32 ? (int32_t)a : (int64_t)a, sb = e->bits == 32 ? (int32_t)b : (int64_t)b;
    switch (e->compare) {
    case NODE_EQ: return (a == b) == e->is_equal;
    case NODE_ULT: return a < b;
    case NODE_ULE: return a <= b;
    case NODE_SLT: return sa < sb;
    default: return sa <= sb;
    }
}

static void check_counts(struct trial *t, const struct outcome *end)
{
    for (unsigned k = 0; k < t->s->exit_count; k++) {
        const struct loop_exit *e = &t->s->exits[k];
        uint64_t start, step, limit;
        if (k > 0 && end->left && end->pc == t->s->exits[k - 1].pc && end->pc != e->pc)
            return;
        if (e->counted && linear_value(t, &e->start, &start) && linear_value(t, &e->step, &step) &&
            linear_value(t, &e->limit, &limit)) {
            uint64_t mask = e->bits == 32 ? 0xffffffff : ~(uint64_t)0;
            if (compares(e, (start + t->number * step) & mask, limit & mask) == evaluate(t, e->condition))
                fail(t, "exit %llu does not count so", k, 0, 0);
            counted_exits++;
        }
    }
}

// What is not read cannot matter.
static void check_unread(const struct trial *t, const struct outcome *end, const cpu *after,
                         const struct memory_image *before)
{
    uint64_t other[LOOP_VARS], expected[LOOP_VARS], now[LOOP_VARS];
    struct record seen[RECORDS];
    unsigned seen_count = record_count;
    static struct memory_image now_image;
    cpu c = {0};
    memcpy(seen, records, sizeof seen);
    memcpy(other, t->start, sizeof other);
    for (unsigned v = 0; v < LOOP_VAR_LENGTH; v++)
        if (!t->s->vars[v].read)
            other[v] = v == LOOP_VAR_FLAGS_KIND ? random_below(5) : random64();
    copy_image(&now_image, &image);
    copy_image(&image, before);
    set_vars(&c, other);
    struct outcome again = run_iteration(t->s, &c);
    get_vars(after, expected);
    get_vars(&c, now);
    if (again.left != end->left || again.pc != end->pc || record_count != seen_count ||
        memcmp(seen, records, seen_count * sizeof seen[0]) != 0)
        fail(t, "something unread matters", 0, 0, 0);
    for (unsigned v = 0; v < LOOP_VAR_LENGTH && !end->left; v++)
        if (t->s->vars[v].shape != VAR_UNTOUCHED && expected[v] != now[v])
            fail(t, "something unread matters for variable %llu", v, 0, 0);
    copy_image(&image, &now_image);
}

static void check_iteration(struct trial *t, cpu *c)
{
    static struct memory_image before;
    copy_image(&before, &image);
    get_vars(c, t->start);
    if (t->number == 0)
        memcpy(t->first, t->start, sizeof t->first);
    struct outcome end = run_iteration(t->s, c);
    unsigned limit = accesses_before(t, &end);
    compare_accesses(t, limit);
    compare_exits(t, &end);
    if (!end.left)
        compare_vars(t, c, &end);
    for (unsigned k = 0; k < limit; k++) {
        if (t->number == 0)
            t->first_loaded[k] = t->loaded[k];
        t->steady[k] = (t->number == 0 || t->steady[k]) && t->loaded[k] == t->first_loaded[k];
    }
    for (unsigned k = limit; k < t->s->access_count; k++)
        t->steady[k] = false;
    check_variables(t);
    check_accesses(t, limit);
    check_counts(t, &end);
    check_unread(t, &end, c, &before);
    iterations++;
    t->number = end.left ? ITERATIONS : t->number + 1;
}

static void random_vars(uint64_t vars[LOOP_VARS])
{
    for (unsigned v = 0; v < LOOP_VARS; v++)
        vars[v] = random_general();
    for (unsigned v = 0; v < 32; v++) // counters and limits near each other
        if (one_in(3))
            vars[v] = vars[random_below(32)] + random_below(8) * (1u << random_below(4));
    vars[LOOP_VAR_FLAGS_KIND] = random_below(5);
    if (vars[LOOP_VAR_FLAGS_KIND] == FLAGS_SUB32 || vars[LOOP_VAR_FLAGS_KIND] == FLAGS_ADD32) {
        vars[LOOP_VAR_FLAGS_A] = (uint32_t)vars[LOOP_VAR_FLAGS_A];
        vars[LOOP_VAR_FLAGS_B] = (uint32_t)vars[LOOP_VAR_FLAGS_B];
    }
}

static bool check_loop(uint32_t header, const uint32_t *words, unsigned length, const char **reason)
{
    static struct loop_summary s;
    if (!loop_summarize(&s, header, words, length, reason)) {
        rejected++;
        return false;
    }
    for (unsigned k = 0; k < STATES; k++) {
        static struct trial t;
        cpu c = {0};
        uint64_t vars[LOOP_VARS];
        t = (struct trial){.s = &s};
        random_vars(vars);
        set_vars(&c, vars);
        image.count = 0;
        image.seed = random64();
        while (t.number < ITERATIONS)
            check_iteration(&t, &c);
    }
    done++;
    return true;
}

// ---- where loops come from ----

static uint32_t random_branch(uint32_t at, uint32_t target)
{
    uint32_t distance = (target - at) / 4, reg = random_below(6);
    switch (random_below(4)) {
    case 0:
        return 0x34000000 | random_below(2) << 31 | random_below(2) << 24 | (distance & 0x7ffff) << 5 | reg;
    case 1:
        return 0x36000000 | random_below(2) << 31 | random_below(2) << 24 | random_below(32) << 19 |
               (distance & 0x3fff) << 5 | reg;
    default: return 0x54000000 | (distance & 0x7ffff) << 5 | random_below(14);
    }
}

// Few registers, so that instructions have to do with each other.
static bool names_only_few(const struct instruction *i)
{
    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (i->present & BIT(f) & (general_sources | general_destinations) && i->value[f] > 5 &&
            i->value[f] != 31)
            return false;
    return true;
}

static uint32_t random_straight(void)
{
    if (one_in(5)) // a step
        return 0x11000000 | random_below(2) << 31 | random_below(2) << 30 | random_below(16) << 10 |
               random_below(6) * 0x21;
    if (one_in(6)) // an access near others
        return 0x39000000 | random_below(4) << 30 | random_below(2) << 22 | random_below(3) << 10 |
               random_below(2) << 5 | random_below(6);
    for (;;) {
        struct instruction i = draw_instruction();
        if (names_only_few(&i) && isa_info[i.id].kind == KIND_OP && semantics_of[i.id].count &&
            !(i.present & vectors))
            return i.word;
    }
}

static void random_loops(unsigned count)
{
    const uint32_t header = 0x400000;
    select_instructions("arith,logic,ldst,muldiv,shift", NULL);
    while (done < count) {
        uint32_t words[SUMMARY_BODY_MAX];
        unsigned length = 1 + random_below(one_in(4) ? 20 : 6);
        for (unsigned k = 0; k < length; k++) {
            uint32_t at = header + 4 * k, target = header + 4 * (k + 1 + random_below(length - k));
            words[k] = !one_in(6)  ? random_straight()
                       : one_in(4) ? random_branch(at, 0x500000 + 4 * random_below(4))
                       : one_in(8) ? random_branch(at, header)
                       : one_in(6) ? 0x14000000 | ((target - at) / 4 & 0x3ffffff)
                                   : random_branch(at, target);
        }
        words[length] =
            one_in(8) ? 0x14000000 | (-length & 0x3ffffff) : random_branch(header + 4 * length, header);
        const char *reason;
        check_loop(header, words, length + 1, &reason);
    }
}

static uint32_t branch_target(uint32_t word, uint32_t pc)
{
    op o = {0};
    enum insn insn = isa_decode(word, pc, &o);
    bool branches = isa_info[insn].kind == KIND_CONDITION || insn == INSN_b;
    return branches ? pc + (uint32_t)o.disp * 4 : pc + 4;
}

// Every backward branch with a short way back.
static void loops_of_program(const char *path)
{
    FILE *f = fopen(path, "rb");
    Elf64_Ehdr head;
    if (!f || fread(&head, sizeof head, 1, f) != 1) {
        printf("not ok summary: no program %s\n", path);
        exit(1);
    }
    for (unsigned p = 0; p < head.e_phnum; p++) {
        Elf64_Phdr part;
        fseek(f, (long)(head.e_phoff + p * sizeof part), SEEK_SET);
        if (fread(&part, sizeof part, 1, f) != 1 || part.p_type != PT_LOAD || !(part.p_flags & PF_X))
            continue;
        uint32_t *words = malloc(part.p_filesz);
        fseek(f, (long)part.p_offset, SEEK_SET);
        size_t count = words ? fread(words, 4, part.p_filesz / 4, f) : 0;
        for (size_t k = 0; k < count; k++) {
            uint32_t pc = (uint32_t)part.p_vaddr + 4 * (uint32_t)k, header = branch_target(words[k], pc);
            const char *reason;
            if (header > pc || pc - header >= 4 * SUMMARY_BODY_MAX || header < part.p_vaddr)
                continue;
            unsigned length = (pc - header) / 4 + 1;
            check_loop(header, words + k + 1 - length, length, &reason);
        }
        free(words);
    }
    fclose(f);
}

static void print_loop(const char *path)
{
    static char text[1 << 16];
    static struct loop_summary s;
    uint32_t words[256];
    const char *reason;
    FILE *f = fopen(path, "rb");
    size_t count = f ? fread(words, 4, 256, f) : 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t header = branch_target(words[k], 4 * k) / 4;
        if (header > k)
            continue;
        if (loop_summarize(&s, 4 * header, words + header, k - header + 1, &reason))
            loop_summary_print(&s, text, sizeof text);
        puts(*text ? text : reason);
        break;
    }
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "tables") == 0)
        return !semantics_exists;
    if (argc == 4 && strcmp(argv[1], "random") == 0) {
        random_state = strtoull(argv[3], NULL, 0);
        random_loops((unsigned)atoi(argv[2]));
    } else if (argc == 3 && strcmp(argv[1], "program") == 0) {
        loops_of_program(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "print") == 0) {
        print_loop(argv[2]);
        return 0;
    } else {
        fprintf(stderr, "usage: summary_test random COUNT SEED | program ELF | print WORDS | tables\n");
        return 2;
    }
    printf("ok summary: %u loops, %u rejected; %u iterations, %u affine variables, %u streams, %u gathers, "
           "%u counted exits\n",
           done, rejected, iterations, affine, streams, gathers, counted_exits);
    return 0;
}
