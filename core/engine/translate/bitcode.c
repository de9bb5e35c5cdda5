// SPDX-License-Identifier: MIT
// What the translator's code is made of, as LLVM bitcode: an external function op_<name> for each
// instruction, which llvm_copy.c copies into regions, and the glue between regions and the host. Compiled by
// clang for x32, the 32-bit pointer model of x86-64, never linked into a program.
//
// x32 is what makes guest accesses safe for free: an address is computed in 32 bits (the address-size prefix
// cuts it off) and counts from gs, whose base is the guest's; whatever the guest forms, it stays within its
// 4 GiB. That it faults where those bits do not say all is is_wild's part.
// What is declared here is addressed directly, not through a global offset table.
#pragma GCC visibility push(hidden)

#include "core/isa/cpu.h"
#include "glue.h"

#define GUEST __attribute__((address_space(256))) // relative to gs
#define HOOK static inline __attribute__((always_inline, unused))

// Whether an access at address is beyond the guest's 4 GiB, the top byte aside; and what it then comes to.
// Where it is copied, llvm_copy.c tells.
bool is_wild(uint64_t address) __attribute__((const));
_Noreturn void raise_wild(uint64_t address, bool is_store);

// Volatile: no access may be merged, dropped, or moved across another.
#define ACCESSORS(bits, type)                                                                                \
    typedef type GUEST guest##bits __attribute__((aligned(1)));                                              \
    HOOK type load##bits(cpu *c, const op *o, uint64_t address)                                              \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        if (__builtin_expect(is_wild(address), 0))                                                           \
            raise_wild(address, false);                                                                      \
        return *(volatile guest##bits *)(uint32_t)address;                                                   \
    }                                                                                                        \
    HOOK void store##bits(cpu *c, const op *o, uint64_t address, type value)                                 \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        if (__builtin_expect(is_wild(address), 0))                                                           \
            raise_wild(address, true);                                                                       \
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

// Whether cpu.shares_memory is set now.
bool is_shared(void);

// What is aligned is atomic.
HOOK void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store)
{
    (void)c, (void)o, (void)is_store;
    if (__builtin_expect((address & (size - 1)) != 0 || is_shared(), 0))
        interpret_instead();
}

