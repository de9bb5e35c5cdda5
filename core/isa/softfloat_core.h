// SPDX-License-Identifier: MIT
// Binary floating point of ARMv8.0-A in integer arithmetic: the reference that every fast path is measured
// by.
//
// Each core function follows the pseudocode function of the Arm manual (shared/functions/float) that its
// comment names: NaN selection, default NaN, rounding, flushing, tininess before rounding and exceptions.
// They are pure: the control register goes in by value and the raised FPSR bits come out, so that a caller
// may keep the CPU state in host registers. They are not inlined, as a hundred instructions share them.
// Formats are chosen by width (16, 32, 64); bits above the format are zero, going in and coming out. Trapped
// exceptions, which are optional, are not implemented: their enable bits in FPCR read as zero.
#ifndef CORE_ISA_SOFTFLOAT_CORE_H
#define CORE_ISA_SOFTFLOAT_CORE_H

#include "cpu.h"

// A translator may give them a calling convention that costs their callers no registers.
#ifndef FP_CONVENTION
#define FP_CONVENTION
#endif
// What is copied as machine code calls them elsewhere.
#ifndef FP_LINKAGE
#define FP_LINKAGE static
#endif
#define FP_CORE FP_LINKAGE __attribute__((noinline, const, unused)) FP_CONVENTION
#define FP_PART static inline __attribute__((always_inline, unused))

typedef unsigned __int128 fp_u128;

// The first four are FPCR.RMode.
enum fp_rounding { FP_TIEEVEN, FP_POSINF, FP_NEGINF, FP_TOZERO, FP_TIEAWAY, FP_ODD };

enum fp_order { FP_LESS, FP_EQUAL, FP_GREATER, FP_UNORDERED };

struct fp_result {
    uint64_t bits;
    uint32_t flags; // FPSR bits raised
};

enum fp_type { FP_TYPE_ZERO, FP_TYPE_FINITE, FP_TYPE_INFINITY, FP_TYPE_QNAN, FP_TYPE_SNAN };

// An operand taken apart. FINITE: magnitude sig * 2^(exp - 63), bit 63 of sig set.
struct fp_value {
    uint64_t sig;
    int32_t exp;
    uint8_t type; // enum fp_type
    bool sign;
};

// ---- formats ----

FP_PART unsigned fp_fraction_bits(unsigned width)
{
    return width == 64 ? 52 : width == 32 ? 23 : 10;
}

// All ones in the exponent field, as a number: 2047, 255, 31.
FP_PART uint32_t fp_exponent_max(unsigned width)
{
    return (1u << (width - 1 - fp_fraction_bits(width))) - 1;
}

FP_PART int32_t fp_bias(unsigned width)
{
    return (int32_t)(fp_exponent_max(width) >> 1);
}

FP_PART uint64_t fp_sign_bit(unsigned width, bool sign)
{
    return (uint64_t)sign << (width - 1);
}

FP_PART uint64_t fp_infinity(unsigned width, bool sign)
{
    return fp_sign_bit(width, sign) | (uint64_t)fp_exponent_max(width) << fp_fraction_bits(width);
}

FP_PART uint64_t fp_max_normal(unsigned width, bool sign)
{
    return fp_infinity(width, sign) - 1;
}

FP_PART uint64_t fp_quiet_bit(unsigned width)
{
    return 1ull << (fp_fraction_bits(width) - 1);
}

FP_PART uint64_t fp_default_nan(unsigned width)
{
    return fp_infinity(width, false) | fp_quiet_bit(width);
}

// The number with leading bit 2^exp, for exponents of normal numbers.
FP_PART uint64_t fp_power_of_2(unsigned width, bool sign, int32_t exp)
{
    return fp_sign_bit(width, sign) | (uint64_t)(uint32_t)(exp + fp_bias(width)) << fp_fraction_bits(width);
}

FP_PART bool fp_is_nan(const struct fp_value *v)
{
    return v->type >= FP_TYPE_QNAN;
}

// ---- unpacking and rounding ----

