// SPDX-License-Identifier: MIT
#include "profile_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/isa/isa.h"
#include "profile_frames.h"

enum {
    FRAMES = sizeof((struct profile_chain *)0)->frames / sizeof(struct translate_frame),
    RETURNS = sizeof((struct profile_chain *)0)->returns / sizeof(uint32_t),
    CALLERS = FRAMES + RETURNS + 1,
    HOPS = 4, // last calls that are jumps, one behind the other
    IN_HAND = 12, // instructions that the interpreter may run as one
};

// ---- taking it down ----

static uint32_t code_address(uint64_t value)
{
    return value < GUEST_SPACE && value % 4 == 0 ? (uint32_t)value : 0;
}

// A part of the guest's memory, up to the end of a page.
struct window {
    uint64_t start, size;
    uint8_t bytes[GUEST_PAGE];
};

// Whether the record at address is in the window, which may become another one for that: memory that a guest
// says is there need not be, and the kernel is asked as seldom as can be. errno stays.
static bool look_at(struct window *w, const struct guest *g, uint64_t address)
{
    enum { RECORD = 16 };
    if (w->size && address >= w->start && address - w->start <= w->size - RECORD)
        return true;
    const int before = errno;
    uint64_t size = GUEST_PAGE - address % GUEST_PAGE;
    size = size < RECORD ? RECORD : size;
    struct iovec to = {w->bytes, size}, from = {g->memory.base + address, size};
    bool good = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
    errno = before;
    w->start = address;
    w->size = good ? size : 0;
    return good;
}

// From X29 on; each record lies above the one before.
static void take_records(struct profile_chain *chain, const struct guest *g, uint64_t x29, uint64_t x30)
{
    struct window w;
    w.size = 0;
    chain->x30 = code_address(x30);
    while (chain->return_count < RETURNS && x29 && x29 % 8 == 0 && x29 <= GUEST_SPACE - 16 &&
           look_at(&w, g, x29)) {
        uint64_t record[2];
        memcpy(record, w.bytes + (x29 - w.start), sizeof record);
        chain->returns[chain->return_count++] = code_address(record[1]);
        if (record[0] && record[0] <= x29)
            return;
        x29 = record[0];
    }
    chain->whole = x29 == 0;
}

void profile_chain_take(struct profile_chain *chain, const struct guest *g)
{
    chain->frame_count = chain->return_count = 0;
    chain->whole = false;
    take_records(chain, g, g->cpu.x[29], g->cpu.x[REG_LR]);
}

void profile_chain_take_translated(struct profile_chain *chain, const struct guest *g, uint64_t host_pc,
                                   uint64_t stack)
{
    chain->return_count = 0;
    chain->whole = false;
    chain->frame_count =
        translate_frames(g->translator, host_pc, stack, chain->frames, FRAMES, &chain->entered);
    if (!chain->frame_count || !chain->entered)
        return;
    chain->pc = (uint32_t)g->entered.pc;
    take_records(chain, g, g->entered.x29, g->entered.x30);
}

// ---- what it says ----

struct walk {
    struct profile_map *map;
    struct profile_place found[CALLERS]; // the innermost first
    unsigned count;
    struct profile_place callee; // whose caller is looked for
};

static void push(struct walk *w, const struct profile_place *place)
{
    w->found[w->count++] = w->callee = *place;
}

// Whether the call in front of the return address can be that of the callee.
static bool calls(struct walk *w, uint32_t return_pc)
{
    uint32_t target;
    switch (return_pc ? profile_map_call_at(w->map, return_pc - 4, &target) : PROFILE_NO_CALL) {
    case PROFILE_CALL:
        return target == w->callee.start || profile_map_passes_on(w->map, target, w->callee.start, HOPS);
    case PROFILE_CALL_COMPUTED: return true;
    case PROFILE_NO_CALL: break;
    }
    return false;
}

// From the callee on, with the records from at on: who called whom up to the outermost. False if that gets
// lost.
static bool follow_returns(struct walk *w, const struct profile_chain *chain, uint32_t return_pc, unsigned at)
{
    for (;;) {
        if (!calls(w, return_pc))
            return false;
        const struct profile_place caller = profile_map_find(w->map, return_pc - 4);
        if (!caller.function || w->count == CALLERS)
            return false;
        push(w, &caller);
        if (at == chain->return_count)
            return chain->whole;
        if (profile_map_frame(w->map, return_pc - 4, 1) != FRAME_OWN)
            return false;
        return_pc = chain->returns[at++];
    }
}

// Whether X30 speaks against a record of the callee's own: it is the return address of that record, or of a
// call that the callee has made; a number that is none of a call says nothing.
static bool is_elsewhere(struct walk *w, const struct profile_chain *chain)
{
    uint32_t target;
    return chain->x30 && chain->x30 != chain->returns[0] &&
           profile_map_call_at(w->map, chain->x30 - 4, &target) != PROFILE_NO_CALL &&
           profile_map_find(w->map, chain->x30 - 4).start != w->callee.start;
}

