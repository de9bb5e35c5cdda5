// SPDX-License-Identifier: MIT
// Lanes of a vector register: types, selection by element size, and how results are written.
//
// Integer operations work on all sixteen bytes whatever the form, in vector arithmetic of the compiler, and
// cut the result off when it is written: a form is then straight-line code once its size is a constant. Where
// unused lanes could be seen (saturation, reductions) the operands are cut off first.
#ifndef CORE_ISA_SEM_SIMD_LANES_H
#define CORE_ISA_SEM_SIMD_LANES_H

typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef int8_t s8x16 __attribute__((vector_size(16)));
typedef int16_t s16x8 __attribute__((vector_size(16)));
typedef int32_t s32x4 __attribute__((vector_size(16)));
typedef int64_t s64x2 __attribute__((vector_size(16)));
typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef uint16_t u16x4 __attribute__((vector_size(8)));
typedef uint32_t u32x2 __attribute__((vector_size(8)));
typedef int8_t s8x8 __attribute__((vector_size(8)));
typedef int16_t s16x4 __attribute__((vector_size(8)));
typedef int32_t s32x2 __attribute__((vector_size(8)));

// What the code given to EACH_SIZE and its relatives may name: U and S, the unsigned and signed vector types
// of the element size, E and F, their element types, BITS and LANES.
#define SIZE_CASE(number, bits, lanes, ...)                                                                  \
    case number: {                                                                                           \
        typedef u##bits##x##lanes U UNUSED;                                                                  \
        typedef s##bits##x##lanes S UNUSED;                                                                  \
        typedef uint##bits##_t E UNUSED;                                                                     \
        typedef int##bits##_t F UNUSED;                                                                      \
        enum { BITS = bits, LANES = lanes };                                                                 \
        __VA_ARGS__                                                                                          \
    } break;

#define SIZE_B(...) SIZE_CASE(0, 8, 16, __VA_ARGS__)
#define SIZE_H(...) SIZE_CASE(1, 16, 8, __VA_ARGS__)
#define SIZE_S(...) SIZE_CASE(2, 32, 4, __VA_ARGS__)
#define SIZE_D(...) SIZE_CASE(3, 64, 2, __VA_ARGS__)

// Runs the code given, compiled for the element size (0 to 3: 8 to 64 bits).
#define EACH_SIZE(size, ...)                                                                                 \
    switch (size) {                                                                                          \
        SIZE_B(__VA_ARGS__)                                                                                  \
        SIZE_H(__VA_ARGS__)                                                                                  \
        SIZE_S(__VA_ARGS__)                                                                                  \
        SIZE_D(__VA_ARGS__)                                                                                  \
    }

// The same for instructions that have no form with 64-bit elements.
#define EACH_SIZE_BHS(size, ...)                                                                             \
    switch (size) {                                                                                          \
        SIZE_B(__VA_ARGS__)                                                                                  \
        SIZE_H(__VA_ARGS__)                                                                                  \
        SIZE_S(__VA_ARGS__)                                                                                  \
    }

// mask ? x : y in each lane; mask is the result of a comparison.
#define SELECT(mask, x, y) (((U)(mask) & (U)(x)) | (~(U)(mask) & (U)(y)))

// A function of two vectors, lane by lane: T (U or S) is the type in which expression sees a and b.
#define LANEWISE(name, T, expression)                                                                        \
    SEM u64x2 name(unsigned size, u64x2 va, u64x2 vb)                                                        \
    {                                                                                                        \
        EACH_SIZE(size, T a = (T)va; T b = (T)vb; return (u64x2)(expression);)                               \
        return va;                                                                                           \
    }

// ---- registers ----

// v with all but its lowest bytes (1, 2, 4, 8 or 16) cleared.
SEM u64x2 low_bytes(u64x2 v, unsigned bytes)
{
    uint64_t low = bytes < 8 ? v[0] & ~(~0ull << (bytes * 8 & 63)) : v[0];
    return (u64x2){low, bytes == 16 ? v[1] : 0};
}

// The bytes that a vector form (Q) works on, and those of a scalar form (size).
SEM unsigned vector_bytes(const op *o)
{
    return 8u << o->q;
}

SEM unsigned scalar_bytes(const op *o)
{
    return 1u << o->size;
}

// Writes Vd of a vector form: the upper half is cleared if Q = 0.
SEM void put_vector(cpu *c, const op *o, u64x2 v)
{
    V(d) = (u64x2){v[0], o->q ? v[1] : 0};
}

