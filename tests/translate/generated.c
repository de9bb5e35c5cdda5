// SPDX-License-Identifier: MIT
// Guest program that makes code, runs it and makes other code in its place, again and again. generated blocks
// N: long rows of instructions, once each. generated regions N: loops, each until renewed.c lets it go on (or
// not, with one more argument); in the midst of them a great many functions that are called now and then.
// Prints what they compute.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_WORDS = 1024, ROW = 1000, FUNCTIONS = 33000, CALLS = 1100 };
#define FLAGS ((volatile uint32_t *)0x30000000) // the loop that runs, the one that may end

typedef uint64_t function(uint64_t);

static void end_code(uint32_t *begin, uint32_t *at)
{
    *at++ = 0xd65f03c0; // ret
    __builtin___clear_cache((char *)begin, (char *)at);
}

// add x0, x0, #n and #n + 1 and so on
static uint64_t run_row(uint32_t *code, unsigned n)
{
    for (unsigned i = 0; i < ROW; i++)
        code[i] = 0x91000000 | ((n + i) & 0xfff) << 10;
    end_code(code, code + ROW);
    return ((function *)(uintptr_t)code)(n);
}

// A loop of 1000 rounds that adds n.
static void write_loop(uint32_t *code, unsigned n)
{
    const uint32_t words[] = {
        0xd2807d01, // mov x1, #1000
        0x91000000 | (n & 0xfff) << 10, // add x0, x0, #n
        0xf1000421, // subs x1, x1, #1
        0x54ffffc1, // b.ne the addition
    };
    memcpy(code, words, sizeof words);
    end_code(code, code + sizeof words / sizeof *words);
}

// Functions of two instructions.
static uint64_t call_many(uint32_t *code)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        code[2 * i] = 0x91000000 | (i & 0xfff) << 10, code[2 * i + 1] = 0xd65f03c0;
    end_code(code, code + 2 * FUNCTIONS);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        for (unsigned k = 0; k < CALLS; k++)
            sum = ((function *)(uintptr_t)(code + 2 * i))(sum);
    return sum;
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const int alone = argc > 3;
    uint32_t *code = mmap(NULL, (count + 1) * 4096ul, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mmap((void *)0x30000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    uint32_t *functions = mmap(NULL, FUNCTIONS * 8ul + 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t sum = 0;
    for (unsigned n = 1; argc > 2 && n <= count; n++) {
        if (strcmp(argv[1], "blocks") == 0) {
            sum += run_row(code, n);
            continue;
        }
        uint32_t *own = code + n * PAGE_WORDS;
        if (n == count * 3 / 4)
            sum += call_many(functions);
        write_loop(own, n);
        FLAGS[0] = n;
        sum += ((function *)(uintptr_t)own)(n);
        while (!alone && FLAGS[1] < n)
            ((function *)(uintptr_t)own)(n);
        end_code(own, own); // nobody comes back to it
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
