// SPDX-License-Identifier: MIT
// Guest program: code of a shared file that is written by another address than it is run by, and made known
// by the one or by the other. Prints how often the old code ran.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, CHANGES = 60 };

typedef unsigned function(void);

// mov w0, #value; ret
static void write_code(uint32_t *at, unsigned value)
{
    at[0] = 0x52800000 | value << 5;
    at[1] = 0xd65f03c0;
}

// Calls what has just been changed so often; counts what is not right.
static unsigned run(uint32_t *written, uint32_t *code, const uint32_t *told, unsigned calls)
{
    unsigned wrong = 0;
    for (unsigned value = 1; value <= CHANGES; value++) {
        write_code(written, value);
        __builtin___clear_cache((char *)told, (char *)(told + 2));
        for (unsigned i = 0; i < calls; i++)
            wrong += ((function *)(uintptr_t)code)() != value;
    }
    return wrong;
}

int main(void)
{
    int fd = memfd_create("code", 0);
    if (fd < 0 || ftruncate(fd, 2 * PAGE))
        return 1;
    uint8_t *written = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint8_t *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    if (written == MAP_FAILED || code == MAP_FAILED)
        return 1;
    for (unsigned page = 0; page < 2; page++) {
        uint32_t *w = (uint32_t *)(written + page * PAGE), *c = (uint32_t *)(code + page * PAGE);
        for (unsigned calls = 1; calls <= 10000; calls *= 100)
            printf("page %u, %u calls: %u wrong where it is written, %u where it runs\n", page, calls,
                   run(w, c, w, calls), run(w, c, c, calls));
    }
    return 0;
}
