// SPDX-License-Identifier: MIT
// Loops that have a plan, found in machine code or made at random. For the programs that fuzz them.
#ifndef TESTS_LOOPS_CANDIDATES_H
#define TESTS_LOOPS_CANDIDATES_H

#include <stdio.h>

#include "../../core/isa/isa.h"
#include "random_loops.h"
#include "states.h"

enum { LOOPS_MAX = 8192, HEADER = 0xa00000 };

static bool verbose; // says of each loop what it is

static struct loop {
    const char *file;
    uint32_t offset;
    struct loop_summary *summary;
    struct loop_plan *plan;
    enum loop_class class;
} loops[LOOPS_MAX];
static unsigned loop_count;

static const char *const class_names[LOOP_CLASSES] = {
#define LOOP_CLASS(identifier, name) name,
#include "../../core/loops/propose/loop_classes.def"
#undef LOOP_CLASS
};

static bool is_known(const struct loop_summary *s)
{
    for (unsigned i = 0; i < loop_count; i++)
        if (memcmp(loops[i].summary->words, s->words, sizeof s->words) == 0)
            return true;
    return false;
}

static void find_loop(const char *file, const uint32_t *words, uint32_t first, uint32_t last)
{
    struct loop_summary *s = malloc(sizeof *s);
    const char *reason = NULL;
    enum loop_class class = LOOP_OTHER;
    struct loop_plan *plan = NULL;
    if (s && loop_count < LOOPS_MAX && loop_summarize(s, HEADER, words + first, last - first + 1, &reason)) {
        class = prove_class(s);
        if (!is_known(s))
            plan = prove_plan(s, class, &reason);
    }
    if (verbose && (plan || reason))
        printf("# %s %x: %s%s%s\n", file, first * 4, class_names[class], plan ? "" : ": ",
               plan ? "" : reason);
    if (plan) {
        loops[loop_count++] = (struct loop){file, first * 4, s, plan, class};
    } else {
        free(s);
    }
}

static void find_loops(const char *file)
{
    FILE *f = fopen(file, "rb");
    static uint32_t words[1 << 20];
    size_t count = f ? fread(words, 4, sizeof words / 4, f) : 0;
    if (f)
        fclose(f);
    for (uint32_t i = 0; i < count; i++) {
        op o;
        enum insn insn = isa_decode(words[i], HEADER + i * 4, &o);
        enum insn_kind kind = isa_info[insn].kind;
        if ((kind == KIND_CONDITION || kind == KIND_JUMP) && insn != INSN_bl && o.disp < 0 &&
            -o.disp < SUMMARY_BODY_MAX && (uint32_t)-o.disp <= i)
            find_loop(file, words, i + (uint32_t)o.disp, i);
    }
}

static void add_random_loops(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct random_loop l;
        make_random_loop(&l);
        find_loop("random", l.words, 0, l.count - 1);
    }
}

#endif
