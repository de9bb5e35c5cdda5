// SPDX-License-Identifier: MIT
#include "grants.h"

#include <stdlib.h>

#include "frontend/base/paths.h"
#include "frontend/base/text.h"

void grants_add(struct grants *g, char *host, char *guest, bool writable)
{
    g->list = memory_resize(g->list, (g->count + 1) * sizeof *g->list);
    g->list[g->count++] = (struct machine_grant){.host = host, .guest = guest, .writable = writable};
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
        char *granted = g->list[i].writable ? path_absolute(g->list[i].host) : NULL;
        reached = granted && (path_is_at_or_below(host, granted) || path_is_at_or_below(granted, host));
        free(granted);
    }
    return reached;
}
