// SPDX-License-Identifier: MIT
// The host's signals: where the guest owns the host process, each that could concern it is caught, and waits
// here until the guest takes it over, between two of its instructions. So the host's default actions never
// hit it in the middle of something.
#ifndef CORE_LINUX_HOST_SIGNALS_H
#define CORE_LINUX_HOST_SIGNALS_H

#include <stdbool.h>

#include "signals.h"

// Catches them for p, which takes over the host's mask and what is ignored there. Beside a window p gets
// none.
void host_signals_begin(struct linux_process *p);
// Gives them back, and ends the timers of p.
void host_signals_end(struct linux_process *p);
// In the child of a fork nothing has arrived. Its caller unblocks all.
void host_signals_after_fork(void);
// Has the host do with a signal what the guest's action asks for: what is ignored is dropped there, unless it
// is blocked, for then it waits (signal(7)).
void host_signals_catch(const struct signals *s, int number);
// Has the host keep what there is no room for in s, the owner's, and give what there is. Does nothing for
// others.
void host_signals_hold(const struct signals *s);
// Takes over what has arrived first of what p has not got. False: there is nothing.
bool host_signals_next(const struct linux_process *p, struct signal_info *info);
// Stops the whole host process as the signal does by default, until it is continued.
void host_signals_stop(struct linux_process *p, int number);

#endif
