// SPDX-License-Identifier: MIT
// Loads and stores of general and of single SIMD&FP registers, exclusives, atomics (Arm ARM C6.2). Part of
// sem.h.
//
// That SP as a base is a multiple of 16, without which Linux has programs get SIGBUS (SCTLR_EL1.SA0), is not
// checked, as qemu-aarch64 does not: compilers keep it so, and each access to the stack would pay.
#ifndef CORE_ISA_SEM_MEM_H
#define CORE_ISA_SEM_MEM_H

// One line each:
// clang-format off
// ---- single registers ----

// How each kind of access moves its value; address is evaluated once.
#define TRANSFER_strb(address) store8(c, o, address, (uint8_t)X(d))
#define TRANSFER_strh(address) store16(c, o, address, (uint16_t)X(d))
#define TRANSFER_str_w(address) store32(c, o, address, W(d))
#define TRANSFER_str_x(address) store64(c, o, address, X(d))
#define TRANSFER_ldrb(address) X(d) = load8(c, o, address)
#define TRANSFER_ldrh(address) X(d) = load16(c, o, address)
#define TRANSFER_ldr_w(address) X(d) = load32(c, o, address)
#define TRANSFER_ldr_x(address) X(d) = load64(c, o, address)
#define TRANSFER_ldrsb_w(address) X(d) = (uint32_t)(int8_t)load8(c, o, address)
#define TRANSFER_ldrsb_x(address) X(d) = (uint64_t)(int8_t)load8(c, o, address)
#define TRANSFER_ldrsh_w(address) X(d) = (uint32_t)(int16_t)load16(c, o, address)
#define TRANSFER_ldrsh_x(address) X(d) = (uint64_t)(int16_t)load16(c, o, address)
#define TRANSFER_ldrsw(address) X(d) = (uint64_t)(int32_t)load32(c, o, address)
#define TRANSFER_str_b(address) store8(c, o, address, (uint8_t)V(d)[0])
#define TRANSFER_str_h(address) store16(c, o, address, (uint16_t)V(d)[0])
#define TRANSFER_str_s(address) storef32(c, o, address, ((f32x4)V(d))[0])
#define TRANSFER_str_d(address) storef64(c, o, address, ((f64x2)V(d))[0])
#define TRANSFER_str_q(address) store128(c, o, address, V(d))
#define TRANSFER_ldr_b(address) V(d) = (u64x2){load8(c, o, address), 0}
#define TRANSFER_ldr_h(address) V(d) = (u64x2){load16(c, o, address), 0}
#define TRANSFER_ldr_s(address) V(d) = (u64x2)(f32x4){loadf32(c, o, address), 0}
#define TRANSFER_ldr_d(address) V(d) = (u64x2)(f64x2){loadf64(c, o, address), 0}
#define TRANSFER_ldr_q(address) V(d) = load128(c, o, address)

