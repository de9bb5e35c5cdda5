// SPDX-License-Identifier: MIT
// kernels NAME [ROUNDS]: small loops of the kind that programs write for their vector unit, for
// tests/bench/peers. On aarch64 with its vector and crypto instructions, elsewhere in plain C (AES and CRC
// with the host's instructions); what is put out is the same.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __aarch64__
#include <arm_acle.h>
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif

enum { BYTES = 16384 };

static uint8_t input[BYTES + 64] __attribute__((aligned(64))),
    output[BYTES + 64] __attribute__((aligned(64)));

static void fill(void)
{
    uint32_t state = 1;
    for (unsigned i = 0; i < sizeof input; i++) {
        state = state * 1664525 + 1013904223; // Knuth, ranqd1
        input[i] = (uint8_t)(state >> 24 | 1);
    }
}

static uint64_t hash_output(void)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (unsigned i = 0; i < BYTES; i++)
        hash = (hash ^ output[i]) * 0x100000001b3;
    return hash;
}

static uint64_t copy(unsigned rounds)
{
    for (unsigned r = 0; r < rounds; r++) {
        input[r % BYTES] ^= (uint8_t)r;
        for (unsigned i = 0; i < BYTES; i += 64) {
#ifdef __aarch64__
            vst1q_u8_x4(output + i, vld1q_u8_x4(input + i));
#else
            memcpy(output + i, input + i, 64);
#endif
        }
    }
    return hash_output();
}

// The place of the first byte that is zero, as string functions look for it.
static uint64_t scan(unsigned rounds)
{
    uint64_t sum = 0;
    for (unsigned r = 0; r < rounds; r++) {
        unsigned end = (r * 37u + 8000) % BYTES, at;
        uint8_t old = input[end];
        input[end] = 0;
#ifdef __aarch64__
        for (unsigned i = 0;; i += 16) {
            uint8x16_t zero = vceqzq_u8(vld1q_u8(input + i));
            uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(zero), 4)), 0);
            if (mask) {
                at = i + (unsigned)__builtin_ctzll(mask) / 4;
                break;
            }
        }
        for (unsigned i = 0;; i += 32) { // and as others do
            uint8x16_t a = vceqzq_u8(vld1q_u8(input + i)), b = vceqzq_u8(vld1q_u8(input + i + 16));
            uint8x16_t any = vorrq_u8(a, b);
            if (vgetq_lane_u64(vreinterpretq_u64_u8(vpmaxq_u8(any, any)), 0)) {
                sum += at - i;
                break;
            }
        }
#else
        at = 0;
        while (input[at])
            at++;
        volatile uint8_t *again = input;
        unsigned i = 0;
        while (again[i])
            i++;
        sum += at - i / 32 * 32;
#endif
        sum += at;
        input[end] = old;
    }
    return sum;
}

static uint64_t checksum(unsigned rounds)
{
    uint64_t sum = 0;
    for (unsigned r = 0; r < rounds; r++) {
        input[r % BYTES] += 2;
#ifdef __aarch64__
        uint32x4_t total = vdupq_n_u32(0);
        for (unsigned i = 0; i < BYTES; i += 64) {
            uint16x8_t wide = vdupq_n_u16(0);
            for (unsigned k = 0; k < 64; k += 16)
                wide = vpadalq_u8(wide, vld1q_u8(input + i + k));
            total = vpadalq_u16(total, wide);
        }
        sum += vaddvq_u32(total);
#else
        uint32_t total = 0;
        for (unsigned i = 0; i < BYTES; i++)
            total += input[i];
        sum += total;
#endif
    }
    return sum;
}

