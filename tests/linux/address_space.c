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
    CHECK(memory_map(m, GUEST_SPACE - 0x10000, 2 * GUEST_PAGE, RW) == -EINVAL); // the last 60 KiB
    CHECK(memory_map(m, 0x20000000, (1u << 30) - 0x10000, RW) == -ENOMEM);
    CHECK(memory_map(m, 0x20000000, 1u << 30, PROT_NONE) == 0 && m->mapped == 0x20000);
    CHECK(memory_protect(m, 0x20000000, 1u << 30, RW) == -ENOMEM);
    CHECK(memory_protect(m, 0x28000, 0x10000, PROT_READ) == -ENOMEM); // a hole behind
    CHECK(!memory_allows(m, 0x28000, 8, PROT_WRITE) && memory_allows(m, 0x27ff8, 8, PROT_WRITE));
    CHECK(!memory_allows(m, 0x2fffc, 8, PROT_READ) && !memory_allows(m, UINT64_MAX - 3, 8, PROT_READ));
    CHECK(memory_access(m, 0xab00000000020000, 8, PROT_READ) == m->base + 0x20000);
    // What may hold something counts, whoever may access it now.
    CHECK(memory_protect(m, 0x20000000, 0x8000, RW) == 0 && m->mapped == 0x28000);
    CHECK(memory_protect(m, 0x20000000, 0x10000, PROT_NONE) == 0 && m->mapped == 0x28000);
    CHECK(memory_move(m, 0x20000000, 0x10000, 0x30000000) == 0 && m->mapped == 0x28000);
    CHECK(memory_protect(m, 0x30000000, 0x4000, RW) == 0 && m->mapped == 0x28000);
    CHECK(memory_discard(m, 0x30000000, 0x10000) == 0 && m->mapped == 0x24000);
    CHECK(memory_protect(m, 0x30000000, 0x10000, PROT_READ) == 0 && m->mapped == 0x30000);
    CHECK(memory_protect(m, 0x30000000, 0x10000, PROT_NONE) == 0 && m->mapped == 0x30000);
    CHECK(memory_map(m, 0x30000000, 0x10000, PROT_NONE) == 0 && m->mapped == 0x20000);
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
    CHECK(memory_mark_code(m, 0x100004));
    first->handler = 5;
    memory_clear(m); // while another thread may look at ops
    CHECK(m->mapped == 0 && !m->pages[0x100] && first->handler == 0);
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

// How many mappings the host has for the reservation.
static int64_t host_mappings(const struct memory *m)
{
    int64_t count = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (getline(&line, &room, maps) > 0)
        count += strtoull(line, NULL, 16) - (uintptr_t)m->host.start < m->host.size;
    fclose(maps);
    free(line);
    return count;
}

#define FIRST 0x1000000ull
#define PAGES 2000ull

// Random changes with few mappings to have: the host never has more than are counted, nor these more than
// there may be; what is denied leaves all as it was; code is protected wherever it is.
static int storm(struct memory *m)
{
    static uint8_t prot[PAGES], before[PAGES];
    const int choices[] = {PROT_NONE, PROT_READ, RW, RW | PROT_EXEC, PROT_READ | PROT_EXEC};
    const int64_t old_limit = m->host.limit;
    CHECK(memory_clear(m) == 0);
    CHECK(m->host.seam_count == 2 && host_mappings(m) == 3); // around the ops that code had
    m->host.limit = 512;
    unsigned denied = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t page = (uint64_t)rand() % PAGES, count = 1 + (uint64_t)rand() % 3 % (PAGES - page);
        uint64_t at = FIRST + page * GUEST_PAGE, length = count * GUEST_PAGE;
        int kind = rand() % 16, choice = choices[rand() % 5], error = 0;
        if (i % 5000 < 1000) { // room again
            page = 0, count = PAGES, at = FIRST, length = PAGES * GUEST_PAGE;
            kind = i % 5000 ? 16 : 0, choice = RW | PROT_EXEC;
        }
        memcpy(before, m->pages + FIRST / GUEST_PAGE, PAGES);
        if (kind < 4)
            error = memory_map(m, at, length, choice);
        else if (kind < 6)
            error = memory_unmap(m, at, length);
        else if (kind < 9)
            error = memory_protect(m, at, length, choice);
        else if (kind < 16 && memory_mark_code(m, at))
            m->ops[at / 4].handler = 5;
        if (error) {
            CHECK(error == -ENOMEM);
            denied++;
            if (kind < 6)
                CHECK(!memcmp(before, m->pages + FIRST / GUEST_PAGE, PAGES));
        }
        CHECK(m->host.seam_count <= 512 / 2);
        if (i % 500 == 0)
            CHECK(host_mappings(m) <= m->host.seam_count + 1);
        // What the guest may write can be written, through the handler where there is code.
        at = FIRST + (uint64_t)rand() % PAGES * GUEST_PAGE;
        memcpy(prot, m->pages + FIRST / GUEST_PAGE, PAGES);
        if (m->pages[at / GUEST_PAGE] & PROT_WRITE) {
            if (m->pages[at / GUEST_PAGE] & MEMORY_CODE)
                CHECK(memory_handle_write(m, at));
            m->base[at] = 1;
            CHECK(!(m->pages[at / GUEST_PAGE] & PROT_EXEC) || m->ops[at / 4].handler == 0);
        }
        for (uint64_t p = 0; p < PAGES; p++) // of others, code at most was forgotten
            CHECK((prot[p] & ~MEMORY_CODE) == (m->pages[FIRST / GUEST_PAGE + p] & ~MEMORY_CODE));
    }
    CHECK(denied > 1000);
    CHECK(memory_unmap(m, FIRST, PAGES * GUEST_PAGE) == 0 && m->mapped == 0);
    m->host.limit = old_limit;
    return 0;
}

int main(void)
{
    struct memory m;
    CHECK(memory_create(&m, 1u << 30) == 0);
    int result = mapping(&m) || code(&m) || searching(&m) || storm(&m);
    memory_destroy(&m);
    return result;
}
