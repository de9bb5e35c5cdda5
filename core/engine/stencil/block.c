// SPDX-License-Identifier: MIT
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine/code_memory.h"
#include "core/isa/cpu.h"
#include "stencil.h"
#include "variant.h"

enum {
    MEMORY_BYTES = 32 << 20,
    ROOM = 16 << 10, // for any block
    ALIGNMENT = 16,
    EXITS_MOST = MEMORY_BYTES / 64,
    TARGETS_MOST = EXITS_MOST,
    TARGET_LISTS = 1 << 14,
};

// Where exits of blocks lead to, and blocks begin.
struct target {
    uint32_t pc;
    uint32_t next; // of those whose pc has the same list, or 0
    uint32_t door; // of the block that begins there, an offset in the code memory; 0: there is none
    uint32_t exits; // the first that leads there; 0: none does
};

struct exit {
    uint32_t at; // the offset of its displacement in the code memory
    uint32_t next; // that leads to the same, or 0
};

struct blocks {
    const struct stencils *level;
    block_handler *handler;
    const uint8_t *base; // what handlers count from
    struct code_memory memory; // of size 0: the host denied it
    uint64_t *starts; // a bit for each ALIGNMENT bytes of it: a block's code begins there
    size_t dispatch; // the offset of what exits lead to where there is no block
    struct target *targets; // but for targets[0]
    struct exit *exits; // likewise
    uint32_t target_count, exit_count;
    uint32_t target_lists[TARGET_LISTS]; // the first of each; what is near in the program is near here
};

// In front of a block's code, its door, behind where the code of each of its instructions ends (uint16_t).
struct head {
    uint32_t pc; // of its first instruction
    uint8_t count;
};

// The handler to call for what has no stencil, or NULL.
static const void *called(const struct blocks *b, enum insn id)
{
    bool returns;
    const void *handler = b->handler(id, &returns);
    return returns ? handler : NULL;
}

bool blocks_are_full(const struct blocks *b)
{
    return b->memory.code && b->memory.size - b->memory.used < ROOM;
}

bool blocks_can(const struct blocks *b, enum insn id)
{
    return b->memory.code && !blocks_are_full(b) && (b->level->first[id] || called(b, id));
}

// ---- making one ----

static struct head *head_at(const struct blocks *b, size_t start)
{
    return (struct head *)(b->memory.write + start) - 1;
}

// Of its count instructions, from the start of the code.
static uint16_t *ends_of(const struct head *head)
{
    return (uint16_t *)head - head->count;
}

static int64_t distance_to(const void *to, const uint8_t *from)
{
    return (int64_t)((uintptr_t)to - (uintptr_t)from);
}

// Handlers are what is behind doors.
static unsigned door_size(const struct blocks *b)
{
    return b->level->all[b->level->door].size;
}

// An instruction of a block that is being made, and where its code and what is aside of it run.
struct place {
    enum insn id;
    const op *o;
    unsigned index;
    uint32_t pc;
    uint32_t to; // where its exit leads
    const uint8_t *start, *aside; // start: of the block, behind its door
};

// What goes into a hole there.
static int64_t filling(const struct blocks *b, const struct hole *h, const struct place *p, const uint8_t *at)
{
    const int64_t x = sizeof(uint64_t), v = sizeof(u64x2), size = sizeof(op);
    const op *o = p->o;
    bool unused;
    switch (h->kind) {
    case HOLE_xd: return o->d * x;
    case HOLE_xn: return o->n * x;
    case HOLE_xm: return o->m * x;
    case HOLE_xa: return o->a * x;
    case HOLE_vd: return o->d * v;
    case HOLE_vn: return o->n * v;
    case HOLE_vm: return o->m * v;
    case HOLE_va: return o->a * v;
    case HOLE_imm: return (int64_t)o->imm;
    case HOLE_op: return p->index * size;
    case HOLE_target: return (p->index + (int64_t)o->disp) * size;
    case HOLE_bias: return (1 - (int64_t)o->disp) * size;
    case HOLE_counts: return BRANCH_COUNTS_AT(p->pc) * (int64_t)sizeof(struct branch_counts);
    case HOLE_pc: return (int32_t)p->pc;
    case HOLE_self: return distance_to(p->start, b->base);
    case HOLE_exit:
    case HOLE_dispatch: return distance_to(b->memory.code + b->dispatch, at);
    case HOLE_start: return distance_to(p->start, at);
    case HOLE_aside: return distance_to(p->aside, at);
    case HOLE_offset: return distance_to(b->handler(p->id, &unused), b->base);
    case HOLE_handler: return distance_to(called(b, p->id), at);
    case HOLE_constant: return distance_to(b->level->constants, at);
    default: return distance_to(b->level->hosts[h->kind - HOLE_host], at);
    }
}

static void lead(const struct blocks *b, uint32_t at, size_t to)
{
    const int32_t distance = (int32_t)(to - at - sizeof distance);
    memcpy(b->memory.write + at, &distance, sizeof distance);
}

