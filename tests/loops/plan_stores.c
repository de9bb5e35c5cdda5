// SPDX-License-Identifier: MIT
// Guest loops that store, to be compiled at several levels and fuzzed by fuzz_loops.c. Nothing is called.
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

// ---- look-ups ----

struct column {
    const u8 *colormap, *source, *translation;
    int step, from;
};
extern struct column column;

void column_reloaded(u8 *to, u8 *end, struct column *c, u32 f, u32 step)
{
    do {
        *to = c->colormap[c->source[f >> 16 & 127]];
        to += 320;
        f += step;
    } while (to != end);
}
void column_counted(u8 *to, const u8 *map, const u8 *source, int f, int step, int count)
{
    do {
        *to = map[source[f >> 16 & 127]];
        to += 320;
        f += step;
    } while (count--);
}
void column_low(u8 *to, u8 *to2, const u8 *map, const u8 *source, u32 f, u32 step, u64 end)
{
    for (u64 i = 0; i != end; i += 320, f += step)
        to[i] = to2[i] = map[source[f >> 16 & 63]];
}
void column_translated(u8 *to, u8 *end, struct column *c, u32 f, u32 step)
{
    for (; to < end; to -= c->step, f += step)
        *to = c->colormap[c->translation[c->source[f >> 20 & 255]]];
}
void column_single(u8 *restrict to, const u8 *restrict source, u64 f, u64 step, long n)
{
    for (long i = 0; i < n; i++, f += step)
        to[i] = source[f >> 32 & 1023];
}
void column_words(u32 *restrict to, const u32 *restrict palette, const u8 *restrict source, u32 f, u32 step,
                  int n)
{
    for (int i = 0; i < n; i++, f += step)
        to[i] = palette[source[f >> 16 & 127]];
}
void column_halves(u16 *restrict to, const u16 *restrict source, u32 f, u32 step, u32 n)
{
    for (u32 i = 0; i < n; i++, f += step)
        to[i * 3] = source[f >> 9 & 511];
}
void span_reloaded(u8 *to, u8 *end, struct column *c, u32 p, u32 step)
{
    do {
        u32 spot = (p >> 4 & 0xfc0) | p >> 26;
        *to++ = c->colormap[c->source[spot]];
        p += step;
    } while (to != end);
}
void span_low(u8 *to, u8 *end, struct column *c, u32 p, u32 step)
{
    do {
        u32 spot = (p >> 4 & 0xfc0) | p >> 26;
        *to++ = c->colormap[c->source[spot]];
        *to++ = c->colormap[c->source[spot]];
        p += step;
    } while (to != end);
}
void span_two(u8 *restrict to, const u8 *restrict source, u32 x, u32 y, u32 dx, u32 dy, int n)
{
    for (int i = 0; i < n; i++, x += dx, y += dy)
        to[i] = source[(y >> 10 & 0xfc0) + (x >> 16 & 63)];
}
void span_wide(u8 *restrict to, const u8 *restrict source, u64 p, u64 step, int n)
{
    while (n-- > 0) {
        *to++ = source[(p >> 20 & 0xf0) | p >> 60];
        p += step;
    }
}

// ---- fills ----

void fill_bytes(u8 *to, u8 value, u64 n)
{
    for (u64 i = 0; i < n; i++)
        to[i] = value;
}
void fill_halves(u16 *to, u16 value, u16 *end)
{
    while (to < end)
        *to++ = value;
}
void fill_words(u32 *to, u32 value, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = value;
}
void fill_longs(u64 *to, u64 value, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = value;
}
void fill_down(u32 *to, u32 value, int n)
{
    while (n-- > 0)
        to[n] = value;
}
void fill_strided(u8 *to, u8 value, long stride, long n)
{
    for (; n > 0; n--, to += stride)
        *to = value;
}
void fill_two(u16 *a, u16 *b, u16 x, u16 y, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = x;
        b[i] = y;
    }
}
struct record {
    u32 key, flags;
    u64 value;
    u8 kind, more[7];
};
void fill_records(struct record *r, struct record *end, u64 value)
{
    for (; r != end; r++) {
        r->key = 1;
        r->flags = 0;
        r->value = value;
        r->kind = 7;
    }
}
void fill_from_memory(u32 *to, const u32 *value, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = *value;
}
void fill_rows(int *to, int x, int low, int high)
{
    for (int i = low; i <= high; i++)
        to[i] = x;
}

