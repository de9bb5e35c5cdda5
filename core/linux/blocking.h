// SPDX-License-Identifier: MIT
// Host system calls that a signal is sure to end. A signal that arrives between the look at the flag and the
// call itself would otherwise be noticed only when the call returns, which may be never.
#ifndef CORE_LINUX_BLOCKING_H
#define CORE_LINUX_BLOCKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The host's system call, unless *pending is set. Returns its result, -EINTR also if it was not made.
long linux_interruptible_call(const atomic_bool *pending, long number, long a, long b, long c, long d, long e,
                              long f);

// For host signal handlers, after they have set the flag: if the interrupted code (the handler's third
// argument) was about to make the call, it will return -EINTR instead.
void linux_interrupt_call(void *host_context);

#endif
