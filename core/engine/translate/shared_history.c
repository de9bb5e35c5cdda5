// SPDX-License-Identifier: MIT
#include "shared_history.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/base/forks.h"
#include "translate_internal.h"

// Powers of two. What finds no room is not told.
enum { REQUESTS_TOLD = 1 << 13, PAGES_TOLD = 1 << 12, BRANCHES_TOLD = 1 << 16, PLACES_TRIED = 16 };

// Tables by hash: what is told is found by its address, with which each entry begins; 0: free.
struct shared_history {
    uint64_t program;
    unsigned keeper; // forks_count of the process that keeps it
    pthread_mutex_t lock;
    unsigned heat; // of all requests that are to be taken
    unsigned heat_told,
        heat_since; // of those told until a process told of executed code, too, and since then
    bool has_executed;
    struct cold_request requests[REQUESTS_TOLD];
    struct executed_page pages[PAGES_TOLD];
    struct branch_record branches[BRANCHES_TOLD];
};

// The entry of a table of room of them, each of size bytes; NULL: there is no place for one.
static void *entry_for(void *table, size_t size, unsigned room, uint32_t address)
{
    const unsigned first = address * 0x9e3779b1u >> 14;
    for (unsigned i = 0; i < PLACES_TRIED && address; i++) {
        uint32_t *entry = (uint32_t *)((char *)table + (first + i) % room * size);
        if (*entry == address || !*entry) {
            *entry = address;
            return entry;
        }
    }
    return NULL;
}

// A process may have been killed while it had the lock: what it has told by halves is a guess like the rest.
// Or have been stopped: then who comes later does not wait for that; false.
static bool lock(struct shared_history *h)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec++;
    const int error = pthread_mutex_clocklock(&h->lock, CLOCK_MONOTONIC, &end);
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&h->lock);
    return !error || error == EOWNERDEAD;
}

struct shared_history *shared_history_create(uint64_t program)
{
    struct shared_history *h =
        mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (h == MAP_FAILED)
        return NULL;
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&h->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    h->program = program;
    h->keeper = forks_count();
    return h;
}

void shared_history_destroy(struct shared_history *h)
{
    if (h)
        munmap(h, sizeof *h);
}

bool shared_history_is_of(const struct shared_history *h, uint64_t program)
{
    return h && h->program == program;
}

bool shared_history_is_kept_here(const struct shared_history *h)
{
    return h && h->keeper == forks_count();
}

// ---- telling ----

// Also of what has been compiled, which ends with the process.
static void tell_requests(struct shared_history *h, const struct translator *t)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        const struct slot *s = &t->slots[i];
        const unsigned heat = s->state == SLOT_FAILED || s->state == SLOT_HOPELESS ? 0 : s->heat;
        struct cold_request *r = heat ? entry_for(h->requests, sizeof *r, REQUESTS_TOLD, s->pc) : NULL;
        if (r)
            r->heat = r->heat + heat < HEAT_COUNTED ? r->heat + heat : HEAT_COUNTED;
    }
}

static void tell_branch(struct shared_history *h, const struct translator *t, uint32_t pc)
{
    const struct branch_counts seen = t->guest->cpu.branch_counts[BRANCH_COUNTS_AT(pc)];
    struct branch_record *r =
        seen.taken || seen.not_taken ? entry_for(h->branches, sizeof *r, BRANCHES_TOLD, pc) : NULL;
    if (r)
        branch_record_add(r, seen);
}

static void tell_executed(struct shared_history *h, const struct translator *t)
{
    for (uint64_t page = 0; (page = next_page_decoded(t, page)) < GUEST_SPACE; page += GUEST_PAGE) {
        struct executed_page *p = entry_for(h->pages, sizeof *p, PAGES_TOLD, (uint32_t)page);
        if (p)
            executed_page_add(p, t);
        for (uint32_t pc = (uint32_t)page; pc - page < GUEST_PAGE; pc += 4)
            tell_branch(h, t, pc);
    }
    h->has_executed = true;
}

void shared_history_tell(struct shared_history *h, const struct translator *t)
{
    if (!t->heat || !lock(h))
        return;
    h->heat += t->heat;
    h->heat_since += t->heat;
    tell_requests(h, t);
    if (h->heat_since >= WORTH_SAVING + h->heat_told / 4) { // it takes a millisecond
        h->heat_told += h->heat_since;
        h->heat_since = 0;
        tell_executed(h, t);
    }
    pthread_mutex_unlock(&h->lock);
}

// ---- taking ----

static void take_requests(struct shared_history *h, struct translator *t)
{
    for (unsigned i = 0; i < REQUESTS_TOLD; i++) {
        struct cold_request *r = &h->requests[i];
        struct slot *s = r->pc ? translate_slot(t, r->pc) : NULL;
        if (s) {
            const unsigned heat = s->heat + r->heat;
            s->heat = heat < HEAT_COUNTED ? heat : HEAT_COUNTED;
        }
        if (r->pc)
            *r = (struct cold_request){0};
    }
    t->heat += h->heat;
    h->heat = 0;
}

static void take_executed(struct shared_history *h, struct translator *t)
{
    const unsigned known = t->executed_count;
    struct executed_page *pages = realloc(t->executed, ((size_t)known + PAGES_TOLD) * sizeof *pages);
    if (!pages)
        return;
    t->executed = pages;
    for (unsigned i = 0; i < PAGES_TOLD; i++) {
        struct executed_page *p = &h->pages[i];
        if (!p->address)
            continue;
        unsigned at = 0;
        while (at < known && pages[at].address != p->address)
            at++;
        if (at == known)
            pages[at = t->executed_count++] = *p;
        for (unsigned k = 0; k < EXECUTED_BYTES; k++)
            pages[at].bits[k] |= p->bits[k];
        *p = (struct executed_page){0};
    }
}

static void take_branches(struct shared_history *h, struct translator *t)
{
    const unsigned known = t->branch_count;
    struct branch_record *records = realloc(t->branches, ((size_t)known + BRANCHES_TOLD) * sizeof *records);
    if (!records)
        return;
    t->branches = records;
    for (unsigned i = 0; i < BRANCHES_TOLD; i++) {
        struct branch_record *r = &h->branches[i];
        if (!r->pc)
            continue;
        struct branch_record *earlier = branch_record_find(records, known, r->pc);
        if (earlier)
            branch_record_add(earlier, (struct branch_counts){.taken = r->taken, .not_taken = r->not_taken});
        else
            records[t->branch_count++] = *r;
        *r = (struct branch_record){0};
    }
    branch_records_sort(records, t->branch_count);
}

void shared_history_take(struct shared_history *h, struct translator *t)
{
    if (!lock(h))
        return;
    if (h->heat)
        take_requests(h, t);
    if (h->has_executed) {
        take_executed(h, t);
        take_branches(h, t);
    }
    h->has_executed = false;
    pthread_mutex_unlock(&h->lock);
}
