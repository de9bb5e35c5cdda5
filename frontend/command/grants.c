// SPDX-License-Identifier: MIT
#include "grants.h"

#include <stdlib.h>

#include "frontend/base/paths.h"
#include "frontend/base/text.h"

static void add(struct grants *g, struct machine_grant grant)
{
    g->list = memory_resize(g->list, (g->count + 1) * sizeof *g->list);
    g->list[g->count++] = grant;
}

void grants_add(struct grants *g, char *host, char *guest, bool writable)
{
    add(g, (struct machine_grant){.host = host, .guest = guest, .writable = writable});
}

void grants_add_made(struct grants *g, const char *(*make)(void *maker), void *maker, char *guest)
{
    add(g, (struct machine_grant){.guest = guest, .writable = true, .make = make, .maker = maker});
}

void grants_free(struct grants *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free((char *)g->list[i].host);
        free((char *)g->list[i].guest);
    }
    free(g->list);
    *g = (struct grants){0};
}

bool grants_cover(const struct grants *g, const char *guest)
{
    for (size_t i = 0; i < g->count; i++) {
        if (path_is_at_or_below(guest, g->list[i].guest)) {
            return true;
        }
    }
    return false;
}

bool grants_cover_writable(const struct grants *g, const char *guest)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->list[i].writable && path_is_at_or_below(guest, g->list[i].guest)) {
            return true;
        }
    }
    return false;
}

bool grants_reach(const struct grants *g, const char *host)
{
    bool reached = false;
    for (size_t i = 0; i < g->count && !reached; i++) {
        const struct machine_grant *grant = &g->list[i];
        char *granted = grant->writable && grant->host ? path_absolute(grant->host) : NULL;
        reached = granted && (path_is_at_or_below(host, granted) || path_is_at_or_below(granted, host));
        free(granted);
    }
    return reached;
}