// The target at pc, which becomes one; NULL: there is no room for more.
static struct target *target_at(struct blocks *b, uint32_t pc)
{
    uint32_t *list = &b->target_lists[pc / 4 % TARGET_LISTS];
    for (uint32_t i = *list; i; i = b->targets[i].next)
        if (b->targets[i].pc == pc)
            return &b->targets[i];
    if (b->target_count == TARGETS_MOST)
        return NULL;
    b->targets[++b->target_count] = (struct target){.pc = pc, .next = *list};
    *list = b->target_count;
    return &b->targets[*list];
}

// The displacement leads to the block at pc from now on, when there is one.
static void note_exit(struct blocks *b, uint32_t at, uint32_t pc)
{
    struct target *t = target_at(b, pc);
    if (!t || b->exit_count == EXITS_MOST)
        return;
    b->exits[++b->exit_count] = (struct exit){at, t->exits};
    t->exits = b->exit_count;
    if (t->door)
        lead(b, at, t->door);
}

static bool is_start(const struct blocks *b, size_t at)
{
    return b->starts[at / ALIGNMENT / 64] >> at / ALIGNMENT % 64 & 1;
}

// Of the block that has the code at this offset; 0 if none has.
static size_t start_of(const struct blocks *b, size_t at)
{
    size_t start = at / ALIGNMENT * ALIGNMENT;
    while (start && !is_start(b, start))
        start -= ALIGNMENT;
    return start;
}

// Whether another block has been made since of the code that the exit is of.
static bool is_replaced(struct blocks *b, const struct exit *e)
{
    const size_t start = start_of(b, e->at);
    const struct target *t = start ? target_at(b, head_at(b, start)->pc) : NULL;
    return t && t->door != start;
}

// What another process may be running just now is left alone. Where there was a block, exits of those that
// are replaced are left out: of code that is written again and again, there would be ever more.
static void note_door(struct blocks *b, uint32_t door, uint32_t pc)
{
    struct target *t = target_at(b, pc);
    if (!t)
        return;
    const bool was_there = t->door;
    t->door = door;
    for (uint32_t *next = &t->exits; *next;) {
        const struct exit *e = &b->exits[*next];
        if (e->at < b->memory.shared || (was_there && is_replaced(b, e))) {
            *next = e->next;
        } else {
            lead(b, e->at, door);
            next = &b->exits[*next].next;
        }
    }
}

// Copies the stencil to offset *at of the code memory, behind which it is then; false if a hole is too small.
static bool put(struct blocks *b, const struct stencil *s, const struct place *p, size_t *at)
{
    uint8_t *write = b->memory.write + *at;
    memcpy(write, b->level->code + s->code, s->size);
    const struct hole *holes = b->level->holes + s->holes;
    for (unsigned i = 0; i < s->hole_count; i++) {
        const struct hole *h = &holes[i];
        int64_t value = filling(b, h, p, b->memory.code + *at + h->at) + h->addend;
        int32_t word = (int32_t)value;
        if (word != value)
            return false;
        memcpy(write + h->at, &word, sizeof word);
        if (h->kind == HOLE_exit)
            note_exit(b, (uint32_t)*at + h->at, p->to);
    }
    *at += s->size;
    return true;
}

// What comes aside of the instruction's stencil; of size 0 if nothing does.
static const struct stencil *aside_of(const struct blocks *b, const struct stencil *s, const struct place *p)
{
    const struct stencils *l = b->level;
    if (!s->has_aside)
        return &l->all[0];
    if (isa_info[p->id].kind != KIND_CONDITION)
        return &l->all[l->leave];
    return &l->all[l->taken[p->o->disp == -(int)p->index ? 2 : p->o->disp <= 0]];
}

// What a block is made of.
struct plan {
    const struct stencil *keep[BLOCK_MOST], *chosen[BLOCK_MOST], *aside[BLOCK_MOST]; // of each instruction
    const struct stencil *not_taken[BLOCK_MOST];
    const struct stencil *end;
    struct place places[BLOCK_MOST + 1]; // the last is of the end
    unsigned count; // of instructions
    size_t size, aside_size;
};

static void plan_block(const struct blocks *b, uint32_t pc, const enum insn *ids, const op *ops,
                       unsigned count, struct plan *p)
{
    const struct stencils *l = b->level;
    const struct stencil *none = &l->all[0];
    struct known known = variant_known_first();
    struct usage usage[BLOCK_MOST];
    for (unsigned i = 0; i < count; i++)
        usage[i] = variant_usage(ids[i], &ops[i]);
    p->size = door_size(b);
    for (unsigned i = 0; i < count; i++, p->count++) {
        const uint32_t at = pc + 4 * i;
        p->keep[i] = variant_should_keep(&known, &usage[i], count - i) ? &l->all[l->keep] : none;
        if (p->keep[i] != none)
            known.at_hand[1] = known.at_hand[0];
        const unsigned number = variant_choose(l, ids[i], &ops[i], &known);
        if (!number && !called(b, ids[i]))
            break;
        p->chosen[i] = &l->all[number ? number : l->call];
        p->places[i] = (struct place){
            .id = ids[i], .o = &ops[i], .index = i, .pc = at, .to = at + 4 * (uint32_t)ops[i].disp};
        p->aside[i] = aside_of(b, p->chosen[i], &p->places[i]);
        p->not_taken[i] = isa_info[ids[i]].kind == KIND_CONDITION ? &l->all[l->not_taken] : none;
        p->size += p->keep[i]->size + p->chosen[i]->size + p->not_taken[i]->size;
        p->aside_size += p->aside[i]->size;
        variant_learn(&known, ids[i], &ops[i], &usage[i], !number);
    }
    if (!p->count)
        return;
    const struct place *last = &p->places[p->count - 1];
    const enum insn_kind kind = isa_info[last->id].kind;
    p->places[p->count] = *last;
    p->places[p->count].to = last->pc + 4;
    p->end = kind == KIND_OP || kind == KIND_CONDITION ? &l->all[l->end] : none;
    p->size += p->end->size;
}

