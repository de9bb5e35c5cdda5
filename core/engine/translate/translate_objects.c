// SPDX-License-Identifier: MIT
// Objects become code that can be entered.
#include <stdlib.h>

#include <xxhash.h>

#include "core/engine/dispatch/dispatch_modes.h"
#include "core/engine/level.h"
#include "translate_internal.h"

#define EMBEDDED(level) extern const unsigned char translate_glue_##level[], translate_glue_##level##_end[];
LEVELS(EMBEDDED)
#undef EMBEDDED

// Whether the page reads as it did. It is watched: until it is forgotten it stays as it is.
static bool has_hash(struct translator *t, uint32_t address, uint64_t hash)
{
    unsigned i = address / GUEST_PAGE % HASHED_PAGES;
    if (t->hashed[i].address != address) {
        uint8_t bytes[GUEST_PAGE];
        if (!memory_read(&t->guest->memory, address, bytes, sizeof bytes))
            return false;
        t->hashed[i].hash = XXH3_64bits(bytes, sizeof bytes);
        t->hashed[i].address = address;
    }
    return t->hashed[i].hash == hash;
}

static bool is_trusted(struct translator *t, uint32_t address)
{
    uint32_t words[GUEST_PAGE / 4];
    return memory_read(&t->guest->memory, address, words, sizeof words) &&
           dispatch_trusts_page(t->guest->dispatch, address, words);
}

bool translate_is_current(struct translator *t, const struct cached_object *o)
{
    struct memory *memory = &t->guest->memory;
    for (unsigned i = 0; i < o->page_count; i++)
        if (!memory_mark_code(memory, o->pages[i].address))
            return false;
    for (unsigned i = 0; i < o->page_count; i++) {
        // To mark one page may have forgotten another.
        if (!(memory->pages[o->pages[i].address / GUEST_PAGE] & MEMORY_CODE) ||
            !has_hash(t, o->pages[i].address, o->pages[i].hash))
            return false;
        if (o->trusted_by != dispatch_identity(t->guest->dispatch) && !is_trusted(t, o->pages[i].address))
            return false;
    }
    return true;
}

static struct installed *add_installed(struct translator *t)
{
    if (t->installed_count == t->installed_room) {
        unsigned room = t->installed_room ? t->installed_room * 2 : 256;
        struct installed *more = realloc(t->installed, room * sizeof *more);
        if (!more)
            return NULL;
        t->installed = more;
        t->installed_room = room;
    }
    return &t->installed[t->installed_count];
}

// Whether the object's symbols are where code of its pages may be entered.
static bool has_good_entries(const struct translator *t, const struct cached_object *o)
{
    for (unsigned i = 0; i < t->received_count; i++) {
        bool on_page = false;
        for (unsigned p = 0; p < o->page_count; p++)
            on_page |= t->received[i].pc - o->pages[p].address < GUEST_PAGE;
        if (!on_page || t->received[i].pc % 4)
            return false;
    }
    return t->received_count;
}

bool translate_install_object(struct translator *t, const struct cached_object *o, const unsigned char *bytes)
{
    struct installed *x = add_installed(t);
    if (!x || !translate_is_current(t, o))
        return false;
    *x = (struct installed){.page_count = o->page_count};
    t->received_count = 0;
    t->received_loops = false;
    if (!object_link(&t->code, bytes, o->size, translate_resolve, translate_receive, t, &x->object) ||
        !has_good_entries(t, o))
        return false;
    x->object.lines = o->bytes + (x->object.lines - bytes);
    for (unsigned i = 0; i < x->page_count; i++)
        x->pages[i] = o->pages[i].address;
    for (unsigned i = 0; i < t->received_count; i++)
        if (!slot_prepare(t, t->received[i].pc))
            return false;
    for (unsigned i = 0; i < t->received_count; i++) {
        uint32_t pc = t->received[i].pc;
        bool was_entered = translate_is_worth_entering(t, pc); // then its op enters, if it has been decoded
        slot_fill(t, pc, t->received[i].address, o->entry);
        if (t->guest->entering && !was_entered)
            interp_patch_entry(t->guest, pc);
        x->entries[x->entry_count++] = pc;
    }
    t->installed_count++;
    return true;
}

bool translate_install_glue(struct translator *t)
{
#define EMBEDDED(level) {translate_glue_##level, translate_glue_##level##_end},
    static const unsigned char *const glue[LEVEL_COUNT][2] = {LEVELS(EMBEDDED)};
#undef EMBEDDED
    const unsigned char *const *ends = glue[level_of_host()];
    t->glue = (const struct glue_names *)ends[0];
    const unsigned char *packed = ends[0] + sizeof *t->glue;
    struct linked_object linked;
    t->has_glue = object_link(&t->code, packed, (size_t)(ends[1] - packed), translate_resolve,
                              translate_receive, t, &linked);
    t->thunk_call = translate_glue_address(t, GLUE_THUNK(call));
    t->thunk_jump = translate_glue_address(t, GLUE_THUNK(jump));
    t->enter_region = translate_glue_address(t, "enter_region");
    return t->has_glue && t->thunk_call && t->thunk_jump && t->enter_region;
}