// The forms of address. With writeback the transfer comes first, so that a fault leaves the base as it was; a base
// that is also transferred is CONSTRAINED UNPREDICTABLE: here it ends as the written-back address.
#define ADDRESS_FORMS(kind)                                                                        \
    OP(kind##_uimm) { TRANSFER_##kind(X(n) + o->imm); }                                                \
    OP(kind##_unscaled) { TRANSFER_##kind(X(n) + o->imm); }                                            \
    OP(kind##_post)                                                                                \
    {                                                                                              \
        uint64_t base = X(n);                                                                      \
        TRANSFER_##kind(base);                                                                         \
        X(n) = base + o->imm;                                                                      \
    }                                                                                              \
    OP(kind##_pre)                                                                                 \
    {                                                                                              \
        uint64_t address = X(n) + o->imm;                                                          \
        TRANSFER_##kind(address);                                                                      \
        X(n) = address;                                                                            \
    }                                                                                              \
    OP(kind##_reg) { TRANSFER_##kind(X(n) + (X(m) << o->imm)); }                                       \
    OP(kind##_uxtw) { TRANSFER_##kind(X(n) + ((uint64_t)W(m) << o->imm)); }                            \
    OP(kind##_sxtw) { TRANSFER_##kind(X(n) + ((uint64_t)(int32_t)W(m) << o->imm)); }

#define UNPRIVILEGED(kind)                                                                         \
    OP(kind##_unprivileged) { TRANSFER_##kind(X(n) + o->imm); }

#define LITERAL(kind)                                                                              \
    OP(kind##_lit) { TRANSFER_##kind(o->imm); }

ADDRESS_FORMS(strb)
ADDRESS_FORMS(ldrb)
ADDRESS_FORMS(ldrsb_x)
ADDRESS_FORMS(ldrsb_w)
ADDRESS_FORMS(strh)
ADDRESS_FORMS(ldrh)
ADDRESS_FORMS(ldrsh_x)
ADDRESS_FORMS(ldrsh_w)
ADDRESS_FORMS(str_w)
ADDRESS_FORMS(ldr_w)
ADDRESS_FORMS(ldrsw)
ADDRESS_FORMS(str_x)
ADDRESS_FORMS(ldr_x)
ADDRESS_FORMS(str_b)
ADDRESS_FORMS(ldr_b)
ADDRESS_FORMS(str_h)
ADDRESS_FORMS(ldr_h)
ADDRESS_FORMS(str_s)
ADDRESS_FORMS(ldr_s)
ADDRESS_FORMS(str_d)
ADDRESS_FORMS(ldr_d)
ADDRESS_FORMS(str_q)
ADDRESS_FORMS(ldr_q)

UNPRIVILEGED(strb)
UNPRIVILEGED(ldrb)
UNPRIVILEGED(ldrsb_x)
UNPRIVILEGED(ldrsb_w)
UNPRIVILEGED(strh)
UNPRIVILEGED(ldrh)
UNPRIVILEGED(ldrsh_x)
UNPRIVILEGED(ldrsh_w)
UNPRIVILEGED(str_w)
UNPRIVILEGED(ldr_w)
UNPRIVILEGED(ldrsw)
UNPRIVILEGED(str_x)
UNPRIVILEGED(ldr_x)

LITERAL(ldr_w)
LITERAL(ldr_x)
LITERAL(ldrsw)
LITERAL(ldr_s)
LITERAL(ldr_d)
LITERAL(ldr_q)

OP(prfm_uimm) {}
OP(prfm_unscaled) {}
OP(prfm_reg) {}
OP(prfm_lit) {}

// ---- pairs: both loads come before either register is written ----

// Two loads, also of what would fit into one: hosts wait until a store is in the cache before a load that is
// wider than it gets its bytes.

SEM void store_pair_w(cpu *c, const op *o, uint64_t address)
{
    store64(c, o, address, (uint64_t)W(m) << 32 | W(d));
}

SEM void store_pair_x(cpu *c, const op *o, uint64_t address)
{
    store64(c, o, address, X(d));
    store64(c, o, address + 8, X(m));
}

SEM void store_pair_s(cpu *c, const op *o, uint64_t address)
{
    store64(c, o, address, V(m)[0] << 32 | (uint32_t)V(d)[0]);
}

SEM void store_pair_d(cpu *c, const op *o, uint64_t address)
{
    storef64(c, o, address, ((f64x2)V(d))[0]);
    storef64(c, o, address + 8, ((f64x2)V(m))[0]);
}

SEM void store_pair_q(cpu *c, const op *o, uint64_t address)
{
    store128(c, o, address, V(d));
    store128(c, o, address + 16, V(m));
}

SEM void load_pair_w(cpu *c, const op *o, uint64_t address)
{
    uint32_t first = load32(c, o, address), second = load32(c, o, address + 4);
    X(d) = first;
    X(m) = second;
}

SEM void load_pair_sw(cpu *c, const op *o, uint64_t address)
{
    uint32_t first = load32(c, o, address), second = load32(c, o, address + 4);
    X(d) = (uint64_t)(int32_t)first;
    X(m) = (uint64_t)(int32_t)second;
}

SEM void load_pair_x(cpu *c, const op *o, uint64_t address)
{
    uint64_t first = load64(c, o, address), second = load64(c, o, address + 8);
    X(d) = first;
    X(m) = second;
}

SEM void load_pair_s(cpu *c, const op *o, uint64_t address)
{
    uint32_t first = load32(c, o, address), second = load32(c, o, address + 4);
    V(d) = (u64x2){first, 0};
    V(m) = (u64x2){second, 0};
}

SEM void load_pair_d(cpu *c, const op *o, uint64_t address)
{
    double first = loadf64(c, o, address), second = loadf64(c, o, address + 8);
    V(d) = (u64x2)(f64x2){first, 0};
    V(m) = (u64x2)(f64x2){second, 0};
}

SEM void load_pair_q(cpu *c, const op *o, uint64_t address)
{
    u64x2 first = load128(c, o, address), second = load128(c, o, address + 16);
    V(d) = first;
    V(m) = second;
}

#define PAIR_FORMS(name, transfer)                                                                 \
    OP(name##_offset) { transfer(c, o, X(n) + o->imm); }                                           \
    OP(name##_nontemporal) { transfer(c, o, X(n) + o->imm); }                                      \
    OP(name##_post)                                                                                \
    {                                                                                              \
        uint64_t base = X(n);                                                                      \
        transfer(c, o, base);                                                                      \
        X(n) = base + o->imm;                                                                      \
    }                                                                                              \
    OP(name##_pre)                                                                                 \
    {                                                                                              \
        uint64_t address = X(n) + o->imm;                                                          \
        transfer(c, o, address);                                                                   \
        X(n) = address;                                                                            \
    }

PAIR_FORMS(stp_w, store_pair_w)
PAIR_FORMS(ldp_w, load_pair_w)
PAIR_FORMS(ldpsw, load_pair_sw)
PAIR_FORMS(stp_x, store_pair_x)
PAIR_FORMS(ldp_x, load_pair_x)
PAIR_FORMS(stp_s, store_pair_s)
PAIR_FORMS(ldp_s, load_pair_s)
PAIR_FORMS(stp_d, store_pair_d)
PAIR_FORMS(ldp_d, load_pair_d)
PAIR_FORMS(stp_q, store_pair_q)
PAIR_FORMS(ldp_q, load_pair_q)

// ---- exclusive and ordered ----
// A store-exclusive succeeds if the monitor holds its address and memory still holds what was loaded, which is
// all that another agent's write could change (B2.9.5 leaves further failures to the implementation). Pairs of
// 64-bit registers are not one piece for other processes: not every host can.

#define ORDERED_FORMS(suffix, bits, bytes)                                                         \
    OP(ldar##suffix)                                                                               \
    {                                                                                              \
        require_aligned(c, o, X(n), bytes, false);                                                 \
        X(d) = load##bits(c, o, X(n));                                                             \
    }                                                                                              \
    OP(stlr##suffix)                                                                               \
    {                                                                                              \
        require_aligned(c, o, X(n), bytes, true);                                                  \
        store_last##bits(c, o, X(n), (uint##bits##_t)X(d));                                        \
    }                                                                                              \
    OP(ldxr##suffix)                                                                               \
    {                                                                                              \
        uint64_t address = X(n);                                                                   \
        require_aligned(c, o, address, bytes, false);                                              \
        uint64_t value = load##bits(c, o, address);                                                \
        c->exclusive_address = address;                                                            \
        c->exclusive_value[0] = value;                                                             \
        X(d) = value;                                                                              \
    }                                                                                              \
    OP(ldaxr##suffix) { sem_ldxr##suffix(c, o); }                                                  \
    OP(stxr##suffix)                                                                               \
    {                                                                                              \
        uint64_t address = X(n);                                                                   \
        require_aligned(c, o, address, bytes, true);                                               \
        bool failed = true;                                                                        \
        if (c->exclusive_address == address && load##bits(c, o, address) == c->exclusive_value[0]) \
            failed = !replace##bits(c, o, address, (uint##bits##_t)c->exclusive_value[0],          \
                                    (uint##bits##_t)X(d));                                         \
        c->exclusive_address = EXCLUSIVE_NONE;                                                     \
        X(a) = failed;                                                                             \
    }                                                                                              \
    OP(stlxr##suffix) { sem_stxr##suffix(c, o); }

ORDERED_FORMS(b, 8, 1)
ORDERED_FORMS(h, 16, 2)
ORDERED_FORMS(_w, 32, 4)
ORDERED_FORMS(_x, 64, 8)

// A pair of registers as the two words of the monitor's value: 32-bit pairs are loaded and stored as 64 bits.
OP(ldxp_w)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 8, false);
    uint64_t both = load64(c, o, address);
    c->exclusive_address = address;
    c->exclusive_value[0] = both;
    X(d) = (uint32_t)both;
    X(m) = both >> 32;
}

OP(ldxp_x)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 16, false);
    u64x2 both = load128(c, o, address);
    c->exclusive_address = address;
    c->exclusive_value[0] = both[0];
    c->exclusive_value[1] = both[1];
    X(d) = both[0];
    X(m) = both[1];
}

OP(stxp_w)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 8, true);
    bool failed = true;
    if (c->exclusive_address == address && load64(c, o, address) == c->exclusive_value[0])
        failed = !replace64(c, o, address, c->exclusive_value[0], X(m) << 32 | W(d));
    c->exclusive_address = EXCLUSIVE_NONE;
    X(a) = failed;
}

OP(stxp_x)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 16, true);
    bool failed = true;
    if (c->exclusive_address == address) {
        u64x2 now = load128(c, o, address);
        if (now[0] == c->exclusive_value[0] && now[1] == c->exclusive_value[1]) {
            store128(c, o, address, (u64x2){X(d), X(m)});
            failed = false;
        }
    }
    c->exclusive_address = EXCLUSIVE_NONE;
    X(a) = failed;
}

OP(ldaxp_w) { sem_ldxp_w(c, o); }
OP(ldaxp_x) { sem_ldxp_x(c, o); }
OP(stlxp_w) { sem_stxp_w(c, o); }
OP(stlxp_x) { sem_stxp_x(c, o); }

// ---- atomics (FEAT_LSE) ----

// Rs (in a) is both compared and written: as XZR it reads as zero.
#define ATOMIC_FORMS(suffix, bits, bytes)                                                          \
    OP(cas##suffix)                                                                                \
    {                                                                                              \
        uint64_t address = X(n);                                                                   \
        require_aligned(c, o, address, bytes, true);                                               \
        uint##bits##_t expected = o->a == REG_SINK ? 0 : (uint##bits##_t)X(a);                     \
        uint##bits##_t old;                                                                        \
        do                                                                                         \
            old = load##bits(c, o, address);                                                       \
        while (!replace##bits(c, o, address, old, old == expected ? (uint##bits##_t)X(d) : old));  \
        X(a) = old;                                                                                \
    }                                                                                              \
    ATOMIC(swp, suffix, bits, bytes, value)                                                        \
    ATOMIC(ldadd, suffix, bits, bytes, old + value)                                                \
    ATOMIC(ldclr, suffix, bits, bytes, old & ~value)                                               \
    ATOMIC(ldeor, suffix, bits, bytes, old ^ value)                                                \
    ATOMIC(ldset, suffix, bits, bytes, old | value)                                                \
    ATOMIC(ldsmax, suffix, bits, bytes, (int##bits##_t)old > (int##bits##_t)value ? old : value)   \
    ATOMIC(ldsmin, suffix, bits, bytes, (int##bits##_t)old < (int##bits##_t)value ? old : value)   \
    ATOMIC(ldumax, suffix, bits, bytes, old > value ? old : value)                                 \
    ATOMIC(ldumin, suffix, bits, bytes, old < value ? old : value)

#define ATOMIC(name, suffix, bits, bytes, result)                                                  \
    OP(name##suffix)                                                                               \
    {                                                                                              \
        uint64_t address = X(n);                                                                   \
        require_aligned(c, o, address, bytes, true);                                               \
        uint##bits##_t value = (uint##bits##_t)X(m);                                               \
        uint##bits##_t old;                                                                        \
        do                                                                                         \
            old = load##bits(c, o, address);                                                       \
        while (!replace##bits(c, o, address, old, (uint##bits##_t)(result)));                      \
        X(d) = old;                                                                                \
    }

ATOMIC_FORMS(b, 8, 1)
ATOMIC_FORMS(h, 16, 2)
ATOMIC_FORMS(_w, 32, 4)
ATOMIC_FORMS(_x, 64, 8)

// CASP: register pairs, numbered by their even half's number / 2. The pair of X30 has XZR for its other half.
SEM uint64_t pair_register(const cpu *c, unsigned number)
{
    return number == 31 ? 0 : c->x[number];
}

SEM unsigned pair_destination(unsigned number)
{
    return number == 31 ? REG_SINK : number;
}

OP(casp_w)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 8, true);
    unsigned s = o->a * 2u, t = o->d * 2u;
    uint64_t expected = pair_register(c, s + 1) << 32 | (uint32_t)c->x[s];
    uint64_t desired = pair_register(c, t + 1) << 32 | (uint32_t)c->x[t];
    uint64_t old;
    do
        old = load64(c, o, address);
    while (!replace64(c, o, address, old, old == expected ? desired : old));
    c->x[s] = (uint32_t)old;
    c->x[pair_destination(s + 1)] = old >> 32;
}

OP(casp_x)
{
    uint64_t address = X(n);
    require_aligned(c, o, address, 16, true);
    unsigned s = o->a * 2u, t = o->d * 2u;
    u64x2 old = load128(c, o, address);
    bool equal = old[0] == c->x[s] && old[1] == pair_register(c, s + 1);
    u64x2 desired = {c->x[t], pair_register(c, t + 1)};
    store128(c, o, address, equal ? desired : old);
    c->x[s] = old[0];
    c->x[pair_destination(s + 1)] = old[1];
}

// clang-format on
#endif
