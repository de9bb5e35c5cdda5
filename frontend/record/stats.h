// SPDX-License-Identifier: MIT
// The counters of a session and the state of the game as JSON, for --stats.
#ifndef FRONTEND_STATS_H
#define FRONTEND_STATS_H

#include "frontend/session/session.h"

// Writes the file. False: errno tells why.
bool stats_write(struct session *s, const char *path);

#endif
