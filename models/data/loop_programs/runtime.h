// SPDX-License-Identifier: MIT
// What the generated functions work on. They are compiled in every configuration; what is around them
// (runtime.c and the calls) in one.
#ifndef RUNTIME_H
#define RUNTIME_H

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned u32;
typedef int s32;
typedef unsigned long u64;
typedef long s64;

#define or ||

struct pair8 {
    u32 a, b;
};
struct pair16 {
    u64 a, b;
};
struct quad16 {
    u32 a, b, c, d;
};

// Records of several sizes, with the same fields at other places.
struct rec8 {
    u32 id;
    s32 value;
};
struct rec16 {
    s32 value;
    u64 a;
    u32 id;
};
struct rec24 {
    u64 a;
    u32 id, b;
    s32 value, c;
};
struct rec32 {
    u32 id, a, b, c;
    u64 d;
    s32 value;
};
struct rec40 {
    u8 name[8];
    u64 a, b;
    s32 value;
    u32 c, id;
};
struct rec48 {
    u64 a, b;
    s32 value;
    u32 id;
    u64 c, d, e;
};

struct node_a {
    struct node_a *next;
    s32 value, other;
};
struct node_b {
    s32 value, other;
    struct node_b *next;
};
struct node_c {
    struct node_c *previous, *next;
    s64 value;
    s32 other;
};
struct node_d {
    u64 a, b;
    s16 value;
    u16 other;
    struct node_d *next;
    u64 c;
};
struct node_e {
    u64 a, b, c, d, e;
    u8 other;
    s32 value;
    u64 g[4];
    struct node_e *next;
};

struct device {
    u64 a[7];
    volatile u32 word;
};

// Globals: arrays, and pointers to arrays.
enum { GLOBAL_ROOM = 32768 };
extern u8 ga8[GLOBAL_ROOM], gb8[GLOBAL_ROOM], *g8;
extern u16 ga16[GLOBAL_ROOM], gb16[GLOBAL_ROOM], *g16;
extern u32 ga32[GLOBAL_ROOM], gb32[GLOBAL_ROOM], *g32;
extern u64 ga64[GLOBAL_ROOM], gb64[GLOBAL_ROOM], *g64;
extern struct rec24 grecords[256];
extern u8 *gsource, *gmap, *gmap2;
extern s32 gfuzz[32];
extern u32 gstep, gmask, gpos;
extern int gn, gi, gwidth;
extern u64 gv, gsum;
extern volatile u32 *gword;
extern struct device *gdevice;

// Functions to call, which no compiler can look into.
void touch(void);
u64 mix(u64 x);
u64 mix2(u64 x, u64 y);
void look(void *p);
u64 fetch(void *p);
extern u64 (*gfunction)(u64 x);
extern u64 (*gtable[4])(u64 x, u64 y);

#endif
