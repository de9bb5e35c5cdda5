// SPDX-License-Identifier: MIT
#include "profile_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/isa/isa.h"

enum {
    FRAMES = sizeof((struct profile_chain *)0)->frames / sizeof(struct translate_frame),
    CALLERS = 160,
    CHOICES = 6, // places in a stack that may stand in several ways
    HOPS = 4, // last calls that are jumps, one behind the other
    IN_HAND = 12, // instructions that the interpreter may run as one
};

// ---- taking it down ----

// As far as there is memory: the kernel is asked. errno stays.
static void take_stack(struct profile_chain *chain, const struct guest *g)
{
    enum { PIECES = sizeof chain->stack / GUEST_PAGE + 1 };
    struct iovec to = {chain->stack, sizeof chain->stack}, from[PIECES];
    uint64_t at = chain->sp, end = at + sizeof chain->stack;
    unsigned count = 0;
    chain->stack_size = 0;
    if (at % 8 || at > GUEST_SPACE - sizeof chain->stack)
        return;
    for (uint64_t next; at < end; at = next) {
        next = (at | (GUEST_PAGE - 1)) + 1;
        next = next < end ? next : end;
        from[count++] = (struct iovec){g->memory.base + at, next - at};
    }
    const int before = errno;
    ssize_t size = process_vm_readv(getpid(), &to, 1, from, count, 0);
    errno = before;
    chain->stack_size = size > 0 ? (size_t)size : 0;
}

void profile_chain_take(struct profile_chain *chain, const struct guest *g)
{
    chain->frame_count = 0;
    chain->sp = g->cpu.x[REG_SP];
    chain->x29 = g->cpu.x[29];
    chain->x30 = g->cpu.x[REG_LR];
    take_stack(chain, g);
}

void profile_chain_take_translated(struct profile_chain *chain, const struct guest *g, uint64_t host_pc,
                                   uint64_t stack)
{
    chain->frame_count =
        translate_frames(g->translator, host_pc, stack, chain->frames, FRAMES, &chain->entered);
    if (!chain->frame_count || !chain->entered)
        return;
    chain->pc = (uint32_t)g->entered.pc;
    chain->sp = g->entered.sp;
    chain->x29 = g->entered.x29;
    chain->x30 = g->entered.x30;
    take_stack(chain, g);
}

// ---- what it says ----

static uint32_t code_address(uint64_t value)
{
    return value < GUEST_SPACE && value % 4 == 0 ? (uint32_t)value : 0;
}

struct walk {
    struct profile_map *map;
    const struct translator *translator;
    struct profile_place found[CALLERS]; // the innermost first
    unsigned count, choices;
    struct profile_place callee; // whose caller is looked for
};

