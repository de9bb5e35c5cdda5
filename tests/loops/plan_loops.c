// SPDX-License-Identifier: MIT
// Guest loops of all kinds, to be compiled at several levels and fuzzed by fuzz_loops.c. Nothing is called.
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

// ---- reductions ----

u32 sum_bytes(const u8 *a, u64 n)
{
    u32 sum = 0;
    for (u64 i = 0; i < n; i++)
        sum += a[i];
    return sum;
}
u64 sum_words(const int *a, int n)
{
    u64 sum = 0;
    for (int i = 0; i < n; i++)
        sum += (u64)(long)a[i];
    return sum;
}
u64 xor_longs(const u64 *a, const u64 *end)
{
    u64 x = 0;
    while (a != end)
        x ^= *a++;
    return x;
}
u32 or_and(const u32 *a, int n, u32 *all)
{
    u32 any = 0, every = ~0u;
    for (int i = 0; i < n; i++) {
        any |= a[i];
        every &= a[i];
    }
    *all = every;
    return any;
}
int minimum(const int *a, int n)
{
    int least = a[0];
    for (int i = 1; i < n; i++)
        least = a[i] < least ? a[i] : least;
    return least;
}
u64 maximum(const u64 *a, long n)
{
    u64 most = 0;
    for (long i = 0; i < n; i++)
        if (a[i] > most)
            most = a[i];
    return most;
}
u32 dot(const int *a, const int *b, int n)
{
    u32 sum = 0;
    for (int i = 0; i < n; i++)
        sum += (u32)a[i] * (u32)b[i];
    return sum;
}
u32 count_equal(const u8 *a, u8 value, u64 n)
{
    u32 count = 0;
    for (u64 i = 0; i < n; i++)
        count += a[i] == value;
    return count;
}
u32 hash_33(const u8 *a, u64 n)
{
    u32 h = 5381;
    for (u64 i = 0; i < n; i++)
        h = h * 33 + a[i];
    return h;
}
u32 hash_string(const char *a)
{
    u32 h = 5381;
    while (*a)
        h = h * 33 ^ (u8)*a++;
    return h;
}
u64 hash_fnv(const u8 *a, u64 n)
{
    u64 h = 0xcbf29ce484222325;
    for (u64 i = 0; i < n; i++)
        h = (h ^ a[i]) * 0x100000001b3;
    return h;
}
u32 hash_31(const u16 *a, int n)
{
    u32 h = 0;
    for (int i = 0; i < n; i++)
        h = 31 * h + a[i];
    return h;
}
u32 crc32(u32 crc, const u32 *table, const u8 *a, u64 n)
{
    for (u64 i = 0; i < n; i++)
        crc = table[(crc ^ a[i]) & 255] ^ crc >> 8;
    return crc;
}
u32 adler(const u8 *a, u64 n, u32 *high)
{
    u32 s = 1, t = 0;
    for (u64 i = 0; i < n; i++) {
        s += a[i];
        t += s;
    }
    *high = t;
    return s;
}

u32 sum_behind_stores(u32 *to, const u32 *from, u32 x, int n)
{
    u32 sum = 0;
    for (int i = 0; i < n; i++) {
        to[i] = x;
        sum += from[i];
    }
    return sum;
}
void prefix_sums(u32 *to, const u32 *from, int n)
{
    u32 sum = 0;
    for (int i = 0; i < n; i++)
        to[i] = sum += from[i];
}
long last_negative(const int *a, long n)
{
    long last = -1;
    for (long i = 0; i < n; i++)
        if (a[i] < 0)
            last = i;
    return last;
}
int budget(const u16 *a, int n, int left)
{
    int i;
    for (i = 0; i < n && left > 0; i++)
        left -= a[i];
    return i;
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
        "add x1, x1, #24\n add x3, x3, #24\n subs x2, x2, #16\n b.hi 4b\n ret\n");

// ---- scans, searches, compares ----

