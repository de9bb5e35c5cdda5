// SPDX-License-Identifier: MIT
// Loads and stores of structures: LD1-LD4, ST1-ST4 and LD1R-LD4R (Arm ARM C3.2.10).
//
// Every load is complete before the first register is written, so that a fault leaves them all as they were.
// Host memory, like the guest's, has to be little-endian: the lanes of a register are read through a union.
#ifndef CORE_ISA_SEM_SIMD_MEM_H
#define CORE_ISA_SEM_SIMD_MEM_H

// Up to four registers, or as many bytes of memory, seen as elements of each size.
union structures {
    u64x2 v[4];
    uint64_t d[8];
    uint32_t s[16];
    uint16_t h[32];
    uint8_t b[64];
};

// The bytes that a whole-register form touches for so many registers.
SEM uint64_t structures_bytes(const op *o, unsigned registers)
{
    return (uint64_t)registers * (o->q ? 16 : 8);
}

// Post-index: Rm = 31 stands for the number of bytes transferred.
SEM void post_index(cpu *c, const op *o, uint64_t bytes)
{
    c->x[o->n] += o->m == REG_ZERO ? bytes : c->x[o->m];
}

// ---- multiple structures ----

// Memory order: registers follow each other without gaps.
SEM union structures load_memory_order(cpu *c, const op *o, unsigned registers)
{
    union structures t;
    uint64_t address = c->x[o->n];
    for (unsigned r = 0; r < registers; r++) {
        if (o->q)
            t.v[r] = load128(c, o, address + r * 16);
        else
            t.d[r] = load64(c, o, address + r * 8);
    }
    return t;
}

SEM void store_memory_order(cpu *c, const op *o, unsigned registers, union structures t)
{
    uint64_t address = c->x[o->n];
    for (unsigned r = 0; r < registers; r++) {
        if (o->q)
            store128(c, o, address + r * 16, t.v[r]);
        else
            store64(c, o, address + r * 8, t.d[r]);
    }
}

// Moves element e of register r to or from place e * registers + r of the memory order. A register has (16 >>
// size) places in the union even if only half of it is used.
#define DEINTERLEAVE(lanes)                                                                                  \
    for (unsigned e = 0; e < elements; e++)                                                                  \
        for (unsigned r = 0; r < registers; r++)                                                             \
    to.lanes[r * (sizeof to.v[0] / sizeof to.lanes[0]) + e] = from.lanes[e * registers + r]
#define INTERLEAVE(lanes)                                                                                    \
    for (unsigned e = 0; e < elements; e++)                                                                  \
        for (unsigned r = 0; r < registers; r++)                                                             \
    to.lanes[e * registers + r] = from.lanes[r * (sizeof to.v[0] / sizeof to.lanes[0]) + e]

// The registers' new values: upper halves are zero where Q = 0.
SEM union structures deinterleave(const op *o, unsigned registers, union structures from)
{
    union structures to = {0};
    unsigned elements = (o->q ? 16u : 8u) >> o->size;
    switch (o->size) {
    case 0: DEINTERLEAVE(b); break;
    case 1: DEINTERLEAVE(h); break;
    case 2: DEINTERLEAVE(s); break;
    default: DEINTERLEAVE(d); break;
    }
    return to;
}

SEM union structures interleave(const op *o, unsigned registers, union structures from)
{
    union structures to = {0};
    unsigned elements = (o->q ? 16u : 8u) >> o->size;
    switch (o->size) {
    case 0: INTERLEAVE(b); break;
    case 1: INTERLEAVE(h); break;
    case 2: INTERLEAVE(s); break;
    default: INTERLEAVE(d); break;
    }
    return to;
}

#undef DEINTERLEAVE
#undef INTERLEAVE

// LD1: whole registers one after the other; the element size makes no difference.
SEM void load_registers(cpu *c, const op *o, unsigned registers)
{
    union structures t = load_memory_order(c, o, registers);
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = o->q ? t.v[r] : (u64x2){t.d[r], 0};
}

SEM void store_registers(cpu *c, const op *o, unsigned registers)
{
    union structures t;
    for (unsigned r = 0; r < registers; r++) {
        u64x2 v = c->v[(o->d + r) % 32];
        if (o->q)
            t.v[r] = v;
        else
            t.d[r] = v[0];
    }
    store_memory_order(c, o, registers, t);
}

// LD2, LD3, LD4: element e of register r is member r of structure e.
SEM void load_structures(cpu *c, const op *o, unsigned registers)
{
    union structures t = deinterleave(o, registers, load_memory_order(c, o, registers));
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = t.v[r];
}

SEM void store_structures(cpu *c, const op *o, unsigned registers)
{
    union structures t;
    for (unsigned r = 0; r < registers; r++)
        t.v[r] = c->v[(o->d + r) % 32];
    store_memory_order(c, o, registers, interleave(o, registers, t));
}

// ---- single structures: one element a register ----