static bool push(struct walk *w, const struct profile_place *place)
{
    if (!place->function || w->count == CALLERS)
        return false;
    w->found[w->count++] = w->callee = *place;
    return true;
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

// The guest's registers in a function, while it is in a call if it is not the innermost one.
struct registers {
    uint64_t sp, x29, x30;
};
#define UNKNOWN 1 // of any: no stack is there, and no code

static uint64_t on_stack(const struct profile_chain *chain, uint64_t address)
{
    const uint64_t at = address - chain->sp;
    uint64_t value;
    if (at % sizeof value || at > chain->stack_size || chain->stack_size - at < sizeof value)
        return UNKNOWN;
    memcpy(&value, chain->stack + at, sizeof value);
    return value;
}

// The value that a function standing like that, called with SP at start, has kept for its caller.
static uint64_t kept(const struct profile_chain *chain, uint64_t start, int16_t place, uint64_t held)
{
    if (place == FRAME_HELD)
        return held;
    return place == FRAME_LOST || start == UNKNOWN ? UNKNOWN
                                                   : on_stack(chain, start + (uint64_t)(int64_t)place);
}

// From a function's registers to its caller's. Returns the return address; 0: there is no caller.
static uint64_t leave(const struct profile_chain *chain, const struct profile_frame *f, struct registers *r)
{
    uint64_t start = UNKNOWN;
    if (f->sp != FRAME_LOST)
        start = r->sp - (uint64_t)(int64_t)f->sp;
    else if (f->x29 != FRAME_LOST)
        start = r->x29 - (uint64_t)(int64_t)f->x29;
    if (f->return_address == FRAME_OUTERMOST)
        return 0;
    const uint64_t back = kept(chain, start, f->return_address, r->x30);
    *r = (struct registers){start, kept(chain, start, f->callers_x29, r->x29), UNKNOWN};
    return back;
}

// How following ends: at the outermost caller, at what cannot be, or without a way to tell.
enum followed { FOLLOWED, REFUTED, LOST };

static enum followed follow_either(struct walk *w, const struct profile_chain *chain,
                                   const struct profile_frame *frames, unsigned count, struct registers r);

// From the callee on, which stands like that with these registers: who called whom up to the outermost.
static enum followed follow(struct walk *w, const struct profile_chain *chain, struct profile_frame frame,
                            struct registers r)
{
    for (;;) {
        const uint64_t back = leave(chain, &frame, &r);
        // Zeroes are common, on a stack and in what is not up to date: they say nothing of an innermost
        // function.
        if (!back)
            return w->count || frame.return_address == FRAME_OUTERMOST ? FOLLOWED : REFUTED;
        const uint32_t return_pc = code_address(back);
        if (!calls(w, return_pc))
            return back == UNKNOWN ? LOST : REFUTED;
        const struct profile_place caller = profile_map_find(w->map, return_pc - 4);
        if (!push(w, &caller))
            return LOST;
        struct profile_frame frames[PROFILE_FRAMES];
        const unsigned count = profile_map_frames(w->map, return_pc - 4, 1, frames, PROFILE_FRAMES);
        if (count != 1)
            return follow_either(w, chain, frames, count, r);
        frame = frames[0];
    }
}

static bool is_same(const struct walk *a, const struct walk *b)
{
    for (unsigned i = 0; i < a->count && i < b->count; i++)
        if (a->found[i].start != b->found[i].start)
            return false;
    return a->count == b->count;
}

// The same where it may stand in one of several ways: what leads to the outermost caller, if only one may do.
static enum followed follow_either(struct walk *w, const struct profile_chain *chain,
                                   const struct profile_frame *frames, unsigned count, struct registers r)
{
    struct walk found = *w;
    enum followed end = REFUTED;
    if (w->choices++ == CHOICES)
        return LOST;
    for (unsigned i = 0; i < count; i++) {
        struct walk one = *w;
        const enum followed this = follow(&one, chain, frames[i], r);
        if (this == LOST || (this == FOLLOWED && end == FOLLOWED && !is_same(&one, &found)))
            return LOST;
        if (this == FOLLOWED) {
            found = one;
            end = FOLLOWED;
        }
    }
    *w = found;
    return end;
}

// Who called the callee, which stands at pc, or up to count instructions further on.
static bool follow_stack(struct walk *w, const struct profile_chain *chain, uint32_t pc, unsigned count)
{
    enum { WAYS = IN_HAND * PROFILE_FRAMES };
    struct profile_frame frames[WAYS];
    count = profile_map_frames(w->map, pc, count, frames, WAYS);
    return follow_either(w, chain, frames, count, (struct registers){chain->sp, chain->x29, chain->x30}) ==
           FOLLOWED;
}

// Where a region goes on to the callee, in the code of one of the calls that it has inlined.
struct inlined_call {
    struct walk *walk;
    unsigned call, outer;
    uint32_t looked_at; // start of the last function that was
    struct profile_place caller;
};

static void look_for_caller(void *user, const struct object_place *place)
{
    struct inlined_call *c = user;
    if (place->call != c->call || c->caller.function)
        return;
    const struct profile_place caller = profile_map_find(c->walk->map, place->pc);
    if (caller.start == c->looked_at)
        return;
    c->looked_at = caller.start;
    if (!profile_map_calls(c->walk->map, caller.start, c->walk->callee.start, HOPS))
        return;
    c->caller = caller;
    c->outer = place->outer;
}

// From the callee, whose code is at that place of a region, to the one that is in there by no call.
static bool follow_inlined(struct walk *w, uint32_t entry, const struct object_place *at)
{
    struct inlined_call c = {.walk = w, .outer = at->outer};
    for (unsigned call = at->call; call; call = c.call) {
        c = (struct inlined_call){.walk = w, .call = c.outer};
        translate_tell_places(w->translator, entry, look_for_caller, &c);
        if (!push(w, &c.caller))
            return false;
    }
    return true;
}

// The function of a frame of translated code that calls the callee, and who has that inlined: by the place
// there, or, as that is only close by, by where the frame's code begins.
static bool follow_frame(struct walk *w, const struct translate_frame *frame)
{
    const struct object_place places[] = {frame->at, {.pc = frame->entry}};
    const struct profile_place callee = w->callee;
    const unsigned before = w->count;
    for (unsigned i = 0; i < 2; i++) {
        const struct profile_place place = profile_map_find(w->map, places[i].pc);
        if (profile_map_calls(w->map, place.start, w->callee.start, HOPS) && push(w, &place) &&
            follow_inlined(w, frame->entry, &places[i]))
            return true;
        w->callee = callee;
        w->count = before;
    }
    return false;
}

// From where the host entered translated code; that may have jumped on since.
static bool follow_entered(struct walk *w, const struct profile_chain *chain)
{
    return (profile_map_find(w->map, chain->pc).start == w->callee.start ||
            profile_map_passes_on(w->map, chain->pc, w->callee.start, HOPS)) &&
           follow_stack(w, chain, chain->pc, 1);
}

static bool follow_frames(struct walk *w, const struct profile_chain *chain)
{
    if (!follow_inlined(w, chain->frames[0].entry, &chain->frames[0].at))
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

uint32_t profile_callers_find(struct profile_callers *c, struct profile_map *map, const struct translator *t,
                              uint32_t pc, const struct profile_chain *chain)
{
    struct walk w = {.map = map, .translator = t, .callee = profile_map_find(map, pc)};
    bool whole = w.callee.function &&
                 (chain->frame_count ? follow_frames(&w, chain) : follow_stack(&w, chain, pc, IN_HAND));
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