// Puts all of it to the code memory from start on; what is aside comes behind the rest. Returns false if a
// hole is too small.
static bool put_block(struct blocks *b, struct plan *p, size_t start)
{
    const uint8_t *body = b->memory.code + start + door_size(b);
    struct head *head = head_at(b, start);
    size_t at = start, aside = start + p->size;
    *head = (struct head){p->places[0].pc, (uint8_t)p->count};
    if (!put(b, &b->level->all[b->level->door], &(struct place){.start = body}, &at))
        return false;
    for (unsigned i = 0; i < p->count; i++) {
        struct place *place = &p->places[i];
        place->start = body;
        place->aside = b->memory.code + aside;
        if (!put(b, p->keep[i], place, &at) || !put(b, p->chosen[i], place, &at) ||
            !put(b, p->aside[i], place, &aside) || !put(b, p->not_taken[i], place, &at))
            return false;
        ends_of(head)[i] = (uint16_t)(at - start);
    }
    return put(b, p->end, &p->places[p->count], &at);
}

uint32_t blocks_make(struct blocks *b, uint32_t pc, const enum insn *ids, const op *ops, unsigned *count)
{
    struct plan p;
    p.count = 0;
    p.aside_size = 0;
    plan_block(b, pc, ids, ops, *count, &p);
    *count = p.count;
    if (!p.count)
        return 0;
    const size_t front =
        (sizeof(struct head) + p.count * sizeof(uint16_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t start = code_memory_take(&b->memory, front + p.size + p.aside_size, ALIGNMENT);
    if (start == SIZE_MAX)
        return 0;
    start += front;
    if (!put_block(b, &p, start))
        return 0;
    b->starts[start / ALIGNMENT / 64] |= 1ull << start / ALIGNMENT % 64;
    note_door(b, (uint32_t)start, pc);
    return (uint32_t)distance_to(b->memory.code + start + door_size(b), b->base);
}

unsigned blocks_length(const struct blocks *b, uint32_t handler)
{
    const size_t at = (size_t)(distance_to(b->base, b->memory.code) + (int32_t)handler - door_size(b));
    return at < b->memory.used && at % ALIGNMENT == 0 && is_start(b, at) ? head_at(b, at)->count : 0;
}

bool blocks_guest_pc(const struct blocks *b, uint64_t host_pc, uint32_t *pc)
{
    const size_t at = host_pc - (uint64_t)(uintptr_t)b->memory.code;
    if (!b->memory.code || at >= b->memory.used)
        return false;
    const size_t start = start_of(b, at);
    const struct head *head = head_at(b, start);
    for (unsigned i = 0; start && i < head->count; i++)
        if (at - start < ends_of(head)[i]) {
            *pc = head->pc + 4 * i;
            return true;
        }
    return false;
}

// ---- life ----

struct blocks *blocks_create(const void *code, block_handler *handler)
{
#define OF_LEVEL(level) [LEVEL_##level] = &stencils_##level,
    static const struct stencils *const levels[] = {LEVELS(OF_LEVEL)};
#undef OF_LEVEL
    struct blocks *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->level = levels[level_of_host()];
    b->handler = handler;
    b->base = code;
    b->starts = calloc(MEMORY_BYTES / ALIGNMENT / 64, sizeof *b->starts);
    b->exits = calloc(EXITS_MOST + 1, sizeof *b->exits);
    b->targets = calloc(TARGETS_MOST + 1, sizeof *b->targets);
    if (b->starts && b->exits && b->targets)
        code_memory_create(&b->memory, MEMORY_BYTES, code);
    const struct stencil *dispatch = &b->level->all[b->level->dispatch];
    size_t at = b->dispatch = code_memory_take(&b->memory, dispatch->size, ALIGNMENT);
    if (at != SIZE_MAX)
        put(b, dispatch, &(struct place){0}, &at); // it has no holes
    return b;
}

void blocks_destroy(struct blocks *b)
{
    if (b) {
        code_memory_destroy(&b->memory);
        free(b->targets);
        free(b->exits);
        free(b->starts);
    }
    free(b);
}
