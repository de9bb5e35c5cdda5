// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/isa/isa.h"
#include "explain.h"

enum { WORDS = 64, FORMULA_MAX = 40 };

static const char *bytes(unsigned n)
{
    return n == 1 ? "byte" : "bytes";
}

// The bracket that closes the one at open, or NULL.
static char *closing(char *open)
{
    int depth = 0;
    for (char *p = open; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (!depth)
            return p;
    }
    return NULL;
}

// Takes the words for widths out of a formula, and the brackets around all of it: widening and narrowing say
// nothing to those who do not look at bits.
static void simplify(char *words)
{
    static const char *const widths[] = {"zext64", "zext32", "sext64", "sext32", "low32", "low16", "low8"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const size_t name = strlen(widths[i]);
        char *at, *end;
        while ((at = strstr(words, widths[i])) != NULL && (end = closing(at + name)) != NULL) {
            memmove(end, end + 1, strlen(end));
            memmove(at, at + name + 1, strlen(at + name));
        }
    }
    char *end = *words == '(' ? closing(words) : NULL;
    if (end && !end[1]) {
        *end = '\0';
        memmove(words, words + 1, strlen(words));
    }
    char *bits = strstr(words, " (32 bits)");
    if (bits)
        *bits = '\0';
}

static void tell_linear(const struct loop_summary *s, const struct linear *l, char words[WORDS])
{
    loop_linear_print(s, l, words, WORDS);
    simplify(words);
}

// ---- what instructions do ----

static bool is_constant(const struct linear *l)
{
    return l->count == 0;
}

// How far an address moves in a round.
static void add_step(struct text *t, const struct loop_summary *s, const struct linear *step)
{
    char words[WORDS];
    const int64_t by = (int64_t)step->constant;
    if (is_constant(step)) {
        text_add(t, ", %" PRIu64 " %s each round", by < 0 ? -(uint64_t)by : (uint64_t)by,
                 by < 0 ? "back" : "further");
    } else {
        tell_linear(s, step, words);
        text_add(t, ", %s further each round", words);
    }
}

// The accesses at pc; an instruction of several does the same with each.
static bool tell_access(struct text *t, const struct loop_summary *s, uint32_t pc)
{
    const struct access *first = NULL;
    unsigned size = 0;
    for (unsigned k = 0; k < s->access_count; k++)
        if (s->accesses[k].pc == pc) {
            first = first ? first : &s->accesses[k];
            size += s->accesses[k].size;
        }
    if (!first)
        return false;
    if (first->shape == ACCESS_GATHER && !first->is_store)
        text_add(t, "looks %u %s up in a table of %" PRIu64, size, bytes(size),
                 first->index_max + first->size);
    else
        text_add(t, "%s %u %s", first->is_store ? "stores" : "loads", size, bytes(size));
    if (first->shape == ACCESS_INVARIANT)
        text_add(t, ", the same place in every round");
    else if (first->shape == ACCESS_STREAM)
        add_step(t, s, &first->step);
    return true;
}

static bool tell_exit(struct text *t, const struct loop_summary *s, uint32_t pc)
{
    const struct loop_exit *e = NULL;
    for (unsigned k = 0; k < s->exit_count && !e; k++)
        e = s->exits[k].pc == pc ? &s->exits[k] : NULL;
    if (!e)
        return false;
    char limit[WORDS];
    if (!e->counted)
        text_add(t, e->at_end ? "goes round, unless what was loaded ends it"
                              : "leaves, if what was loaded says so");
    else {
        tell_linear(s, &e->limit, limit);
        text_add(t, e->is_equal ? "%s while it is %s" : "%s %s is reached",
                 e->at_end     ? e->is_equal ? "goes round" : "goes round until"
                 : e->is_equal ? "goes on"
                               : "leaves when",
                 limit);
    }
    return true;
}

// The general registers and flags that the instruction writes.
static uint32_t written_by(uint32_t word, uint32_t pc, bool *flags)
{
    op o;
    memset(&o, 0, sizeof o);
    const enum insn id = isa_decode(word, pc, &o);
    *flags = id != INSN_UNDEFINED && isa_info[id].writes & NZCV;
    return id == INSN_UNDEFINED ? 0 : isa_registers(isa_info[id].writes, &o).x;
}

// Whether a later instruction of the body writes register r.
static bool written_later(const struct machine_loop_explanation *e, unsigned from, unsigned r)
{
    bool flags;
    for (unsigned i = from + 1; i < e->code_count; i++)
        if (written_by(e->code[i].word, e->code[i].pc, &flags) >> r & 1)
            return true;
    return false;
}

