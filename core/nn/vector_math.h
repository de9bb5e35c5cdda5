// SPDX-License-Identifier: MIT
// Functions of one float that compilers turn into vector code: no branch, no table, no call. The results are
// the same in vectors of any width, as nothing is contracted or reordered; errors are within 3 units in the
// last place where not said otherwise.
#ifndef NN_VECTOR_MATH_H
#define NN_VECTOR_MATH_H

#include <stdint.h>
#include <string.h>

#define VECTOR_INLINE static inline __attribute__((always_inline))

VECTOR_INLINE float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

VECTOR_INLINE uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

VECTOR_INLINE float vector_abs(float x)
{
    return float_of_bits(bits_of_float(x) & 0x7fffffffu);
}

// e^r - 1 = p for x = n·ln 2 + r, |r| <= ½ ln 2, and 2^n. x within ±87.
VECTOR_INLINE float exp_parts(float x, float *power)
{
    const float round = 0x1.8p23f; // adding it leaves the nearest integer in the low bits
    float shifted = x * 1.44269504f + round, n = shifted - round;
    float r = x - n * 0x1.62e4p-1f -
              n * 0x1.7f7d1cp-20f; // ln 2 in two parts, the first short enough for an exact product
    *power = float_of_bits((bits_of_float(shifted) + (127 - bits_of_float(round))) << 23);
    float p = 1.f / 5040; // Taylor's series; the first term left out is below 2^-27
    p = p * r + 1.f / 720;
    p = p * r + 1.f / 120;
    p = p * r + 1.f / 24;
    p = p * r + 1.f / 6;
    p = p * r + 0.5f;
    return r + r * r * p;
}

// Within ±87; outside as at the nearer end.
VECTOR_INLINE float vector_exp(float x)
{
    x = x < -87 ? -87 : x;
    x = x > 87 ? 87 : x;
    float power, p = exp_parts(x, &power);
    return power + power * p;
}

VECTOR_INLINE float vector_sigmoid(float x)
{
    return 1 / (1 + vector_exp(-x));
}

// From e^-2|x| - 1, so that small values keep all their digits.
VECTOR_INLINE float vector_tanh(float x)
{
    float twice = -2 * vector_abs(x), power;
    twice = twice < -80 ? -80 : twice;
    float p = exp_parts(twice, &power), less = power * p + (power - 1);
    return float_of_bits(bits_of_float(-less / (2 + less)) | (bits_of_float(x) & 0x80000000u));
}

// 1 + erf(x): relative error below 4e-7 down to x = -5.2. The polynomial in 1 / (1 + 0.44|x|) was fitted to
// e^(x²)·erfc(|x|) by least squares, weighted until its greatest relative error was 2e-9.
VECTOR_INLINE float vector_erf_plus_1(float x)
{
    float size = vector_abs(x), t = 1 / (1 + 0.44f * size);
    float p = -0x1.8834cep-5f;
    p = p * t + 0x1.45a8dep-2f;
    p = p * t - 0x1.a7b282p-1f;
    p = p * t + 0x1.fac56cp-1f;
    p = p * t - 0x1.217e40p-1f;
    p = p * t + 0x1.f92becp-2f;
    p = p * t + 0x1.01a524p-3f;
    p = p * t + 0x1.12318ep-2f;
    p = p * t + 0x1.f7ccd2p-3f;
    p = p * t + 0x1.df3d96p-14f;
    float tail = vector_exp(-size * size) * p;
    return x < 0 ? tail : 2 - tail;
}

#endif
