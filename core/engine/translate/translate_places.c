// SPDX-License-Identifier: MIT
// Which guest code translated code is of.
#include <string.h>

#include "translate_internal.h"

// The region that has host_pc in its code, or had, or NULL.
static const struct installed *installed_at(const struct translator *t, uint64_t host_pc)
{
    for (unsigned i = 0; i < t->installed_count; i++)
        if (host_pc - t->installed[i].object.start < t->installed[i].object.size)
            return &t->installed[i];
    return NULL;
}

bool translate_guest_pc(struct translator *t, uint64_t host_pc, uint32_t *pc, bool *is_precise)
{
    const struct installed *x = installed_at(t, host_pc);
    *is_precise = t->precise;
    if (x && !object_find_access(&x->object, (uint32_t)(host_pc - x->object.start), pc))
        *pc = x->entries[0];
    return x != NULL;
}

bool translate_is_code(const struct translator *t, uint64_t host_pc)
{
    return t && host_pc - (uint64_t)(uintptr_t)t->code.code < t->code.size;
}

bool translate_nearest_pc(const struct translator *t, uint64_t host_pc, uint32_t *pc)
{
    const struct installed *x = translate_is_code(t, host_pc) ? installed_at(t, host_pc) : NULL;
    struct object_place place;
    if (x)
        *pc = object_find_nearest(&x->object, (uint32_t)(host_pc - x->object.start), &place) ? place.pc
                                                                                             : x->entries[0];
    return x != NULL;
}

void translate_tell_places(const struct translator *t, uint32_t entry, object_place_receiver *tell,
                           void *user)
{
    for (unsigned i = 0; i < t->installed_count; i++)
        if (t->installed[i].entries[0] == entry && !t->installed[i].dropped)
            object_tell_places(&t->installed[i].object, tell, user);
}

// ---- frames ----

enum {
    CALL_BYTES = 6, // of the longest call
    END_BYTES = 32, // and of the longest end of a function
    ENTER_BYTES = 256, // the function by which the host enters regions is shorter
};

// What compilers begin and end functions with on this host; nothing between changes the stack pointer but
// calls. Each returns the bytes of the instruction at code, 0 if it is none of its kind.

static unsigned push_or_pop(const uint8_t *code, uint8_t base)
{
    unsigned prefix = code[0] == 0x41;
    return (code[prefix] & 0xf8) == base ? prefix + 1 : 0;
}

// Adds to, or subtracts from, the stack pointer: by how much.
static unsigned adjust(const uint8_t *code, uint8_t modrm, uint32_t *by)
{
    unsigned prefix = code[0] == 0x48;
    code += prefix;
    if ((code[0] != 0x83 && code[0] != 0x81) || code[1] != modrm)
        return 0;
    memcpy(by, code + 2, sizeof *by);
    *by = code[0] == 0x83 ? *by & 0xff : *by;
    return prefix + (code[0] == 0x83 ? 3 : 6);
}

// What a region does before it needs a frame: it looks at host stack and budget, and leaves again, or moves
// what it is passed.
static unsigned preamble(const uint8_t *code)
{
    if (memcmp(code, "\x48\x3b\x25", 3) == 0) // cmp rsp, [stack_limit]
        return 7;
    const bool is_wide =
        (code[0] & 0xf0) == 0x40; // what begins like this has registers of 64 bits, or r8 to r15
    if (is_wide && (code[1] == 0x83 || code[1] == 0x81) && (code[2] & 0xf8) == 0xf8) // cmp register, length
        return code[1] == 0x83 ? 4 : 7;
    if (memcmp(code, "\x48\x3d", 2) == 0) // the same of rax
        return 6;
    if (is_wide && (code[1] == 0x89 || code[1] == 0x8b) && code[2] >= 0xc0) // mov register, register
        return 3;
    if (code[0] == 0x41 && (code[1] & 0xf8) == 0xb8) // mov r8d to r15d, pc
        return 6;
    if ((code[0] & 0xf8) == 0xb8) // mov eax to edi, pc
        return 5;
    if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80) // a branch that goes if that is so
        return 6;
    return (code[0] & 0xf0) == 0x70 ? 2 : 0;
}

