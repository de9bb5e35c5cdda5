// SPDX-License-Identifier: MIT
// Guest program: a function of forty places that branches lead back to, without a loop, each of which gets
// hot in its turn; and another one that jumps to them now and then. Prints what both mix.
#include <stdint.h>
#include <stdio.h>

enum { PLACES = 40, EACH = 50000, JUMPS = 100 };

uint64_t mix(uint64_t place, uint64_t value);
uint64_t jump(uint64_t place, uint64_t value);

// Each place is the fourth instruction of 28 bytes.
__asm__(".text\n"
        ".global mix, jump\n"
        "mix: .set place, 0\n"
        ".rept 40\n"
        "  cmp x0, #place\n b.ne 3f\n b 2f\n"
        "1: add x1, x1, #place\n b 3f\n"
        "2: eor x1, x1, x1, lsl #3\n b 1b\n"
        "3: .set place, place + 1\n"
        ".endr\n"
        "mov x0, x1\n ret\n"
        "jump: adr x2, mix + 12\n mov x3, #28\n madd x2, x0, x3, x2\n br x2\n");

int main(void)
{
    uint64_t value = 1;
    for (uint64_t place = 0; place < PLACES; place++)
        for (unsigned i = 0; i < EACH; i++)
            value = mix(place, value);
    for (unsigned i = 0; i < JUMPS; i++)
        for (uint64_t place = 0; place < PLACES; place++)
            value = jump(place, value);
    printf("%016llx\n", (unsigned long long)value);
    return 0;
}
