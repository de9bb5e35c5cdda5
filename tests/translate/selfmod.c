// SPDX-License-Identifier: MIT
// Guest program: code that changes after it has become hot, by every way there is. Prints what it computes.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t function(uint64_t);

// mov x1, #n; add x0, x0, x1; ret
static void write_code(uint32_t *at, unsigned n)
{
    uint32_t code[] = {0xd2800001 | n << 5, 0x8b010000, 0xd65f03c0};
    memcpy(at, code, sizeof code);
    __builtin___clear_cache((char *)at, (char *)at + sizeof code);
}

static uint64_t call_often(function *f)
{
    uint64_t sum = 0;
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned i = 0; i < 30000; i++)
            sum = f(sum) & 0xffffff;
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    return sum;
}

static uint32_t *map(void *at, int prot)
{
    return mmap(at, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

// Only what a branch leads to changes, the branch does not; and it is seldom run, so nothing is translated.
// Low in memory the interpreter's blocks know of each other.
static void change_behind_branch(void)
{
    enum { PAGE_WORDS = 1024 };
    uint32_t *code = mmap((void *)0x20000000, 3 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    code[0] = 0xb4000000 | PAGE_WORDS << 5; // cbz x0, the second page
    code[1] = 0x14000000 | (2 * PAGE_WORDS - 1); // b the third one
    __builtin___clear_cache((char *)code, (char *)(code + 2));
    write_code(code + PAGE_WORDS, 7);
    for (unsigned n = 1; n <= 6; n++) {
        uint64_t sum = 0;
        write_code(code + PAGE_WORDS * (1 + n % 2), n);
        for (unsigned i = 0; i < 50; i++)
            sum = ((function *)(uintptr_t)code)(sum) % 60;
        printf("changed behind a branch: %llu\n", (unsigned long long)sum);
    }
}

int main(void)
{
    change_behind_branch();
    for (volatile unsigned i = 0; i < 24000000; i++) // only what runs for a while is translated
        ;
    uint32_t *code = map(NULL, PROT_READ | PROT_WRITE | PROT_EXEC);
    function *f = (function *)(uintptr_t)code;
    for (unsigned n = 1; n <= 3; n++) {
        write_code(code, n);
        printf("rewritten %u: %llu\n", n, (unsigned long long)call_often(f));
    }
    mprotect(code, 4096, PROT_READ | PROT_WRITE);
    write_code(code, 4);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    printf("protected and back: %llu\n", (unsigned long long)call_often(f));
    munmap(code, 4096);
    code = map(code, PROT_READ | PROT_WRITE);
    write_code(code, 5);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    printf("unmapped and mapped: %llu\n", (unsigned long long)call_often(f));
    return 0;
}
