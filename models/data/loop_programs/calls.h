// SPDX-License-Identifier: MIT
// Between the calls of the generated functions and runtime.c.
#ifndef CALLS_H
#define CALLS_H

#include "runtime.h"

// What the generated file of calls defines.
extern const u64 program_seed;
extern void (*const calls[])(void);
extern const unsigned function_count;

// What the calls use.
extern u64 sink;
extern double zeros[4096];
#define use(x) (sink += (u64)(x))
int count(void); // 1 to 2048, small ones as often as large ones
u64 value(void);
void *buffer(unsigned k); // 0..2: enough room on both sides
// n elements of size bytes, then …
void text(void *p, int n, unsigned size); // … a zero
void haystack(void *p, int n, unsigned size, u64 needle); // … the needle
void run(void *p, int n, unsigned size, u64 element); // all of them alike, then … another one
void records(void *p, int n, unsigned size, u64 last); // … one whose fields are all last, and zeros
void twins(void *p, void *q, int n, unsigned size); // equal up to n, then different
void sorted(void *p, int n, unsigned size);
void smaller(void *p, int n, unsigned size); // 0 to 7
void *list(void *p, int n, unsigned size, unsigned offset, int ring); // linked at offset
void chain(void *p, int n, unsigned size); // element i holds i + 1, the last one 0
volatile void *word(void); // one that changes by itself

#endif