// How far the return address lies above the stack pointer at `here`, as the function's begin tells.
static uint32_t depth_from_begin(const uint8_t *code, const uint8_t *here)
{
    uint32_t depth = 0, by;
    unsigned length;
    while (code < here && (length = preamble(code)))
        code += length;
    while (code < here && (length = push_or_pop(code, 0x50))) {
        depth += 8;
        code += length;
    }
    if (code < here && adjust(code, 0xec, &by))
        depth += by;
    return depth;
}

enum end { NO_END, END, JUMP };

// Likewise, as its end tells, if that has begun. JUMP, with 0: that may be the end, which jumps to another
// function, or not.
static enum end depth_to_end(const uint8_t *here, uint32_t *depth)
{
    uint32_t by;
    unsigned length = adjust(here, 0xc4, &by);
    *depth = length ? by : 0;
    for (here += length; (length = push_or_pop(here, 0x58)); here += length)
        *depth += 8;
    if (here[0] == 0xc3)
        return END;
    bool jumps =
        here[0] == 0xe9 || here[0] == 0xeb || here[0] == 0xff || (here[0] == 0x41 && here[1] == 0xff);
    return !jumps ? NO_END : *depth ? END : JUMP;
}

// Whether a call is in front of the host's return address: of a register, of a cell, of a place.
static bool is_behind_call(uint64_t return_pc)
{
    const uint8_t *code = (const uint8_t *)return_pc;
    return (code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0) || (code[-6] == 0xff && code[-5] == 0x15) ||
           code[-5] == 0xe8;
}

// The host enters regions by a short function that nothing else calls them from.
static bool is_entering(const struct translator *t, uint64_t return_pc)
{
    return return_pc - t->enter_region < ENTER_BYTES && !installed_at(t, return_pc) &&
           is_behind_call(return_pc);
}

// What is at that place of the low stack, if it is where a region, or who enters them, goes on behind a call;
// else 0.
static uint64_t return_at(const struct translator *t, uint64_t place)
{
    uint64_t return_pc;
    if (place % 8 || place - (uint64_t)(uintptr_t)t->stack > STACK_BYTES - sizeof return_pc)
        return 0;
    memcpy(&return_pc, (const void *)place, sizeof return_pc);
    bool fits = translate_is_code(t, return_pc - CALL_BYTES) && translate_is_code(t, return_pc + END_BYTES) &&
                (is_entering(t, return_pc) || (installed_at(t, return_pc) && is_behind_call(return_pc)));
    return fits ? return_pc : 0;
}

// The place of the return address of the frame whose code is at host_pc, of region x; 0 if none is there.
static uint64_t return_place(const struct translator *t, const struct installed *x, uint64_t host_pc,
                             uint64_t stack)
{
    const uint8_t *here = (const uint8_t *)host_pc;
    uint32_t depth = depth_from_begin((const uint8_t *)(uintptr_t)x->object.start, here), left;
    enum end end = depth_to_end(here, &left);
    if (end != END && return_at(t, stack + depth))
        return stack + depth;
    return end != NO_END && return_at(t, stack + left) ? stack + left : 0;
}

// In what regions share: where it goes on behind the region's call of that, close to the top of the stack.
static uint64_t leave_shared(const struct translator *t, uint64_t *stack)
{
    enum { WORDS = 12 };
    for (unsigned i = 0; i < WORDS; i++, *stack += 8) {
        uint64_t return_pc = return_at(t, *stack);
        if (return_pc) {
            *stack += 8;
            return return_pc;
        }
    }
    return 0;
}

unsigned translate_frames(const struct translator *t, uint64_t host_pc, uint64_t stack,
                          struct translate_frame *frames, unsigned max, bool *entered)
{
    unsigned count = 0;
    *entered = false;
    bool returns = !installed_at(t, host_pc);
    if (!translate_is_code(t, host_pc + END_BYTES))
        return 0;
    if (returns && !(host_pc = leave_shared(t, &stack)))
        return 0;
    const struct installed *x;
    for (; count < max && (x = installed_at(t, host_pc)); returns = true) {
        struct translate_frame *frame = &frames[count++];
        frame->entry = x->entries[0];
        if (!object_find_nearest(&x->object, (uint32_t)(host_pc - returns - x->object.start), &frame->at))
            frame->at = (struct object_place){.pc = frame->entry};
        uint64_t place = return_place(t, x, host_pc, stack);
        if (!place)
            return count;
        host_pc = return_at(t, place);
        stack = place + 8;
        *entered = is_entering(t, host_pc);
    }
    return count;
}
