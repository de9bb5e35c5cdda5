// SPDX-License-Identifier: MIT
// How a session that has ended is told to the user.
#ifndef FRONTEND_CONCLUDE_H
#define FRONTEND_CONCLUDE_H

#include "frontend/base/status.h"
#include "session.h"

// The exit status that a session which has ended calls for; the reason, if it is not 0, goes to *failure. A
// timed demo's measurement is printed.
enum status session_conclude(struct session *s, bool interrupted, struct failure *failure);

#endif
