// SPDX-License-Identifier: MIT
// What is worth compiling, in which pieces, and which of these the interpreter is to enter.
//
// Compiling costs as much as interpreting the same code some hundred thousand times: who compiles at once
// pays that for code that is soon over, and who waits for ever is slow. So code is compiled when interpreting
// it has cost a certain share of that, or a multiple, the hottest first.
//
// Entries in the middle of a function (loops that are hot before it is called again, and where translated
// code returns into what is interpreted) get no copies of the rest of it: the function's region gets entries
// there.
#include <stdlib.h>
#include <string.h>

#include "translate_internal.h"

enum {
    HOST_DISTANCE = 16 << 10, // bytes that code lies at most behind the entry of its region
    HOSTS_MAX = 8, // that are tried
    FIRST_LOOK = 30, // heat of an entry that is worth asking about, where a fifth will do
    LOADING_COST = 2000, // in heat: LLVM takes 7 ms, and what it then compiles
    SHORT = 100000, // heat of a run that may be over before what is compiled pays
};

// Compiling takes 0.2 ms an instruction. For how many fifths of that code has to be interpreted before it is
// worth it. Where somebody will compile for later runs, that is what makes this one shortest: forty, and ten
// if it turns out to be a long one. Likewise where what is compiled is not kept. Else one will do: code that
// is hot goes on to be, in later runs, too.
static unsigned fifths(const struct translator *t)
{
    const bool is_kept = !t->shared || shared_history_is_kept_here(t->shared);
    if (!t->guest->config.leave_rest && is_kept)
        return 1;
    return atomic_load_explicit(&t->heat, memory_order_relaxed) < SHORT ? 40 : 10;
}

// The heat that is worth compiling the region for.
static unsigned cost_of(const struct translator *t, const struct region *r)
{
    return (50 + 4 * r->op_count) * fifths(t);
}

unsigned choose_first_look(const struct translator *t)
{
    return FIRST_LOOK * fifths(t);
}

bool choose_may_load(const struct translator *t)
{
    return t->earlier_heat + t->heat >= LOADING_COST;
}

static bool is_compiled(const struct slot *s)
{
    return s->state == SLOT_DONE || s->state == SLOT_CACHED;
}

// The heat of the code at all entries that are asked for.
static unsigned heat_of(const struct translator *t, const struct region *r)
{
    unsigned heat = 0, count = t->slot_count;
    for (unsigned i = 0; i < count; i++)
        if (slot_heat(&t->slots[i]) && region_has(r, t->slots[i].pc))
            heat += slot_heat(&t->slots[i]);
    return heat;
}

// Adds the entry, in place of the coolest if there is no room.
static void add_entry(uint32_t *entries, unsigned *heat, unsigned *count, uint32_t pc, unsigned more)
{
    unsigned at = *count;
    if (at == REGION_ENTRIES_MAX)
        for (unsigned i = at = 1; i < REGION_ENTRIES_MAX; i++)
            if (heat[i] < heat[at])
                at = i;
    if (*count == REGION_ENTRIES_MAX && heat[at] >= more)
        return;
    *count += at == *count;
    entries[at] = pc;
    heat[at] = more;
}

// At leisure. Loops are come to from where the region begins, and other functions that it leads to have
// regions of their own.
static bool may_be_entry(const struct slot *s, const struct region *r)
{
    return !s->is_called && !region_loops_at(r, s->pc);
}

bool choose_needs_entry(struct translator *t, const struct slot *s, const struct region *r)
{
    return may_be_entry(s, r) &&
           (s->is_target || slot_heat(s) >= FIRST_LOOK || is_compiled(slot_at(t, r->entries[0])));
}

// How much it is worth to enter *r at x, where s is asked for; 0: nothing.
static unsigned worth_of_entry(struct translator *t, const struct slot *s, const struct region *r,
                               const struct slot *x)
{
    const bool was_one = is_compiled(x) && x->home == r->entries[0];
    if (t->at_leisure && !may_be_entry(x, r))
        return 0;
    if (was_one || (x == s && !t->at_leisure))
        return UINT32_MAX;
    if (t->at_leisure)
        return x->state == SLOT_QUEUED ? 1 + slot_heat(x) : 0;
    return slot_heat(x) >= FIRST_LOOK ? slot_heat(x) : 0;
}

// Finds *r anew, with all entries: where it has been asked for, s among these, and those that it has had.
static bool find_with_entries(struct translator *t, const struct slot *s, const struct region_source *source,
                              struct region *r)
{
    uint32_t entries[REGION_ENTRIES_MAX] = {r->entries[0]};
    unsigned heat[REGION_ENTRIES_MAX] = {UINT32_MAX}, count = 1, slot_count = t->slot_count;
    for (unsigned i = 0; i < slot_count; i++) {
        const struct slot *x = &t->slots[i];
        const unsigned worth = x->pc == entries[0] ? 0 : worth_of_entry(t, s, r, x);
        if (worth && region_has(r, x->pc))
            add_entry(entries, heat, &count, x->pc, worth);
    }
    return region_find(r, entries, count, source);
}

