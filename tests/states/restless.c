// SPDX-License-Identifier: MIT
// A program that maps, unmaps, moves and protects memory, writes everywhere, changes its own code, handles
// signals and reads a file: what a way back has to undo. It is in a folder of its own and has a file open as
// a mere place, which another machine has to open again. The same for the same seed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 12
#define PAGE 4096u

static uint64_t state;
static struct block {
    uint8_t *at;
    uint32_t pages;
    int prot;
} blocks[BLOCKS];
static sigjmp_buf escape;
static volatile unsigned faults;

static uint32_t pick(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void on_fault(int number)
{
    (void)number;
    faults++;
    siglongjmp(escape, 1);
}

// Accesses that may fault.
static uint32_t poke(uint8_t *at, int write)
{
    volatile uint32_t sum = 0;
    if (!sigsetjmp(escape, 1)) {
        sum = *(volatile uint32_t *)at;
        if (write)
            *(volatile uint32_t *)at = sum * 2654435761u + (uint32_t)pick(1000);
    }
    return sum;
}

static void fill(struct block *b)
{
    if ((b->prot & PROT_WRITE) == 0)
        return;
    if (pick(4) == 0)
        memset(b->at, (int)pick(256), (size_t)b->pages * PAGE);
    for (unsigned i = pick(30); i > 0; i--)
        b->at[pick(b->pages * PAGE)] += (uint8_t)i;
}

static void new_block(struct block *b)
{
    static const int prots[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
                                PROT_READ | PROT_WRITE | PROT_EXEC};
    if (b->at && pick(2))
        munmap(b->at, (size_t)b->pages * PAGE);
    b->pages = 1 + pick(pick(8) ? 20 : 700);
    b->prot = prots[pick(4) ? 2 : pick(4)];
    b->at = mmap(NULL, (size_t)b->pages * PAGE, b->prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->at == MAP_FAILED)
        abort();
}

static void protect(struct block *b)
{
    uint32_t first = pick(b->pages), count = 1 + pick(b->pages - first);
    int prot = pick(2) ? PROT_READ | PROT_WRITE : pick(2) ? PROT_READ : PROT_NONE;
    mprotect(b->at + (size_t)first * PAGE, (size_t)count * PAGE, prot);
    if (first || count < b->pages || prot != b->prot)
        mprotect(b->at, (size_t)b->pages * PAGE, b->prot = PROT_READ | PROT_WRITE);
    for (unsigned i = 0; i < 3; i++)
        poke(b->at + (size_t)pick(b->pages) * PAGE, pick(2) != 0);
    if (pick(3) == 0)
        mprotect(b->at, (size_t)b->pages * PAGE, b->prot = prot);
}

static void move(struct block *b)
{
    uint32_t pages = 1 + pick(40);
    void *at = mremap(b->at, (size_t)b->pages * PAGE, (size_t)pages * PAGE, MREMAP_MAYMOVE);
    if (at != MAP_FAILED) {
        b->at = at;
        b->pages = pages;
    }
}

// Code that adds a constant, written anew and run.
static uint32_t run_code(uint32_t value)
{
    static uint32_t *code;
    if (!code)
        code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *at = code + pick(2) * 1024 + pick(16) * 4;
    at[0] = 0x11000000u | pick(4096) << 10; // add w0, w0, #n
    at[1] = 0x4a000400u; // eor w0, w0, w0, lsl #1
    at[2] = 0xd65f03c0u; // ret
    __builtin___clear_cache((char *)at, (char *)(at + 3));
    for (unsigned i = 0; i < 20; i++)
        value = ((uint32_t(*)(uint32_t))at)(value);
    return value;
}

static uint32_t sum_of(const struct block *b)
{
    uint32_t sum = b->pages;
    if (b->prot & PROT_READ)
        for (size_t i = 0; i < (size_t)b->pages * PAGE; i += 61)
            sum = sum * 31 + b->at[i];
    return sum;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_fault};
    uint32_t value = 1;
    state = (uint64_t)atoll(argc > 1 ? argv[1] : "1");
    sigaction(SIGSEGV, &action, NULL);
    char own[PATH_MAX];
    snprintf(own, sizeof own, "%s%s", *argv[0] == '/' ? "" : "../", argv[0]);
    mkdir("folder", 0700);
    if (chdir("folder") || open(own, O_PATH) < 0)
        abort();
    int self = open(own, O_RDONLY);
    const struct itimerval far = {.it_value = {100000, 0}};
    const struct itimerspec further = {.it_interval = {7, 0}, .it_value = {200000, 0}};
    struct itimerval far_now = {0};
    struct itimerspec further_now = {0};
    timer_t timer;
    setitimer(ITIMER_REAL, &far, NULL);
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    timer_settime(timer, 0, &further, NULL);
    for (int i = 0; i < BLOCKS; i++)
        new_block(&blocks[i]);
    for (unsigned round = 0; round < 500; round++) {
        struct block *b = &blocks[pick(BLOCKS)];
        uint8_t bytes[64] = {0};
        switch (pick(10)) {
        case 0: new_block(b); break;
        case 1: protect(b); break;
        case 2: move(b); break;
        case 3: madvise(b->at, (size_t)(1 + pick(b->pages)) * PAGE, MADV_DONTNEED); break;
        case 4: value += run_code(value); break;
        case 5:
            if (read(self, bytes, sizeof bytes) < 64 || pick(30) == 0)
                lseek(self, (off_t)pick(5000), SEEK_SET);
            break;
        case 6: free(malloc(1 + pick(300000))); break;
        case 7:
            if (pick(5) == 0)
                self = dup2(open(own, O_RDONLY), (int)(10 + pick(3)));
            break;
        default: fill(b);
        }
        for (unsigned i = 0; i < sizeof bytes; i++)
            value = value * 33 + bytes[i];
        value = value * 31 + sum_of(b);
        if (round % 10 == 9)
            printf("%u %08x %u\n", round, value, faults), fflush(stdout);
    }
    getitimer(ITIMER_REAL, &far_now);
    timer_gettime(timer, &further_now);
    printf("%d %d %d\n", far_now.it_value.tv_sec > 90000, further_now.it_value.tv_sec > 190000,
           (int)further_now.it_interval.tv_sec);
    return 0;
}
