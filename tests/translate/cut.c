// SPDX-License-Identifier: MIT
// Guest program: code in files that are cut when it has become hot, while what is compiled of it is still on
// its way. Prints what it computes.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 8
#define PAGES 64

static uint64_t run_and_cut(void)
{
    static uint32_t code[PAGES][1024];
    for (uint32_t i = 0; i < PAGES; i++) {
        const uint32_t count[] = {
            0xd2800000, // mov x0, #0
            0x91000400 | i << 10, // add x0, x0, #1 + i
            0x91000400, // add x0, x0, #1
            0xf1500c1f, // cmp x0, #0x403000
            0x54ffffab, // b.lt to the second add
            0xd65f03c0, // ret
        };
        memcpy(code[i], count, sizeof count);
    }
    int fd = memfd_create("code", 0);
    write(fd, code, sizeof code);
    uint8_t *p = mmap(NULL, sizeof code, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 8 * PAGES; i++)
        sum += ((uint64_t(*)(void))(p + i % PAGES * sizeof *code))();
    ftruncate(fd, 0);
    close(fd);
    for (unsigned i = 0; i < 4000000; i++)
        sum ^= i;
    return sum;
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        printf("%llu\n", (unsigned long long)run_and_cut());
    return 0;
}
