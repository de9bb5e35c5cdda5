// SPDX-License-Identifier: MIT
// What the translator's code is made of, as LLVM bitcode: an external function op_<name> for each
// instruction, which llvm_copy.c copies into regions, and the glue between regions and the host. Compiled by
// clang for x32, the 32-bit pointer model of x86-64, never linked into a program.
//
// x32 is what makes guest accesses both safe and free: an address is computed in 32 bits (the address-size
// prefix cuts it off) and counts from gs, whose base is the guest's; whatever the guest forms, it stays
// within its 4 GiB.
// What is declared here is addressed directly, not through a global offset table.
#pragma GCC visibility push(hidden)

#include "core/isa/cpu.h"

#define GUEST __attribute__((address_space(256))) // relative to gs
#define HOOK static inline __attribute__((always_inline, unused))

// Volatile: no access may be merged, dropped, or moved across another.
#define ACCESSORS(bits, type)                                                                                \
    typedef type GUEST guest##bits __attribute__((aligned(1)));                                              \
    HOOK type load##bits(cpu *c, const op *o, uint64_t address)                                              \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        return *(volatile guest##bits *)(uint32_t)address;                                                   \
    }                                                                                                        \
    HOOK void store##bits(cpu *c, const op *o, uint64_t address, type value)                                 \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        *(volatile guest##bits *)(uint32_t)address = value;                                                  \
    }

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)
ACCESSORS(128, u64x2)
#define NUMBER_ACCESSORS(bits, type) ACCESSORS(f##bits, type)

// An instruction that uses one of these is left to the interpreter: a call that takes cpu marks it so.
void left_to_the_interpreter(cpu *c);

// Leaves the region for the instruction itself, which the interpreter then runs. Nothing has been done of it.
_Noreturn void interpret_instead(void);

HOOK void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store)
{
    (void)c, (void)o, (void)is_store;
    if (__builtin_expect((address & (size - 1)) != 0, 0))
        interpret_instead();
}

static uint64_t read_counter(cpu *c)
{
    left_to_the_interpreter(c);
    return 0;
}

static void invalidate_code(cpu *c, uint64_t address)
{
    (void)address;
    left_to_the_interpreter(c);
}

// Calls of them are rare, but whatever lives across one would have to be saved, vectors above all.
#define FP_CONVENTION __attribute__((preserve_all))

#include "core/isa/sem.h"

#define DEFINE_OP(name)                                                                                      \
    void op_##name(cpu *c, const op *o)                                                                      \
    {                                                                                                        \
        sem_##name(c, o);                                                                                    \
    }
#define DEFINE_JUMP(name) DEFINE_OP(name)
#define DEFINE_STOP(name)
#define DEFINE_CONDITION(name)                                                                               \
    bool op_##name(cpu *c, const op *o)                                                                      \
    {                                                                                                        \
        return sem_##name(c, o);                                                                             \
    }
#define DEFINE_INDIRECT(name)                                                                                \
    uint64_t op_##name(cpu *c, const op *o)                                                                  \
    {                                                                                                        \
        return sem_##name(c, o);                                                                             \
    }
#define INSN(name, kind, ...) DEFINE_##kind(name)
#include "core/isa/insns.def"
#undef INSN

// ---- the glue ----
// The registers that regions pass to each other in host registers; order and calling convention are known to
// llvm_var.c and llvm_leave.c as well.

struct passed {
    uint64_t budget, sp, x30, x0, x1, x19, x20, x21, x22, x29, pc;
};

#define REGION_CALL __attribute__((regcall))
typedef struct passed REGION_CALL region_function(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0,
                                                  uint64_t x1, uint64_t x19, uint64_t x20, uint64_t x21,
                                                  uint64_t x22, uint64_t x29);

extern cpu guest_cpu;
// The host's functions: they work on guest_cpu.
void host_call(void); // runs from guest_cpu.cold_pc until the return to x30
void host_step(void); // runs the one instruction at guest_cpu.cold_pc
void host_loop(void); // runs the plan of the loop at guest_cpu.cold_pc
void host_begin_check(void);
void host_end_check(void);

static inline void spill(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0, uint64_t x1, uint64_t x19,
                         uint64_t x20, uint64_t x21, uint64_t x22, uint64_t x29)
{
    cpu *c = &guest_cpu;
    c->budget = (int64_t)budget;
    c->x[REG_SP] = sp;
    c->x[30] = x30;
    c->x[0] = x0;
    c->x[1] = x1;
    c->x[19] = x19;
    c->x[20] = x20;
    c->x[21] = x21;
    c->x[22] = x22;
    c->x[29] = x29;
}

static inline struct passed fill(void)
{
    const cpu *c = &guest_cpu;
    return (struct passed){(uint64_t)c->budget,
                           c->x[REG_SP],
                           c->x[30],
                           c->x[0],
                           c->x[1],
                           c->x[19],
                           c->x[20],
                           c->x[21],
                           c->x[22],
                           c->x[29],
                           c->pc};
}

REGION_CALL struct passed cold_call(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0, uint64_t x1,
                                    uint64_t x19, uint64_t x20, uint64_t x21, uint64_t x22, uint64_t x29)
{
    spill(budget, sp, x30, x0, x1, x19, x20, x21, x22, x29);
    host_call();
    return fill();
}

REGION_CALL struct passed cold_step(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0, uint64_t x1,
                                    uint64_t x19, uint64_t x20, uint64_t x21, uint64_t x22, uint64_t x29)
{
    spill(budget, sp, x30, x0, x1, x19, x20, x21, x22, x29);
    host_step();
    return fill();
}

REGION_CALL struct passed cold_loop(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0, uint64_t x1,
                                    uint64_t x19, uint64_t x20, uint64_t x21, uint64_t x22, uint64_t x29)
{
    spill(budget, sp, x30, x0, x1, x19, x20, x21, x22, x29);
    host_loop();
    return fill();
}

REGION_CALL struct passed cold_begin_check(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0,
                                           uint64_t x1, uint64_t x19, uint64_t x20, uint64_t x21,
                                           uint64_t x22, uint64_t x29)
{
    spill(budget, sp, x30, x0, x1, x19, x20, x21, x22, x29);
    host_begin_check();
    return fill();
}

REGION_CALL struct passed cold_end_check(uint64_t budget, uint64_t sp, uint64_t x30, uint64_t x0, uint64_t x1,
                                         uint64_t x19, uint64_t x20, uint64_t x21, uint64_t x22, uint64_t x29)
{
    spill(budget, sp, x30, x0, x1, x19, x20, x21, x22, x29);
    host_end_check();
    return fill();
}

// Called by the host: runs the region on guest_cpu, which holds the whole state before and after.
void enter_region(region_function *region)
{
    const cpu *c = &guest_cpu;
    struct passed p = region((uint64_t)c->budget, c->x[REG_SP], c->x[30], c->x[0], c->x[1], c->x[19],
                             c->x[20], c->x[21], c->x[22], c->x[29]);
    spill(p.budget, p.sp, p.x30, p.x0, p.x1, p.x19, p.x20, p.x21, p.x22, p.x29);
    guest_cpu.pc = p.pc;
}
