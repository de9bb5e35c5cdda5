// SPDX-License-Identifier: MIT
// What stands for guest addresses in translated code: slots, their cells and thunks, the table of indirect
// branches, and what objects refer to.
//
// A slot stands for a guest address that translated code calls: a cell with the 32-bit address of its code.
// Until there is any, that is a thunk which has the interpreter run the callee (interp_call).
#include <string.h>

#include "translate_internal.h"

// Where in the table pc is, or would be.
static uint16_t *place_of(struct translator *t, uint32_t pc)
{
    // Neighbours stay neighbours: what is asked for one behind the other is in the same lines of the cache.
    unsigned i = ((pc >> 2) + (pc >> 18) * 2621) % SLOT_PLACES;
    while (t->slot_of[i] && t->slots[t->slot_of[i] - 1].pc != pc)
        i = (i + 1) % SLOT_PLACES;
    return &t->slot_of[i];
}

struct slot *slot_at(struct translator *t, uint32_t pc)
{
    uint16_t index = *place_of(t, pc);
    return index ? &t->slots[index - 1] : NULL;
}

bool translate_is_entry(struct translator *t, uint32_t pc)
{
    const struct slot *s = slot_at(t, pc);
    return s && (s->state == SLOT_DONE || s->state == SLOT_CACHED);
}

struct slot *translate_slot(struct translator *t, uint32_t pc)
{
    uint16_t *place = place_of(t, pc);
    if (!*place) {
        if (t->slot_count == SLOTS) {
            t->lacks_slots = true;
            return NULL;
        }
        t->slots[t->slot_count].pc = pc;
        t->slot_count++;
        *place = (uint16_t)t->slot_count;
    }
    return &t->slots[*place - 1];
}

// ---- cells ----

_Static_assert(GLUE_PASSED_COUNT == 10,
               "r15, the eleventh register of regcall, has the pc of a result, and no argument");

// Code that has the glue find the code for pc. 0 when the code memory is full.
static uint32_t make_thunk(struct translator *t, uint32_t pc, uint32_t glue)
{
    size_t at = code_memory_take(&t->code, THUNK_BYTES, THUNK_BYTES);
    if (at == SIZE_MAX)
        return 0;
    uint8_t *w = t->code.write + at;
    uint32_t relative = glue - (low_address(t->code.code + at) + 11);
    memcpy(w, "\x41\xbf", 2); // mov r15d, pc
    memcpy(w + 2, &pc, 4);
    w[6] = 0xe9; // jmp glue
    memcpy(w + 7, &relative, 4);
    return low_address(t->code.code + at);
}

// The cells for pc, with a thunk in them if there is no code yet; NULL when there is no room.
static uint32_t *want_call_cell(struct translator *t, uint32_t pc)
{
    struct slot *s = translate_slot(t, pc);
    if (!s || (!s->call_thunk && !(s->call_thunk = make_thunk(t, pc, t->thunk_call))))
        return NULL;
    uint32_t *cell = &t->low->call_cells[s - t->slots];
    if (!*cell)
        *cell = s->call_thunk;
    return cell;
}

static uint32_t *want_exit_cell(struct translator *t, uint32_t pc)
{
    struct slot *s = translate_slot(t, pc);
    if (!s || (!s->exit_thunk && !(s->exit_thunk = make_thunk(t, pc, t->thunk_jump))))
        return NULL;
    uint32_t *cell = &t->low->exit_cells[s - t->slots];
    if (!*cell)
        *cell = s->exit_thunk;
    return cell;
}

// An entry that no target finds: its pc belongs to another one.
static uint64_t empty_entry(unsigned index)
{
    return index == 0 ? 4 : 0;
}

static uint64_t *indirect_entry(struct translator *t, uint32_t pc)
{
    return &t->low->indirect_table[pc >> 2 & (INDIRECT_ENTRIES - 1)];
}

bool slot_prepare(struct translator *t, uint32_t pc)
{
    return want_call_cell(t, pc) && want_exit_cell(t, pc);
}

void slot_fill(struct translator *t, uint32_t pc, uint32_t code, uint32_t home)
{
    struct slot *s = slot_at(t, pc);
    s->home = home;
    s->in_work = s->is_brief = false;
    s->has_loops = t->received_loops;
    s->state = SLOT_DONE;
    t->low->call_cells[s - t->slots] = t->low->exit_cells[s - t->slots] = code;
    slot_offer(t, s);
}

void slot_offer(struct translator *t, const struct slot *s)
{
    *indirect_entry(t, s->pc) = (uint64_t)t->low->call_cells[s - t->slots] << 32 | s->pc;
}

uint32_t slot_offered(struct translator *t, uint32_t pc)
{
    uint64_t entry = *indirect_entry(t, pc);
    return (uint32_t)entry == pc ? (uint32_t)(entry >> 32) : 0;
}

void slot_empty(struct translator *t, struct slot *s)
{
    s->state = SLOT_COLD;
    t->low->call_cells[s - t->slots] = s->call_thunk;
    t->low->exit_cells[s - t->slots] = s->exit_thunk;
    uint64_t *entry = indirect_entry(t, s->pc);
    *entry = empty_entry((unsigned)(entry - t->low->indirect_table));
}

void slots_begin(struct translator *t)
{
    t->low->indirect_table[0] = empty_entry(0); // the others are 0
}

// ---- symbols ----

static uint32_t address_of_cell(const uint32_t *cell)
{
    return cell ? low_address(cell) : 0;
}

uint32_t translate_resolve(void *user, const struct object_symbol *symbol)
{
    struct translator *t = user;
    const uint32_t *numbers = symbol->numbers;
    switch (symbol->kind) {
    case SYMBOL_CALL: return address_of_cell(want_call_cell(t, numbers[0]));
    case SYMBOL_EXIT: return address_of_cell(want_exit_cell(t, numbers[0]));
    case SYMBOL_LOOP: {
        t->received_loops = true;
        struct loop *loop = t->guest->loops ? loops_reserve(t->guest->loops, numbers[0], numbers[1]) : NULL;
        return loop ? low_address(&loop->cell) : 0;
    }
    case SYMBOL_PAGES: return low_address(t->guest->memory.pages);
    case SYMBOL_CPU: return low_address(&t->guest->cpu);
    case SYMBOL_TABLE: return low_address(t->low->indirect_table);
#define WAY_BACK(way)                                                                                        \
    case SYMBOL_HOST_##way: return t->host_##way;
        GLUE_HOST(WAY_BACK)
#undef WAY_BACK
    case SYMBOL_GLUE: return numbers[0] < t->glue->count ? t->glue_addresses[numbers[0]] : 0;
    default: return 0;
    }
}

uint32_t translate_glue_address(const struct translator *t, const char *name)
{
    for (unsigned i = 0; i < t->glue->count; i++)
        if (strcmp(name, t->glue->list[i]) == 0)
            return t->glue_addresses[i];
    return 0;
}

void translate_receive(void *user, const struct object_symbol *symbol, uint32_t address)
{
    struct translator *t = user;
    if (symbol->kind == SYMBOL_GLUE && !t->has_glue && symbol->numbers[0] < t->glue->count) {
        t->glue_addresses[symbol->numbers[0]] = address;
    } else if (symbol->kind == SYMBOL_REGION && t->received_count < REGION_ENTRIES_MAX) {
        t->received[t->received_count].pc = symbol->numbers[0];
        t->received[t->received_count++].address = address;
    }
}
