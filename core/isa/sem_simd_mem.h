// SPDX-License-Identifier: MIT
// Loads and stores of structures: LD1-LD4, ST1-ST4 and LD1R-LD4R (Arm ARM C3.2.10).
//
// Every load is complete before the first register is written, so that a fault leaves them all as they were.
#ifndef CORE_ISA_SEM_SIMD_MEM_H
#define CORE_ISA_SEM_SIMD_MEM_H

struct structures {
    u64x2 v[4]; // registers, or memory in its order, without gaps
};

// The bytes that a whole-register form touches for so many registers.
SEM uint64_t structures_bytes(const op *o, unsigned registers)
{
    return (uint64_t)registers * (o->q ? 16 : 8);
}

// Post-index: Rm = 31 stands for the number of bytes transferred.
SEM void post_index(cpu *c, const op *o, uint64_t bytes)
{
    X(n) += o->m == REG_ZERO ? bytes : X(m);
}

// ---- multiple structures ----

// What memory holds for so many registers, without gaps.
SEM struct structures load_memory_order(cpu *c, const op *o, unsigned registers)
{
    struct structures t = {0};
    uint64_t address = X(n);
    if (o->q) {
        for (unsigned r = 0; r < registers; r++)
            t.v[r] = load128(c, o, address + r * 16);
    } else {
        double d[4] = {0};
        for (unsigned r = 0; r < registers; r++)
            d[r] = loadf64(c, o, address + r * 8);
        t.v[0] = (u64x2)(f64x2){d[0], d[1]};
        t.v[1] = (u64x2)(f64x2){d[2], d[3]};
    }
    return t;
}

SEM void store_memory_order(cpu *c, const op *o, unsigned registers, struct structures t)
{
    uint64_t address = X(n);
    for (unsigned r = 0; r < registers; r++) {
        if (o->q)
            store128(c, o, address + r * 16, t.v[r]);
        else
            storef64(c, o, address + r * 8, ((f64x2)t.v[r / 2])[r % 2]);
    }
}

// Three registers: byte b of register r, whose elements have w bytes, lies at place PLACE of the memory
// order; shuffles take two vectors, so that those of the third have one of their own (-1: whatever).
#define LIST16(M, r, w)                                                                                      \
    M(0, r, w), M(1, r, w), M(2, r, w), M(3, r, w), M(4, r, w), M(5, r, w), M(6, r, w), M(7, r, w),          \
        M(8, r, w), M(9, r, w), M(10, r, w), M(11, r, w), M(12, r, w), M(13, r, w), M(14, r, w), M(15, r, w)
#define PLACE(b, r, w) (((b) / (w)*3 + (r)) * (w) + (b) % (w))
#define OF_TWO(b, r, w) (PLACE(b, r, w) < 32 ? PLACE(b, r, w) : -1)
#define OF_THIRD(b, r, w) (PLACE(b, r, w) < 32 ? (b) : PLACE(b, r, w) - 16)
// The other way: what comes to byte b of vector k of the memory order.
#define ELEMENT(b, k, w) ((16 * (k) + (b)) / (w))
#define SOURCE(b, k, w) (ELEMENT(b, k, w) / 3 * (w) + (b) % (w))
#define TO_TWO(b, k, w) (ELEMENT(b, k, w) % 3 < 2 ? ELEMENT(b, k, w) % 3 * 16 + SOURCE(b, k, w) : -1)
#define TO_THIRD(b, k, w) (ELEMENT(b, k, w) % 3 < 2 ? (b) : 16 + SOURCE(b, k, w))

#define SHUFFLE_THREE(v, M, N, r, w)                                                                         \
    (u64x2) __builtin_shufflevector(__builtin_shufflevector((u8x16)(v)[0], (u8x16)(v)[1], LIST16(M, r, w)),  \
                                    (u8x16)(v)[2], LIST16(N, r, w))
#define SHUFFLE_ALL_THREE(v, M, N, w)                                                                        \
    (struct structures)                                                                                      \
    {                                                                                                        \
        {                                                                                                    \
            SHUFFLE_THREE(v, M, N, 0, w), SHUFFLE_THREE(v, M, N, 1, w), SHUFFLE_THREE(v, M, N, 2, w)         \
        }                                                                                                    \
    }

SEM struct structures deinterleave_three(unsigned size, struct structures t)
{
    switch (size) {
    case 0: return SHUFFLE_ALL_THREE(t.v, OF_TWO, OF_THIRD, 1);
    case 1: return SHUFFLE_ALL_THREE(t.v, OF_TWO, OF_THIRD, 2);
    case 2: return SHUFFLE_ALL_THREE(t.v, OF_TWO, OF_THIRD, 4);
    default: return SHUFFLE_ALL_THREE(t.v, OF_TWO, OF_THIRD, 8);
    }
}

