// SPDX-License-Identifier: MIT
#include "counts.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGES (GUEST_SPACE / GUEST_PAGE)
#define PAGE_INSTRUCTIONS (GUEST_PAGE / 4)
// A page more, for what ends behind the last.
#define BYTES ((PAGES + 1) * PAGE_INSTRUCTIONS * sizeof(struct counted))

struct counts *counts_create(const struct memory *m)
{
    struct counts *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->ops = m->ops;
    k->of = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    k->pages = calloc(PAGES + 1, 1);
    if (k->of != MAP_FAILED && k->pages)
        return k;
    counts_destroy(k);
    return NULL;
}

void counts_destroy(struct counts *k)
{
    if (!k)
        return;
    if (k->of != MAP_FAILED)
        munmap(k->of, BYTES);
    free(k->pages);
    free(k);
}

void counts_start(struct counts *k, const cpu *c, const op *o)
{
    counts_at(k, o)->begun++;
    k->behind = o;
    k->bias = c->retired_bias;
}

void counts_stop(struct counts *k, const cpu *c)
{
    counts_follow(k, c);
    counts_at(k, c->current)->begun--;
}

void counts_note(struct counts *k, uint64_t pc, unsigned length, uint32_t handler)
{
    struct counted *at = &k->of[pc / 4];
    at->handler = handler;
    at->length = length;
    k->pages[pc / GUEST_PAGE] = true;
    k->pages[(pc + length * 4) / GUEST_PAGE] = true; // where what ends here is taken down
}

void counts_take(struct counts *k, void (*add)(void *user, uint32_t pc, uint64_t times), void *user)
{
    int64_t running = 0; // 0 again behind each page that has anything
    for (uint64_t page = 0; page <= PAGES; page++) {
        if (!k->pages[page])
            continue;
        struct counted *of = &k->of[page * PAGE_INSTRUCTIONS];
        for (uint64_t i = 0; i < PAGE_INSTRUCTIONS; i++) {
            running += of[i].begun;
            of[i].begun = 0;
            if (running)
                add(user, (uint32_t)(page * GUEST_PAGE + i * 4), (uint64_t)running);
        }
    }
}
