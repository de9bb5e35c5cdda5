// SPDX-License-Identifier: MIT
// Guest program: faults LOOP [PLACE]. Makes a loop hot on good memory, then runs it into a page where it may
// not. Without a PLACE it does so at every place, and its handler of SIGSEGV prints where the loop was, the
// loop's registers, and a sum of what it wrote; with a number it dies at that one.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, GOOD = 4 * PAGE, ITERATIONS = 16000000, LONG = 2000, SHORT = 200, REGISTERS = 7 };

// x0 is stored through (or read, where nothing is stored), x1 read through; x2 counts; x3 is a value, x4 a
// table.
#define LOOP(name, text)                                                                                     \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"                              \
            " mov x5, #0\n mov x6, #0\n" text "\n ret\n.size " #name ", .-" #name "\n");                     \
    void name(uint8_t *, const uint8_t *, uint64_t, uint64_t, const uint8_t *);

LOOP(fill, "1: strb w3, [x0], #1\n subs x2, x2, #1\n b.ne 1b")
LOOP(fill_down, "1: str w3, [x0, #-4]!\n sub x2, x2, #1\n cbnz x2, 1b")
LOOP(copy, "1: ldrb w5, [x1], #1\n strb w5, [x0], #1\n subs x2, x2, #1\n b.ne 1b")
LOOP(copy_down, "1: ldrb w5, [x1, #-1]!\n strb w5, [x0, #-1]!\n subs x2, x2, #1\n b.ne 1b")
LOOP(column, "1: ubfx x5, x3, #16, #7\n ldrb w5, [x4, x5]\n strb w5, [x0]\n add x0, x0, #3\n"
             " add w3, w3, #0x7000\n subs x2, x2, #1\n b.ne 1b")
LOOP(map, "1: ldrb w5, [x1], #1\n ldrb w5, [x4, x5]\n strb w5, [x0], #1\n subs x2, x2, #1\n b.ne 1b")
LOOP(increase, "1: ldrb w5, [x0]\n add w5, w5, w3\n strb w5, [x0], #1\n subs x2, x2, #1\n b.ne 1b")
LOOP(sum, "1: ldrb w5, [x0], #1\n add x3, x3, x5\n subs x2, x2, #1\n b.ne 1b")
LOOP(length, "1: ldrb w5, [x0], #1\n cbnz w5, 1b")
LOOP(find, "1: ldrb w5, [x0], #1\n cmp w5, w3\n b.eq 2f\n subs x2, x2, #1\n b.ne 1b\n2:")
LOOP(compare,
     "1: ldrb w5, [x0], #1\n ldrb w6, [x1], #1\n cmp w5, w6\n b.ne 2f\n subs x2, x2, #1\n b.ne 1b\n2:")

static const struct loop {
    const char *name;
    void (*run)(uint8_t *, const uint8_t *, uint64_t, uint64_t, const uint8_t *);
    int direction; // of the accesses
    int step; // of those through x0
    uint64_t length; // iterations; translated code leaves long loops to kernels
} loops[] = {
    {"fill", fill, 1, 1, LONG},        {"fill_down", fill_down, -1, 4, LONG},
    {"copy", copy, 1, 1, LONG},        {"copy_down", copy_down, -1, 1, LONG},
    {"column", column, 1, 3, LONG},    {"map", map, 1, 1, LONG},
    {"sum", sum, 1, 1, LONG},          {"length", length, 1, 1, LONG},
    {"find", find, 1, 1, LONG},        {"compare", compare, 1, 1, LONG},
    {"short_map", map, 1, 1, SHORT},   {"short_increase", increase, 1, 1, SHORT},
    {"short_copy", copy, 1, 1, SHORT}, {"short_column", column, 1, 3, SHORT},
};

static sigjmp_buf back;
static const struct loop *loop;
static uint8_t table[256];

static void on_fault(int signal, siginfo_t *info, void *user)
{
    const ucontext_t *u = user;
    printf(" signal %d code %d address %#lx pc +%#lx", signal, info->si_code, (unsigned long)info->si_addr,
           (unsigned long)(u->uc_mcontext.pc - (uintptr_t)loop->run));
    for (int i = 0; i < REGISTERS; i++)
        if (i != 4) // the table, which lies where the linker wants
            printf(" x%d %llx", i, (unsigned long long)u->uc_mcontext.regs[i]);
    siglongjmp(back, 1);
}

// Two areas with a page before and after each, of which the loop meets the one in its way.
struct area {
    uint8_t *first, *pages;
};
static struct area areas[2];

static void make_area(struct area *a, uint64_t address, int protection)
{
    a->first = (uint8_t *)address;
    a->pages = mmap(a->first, GOOD + 2 * PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset(a->first, 1, GOOD + 2 * PAGE);
    if (protection < 0) {
        munmap(a->first, PAGE);
        munmap(a->first + PAGE + GOOD, PAGE);
    } else {
        mprotect(a->first, PAGE, protection);
        mprotect(a->first + PAGE + GOOD, PAGE, protection);
    }
}

// Where a loop starts that meets the end of its area after `before` iterations.
static uint8_t *start_in(const struct area *a, uint64_t before, int step)
{
    return loop->direction > 0 ? a->first + PAGE + GOOD - before * (uint64_t)step
                               : a->first + PAGE + before * (uint64_t)step;
}

static void run(uint64_t before0, uint64_t before1)
{
    loop->run(start_in(&areas[0], before0, loop->step), start_in(&areas[1], before1, 1), loop->length, 7,
              table);
}

static void warm_up(void)
{
    make_area(&areas[0], 0x50000000, PROT_READ | PROT_WRITE);
    make_area(&areas[1], 0x60000000, PROT_READ | PROT_WRITE);
    areas[0].first[PAGE + GOOD - 1] = loop->run == length ? 0 : 7; // ends what looks for it
    for (uint64_t i = 0; i < ITERATIONS; i += loop->length)
        run(loop->length, loop->length);
}

// What is in the way: unmapped, not to be touched, not to be written; met by the first pointer, by the
// second, in the first iteration or a later one.
enum { PLACES = 3 * 3 };

static void meet(unsigned place)
{
    static const int protections[] = {-1, PROT_NONE, PROT_READ};
    const uint64_t before[][2] = {{loop->length - 64, loop->length}, {loop->length, 100}, {0, 0}};
    make_area(&areas[0], 0x50000000, protections[place / 3]);
    make_area(&areas[1], 0x60000000, protections[place / 3]);
    run(before[place % 3][0], before[place % 3][1]);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof loops / sizeof *loops; i++)
        if (strcmp(argv[1], loops[i].name) == 0)
            loop = &loops[i];
    if (!loop)
        return 2;
    for (unsigned i = 0; i < sizeof table; i++)
        table[i] = (uint8_t)(i * 5 + 1);
    if (argc > 2) {
        warm_up();
        meet((unsigned)atoi(argv[2]));
        return 0;
    }
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, NULL);
    warm_up();
    for (unsigned place = 0; place < PLACES; place++) {
        printf("%u:", place);
        if (sigsetjmp(back, 1) == 0)
            meet(place);
        uint64_t hash = 0;
        for (unsigned i = 0; i < GOOD; i++)
            hash = hash * 31 + areas[0].first[PAGE + i];
        printf(" memory %llx\n", (unsigned long long)hash);
    }
    return 0;
}