// Four channels a pixel: what is drawn over what is there, by its alpha, rounded.
static uint64_t blend(unsigned rounds)
{
    memset(output, 99, sizeof output);
    for (unsigned r = 0; r < rounds; r++) {
#ifdef __aarch64__
        for (unsigned i = 0; i < BYTES; i += 32) {
            uint8x8x4_t over = vld4_u8(input + i), under = vld4_u8(output + i);
            uint8x8_t rest = vmvn_u8(over.val[3]);
            for (unsigned k = 0; k < 3; k++) {
                uint16x8_t mixed = vmlal_u8(vmull_u8(over.val[k], over.val[3]), under.val[k], rest);
                under.val[k] = vraddhn_u16(mixed, vrshrq_n_u16(mixed, 8));
            }
            under.val[3] = vqadd_u8(under.val[3], over.val[3]);
            vst4_u8(output + i, under);
        }
#else
        for (unsigned i = 0; i < BYTES; i += 4) {
            unsigned alpha = input[i + 3];
            for (unsigned k = 0; k < 3; k++) {
                unsigned mixed = input[i + k] * alpha + output[i + k] * (255 - alpha);
                output[i + k] = (uint8_t)((mixed + ((mixed + 128) >> 8) + 128) >> 8);
            }
            unsigned sum = output[i + 3] + alpha;
            output[i + 3] = (uint8_t)(sum > 255 ? 255 : sum);
        }
#endif
    }
    return hash_output();
}

// Bytes as hexadecimal digits, by table look-up.
static uint64_t hexadecimal(unsigned rounds)
{
    static const uint8_t digits[] = "0123456789abcdef";
    for (unsigned r = 0; r < rounds; r++) {
        input[r % BYTES] ^= (uint8_t)r;
#ifdef __aarch64__
        uint8x16_t table = vld1q_u8(digits);
        for (unsigned i = 0; i < BYTES / 2; i += 16) {
            uint8x16_t bytes = vld1q_u8(input + i);
            uint8x16_t high = vqtbl1q_u8(table, vshrq_n_u8(bytes, 4));
            uint8x16_t low = vqtbl1q_u8(table, vandq_u8(bytes, vdupq_n_u8(15)));
            vst1q_u8(output + 2 * i, vzip1q_u8(high, low));
            vst1q_u8(output + 2 * i + 16, vzip2q_u8(high, low));
        }
#else
        for (unsigned i = 0; i < BYTES / 2; i++) {
            output[2 * i] = digits[input[i] >> 4];
            output[2 * i + 1] = digits[input[i] & 15];
        }
#endif
    }
    return hash_output();
}

// AES-128 in counter mode.
static uint64_t aes(unsigned rounds)
{
    uint8_t keys[11][16];
    for (unsigned k = 0; k < 11; k++) // any keys will do
        for (unsigned i = 0; i < 16; i++)
            keys[k][i] = (uint8_t)(input[k * 16 + i] * 17);
    uint64_t counter = 0;
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < BYTES; i += 16, counter++) {
#ifdef __aarch64__
            uint8x16_t block = vreinterpretq_u8_u64(vsetq_lane_u64(counter, vdupq_n_u64(7), 0));
            for (unsigned k = 0; k < 9; k++)
                block = vaesmcq_u8(vaeseq_u8(block, vld1q_u8(keys[k])));
            block = veorq_u8(vaeseq_u8(block, vld1q_u8(keys[9])), vld1q_u8(keys[10]));
            vst1q_u8(output + i, veorq_u8(block, vld1q_u8(input + i)));
#else
            __m128i block = _mm_set_epi64x(7, (long long)counter);
            block = _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)keys[0]));
            for (unsigned k = 1; k < 10; k++)
                block = _mm_aesenc_si128(block, _mm_loadu_si128((const __m128i *)keys[k]));
            block = _mm_aesenclast_si128(block, _mm_loadu_si128((const __m128i *)keys[10]));
            block = _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)(input + i)));
            _mm_storeu_si128((__m128i *)(output + i), block);
#endif
        }
    }
    return hash_output();
}

