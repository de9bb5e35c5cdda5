// SPDX-License-Identifier: MIT
// Registers numbered by what they do, and words without addresses.
#include "loop_code.h"
#include "loop_detector.h"

enum { MOVED = 29 }; // registers that get other numbers
enum { UP = 0, DOWN = 6, READ = 12, MADE = 18, LOADED = MOVED - 1 }; // the first numbers, see detector_view

struct numbering {
    const struct loop_body *body;
    const struct code_body *code;
    uint8_t order[MOVED]; // the registers in the order in which the words name them, the last word first
    unsigned named;
    uint8_t *number;
    uint32_t done, taken; // registers that have a number, and numbers that are given
};

static void note_names(struct numbering *n)
{
    uint32_t named = 0;
    for (unsigned i = n->code->length; i-- > 0;)
        for (unsigned f = 0; f < CODE_FIELDS; f++) {
            unsigned r = n->code->insn[i].var[f];
            if (r >= MOVED || named >> r & 1)
                continue;
            named |= 1u << r;
            n->order[n->named++] = (uint8_t)r;
        }
}

// Numbers those of the set that have none yet, from first on, or down from it.
static void number(struct numbering *n, uint32_t set, unsigned first)
{
    for (unsigned i = 0; i < n->named; i++) {
        unsigned r = n->order[i], to = first;
        if (!(set >> r & 1) || n->done >> r & 1)
            continue;
        while (n->taken >> to & 1)
            to = first == LOADED ? (to + MOVED - 1) % MOVED : (to + 1) % MOVED;
        n->number[r] = (uint8_t)to;
        n->done |= 1u << r;
        n->taken |= 1u << to;
    }
}

// The general registers that the exit at i asks: those that it names, and what they are made of, if not by
// way of memory.
static uint32_t asked(const struct code_body *code, unsigned i)
{
    uint32_t set = 0;
    if (!code_is_exit(code, i))
        return 0;
    for (unsigned from = i; from < LOOP_BODY_MAX;
         from = code->insn[from].reads_flags ? code->flags_from[from] : LOOP_BODY_MAX) {
        const struct code_insn *insn = &code->insn[from];
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            if (insn->reads >> f & 1 && insn->var[f] < MOVED)
                set |= 1u << insn->var[f];
        set |= (uint32_t)(code->fact[from].left.direct | code->fact[from].right.direct);
    }
    return set;
}

static bool counts_down(const struct numbering *n, unsigned r)
{
    int64_t step;
    return code_form_value(&n->code->step[r], n->body->x, &step) && step < 0;
}

static void number_registers(struct numbering *n)
{
    const struct code_body *code = n->code;
    uint32_t up = 0, down = 0, read = 0, loaded = 0;
    for (unsigned r = 0; r < MOVED; r++) {
        uint32_t bit = 1u << r;
        if (code->shape[r] == SHAPE_UNTOUCHED)
            read |= bit;
        else if (code->shape[r] != SHAPE_AFFINE)
            loaded |= code->end[r].loads ? bit : 0;
        else if (counts_down(n, r))
            down |= bit;
        else
            up |= bit;
    }
    note_names(n);
    // The backward branch first, then the other exits in their order, then all.
    for (unsigned i = 0; i <= code->length; i++) {
        uint32_t set = i == code->length ? ~0u : asked(code, i ? i - 1 : code->length - 1);
        number(n, set & up, UP);
        number(n, set & down, DOWN);
        number(n, set & read, READ);
        number(n, set & loaded, LOADED);
        number(n, set & ~(up | down | read | loaded), MADE);
    }
    for (unsigned r = 0; r < MOVED; r++)
        if (!(n->done >> r & 1)) {
            n->order[n->named++] = (uint8_t)r;
            number(n, 1u << r, READ);
        }
}

static uint32_t without_address(uint32_t word, const struct code_insn *insn, unsigned at, unsigned length)
{
    if (insn->kind != CODE_BRANCH)
        return code_without_address(word, insn);
    bool back = insn->target <= 0, leaves = at + (unsigned)insn->target >= length;
    if (!back && !leaves)
        return word;
    return code_set_displacement(word, insn,
                                 back ? ~0u : ~0u >> (33 - isa_displacement_bits(insn->id).count));
}

void detector_view_of(const struct loop_body *body, struct detector_view *view)
{
    struct code_body code;
    code_read(body, &code);
    struct numbering n = {.body = body, .code = &code, .number = view->number};
    for (unsigned r = MOVED; r < LOOP_REGISTERS; r++)
        view->number[r] = (uint8_t)r;
    number_registers(&n);
    for (unsigned i = 0; i < body->length; i++) {
        uint32_t word = without_address(body->words[i], &code.insn[i], i, body->length);
        for (unsigned f = 0; f < CODE_FIELDS; f++)
            if (code.insn[i].var[f] < LOOP_REGISTERS)
                word = code_set_register(word, &code.insn[i], f, view->number[code.insn[i].var[f]]);
        view->words[i] = word;
    }
}

unsigned detector_number(const struct loop_body *body, unsigned r)
{
    struct detector_view view;
    detector_view_of(body, &view);
    return view.number[r];
}

unsigned detector_register(const struct loop_body *body, unsigned number)
{
    struct detector_view view;
    unsigned r = 0;
    detector_view_of(body, &view);
    while (view.number[r] != number)
        r++;
    return r;
}
