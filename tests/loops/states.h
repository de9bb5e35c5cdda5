// SPDX-License-Identifier: MIT
// The guest that loops are tried on: a few pages with gaps, some of them not writable, not accessible, or
// code; random contents; and registers that are random but bent so that a loop's addresses and counts mostly
// make sense. For fuzz_loops.c.
#ifndef TESTS_LOOPS_STATES_H
#define TESTS_LOOPS_STATES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/loops/prove/prove.h"
#include "../../core/state/guest.h"

static const struct {
    uint64_t address;
    unsigned pages;
} regions[] = {{GUEST_MMAP_MIN, 3}, {0x200000, 20}, {0x300000, 12}, {GUEST_MMAP_END - 3 * GUEST_PAGE, 3}};
enum { REGIONS = sizeof regions / sizeof regions[0], PAGES = 38 };

static struct guest guest;
static uint8_t template[PAGES][GUEST_PAGE]; // what memory holds at an entry
static uint64_t address_of_page[PAGES];
static uint8_t flags_of_page[PAGES]; // as memory.pages holds them
static uint64_t random_state = 1;
static bool calm; // nothing but entries that make sense
static uint64_t timed_trips; // of all entries; 0: random

// ---- random values ----

static uint64_t next_random(void)
{
    random_state ^= random_state << 13; // Marsaglia, Xorshift RNGs
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1d;
}

static uint64_t below(uint64_t n)
{
    return (next_random() >> 11) % n;
}

static uint64_t random_address(void)
{
    if (calm)
        return regions[1 + below(2)].address + (below(8 * GUEST_PAGE) & ~(uint64_t)7);
    unsigned kind = (unsigned)below(16), r = (unsigned)(below(8) < 6 ? 1 + below(2) : below(REGIONS));
    uint64_t length = regions[r].pages * GUEST_PAGE, offset = below(length);
    if (kind == 0)
        offset = below(64); // at the start
    else if (kind == 1)
        offset = length - 1 - below(64); // at the end
    else if (kind == 2)
        offset = below(length / GUEST_PAGE) * GUEST_PAGE - below(32); // around the end of a page
    else if (kind < 12)
        offset &= ~(uint64_t)15;
    return regions[r].address + offset;
}

static uint64_t random_value(void)
{
    switch (below(12)) {
    case 0: return 0;
    case 1: return below(4);
    case 2: return -below(300);
    case 3: return (uint32_t)next_random();
    case 4: return next_random();
    case 5: return (uint32_t)-below(300);
    case 6:
    case 7:
    case 8: return random_address();
    default: return below(300);
    }
}

static uint64_t random_trips(void)
{
    if (timed_trips)
        return timed_trips - 1;
    switch (calm ? 5 : below(8)) {
    case 0: return below(4);
    case 1:
    case 2: return below(12);
    case 3: return below(3000);
    case 4: return below(700);
    default: return below(100);
    }
}

// ---- memory ----

enum page_kind { PAGE_PLAIN, PAGE_CODE, PAGE_OF_FILE, PAGE_BEHIND_FILE, PAGE_OF_WORDS };