// FPUnpack, and FPUnpackCV for width 16 (FZ does not concern it). Raises IDC in *flags.
FP_PART struct fp_value fp_unpack(uint32_t fpcr, unsigned width, uint64_t bits, uint32_t *flags)
{
    unsigned fraction_bits = fp_fraction_bits(width);
    uint32_t exponent_max = fp_exponent_max(width);
    uint64_t fraction = bits & ((1ull << fraction_bits) - 1);
    uint32_t exponent = (uint32_t)(bits >> fraction_bits) & exponent_max;
    struct fp_value v = {0, 0, FP_TYPE_ZERO, bits >> (width - 1) & 1};
    if (exponent == exponent_max && !(width == 16 && (fpcr & FPCR_AHP))) {
        v.type = fraction == 0                    ? FP_TYPE_INFINITY
                 : fraction & fp_quiet_bit(width) ? FP_TYPE_QNAN
                                                  : FP_TYPE_SNAN;
    } else if (exponent != 0) {
        v.type = FP_TYPE_FINITE;
        v.sig = (1ull << fraction_bits | fraction) << (63 - fraction_bits);
        v.exp = (int32_t)exponent - fp_bias(width);
    } else if (fraction != 0) {
        if (width != 16 && (fpcr & FPCR_FZ)) {
            *flags |= FPSR_IDC;
        } else {
            unsigned shift = (unsigned)__builtin_clzll(fraction);
            v.type = FP_TYPE_FINITE;
            v.sig = fraction << shift;
            v.exp = 64 - fp_bias(width) - (int32_t)(fraction_bits + shift);
        }
    }
    return v;
}

FP_PART enum fp_rounding fp_fpcr_rounding(uint32_t fpcr)
{
    return (enum fp_rounding)(fpcr >> FPCR_RMODE_SHIFT & 3);
}

// Whether the magnitude goes up to the next integer. fraction: the part below it, as a multiple of 2^-64,
// where any 1 below half of its weight may stand for all that is lost.
FP_PART bool fp_rounds_up(enum fp_rounding rounding, bool sign, bool odd, uint64_t fraction)
{
    const uint64_t half = 1ull << 63;
    switch (rounding) {
    case FP_TIEEVEN: return fraction > half || (fraction == half && odd);
    case FP_TIEAWAY: return fraction >= half;
    case FP_POSINF: return fraction != 0 && !sign;
    case FP_NEGINF: return fraction != 0 && sign;
    default: return false;
    }
}

// Shifts right; what falls out is remembered as a 1 in the last place.
FP_PART fp_u128 fp_shift_right_jam(fp_u128 x, unsigned n)
{
    if (n == 0)
        return x;
    if (n >= 128)
        return x != 0;
    return x >> n | (x << (128 - n) != 0);
}

FP_PART bool fp_overflows_to_infinity(enum fp_rounding rounding, bool sign)
{
    return rounding == FP_TIEEVEN || rounding == FP_TIEAWAY || (rounding == FP_POSINF && !sign) ||
           (rounding == FP_NEGINF && sign);
}

// FPRoundBase, of sig * 2^(exp - 63) with bit 63 of sig set and bit 0 sticky. flags: raised so far.
FP_PART struct fp_result fp_round(uint32_t fpcr, unsigned width, enum fp_rounding rounding, bool sign,
                                  int32_t exp, uint64_t sig, uint32_t flags)
{
    unsigned fraction_bits = fp_fraction_bits(width);
    int32_t biased = exp + fp_bias(width);
    if (biased <= 0) {
        if (width != 16 && (fpcr & FPCR_FZ))
            return (struct fp_result){fp_sign_bit(width, sign), flags | FPSR_UFC};
        sig = (uint64_t)fp_shift_right_jam(sig, (unsigned)(1 - biased));
        biased = 0;
    }
    uint64_t fraction = sig << (1 + fraction_bits); // below the last place
    uint64_t mantissa = sig >> (63 - fraction_bits);
    if (biased == 0 && fraction != 0)
        flags |= FPSR_UFC;
    mantissa += fp_rounds_up(rounding, sign, mantissa & 1, fraction);
    if (rounding == FP_ODD && fraction != 0)
        mantissa |= 1;
    // The leading 1 of a normal mantissa adds itself to the exponent field, as does a carry out of rounding.
    uint64_t bits = ((uint64_t)(uint32_t)(biased > 0 ? biased - 1 : 0) << fraction_bits) + mantissa;
    if (width == 16 && (fpcr & FPCR_AHP)) {
        if (bits >> 15 != 0)
            return (struct fp_result){fp_sign_bit(16, sign) | 0x7fff, flags | FPSR_IOC};
    } else if (bits >> fraction_bits >= fp_exponent_max(width)) {
        bits =
            fp_overflows_to_infinity(rounding, sign) ? fp_infinity(width, sign) : fp_max_normal(width, sign);
        return (struct fp_result){bits, flags | FPSR_OFC | FPSR_IXC};
    }
    return (struct fp_result){bits | fp_sign_bit(width, sign), fraction != 0 ? flags | FPSR_IXC : flags};
}

