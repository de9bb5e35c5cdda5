// SPDX-License-Identifier: MIT
// Native test of core/state/memory.c: mapping, limits, moving, the search for free ranges against a plain
// model, and ops that are forgotten when their code is written.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/state/memory.h"

#define RW (PROT_READ | PROT_WRITE)
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: %s\n", __LINE__, #condition);                                                   \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

static uint64_t find_plainly(const struct memory *m, uint64_t length, uint64_t ceiling)
{
    uint64_t need = length / GUEST_PAGE;
    for (uint64_t start = ceiling / GUEST_PAGE - need + 1; start-- > GUEST_MMAP_MIN / GUEST_PAGE;) {
        uint64_t i = 0;
        while (i < need && !m->pages[start + i])
            i++;
        if (i == need)
            return start * GUEST_PAGE;
    }
    return 0;
}

static int mapping(struct memory *m)
{
    CHECK(memory_map(m, 0x10000, 0x20000, RW) == 0);
    strcpy((char *)m->base + 0x10000, "text");
    CHECK(m->mapped == 0x20000);
    CHECK(memory_move(m, 0x10000, 0x10000, 0x100000) == 0);
    CHECK(!strcmp((char *)m->base + 0x100000, "text") && m->mapped == 0x20000);
    CHECK(memory_move(m, 0x100000, 0x10000, 0x108000) == -EINVAL);
    CHECK(memory_map(m, 0x8000, GUEST_PAGE, RW) == -EINVAL);
    CHECK(memory_map(m, GUEST_SPACE - GUEST_PAGE, 2 * GUEST_PAGE, RW) == -EINVAL);
    CHECK(memory_map(m, 0x20000000, (1u << 30) - 0x10000, RW) == -ENOMEM);
    CHECK(memory_map(m, 0x20000000, 1u << 30, PROT_NONE) == 0 && m->mapped == 0x20000);
    CHECK(memory_protect(m, 0x20000000, 1u << 30, RW) == -ENOMEM);
    CHECK(memory_protect(m, 0x28000, 0x10000, PROT_READ) == -ENOMEM); // a hole behind
    CHECK(!memory_allows(m, 0x28000, 8, PROT_WRITE) && memory_allows(m, 0x27ff8, 8, PROT_WRITE));
    CHECK(!memory_allows(m, 0x2fffc, 8, PROT_READ) && !memory_allows(m, UINT64_MAX - 3, 8, PROT_READ));
    CHECK(memory_access(m, 0xab00000000020000, 8, PROT_READ) == m->base + 0x20000);
    uint64_t length = 0x100000;
    CHECK(memory_access_prefix(m, 0x2f000, &length, PROT_READ) && length == 0x1000);
    CHECK(memory_unmap(m, 0x10000, GUEST_SPACE - 0x10000) == 0 && m->mapped == 0);
    return 0;
}

static int code(struct memory *m)
{
    op *first = &m->ops[0x100004 / 4];
    CHECK(memory_map(m, 0x100000, 0x4000, RW | PROT_EXEC) == 0);
    CHECK(!memory_mark_code(m, 0x200000) && memory_mark_code(m, 0x100004));
    first->handler = 5;
    CHECK(!memory_handle_write(m, 0x101000)); // no code there: a true fault
    CHECK(memory_handle_write(m, 0x100ff8) && first->handler == 0);
    m->base[0x100ff8] = 1; // faults if the page is still protected
    CHECK(memory_mark_code(m, 0x100004));
    first->handler = 5;
    CHECK(memory_access(m, 0x100800, 0x1000, PROT_WRITE) && first->handler == 0);
    m->base[0x100800] = 1;
    CHECK(memory_mark_code(m, 0x100004));
    first->handler = 5;
    CHECK(memory_protect(m, 0x100000, 0x4000, PROT_READ | PROT_EXEC) == 0 && first->handler == 5);
    CHECK(memory_protect(m, 0x100000, 0x4000, RW) == 0 && !memory_mark_code(m, 0x100004));
    CHECK(memory_protect(m, 0x100000, 0x4000, RW | PROT_EXEC) == 0 && first->handler == 0);
    memory_clear(m);
    CHECK(m->mapped == 0 && !m->pages[0x100]);
    return 0;
}

static int searching(struct memory *m)
{
    srand(1);
    for (int i = 0; i < 3000; i++) {
        uint64_t at = 0x10000 + (uint64_t)(rand() % 200) * GUEST_PAGE,
                 length = (uint64_t)(1 + rand() % 9) * GUEST_PAGE;
        if (rand() & 1)
            CHECK(memory_map(m, at, length, RW) == 0);
        else
            CHECK(memory_unmap(m, at, length) == 0);
        uint64_t wanted = (uint64_t)(1 + rand() % 30) * GUEST_PAGE;
        uint64_t ceiling = 0x30000 + (uint64_t)(rand() % 200) * GUEST_PAGE;
        CHECK(memory_find_free(m, wanted, ceiling) == find_plainly(m, wanted, ceiling));
    }
    return 0;
}

int main(void)
{
    struct memory m;
    CHECK(memory_create(&m, 1u << 30) == 0);
    int result = mapping(&m) || code(&m) || searching(&m);
    memory_destroy(&m);
    return result;
}