static void map_page(unsigned page, int prot, enum page_kind kind)
{
    static int file = -1, empty = -1, words = -1;
    struct memory *m = &guest.memory;
    uint64_t address = address_of_page[page];
    if (file < 0) {
        file = memfd_create("file", 0);
        empty = memfd_create("empty", 0);
        words = memfd_create("words", 0);
        if (file < 0 || empty < 0 || words < 0 || ftruncate(file, GUEST_PAGE) ||
            ftruncate(words, PAGES * GUEST_PAGE))
            abort();
    }
    int fd = kind == PAGE_OF_FILE ? file : kind == PAGE_BEHIND_FILE ? empty : -1, error;
    if (kind == PAGE_OF_WORDS)
        error = memory_map_file(m, address, GUEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, words,
                                page * GUEST_PAGE);
    else
        error = fd < 0 ? memory_map(m, address, GUEST_PAGE, PROT_READ | PROT_WRITE)
                       : memory_map_file(m, address, GUEST_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (error)
        abort();
    if (kind == PAGE_OF_FILE)
        memory_set_steady(m, address, GUEST_PAGE);
    if (kind != PAGE_BEHIND_FILE)
        memcpy(m->base + address, template[page], GUEST_PAGE);
    memory_protect(m, address, GUEST_PAGE, prot);
    if (kind == PAGE_CODE)
        memory_mark_code(m, address);
    flags_of_page[page] = m->pages[address / GUEST_PAGE];
}

// words: half of the pages are such that others write, too.
static void map_pages(bool words)
{
    unsigned page = 0;
    for (unsigned r = 0; r < REGIONS; r++) {
        for (unsigned i = 0; i < regions[r].pages; i++, page++) {
            int prot = PROT_READ | PROT_WRITE;
            enum page_kind kind = PAGE_PLAIN;
            switch ((r == 1 || r == 2) && !calm ? below(50) : 9) {
            case 0: prot = PROT_READ; break;
            case 1: prot = PROT_NONE; break;
            case 2:
                prot |= PROT_EXEC;
                kind = PAGE_CODE;
                break;
            case 3: kind = PAGE_OF_FILE; break;
            case 4: kind = PAGE_BEHIND_FILE; break;
            }
            if (words && below(2))
                kind = PAGE_OF_WORDS;
            address_of_page[page] = regions[r].address + i * GUEST_PAGE;
            map_page(page, prot, kind);
        }
    }
}

// Whether there is anything to be read.
static bool has_contents(unsigned page)
{
    return flags_of_page[page] & PROT_READ &&
           (flags_of_page[page] & (MEMORY_FILE | MEMORY_STEADY)) != MEMORY_FILE;
}

// What an entry may find in memory. A list is made of pointers.
static void fill_template(enum loop_class class)
{
    unsigned kind = class == LOOP_LIST_WALK ? 2 : (unsigned)below(6), rare = 1 + (unsigned)below(60);
    uint8_t common = below(3) ? 0 : (uint8_t)next_random();
    for (unsigned p = 0; p < PAGES; p++) {
        for (unsigned i = 0; i < GUEST_PAGE; i += 8) {
            uint64_t v;
            switch (kind) {
            case 0: v = next_random(); break;
            case 1: v = below(rare) ? common * 0x0101010101010101u : next_random(); break;
            case 2: v = below(rare) ? random_address() & ~(uint64_t)15 : 0; break;
            case 3: v = next_random() & 0x0303030303030303; break;
            case 4: v = next_random() | 0x0101010101010101; break;
            default: v = below(200) | below(200) << 32;
            }
            memcpy(template[p] + i, &v, sizeof v);
        }
    }
}

static bool is_writable(unsigned page)
{
    return flags_of_page[page] & PROT_WRITE && has_contents(page);
}

// Puts the template's contents back into memory.
static void restore(void)
{
    for (unsigned p = 0; p < PAGES; p++) {
        uint8_t *flags = &guest.memory.pages[address_of_page[p] / GUEST_PAGE];
        bool was_code = flags_of_page[p] & MEMORY_CODE;
        if (!is_writable(p) || (was_code && *flags & MEMORY_CODE))
            continue;
        memcpy(guest.memory.base + address_of_page[p], template[p], GUEST_PAGE);
        if (was_code)
            memory_mark_code(&guest.memory, address_of_page[p]);
    }
}

static uint8_t *template_at(uint64_t address)
{
    for (unsigned p = 0; p < PAGES; p++)
        if (address - address_of_page[p] < GUEST_PAGE)
            return template[p] + address % GUEST_PAGE;
    return NULL;
}

static uint64_t peek(uint64_t address, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        const uint8_t *at = template_at((address + i) << 8 >> 8);
        value |= at ? (uint64_t)*at << 8 * i : 0;
    }
    return value;
}

