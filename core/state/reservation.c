// SPDX-License-Identifier: MIT
#include "reservation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "core/base/host_mappings.h"

#define DEFAULT_MAX_MAP_COUNT 65530 // include/linux/mm.h of the kernel
#define WORD_BITS 64

// Of all reservations of this process. A forked child has the same mappings and so the same number.
static _Atomic int64_t all_seams;

static int64_t read_max_map_count(void)
{
    int64_t limit = DEFAULT_MAX_MAP_COUNT;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    if (f) {
        if (fscanf(f, "%" SCNd64, &limit) != 1 || limit < 0)
            limit = DEFAULT_MAX_MAP_COUNT;
        fclose(f);
    }
    return limit;
}

static uint64_t seams_bytes(const struct reservation *r)
{
    return (r->size / RESERVATION_PAGE / WORD_BITS + 1) * sizeof *r->seams;
}

static void *fresh(uint64_t length, int prot)
{
    void *p = mmap(NULL, length, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

// Both ends of the reservation are marked, which are not counted.
static uint64_t *create_seams(const struct reservation *r)
{
    uint64_t *seams = fresh(seams_bytes(r), PROT_READ | PROT_WRITE), pages = r->size / RESERVATION_PAGE;
    if (seams) {
        seams[0] = 1;
        seams[pages / WORD_BITS] |= 1ull << pages % WORD_BITS;
    }
    return seams;
}

int reservation_create(struct reservation *r, uint64_t size)
{
    *r = (struct reservation){.size = size, .limit = read_max_map_count()};
    r->start = fresh(size, PROT_NONE);
    if (!r->start)
        return -1;
    r->seams = create_seams(r);
    if (!r->seams) {
        munmap(r->start, size);
        return -1;
    }
    return 0;
}

void reservation_destroy(struct reservation *r)
{
    munmap(r->start, r->size);
    munmap(r->seams, seams_bytes(r));
    atomic_fetch_sub(&all_seams, r->seam_count);
    *r = (struct reservation){0};
}

// ---- seams ----

static uint64_t page_of(const struct reservation *r, const uint8_t *at)
{
    return (uint64_t)(at - r->start) / RESERVATION_PAGE;
}

static bool is_seam(const struct reservation *r, uint64_t page)
{
    return r->seams[page / WORD_BITS] >> page % WORD_BITS & 1;
}

static void change_count(struct reservation *r, int64_t change)
{
    r->seam_count += change;
    atomic_fetch_add_explicit(&all_seams, change, memory_order_relaxed);
}

static void add_seam(struct reservation *r, uint64_t page)
{
    if (is_seam(r, page))
        return;
    r->seams[page / WORD_BITS] |= 1ull << page % WORD_BITS;
    change_count(r, 1);
}

void reservation_add_seam(struct reservation *r, const uint8_t *at)
{
    add_seam(r, page_of(r, at));
}

// The host is about to treat the range apart.
static void note_change(struct reservation *r, const uint8_t *at, uint64_t length)
{
    r->changes++;
    reservation_add_seam(r, at);
    reservation_add_seam(r, at + length);
}

// The bits of word i that stand for pages in [first, end).
static uint64_t mask_of(uint64_t i, uint64_t first, uint64_t end)
{
    uint64_t mask = ~0ull;
    if (i == first / WORD_BITS)
        mask &= ~0ull << first % WORD_BITS;
    if (i == end / WORD_BITS)
        mask &= ~(~0ull << end % WORD_BITS);
    return mask;
}

int64_t reservation_seams_inside(const struct reservation *r, const uint8_t *at, uint64_t length)
{
    uint64_t first = page_of(r, at) + 1, end = page_of(r, at + length);
    int64_t count = 0;
    for (uint64_t i = first / WORD_BITS; i <= end / WORD_BITS; i++)
        count += __builtin_popcountll(r->seams[i] & mask_of(i, first, end));
    return count;
}

// One mapping covers the range now.
static void clear_inside(struct reservation *r, const uint8_t *at, uint64_t length)
{
    uint64_t first = page_of(r, at) + 1, end = page_of(r, at + length);
    for (uint64_t i = first / WORD_BITS; i <= end / WORD_BITS && r->seam_count; i++) {
        uint64_t gone = r->seams[i] & mask_of(i, first, end);
        if (gone) {
            r->seams[i] &= ~gone;
            change_count(r, -__builtin_popcountll(gone));
        }
    }
}

int64_t reservation_new_seams(const struct reservation *r, const uint8_t *at, uint64_t length)
{
    uint64_t first = page_of(r, at), end = page_of(r, at + length);
    return !is_seam(r, first) + !is_seam(r, end);
}

int64_t reservation_room(const struct reservation *r)
{
    // Each more is one more here and one less left free.
    return (r->limit - atomic_load_explicit(&all_seams, memory_order_relaxed) - r->seam_count) / 2;
}

bool reservation_has_changed(const struct reservation *r)
{
    return r->changes > r->limit / 64;
}

static bool take_seam(const struct host_mapping *h, void *reservation)
{
    struct reservation *r = reservation;
    const uint64_t offset = h->start - (uint64_t)(uintptr_t)r->start;
    if (offset < r->size)
        add_seam(r, offset / RESERVATION_PAGE);
    return true;
}

bool reservation_recount(struct reservation *r)
{
    uint64_t *old = r->seams, *new = create_seams(r);
    if (!new)
        return false;
    int64_t old_count = r->seam_count;
    r->seams = new;
    const bool complete = host_mappings(take_seam, r);
    if (complete) {
        change_count(r, -old_count);
        r->changes = 0;
        munmap(old, seams_bytes(r));
    } else {
        change_count(r, old_count - r->seam_count);
        r->seams = old;
        munmap(new, seams_bytes(r));
    }
    return complete;
}

void reservation_piece(const struct reservation *r, const uint8_t *at, uint8_t **start, uint8_t **end)
{
    uint64_t page = page_of(r, at), i = page / WORD_BITS;
    uint64_t word = r->seams[i] & ~0ull >> (WORD_BITS - 1 - page % WORD_BITS);
    while (!word)
        word = r->seams[--i];
    *start = r->start + (i * WORD_BITS + WORD_BITS - 1 - (uint64_t)__builtin_clzll(word)) * RESERVATION_PAGE;
    i = ++page / WORD_BITS;
    word = r->seams[i] & ~0ull << page % WORD_BITS;
    while (!word)
        word = r->seams[++i];
    *end = r->start + (i * WORD_BITS + (uint64_t)__builtin_ctzll(word)) * RESERVATION_PAGE;
}

// ---- the host's calls ----

// Fresh memory in place of what is there. Where that fails after the kernel has taken away the old mapping
// (its own memory is short), other memory of the process could come into the hole: wait until it is filled.
static int put_fresh(uint8_t *at, uint64_t length)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    while (mmap(at, length, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
        int error = errno;
        if (msync(at, length, MS_ASYNC) == 0) // otherwise there is a hole
            return -error;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 0;
}

int reservation_map(struct reservation *r, uint8_t *at, uint64_t length, int prot, int flags, int fd,
                    uint64_t offset)
{
    note_change(r, at, length);
    if (mmap(at, length, prot, flags | MAP_NORESERVE | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED) {
        int error = errno;
        put_fresh(at, length);
        return -error;
    }
    clear_inside(r, at, length);
    return 0;
}

int reservation_continue(struct reservation *r, uint8_t *at, uint64_t length, int prot, uint8_t *last)
{
    note_change(r, at, length);
    // Of a length of 0 mremap makes another mapping of the same. Elsewhere first, for it must not overlap.
    uint8_t *copy = mremap(last, 0, RESERVATION_PAGE + length, MREMAP_MAYMOVE);
    bool good =
        copy != MAP_FAILED && mprotect(copy + RESERVATION_PAGE, length, prot) == 0 &&
        mremap(copy + RESERVATION_PAGE, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED;
    const int error = good ? 0 : -errno;
    if (copy != MAP_FAILED)
        munmap(copy, RESERVATION_PAGE + (good ? 0 : length));
    if (good)
        clear_inside(r, at, length);
    else
        put_fresh(at, length);
    return error;
}

int reservation_protect(struct reservation *r, uint8_t *at, uint64_t length, int prot)
{
    note_change(r, at, length);
    return mprotect(at, length, prot) ? -errno : 0;
}

int reservation_drop(struct reservation *r, uint8_t *at, uint64_t length)
{
    note_change(r, at, length);
    int error = put_fresh(at, length);
    if (!error)
        clear_inside(r, at, length);
    return error;
}

int reservation_move(struct reservation *r, uint8_t *from, uint64_t length, uint8_t *to)
{
    note_change(r, from, length);
    note_change(r, to, length);
    while (length) { // mremap takes one mapping at a time
        uint8_t *start, *end;
        reservation_piece(r, from, &start, &end);
        uint64_t step = (uint64_t)(end - from);
        if (mremap(from, step, step, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == MAP_FAILED)
            return -errno;
        clear_inside(r, to, step);
        from += step, to += step, length -= step;
        reservation_add_seam(r, to);
    }
    return 0;
}