// Who called the callee, which stands at pc, or up to count instructions further on.
static bool follow_records(struct walk *w, const struct profile_chain *chain, uint32_t pc, unsigned count)
{
    const unsigned frames = profile_map_frame(w->map, pc, count);
    if (!chain->return_count && chain->whole && frames == FRAME_NONE)
        return true; // where the program starts
    if (frames == FRAME_OWN)
        return chain->return_count && !is_elsewhere(w, chain) &&
               follow_returns(w, chain, chain->returns[0], 1);
    if (frames == FRAME_OF_CALLER)
        return follow_returns(w, chain, chain->x30, 0);
    // Either: what leads to the outermost caller, if the other does not.
    struct walk own = *w, callers = *w;
    bool is_own =
        frames & FRAME_OWN && chain->return_count && follow_returns(&own, chain, chain->returns[0], 1);
    bool is_callers = frames & FRAME_OF_CALLER && follow_returns(&callers, chain, chain->x30, 0);
    if (is_own == is_callers)
        return false;
    *w = is_own ? own : callers;
    return true;
}

// The function of a frame of translated code that calls the callee: the one that the frame's code begins
// with, or one that this jumps to.
static bool follow_frame(struct walk *w, const struct translate_frame *frame)
{
    const uint32_t places[] = {frame->entry, frame->pc};
    const struct profile_place first = profile_map_find(w->map, frame->entry);
    for (unsigned i = 0; i < 2; i++) {
        const struct profile_place place = profile_map_find(w->map, places[i]);
        bool is_there = place.function && (place.start == first.start ||
                                           profile_map_goes_on(w->map, first.start, place.start, HOPS));
        if (is_there && profile_map_calls(w->map, place.start, w->callee.start, HOPS)) {
            push(w, &place);
            return true;
        }
    }
    return false;
}

// The innermost frame: its code may have its callee's inside.
static bool follow_innermost(struct walk *w, const struct translate_frame *frame)
{
    const struct profile_place first = profile_map_find(w->map, frame->entry);
    if (first.start == w->callee.start)
        return true;
    bool is_called = profile_map_calls(w->map, first.start, w->callee.start, 0);
    bool is_jumped_to = profile_map_goes_on(w->map, first.start, w->callee.start, HOPS);
    if (!first.function || is_called == is_jumped_to)
        return false;
    if (is_called)
        push(w, &first);
    return true;
}

// From where the host entered translated code.
static bool follow_entered(struct walk *w, const struct profile_chain *chain)
{
    if (profile_map_find(w->map, chain->pc).start == w->callee.start)
        return follow_records(w, chain, chain->pc, 1);
    // What was entered has jumped on: it had no record, or has none any more.
    return profile_map_passes_on(w->map, chain->pc, w->callee.start, HOPS) &&
           follow_returns(w, chain, chain->x30, 0);
}

static bool follow_frames(struct walk *w, const struct profile_chain *chain)
{
    if (!follow_innermost(w, &chain->frames[0]))
        return false;
    for (unsigned i = 1; i < chain->frame_count; i++)
        if (!follow_frame(w, &chain->frames[i]))
            return false;
    return chain->entered && follow_entered(w, chain);
}

// ---- the tree ----

static bool make_room(struct profile_callers *c)
{
    if (c->count < c->room)
        return true;
    size_t room = c->room ? 2 * c->room : 256;
    void *list = realloc(c->list, room * sizeof *c->list);
    c->list = list ? list : c->list;
    void *inner = list ? realloc(c->inner, room * sizeof *c->inner) : NULL;
    if (!inner)
        return false;
    c->inner = inner;
    c->room = room;
    while (c->count < MACHINE_PROFILE_CALLERS) {
        c->list[c->count] = (struct machine_profile_caller){0};
        c->inner[c->count++] = (struct profile_inner){0};
    }
    return true;
}

// The function as it was called by outer, which is in the tree; UNKNOWN_CALLER without memory.
static uint32_t add(struct profile_callers *c, const struct profile_place *place, uint32_t outer)
{
    if (!make_room(c))
        return MACHINE_PROFILE_UNKNOWN_CALLER;
    for (uint32_t i = c->inner[outer].first; i; i = c->inner[i].next)
        if (c->list[i].start == place->start && c->list[i].function == place->function)
            return i;
    c->list[c->count] = (struct machine_profile_caller){place->function, place->start, outer};
    c->inner[c->count].first = 0;
    c->inner[c->count].next = c->inner[outer].first;
    return c->inner[outer].first = (uint32_t)c->count++;
}

uint32_t profile_callers_find(struct profile_callers *c, struct profile_map *map, uint32_t pc,
                              const struct profile_chain *chain)
{
    struct walk w = {.map = map, .callee = profile_map_find(map, pc)};
    bool whole = w.callee.function &&
                 (chain->frame_count ? follow_frames(&w, chain) : follow_records(&w, chain, pc, IN_HAND));
    uint32_t outer = whole ? MACHINE_PROFILE_OUTERMOST : MACHINE_PROFILE_UNKNOWN_CALLER;
    while (w.count)
        outer = add(c, &w.found[--w.count], outer);
    return outer;
}

void profile_callers_free(struct profile_callers *c)
{
    free(c->list);
    free(c->inner);
}