// ---- NaNs ----

// FPProcessNaN, of the operand with these bits.
FP_PART struct fp_result fp_process_nan(uint32_t fpcr, unsigned width, uint64_t bits, uint32_t flags)
{
    if (!(bits & fp_quiet_bit(width)))
        flags |= FPSR_IOC;
    return (struct fp_result){fpcr & FPCR_DN ? fp_default_nan(width) : bits | fp_quiet_bit(width), flags};
}

// FPProcessNaNs: one of x and y is a NaN; the first signaling one, else the first quiet one, is the result.
FP_PART struct fp_result fp_process_nans(uint32_t fpcr, unsigned width, const struct fp_value *x,
                                         const struct fp_value *y, uint64_t a, uint64_t b, uint32_t flags)
{
    bool second = x->type != FP_TYPE_SNAN && (y->type == FP_TYPE_SNAN || x->type != FP_TYPE_QNAN);
    return fp_process_nan(fpcr, width, second ? b : a, flags);
}

FP_PART struct fp_result fp_invalid(unsigned width, uint32_t flags)
{
    return (struct fp_result){fp_default_nan(width), flags | FPSR_IOC};
}

// ---- sums and products ----

// x * 2^(xexp - 127) plus the same of y, with signs, rounded once. Bit 127 of x and y is set; the lowest 16
// bits are clear, so that aligning by one or two places (after which many leading bits may cancel) loses
// nothing.
FP_PART struct fp_result fp_round_sum(uint32_t fpcr, unsigned width, bool xsign, int32_t xexp, fp_u128 x,
                                      bool ysign, int32_t yexp, fp_u128 y, uint32_t flags)
{
    enum fp_rounding rounding = fp_fpcr_rounding(fpcr);
    bool x_larger = xexp > yexp || (xexp == yexp && x >= y);
    bool sign = x_larger ? xsign : ysign;
    int32_t exp = (x_larger ? xexp : yexp) + 1;
    fp_u128 large = (x_larger ? x : y) >> 1;
    fp_u128 small =
        fp_shift_right_jam(x_larger ? y : x, (unsigned)(x_larger ? xexp - yexp : yexp - xexp) + 1);
    fp_u128 sum = xsign == ysign ? large + small : large - small;
    if (sum == 0)
        return (struct fp_result){fp_sign_bit(width, rounding == FP_NEGINF), flags};
    uint64_t high = (uint64_t)(sum >> 64);
    unsigned shift = high ? (unsigned)__builtin_clzll(high) : 64 + (unsigned)__builtin_clzll((uint64_t)sum);
    sum <<= shift;
    uint64_t sig = (uint64_t)(sum >> 64) | ((uint64_t)sum != 0);
    return fp_round(fpcr, width, rounding, sign, exp - (int32_t)shift, sig, flags);
}

// The exact product: bit 127 set, of weight 2^*exp.
FP_PART fp_u128 fp_exact_product(const struct fp_value *x, const struct fp_value *y, int32_t *exp)
{
    fp_u128 product = (fp_u128)x->sig * y->sig;
    *exp = x->exp + y->exp + 1;
    if (!(product >> 127)) {
        product <<= 1;
        --*exp;
    }
    return product;
}

