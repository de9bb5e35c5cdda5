// SPDX-License-Identifier: MIT
// effects: what insns.def says that each instruction reads and writes, against its meaning.
//
//   effects [SEED]
//
// Runs random words of every instruction on random states. Nothing else than what is declared to be written
// may change; the same on a state that differs in all that is not declared to be read has to come out the
// same. And whatever is declared has to make a difference at least once. Exit status 1 if an instruction does
// otherwise.
#include "random_instruction.h"

#include <inttypes.h>

#include "core/isa/cpu.h"

// ---- what an instruction meets: every address has a byte, that the seed decides ----

enum { STORES_MAX = 64 };

static struct outcome {
    cpu c;
    uint32_t reads, writes; // of MEMORY, ICACHE, CLOCK
    uint64_t returned; // by what branches
    unsigned stores;
    struct {
        uint64_t address, value;
        unsigned size;
    } store[STORES_MAX];
} now;

static uint64_t memory_seed; // 0: memory is all zero
static uint64_t clock_value;

static uint64_t loaded(uint64_t address, unsigned size)
{
    uint64_t value = 0;
    now.reads |= MEMORY;
    for (unsigned i = 0; i < size; i++) {
        uint64_t noise = ((address + i) ^ memory_seed) * 0x9e3779b97f4a7c15;
        value |= memory_seed ? ((noise ^ noise >> 32) * 0xbf58476d1ce4e5b9 >> 56) << i * 8 : 0;
    }
    return value;
}

static void stored(uint64_t address, unsigned size, uint64_t value)
{
    now.writes |= MEMORY;
    if (now.stores == STORES_MAX)
        abort();
    now.store[now.stores].address = address;
    now.store[now.stores].value = value;
    now.store[now.stores++].size = size;
}

#define ACCESSORS(bits, type)                                                                                \
    static inline type load##bits(cpu *c, const op *o, uint64_t address)                                     \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        return (type)loaded(address, bits / 8);                                                              \
    }                                                                                                        \
    static inline void store##bits(cpu *c, const op *o, uint64_t address, type value)                        \
    {                                                                                                        \
        (void)c, (void)o;                                                                                    \
        stored(address, bits / 8, value);                                                                    \
    }

ACCESSORS(8, uint8_t)
ACCESSORS(16, uint16_t)
ACCESSORS(32, uint32_t)
ACCESSORS(64, uint64_t)

static inline u64x2 load128(cpu *c, const op *o, uint64_t address)
{
    return (u64x2){load64(c, o, address), load64(c, o, address + 8)};
}

static inline void store128(cpu *c, const op *o, uint64_t address, u64x2 value)
{
    store64(c, o, address, value[0]);
    store64(c, o, address + 8, value[1]);
}

// Alignment is no matter here.
static inline void require_aligned(cpu *c, const op *o, uint64_t address, unsigned size, bool is_store)
{
    (void)c, (void)o, (void)address, (void)size, (void)is_store;
}

static uint64_t read_counter(cpu *c)
{
    (void)c;
    now.reads |= CLOCK;
    return clock_value;
}

static void invalidate_code(cpu *c, uint64_t address)
{
    (void)c;
    now.writes |= ICACHE;
    now.returned = address;
}

#include "core/isa/sem.h"

typedef void meaning(cpu *c, const op *o);

#define MEANING_OP(name) sem_##name(c, o)
#define MEANING_JUMP(name) sem_##name(c, o)
#define MEANING_CONDITION(name) now.returned = sem_##name(c, o)
#define MEANING_INDIRECT(name) now.returned = sem_##name(c, o)
#define MEANING_STOP(name) now.returned = sem_##name(c, o)
#define INSN(name, kind, ...)                                                                                \
    static void run_##name(cpu *c, const op *o)                                                              \
    {                                                                                                        \
        MEANING_##kind(name);                                                                                \
    }
#include "core/isa/insns.def"
#undef INSN

static meaning *const meanings[INSN_COUNT] = {
#define INSN(name, ...) [INSN_##name] = run_##name,
#include "core/isa/insns.def"
#undef INSN
};

// ---- states ----

enum { WORDS = 60, STATES = 12 }; // words an instruction, states a word

