// SPDX-License-Identifier: MIT
// Watches loops: a hash table of the backward branches that have been seen, by their targets.
#include "watch.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };

struct watch {
    struct watch *next; // of the same bucket by header
    struct watch *next_behind; // of the same bucket by what is behind the branch
    uint32_t taken; // by the branch, when the header was last come to
    bool arrived, open; // the header has been come to; an entry is under way
    bool partial; // it began before the loop was known: not reported
    struct machine_loop_entry entry;
};

struct place {
    struct place *next;
    uint32_t pc, handler;
};

struct loop_watch {
    void (*report)(void *user, const struct machine_loop_entry *entry);
    void *user;
    struct watch *watches[BUCKETS], *behind[BUCKETS];
    struct place *places[BUCKETS];
};

static unsigned bucket(uint32_t pc)
{
    return pc / 4 % BUCKETS;
}

static struct place *find_place(const struct loop_watch *d, uint32_t pc)
{
    struct place *p = d->places[bucket(pc)];
    while (p && p->pc != pc)
        p = p->next;
    return p;
}

// False if there is no memory.
static bool add_place(struct loop_watch *d, uint32_t pc)
{
    if (find_place(d, pc))
        return true;
    struct place *p = calloc(1, sizeof *p);
    if (!p)
        return false;
    *p = (struct place){d->places[bucket(pc)], pc, 0};
    d->places[bucket(pc)] = p;
    return true;
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
        for (struct place *p = d->places[i], *next; p; p = next) {
            next = p->next;
            free(p);
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
    if (!w || !add_place(d, header) || !add_place(d, branch + 4)) {
        free(w);
        return false;
    }
    w->entry.header = header;
    w->entry.branch = branch;
    w->next = d->watches[b];
    d->watches[b] = w;
    w->next_behind = d->behind[bucket(branch + 4)];
    d->behind[bucket(branch + 4)] = w;
    return true;
}

bool loop_watch_is_place(const struct loop_watch *d, uint32_t pc)
{
    return find_place(d, pc) != NULL;
}

void loop_watch_arrive(struct loop_watch *d, uint32_t pc, const cpu *c,
                       uint32_t (*taken)(const cpu *c, uint32_t branch))
{
    // Behind the branch the loop is left: the next time it may be entered in the middle, and then comes to
    // its header by the branch.
    for (struct watch *w = d->behind[bucket(pc)]; w; w = w->next_behind)
        if (w->entry.branch + 4 == pc)
            finish(d, w);
    for (struct watch *w = d->watches[bucket(pc)]; w; w = w->next) {
        if (w->entry.header != pc)
            continue;
        uint32_t now = taken(c, w->entry.branch);
        if (w->open && now == w->taken + 1) {
            w->entry.trips++;
        } else {
            finish(d, w);
            w->partial = !w->arrived && now == 1;
            w->arrived = true;
            w->open = true;
            w->entry.trips = 1;
            memcpy(w->entry.x, c->x, sizeof w->entry.x);
        }
        w->taken = now;
    }
}

void loop_watch_set_handler(struct loop_watch *d, uint32_t pc, uint32_t handler)
{
    struct place *p = find_place(d, pc);
    if (p)
        p->handler = handler;
}

uint32_t loop_watch_handler(const struct loop_watch *d, uint32_t pc)
{
    return find_place(d, pc)->handler;
}
