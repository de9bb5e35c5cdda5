// SPDX-License-Identifier: MIT
// Guest loops that make something of what they load, to be compiled at several levels and fuzzed by
// fuzz_loops.c. Nothing is called.
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

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

// ---- scans, searches, compares ----

struct record {
    u32 key, flags;
    u64 value;
    u8 kind, more[7];
};

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
// Goes round on one way through the body only; the other one, which is longer, always leaves.
__asm__("search_then_leave:\n"
        "1: add w0, w0, #1\n add x3, x3, #24\n cmp w1, w0\n b.eq 2f\n ldr w4, [x3]\n tst x2, x4\n b.eq 1b\n"
        "ldrb w4, [x3, #12]\n cmp w4, #543\n b.hi 1b\n"
        "2: ret\n");