// Every state there is, one bit each.
static const uint32_t all_states[] = {Xd,   Xn,   Xm,    Xa,      Vd,      Vn,      Vm,   Va,
                                      Vd2,  Vd3,  Vd4,   Vn_list, Xd_pair, Xa_pair, LR,   NZCV,
                                      FPCR, FPSR, TPIDR, MONITOR, MEMORY,  ICACHE,  CLOCK};

// The most negative number of some size in every lane, which is what some saturate at.
static uint64_t random_extreme(void)
{
    static const uint64_t lanes[] = {0x8080808080808080, 0x8000800080008000, 0x8000000080000000, 1ull << 63};
    return lanes[random_below(sizeof lanes / sizeof lanes[0])];
}

static void randomize(cpu *c, uint32_t states, struct isa_registers registers)
{
    const uint64_t extreme = random_extreme();
    const bool extremes = one_in(4); // so that operands are equal now and then, too
    for (unsigned i = 0; i < 32; i++) {
        if (registers.x >> i & 1)
            c->x[i] = random_general();
        if (registers.v >> i & 1)
            random_vector((uint8_t *)&c->v[i]);
        if (registers.v >> i & extremes)
            c->v[i] = one_in(4) ? (u64x2){0, 0} : (u64x2){extreme, extreme};
    }
    if (states & NZCV)
        set_flags_nzcv(c, (uint32_t)random64());
    if (states & FPCR)
        c->fpcr = (uint32_t)random64() & (one_in(4) ? 0 : FPCR_MASK);
    if (states & FPSR)
        c->fpsr = one_in(3) ? FPSR_IXC : one_in(3) ? 0 : (uint32_t)random64() & FPSR_MASK;
    update_fp_fast(c);
    if (states & TPIDR)
        c->tpidr = random64();
    if (states & MONITOR) {
        c->exclusive_address = random64();
        c->exclusive_value[0] = random64();
        c->exclusive_value[1] = random64();
    }
    if (states & MEMORY)
        memory_seed = one_in(2) ? 0 : random64();
    if (states & CLOCK)
        clock_value = random64();
}

static void run(enum insn id, const op *o, const cpu *from, struct outcome *out)
{
    now = (struct outcome){.c = *from};
    meanings[id](&now.c, o);
    *out = now;
}

static bool same_vector(u64x2 a, u64x2 b)
{
    return a[0] == b[0] && a[1] == b[1];
}

// The states in which a and b differ, of those that are no registers.
static uint32_t difference(const cpu *a, const cpu *b, struct isa_registers *registers)
{
    *registers = (struct isa_registers){0, 0};
    for (unsigned i = 0; i < 32; i++) {
        registers->x |= (uint32_t)(a->x[i] != b->x[i]) << i;
        registers->v |= (uint32_t)!same_vector(a->v[i], b->v[i]) << i;
    }
    return (get_nzcv(a) != get_nzcv(b) ? NZCV : 0) | (a->fpcr != b->fpcr ? FPCR : 0) |
           (a->fpsr != b->fpsr ? FPSR : 0) | (a->tpidr != b->tpidr ? TPIDR : 0) |
           (a->exclusive_address != b->exclusive_address || a->exclusive_value[0] != b->exclusive_value[0]
                ? MONITOR
                : 0);
}

// Whether two runs did the same, as far as it is written: the registers and states given, memory, the branch.
static bool same_effect(const struct outcome *a, const struct outcome *b, uint32_t writes,
                        struct isa_registers written)
{
    struct isa_registers registers;
    uint32_t states = difference(&a->c, &b->c, &registers);
    // The monitor's value says nothing while it is open.
    if (a->c.exclusive_address == EXCLUSIVE_NONE && b->c.exclusive_address == EXCLUSIVE_NONE)
        states &= ~(uint32_t)MONITOR;
    bool same = !(states & writes) && !(registers.x & written.x) && !(registers.v & written.v) &&
                a->returned == b->returned && a->stores == b->stores;
    for (unsigned i = 0; same && i < a->stores; i++)
        same = a->store[i].address == b->store[i].address && a->store[i].value == b->store[i].value &&
               a->store[i].size == b->store[i].size;
    return same;
}

// ---- one instruction ----

static unsigned failures;

static void fail(enum insn id, const char *what, const op *o)
{
    if (o)
        printf("not ok effects: %s: %s (d %u n %u m %u a %u)\n", isa_texts[id].name, what, o->d, o->n, o->m,
               o->a);
    else
        printf("not ok effects: %s: %s\n", isa_texts[id].name, what);
    failures++;
}

