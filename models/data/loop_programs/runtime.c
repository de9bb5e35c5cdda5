// SPDX-License-Identifier: MIT
// Around the generated functions: data to work on, and the program's start. No C library.
#include "calls.h"

#include "../../../guest/device_page.h"

enum { BUFFERS = 3, BUFFER_SIZE = 1 << 20, ROUNDS = 8 };

u8 ga8[GLOBAL_ROOM], gb8[GLOBAL_ROOM], *g8;
u16 ga16[GLOBAL_ROOM], gb16[GLOBAL_ROOM], *g16;
u32 ga32[GLOBAL_ROOM], gb32[GLOBAL_ROOM], *g32;
u64 ga64[GLOBAL_ROOM], gb64[GLOBAL_ROOM], *g64;
struct rec24 grecords[256];
u8 *gsource, *gmap, *gmap2;
s32 gfuzz[32];
u32 gstep, gmask, gpos;
int gn, gi, gwidth;
u64 gv, gsum;
volatile u32 *gword;
struct device *gdevice;
double zeros[4096];

static u64 buffers[BUFFERS][BUFFER_SIZE / 8], state;
static struct device_page *page;
static u32 quiet_word;
u64 sink;

// Compilers make calls of loops, and loops of these functions: without the inner ones.
void *memset(void *d, int v, u64 n)
{
    for (u8 *p = d; n; n--) {
        *p++ = (u8)v;
        asm volatile("" ::: "memory");
    }
    return d;
}

void *memcpy(void *d, const void *s, u64 n)
{
    u8 *p = d;
    for (const u8 *q = s; n; n--) {
        *p++ = *q++;
        asm volatile("" ::: "memory");
    }
    return d;
}

void *memmove(void *d, const void *s, u64 n)
{
    u8 *p = d;
    const u8 *q = s;
    if (p <= q)
        return memcpy(d, s, n);
    while (n--) {
        p[n] = q[n];
        asm volatile("" ::: "memory");
    }
    return d;
}

u64 strlen(const char *s)
{
    u64 n = 0;
    for (; s[n]; n++)
        asm volatile("" ::: "memory");
    return n;
}

int memcmp(const void *s, const void *t, u64 n)
{
    for (u64 i = 0; i < n; i++) {
        if (((const u8 *)s)[i] != ((const u8 *)t)[i])
            return ((const u8 *)s)[i] - ((const u8 *)t)[i];
        asm volatile("" ::: "memory");
    }
    return 0;
}

void touch(void)
{
    sink++;
}

