// SPDX-License-Identifier: MIT
// Guest program: hostile FORM ADDRESS. Uses one form of access on good addresses, then on ADDRESS, in hex.
// Prints "good" before that and "survived" after it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t good[4096] __attribute__((aligned(64)));

#define FORM(name, text)                                                                                     \
    static __attribute__((noinline)) void name(uint64_t address)                                             \
    {                                                                                                        \
        register uint64_t base __asm__("x0") = address;                                                      \
        __asm__ volatile(text : "+r"(base) : : "x1", "x2", "x3", "x4", "v0", "v1", "v2", "v3", "memory");    \
    }

FORM(form0, "ldr x1, [x0]")
FORM(form1, "str x1, [x0, #8]")
FORM(form2, "ldrb w1, [x0, #1]")
FORM(form3, "strh w1, [x0], #2")
FORM(form4, "ldr w1, [x0, #4]!")
FORM(form5, "ldp x1, x2, [x0]")
FORM(form6, "stp w1, w2, [x0, #-8]")
FORM(form7, "mov x3, #2\n ldr x1, [x0, x3, lsl #3]")
FORM(form8, "mov x3, #-4\n ldrsw x1, [x0, w3, sxtw #2]")
FORM(form9, "ldr q0, [x0, #16]")
FORM(form10, "stp q0, q1, [x0]")
FORM(form11, "ld1 {v0.16b}, [x0]")
FORM(form12, "st4 {v0.4s-v3.4s}, [x0]")
FORM(form13, "ld1 {v0.b}[3], [x0]")
FORM(form14, "dc zva, x0")
FORM(form15, "ldar x1, [x0]")
FORM(form16, "ldxr x1, [x0]\n stxr w2, x1, [x0]")
FORM(form17, ".arch armv8-a+lse\n ldadd x1, x2, [x0]")
FORM(form18, "ldur d0, [x0, #-16]")
FORM(form19, "strb w1, [x0, #4095]")
// A register whose value has been accessed, then another one: straight on, by a sum, the next time round, on
// one of two ways that join.
FORM(form20, "mov x2, sp\n ldr x1, [x2]\n mov x2, x0\n ldr x1, [x2, #8]")
FORM(form21, "mov x2, sp\n ldr x1, [x2]\n sub x3, x0, x2\n add x2, x2, x3\n str x1, [x2, #16]")
FORM(form22, "mov x4, #2\n mov x2, sp\n 1: ldr x1, [x2, #8]\n mov x2, x0\n sub x4, x4, #1\n cbnz x4, 1b")
FORM(form23, "mov x2, sp\n ldr x1, [x2]\n tbz x0, #6, 1f\n mov x2, x0\n 1: ldr x1, [x2, #8]\n ldr x1, [x0]")

static void (*const forms[])(uint64_t) = {form0,  form1,  form2,  form3,  form4,  form5,  form6,  form7,
                                          form8,  form9,  form10, form11, form12, form13, form14, form15,
                                          form16, form17, form18, form19, form20, form21, form22, form23};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    void (*form)(uint64_t) = forms[atoi(argv[1]) % 24];
    // +N: beyond what is good, N bytes
    uint64_t address =
        strtoull(argv[2], NULL, 16) + (argv[2][0] == '+' ? (uint64_t)(uintptr_t)good + 2048 : 0);
    for (unsigned i = 0; i < 32; i++)
        form((uint64_t)(uintptr_t)good + 64 * (i + 1) - (form == form19 ? 2048 : 0));
    printf("good\n");
    fflush(stdout);
    for (unsigned i = 0; i < 3; i++)
        form(address);
    printf("survived\n");
    return 0;
}
