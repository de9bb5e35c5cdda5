// SPDX-License-Identifier: MIT
// What earlier runs have asked for in vain, translated while the program does not run: all that compiling it
// costs is then no run's, and what is compiled, and how, is chosen by all that has been seen.
//
// Runs compile the loops that are hot before their functions are called again, with entries in the middle.
// Here whole functions are compiled, to be entered at their begin, and where they jump through tables: those
// that are hot, then all that have run, as each run would else decode and interpret them anew.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "translate_internal.h"

// What is found out about a page of t->executed: a bit for each of its instructions.
struct rest_page {
    uint8_t is_reached[EXECUTED_BYTES]; // by a direct branch, or a call
};

struct rest {
    struct translator *t;
    struct rest_page *pages; // as t->executed, whose pages are in order
    bool all; // be it never hot
    bool is_wanted; // the function that the instruction last looked at is in
};

static bool has_bit(const uint8_t *bits, uint32_t pc)
{
    return bits[pc / 4 / 8 % EXECUTED_BYTES] >> (pc / 4 % 8) & 1;
}

// Decodes what has run at pc; false if nothing has, or it is gone.
static bool decode_executed(const struct translator *t, const struct executed_page *page, uint32_t pc, op *o,
                            enum insn *insn)
{
    uint32_t word;
    if (!has_bit(page->bits, pc) || !(t->guest->memory.pages[pc / GUEST_PAGE] & PROT_EXEC) ||
        !memory_read(&t->guest->memory, pc, &word, sizeof word))
        return false;
    *insn = isa_decode(word, pc, o);
    return true;
}

static void note_target(struct rest *rest, uint32_t pc, bool is_call)
{
    struct translator *t = rest->t;
    for (unsigned i = 0; i < t->executed_count; i++) {
        if (t->executed[i].address != (pc & ~(uint32_t)(GUEST_PAGE - 1)) || !has_bit(t->executed[i].bits, pc))
            continue;
        rest->pages[i].is_reached[pc / 4 / 8 % EXECUTED_BYTES] |= (uint8_t)(1u << (pc / 4 % 8));
        struct slot *s = is_call ? translate_slot(t, pc) : NULL;
        if (s)
            s->is_called = true;
    }
}

static void note_branches(struct rest *rest, const struct executed_page *page)
{
    for (uint32_t pc = page->address; pc - page->address < GUEST_PAGE; pc += 4) {
        op o;
        enum insn insn;
        if (!decode_executed(rest->t, page, pc, &o, &insn))
            continue;
        if (isa_info[insn].kind == KIND_CONDITION || isa_info[insn].kind == KIND_JUMP)
            note_target(rest, pc + (uint32_t)o.disp * 4, insn == INSN_bl);
    }
}

// Whether something has been asked for in the function that begins at pc.
static bool function_is_hot(const struct translator *t, uint32_t pc)
{
    uint32_t end = UINT32_MAX;
    for (unsigned i = 0; i < t->slot_count; i++)
        if (t->slots[i].is_called && t->slots[i].pc > pc && t->slots[i].pc < end)
            end = t->slots[i].pc;
    for (unsigned i = 0; i < t->slot_count; i++)
        if (t->slots[i].pc >= pc && t->slots[i].pc < end && slot_heat(&t->slots[i]))
            return true;
    return false;
}

// Functions that return once more when longjmp is called: compilers, too, know them by name.
static bool returns_twice(const struct guest *g, uint32_t pc)
{
    static const char *const names[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"};
    uint64_t offset;
    const char *name = g->host->symbol(g, pc, &offset);
    for (unsigned i = 0; name && !offset && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void request_target(struct translator *t, uint32_t pc)
{
    struct slot *s = translate_slot(t, pc);
    if (s)
        s->is_target = true;
    request_if_cold(t, s);
}

// Asks for what has run on the page, in functions that are wanted, where an indirect branch has led often, or
// must have led: it does not follow what ran before it, and no direct branch leads there; for where longjmp
// leads; and for the functions themselves, if all are. (Each entry costs those who pass by: with all that BR
// had ever led to, bzip2 -d's second run took 10 % longer.)
static void request_on(struct rest *rest, unsigned index)
{
    struct translator *t = rest->t;
    const struct executed_page *page = &t->executed[index];
    // What is at the page's start may.
    bool follows =
        index && page[-1].address + GUEST_PAGE == page->address && has_bit(page[-1].bits, page->address - 4);
    for (uint32_t pc = page->address; pc - page->address < GUEST_PAGE; pc += 4) {
        op o;
        enum insn insn;
        const struct slot *s = slot_at(t, pc);
        if (s && s->is_called) {
            rest->is_wanted = rest->all || function_is_hot(t, pc);
            if (rest->all)
                request_if_cold(t, translate_slot(t, pc));
        }
        if (!decode_executed(t, page, pc, &o, &insn)) {
            follows = false;
            continue;
        }
        const bool is_led_to = isa_info[insn].kind != KIND_CONDITION && branch_seen(t, pc).taken >= HOT_LOOP,
                   must_be = !follows && !has_bit(rest->pages[index].is_reached, pc);
        if (rest->is_wanted && (is_led_to || must_be))
            request_target(t, pc);
        if (rest->is_wanted && insn == INSN_bl && returns_twice(t->guest, pc + (uint32_t)o.disp * 4))
            request_target(t, pc + 4);
        follows = insn == INSN_bl || insn == INSN_blr ||
                  (isa_info[insn].kind != KIND_JUMP && isa_info[insn].kind != KIND_INDIRECT);
    }
}

void translate_rest(struct translator *t, bool all)
{
    struct rest rest = {t, calloc(t->executed_count + 1, sizeof *rest.pages), all, false};
    if (!t->cache || !rest.pages) {
        free(rest.pages);
        return;
    }
    t->at_leisure = true;
    t->gathers = true; // there is no thread yet
    for (unsigned i = 0; i < t->executed_count; i++)
        note_branches(&rest, &t->executed[i]);
    for (unsigned i = 0; i < t->executed_count; i++)
        request_on(&rest, i);
    free(rest.pages);
    for (unsigned i = 0; i < t->slot_count; i++)
        if (slot_heat(&t->slots[i]))
            request_if_cold(t, &t->slots[i]);
    for (size_t i = 0; i < cache_file_count(t->cache); i++) {
        const struct cached_object *o = cache_file_get(t->cache, i);
        const struct slot *s = slot_at(t, o->entry);
        if (s && s->state == SLOT_CACHED && has_grown(t, o))
            translate_again(t, o->entry);
    }
    pthread_mutex_lock(&t->lock);
    t->gathers = false;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void rest_cover(struct translator *t, const struct region *r)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        struct slot *s = &t->slots[i];
        bool was_entry = s->state == SLOT_CACHED && s->home == r->entries[0];
        bool is_asked = s->state == SLOT_COLD || s->state == SLOT_QUEUED;
        bool is_covered = is_asked && region_has(r, s->pc) && !choose_needs_entry(t, s, r);
        if (region_enters_at(r, s->pc) || s->is_called || !(was_entry || is_covered))
            continue;
        s->state = SLOT_COLD;
        s->heat = 0;
        s->in_work = true; // asks no more
    }
}
