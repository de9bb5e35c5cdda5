// SPDX-License-Identifier: MIT
// Guest program: two processes that share memory count together, by every kind of atomic access, and by plain
// ones under locks that need the order that they ask for. Prints what they counted.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNTS = 1500000, LOCKED = 100000, LINE = 8 };

typedef struct {
    uint64_t exclusive[LINE], pair[LINE], added[LINE], compared[LINE], bytes[LINE];
    uint64_t swap_lock[LINE], under_swap[LINE];
    uint64_t flags[2][LINE], turn[LINE], under_flags[LINE];
    uint64_t ready[LINE];
} shared;

__asm__(".arch armv8.1-a");

__attribute__((noipa)) static void count_exclusive(uint32_t *at)
{
    uint32_t value, failed;
    __asm__ volatile("1: ldaxr %w0, [%2]\n\tadd %w0, %w0, #1\n\tstlxr %w1, %w0, [%2]\n\tcbnz %w1, 1b"
                     : "=&r"(value), "=&r"(failed)
                     : "r"(at)
                     : "memory");
}

__attribute__((noipa)) static void count_pair(uint64_t *at)
{
    uint32_t value, other, failed;
    __asm__ volatile("1: ldxp %w0, %w1, [%3]\n\tadd %w0, %w0, #1\n\tstxp %w2, %w0, %w1, [%3]\n\tcbnz %w2, 1b"
                     : "=&r"(value), "=&r"(other), "=&r"(failed)
                     : "r"(at)
                     : "memory");
}

__attribute__((noipa)) static void count_added(uint64_t *at)
{
    __asm__ volatile("ldadd %0, xzr, [%1]" : : "r"(1ul), "r"(at) : "memory");
}

__attribute__((noipa)) static void count_compared(uint16_t *at)
{
    uint32_t old, seen;
    do {
        old = *(volatile uint16_t *)at;
        seen = old;
        __asm__ volatile("cash %w0, %w1, [%2]" : "+r"(seen) : "r"(old + 1), "r"(at) : "memory");
    } while ((seen & 0xffff) != old);
}

// Every bit of the byte is flipped as often by both.
__attribute__((noipa)) static void flip(uint8_t *at, unsigned i)
{
    __asm__ volatile("ldeorb %w0, wzr, [%1]" : : "r"(1u << i % 8), "r"(at) : "memory");
}

__attribute__((noipa)) static void count_under_swap(shared *s)
{
    uint64_t was;
    for (;;) {
        __asm__ volatile("swpa %1, %0, [%2]" : "=&r"(was) : "r"(1ul), "r"(s->swap_lock) : "memory");
        if (!was)
            break;
        sched_yield();
    }
    *(volatile uint64_t *)s->under_swap += 1;
    __asm__ volatile("stlr xzr, [%0]" : : "r"(s->swap_lock) : "memory");
}

// Peterson's lock: what one has stored, the other has to see before this one loads.
__attribute__((noipa)) static void count_under_flags(shared *s, unsigned me, unsigned round)
{
    volatile uint64_t *mine = s->flags[me], *other = s->flags[!me], *turn = s->turn;
    if (round % 2) {
        *mine = 1;
        *turn = !me;
        __asm__ volatile("dmb ish" : : : "memory");
    } else {
        __asm__ volatile("stlr %0, [%1]\n\tstlr %2, [%3]"
                         :
                         : "r"(1ul), "r"(mine), "r"((uint64_t)!me), "r"(turn)
                         : "memory");
    }
    for (;;) {
        uint64_t wants, whose;
        __asm__ volatile("ldar %0, [%2]\n\tldar %1, [%3]"
                         : "=&r"(wants), "=&r"(whose)
                         : "r"(other), "r"(turn)
                         : "memory");
        if (!wants || whose == me)
            break;
        sched_yield();
    }
    *(volatile uint64_t *)s->under_flags += 1;
    __asm__ volatile("stlr xzr, [%0]" : : "r"(mine) : "memory");
}

int main(void)
{
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    if (s == MAP_FAILED)
        return 1;
    s->pair[0] = 7ull << 32;
    pid_t child = fork();
    const unsigned me = child == 0;
    *(volatile uint64_t *)&s->ready[me] = 1;
    while (!*(volatile uint64_t *)&s->ready[!me])
        sched_yield();
    for (unsigned i = 0; i < COUNTS; i++) {
        count_exclusive((uint32_t *)s->exclusive);
        count_pair(s->pair);
        count_added(s->added);
        count_compared((uint16_t *)s->compared);
        flip((uint8_t *)s->bytes, i);
    }
    for (unsigned i = 0; i < LOCKED; i++) {
        count_under_swap(s);
        count_under_flags(s, me, i);
    }
    if (child == 0)
        _exit(0);
    if (waitpid(child, &status, 0) != child || status)
        return 2;
    printf("exclusive: %llu\n", (unsigned long long)s->exclusive[0]);
    printf("pair: %llx\n", (unsigned long long)s->pair[0]);
    printf("added: %llu\n", (unsigned long long)s->added[0]);
    printf("compared: %llu\n", (unsigned long long)s->compared[0]);
    printf("flipped: %llx\n", (unsigned long long)s->bytes[0]);
    printf("under a lock that is swapped: %llu\n", (unsigned long long)s->under_swap[0]);
    printf("under flags: %llu\n", (unsigned long long)s->under_flags[0]);
    return 0;
}