// Writes Vd of a scalar form with a result of so many bytes.
SEM void put_scalar(cpu *c, const op *o, u64x2 v, unsigned bytes)
{
    V(d) = low_bytes(v, bytes);
}

// Writes 64 bits to the half of Vd that Q selects; writing the lower half clears the upper one.
SEM void put_half(cpu *c, const op *o, uint64_t half)
{
    V(d) = o->q ? (u64x2){V(d)[0], half} : (u64x2){half, 0};
}

// The half of v that Q selects.
SEM uint64_t get_half(const op *o, u64x2 v)
{
    return o->q ? v[1] : v[0];
}

// Sets FPSR.QC if a lane of the mask is not zero.
SEM void note_saturation(cpu *c, u64x2 mask)
{
    c->fpsr |= (mask[0] | mask[1]) != 0 ? (uint32_t)FPSR_QC : 0;
}

// Element index of v, zero-extended.
SEM uint64_t get_element(unsigned size, u64x2 v, unsigned index)
{
    EACH_SIZE(size, U elements = (U)v; return elements[index];)
    return 0;
}

// v with the element replaced by the low bits of value.
SEM u64x2 set_element(unsigned size, u64x2 v, unsigned index, uint64_t value)
{
    EACH_SIZE(size, U elements = (U)v; elements[index] = (E)value; return (u64x2)elements;)
    return v;
}

// value, of which the element's bits count, in every lane.
SEM u64x2 broadcast(unsigned size, uint64_t value)
{
    EACH_SIZE(size, U v = {0}; v += (E)value; return (u64x2)v;)
    return (u64x2){0};
}

SEM u64x2 broadcast_element(unsigned size, u64x2 v, unsigned index)
{
    return broadcast(size, get_element(size, v, index));
}

// ---- rearrangements ----

// The elements of even number of n, then of m, both 64 bits long if q = 0.
SEM u64x2 even_elements(unsigned size, unsigned q, u64x2 n, u64x2 m)
{
    u64x2 a = q ? n : (u64x2){n[0], m[0]};
    switch (size) {
    case 0:
        return (u64x2)__builtin_shufflevector((u8x16)a, (u8x16)m, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22,
                                              24, 26, 28, 30);
    case 1: return (u64x2)__builtin_shufflevector((u16x8)a, (u16x8)m, 0, 2, 4, 6, 8, 10, 12, 14);
    case 2: return (u64x2)__builtin_shufflevector((u32x4)a, (u32x4)m, 0, 2, 4, 6);
    default: return (u64x2){a[0], m[0]};
    }
}

// Those of odd number.
SEM u64x2 odd_elements(unsigned size, unsigned q, u64x2 n, u64x2 m)
{
    u64x2 a = q ? n : (u64x2){n[0], m[0]};
    switch (size) {
    case 0:
        return (u64x2)__builtin_shufflevector((u8x16)a, (u8x16)m, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23,
                                              25, 27, 29, 31);
    case 1: return (u64x2)__builtin_shufflevector((u16x8)a, (u16x8)m, 1, 3, 5, 7, 9, 11, 13, 15);
    case 2: return (u64x2)__builtin_shufflevector((u32x4)a, (u32x4)m, 1, 3, 5, 7);
    default: return (u64x2){a[1], m[1]};
    }
}

// The half's elements of the given size, widened to twice that size.
SEM u64x2 widen_signed(unsigned size, uint64_t half)
{
    switch (size) {
    case 0: return (u64x2) __builtin_convertvector((s8x8)half, s16x8);
    case 1: return (u64x2) __builtin_convertvector((s16x4)half, s32x4);
    default: return (u64x2) __builtin_convertvector((s32x2)half, s64x2);
    }
}

SEM u64x2 widen_unsigned(unsigned size, uint64_t half)
{
    switch (size) {
    case 0: return (u64x2) __builtin_convertvector((u8x8)half, u16x8);
    case 1: return (u64x2) __builtin_convertvector((u16x4)half, u32x4);
    default: return (u64x2) __builtin_convertvector((u32x2)half, u64x2);
    }
}

// The lower halves of elements of twice the given size.
SEM uint64_t narrow(unsigned size, u64x2 v)
{
    switch (size) {
    case 0: return (uint64_t) __builtin_convertvector((u16x8)v, u8x8);
    case 1: return (uint64_t) __builtin_convertvector((u32x4)v, u16x4);
    default: return (uint64_t) __builtin_convertvector(v, u32x2);
    }
}

#endif