// Has a store-exclusive and a compare-and-swap succeed now and then.
static void let_it_succeed(cpu *c, enum insn id, const op *o)
{
    if (!(isa_info[id].reads & MEMORY) || !(isa_info[id].writes & MEMORY) || one_in(2))
        return;
    memory_seed = 0;
    c->exclusive_address = c->x[o->n];
    c->exclusive_value[0] = c->exclusive_value[1] = 0;
    struct isa_registers compared = isa_registers(isa_info[id].reads & (Xa | Xa_pair), o);
    for (unsigned i = 0; i < 32; i++)
        if (compared.x >> i & 1)
            c->x[i] = 0;
}

// One word on one state; adds to *mattered what of the declared made a difference. False if it did wrong.
static bool check(enum insn id, const op *o, uint32_t *reads_mattered, uint32_t *writes_mattered)
{
    const uint32_t reads = isa_info[id].reads, writes = isa_info[id].writes;
    const struct isa_registers read = isa_registers(reads, o), written = isa_registers(writes, o);
    static cpu start, other;
    static struct outcome first, second;
    randomize(&start, ~0u, (struct isa_registers){~0u, ~0u});
    start.x[REG_ZERO] = 0;
    let_it_succeed(&start, id, o);
    run(id, o, &start, &first);

    struct isa_registers changed;
    uint32_t states = difference(&start, &first.c, &changed);
    if (states & ~writes || first.writes & ~writes || changed.x & ~written.x || changed.v & ~written.v ||
        first.c.x[REG_ZERO] != 0) {
        fail(id, "writes what is not declared", o);
        return false;
    }
    if (first.reads & ~reads) {
        fail(id, "reads memory or the clock", o);
        return false;
    }
    for (unsigned i = 0; i < sizeof all_states / sizeof all_states[0]; i++) {
        uint32_t state = all_states[i];
        struct isa_registers r = isa_registers(state, o);
        if (writes & state && (states & state || first.writes & state || changed.x & r.x || changed.v & r.v))
            *writes_mattered |= state;
    }

    other = start;
    randomize(&other, ~reads, (struct isa_registers){~read.x, ~read.v});
    run(id, o, &other, &second);
    if (!same_effect(&first, &second, writes, written)) {
        fail(id, "reads what is not declared", o);
        return false;
    }

    for (unsigned i = 0; i < sizeof all_states / sizeof all_states[0]; i++) {
        if (!(reads & all_states[i]) || *reads_mattered & all_states[i])
            continue;
        uint64_t seed = memory_seed, clock = clock_value;
        other = start;
        randomize(&other, all_states[i], isa_registers(all_states[i], o));
        run(id, o, &other, &second);
        if (!same_effect(&first, &second, writes, written))
            *reads_mattered |= all_states[i];
        memory_seed = seed;
        clock_value = clock;
    }
    return true;
}

// What no value makes a difference to: hints read an address of which nothing comes.
static bool is_hint(enum insn id)
{
    return strncmp(isa_texts[id].name, "prfm", 4) == 0 || strncmp(isa_texts[id].name, "dc_c", 4) == 0;
}

static void check_instruction(enum insn id)
{
    uint32_t reads = 0, writes = 0;
    for (unsigned w = 0; w < WORDS; w++) {
        struct instruction i;
        op o;
        do
            draw_word(&i, id);
        while (isa_decode(i.word, 0x10000, &o) != id);
        for (unsigned s = 0; s < STATES; s++)
            if (!check(id, &o, &reads, &writes))
                return;
    }
    if (reads != isa_info[id].reads && !is_hint(id)) {
        char what[64];
        snprintf(what, sizeof what, "is declared to read %#" PRIx32 ", but does not",
                 isa_info[id].reads & ~reads);
        fail(id, what, NULL);
    }
    if (writes != isa_info[id].writes) {
        char what[64];
        snprintf(what, sizeof what, "is declared to write %#" PRIx32 ", but does not",
                 isa_info[id].writes & ~writes);
        fail(id, what, NULL);
    }
}

int main(int argc, char **argv)
{
    random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    for (unsigned id = 1; id < INSN_COUNT; id++)
        check_instruction((enum insn)id);
    if (!failures)
        printf("ok effects: %u instructions read and write what insns.def says\n", INSN_COUNT - 1);
    return failures != 0;
}