SEM struct structures interleave_three(unsigned size, struct structures t)
{
    switch (size) {
    case 0: return SHUFFLE_ALL_THREE(t.v, TO_TWO, TO_THIRD, 1);
    case 1: return SHUFFLE_ALL_THREE(t.v, TO_TWO, TO_THIRD, 2);
    case 2: return SHUFFLE_ALL_THREE(t.v, TO_TWO, TO_THIRD, 4);
    default: return SHUFFLE_ALL_THREE(t.v, TO_TWO, TO_THIRD, 8);
    }
}

#undef LIST16
#undef PLACE
#undef OF_TWO
#undef OF_THIRD
#undef ELEMENT
#undef SOURCE
#undef TO_TWO
#undef TO_THIRD
#undef SHUFFLE_THREE
#undef SHUFFLE_ALL_THREE

// The registers' new values from the memory order; their upper halves are of no use where Q = 0.
SEM struct structures deinterleave(unsigned size, unsigned registers, struct structures t)
{
    u64x2 even = even_elements(size, 1, t.v[0], t.v[1]), odd = odd_elements(size, 1, t.v[0], t.v[1]);
    if (registers == 2)
        return (struct structures){{even, odd}};
    if (registers == 3)
        return deinterleave_three(size, t);
    u64x2 even2 = even_elements(size, 1, t.v[2], t.v[3]), odd2 = odd_elements(size, 1, t.v[2], t.v[3]);
    return (struct structures){{even_elements(size, 1, even, even2), even_elements(size, 1, odd, odd2),
                                odd_elements(size, 1, even, even2), odd_elements(size, 1, odd, odd2)}};
}

SEM struct structures interleave(unsigned size, unsigned registers, struct structures t)
{
    if (registers == 2)
        return (struct structures){
            {interleave_low(size, t.v[0], t.v[1]), interleave_high(size, t.v[0], t.v[1])}};
    if (registers == 3)
        return interleave_three(size, t);
    u64x2 low02 = interleave_low(size, t.v[0], t.v[2]), low13 = interleave_low(size, t.v[1], t.v[3]);
    u64x2 high02 = interleave_high(size, t.v[0], t.v[2]), high13 = interleave_high(size, t.v[1], t.v[3]);
    return (struct structures){{interleave_low(size, low02, low13), interleave_high(size, low02, low13),
                                interleave_low(size, high02, high13), interleave_high(size, high02, high13)}};
}

// LD1: whole registers one after the other; the element size makes no difference.
SEM void load_registers(cpu *c, const op *o, unsigned registers)
{
    struct structures t = load_memory_order(c, o, registers);
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = o->q ? t.v[r] : (u64x2){t.v[r / 2][r % 2], 0};
}

SEM void store_registers(cpu *c, const op *o, unsigned registers)
{
    struct structures t = {0};
    for (unsigned r = 0; r < registers; r++) {
        u64x2 v = c->v[(o->d + r) % 32];
        if (o->q)
            t.v[r] = v;
        else
            t.v[r / 2][r % 2] = v[0];
    }
    store_memory_order(c, o, registers, t);
}

// LD2, LD3, LD4: element e of register r is member r of structure e.
SEM void load_structures(cpu *c, const op *o, unsigned registers)
{
    struct structures t = deinterleave(o->size, registers, load_memory_order(c, o, registers));
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = (u64x2){t.v[r][0], o->q ? t.v[r][1] : 0};
}

SEM void store_structures(cpu *c, const op *o, unsigned registers)
{
    struct structures t = {0};
    for (unsigned r = 0; r < registers; r++)
        t.v[r] = c->v[(o->d + r) % 32];
    store_memory_order(c, o, registers, interleave(o->size, registers, t));
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

SEM void load_lanes(cpu *c, const op *o, unsigned registers)
{
    uint64_t element[4];
    for (unsigned r = 0; r < registers; r++)
        element[r] = load_element(c, o, X(n) + ((uint64_t)r << o->size));
    for (unsigned r = 0; r < registers; r++)
        c->v[(o->d + r) % 32] = set_element(o->size, c->v[(o->d + r) % 32], o->val, element[r]);
}

SEM void store_lanes(cpu *c, const op *o, unsigned registers)
{
    for (unsigned r = 0; r < registers; r++)
        store_element(c, o, X(n) + ((uint64_t)r << o->size),
                      get_element(o->size, c->v[(o->d + r) % 32], o->val));
}

// LD1R-LD4R: the element in every lane.
SEM void load_replicated(cpu *c, const op *o, unsigned registers)
{
    uint64_t element[4];
    for (unsigned r = 0; r < registers; r++)
        element[r] = load_element(c, o, X(n) + ((uint64_t)r << o->size));
    for (unsigned r = 0; r < registers; r++) {
        u64x2 all = broadcast(o->size, element[r]);
        c->v[(o->d + r) % 32] = (u64x2){all[0], o->q ? all[1] : 0};
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