u64 scan_zero(const u8 *a)
{
    const u8 *p = a;
    while (*p)
        p++;
    return (u64)(p - a);
}
const u8 *scan_byte(const u8 *a, u8 value, u64 n)
{
    for (; n; n--, a++)
        if (*a == value)
            return a;
    return 0;
}
const u8 *scan_spaces(const u8 *a)
{
    while (*a == ' ')
        a++;
    return a;
}
const u16 *scan_halves(const u16 *a)
{
    while (*a)
        a++;
    return a;
}
int scan_words(const u32 *a, u32 value, int n)
{
    int i;
    for (i = 0; i < n && a[i] != value; i++)
        ;
    return i;
}
u64 scan_two(const u8 *a, u8 x)
{
    u64 i = 0;
    while (a[i] && a[i] != x)
        i++;
    return i;
}
int compare_bytes(const u8 *a, const u8 *b, u64 n)
{
    for (u64 i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}
u64 compare_words(const u32 *a, const u32 *b, u64 n)
{
    u64 i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}
int compare_strings(const u8 *a, const u8 *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a - *b;
}
const u8 *scan_back(const u8 *a, const u8 *first, u8 value)
{
    while (a > first && *a != value)
        a--;
    return a;
}
const u64 *scan_back_over(const u64 *a, const u64 *first, u64 value)
{
    while (a > first && *a == value)
        a--;
    return a;
}
u64 scan_doubles(const u64 *a, u64 value, u64 n)
{
    u64 i = 0;
    while (i < n && a[i] != value)
        i++;
    return i;
}
int scan_signed(const signed char *a, int value, int n)
{
    int i = 0;
    while (i < n && a[i] != value)
        i++;
    return i;
}
int scan_over_halves(const short *a, short value, int n)
{
    int i = 0;
    while (i < n && a[i] == value)
        i++;
    return i;
}
int compare_back(const u16 *a, const u16 *b, int n)
{
    while (n && a[n] == b[n])
        n--;
    return n;
}
int compare_doubles(const u64 *a, const u64 *b, int n)
{
    int i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}
struct record *search_key(struct record *r, struct record *end, u32 key)
{
    for (; r < end; r++)
        if (r->key == key)
            return r;
    return 0;
}
int search_flags(const struct record *r, u32 n, u32 flags)
{
    for (u32 i = 0; i < n; i++)
        if (r[i].flags & flags && r[i].kind < 4)
            return (int)i;
    return -1;
}
int search_above(const int *a, int n, int value)
{
    for (int i = 0; i < n; i++)
        if (a[i] > value)
            return i;
    return n;
}
int search_sorted(const u64 *a, u64 value)
{
    int i = 0;
    while (a[i] < value)
        i++;
    return i;
}

// ---- the rest ----

void sort_pass(int *a, int n)
{
    for (int j = 0; j < n - 1; j++)
        if (a[j] > a[j + 1]) {
            int t = a[j];
            a[j] = a[j + 1];
            a[j + 1] = t;
        }
}
void sort_pass_bytes(u8 *a, u64 n)
{
    for (u64 j = 1; j < n; j++)
        if (a[j - 1] < a[j]) {
            u8 t = a[j];
            a[j] = a[j - 1];
            a[j - 1] = t;
        }
}
void sort_pass_equal(u16 *a, u16 *end)
{
    for (; a < end; a++)
        if (a[0] >= a[1]) {
            u16 t = a[0];
            a[0] = a[1];
            a[1] = t;
        }
}
void sort_pass_down(long *a, long n)
{
    for (; n > 0; n--)
        if (a[n] <= a[n - 1]) {
            long t = a[n];
            a[n] = a[n - 1];
            a[n - 1] = t;
        }
}
void sort_pass_select(u64 *a, long n)
{
    for (long j = 0; j < n; j++) {
        u64 x = a[j], y = a[j + 1];
        a[j] = x < y ? x : y;
        a[j + 1] = x < y ? y : x;
    }
}
void delay(u32 n)
{
    for (; n; n--)
        __asm__ volatile("");
}
void delay_up(long n, long by)
{
    for (long i = 0; i < n; i += by)
        __asm__ volatile("");
}
struct item {
    struct item *next;
    u32 key;
    u32 pad;
    struct item *other;
};
struct item *list_last(struct item *p)
{
    while (p->next)
        p = p->next;
    return p;
}
u64 list_length(const struct item *p)
{
    u64 n = 0;
    for (; p; p = p->next)
        n++;
    return n;
}
struct item *list_find(struct item *p, u32 key)
{
    while (p && p->key != key)
        p = p->other;
    return p;
}
struct item *list_to(struct item *p, const struct item *end)
{
    while (p != end)
        p = p->next;
    return p;
}

// ---- waits ----

struct ring {
    u64 clock;
    u32 head, tail;
};
u64 poll_clock(const volatile struct ring *r, u64 end)
{
    u64 now;
    while ((now = r->clock) < end)
        ;
    return now;
}
u32 poll_ring(const volatile struct ring *r)
{
    while (r->head == r->tail)
        ;
    return r->head;
}
u64 poll_until(const volatile struct ring *r, u32 tail, u64 end, u64 *rounds)
{
    u64 n = 0;
    while (__atomic_load_n(&r->head, __ATOMIC_ACQUIRE) == tail && r->clock < end)
        n++;
    return *rounds = n;
}
void poll_bit(const volatile u8 *const *flags, unsigned bit)
{
    do
        __asm__ volatile("yield");
    while (!(**flags >> bit & 1));
}
