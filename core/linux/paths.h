// SPDX-License-Identifier: MIT
// What the files with file system calls share: flags and structures as aarch64 has them.
#ifndef CORE_LINUX_PATHS_H
#define CORE_LINUX_PATHS_H

#include "process.h"

// The open flags in which aarch64 and x86-64 differ (arch/arm64/include/uapi/asm/fcntl.h).
#define GUEST_O_DIRECTORY 040000u
#define GUEST_O_NOFOLLOW 0100000u
#define GUEST_O_DIRECT 0200000u
#define GUEST_O_LARGEFILE 0400000u

// Host flags for the guest's; those that are unknown are dropped, as Linux does.
int paths_host_flags(uint64_t flags);
uint64_t paths_guest_flags(int flags);

#endif