// FPAdd; FPSub if subtract, which does not negate a NaN.
FP_CORE struct fp_result fp_add(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b, bool subtract)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    if (fp_is_nan(&x) || fp_is_nan(&y))
        return fp_process_nans(fpcr, width, &x, &y, a, b, flags);
    y.sign ^= subtract;
    if (x.type == FP_TYPE_INFINITY && y.type == FP_TYPE_INFINITY && x.sign != y.sign)
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_INFINITY || y.type == FP_TYPE_INFINITY)
        return (struct fp_result){fp_infinity(width, x.type == FP_TYPE_INFINITY ? x.sign : y.sign), flags};
    if (x.type == FP_TYPE_ZERO && y.type == FP_TYPE_ZERO) {
        bool sign = x.sign == y.sign ? x.sign : fp_fpcr_rounding(fpcr) == FP_NEGINF;
        return (struct fp_result){fp_sign_bit(width, sign), flags};
    }
    if (x.type == FP_TYPE_ZERO || y.type == FP_TYPE_ZERO) {
        struct fp_value v = x.type == FP_TYPE_ZERO ? y : x;
        return fp_round(fpcr, width, fp_fpcr_rounding(fpcr), v.sign, v.exp, v.sig, flags);
    }
    return fp_round_sum(fpcr, width, x.sign, x.exp, (fp_u128)x.sig << 64, y.sign, y.exp, (fp_u128)y.sig << 64,
                        flags);
}

// FPMul; FPMulX if extended: infinity times zero is 2.
FP_CORE struct fp_result fp_mul(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b, bool extended)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    if (fp_is_nan(&x) || fp_is_nan(&y))
        return fp_process_nans(fpcr, width, &x, &y, a, b, flags);
    bool sign = x.sign != y.sign;
    bool infinite = x.type == FP_TYPE_INFINITY || y.type == FP_TYPE_INFINITY;
    bool zero = x.type == FP_TYPE_ZERO || y.type == FP_TYPE_ZERO;
    if (infinite && zero && extended)
        return (struct fp_result){fp_power_of_2(width, sign, 1), flags};
    if (infinite && zero)
        return fp_invalid(width, flags);
    if (infinite)
        return (struct fp_result){fp_infinity(width, sign), flags};
    if (zero)
        return (struct fp_result){fp_sign_bit(width, sign), flags};
    int32_t exp;
    fp_u128 product = fp_exact_product(&x, &y, &exp);
    uint64_t sig = (uint64_t)(product >> 64) | ((uint64_t)product != 0);
    return fp_round(fpcr, width, fp_fpcr_rounding(fpcr), sign, exp, sig, flags);
}

// x + y * z rounded once, the result scaled by 2^scale; none of them infinite or a NaN.
FP_PART struct fp_result fp_fused(uint32_t fpcr, unsigned width, struct fp_value x, struct fp_value y,
                                  struct fp_value z, int32_t scale, uint32_t flags)
{
    bool sign = y.sign != z.sign;
    bool zero = y.type == FP_TYPE_ZERO || z.type == FP_TYPE_ZERO;
    enum fp_rounding rounding = fp_fpcr_rounding(fpcr);
    if (x.type == FP_TYPE_ZERO && zero) {
        bool zero_sign = x.sign == sign ? sign : rounding == FP_NEGINF;
        return (struct fp_result){fp_sign_bit(width, zero_sign), flags};
    }
    if (zero)
        return fp_round(fpcr, width, rounding, x.sign, x.exp + scale, x.sig, flags);
    int32_t exp;
    fp_u128 product = fp_exact_product(&y, &z, &exp);
    if (x.type == FP_TYPE_ZERO) {
        uint64_t sig = (uint64_t)(product >> 64) | ((uint64_t)product != 0);
        return fp_round(fpcr, width, rounding, sign, exp + scale, sig, flags);
    }
    return fp_round_sum(fpcr, width, x.sign, x.exp + scale, (fp_u128)x.sig << 64, sign, exp + scale, product,
                        flags);
}

