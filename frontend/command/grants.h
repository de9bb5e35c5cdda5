// SPDX-License-Identifier: MIT
// What a guest may open of the host's files, as it is put together.
#ifndef FRONTEND_GRANTS_H
#define FRONTEND_GRANTS_H

#include <stdbool.h>

#include "core/core.h"

struct grants {
    struct machine_grant *list; // their strings belong to them
    size_t count;
};

// Takes ownership of host and guest (see struct machine_grant).
void grants_add(struct grants *g, char *host, char *guest, bool writable);
// A folder that make makes, where the guest may write. Takes ownership of guest.
void grants_add_made(struct grants *g, const char *(*make)(void *maker), void *maker, char *guest);
void grants_free(struct grants *g);

// Whether the guest sees that path already: it lies at or below one that is granted.
bool grants_cover(const struct grants *g, const char *guest);
// Whether the guest may write there.
bool grants_cover_writable(const struct grants *g, const char *guest);

// Whether the guest could write in that folder of the host (absolute, without links), or replace it.
bool grants_reach(const struct grants *g, const char *host);

#endif
