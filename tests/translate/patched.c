// SPDX-License-Identifier: MIT
// Guest program that changes code which is running: what has a copy in the loop that goes on, what has one in
// a function that waits for who changes it, and the next instruction but for the barriers. With the argument
// same it writes what is there already; with cold, a function of its own changes the second.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUNDS = 20000, EVERY = 4000, IN_LINE = 200 };

// Each on a page of its own, and short enough to have copies in its callers.
int short_one(void), short_two(void);
uint64_t in_line(uint64_t rounds);
__asm__(".text\n.align 12\n.global short_one, short_two, in_line\n"
        ".type short_one, %function\nshort_one: mov w0, #1\n ret\n.align 12\n"
        ".type short_two, %function\nshort_two: mov w0, #1\n ret\n.align 12\n"
        // The sum of 1 to rounds, by a mov that is written anew in each.
        ".type in_line, %function\nin_line: adr x1, 2f\n mov w2, #0x52800000\n orr w2, w2, #3\n mov x4, #0\n"
        "1: add w2, w2, #0x20\n str w2, [x1]\n dc cvau, x1\n dsb ish\n ic ivau, x1\n dsb ish\n isb\n"
        "2: mov w3, #0\n add x4, x4, x3\n subs x0, x0, #1\n b.ne 1b\n mov x0, x4\n ret\n.align 12\n");

// mov w0, #value; what else there is in it is the same for all.
#define PATCH(function, value)                                                                               \
    do {                                                                                                     \
        volatile uint32_t *code = (volatile uint32_t *)(uintptr_t)(function);                                \
        *code = 0x52800000 | (value) << 5;                                                                   \
        __asm__ volatile("dc cvau, %0\n\tdsb ish\n\tic ivau, %0\n\tdsb ish\n\tisb"                           \
                         :                                                                                   \
                         : "r"(code)                                                                         \
                         : "memory");                                                                        \
    } while (0)

__attribute__((noipa)) static void patch(int (*function)(void), unsigned value)
{
    PATCH(function, value);
}

__attribute__((noipa)) static void patch_cold(int (*function)(void), unsigned value)
{
    PATCH(function, value);
}

static unsigned first = 2, more = 1; // values that are written

// Changes what it runs itself.
__attribute__((noipa)) static uint64_t in_loop(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % EVERY == EVERY - 1)
            PATCH(short_one, first + i / EVERY * more);
        sum = sum * 3 + (unsigned)short_one();
    }
    return sum;
}

// Has it changed, and goes on with it.
__attribute__((noipa)) static uint64_t behind_call(void (*change)(int (*function)(void), unsigned value))
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % EVERY == EVERY - 1)
            change(short_two, first + i / EVERY * more);
        sum = sum * 3 + (unsigned)short_two();
    }
    return sum;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "same") == 0) {
        first = 1;
        more = 0;
    }
    if (mprotect((void *)(uintptr_t)short_one, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 1;
    printf("in a loop: %016llx\n", (unsigned long long)in_loop());
    printf("behind a call: %016llx\n",
           (unsigned long long)behind_call(strcmp(how, "cold") == 0 ? patch_cold : patch));
    printf("in line: %llu\n", (unsigned long long)in_line(IN_LINE));
    return 0;
}
