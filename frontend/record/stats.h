// SPDX-License-Identifier: MIT
// The counters of a session and the state of the game as JSON, for --stats.
#ifndef FRONTEND_STATS_H
#define FRONTEND_STATS_H

#include "frontend/session/session.h"

// The text of the file, on the heap. Counters that nothing counts yet are null.
char *stats_json(struct session *s);

#endif