// FPMulAdd: addend + a * b. The first signaling, else the first quiet NaN of addend, a, b is the result,
// except that infinity times zero added to a quiet NaN is invalid.
FP_CORE struct fp_result fp_muladd(uint32_t fpcr, unsigned width, uint64_t addend, uint64_t a, uint64_t b)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, addend, &flags);
    struct fp_value y = fp_unpack(fpcr, width, a, &flags), z = fp_unpack(fpcr, width, b, &flags);
    bool invalid_product = (y.type == FP_TYPE_INFINITY && z.type == FP_TYPE_ZERO) ||
                           (y.type == FP_TYPE_ZERO && z.type == FP_TYPE_INFINITY);
    if (x.type == FP_TYPE_QNAN && invalid_product)
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_SNAN)
        return fp_process_nan(fpcr, width, addend, flags);
    if (y.type == FP_TYPE_SNAN || z.type == FP_TYPE_SNAN)
        return fp_process_nans(fpcr, width, &y, &z, a, b, flags);
    if (x.type == FP_TYPE_QNAN)
        return fp_process_nan(fpcr, width, addend, flags);
    if (fp_is_nan(&y) || fp_is_nan(&z))
        return fp_process_nans(fpcr, width, &y, &z, a, b, flags);
    bool sign = y.sign != z.sign;
    bool infinite = y.type == FP_TYPE_INFINITY || z.type == FP_TYPE_INFINITY;
    if (invalid_product || (x.type == FP_TYPE_INFINITY && infinite && x.sign != sign))
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_INFINITY || infinite)
        return (struct fp_result){fp_infinity(width, infinite ? sign : x.sign), flags};
    return fp_fused(fpcr, width, x, y, z, 0, flags);
}

// ---- quotients and roots ----

// (high * 2^64) / divisor, for high < divisor and bit 63 of divisor set; *remains tells whether it is
// inexact. Two digits of base 2^32, each estimated from the divisor's upper half, which is at most two too
// large.
FP_PART uint64_t fp_divide_by_normalised(uint64_t high, uint64_t divisor, bool *remains)
{
    uint64_t divisor_high = divisor >> 32, divisor_low = (uint32_t)divisor;
    uint64_t remainder = high, quotient = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t digit = remainder / divisor_high, rest = remainder % divisor_high;
        while (digit >> 32 || digit * divisor_low > rest << 32) {
            digit--;
            rest += divisor_high;
            if (rest >> 32)
                break;
        }
        remainder = (remainder << 32) - digit * divisor;
        quotient = quotient << 32 | digit;
    }
    *remains = remainder != 0;
    return quotient;
}

// FPDiv.
FP_CORE struct fp_result fp_div(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    if (fp_is_nan(&x) || fp_is_nan(&y))
        return fp_process_nans(fpcr, width, &x, &y, a, b, flags);
    bool sign = x.sign != y.sign;
    if (x.type == y.type && x.type != FP_TYPE_FINITE)
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_INFINITY || y.type == FP_TYPE_ZERO) {
        flags |= x.type == FP_TYPE_INFINITY ? 0 : FPSR_DZC;
        return (struct fp_result){fp_infinity(width, sign), flags};
    }
    if (x.type == FP_TYPE_ZERO || y.type == FP_TYPE_INFINITY)
        return (struct fp_result){fp_sign_bit(width, sign), flags};
    // Half of x is below y, so that the quotient has 64 bits; it lies in (2^62, 2^64). The lowest bit of
    // x.sig is clear, as a significand has 53 bits at most.
    bool remains;
    uint64_t sig = fp_divide_by_normalised(x.sig >> 1, y.sig, &remains);
    int32_t exp = x.exp - y.exp;
    if (!(sig >> 63)) {
        sig <<= 1;
        exp--;
    }
    return fp_round(fpcr, width, fp_fpcr_rounding(fpcr), sign, exp, sig | remains, flags);
}

// FPSqrt.
FP_CORE struct fp_result fp_sqrt(uint32_t fpcr, unsigned width, uint64_t a)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    if (fp_is_nan(&x))
        return fp_process_nan(fpcr, width, a, flags);
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){fp_sign_bit(width, x.sign), flags};
    if (x.sign)
        return fp_invalid(width, flags);
    if (x.type == FP_TYPE_INFINITY)
        return (struct fp_result){fp_infinity(width, false), flags};
    // Long-hand root, one bit from each two of the radicand; two bits more than the mantissa's, and a sticky
    // one.
    unsigned root_bits = fp_fraction_bits(width) + 3;
    uint64_t radicand = x.exp & 1 ? x.sig : x.sig >> 1;
    uint64_t root = 0, remainder = 0;
    for (unsigned i = 0; i < root_bits; i++) {
        uint64_t trial = root << 2 | 1;
        remainder = remainder << 2 | radicand >> 62;
        radicand <<= 2;
        root <<= 1;
        if (remainder >= trial) {
            remainder -= trial;
            root |= 1;
        }
    }
    uint64_t sig = root << (64 - root_bits) | (remainder != 0);
    return fp_round(fpcr, width, fp_fpcr_rounding(fpcr), false, x.exp >> 1, sig, flags);
}