u64 mix(u64 x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

u64 mix2(u64 x, u64 y)
{
    return mix(x) + y;
}

void look(void *p)
{
    sink ^= (u64)p;
}

u64 fetch(void *p)
{
    return *(u8 *)p;
}

u64 (*gfunction)(u64 x) = mix;
u64 (*gtable[4])(u64 x, u64 y) = {mix2, mix2, mix2, mix2};

u64 value(void)
{
    state += 0x9e3779b97f4a7c15u;
    u64 x = mix(state) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int count(void)
{
    u64 v = value();
    return (int)(1 + (v >> 8) % (1u << (1 + v % 11)));
}

void *buffer(unsigned k)
{
    return (u8 *)buffers[k] + BUFFER_SIZE / 4 + 8 * (value() & 31);
}

static void put(void *p, u64 i, unsigned size, u64 v)
{
    for (unsigned k = 0; k < size; k++)
        ((u8 *)p)[i * size + k] = (u8)(v >> 8 * k);
}

static u64 cut(u64 v, unsigned size)
{
    return size == 8 ? v : v & ((1ul << 8 * size) - 1);
}

void haystack(void *p, int n, unsigned size, u64 needle)
{
    for (int i = 0; i < n; i++) {
        u64 v = value() | 1;
        if (cut(v, size) == cut(needle, size))
            v ^= 2;
        put(p, (u64)i, size, v);
    }
    put(p, (u64)n, size, needle);
}

void text(void *p, int n, unsigned size)
{
    haystack(p, n, size, 0);
}

void run(void *p, int n, unsigned size, u64 element)
{
    for (int i = 0; i < n; i++)
        put(p, (u64)i, size, element);
    put(p, (u64)n, size, ~element);
}

void twins(void *p, void *q, int n, unsigned size)
{
    text(p, n + 1, size);
    for (int i = 0; i < n * (int)size; i++)
        ((u8 *)q)[i] = ((u8 *)p)[i];
    for (int i = n * (int)size; i < (n + 1) * (int)size; i++)
        ((u8 *)q)[i] = (u8) ~((u8 *)p)[i];
}

void sorted(void *p, int n, unsigned size)
{
    u64 v = 0;
    for (int i = 0; i <= n; i++) {
        v += value() % (1 + (size == 1 ? 120 : 30000) / ((u64)n + 1));
        put(p, (u64)i, size, v);
    }
}

void smaller(void *p, int n, unsigned size)
{
    for (int i = 0; i <= n; i++)
        put(p, (u64)i, size, value() & 7);
}

void records(void *p, int n, unsigned size, u64 last)
{
    u8 *end = (u8 *)p + (u64)n * size;
    for (u8 *q = p; q < end; q++)
        *q = (u8)value() | 1;
    for (unsigned i = 0; i + 4 <= size; i += 4)
        *(u32 *)(end + i) = (u32)last;
    for (unsigned i = 0; i < size; i++)
        end[size + i] = 0;
}

// The n elements lie in a row, but are linked in another order.
void *list(void *p, int n, unsigned size, unsigned offset, int ring)
{
    u8 *base = p, *first = base;
    n = n > 0 ? n : 1;
    u64 step = 1ul << value() % 5, at = 0; // has no divisor in common with room
    int room = n | 1;
    for (int i = 0; i < n; i++) {
        for (unsigned k = 0; k < size; k += 8)
            *(u64 *)(base + at * size + k) = value();
        u64 next = (at + step) % (u64)room;
        *(void **)(base + at * size + offset) = i < n - 1 ? base + next * size : ring ? first : (void *)0;
        at = next;
    }
    return first;
}

void chain(void *p, int n, unsigned size)
{
    for (int i = 0; i <= n; i++)
        put(p, (u64)i, size, i < n ? (u64)i + 1 : 0);
}

volatile void *word(void)
{
    if (!page)
        return &quiet_word;
    page->ring.event_tail = page->ring.event_head;
    page->info.menu_active = 1; // asks for events
    return &page->ring.event_head;
}

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 asm("x8") = number, x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c;
    register long x3 asm("x3") = d, x4 asm("x4") = e, x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

void start(void)
{
    long fd = system_call(56, -100, (long)DEVICE_PATH, 2, 0, 0, 0);
    if (fd >= 0) {
        long mapped = system_call(222, 0, (long)DEVICE_SIZE, 3, 1, fd, 0);
        page = mapped < 0 && mapped > -4096 ? (void *)0 : (struct device_page *)mapped;
    }
    state = program_seed;
    g8 = ga8, g16 = ga16, g32 = ga32, g64 = ga64;
    for (unsigned i = 0; i < sizeof buffers / 8; i++)
        ((u64 *)buffers)[i] = value();
    for (unsigned i = 0; i < GLOBAL_ROOM; i++) {
        u64 v = value();
        ga8[i] = (u8)v, ga16[i] = (u16)v, ga32[i] = (u32)v, ga64[i] = v;
        gb8[i] = (u8)(v >> 8), gb16[i] = (u16)(v >> 8), gb32[i] = (u32)(v >> 8), gb64[i] = v >> 8;
    }
    for (unsigned i = 0; i < 32; i++)
        gfuzz[i] = value() & 1 ? 320 : -320;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < function_count; i++) {
            gsource = buffer(1), gmap = buffer(2), gmap2 = gmap + 4096;
            gstep = (u32)value() & 0xfffff, gmask = 127, gwidth = 320, gv = value();
            calls[i]();
            if (page)
                page->info.menu_active = 0;
        }
    }
    system_call(94, 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: mov x29, xzr\n mov x30, xzr\n bl start\n");