static const uint32_t sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#ifdef __aarch64__
static void sha_block(uint32_t *state, const uint8_t *block)
{
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4), w[4];
    uint32x4_t abcd_before = abcd, efgh_before = efgh;
    for (unsigned i = 0; i < 4; i++)
        w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
    for (unsigned i = 0; i < 16; i++) {
        uint32x4_t sum = vaddq_u32(w[0], vld1q_u32(sha_constants + 4 * i)), old = abcd;
        uint32x4_t next = vsha256su1q_u32(vsha256su0q_u32(w[0], w[1]), w[2], w[3]);
        abcd = vsha256hq_u32(abcd, efgh, sum);
        efgh = vsha256h2q_u32(efgh, old, sum);
        w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = next;
    }
    vst1q_u32(state, vaddq_u32(abcd, abcd_before));
    vst1q_u32(state + 4, vaddq_u32(efgh, efgh_before));
}
#else
static uint32_t ror(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void sha_block(uint32_t *state, const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (unsigned i = 0; i < 16; i++) {
        memcpy(&w[i], block + 4 * i, 4);
        w[i] = __builtin_bswap32(w[i]);
    }
    for (unsigned i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
                      (((s[5] ^ s[6]) & s[4]) ^ s[6]) + sha_constants[i] + w[i];
        uint32_t t2 =
            (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + ((s[0] & s[1]) | ((s[0] | s[1]) & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}
#endif

static uint64_t sha256(unsigned rounds)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (unsigned r = 0; r < rounds; r++)
        for (unsigned i = 0; i < BYTES; i += 64)
            sha_block(state, input + i);
    return (uint64_t)state[0] << 32 | state[7];
}

static uint64_t crc(unsigned rounds)
{
    uint64_t crc = 0;
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < BYTES; i += 8) {
            uint64_t word;
            memcpy(&word, input + i, 8);
#ifdef __aarch64__
            crc = __crc32cd((uint32_t)crc, word);
#else
            crc = _mm_crc32_u64(crc, word);
#endif
        }
    }
    return crc;
}

// A product of matrices in single precision, fused.
static uint64_t matrix(unsigned rounds)
{
    enum { N = 32 };
    static float a[N * N] __attribute__((aligned(16))), b[N * N] __attribute__((aligned(16))),
        c[N * N] __attribute__((aligned(16)));
    for (unsigned i = 0; i < N * N; i++) {
        a[i] = (float)input[i] / 256 - 0.5f;
        b[i] = (float)input[N * N + i] / 256 - 0.5f;
    }
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < N; i++) {
            for (unsigned j = 0; j < N; j += 16) {
#ifdef __aarch64__
                float32x4_t sum[4];
                for (unsigned l = 0; l < 4; l++)
                    sum[l] = vld1q_f32(&c[i * N + j + 4 * l]);
                for (unsigned k = 0; k < N; k += 4) {
                    float32x4_t x = vld1q_f32(&a[i * N + k]);
                    for (unsigned l = 0; l < 4; l++) {
                        sum[l] = vfmaq_laneq_f32(sum[l], vld1q_f32(&b[k * N + j + 4 * l]), x, 0);
                        sum[l] = vfmaq_laneq_f32(sum[l], vld1q_f32(&b[(k + 1) * N + j + 4 * l]), x, 1);
                        sum[l] = vfmaq_laneq_f32(sum[l], vld1q_f32(&b[(k + 2) * N + j + 4 * l]), x, 2);
                        sum[l] = vfmaq_laneq_f32(sum[l], vld1q_f32(&b[(k + 3) * N + j + 4 * l]), x, 3);
                    }
                }
                for (unsigned l = 0; l < 4; l++)
                    vst1q_f32(&c[i * N + j + 4 * l], sum[l]);
#else
                for (unsigned l = 0; l < 16; l++)
                    for (unsigned k = 0; k < N; k++)
                        c[i * N + j + l] = fmaf(b[k * N + j + l], a[i * N + k], c[i * N + j + l]);
#endif
            }
        }
    }
    memcpy(output, c, sizeof c);
    return hash_output();
}