static void poke(uint64_t address, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++) {
        uint8_t *at = template_at((address + i) << 8 >> 8);
        unsigned page = at ? (unsigned)((at - template[0]) / GUEST_PAGE) : 0;
        if (at && is_writable(page) && !(flags_of_page[page] & MEMORY_CODE))
            *at = (uint8_t)(value >> 8 * i);
    }
}

// ---- states that make sense ----

static uint64_t load(void *user, unsigned access, uint64_t address)
{
    const struct loop_summary *s = user;
    return peek(address, s->accesses[access].size);
}

static uint64_t node_value(const struct loop_summary *s, const uint64_t *vars, unsigned node)
{
    return loop_evaluate(s, node, vars, load, (void *)s);
}

// One of the registers and loads that a node is made of; -1: none. *is_load: an access.
static int random_leaf(const struct loop_summary *s, unsigned node, bool *is_load)
{
    for (;;) {
        const struct node *n = &s->nodes[node];
        if (n->kind == NODE_CONSTANT)
            return -1;
        if (n->kind <= NODE_LOAD) {
            *is_load = n->kind == NODE_LOAD;
            return n->a;
        }
        bool two = n->kind < NODE_ZEXT && n->kind != NODE_SELECT;
        if (two && s->nodes[n->a].kind > NODE_SUB) // an index: rather the base
            node = n->b;
        else if (two && s->nodes[n->b].kind > NODE_SUB)
            node = n->a;
        else
            node = two && below(2) ? n->b : n->a;
    }
}

// Bends a register or a pointer in memory so that access a starts where it may.
static void bend_address(const struct loop_summary *s, uint64_t *vars, const struct access *a)
{
    for (unsigned tries = 0; tries < 3; tries++) {
        uint64_t now = node_value(s, vars, a->address), wanted = random_address();
        bool is_load;
        int leaf = random_leaf(s, a->address, &is_load);
        if (leaf < 0)
            continue;
        if (is_load && s->accesses[leaf].size == 8) {
            uint64_t at = node_value(s, vars, s->accesses[leaf].address);
            poke(at, 8, peek(at, 8) + wanted - now);
        } else if (!is_load && leaf < LOOP_VAR_FLAGS_A) {
            vars[leaf] += wanted - now;
        }
        if (node_value(s, vars, a->address) == wanted)
            return;
    }
}

static uint64_t linear_value(const struct loop_summary *s, const uint64_t *vars, const struct linear *l)
{
    uint64_t sum = l->constant;
    for (unsigned i = 0; i < l->count; i++) {
        unsigned k = l->var[i];
        uint64_t term = k < LINEAR_LOAD ? vars[k]
                                        : peek(node_value(s, vars, s->accesses[k - LINEAR_LOAD].address),
                                               s->accesses[k - LINEAR_LOAD].size);
        sum += (uint64_t)l->factor[i] * term;
    }
    return sum;
}

// A limit close to where counters wrap around.
static void make_extreme(uint64_t *vars, const struct linear *limit, unsigned bits)
{
    static const uint64_t places[] = {0, UINT64_MAX, INT64_MAX, INT32_MAX, UINT32_MAX};
    unsigned k = limit->count ? limit->var[0] : LINEAR_LOAD;
    uint64_t value = places[below(5)] + below(9) - 4;
    if (k < REG_SP)
        vars[k] = bits == 32 ? (uint32_t)value : value;
}

