// SPDX-License-Identifier: MIT
// The meaning of every instruction, as inline functions on cpu. An engine includes this file once, after
// defining the hooks below; the same text is compiled to bitcode for the translator and must stay fit for a
// GPU kernel: fixed-width integers, the hooks and builtins only; no libc, no mutable static data, no
// recursion.
//
// A function reads, computes, touches memory (which may leave the function for good), then writes registers,
// then flags: so state is precise when an access faults. It selects values, never pointers.
#ifndef CORE_ISA_SEM_H
#define CORE_ISA_SEM_H

#include "cpu.h"

#define SEM static inline __attribute__((always_inline, unused))
#define UNUSED __attribute__((unused))

// One per enum insn_kind; KIND_JUMP uses OP.
#define OP(name) SEM void sem_##name(UNUSED cpu *c, UNUSED const op *o)
#define CONDITION(name) SEM bool sem_##name(UNUSED cpu *c, UNUSED const op *o)
#define INDIRECT(name) SEM uint64_t sem_##name(UNUSED cpu *c, UNUSED const op *o)
#define STOP(name) SEM enum stop_reason sem_##name(UNUSED cpu *c, UNUSED const op *o)

// ---- hooks: what an engine supplies ----
// Guest memory, little-endian, any alignment. An access that fails does not return. o: the op being executed.
SEM uint8_t load8(cpu *c, const op *o, uint64_t address);
SEM uint16_t load16(cpu *c, const op *o, uint64_t address);
SEM uint32_t load32(cpu *c, const op *o, uint64_t address);
SEM uint64_t load64(cpu *c, const op *o, uint64_t address);
SEM u64x2 load128(cpu *c, const op *o, uint64_t address);
SEM void store8(cpu *c, const op *o, uint64_t address, uint8_t value);
SEM void store16(cpu *c, const op *o, uint64_t address, uint16_t value);
SEM void store32(cpu *c, const op *o, uint64_t address, uint32_t value);
SEM void store64(cpu *c, const op *o, uint64_t address, uint64_t value);
SEM void store128(cpu *c, const op *o, uint64_t address, u64x2 value);
// Fails with FAULT_ALIGNMENT unless address is a multiple of size (a power of two).
SEM void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store);
// For what is atomic, and has been found aligned. Stores value where memory still holds old, which has just
// been loaded; whether it did. store_last: what follows comes later for everyone.
SEM bool replace8(cpu *c, const op *o, uint64_t address, uint8_t old, uint8_t value);
SEM bool replace16(cpu *c, const op *o, uint64_t address, uint16_t old, uint16_t value);
SEM bool replace32(cpu *c, const op *o, uint64_t address, uint32_t old, uint32_t value);
SEM bool replace64(cpu *c, const op *o, uint64_t address, uint64_t old, uint64_t value);
SEM void store_last8(cpu *c, const op *o, uint64_t address, uint8_t value);
SEM void store_last16(cpu *c, const op *o, uint64_t address, uint16_t value);
SEM void store_last32(cpu *c, const op *o, uint64_t address, uint32_t value);
SEM void store_last64(cpu *c, const op *o, uint64_t address, uint64_t value);
// DMB, DSB.
SEM void order_accesses(cpu *c, const op *o);
// CNTVCT_EL0, in ticks of COUNTER_HZ.
static uint64_t read_counter(cpu *c);
// IC IVAU: decoded code at address is out of date.
static void invalidate_code(cpu *c, uint64_t address);

#define COUNTER_HZ 1000000000u

// A register by the byte of the op that has its index: X of 64 bits, W its lower half, V of 128. Code that is
// made for one op has names of its own for the place.
#ifndef X
#define X(slot) c->x[o->slot]
#define V(slot) c->v[o->slot]
#endif
#define W(slot) ((uint32_t)X(slot))

// Where nobody else writes meanwhile.
#ifndef ATOMIC_ACCESSORS
#define ATOMIC_ACCESSORS(bits)                                                                               \
    SEM bool replace##bits(cpu *c, const op *o, uint64_t address, UNUSED uint##bits##_t old,                 \
                           uint##bits##_t value)                                                             \
    {                                                                                                        \
        store##bits(c, o, address, value);                                                                   \
        return true;                                                                                         \
    }                                                                                                        \
    SEM void store_last##bits(cpu *c, const op *o, uint64_t address, uint##bits##_t value)                   \
    {                                                                                                        \
        store##bits(c, o, address, value);                                                                   \
    }
#endif
ATOMIC_ACCESSORS(8)
ATOMIC_ACCESSORS(16)
ATOMIC_ACCESSORS(32)
ATOMIC_ACCESSORS(64)
#ifndef ORDER_ACCESSES
#define ORDER_ACCESSES
SEM void order_accesses(UNUSED cpu *c, UNUSED const op *o)
{
}
#endif

#include "sem_int.h"
#include "softfloat.h"

// An engine may have accessors of its own to and from the host's registers for such numbers.
#ifndef NUMBER_ACCESSORS
#define NUMBER_ACCESSORS(bits, type)                                                                         \
    SEM type loadf##bits(cpu *c, const op *o, uint64_t address)                                              \
    {                                                                                                        \
        return fp_host##bits(load##bits(c, o, address));                                                     \
    }                                                                                                        \
    SEM void storef##bits(cpu *c, const op *o, uint64_t address, type value)                                 \
    {                                                                                                        \
        store##bits(c, o, address, fp_bits##bits(value));                                                    \
    }
#endif
NUMBER_ACCESSORS(32, float)
NUMBER_ACCESSORS(64, double)

#include "sem_mem.h"
#include "sem_fp.h"
#include "sem_simd.h"
#include "sem_simd_mem.h"
#include "sem_crypto.h"

#endif
