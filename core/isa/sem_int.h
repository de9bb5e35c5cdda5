// SPDX-License-Identifier: MIT
// Integer data processing, branches and system instructions (Arm ARM C6.2). Part of sem.h.
#ifndef CORE_ISA_SEM_INT_H
#define CORE_ISA_SEM_INT_H

// ---- shared arithmetic ----

SEM uint64_t rotate_right64(uint64_t value, unsigned amount)
{
    return value >> (amount & 63) | value << (-amount & 63);
}

SEM uint32_t rotate_right32(uint32_t value, unsigned amount)
{
    return value >> (amount & 31) | value << (-amount & 31);
}

// ShiftReg: type 0 LSL, 1 LSR, 2 ASR, 3 ROR; amount is below the width.
SEM uint64_t shift64(uint64_t value, unsigned type, unsigned amount)
{
    switch (type) {
    case 0: return value << amount;
    case 1: return value >> amount;
    case 2: return (uint64_t)((int64_t)value >> amount);
    default: return rotate_right64(value, amount);
    }
}

SEM uint32_t shift32(uint32_t value, unsigned type, unsigned amount)
{
    switch (type) {
    case 0: return value << amount;
    case 1: return value >> amount;
    case 2: return (uint32_t)((int32_t)value >> amount);
    default: return rotate_right32(value, amount);
    }
}

// ExtendReg: option is the 3-bit field (UXTB UXTH UXTW UXTX SXTB SXTH SXTW SXTX).
SEM uint64_t extend(uint64_t value, unsigned option, unsigned shift)
{
    switch (option) {
    case 0: value = (uint8_t)value; break;
    case 1: value = (uint16_t)value; break;
    case 2: value = (uint32_t)value; break;
    case 4: value = (uint64_t)(int8_t)value; break;
    case 5: value = (uint64_t)(int16_t)value; break;
    case 6: value = (uint64_t)(int32_t)value; break;
    default: break;
    }
    return value << shift;
}

// AddWithCarry for the forms that take the carry in; the lazy flags cover the rest.
SEM uint64_t add_with_carry(cpu *c, uint64_t a, uint64_t b, bool carry, bool wide, bool set_flags)
{
    if (!wide) {
        a <<= 32;
        b = b << 32 | (carry ? 0xffffffffu : 0); // the low half carries into the high one
    }
    uint64_t partial, sum;
    bool carry1 = __builtin_add_overflow(a, b, &partial);
    bool carry2 = __builtin_add_overflow(partial, (uint64_t)carry, &sum);
    uint64_t result = wide ? sum : sum >> 32;
    if (set_flags) {
        bool overflow = ((a ^ sum) & (b ^ sum)) >> 63;
        set_flags_nzcv(c, (uint32_t)(sum >> 63) << 31 | (uint32_t)(result == 0) << 30 |
                              (uint32_t)(carry1 | carry2) << 29 | (uint32_t)overflow << 28);
    }
    return result;
}

// One line each, as the manual's tables are read:
// clang-format off
// ---- data processing, immediate ----

OP(adr) { X(d) = o->imm; }
OP(adrp) { X(d) = o->imm; }

OP(add_x_imm) { X(d) = X(n) + o->imm; }
OP(add_w_imm) { X(d) = (uint32_t)(W(n) + o->imm); }
OP(sub_x_imm) { X(d) = X(n) - o->imm; }
OP(sub_w_imm) { X(d) = (uint32_t)(W(n) - o->imm); }

