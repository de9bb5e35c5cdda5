// SPDX-License-Identifier: MIT
// Code that stores into the page that it is in, and then writes registers: what it is was decoded before the
// store, and is not decoded any more after it. Prints what the registers are.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef uint64_t function(void *at, uint64_t x1, uint64_t x2);

static const struct {
    const char *name;
    uint32_t words[6];
} codes[] = {
    {"post-indexed", {0xb8008401, 0xd65f03c0}}, // str w1, [x0], #8; ret
    {"pre-indexed", {0xb8008c01, 0xd65f03c0}}, // str w1, [x0, #8]!; ret
    {"a pair", {0xa8810801, 0xd65f03c0}}, // stp x1, x2, [x0], #16; ret
    {"a vector", {0x3c810400, 0xd65f03c0}}, // str q0, [x0], #16; ret
    // str w1, [x0], #4; str w2, [x0], #4; str w3, [x0], #4; add x0, x0, #5; ret
    {"several", {0xb8004401, 0xb8004402, 0xb8004403, 0x91001400, 0xd65f03c0}},
    {"swapped", {0xb8218003, 0x8b030000, 0xd65f03c0}}, // swp w1, w3, [x0]; add x0, x0, x3; ret
    {"added", {0xb8210003, 0x8b030000, 0xd65f03c0}}, // ldadd w1, w3, [x0]; add x0, x0, x3; ret
    // ldxr w3, [x0]; stxr w4, w1, [x0]; add x3, x3, x4; add x0, x0, x3; ret
    {"exclusive", {0x885f7c03, 0x88047c01, 0x8b040063, 0x8b030000, 0xd65f03c0}},
    // str w1, [x0], #4; orr x4, x0, #1 << 56; ldur w3, [x4, #-4]; add x0, x0, x3; ret
    {"tagged", {0xb8004401, 0xb2480004, 0xb85fc083, 0x8b030000, 0xd65f03c0}},
};

int main(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        memcpy(page, codes[i].words, sizeof codes[i].words);
        __builtin___clear_cache(page, page + sizeof codes[i].words);
        for (unsigned round = 0; round < 3; round++) {
            uint64_t result = ((function *)(uintptr_t)page)(page + 2048, 5, 6);
            printf("%s: %lld\n", codes[i].name, (long long)(result - (uint64_t)page));
        }
    }
    return 0;
}
