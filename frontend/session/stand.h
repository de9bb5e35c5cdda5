// SPDX-License-Identifier: MIT
// What happens while the machine stands: pauses, calls, going back. Emulation thread.
#ifndef FRONTEND_STAND_H
#define FRONTEND_STAND_H

#include "session.h"

// Whether the machine is not to run on for now.
bool stand_is_due(struct session *s);
// Returns when it is to run on; its clock stands as long as it does.
void stand(struct session *s);
// Whether pictures are shown ahead.
bool stand_runs_ahead(const struct session *s);
// It stands behind a frame, which is kept if that is wanted.
void stand_at_frame(struct session *s);

#endif
