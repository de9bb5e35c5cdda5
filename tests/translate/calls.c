// SPDX-License-Identifier: MIT
// Guest program whose hot loop branches to a system call, which nothing can be compiled from.
#include <stdio.h>

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 2000000; i++) {
        register long x0 __asm__("x0") = i, x8 __asm__("x8") = 172; // getpid
        __asm__ volatile("cbz x0, 1f\n add x0, x0, #1\n1: svc #0" : "+r"(x0) : "r"(x8) : "memory");
        sum += x0 > 0;
    }
    printf("%ld\n", sum);
    return 0;
}