// A sum of products in double precision, two at a time, fused.
static uint64_t dot(unsigned rounds)
{
    enum { N = BYTES / 8 };
    static double x[N] __attribute__((aligned(16)));
    for (unsigned i = 0; i < N; i++)
        x[i] = (double)input[i] - 128.25;
    double total = 0;
    for (unsigned r = 0; r < rounds; r++) {
#ifdef __aarch64__
        float64x2_t sum = vdupq_n_f64(0), more = vdupq_n_f64(0);
        for (unsigned i = 0; i < N; i += 4) {
            sum = vfmaq_f64(sum, vld1q_f64(x + i), vld1q_f64(x + i));
            more = vfmaq_f64(more, vld1q_f64(x + i + 2), vld1q_f64(x + i + 2));
        }
        total += vaddvq_f64(vaddq_f64(sum, more));
#else
        double sum[4] = {0};
        for (unsigned i = 0; i < N; i += 4)
            for (unsigned k = 0; k < 4; k++)
                sum[k] = fma(x[i + k], x[i + k], sum[k]);
        total += (sum[0] + sum[2]) + (sum[1] + sum[3]);
#endif
        x[r % N] += 0.5;
    }
    uint64_t bits;
    memcpy(&bits, &total, 8);
    return bits;
}

// Bodies that attract each other: scalar floating point with roots and quotients.
static uint64_t bodies(unsigned rounds)
{
    enum { N = 5 };
    static double at[N][3], speed[N][3], mass[N];
    for (unsigned i = 0; i < N; i++) {
        mass[i] = 1 + input[i] / 64.0;
        for (unsigned k = 0; k < 3; k++) {
            at[i][k] = input[10 + 3 * i + k] / 8.0;
            speed[i][k] = input[40 + 3 * i + k] / 4096.0;
        }
    }
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < N; i++) {
            for (unsigned j = i + 1; j < N; j++) {
                double d[3], square = 0.01;
                for (unsigned k = 0; k < 3; k++) {
                    d[k] = at[i][k] - at[j][k];
                    square += d[k] * d[k];
                }
                double pull = 0.001 / (square * sqrt(square));
                for (unsigned k = 0; k < 3; k++) {
                    speed[i][k] -= d[k] * mass[j] * pull;
                    speed[j][k] += d[k] * mass[i] * pull;
                }
            }
        }
        for (unsigned i = 0; i < N; i++)
            for (unsigned k = 0; k < 3; k++)
                at[i][k] += 0.001 * speed[i][k];
    }
    uint64_t bits;
    memcpy(&bits, &at[0][0], 8);
    return bits;
}

// Numbers that several threads would count and lock: exclusives, atomics, ordered accesses.
static uint64_t atomics(unsigned rounds)
{
    static uint64_t counter, lock;
    for (unsigned r = 0; r < rounds * 100; r++) {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
            ;
        __atomic_fetch_add(&counter, r, __ATOMIC_RELAXED);
        uint64_t old = __atomic_load_n(&counter, __ATOMIC_ACQUIRE);
        __atomic_compare_exchange_n(&counter, &old, old + 3 * r, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    return counter;
}

static const struct {
    const char *name;
    uint64_t (*run)(unsigned rounds);
    unsigned rounds;
} kernels[] = {
    {"copy", copy, 400000},   {"scan", scan, 100000},       {"checksum", checksum, 100000},
    {"blend", blend, 50000},  {"hex", hexadecimal, 100000}, {"aes", aes, 20000},
    {"sha256", sha256, 8000}, {"crc", crc, 50000},          {"matrix", matrix, 10000},
    {"dot", dot, 100000},     {"bodies", bodies, 600000},   {"atomics", atomics, 60000},
};

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels && argc > 1; i++) {
        if (strcmp(argv[1], kernels[i].name) == 0) {
            fill();
            unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : kernels[i].rounds;
            printf("%s %016" PRIx64 "\n", argv[1], kernels[i].run(rounds));
            return 0;
        }
    }
    fprintf(stderr, "usage: kernels NAME [ROUNDS]\n");
    return 2;
}