#define FLAG_SETTING(name, width, reg, operand)                                                    \
    OP(adds_##name)                                                                                \
    {                                                                                              \
        uint##width##_t a = reg(n), b = (operand);                                                 \
        X(d) = (uint##width##_t)(a + b);                                                           \
        set_flags_add##width(c, a, b);                                                             \
    }                                                                                              \
    OP(subs_##name)                                                                                \
    {                                                                                              \
        uint##width##_t a = reg(n), b = (operand);                                                 \
        X(d) = (uint##width##_t)(a - b);                                                           \
        set_flags_sub##width(c, a, b);                                                             \
    }

FLAG_SETTING(x_imm, 64, X, o->imm)
FLAG_SETTING(w_imm, 32, W, (uint32_t)o->imm)
FLAG_SETTING(x, 64, X, X(m))
FLAG_SETTING(w, 32, W, W(m))
FLAG_SETTING(x_lsl, 64, X, X(m) << o->imm)
FLAG_SETTING(w_lsl, 32, W, W(m) << o->imm)
FLAG_SETTING(x_shift, 64, X, shift64(X(m), o->a, (unsigned)o->imm))
FLAG_SETTING(w_shift, 32, W, shift32(W(m), o->a, (unsigned)o->imm))
FLAG_SETTING(x_ext, 64, X, extend(X(m), o->a, (unsigned)o->imm))
FLAG_SETTING(w_ext, 32, W, (uint32_t)extend(X(m), o->a, (unsigned)o->imm))

OP(and_x_imm) { X(d) = X(n) & o->imm; }
OP(and_w_imm) { X(d) = W(n) & (uint32_t)o->imm; }
OP(orr_x_imm) { X(d) = X(n) | o->imm; }
OP(orr_w_imm) { X(d) = W(n) | (uint32_t)o->imm; }
OP(eor_x_imm) { X(d) = X(n) ^ o->imm; }
OP(eor_w_imm) { X(d) = W(n) ^ (uint32_t)o->imm; }

// ANDS and BICS: C and V are cleared, as those of the result plus zero are.
#define LOGICAL_FLAGS(name, width, expression)                                                     \
    OP(name)                                                                                       \
    {                                                                                              \
        uint##width##_t result = (expression);                                                     \
        X(d) = result;                                                                             \
        set_flags_add##width(c, result, 0);                                                        \
    }

LOGICAL_FLAGS(ands_x_imm, 64, X(n) & o->imm)
LOGICAL_FLAGS(ands_w_imm, 32, W(n) & (uint32_t)o->imm)

OP(movz_x) { X(d) = o->imm; }
OP(movz_w) { X(d) = o->imm; }
OP(movn_x) { X(d) = ~o->imm; }
OP(movn_w) { X(d) = (uint32_t)~o->imm; }
OP(movk_x) { X(d) = (X(d) & ~(0xffffull << o->a)) | o->imm; }
OP(movk_w) { X(d) = (W(d) & ~(0xffffu << o->a)) | (uint32_t)o->imm; }

// imm is the mask of the bits that come from the rotated source; see bitfield() in decode.c.
OP(ubfm_x) { X(d) = rotate_right64(X(n), o->a) & o->imm; }
OP(ubfm_w) { X(d) = rotate_right32(W(n), o->a) & (uint32_t)o->imm; }
OP(bfm_x) { X(d) = (X(d) & ~o->imm) | (rotate_right64(X(n), o->a) & o->imm); }
OP(bfm_w) { X(d) = (W(d) & ~(uint32_t)o->imm) | (rotate_right32(W(n), o->a) & (uint32_t)o->imm); }
OP(sbfm_x) { X(d) = (uint64_t)((int64_t)(X(n) << o->m) >> o->a); }
OP(sbfm_w) { X(d) = (uint32_t)((int32_t)(W(n) << o->m) >> o->a); }

OP(extr_x) { X(d) = o->a ? X(m) >> o->a | X(n) << (64 - o->a) : X(m); }
OP(extr_w) { X(d) = o->a ? W(m) >> o->a | W(n) << (32 - o->a) : W(m); }

// ---- branches ----

CONDITION(b_eq) { return condition_holds(c, 0); }
CONDITION(b_ne) { return condition_holds(c, 1); }
CONDITION(b_cs) { return condition_holds(c, 2); }
CONDITION(b_cc) { return condition_holds(c, 3); }
CONDITION(b_mi) { return condition_holds(c, 4); }
CONDITION(b_pl) { return condition_holds(c, 5); }
CONDITION(b_vs) { return condition_holds(c, 6); }
CONDITION(b_vc) { return condition_holds(c, 7); }
CONDITION(b_hi) { return condition_holds(c, 8); }
CONDITION(b_ls) { return condition_holds(c, 9); }
CONDITION(b_ge) { return condition_holds(c, 10); }
CONDITION(b_lt) { return condition_holds(c, 11); }
CONDITION(b_gt) { return condition_holds(c, 12); }
CONDITION(b_le) { return condition_holds(c, 13); }
OP(b_al) {}

CONDITION(cbz_x) { return X(d) == 0; }
CONDITION(cbz_w) { return W(d) == 0; }
CONDITION(cbnz_x) { return X(d) != 0; }
CONDITION(cbnz_w) { return W(d) != 0; }
CONDITION(tbz) { return !(X(d) >> o->a & 1); }
CONDITION(tbnz) { return X(d) >> o->a & 1; }

OP(b) {}
OP(bl) { c->x[REG_LR] = o->link; }
INDIRECT(br) { return X(n); }
INDIRECT(ret) { return X(n); }
INDIRECT(blr)
{
    uint64_t target = X(n);
    c->x[REG_LR] = o->imm;
    return target;
}

// ---- system ----

STOP(svc) { return STOP_SVC; }
STOP(brk) { return STOP_BRK; }
OP(hint) {}
OP(clrex) { c->exclusive_address = EXCLUSIVE_NONE; }
OP(dsb) { order_accesses(c, o); }
OP(dmb) { order_accesses(c, o); }
OP(isb) {}
OP(dc_cvac) {}
OP(dc_cvau) {}
OP(dc_civac) {}
OP(ic_ivau) { invalidate_code(c, X(d)); }

#define ZVA_BYTES 64 // DCZID_EL0.BS = 4: 2^4 words

// A fault tells of the address in the register (FAR_EL1), not of the block's.
OP(dc_zva)
{
    uint64_t block = X(d) & ~(uint64_t)(ZVA_BYTES - 1);
    store8(c, o, X(d), 0);
    for (unsigned i = 0; i < ZVA_BYTES; i += 16)
        store128(c, o, block + i, (u64x2){0, 0});
}

OP(mrs_nzcv) { X(d) = get_nzcv(c); }
OP(msr_nzcv) { set_flags_nzcv(c, W(d)); }
OP(mrs_fpcr) { X(d) = c->fpcr; }
OP(msr_fpcr)
{
    c->fpcr = W(d) & FPCR_MASK;
    update_fp_fast(c);
}
OP(mrs_fpsr) { X(d) = c->fpsr; }
OP(msr_fpsr)
{
    c->fpsr = W(d) & FPSR_MASK;
    update_fp_fast(c);
}
OP(mrs_tpidr_el0) { X(d) = c->tpidr; }
OP(msr_tpidr_el0) { c->tpidr = X(d); }
OP(mrs_tpidrro_el0) { X(d) = 0; }
// 64-byte cache lines; instruction caches have to be invalidated (DIC = IDC = 0).
OP(mrs_ctr_el0) { X(d) = 0x8444c004; }
OP(mrs_dczid_el0) { X(d) = 4; }
OP(mrs_cntfrq_el0) { X(d) = COUNTER_HZ; }
OP(mrs_cntvct_el0) { X(d) = read_counter(c); }
// An implementation for software use (implementer 0).
OP(mrs_midr_el1) { X(d) = 0x000f0510; }
OP(mrs_mpidr_el1) { X(d) = 0x80000000; }
OP(mrs_revidr_el1) { X(d) = 0; }

// The ID registers s3_0_c0_c<val>_<a>: they say what HWCAP says (exec.c), and Linux shows no more. What it
// hides reads as nothing, be that not 0.
OP(mrs_id)
{
    uint64_t value = 0;
    if (o->val == 4 && o->a == 0) // ID_AA64PFR0_EL1: EL0 and EL1 AArch64, FP and SIMD without FP16
        value = 0x11;
    else if (o->val == 5 && o->a == 0) // ID_AA64DFR0_EL1: the debug architecture of ARMv8
        value = 6;
    else if (o->val == 6 && o->a == 0) // ID_AA64ISAR0_EL1: LSE, CRC32, SHA2, SHA1, AES and PMULL
        value = 2ull << 20 | 1ull << 16 | 1ull << 12 | 1ull << 8 | 2ull << 4;
    else if (o->val == 7 && o->a == 0) // ID_AA64MMFR0_EL1: no size of pages
        value = 0xffull << 24;
    X(d) = value;
}

// ---- data processing, register ----

#define LOGICAL(name, operator)                                                                    \
    OP(name##_x) { X(d) = X(n) operator X(m); }                                                    \
    OP(name##_w) { X(d) = W(n) operator W(m); }                                                    \
    OP(name##_x_shift) { X(d) = X(n) operator shift64(X(m), o->a, (unsigned)o->imm); }             \
    OP(name##_w_shift) { X(d) = W(n) operator shift32(W(m), o->a, (unsigned)o->imm); }

LOGICAL(and, &)
LOGICAL(orr, |)
LOGICAL(eor, ^)
LOGICAL(bic, &~)
LOGICAL(orn, |~)
LOGICAL(eon, ^~)

LOGICAL_FLAGS(ands_x, 64, X(n) & X(m))
LOGICAL_FLAGS(ands_w, 32, W(n) & W(m))
LOGICAL_FLAGS(ands_x_shift, 64, X(n) & shift64(X(m), o->a, (unsigned)o->imm))
LOGICAL_FLAGS(ands_w_shift, 32, W(n) & shift32(W(m), o->a, (unsigned)o->imm))
LOGICAL_FLAGS(bics_x, 64, X(n) & ~X(m))
LOGICAL_FLAGS(bics_w, 32, W(n) & ~W(m))
LOGICAL_FLAGS(bics_x_shift, 64, X(n) & ~shift64(X(m), o->a, (unsigned)o->imm))
LOGICAL_FLAGS(bics_w_shift, 32, W(n) & ~shift32(W(m), o->a, (unsigned)o->imm))

#define ADDITIVE(name, operator)                                                                   \
    OP(name##_x) { X(d) = X(n) operator X(m); }                                                    \
    OP(name##_w) { X(d) = W(n) operator W(m); }                                                    \
    OP(name##_x_lsl) { X(d) = X(n) operator (X(m) << o->imm); }                                    \
    OP(name##_w_lsl) { X(d) = W(n) operator (W(m) << o->imm); }                                    \
    OP(name##_x_shift) { X(d) = X(n) operator shift64(X(m), o->a, (unsigned)o->imm); }             \
    OP(name##_w_shift) { X(d) = W(n) operator shift32(W(m), o->a, (unsigned)o->imm); }             \
    OP(name##_x_ext) { X(d) = X(n) operator extend(X(m), o->a, (unsigned)o->imm); }                \
    OP(name##_w_ext) { X(d) = (uint32_t)(X(n) operator extend(X(m), o->a, (unsigned)o->imm)); }

ADDITIVE(add, +)
ADDITIVE(sub, -)

OP(adc_x) { X(d) = add_with_carry(c, X(n), X(m), flag_c(c), true, false); }
OP(adc_w) { X(d) = add_with_carry(c, W(n), W(m), flag_c(c), false, false); }
OP(sbc_x) { X(d) = add_with_carry(c, X(n), ~X(m), flag_c(c), true, false); }
OP(sbc_w) { X(d) = add_with_carry(c, W(n), ~W(m), flag_c(c), false, false); }
OP(adcs_x) { X(d) = add_with_carry(c, X(n), X(m), flag_c(c), true, true); }
OP(adcs_w) { X(d) = add_with_carry(c, W(n), W(m), flag_c(c), false, true); }
OP(sbcs_x) { X(d) = add_with_carry(c, X(n), ~X(m), flag_c(c), true, true); }
OP(sbcs_w) { X(d) = add_with_carry(c, W(n), ~W(m), flag_c(c), false, true); }

// The condition is in a, the flags for when it fails in d.
#define CONDITIONAL_COMPARE(name, width, operation, reg, operand)                                  \
    OP(name)                                                                                       \
    {                                                                                              \
        if (condition_holds(c, o->a))                                                              \
            set_flags_##operation##width(c, reg(n), (operand));                                    \
        else                                                                                       \
            set_flags_nzcv(c, (uint32_t)o->d << 28);                                               \
    }

CONDITIONAL_COMPARE(ccmp_x, 64, sub, X, X(m))
CONDITIONAL_COMPARE(ccmp_w, 32, sub, W, W(m))
CONDITIONAL_COMPARE(ccmn_x, 64, add, X, X(m))
CONDITIONAL_COMPARE(ccmn_w, 32, add, W, W(m))
CONDITIONAL_COMPARE(ccmp_x_imm, 64, sub, X, o->imm)
CONDITIONAL_COMPARE(ccmp_w_imm, 32, sub, W, (uint32_t)o->imm)
CONDITIONAL_COMPARE(ccmn_x_imm, 64, add, X, o->imm)
CONDITIONAL_COMPARE(ccmn_w_imm, 32, add, W, (uint32_t)o->imm)

#define CONDITIONAL_SELECT(name, otherwise_x, otherwise_w)                                         \
    OP(name##_x)                                                                                   \
    {                                                                                              \
        uint64_t n = X(n), m = X(m);                                                               \
        X(d) = condition_holds(c, o->a) ? n : (otherwise_x);                                       \
    }                                                                                              \
    OP(name##_w)                                                                                   \
    {                                                                                              \
        uint32_t n = W(n), m = W(m);                                                               \
        X(d) = condition_holds(c, o->a) ? n : (otherwise_w);                                       \
    }

CONDITIONAL_SELECT(csel, m, m)
CONDITIONAL_SELECT(csinc, m + 1, m + 1)
CONDITIONAL_SELECT(csinv, ~m, ~m)
CONDITIONAL_SELECT(csneg, -m, -m)

OP(udiv_x) { X(d) = X(m) ? X(n) / X(m) : 0; }
OP(udiv_w) { X(d) = W(m) ? W(n) / W(m) : 0; }
// Division by -1 as a negation: the host traps on the one quotient that overflows.
OP(sdiv_x)
{
    int64_t n = (int64_t)X(n), m = (int64_t)X(m);
    X(d) = m == 0 ? 0 : m == -1 ? -(uint64_t)n : (uint64_t)(n / m);
}
OP(sdiv_w)
{
    int32_t n = (int32_t)W(n), m = (int32_t)W(m);
    X(d) = m == 0 ? 0 : m == -1 ? -(uint32_t)n : (uint32_t)(n / m);
}

OP(lslv_x) { X(d) = X(n) << (X(m) & 63); }
OP(lslv_w) { X(d) = W(n) << (W(m) & 31); }
OP(lsrv_x) { X(d) = X(n) >> (X(m) & 63); }
OP(lsrv_w) { X(d) = W(n) >> (W(m) & 31); }
OP(asrv_x) { X(d) = (uint64_t)((int64_t)X(n) >> (X(m) & 63)); }
OP(asrv_w) { X(d) = (uint32_t)((int32_t)W(n) >> (W(m) & 31)); }
OP(rorv_x) { X(d) = rotate_right64(X(n), (unsigned)X(m)); }
OP(rorv_w) { X(d) = rotate_right32(W(n), (unsigned)X(m)); }

SEM uint64_t reverse_bits(uint64_t value)
{
    value = (value >> 1 & 0x5555555555555555) | (value & 0x5555555555555555) << 1;
    value = (value >> 2 & 0x3333333333333333) | (value & 0x3333333333333333) << 2;
    value = (value >> 4 & 0x0f0f0f0f0f0f0f0f) | (value & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(value);
}

SEM uint64_t swap_bytes_of_halves(uint64_t value)
{
    return (value >> 8 & 0x00ff00ff00ff00ff) | (value & 0x00ff00ff00ff00ff) << 8;
}

OP(rbit_x) { X(d) = reverse_bits(X(n)); }
OP(rbit_w) { X(d) = reverse_bits(X(n)) >> 32; }
OP(rev16_x) { X(d) = swap_bytes_of_halves(X(n)); }
OP(rev16_w) { X(d) = swap_bytes_of_halves(W(n)); }
OP(rev_w) { X(d) = __builtin_bswap32(W(n)); }
OP(rev_x) { X(d) = __builtin_bswap64(X(n)); }
OP(rev32_x) { X(d) = rotate_right64(__builtin_bswap64(X(n)), 32); }
OP(clz_x) { X(d) = X(n) ? (unsigned)__builtin_clzll(X(n)) : 64; }
OP(clz_w) { X(d) = W(n) ? (unsigned)__builtin_clz(W(n)) : 32; }
OP(cls_x) { X(d) = (unsigned)__builtin_clrsbll((long long)X(n)); }
OP(cls_w) { X(d) = (unsigned)__builtin_clrsb((int)W(n)); }

OP(madd_x) { X(d) = X(a) + X(n) * X(m); }
OP(madd_w) { X(d) = W(a) + W(n) * W(m); }
OP(msub_x) { X(d) = X(a) - X(n) * X(m); }
OP(msub_w) { X(d) = W(a) - W(n) * W(m); }
OP(smaddl) { X(d) = X(a) + (uint64_t)((int64_t)(int32_t)W(n) * (int32_t)W(m)); }
OP(smsubl) { X(d) = X(a) - (uint64_t)((int64_t)(int32_t)W(n) * (int32_t)W(m)); }
OP(umaddl) { X(d) = X(a) + (uint64_t)W(n) * W(m); }
OP(umsubl) { X(d) = X(a) - (uint64_t)W(n) * W(m); }
OP(smulh) { X(d) = (uint64_t)((__int128)(int64_t)X(n) * (int64_t)X(m) >> 64); }
OP(umulh) { X(d) = (uint64_t)((unsigned __int128)X(n) * X(m) >> 64); }

// clang-format on
#endif
