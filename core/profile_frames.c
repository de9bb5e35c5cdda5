// SPDX-License-Identifier: MIT
#include "profile_frames.h"

#include <string.h>

#include "core/isa/cpu.h"
#include "core/isa/isa.h"

enum { REG_FRAME_SIZE = 12, REG_FP = 29, FAR = 30000 };

// Bytes further on; lost if the one is, or it becomes too far.
static int16_t moved(int16_t from, int64_t by)
{
    if (from < -FAR || from > FAR || by < -2 * FAR || by > 2 * FAR || from + by < -FAR || from + by > FAR)
        return FRAME_LOST;
    return (int16_t)(from + by);
}

// Where a general register points to.
static int16_t pointed_to(const struct profile_frame *f, unsigned x)
{
    return x == REG_SP ? f->sp : x == REG_FP ? f->x29 : FRAME_LOST;
}

// Whether it adds X12 as it is, or subtracts that.
static bool is_sum_with_x12(enum insn id, const op *o)
{
    enum { UXTX = 3 };
    return (id == INSN_add_x_ext || id == INSN_sub_x_ext) && o->m == REG_FRAME_SIZE && o->a == UXTX &&
           o->imm == 0;
}

// What ADD and SUB of a constant come to, and loads and stores that move their base by one; other
// instructions to nothing that is known.
static int16_t sum_of(const struct profile_frame *f, enum insn id, const op *o)
{
    if (id == INSN_add_x_imm || id == INSN_sub_x_imm)
        return moved(pointed_to(f, o->n), id == INSN_add_x_imm ? (int64_t)o->imm : -(int64_t)o->imm);
    if (is_sum_with_x12(id, o))
        return f->x12 == FRAME_LOST
                   ? FRAME_LOST
                   : moved(pointed_to(f, o->n), id == INSN_add_x_ext ? f->x12 : -(int64_t)f->x12);
    const struct insn_info *info = &isa_info[id];
    const bool is_structure =
        info->reads & Xm && isa_registers(info->reads | info->writes, o).v; // LD1 and the like
    if (info->group == GROUP_LDST && info->writes & Xn && !is_structure)
        return moved(pointed_to(f, o->n), (int64_t)o->imm);
    return FRAME_LOST;
}

// Whether an instruction loads or stores whole registers by an address that is known beforehand: *offset from
// its base.
static bool is_transfer(enum insn id, const op *o, int64_t *offset)
{
    *offset = (int64_t)o->imm;
    switch (id) {
    case INSN_ldr_x_post:
    case INSN_ldp_x_post:
    case INSN_str_x_post:
    case INSN_stp_x_post: *offset = 0; return true;
    case INSN_ldr_x_pre:
    case INSN_ldr_x_uimm:
    case INSN_ldr_x_unscaled:
    case INSN_ldp_x_pre:
    case INSN_ldp_x_offset:
    case INSN_str_x_pre:
    case INSN_str_x_uimm:
    case INSN_str_x_unscaled:
    case INSN_stp_x_pre:
    case INSN_stp_x_offset: return true;
    default: return false;
    }
}

static void store(struct profile_frame *f, unsigned x, int16_t place)
{
    if (place == FRAME_LOST)
        return;
    if (x == REG_LR && f->return_address == FRAME_HELD)
        f->return_address = place;
    if (x == REG_FP && f->callers_x29 == FRAME_HELD)
        f->callers_x29 = place;
}

// What is kept at kept, once its register has been loaded from place: what is on the stack stays there.
static int16_t loaded(int16_t kept, int16_t place)
{
    if (place != FRAME_LOST && place == kept)
        return FRAME_HELD;
    return kept == FRAME_HELD ? FRAME_LOST : kept;
}

static void load(struct profile_frame *f, unsigned x, int16_t place)
{
    if (x == REG_LR)
        f->return_address = loaded(f->return_address, place);
    if (x == REG_FP) {
        f->callers_x29 = loaded(f->callers_x29, place);
        f->x29 = FRAME_LOST;
    }
}

// The constant that is in X12 behind an instruction which writes that, or adds it to SP: then it is of no use
// any more, and ways that differ by it only are one.
static int16_t constant(enum insn id, const op *o)
{
    return id == INSN_movz_x && o->d == REG_FRAME_SIZE && o->imm <= FAR ? (int16_t)o->imm : FRAME_LOST;
}