// ---- comparisons ----

// FPCompare: bits is an enum fp_order. Any NaN is invalid if signal, else only a signaling one.
FP_CORE struct fp_result fp_compare(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b, bool signal)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    if (fp_is_nan(&x) || fp_is_nan(&y)) {
        if (signal || x.type == FP_TYPE_SNAN || y.type == FP_TYPE_SNAN)
            flags |= FPSR_IOC;
        return (struct fp_result){FP_UNORDERED, flags};
    }
    uint64_t magnitude_mask = fp_sign_bit(width, true) - 1;
    uint64_t magnitude_a = x.type == FP_TYPE_ZERO ? 0 : a & magnitude_mask;
    uint64_t magnitude_b = y.type == FP_TYPE_ZERO ? 0 : b & magnitude_mask;
    int64_t key_a = x.sign ? -(int64_t)magnitude_a : (int64_t)magnitude_a;
    int64_t key_b = y.sign ? -(int64_t)magnitude_b : (int64_t)magnitude_b;
    return (struct fp_result){key_a < key_b ? FP_LESS : key_a == key_b ? FP_EQUAL : FP_GREATER, flags};
}

// FPMax or FPMin; FPMaxNum or FPMinNum if number: a single quiet NaN gives way to the number.
FP_CORE struct fp_result fp_minmax(uint32_t fpcr, unsigned width, uint64_t a, uint64_t b, bool max,
                                   bool number)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags), y = fp_unpack(fpcr, width, b, &flags);
    bool use_a = number && y.type == FP_TYPE_QNAN && !fp_is_nan(&x);
    bool use_b = number && x.type == FP_TYPE_QNAN && !fp_is_nan(&y);
    if (!use_a && !use_b) {
        if (fp_is_nan(&x) || fp_is_nan(&y))
            return fp_process_nans(fpcr, width, &x, &y, a, b, flags);
        if (x.type == FP_TYPE_ZERO && y.type == FP_TYPE_ZERO) {
            bool sign = max ? x.sign && y.sign : x.sign || y.sign;
            return (struct fp_result){fp_sign_bit(width, sign), flags};
        }
        enum fp_order order = (enum fp_order)fp_compare(fpcr, width, a, b, false).bits;
        use_a = max ? order == FP_GREATER : order == FP_LESS;
    }
    uint64_t bits = use_a ? a : b;
    if ((use_a ? x.type : y.type) == FP_TYPE_ZERO) // a flushed operand
        bits &= fp_sign_bit(width, true);
    return (struct fp_result){bits, flags};
}

// ---- integers ----

// The integer next to sig * 2^(exp - 63) as rounding says, for exp at most 63. It has 64 bits at most: only
// without a fraction are all of them needed.
FP_PART uint64_t fp_round_to_integer(uint64_t sig, int32_t exp, bool sign, enum fp_rounding rounding,
                                     bool *inexact)
{
    uint32_t shift = (uint32_t)(63 - exp);
    uint64_t whole = shift < 64 ? sig >> shift : 0;
    uint64_t fraction = shift == 0 ? 0 : shift < 64 ? sig << (64 - shift) : shift == 64 ? sig : 1;
    *inexact = fraction != 0;
    return whole + fp_rounds_up(rounding, sign, whole & 1, fraction);
}