static int by_pc(const void *a, const void *b)
{
    const struct slot *x = *(const struct slot *const *)a, *y = *(const struct slot *const *)b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

// The entries in front of s whose regions it may be a part of, the lowest first; returns how many.
static unsigned find_hosts(const struct translator *t, const struct slot *s, const struct slot **hosts)
{
    const struct slot *all[256];
    unsigned count = 0, slot_count = t->slot_count;
    for (unsigned i = 0; i < slot_count && count < 256; i++) {
        const struct slot *x = &t->slots[i];
        if (x->pc < s->pc && s->pc - x->pc < HOST_DISTANCE &&
            (t->at_leisure ? x->is_called : slot_heat(x) || is_compiled(x)))
            all[count++] = x;
    }
    qsort(all, count, sizeof *all, by_pc);
    unsigned first = count > HOSTS_MAX ? count - HOSTS_MAX : 0;
    memcpy(hosts, all + first, (count - first) * sizeof *all);
    return count - first;
}

// At leisure: whether nobody need ask for s once *r, with its entries, has been compiled. (There may have
// been no room for s among these, and with them *r may end in front of it.)
static bool is_served(struct translator *t, const struct slot *s, const struct region *r)
{
    return region_has(r, s->pc) && (region_enters_at(r, s->pc) || !choose_needs_entry(t, s, r));
}

// At leisure: the function that s is in, if there is one that has been called by its address. What else is
// entered (the cases of a switch) leads to code that others of its kind lead to as well: there is one entry.
static bool find_function(struct translator *t, const struct slot *s, const struct region_source *source,
                          struct region *r)
{
    const struct slot *hosts[HOSTS_MAX];
    unsigned count = s->is_called ? 0 : find_hosts(t, s, hosts);
    while (count-- > 0)
        if (region_find(r, &hosts[count]->pc, 1, source) && region_has(r, s->pc) &&
            find_with_entries(t, s, source, r) && is_served(t, s, r))
            return true;
    return region_find(r, &s->pc, 1, source) && (!s->is_called || find_with_entries(t, s, source, r));
}

bool choose_region(struct translator *t, const struct slot *s, const struct region_source *source,
                   struct region *r)
{
    const struct slot *hosts[HOSTS_MAX];
    if (!region_find(r, &s->pc, 1, source) || t->eager)
        return r->op_count;
    if (t->at_leisure)
        return find_function(t, s, source, r);
    unsigned alone = cost_of(t, r), hosts_count = find_hosts(t, s, hosts);
    for (unsigned i = 0; i < hosts_count; i++)
        if (region_find(r, &hosts[i]->pc, 1, source) && region_has(r, s->pc) &&
            (cost_of(t, r) <= 2 * alone || heat_of(t, r) >= cost_of(t, r)) &&
            find_with_entries(t, s, source, r) && region_enters_at(r, s->pc))
            return true;
    return region_find(r, &s->pc, 1, source) && find_with_entries(t, s, source, r);
}

// Whether something of it is being compiled right now.
static bool is_in_work(const struct translator *t, const struct region *r)
{
    unsigned count = t->slot_count;
    for (unsigned i = 0; i < count; i++)
        if (t->slots[i].in_work && region_has(r, t->slots[i].pc))
            return true;
    return false;
}

bool choose_now(struct translator *t, const struct slot *s, const struct region *r, bool is_loaded,
                uint32_t *wanted)
{
    const unsigned cost = cost_of(t, r) + (is_loaded ? 0 : LOADING_COST), heat = heat_of(t, r);
    if (t->eager || t->at_leisure || (heat >= cost && !is_in_work(t, r)))
        return true;
    // Half of what is missing may be found elsewhere in the region. A look takes 0.5 ms.
    const unsigned next = slot_heat(s) + (heat < cost ? (cost - heat) / 2 : 0) + 1;
    *wanted = next > 2 * slot_heat(s) ? next : 2 * slot_heat(s);
    return false;
}

// ---- what to enter ----

// Stays of less than 32 instructions in the mean take longer than the stencils do (with 64 no program was
// faster). One stay in seventeen is looked at, which tells who alternates apart; and of one entry 64 of
// these. Who compiles at once, and tests in lockstep, enter everything.
enum { STAYS_APART = 17, STAYS_SEEN = 64, BRIEF = 32 };

bool translate_is_worth_entering(struct translator *t, uint32_t pc)
{
    return translate_is_entry(t, pc) && !slot_at(t, pc)->is_brief;
}

void translate_note_stay(struct translator *t, uint32_t pc, int64_t instructions)
{
    const bool is_seen = ++t->stays % STAYS_APART == 0 && !t->eager && !t->lockstep;
    struct slot *s = is_seen ? slot_at(t, pc) : NULL;
    if (!s || s->has_loops)
        return;
    const int64_t most = STAYS_SEEN * BRIEF; // one such stay is worth all; less than none: it was given more
    s->stayed += (uint32_t)(instructions < 0 || instructions > most ? most : instructions);
    if (++s->stays < STAYS_SEEN)
        return;
    s->is_brief = s->stayed < STAYS_SEEN * BRIEF;
    s->stays = 0;
    s->stayed = 0;
    if (s->is_brief)
        interp_restore_entry(t->guest, pc);
}

void choose_anew_what_to_enter(struct translator *t)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        struct slot *s = &t->slots[i];
        if (s->is_brief && t->guest->entering && translate_is_entry(t, s->pc))
            interp_patch_entry(t->guest, s->pc);
        s->is_brief = false;
    }
}
