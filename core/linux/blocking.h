// SPDX-License-Identifier: MIT
// Host system calls that a signal is sure to end. A signal that arrives between the look at the flag and the
// call itself would otherwise be noticed only when the call returns, which may be never.
#ifndef CORE_LINUX_BLOCKING_H
#define CORE_LINUX_BLOCKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct linux_process;

// A host system call. waits: it may block, so that its time counts as idle, and it is RESTART if a signal
// that the guest has to see interrupts it, RESTART_ALWAYS if that arrives earlier. What does not wait is
// never interrupted (signal(7)).
int64_t blocking_call(struct linux_process *p, bool waits, long number, long a, long b, long c, long d,
                      long e, long f);
// The host's openat2, with O_CLOEXEC and O_NOCTTY: the descriptor or a negative errno. Without O_NONBLOCK and
// O_PATH it may wait for the other end of a pipe: -EINTR if a signal interrupts that, RESTART_ALWAYS if one
// has arrived before.
int blocking_open(struct linux_process *p, int folder, const char *path, int flags, mode_t mode,
                  uint64_t resolve);
// Waits for a signal, at most until the host's CLOCK_MONOTONIC reaches deadline (nanoseconds; UINT64_MAX:
// for ever). RESTART, or 0 at the deadline.
int64_t blocking_wait(struct linux_process *p, uint64_t deadline);
// Waits until fd is readable or at its end; false if a signal that ends the guest comes first, the only kind
// that it heeds.
bool blocking_wait_readable(struct linux_process *p, int fd);

// For host signal handlers, after they have set the flag: if the interrupted code (the handler's third
// argument) was about to make the call, it will return -EINTR instead.
void blocking_interrupt(void *host_context);

#endif