// FPRoundInt: to an integral value of the same format. IXC is raised only if exact.
FP_CORE struct fp_result fp_round_int(uint32_t fpcr, unsigned width, uint64_t a, enum fp_rounding rounding,
                                      bool exact)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    if (fp_is_nan(&x))
        return fp_process_nan(fpcr, width, a, flags);
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){fp_sign_bit(width, x.sign), flags};
    if (x.type == FP_TYPE_INFINITY || x.exp >= (int32_t)fp_fraction_bits(width))
        return (struct fp_result){a, flags};
    bool inexact;
    uint64_t whole = fp_round_to_integer(x.sig, x.exp, x.sign, rounding, &inexact);
    if (inexact && exact)
        flags |= FPSR_IXC;
    if (whole == 0)
        return (struct fp_result){fp_sign_bit(width, x.sign), flags};
    unsigned shift = (unsigned)__builtin_clzll(whole);
    return fp_round(fpcr, width, FP_TOZERO, x.sign, 63 - (int32_t)shift, whole << shift, flags);
}

// FPToFixed: a * 2^fraction_bits as an integer of integer_width (32 or 64) bits, saturated; the result is
// zero-extended.
FP_CORE struct fp_result fp_to_fixed(uint32_t fpcr, unsigned width, uint64_t a, unsigned integer_width,
                                     bool is_unsigned, unsigned fraction_bits, enum fp_rounding rounding)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    uint64_t mask = ~0ull >> (64 - integer_width);
    if (fp_is_nan(&x))
        return (struct fp_result){0, flags | FPSR_IOC};
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){0, flags};
    // the largest magnitude of this sign
    uint64_t limit = is_unsigned ? (x.sign ? 0 : mask) : (mask >> 1) + x.sign;
    bool inexact = false;
    bool overflow = x.type == FP_TYPE_INFINITY || x.exp + (int32_t)fraction_bits > 63;
    uint64_t magnitude = limit;
    if (!overflow) {
        magnitude = fp_round_to_integer(x.sig, x.exp + (int32_t)fraction_bits, x.sign, rounding, &inexact);
        overflow = magnitude > limit;
    }
    if (overflow) {
        magnitude = limit;
        flags |= FPSR_IOC;
    } else if (inexact) {
        flags |= FPSR_IXC;
    }
    return (struct fp_result){(x.sign ? 0 - magnitude : magnitude) & mask, flags};
}

// FixedToFP: magnitude * 2^-fraction_bits, with sign.
FP_CORE struct fp_result fp_from_fixed(uint32_t fpcr, unsigned width, bool sign, uint64_t magnitude,
                                       unsigned fraction_bits)
{
    if (magnitude == 0)
        return (struct fp_result){0, 0};
    unsigned shift = (unsigned)__builtin_clzll(magnitude);
    int32_t exp = 63 - (int32_t)(shift + fraction_bits);
    return fp_round(fpcr, width, fp_fpcr_rounding(fpcr), sign, exp, magnitude << shift, 0);
}

// FPConvert, from format width to format to.
FP_CORE struct fp_result fp_convert(uint32_t fpcr, unsigned width, unsigned to, uint64_t a,
                                    enum fp_rounding rounding)
{
    uint32_t flags = 0;
    struct fp_value x = fp_unpack(fpcr, width, a, &flags);
    bool alternative = to == 16 && (fpcr & FPCR_AHP);
    if (fp_is_nan(&x)) {
        if (x.type == FP_TYPE_SNAN || alternative)
            flags |= FPSR_IOC;
        if (alternative)
            return (struct fp_result){fp_sign_bit(to, x.sign), flags};
        if (fpcr & FPCR_DN)
            return (struct fp_result){fp_default_nan(to), flags};
        // FPConvertNaN: the payload keeps its leading bits.
        uint64_t payload = a << (64 - fp_fraction_bits(width)) >> (64 - fp_fraction_bits(to));
        return (struct fp_result){fp_infinity(to, x.sign) | fp_quiet_bit(to) | payload, flags};
    }
    if (x.type == FP_TYPE_INFINITY && alternative)
        return (struct fp_result){fp_sign_bit(to, x.sign) | 0x7fff, flags | FPSR_IOC};
    if (x.type == FP_TYPE_INFINITY)
        return (struct fp_result){fp_infinity(to, x.sign), flags};
    if (x.type == FP_TYPE_ZERO)
        return (struct fp_result){fp_sign_bit(to, x.sign), flags};
    return fp_round(fpcr, to, rounding, x.sign, x.exp, x.sig, flags);
}

#endif