static void bend_count(const struct loop_summary *s, uint64_t *vars, const struct loop_exit *x)
{
    bool extreme = !calm && below(8) == 0;
    if (extreme)
        make_extreme(vars, &x->limit, x->bits);
    uint64_t step = linear_value(s, vars, &x->step), trips = random_trips();
    uint64_t away = linear_value(s, vars, &x->start) + trips * step - linear_value(s, vars, &x->limit);
    const struct linear *l = x->limit.count && below(4) && !extreme ? &x->limit : &x->start;
    if (!l->count)
        l = l == &x->limit ? &x->start : &x->limit;
    if (!l->count)
        return;
    if (l == &x->start)
        away = -away;
    unsigned i = (unsigned)below(l->count), k = l->var[i];
    if (l->factor[i] == -1)
        away = -away;
    else if (l->factor[i] != 1)
        away /= (uint64_t)l->factor[i];
    if (!calm && below(16) == 0)
        away += below(5) - 2;
    if (k >= LINEAR_LOAD) {
        unsigned size = s->accesses[k - LINEAR_LOAD].size;
        uint64_t at = node_value(s, vars, s->accesses[k - LINEAR_LOAD].address);
        poke(at, size, peek(at, size) + away);
    } else if (x->bits == 32) {
        vars[k] = (uint32_t)(vars[k] + away) | (calm || below(32) ? 0 : next_random() << 32);
    } else {
        vars[k] += away;
    }
}

static void make_state(const struct loop_summary *s, cpu *c)
{
    uint64_t vars[LOOP_VARS] = {0};
    for (unsigned i = 0; i < REG_SP; i++)
        vars[i] = random_value();
    vars[REG_SP] = random_address() & ~(uint64_t)15;
    for (unsigned i = 0; i < s->exit_count; i++) // steps of a size that goes anywhere
        for (unsigned k = 0; k < s->exits[i].step.count; k++)
            if (s->exits[i].step.var[k] < REG_SP && below(8))
                vars[s->exits[i].step.var[k]] = below(2) ? below(64) : -below(64);
    for (unsigned i = 0; i < s->access_count; i++) {
        const struct linear *step = &s->accesses[i].step;
        for (unsigned k = 0; k < step->count; k++)
            if (step->var[k] < REG_SP && below(8))
                vars[step->var[k]] = below(2) ? below(64) : -below(64);
    }
    bool near = !calm && below(4) == 0; // all that is accessed lies close together
    for (unsigned i = 0; i < s->access_count; i++)
        if (!near || i == 0)
            bend_address(s, vars, &s->accesses[i]);
    if (near) {
        uint64_t first = s->access_count ? node_value(s, vars, s->accesses[0].address) : 0;
        for (unsigned i = 0; i < REG_SP; i++)
            if (vars[i] - GUEST_MMAP_MIN < GUEST_SPACE - GUEST_MMAP_MIN && vars[i] > 0x1000)
                vars[i] = first + below(256) - 128;
    }
    for (unsigned tries = calm ? 0 : (unsigned)below(3); tries; tries--) { // two pointers that meet
        unsigned i = (unsigned)below(s->access_count + 1), k = (unsigned)below(REG_SP);
        bool is_load;
        int leaf = i < s->access_count ? random_leaf(s, s->accesses[i].address, &is_load) : -1;
        if (leaf >= 0 && !is_load && leaf < REG_SP && vars[k] - GUEST_MMAP_MIN < GUEST_SPACE)
            vars[leaf] = vars[k] + (below(2) ? 0 : below(65) - 32);
    }
    for (unsigned i = 0; i < s->exit_count; i++)
        if (s->exits[i].counted)
            bend_count(s, vars, &s->exits[i]);
    if (below(64) == 0)
        vars[below(REG_SP)] |= next_random() << 56; // a tag
    memcpy(c->x, vars, (REG_SP + 1) * sizeof vars[0]);
    c->flags = (struct flags){next_random() << 28 & 0xf0000000, 0, FLAGS_NZCV};
}

// Changes some bytes, most of them where the loop comes by, so that it finds what it looks for.
static void disturb(const struct loop_summary *s, const cpu *c)
{
    uint64_t vars[LOOP_VARS] = {0};
    memcpy(vars, c->x, (REG_SP + 1) * sizeof vars[0]);
    for (unsigned i = (unsigned)below(6); i; i--) {
        uint64_t address = random_address();
        if (s->access_count && below(3))
            address = node_value(s, vars, s->accesses[below(s->access_count)].address) + below(256);
        poke(address, 1, below(2) ? 0 : next_random());
    }
}

#endif
