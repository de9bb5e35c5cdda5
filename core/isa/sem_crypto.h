// SPDX-License-Identifier: MIT
// AES, SHA-1, SHA-256 (Arm ARM, shared/functions/crypto) and CRC-32.
#ifndef CORE_ISA_SEM_CRYPTO_H
#define CORE_ISA_SEM_CRYPTO_H

typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));

// ---- AES: byte i of a register is row i % 4, column i / 4 of the state (FIPS 197) ----

#ifndef __AES__
static const uint8_t aes_sbox[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
};

static const uint8_t aes_inverse_sbox[256] = {
    0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb,
    0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb,
    0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e,
    0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25,
    0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92,
    0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84,
    0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06,
    0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b,
    0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73,
    0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e,
    0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b,
    0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4,
    0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f,
    0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef,
    0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61,
    0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d,
};
#endif

// Doubles each of sixteen elements of GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
SEM u8x16 aes_double(u8x16 v)
{
    return v << 1 ^ ((v >> 7) & 1) * 0x1b;
}

// Turns each column downwards: row r of the result is row (r + by) % 4.
SEM u8x16 aes_rotate_columns(u8x16 v, unsigned by)
{
    u32x4 columns = (u32x4)v;
    return (u8x16)(columns >> (by * 8) | columns << (32 - by * 8));
}

// AESE and AESD but for the key: SubBytes(ShiftRows(v)), and the inverse of that. A host's own last round of
// AES is just that, with a key of zero (Intel SDM, AESENCLAST and AESDECLAST).
SEM u8x16 aes_substitute(u8x16 state)
{
#ifdef __AES__
    return (u8x16)__builtin_ia32_aesenclast128((long long __attribute__((vector_size(16))))state,
                                               (long long __attribute__((vector_size(16)))){0, 0});
#else
    u8x16 result;
    for (unsigned i = 0; i < 16; i++)
        result[i] = aes_sbox[state[(i + i % 4 * 4) % 16]];
    return result;
#endif
}

SEM u8x16 aes_substitute_inverse(u8x16 state)
{
#ifdef __AES__
    return (u8x16)__builtin_ia32_aesdeclast128((long long __attribute__((vector_size(16))))state,
                                               (long long __attribute__((vector_size(16)))){0, 0});
#else
    u8x16 result;
    for (unsigned i = 0; i < 16; i++)
        result[i] = aes_inverse_sbox[state[(i - i % 4 * 4) % 16]];
    return result;
#endif
}

OP(aese)
{
    V(d) = (u64x2)aes_substitute((u8x16)(V(d) ^ V(n)));
}

OP(aesd)
{
    V(d) = (u64x2)aes_substitute_inverse((u8x16)(V(d) ^ V(n)));
}

// MixColumns: on a host with AES, a round less what its last round does.
SEM u8x16 aes_mix_columns(u8x16 v)
{
#ifdef __AES__
    return (u8x16)__builtin_ia32_aesenc128(
        (long long __attribute__((vector_size(16))))aes_substitute_inverse(v),
        (long long __attribute__((vector_size(16)))){0, 0});
#else
    u8x16 next = aes_rotate_columns(v, 1);
    return aes_double(v ^ next) ^ next ^ aes_rotate_columns(v, 2) ^ aes_rotate_columns(v, 3);
#endif
}

OP(aesmc)
{
    V(d) = (u64x2)aes_mix_columns((u8x16)V(n));
}

// InvMixColumns: the circulant 14 11 13 9 is 2 3 1 1 times 5 0 4 0.
OP(aesimc)
{
#ifdef __AES__
    V(d) = (u64x2)__builtin_ia32_aesimc128((long long __attribute__((vector_size(16))))V(n));
#else
    u8x16 v = (u8x16)V(n);
    u8x16 four = aes_double(aes_double(v ^ aes_rotate_columns(v, 2)));
    V(d) = (u64x2)aes_mix_columns(v ^ four);
#endif
}

// ---- SHA ----

SEM uint32_t sha_rol(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

SEM uint32_t sha_choose(uint32_t x, uint32_t y, uint32_t z)
{
    return ((y ^ z) & x) ^ z;
}

SEM uint32_t sha_parity(uint32_t x, uint32_t y, uint32_t z)
{
    return x ^ y ^ z;
}

SEM uint32_t sha_majority(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) | ((x | y) & z);
}

// Four rounds of SHA-1 whose function is mix: d holds a..d of the working variables, n holds e.
#define SHA1_ROUNDS(name, mix)                                                                               \
    OP(name)                                                                                                 \
    {                                                                                                        \
        u32x4 x = (u32x4)V(d), w = (u32x4)V(m);                                                              \
        uint32_t y = (uint32_t)V(n)[0];                                                                      \
        for (unsigned i = 0; i < 4; i++) {                                                                   \
            y += sha_rol(x[0], 5) + mix(x[1], x[2], x[3]) + w[i];                                            \
            uint32_t last = x[3];                                                                            \
            x = (u32x4){y, x[0], sha_rol(x[1], 30), x[2]};                                                   \
            y = last;                                                                                        \
        }                                                                                                    \
        V(d) = (u64x2)x;                                                                                     \
    }

SHA1_ROUNDS(sha1c, sha_choose)
SHA1_ROUNDS(sha1p, sha_parity)
SHA1_ROUNDS(sha1m, sha_majority)

#undef SHA1_ROUNDS

OP(sha1h)
{
    V(d) = (u64x2){sha_rol((uint32_t)V(n)[0], 30), 0};
}

