// SPDX-License-Identifier: MIT
// Between the guest's memory and the host's, on behalf of a system call.
#ifndef CORE_LINUX_COPY_H
#define CORE_LINUX_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct linux_process;

// Copies; false if the guest could not access the range. No host signal is raised, whatever is mapped there.
bool copy_in(struct linux_process *p, uint64_t address, void *to, uint64_t length);
bool copy_out(struct linux_process *p, uint64_t address, const void *from, uint64_t length);
// A zero-terminated string of less than size bytes: 0, -EFAULT, or -ENAMETOOLONG.
int copy_string(struct linux_process *p, uint64_t address, char *text, size_t size);
// count iovecs of the guest as host iovecs, cut behind the last byte that the guest can access with prot.
// Returns how many there are, or a negative errno; *unused is to be freed by the caller if not NULL.
#define COPY_IOVECS 64 // that need no allocation
int copy_iovecs(struct linux_process *p, uint64_t address, uint64_t count, int prot,
                struct iovec fixed[COPY_IOVECS], struct iovec **iovecs);

#endif
