// SPDX-License-Identifier: MIT
// The definitions of integer and memory instructions, with guest accesses as calls (16 bytes as two of 8):
// compiled to bitcode, from which semantics_gen.c makes tables; never linked into a program.
#include "core/isa/cpu.h"

#define HOOK static inline __attribute__((always_inline, unused))

#define ACCESSORS(bits, type)                                                                                \
    type guest_load##bits(uint64_t address);                                                                 \
    void guest_store##bits(uint64_t address, type value);                                                    \
    HOOK type load##bits(cpu *c, const op *o, uint64_t address)                                              \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        return guest_load##bits(address);                                                                    \
    }                                                                                                        \
    HOOK void store##bits(cpu *c, const op *o, uint64_t address, type value)                                 \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        guest_store##bits(address, value);                                                                   \
    }

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)

HOOK u64x2 load128(cpu *c, const op *o, uint64_t address)
{
    return (u64x2){load64(c, o, address), load64(c, o, address + 8)};
}

HOOK void store128(cpu *c, const op *o, uint64_t address, u64x2 value)
{
    store64(c, o, address, value[0]);
    store64(c, o, address + 8, value[1]);
}

void guest_aligned(uint64_t address, unsigned size);
HOOK void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store)
{
    (void)c, (void)o, (void)is_store;
    guest_aligned(address, size);
}

// A definition that calls this is not one that a table can hold.
void beyond_tables(void);

static uint64_t read_counter(cpu *c)
{
    (void)c;
    beyond_tables();
    return 0;
}

static void invalidate_code(cpu *c, uint64_t address)
{
    (void)c, (void)address;
    beyond_tables();
}

#include "core/isa/sem.h"

#define DEFINE_OP(name)                                                                                      \
    void op_##name(cpu *c, const op *o)                                                                      \
    {                                                                                                        \
        sem_##name(c, o);                                                                                    \
    }
#define DEFINE_JUMP(name)
#define DEFINE_STOP(name)
#define DEFINE_INDIRECT(name)
#define DEFINE_CONDITION(name)                                                                               \
    bool op_##name(cpu *c, const op *o)                                                                      \
    {                                                                                                        \
        return sem_##name(c, o);                                                                             \
    }
#define INSN(name, kind, ...) DEFINE_##kind(name)
#include "core/isa/insns_int.def"
#include "core/isa/insns_mem.def"