static void tell_value(struct text *t, const struct machine_loop_explanation *e, const struct loop_summary *s,
                       unsigned i)
{
    bool flags;
    const uint32_t written = written_by(e->code[i].word, e->code[i].pc, &flags);
    for (unsigned r = 0; r < 31; r++) {
        char words[WORDS];
        if (!(written >> r & 1) || written_later(e, i, r))
            continue;
        if (s->vars[r].shape == VAR_AFFINE) {
            const struct linear *step = &s->vars[r].step;
            const int64_t by = (int64_t)step->constant;
            tell_linear(s, step, words);
            if (is_constant(step))
                text_add(t, "x%u %s by %" PRIu64 " each round", r, by < 0 ? "shrinks" : "grows",
                         by < 0 ? -(uint64_t)by : (uint64_t)by);
            else
                text_add(t, "x%u grows by %s each round", r, words);
            return;
        }
        loop_node_print(s, s->vars[r].value, words, sizeof words);
        simplify(words);
        if (strlen(words) <= FORMULA_MAX && !strchr(words, 'm')) // not of what is loaded, which has no name
            text_add(t, "x%u = %s", r, words);
        return;
    }
    if (!flags || written)
        return;
    for (unsigned k = 0; k < s->exit_count; k++)
        if (s->exits[k].pc > e->code[i].pc) {
            text_add(t, s->exits[k].counted ? "is this the last round?" : "is this the one?");
            return;
        }
}

void explain_code(struct machine_loop_explanation *e, const struct loop_summary *s)
{
    for (unsigned i = 0; i < e->code_count; i++) {
        struct machine_loop_code *c = &e->code[i];
        struct text t = {c->meaning, sizeof c->meaning};
        if (!tell_access(&t, s, c->pc) && !tell_exit(&t, s, c->pc))
            tell_value(&t, e, s, i);
    }
}

// ---- what was proved ----

static void add_check(struct machine_loop_explanation *e, const char *text)
{
    for (unsigned i = 0; i < e->check_count; i++)
        if (strcmp(e->checks[i], text) == 0)
            return;
    if (e->check_count < LOOP_CHECKS_MAX)
        snprintf(e->checks[e->check_count++], sizeof e->checks[0], "%s", text);
}

// The instructions whose accesses a range stands for: "43784c", or "437838 and 437844".
static void name_range(const struct guard *g, unsigned range, char name[WORDS])
{
    struct text t = {name, WORDS};
    uint32_t last = 0;
    unsigned n = 0;
    *name = '\0';
    for (unsigned i = 0; i < g->access_count; i++)
        if (g->accesses[i].range == range && g->accesses[i].pc != last && n < 2) {
            text_add(&t, "%s%" PRIx32, n++ ? " and " : "", g->accesses[i].pc);
            last = g->accesses[i].pc;
        }
    if (!n)
        text_add(&t, "range %u", range);
}

// One sentence for each range that is stored to: what it must not meet.
static void tell_aliases(struct machine_loop_explanation *e, const struct guard *g)
{
    for (unsigned r = 0; r < g->range_count; r++) {
        char sentence[sizeof e->checks[0]], store[WORDS], other[WORDS];
        struct text t = {sentence, sizeof sentence};
        unsigned n = 0;
        if (!g->ranges[r].is_store)
            continue;
        name_range(g, r, store);
        text_add(&t, "what %s stores does not touch what", store);
        for (unsigned i = 0; i < g->alias_check_count; i++) {
            const struct alias_check *c = &g->alias_checks[i];
            const unsigned with = c->earlier == r ? c->later : c->earlier;
            if ((c->earlier != r && c->later != r) || (g->ranges[with].is_store && with < r))
                continue;
            name_range(g, with, other);
            if (!strstr(sentence, other))
                text_add(&t, "%s %s", n++ ? "," : "", other);
        }
        text_add(&t, " use%s", n == 1 ? "s" : "");
        if (n)
            add_check(e, sentence);
    }
}

void explain_proof(struct machine_loop_explanation *e, const struct loop_summary *s, const struct guard *g)
{
    struct text t = {e->proof, sizeof e->proof};
    char words[WORDS], sentence[sizeof e->checks[0]];
    text_add(&t, "a %s, as the net said", e->loop.class_name);
    for (unsigned k = 0; k < s->exit_count; k++) {
        const struct loop_exit *x = &s->exits[k];
        if (!x->counted)
            continue;
        tell_linear(s, &x->limit, words);
        text_add(&t, "; how often it goes round is known at the entry, from the distance to %s", words);
        break;
    }
    if (!g->counts)
        text_add(&t, "; what it loads ends it");
    tell_aliases(e, g);
    if (g->range_count)
        add_check(e, g->stores ? "all of it lies in the game's own memory, and nothing stored there is code"
                               : "all of it lies in memory that the game may read");
    for (unsigned i = 0; i < g->exit_count; i++) {
        const struct guard_exit *x = &g->exits[i];
        const uint64_t step = x->trip_count.step.constant;
        if (x->kind == EXIT_COUNTED && x->trip_count.compare == NODE_EQ && x->trip_count.most &&
            step + 1 > 2) {
            snprintf(sentence, sizeof sentence, "the distance is a multiple of %" PRIu64,
                     (int64_t)step < 0 ? -step : step);
            add_check(e, sentence);
        }
    }
    if (g->no_wrap_count)
        add_check(e, "no counter and no address wraps around");
    for (unsigned r = 0; r < 31; r++)
        if (g->zero_upper >> r & 1) {
            snprintf(sentence, sizeof sentence, "the upper half of x%u is 0", r);
            add_check(e, sentence);
        }
    snprintf(sentence, sizeof sentence, "at least %u rounds are to come, else it does not pay", g->least);
    add_check(e, sentence);
}