OP(sha1su0)
{
    u64x2 d = V(d), n = V(n);
    V(d) = (u64x2){d[1], n[0]} ^ d ^ V(m);
}

OP(sha1su1)
{
    u32x4 d = (u32x4)V(d), n = (u32x4)V(n);
    u32x4 t = d ^ (u32x4) { n[1], n[2], n[3], 0 };
    t = t << 1 | t >> 31;
    t[3] ^= sha_rol(t[0], 1);
    V(d) = (u64x2)t;
}

struct sha256_state {
    u32x4 x, y; // a..d and e..h
};

// SHA256hash: four rounds.
SEM struct sha256_state sha256_rounds(u32x4 x, u32x4 y, u32x4 w)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t sigma1 = sha_rol(y[0], 26) ^ sha_rol(y[0], 21) ^ sha_rol(y[0], 7);
        uint32_t sigma0 = sha_rol(x[0], 30) ^ sha_rol(x[0], 19) ^ sha_rol(x[0], 10);
        uint32_t t = y[3] + sigma1 + sha_choose(y[0], y[1], y[2]) + w[i];
        uint32_t e = x[3] + t;
        uint32_t a = t + sigma0 + sha_majority(x[0], x[1], x[2]);
        x = (u32x4){a, x[0], x[1], x[2]};
        y = (u32x4){e, y[0], y[1], y[2]};
    }
    return (struct sha256_state){x, y};
}

OP(sha256h)
{
    V(d) = (u64x2)sha256_rounds((u32x4)V(d), (u32x4)V(n), (u32x4)V(m)).x;
}

OP(sha256h2)
{
    V(d) = (u64x2)sha256_rounds((u32x4)V(n), (u32x4)V(d), (u32x4)V(m)).y;
}

OP(sha256su0)
{
    u32x4 d = (u32x4)V(d), n = (u32x4)V(n);
    u32x4 t = {d[1], d[2], d[3], n[0]};
    V(d) = (u64x2)(d + ((t >> 7 | t << 25) ^ (t >> 18 | t << 14) ^ t >> 3));
}

SEM uint32_t sha256_su1_sigma(uint32_t t)
{
    return sha_rol(t, 15) ^ sha_rol(t, 13) ^ t >> 10;
}

// The upper half of the new schedule depends on its lower half.
OP(sha256su1)
{
    u32x4 d = (u32x4)V(d), n = (u32x4)V(n), m = (u32x4)V(m);
    u32x4 r = d + (u32x4){n[1], n[2], n[3], m[0]};
    r[0] += sha256_su1_sigma(m[2]);
    r[1] += sha256_su1_sigma(m[3]);
    r[2] += sha256_su1_sigma(r[0]);
    r[3] += sha256_su1_sigma(r[1]);
    V(d) = (u64x2)r;
}

// ---- CRC-32: accumulator and polynomials bit-reversed ----

// So many bytes by tables of 16 entries, four bits at a time.
SEM uint32_t crc32_by_table(const uint32_t *table, uint32_t crc, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        crc ^= value >> (i * 8) & 0xff;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#ifdef __PCLMUL__
// The low half of the carry-less product, and the high half.
SEM u64x2 carryless_product(uint64_t a, uint64_t b)
{
    typedef long long v2 __attribute__((vector_size(16)));
    return (u64x2)__builtin_ia32_pclmulqdq128((v2){(long long)a, 0}, (v2){(long long)b, 0}, 0);
}

// Barrett reduction: by floor(x^96 / P) without its leading bit, then by P.
SEM uint32_t crc32_update(uint32_t crc, uint64_t value, unsigned bytes)
{
    unsigned unused = 64 - bytes * 8;
    uint64_t message = (value ^ crc) << unused;
    uint64_t quotient = carryless_product(message, 0xb4e5b025f7011641)[0];
    uint64_t rest = carryless_product(quotient, 0x1db710641)[1];
    return (uint32_t)rest ^ (uint32_t)((uint64_t)crc >> (bytes * 8 & 63) & (bytes < 4 ? ~0u : 0));
}
#else
static const uint32_t crc32_table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

SEM uint32_t crc32_update(uint32_t crc, uint64_t value, unsigned bytes)
{
    return crc32_by_table(crc32_table, crc, value, bytes);
}
#endif

#ifdef __CRC32__
SEM uint32_t crc32c_update(uint32_t crc, uint64_t value, unsigned bytes)
{
    switch (bytes) {
    case 1: return __builtin_ia32_crc32qi(crc, (unsigned char)value);
    case 2: return __builtin_ia32_crc32hi(crc, (unsigned short)value);
    case 4: return __builtin_ia32_crc32si(crc, (uint32_t)value);
    default: return (uint32_t)__builtin_ia32_crc32di(crc, value);
    }
}
#else
static const uint32_t crc32c_table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

SEM uint32_t crc32c_update(uint32_t crc, uint64_t value, unsigned bytes)
{
    return crc32_by_table(crc32c_table, crc, value, bytes);
}
#endif

#define CRC32(name, update, bytes)                                                                           \
    OP(name)                                                                                                 \
    {                                                                                                        \
        X(d) = update((uint32_t)X(n), X(m), bytes);                                                          \
    }

CRC32(crc32b, crc32_update, 1)
CRC32(crc32h, crc32_update, 2)
CRC32(crc32w, crc32_update, 4)
CRC32(crc32x, crc32_update, 8)
CRC32(crc32cb, crc32c_update, 1)
CRC32(crc32ch, crc32c_update, 2)
CRC32(crc32cw, crc32c_update, 4)
CRC32(crc32cx, crc32c_update, 8)

#undef CRC32

#endif
