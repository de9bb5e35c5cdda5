// SPDX-License-Identifier: MIT
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine/code_memory.h"
#include "core/isa/cpu.h"
#include "core/state/memory.h"
#include "stencil.h"

enum {
    MEMORY_BYTES = 32 << 20,
    ROOM = 16 << 10, // for any block
    ALIGNMENT = 16,
    UNKNOWN = STENCIL_FLAGS_KINDS,
    NO_REGISTER = 255,
};

struct blocks {
    const struct stencils *level;
    block_handler *handler;
    const uint8_t *base; // what handlers count from
    struct code_memory memory; // of size 0: the host denied it
    uint64_t *starts; // a bit for each ALIGNMENT bytes of it: a block's code begins there
};

// In front of a block's code, behind where the code of each of its instructions ends (uint16_t).
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

bool blocks_can(const struct blocks *b, enum insn id)
{
    return b->memory.size - b->memory.used >= ROOM && (b->level->first[id] || called(b, id));
}

// ---- which variant ----

enum { NO_VARIANTS, COMPARING, INDEXED, SHIFTED, EXTENDED, SELECTING };
static const uint8_t classes[INSN_COUNT] = {
#define CLASS(name) [INSN_##name] = COMPARING,
    STENCILS_COMPARING(CLASS)
#undef CLASS
#define CLASS(name, scale)                                                                                   \
    [INSN_##name##_reg] = INDEXED, [INSN_##name##_uxtw] = INDEXED, [INSN_##name##_sxtw] = INDEXED,
        STENCILS_INDEXED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = SHIFTED,
            STENCILS_SHIFTED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = EXTENDED,
                STENCILS_EXTENDED(CLASS)
#undef CLASS
#define CLASS(name) [INSN_##name] = SELECTING,
                    STENCILS_SELECTING(CLASS)
#undef CLASS
};

// What a load or store accesses: Xn + imm, or Xn, which is then changed by imm.
enum { NOT_NEAR, OFFSET, PRE_INDEXED, POST_INDEXED };
static const uint8_t addressing[INSN_COUNT] = {
#define ADDRESSING(kind)                                                                                     \
    [INSN_##kind##_uimm] = OFFSET, [INSN_##kind##_unscaled] = OFFSET, [INSN_##kind##_pre] = PRE_INDEXED,     \
    [INSN_##kind##_post] = POST_INDEXED,
    STENCILS_SINGLE(ADDRESSING)
#undef ADDRESSING
#define ADDRESSING(kind)                                                                                     \
    [INSN_##kind##_offset] = OFFSET, [INSN_##kind##_pre] = PRE_INDEXED, [INSN_##kind##_post] = POST_INDEXED,
        STENCILS_PAIR(ADDRESSING)
#undef ADDRESSING
};

// 1 + the kind of flags that an instruction leaves, where that is always the same.
static const uint8_t flags_left[INSN_COUNT] = {
#define OPERANDS(name, kind)                                                                                 \
    [INSN_##name##_imm] = 1 + (kind), [INSN_##name] = 1 + (kind), [INSN_##name##_lsl] = 1 + (kind),          \
    [INSN_##name##_shift] = 1 + (kind), [INSN_##name##_ext] = 1 + (kind)
    OPERANDS(subs_x, FLAGS_SUB),         OPERANDS(subs_w, FLAGS_SUB32),
    OPERANDS(adds_x, FLAGS_ADD),         OPERANDS(adds_w, FLAGS_ADD32),
#undef OPERANDS
    [INSN_ands_x_imm] = 1 + FLAGS_ADD,   [INSN_ands_x] = 1 + FLAGS_ADD,
    [INSN_ands_x_shift] = 1 + FLAGS_ADD, [INSN_bics_x] = 1 + FLAGS_ADD,
    [INSN_bics_x_shift] = 1 + FLAGS_ADD, [INSN_ands_w_imm] = 1 + FLAGS_ADD32,
    [INSN_ands_w] = 1 + FLAGS_ADD32,     [INSN_ands_w_shift] = 1 + FLAGS_ADD32,
    [INSN_bics_w] = 1 + FLAGS_ADD32,     [INSN_bics_w_shift] = 1 + FLAGS_ADD32,
    [INSN_fcmp_s] = 1 + FLAGS_SUB,       [INSN_fcmp_s_zero] = 1 + FLAGS_SUB,
    [INSN_fcmpe_s] = 1 + FLAGS_SUB,      [INSN_fcmpe_s_zero] = 1 + FLAGS_SUB,
    [INSN_fcmp_d] = 1 + FLAGS_SUB,       [INSN_fcmp_d_zero] = 1 + FLAGS_SUB,
    [INSN_fcmpe_d] = 1 + FLAGS_SUB,      [INSN_fcmpe_d_zero] = 1 + FLAGS_SUB,
};

static unsigned flags_behind(enum insn id, unsigned before)
{
    if (!(isa_info[id].writes & NZCV))
        return before;
    return flags_left[id] ? flags_left[id] - 1u : UNKNOWN;
}

// What is known between two instructions of a block.
struct known {
    unsigned flags; // their kind, or UNKNOWN
    unsigned last, before; // the registers that were written last, or NO_REGISTER
    uint32_t accessed; // Xn of bit n, and how far from it memory has been accessed
    int64_t distance[REG_SP + 1];
};

static bool is_near(enum insn id, const op *o, const struct known *k)
{
    int64_t at = addressing[id] == POST_INDEXED ? 0 : (int64_t)o->imm;
    if (!addressing[id] || !(k->accessed >> o->n & 1))
        return false;
    return at - k->distance[o->n] <= MEMORY_NEAR && k->distance[o->n] - at <= MEMORY_NEAR;
}

static unsigned number_of(enum insn id, const op *o, const struct known *k)
{
    switch (isa_info[id].kind) {
    case KIND_CONDITION: return k->flags == UNKNOWN ? 0 : 1 + k->flags;
    case KIND_JUMP: return o->disp <= 0;
    default: break;
    }
    if (addressing[id])
        return is_near(id, o, k);
    switch (classes[id]) {
    case COMPARING: return o->d == REG_SINK;
    case INDEXED: return o->imm ? 2 : 1;
    case SHIFTED:
    case EXTENDED: return 1u + o->a;
    case SELECTING: return o->a >= STENCIL_CONDITIONS ? 0 : 1 + STENCIL_CONDITIONS * k->flags + o->a;
    default: return 0;
    }
}

// 1 or 2 for a register that is at hand, else 0.
static unsigned at_hand(const struct known *k, uint32_t reads, uint32_t operand, unsigned number)
{
    return !(reads & operand) ? 0 : number == k->last ? 1 : number == k->before ? 2 : 0;
}

static unsigned form_of(enum insn id, const op *o, const struct known *k)
{
    uint32_t reads = isa_info[id].reads;
    if (isa_info[id].kind == KIND_OP && (int64_t)o->imm != (int32_t)o->imm)
        return FORM_WIDE;
    unsigned d = at_hand(k, reads, Xd, o->d), n = at_hand(k, reads, Xn, o->n),
             m = at_hand(k, reads, Xm, o->m);
    return d ? FORM_WITH_D + 3 * (d - 1) + n : 3 * m + n;
}

// NULL if there is none, nor a handler to call.
static const struct stencil *choose(const struct blocks *b, enum insn id, const op *o, const struct known *k)
{
    const struct stencils *l = b->level;
    const struct stencil *call = called(b, id) ? &l->all[l->call] : NULL;
    if (!l->first[id])
        return call;
    const uint16_t *numbers = l->numbers + l->first[id] + FORM_COUNT * number_of(id, o, k);
    const unsigned form = form_of(id, o, k);
    // What is not there for all that is at hand may be there for less.
    const unsigned less[] = {form, form % 3, form < FORM_WITH_D ? form - form % 3 : FORM_PLAIN, FORM_PLAIN};
    for (unsigned i = 0; i < sizeof less / sizeof *less && form != FORM_WIDE; i++)
        if (numbers[less[i]])
            return &l->all[numbers[less[i]]];
    return numbers[FORM_WIDE] ? &l->all[numbers[FORM_WIDE]] : call;
}

// Where memory has been accessed behind the instruction.
static void learn_access(enum insn id, const op *o, struct known *k)
{
    const uint32_t writes = isa_info[id].writes;
    k->accessed &= ~isa_registers(writes, o).x;
    if (!addressing[id] || (writes & Xd && o->d == o->n) || (writes & Xm && o->m == o->n))
        return;
    k->accessed |= 1u << o->n;
    k->distance[o->n] = addressing[id] == OFFSET         ? (int64_t)o->imm
                        : addressing[id] == POST_INDEXED ? -(int64_t)o->imm
                                                         : 0;
}

static void learn(const struct blocks *b, const struct stencil *s, enum insn id, const op *o, struct known *k)
{
    uint32_t writes = isa_info[id].writes;
    if (classes[id] == COMPARING && o->d == REG_SINK)
        writes &= ~(uint32_t)Xd;
    const uint32_t others = Xm | Xa | Xd_pair | Xa_pair | LR;
    learn_access(id, o, k);
    k->flags = flags_behind(id, k->flags);
    if (s == &b->level->all[b->level->call] || (!(writes & (Xd | Xn)) && writes & others)) {
        k->last = k->before = NO_REGISTER;
    } else if (writes & (Xd | Xn)) {
        unsigned before = writes & Xd && writes & Xm ? o->m : writes & Xd && writes & Xn ? o->n : k->last;
        k->last = writes & Xd ? o->d : o->n;
        k->before = before == k->last ? NO_REGISTER : before;
        // What an instruction writes twice is not at hand as it is in the end.
        if (writes & Xd && ((writes & Xn && o->d == o->n) || (writes & Xm && o->d == o->m)))
            k->last = NO_REGISTER;
    }
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

// An instruction of a block that is being made, and where its code and what is aside of it run.
struct place {
    enum insn id;
    const op *o;
    unsigned index;
    uint32_t pc;
    const uint8_t *start, *aside; // start: of the block
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
    case HOLE_counts: return p->pc / 4 * (int64_t)sizeof(struct branch_counts);
    case HOLE_pc: return (int32_t)p->pc;
    case HOLE_handlers: return distance_to(b->base, at);
    case HOLE_start: return distance_to(p->start, at);
    case HOLE_aside: return distance_to(p->aside, at);
    case HOLE_offset: return distance_to(b->handler(p->id, &unused), b->base);
    case HOLE_handler: return distance_to(called(b, p->id), at);
    case HOLE_constant: return distance_to(b->level->constants, at);
    default: return distance_to(b->level->hosts[h->kind - HOLE_host], at);
    }
}

// Copies the stencil to offset *at of the code memory, behind which it is then; false if a hole is too small.
static bool put(const struct blocks *b, const struct stencil *s, const struct place *p, size_t *at)
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

uint32_t blocks_make(struct blocks *b, uint32_t pc, const enum insn *ids, const op *ops, unsigned *count)
{
    const struct stencils *l = b->level;
    const struct stencil *chosen[BLOCK_MOST], *asides[BLOCK_MOST];
    const struct stencil *none = &l->all[0], *not_taken = &l->all[l->not_taken];
    struct place places[BLOCK_MOST];
    struct known known = {.flags = UNKNOWN, .last = NO_REGISTER, .before = NO_REGISTER};
    size_t size = 0, aside_size = 0;
    unsigned n = 0;
    for (; n < *count && (chosen[n] = choose(b, ids[n], &ops[n], &known)); n++) {
        places[n] = (struct place){.id = ids[n], .o = &ops[n], .index = n, .pc = pc + 4 * n};
        asides[n] = aside_of(b, chosen[n], &places[n]);
        size += chosen[n]->size + (isa_info[ids[n]].kind == KIND_CONDITION ? not_taken : none)->size;
        aside_size += asides[n]->size;
        learn(b, chosen[n], ids[n], &ops[n], &known);
    }
    *count = n;
    if (!n)
        return 0;
    const enum insn_kind last = isa_info[ids[n - 1]].kind;
    const struct stencil *end = last == KIND_OP || last == KIND_CONDITION ? &l->all[l->end] : none;
    const size_t front = (sizeof(struct head) + n * sizeof(uint16_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t at = code_memory_take(&b->memory, front + size + end->size + aside_size, ALIGNMENT);
    if (at == SIZE_MAX)
        return 0;
    at += front;
    const size_t start = at;
    size_t aside = start + size + end->size;
    struct head *head = head_at(b, start);
    *head = (struct head){pc, (uint8_t)n};
    for (unsigned i = 0; i < n; i++) {
        places[i].start = b->memory.code + start;
        places[i].aside = b->memory.code + aside;
        if (!put(b, chosen[i], &places[i], &at) || !put(b, asides[i], &places[i], &aside) ||
            !put(b, isa_info[ids[i]].kind == KIND_CONDITION ? not_taken : none, &places[i], &at))
            return 0;
        ends_of(head)[i] = (uint16_t)(at - start);
    }
    if (!put(b, end, &places[n - 1], &at))
        return 0;
    b->starts[start / ALIGNMENT / 64] |= 1ull << start / ALIGNMENT % 64;
    return (uint32_t)distance_to(b->memory.code + start, b->base);
}

static bool is_start(const struct blocks *b, size_t at)
{
    return b->starts[at / ALIGNMENT / 64] >> at / ALIGNMENT % 64 & 1;
}

unsigned blocks_length(const struct blocks *b, uint32_t handler)
{
    size_t at = (size_t)(distance_to(b->base, b->memory.code) + (int32_t)handler);
    return at < b->memory.used && at % ALIGNMENT == 0 && is_start(b, at) ? head_at(b, at)->count : 0;
}

bool blocks_guest_pc(const struct blocks *b, uint64_t host_pc, uint32_t *pc)
{
    const size_t at = host_pc - (uint64_t)(uintptr_t)b->memory.code;
    if (!b->memory.code || at >= b->memory.used)
        return false;
    size_t start = at / ALIGNMENT * ALIGNMENT;
    while (start && !is_start(b, start))
        start -= ALIGNMENT;
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
    if (b->starts)
        code_memory_create(&b->memory, MEMORY_BYTES, code);
    return b;
}

void blocks_destroy(struct blocks *b)
{
    if (b) {
        code_memory_destroy(&b->memory);
        free(b->starts);
    }
    free(b);
}