static bool is_zero(enum insn id, const op *o)
{
    return (id == INSN_movz_x && o->imm == 0) || (id == INSN_orr_x && o->n == REG_ZERO && o->m == REG_ZERO);
}

// What is held in a register is lost when that is written.
static void lose(int16_t *place)
{
    if (*place == FRAME_HELD)
        *place = FRAME_LOST;
}

// What one that stands like that comes to by the instruction.
static struct profile_frame behind(uint32_t word, struct profile_frame f)
{
    op o;
    enum insn id = isa_decode(word, 0, &o);
    if (id == INSN_UNDEFINED)
        return f;
    struct profile_frame next = f;
    const struct insn_info *info = &isa_info[id];
    const uint32_t writes = isa_registers(info->writes, &o).x;
    int64_t offset;
    if (info->writes & LR) { // a call, which gives nearly everything else back
        lose(&next.return_address);
        next.x12 = FRAME_LOST;
    } else if (is_transfer(id, &o, &offset)) {
        const int16_t place = moved(pointed_to(&f, o.n), offset);
        (info->writes & Xd ? load : store)(&next, o.d, place);
        if ((info->reads | info->writes) & Xm)
            (info->writes & Xd ? load : store)(&next, o.m, moved(place, 8));
    } else {
        if (writes >> REG_LR & 1 && next.return_address == FRAME_HELD)
            next.return_address = is_zero(id, &o) ? FRAME_OUTERMOST : FRAME_LOST;
        if (writes >> REG_FP & 1) {
            next.x29 = sum_of(&f, id, &o);
            lose(&next.callers_x29);
        }
    }
    if (info->writes & Xn && o.n == REG_FP)
        next.x29 = sum_of(&f, id, &o);
    if (writes >> REG_SP & 1)
        next.sp = sum_of(&f, id, &o);
    if (writes >> REG_FRAME_SIZE & 1 || is_sum_with_x12(id, &o))
        next.x12 = constant(id, &o);
    return next;
}

bool profile_frame_add(struct profile_frame *list, unsigned *count, unsigned room, struct profile_frame frame)
{
    for (unsigned i = 0; i < *count; i++)
        if (memcmp(&list[i], &frame, sizeof frame) == 0)
            return false;
    if (*count == room)
        return false;
    list[(*count)++] = frame;
    return true;
}

static bool add(struct profile_frames *frames, struct profile_frame frame)
{
    const bool added = profile_frame_add(frames->of, &frames->count, PROFILE_FRAMES, frame);
    frames->is_new |= added;
    return added;
}

bool profile_frames_are_callers(const struct profile_frames *frames)
{
    for (unsigned i = 0; i < frames->count; i++)
        if (frames->of[i].sp == 0 && frames->of[i].return_address == FRAME_HELD)
            return true;
    return false;
}

static bool add_all(struct profile_frames *frames, int32_t at, const struct profile_frames *more)
{
    bool added = false;
    for (unsigned i = 0; at >= 0 && i < more->count; i++)
        added |= add(&frames[at], more->of[i]);
    return added;
}

static int64_t first_unreached(const struct profile_frames *frames, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (!frames[i].count)
            return i;
    return -1;
}

void profile_frames_find(const uint32_t *words, const struct profile_step *steps, uint32_t length,
                         struct profile_frames *frames)
{
    struct profile_frames anywhere = {.count = 0};
    memset(frames, 0, length * sizeof *frames);
    add(&frames[0], (struct profile_frame){0, FRAME_LOST, FRAME_HELD, FRAME_HELD, FRAME_LOST});
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < length; i++) {
            struct profile_frames out = {.count = 0};
            if (!frames[i].is_new)
                continue;
            frames[i].is_new = false;
            for (unsigned k = 0; k < frames[i].count; k++)
                add(&out, behind(words[i], frames[i].of[k]));
            more |= add_all(frames, steps[i].next, &out) | add_all(frames, steps[i].target, &out);
            if (steps[i].anywhere)
                for (unsigned k = 0; k < out.count; k++)
                    add(&anywhere, out.of[k]);
        }
        // A switch leads to what nothing else does, to begin with.
        if (!more)
            more = add_all(frames, (int32_t)first_unreached(frames, length), &anywhere);
    }
}
