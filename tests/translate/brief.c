// SPDX-License-Identifier: MIT
// Guest program: a short function that is hot at once, called from one so long that it is interpreted to the
// end. Each stay in the short one's translated code is too brief to pay. Prints what they compute.
#include <stdint.h>
#include <stdio.h>

static __attribute__((noinline, noclone, noipa)) uint32_t step(uint32_t x)
{
    return x & 1 ? x * 5 + 3 : (x >> 3) ^ x;
}

#define TIMES_4(what) what what what what
#define TIMES_1024(what) TIMES_4(TIMES_4(TIMES_4(TIMES_4(TIMES_4(what)))))

int main(void)
{
    uint32_t x = 1;
    for (unsigned i = 0; i < 40000; i++) {
        TIMES_1024(x = step(x) + i;)
    }
    printf("%u\n", x);
    return 0;
}