#define ORDER_ACCESSES
HOOK void order_accesses(cpu *c, const op *o)
{
    (void)c, (void)o;
    if (__builtin_expect(is_shared(), 0))
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

// ---- the glue (glue.h) ----

#define FIELD(name, index) uint64_t name;
#define PARAMETER(name, index) , uint64_t name
#define ARGUMENT(name, index) , name
#define TO_CPU(name, index) guest_cpu.x[index] = name;
#define FROM_CPU(name, index) .name = guest_cpu.x[index],
#define FROM_CPU_ARGUMENT(name, index) , guest_cpu.x[index]
#define FROM_PARAMETER(name, index) .name = name,
#define FROM_RESULT(name, index) , p.name

struct passed {
    uint64_t budget;
    GLUE_PASSED(FIELD)
    uint64_t pc;
};

#define REGION_CALL __attribute__((regcall))
typedef struct passed REGION_CALL region_function(uint64_t budget GLUE_PASSED(PARAMETER));

extern cpu guest_cpu;

static inline void spill(uint64_t budget GLUE_PASSED(PARAMETER))
{
    guest_cpu.budget = (int64_t)budget;
    GLUE_PASSED(TO_CPU)
}

#define DEFINE_WAY_BACK(name)                                                                                \
    void host_##name(void);                                                                                  \
    REGION_CALL struct passed cold_##name(uint64_t budget GLUE_PASSED(PARAMETER))                            \
    {                                                                                                        \
        spill(budget GLUE_PASSED(ARGUMENT));                                                                 \
        host_##name();                                                                                       \
        return (struct passed){.budget = (uint64_t)guest_cpu.budget,                                         \
                               GLUE_PASSED(FROM_CPU).pc = guest_cpu.pc};                                     \
    }
GLUE_WAYS_BACK(DEFINE_WAY_BACK)

// A region that asks for more budget goes on as if nothing had been: everything that it may use is saved, in
// the standard format of XSAVE (Intel SDM volume 1, 13.4) where there are registers that FXSAVE does not
// know: 2,688 bytes with AVX-512.
#ifdef __AVX__
#define SAVE                                                                                                 \
    "movl $0xe7, %%eax\n\t" /* x87, SSE, AVX, AVX-512 */                                                     \
    "xorl %%edx, %%edx\n\t"                                                                                  \
    "movq %%rdx, 512(%%rsp)\n\t" /* the header has to be 0 */                                                \
    "movq %%rdx, 520(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 528(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 536(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 544(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 552(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 560(%%rsp)\n\t"                                                                             \
    "movq %%rdx, 568(%%rsp)\n\t"                                                                             \
    "xsave64 (%%rsp)\n\t"
#define RESTORE                                                                                              \
    "movl $0xe7, %%eax\n\t"                                                                                  \
    "xorl %%edx, %%edx\n\t"                                                                                  \
    "xrstor64 (%%rsp)\n\t"
#else
#define SAVE "fxsave64 (%%rsp)\n\t"
#define RESTORE "fxrstor64 (%%rsp)\n\t"
#endif
void host_more(void);
__attribute__((naked)) void more_budget(void)
{
    __asm__("pushq %%rbp\n\t"
            "pushq %%rcx\n\tpushq %%rdx\n\tpushq %%rbx\n\tpushq %%rsi\n\tpushq %%rdi\n\t"
            "pushq %%r8\n\tpushq %%r9\n\tpushq %%r10\n\tpushq %%r11\n\t"
            "pushq %%r12\n\tpushq %%r13\n\tpushq %%r14\n\tpushq %%r15\n\t"
            "movq %%rsp, %%rbx\n\t"
            "subq $2688, %%rsp\n\t"
            "andq $-64, %%rsp\n\t"
            "movq %%rax, %0\n\t" SAVE "callq %P1\n\t" RESTORE "movq %0, %%rax\n\t"
            "movq %%rbx, %%rsp\n\t"
            "popq %%r15\n\tpopq %%r14\n\tpopq %%r13\n\tpopq %%r12\n\t"
            "popq %%r11\n\tpopq %%r10\n\tpopq %%r9\n\tpopq %%r8\n\t"
            "popq %%rdi\n\tpopq %%rsi\n\tpopq %%rbx\n\tpopq %%rdx\n\tpopq %%rcx\n\t"
            "popq %%rbp\n\t"
            "retq"
            :
            : "m"(guest_cpu.budget), "i"(host_more));
}

// The code for cold_pc, which an earlier run may have left: it is there from now on, or NULL.
uint64_t host_code(void);
static inline region_function *find(uint64_t budget GLUE_PASSED(PARAMETER))
{
    spill(budget GLUE_PASSED(ARGUMENT));
    return (region_function *)(uintptr_t)host_code();
}

REGION_CALL struct passed find_call(uint64_t budget GLUE_PASSED(PARAMETER))
{
    region_function *code = find(budget GLUE_PASSED(ARGUMENT));
    __attribute__((musttail)) return (code ? code : cold_call)(budget GLUE_PASSED(ARGUMENT));
}

// Without code the interpreter goes on, and all that wait for this to return leave, too: it may be in the
// midst of a function, as the cases of a switch are, so who it returns to is not known.
static REGION_CALL struct passed leave(uint64_t budget GLUE_PASSED(PARAMETER))
{
    return (struct passed){.budget = budget, GLUE_PASSED(FROM_PARAMETER).pc = guest_cpu.cold_pc};
}

REGION_CALL struct passed find_jump(uint64_t budget GLUE_PASSED(PARAMETER))
{
    region_function *code = find(budget GLUE_PASSED(ARGUMENT));
    __attribute__((musttail)) return (code ? code : leave)(budget GLUE_PASSED(ARGUMENT));
}

#define THUNK(name)                                                                                          \
    __attribute__((naked)) void thunk_##name(void)                                                           \
    {                                                                                                        \
        __asm__("movq %%r15, %0\n\tjmp %P1" : : "m"(guest_cpu.cold_pc), "i"(find_##name));                   \
    }
THUNK(call)
THUNK(jump)

// Called by the host: runs the region on guest_cpu, which holds the whole state before and after.
void enter_region(region_function *region)
{
    struct passed p = region((uint64_t)guest_cpu.budget GLUE_PASSED(FROM_CPU_ARGUMENT));
    spill(p.budget GLUE_PASSED(FROM_RESULT));
    guest_cpu.pc = p.pc;
}