SEM uint64_t load_element(cpu *c, const op *o, uint64_t address)
{
    switch (o->size) {
    case 0: return load8(c, o, address);
    case 1: return load16(c, o, address);
    case 2: return load32(c, o, address);
    default: return load64(c, o, address);
    }
}

SEM void store_element(cpu *c, const op *o, uint64_t address, uint64_t element)
{
    switch (o->size) {
    case 0: store8(c, o, address, (uint8_t)element); break;
    case 1: store16(c, o, address, (uint16_t)element); break;
    case 2: store32(c, o, address, (uint32_t)element); break;
    default: store64(c, o, address, element); break;
    }
}

// The lane's distance from bit 0 of the 64-bit half it lies in.
SEM unsigned lane_shift(const op *o)
{
    return (o->val << (o->size + 3)) % 64;
}

SEM bool lane_is_high(const op *o)
{
    return o->val << (o->size + 3) >= 64;
}

SEM u64x2 insert_lane(const op *o, u64x2 v, uint64_t element)
{
    uint64_t mask = (~0ull >> (64 - (8u << o->size))) << lane_shift(o);
    uint64_t bits = element << lane_shift(o);
    if (lane_is_high(o))
        return (u64x2){v[0], (v[1] & ~mask) | bits};
    return (u64x2){(v[0] & ~mask) | bits, v[1]};
}

SEM uint64_t extract_lane(const op *o, u64x2 v)
{
    return (lane_is_high(o) ? v[1] : v[0]) >> lane_shift(o);
}

SEM void load_lanes(cpu *c, const op *o, unsigned registers)
{
    uint64_t element[4];
    for (unsigned r = 0; r < registers; r++)
        element[r] = load_element(c, o, c->x[o->n] + ((uint64_t)r << o->size));
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = insert_lane(o, c->v[(o->d + r) % 32], element[r]);
}

SEM void store_lanes(cpu *c, const op *o, unsigned registers)
{
    for (unsigned r = 0; r < registers; r++)
        store_element(c, o, c->x[o->n] + ((uint64_t)r << o->size), extract_lane(o, c->v[(o->d + r) % 32]));
}

// LD1R-LD4R: the element in every lane.
SEM void load_replicated(cpu *c, const op *o, unsigned registers)
{
    uint64_t element[4];
    for (unsigned r = 0; r < registers; r++)
        element[r] = load_element(c, o, c->x[o->n] + ((uint64_t)r << o->size));
    for (unsigned r = 0; r < registers; r++) {
        uint64_t all = element[r] * (~0ull / (~0ull >> (64 - (8u << o->size))));
        c->v[(o->d + r) % 32] = (u64x2){all, o->q ? all : 0};
    }
}

// Each operation without offset, and post-indexed under the same name with _post.
#define MULTIPLE(name, transfer, registers)                                                                  \
    OP(name)                                                                                                 \
    {                                                                                                        \
        transfer(c, o, registers);                                                                           \
    }                                                                                                        \
    OP(name##_post)                                                                                          \
    {                                                                                                        \
        transfer(c, o, registers);                                                                           \
        post_index(c, o, structures_bytes(o, registers));                                                    \
    }

#define SINGLE(name, transfer, registers)                                                                    \
    OP(name)                                                                                                 \
    {                                                                                                        \
        transfer(c, o, registers);                                                                           \
    }                                                                                                        \
    OP(name##_post)                                                                                          \
    {                                                                                                        \
        transfer(c, o, registers);                                                                           \
        post_index(c, o, (uint64_t)registers << o->size);                                                    \
    }

MULTIPLE(ld1_x1, load_registers, 1)
MULTIPLE(ld1_x2, load_registers, 2)
MULTIPLE(ld1_x3, load_registers, 3)
MULTIPLE(ld1_x4, load_registers, 4)
MULTIPLE(ld2, load_structures, 2)
MULTIPLE(ld3, load_structures, 3)
MULTIPLE(ld4, load_structures, 4)
MULTIPLE(st1_x1, store_registers, 1)
MULTIPLE(st1_x2, store_registers, 2)
MULTIPLE(st1_x3, store_registers, 3)
MULTIPLE(st1_x4, store_registers, 4)
MULTIPLE(st2, store_structures, 2)
MULTIPLE(st3, store_structures, 3)
MULTIPLE(st4, store_structures, 4)

SINGLE(ld1_lane, load_lanes, 1)
SINGLE(ld2_lane, load_lanes, 2)
SINGLE(ld3_lane, load_lanes, 3)
SINGLE(ld4_lane, load_lanes, 4)
SINGLE(st1_lane, store_lanes, 1)
SINGLE(st2_lane, store_lanes, 2)
SINGLE(st3_lane, store_lanes, 3)
SINGLE(st4_lane, store_lanes, 4)
SINGLE(ld1r, load_replicated, 1)
SINGLE(ld2r, load_replicated, 2)
SINGLE(ld3r, load_replicated, 3)
SINGLE(ld4r, load_replicated, 4)

#undef MULTIPLE
#undef SINGLE

#endif