// ---- copies ----

void copy_bytes(u8 *to, const u8 *from, u64 n)
{
    for (u64 i = 0; i < n; i++)
        to[i] = from[i];
}
void copy_bytes_until(u8 *to, const u8 *from, const u8 *end)
{
    while (from != end)
        *to++ = *from++;
}
void copy_words(u32 *to, const u32 *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
void copy_longs(u64 *to, const u64 *from, u64 *end)
{
    do
        *to++ = *from++;
    while (to < end);
}
void copy_pairs(u64 *to, const u64 *from, u64 n)
{
    for (; n >= 16; n -= 16, to += 2, from += 2) {
        u64 a = from[0], b = from[1];
        to[0] = a;
        to[1] = b;
    }
}
void copy_down(u16 *to, const u16 *from, long n)
{
    while (--n >= 0)
        to[n] = from[n];
}
void copy_column(u8 *to, const u8 *from, u64 n)
{
    for (; n; n--, to += 320)
        *to = *from++;
}
void copy_every_other(u16 *to, const u16 *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[2 * i];
}
void copy_stride(u32 *to, const u32 *from, long a, long b, u32 n)
{
    for (u32 i = 0; i < n; i++, to += a, from += b)
        *to = *from;
}
void copy_backwards(u8 *to, const u8 *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[n - i];
}
void copy_string(u8 *to, const u8 *from)
{
    while ((*to++ = *from++))
        ;
}

// ---- maps ----

void map_add(u32 *to, const u32 *a, const u32 *b, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = a[i] + b[i];
}
void map_scale(int *to, int k, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = to[i] * k >> 16;
}
void map_xor(u8 *to, const u8 *key, u64 n)
{
    for (u64 i = 0; i < n; i++)
        to[i] ^= key[i];
}
void map_table(u8 *to, const u8 *from, const u8 *table, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = table[from[i]];
}
void map_table_wide(u64 *to, const u16 *from, const u64 *table, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = table[from[i] & 255] + (u64)i;
}
void map_clamp(short *to, const int *from, int n)
{
    for (int i = 0; i < n; i++) {
        int v = from[i] >> 8;
        to[i] = (short)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
    }
}
void map_case(u8 *s, u64 n)
{
    for (u64 i = 0; i < n; i++) {
        u8 c = s[i];
        s[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
}
void map_widen(long *to, const signed char *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
void map_swap(u32 *to, const u32 *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = __builtin_bswap32(from[i]);
}
void map_divide(u32 *to, const u32 *from, u32 by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] / by;
}
void map_divide_signed(int *to, const int *from, int by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] / by + (from[i] < 0);
}
void map_bits(u64 *to, const u64 *from, u64 m, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = ((from[i] << 3 | from[i] >> 61) ^ m) + (u64)__builtin_clzll(from[i] | 1);
}
void map_fields(struct record *r, int n)
{
    for (int i = 0; i < n; i++) {
        r[i].flags = r[i].key & 0xff;
        r[i].value = r[i].key + r[i].value;
    }
}
void map_multiply(u64 *to, const u32 *from, u32 by, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (u64)from[i] * by;
}
void map_until_zero(u8 *to, const u8 *from)
{
    u8 c;
    while ((c = *from++) != 0)
        *to++ = c ^ 0x55;
}
void map_position(u32 *to, const u32 *from, u32 x, u32 dx, int n)
{
    for (int i = 0; i < n; i++, x += dx)
        to[i] = (x * x >> 8) + from[i];
}

// ---- narrow ----

void map_to_halves(u16 *to, const u8 *from, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = (u16)(from[i] * 5 + i);
}
void map_to_bytes(u8 *to, const u32 *from, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = (u8)((from[i] >> 3) + from[i] * 7);
}
void map_signed_bytes(signed char *to, const signed char *from, int limit, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = (signed char)(from[i] > limit ? from[i] - 1 : from[i] << 2 ^ 0x55);
}
void map_halves(short *to, const short *from, const short *other, u32 n)
{
    for (u32 i = 0; i < n; i++)
        to[i] = (short)(from[i] * other[i] - (from[i] & ~other[i]));
}
u16 hash_halves(const u16 *a, u32 n)
{
    u16 h = 7;
    for (u32 i = 0; i < n; i++)
        h = (u16)(h * 31 + a[i]);
    return h;
}
u64 hash_doubles(const u64 *a, u64 k, u32 n)
{
    u64 h = k;
    for (u32 i = 0; i < n; i++)
        h = h * k + a[i];
    return h;
}
u8 sum_in_a_byte(const u8 *a, u32 n)
{
    u8 s = 0;
    for (u32 i = 0; i < n; i++)
        s = (u8)(s + a[i]);
    return s;
}
int greatest_half(const short *a, u32 n)
{
    int most = -40000;
    for (u32 i = 0; i < n; i++)
        most = a[i] > most ? a[i] : most;
    return most;
}

// ---- blocks ----

struct words4 {
    u64 word[4];
};
void copy_structs(struct words4 *to, const struct words4 *from, const struct words4 *end)
{
    while (from != end)
        *to++ = *from++;
}
void copy_pairs_back(u32 (*to)[2], const u32 (*from)[2], u64 n)
{
    for (; n; n--) {
        to[n][0] = from[n][0];
        to[n][1] = from[n][1];
    }
}
// As C libraries do it: an iteration stores what the one before has loaded.
__asm__("copy_ahead:\n"
        "1: stp x6, x7, [x3, #16]\n ldp x6, x7, [x1, #16]\n"
        "stp x8, x9, [x3, #32]\n ldp x8, x9, [x1, #32]\n"
        "stp x10, x11, [x3, #48]\n ldp x10, x11, [x1, #48]\n"
        "stp x12, x13, [x3, #64]!\n ldp x12, x13, [x1, #64]!\n"
        "subs x2, x2, #64\n b.hi 1b\n ret\n"
        "copy_ahead_back:\n"
        "2: stp x6, x7, [x5, #-16]\n ldp x6, x7, [x4, #-16]\n"
        "str w8, [x5, #-20]\n ldr w8, [x4, #-20]\n str w9, [x5, #-24]\n ldr w9, [x4, #-24]\n"
        "str x10, [x5, #-32]!\n ldr x10, [x4, #-32]!\n"
        "subs x2, x2, #32\n b.hi 2b\n ret\n"
        "copy_ahead_crossed:\n" // not the same order
        "3: stp x6, x7, [x3]\n ldp x7, x6, [x1]\n"
        "add x1, x1, #16\n add x3, x3, #16\n subs x2, x2, #16\n b.hi 3b\n ret\n"
        "copy_ahead_with_gap:\n"
        "4: stp x6, x7, [x3]\n ldp x6, x7, [x1]\n"
        "add x1, x1, #24\n add x3, x3, #24\n subs x2, x2, #16\n b.hi 4b\n ret\n"
        "copy_ahead_cut:\n" // the lower half of each, and no copy
        "5: mov w8, w6\n mov w9, w7\n stp x8, x9, [x3], #16\n ldp x6, x7, [x1], #16\n"
        "subs x2, x2, #16\n b.hi 5b\n ret\n");
// The second store of an iteration reaches as far as the first one of the next, which comes later.
__asm__("look_up_over_the_next:\n"
        "1: and x4, x3, #63\n ldrb w5, [x1, x4]\n strb w5, [x0], #1\n strh w5, [x0]\n add x3, x3, x6\n"
        "subs x2, x2, #1\n b.ne 1b\n ret\n");
