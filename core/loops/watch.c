// SPDX-License-Identifier: MIT
// Watches loops: a hash table of the backward branches that have been seen, by their targets.
#include "watch.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct watch {
    struct watch *next; // of the same bucket
    uint32_t taken; // by the branch, when the header was last come to
    bool open; // an entry is under way
    bool partial; // it began before the loop was known: not reported
    struct machine_loop_entry entry;
};

struct header {
    struct header *next;
    uint32_t pc, handler;
};

struct loop_watch {
    void (*report)(void *user, const struct machine_loop_entry *entry);
    void *user;
    struct watch *watches[BUCKETS];
    struct header *headers[BUCKETS];
};

static unsigned bucket(uint32_t pc)
{
    return pc / 4 % BUCKETS;
}

static struct header *find_header(const struct loop_watch *d, uint32_t pc)
{
    struct header *h = d->headers[bucket(pc)];
    while (h && h->pc != pc)
        h = h->next;
    return h;
}

struct loop_watch *loop_watch_create(void (*report)(void *user, const struct machine_loop_entry *entry),
                                     void *user)
{
    struct loop_watch *d = calloc(1, sizeof *d);
    if (d) {
        d->report = report;
        d->user = user;
    }
    return d;
}

static void finish(struct loop_watch *d, struct watch *w)
{
    if (w->open && !w->partial)
        d->report(d->user, &w->entry);
    w->open = false;
}

void loop_watch_destroy(struct loop_watch *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct watch *w = d->watches[i], *next; w; w = next) {
            next = w->next;
            finish(d, w);
            free(w);
        }
        for (struct header *h = d->headers[i], *next; h; h = next) {
            next = h->next;
            free(h);
        }
    }
    free(d);
}

bool loop_watch_add(struct loop_watch *d, uint32_t header, uint32_t branch)
{
    unsigned b = bucket(header);
    for (struct watch *w = d->watches[b]; w; w = w->next)
        if (w->entry.branch == branch)
            return false;
    struct watch *w = calloc(1, sizeof *w);
    struct header *h = find_header(d, header);
    if (w && !h) {
        h = calloc(1, sizeof *h);
        if (h) {
            *h = (struct header){d->headers[b], header, 0};
            d->headers[b] = h;
        }
    }
    if (!w || !h) {
        free(w);
        return false;
    }
    w->entry.header = header;
    w->entry.branch = branch;
    w->next = d->watches[b];
    d->watches[b] = w;
    return true;
}

bool loop_watch_is_header(const struct loop_watch *d, uint32_t pc)
{
    return find_header(d, pc) != NULL;
}

void loop_watch_arrive(struct loop_watch *d, uint32_t header, const cpu *c,
                       uint32_t (*taken)(const cpu *c, uint32_t branch))
{
    for (struct watch *w = d->watches[bucket(header)]; w; w = w->next) {
        if (w->entry.header != header)
            continue;
        uint32_t now = taken(c, w->entry.branch);
        if (w->open && now == w->taken + 1) {
            w->entry.trips++;
        } else {
            finish(d, w);
            w->partial = !w->open && w->taken == 0 && now == 1;
            w->open = true;
            w->entry.trips = 1;
            memcpy(w->entry.x, c->x, sizeof w->entry.x);
        }
        w->taken = now;
    }
}

void loop_watch_set_handler(struct loop_watch *d, uint32_t header, uint32_t handler)
{
    struct header *h = find_header(d, header);
    if (h)
        h->handler = handler;
}

uint32_t loop_watch_handler(const struct loop_watch *d, uint32_t header)
{
    return find_header(d, header)->handler;
}
