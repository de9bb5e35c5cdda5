// SPDX-License-Identifier: MIT
// Memory that lives in files which are nothing else: shared anonymous mappings and those that memfd_create
// makes. It is there as long as any process has it mapped or open, however little of it, so that all of it
// counts against the limit of each of the guest's processes until it is known that nobody has it any more.
#ifndef CORE_LINUX_SHARED_MEMORY_H
#define CORE_LINUX_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct linux_process;
struct shared_memory; // what the guest's processes have; they share it

// For a new guest. False: there is no memory.
bool shared_memory_create(struct linux_process *p);
void shared_memory_destroy(struct linux_process *p);

// The process has been forked, in both: none of what there is is its alone now.
void shared_memory_after_fork(struct linux_process *p);
// A forked process ends: what is its alone goes.
void shared_memory_leave(struct linux_process *p);

// Counts a new file with so many bytes, which the host descriptor has open: its number, from 1 on, or
// -ENOMEM.
int shared_memory_add(struct linux_process *p, int host, uint64_t bytes);

// What changes its size, or whether writes go to its end, has it held meanwhile: so nobody else does, and
// what a write takes is known before. It must not wait for others. These do nothing for 0, which is no
// object.

// 0, or what the system call returns instead. A process that ends releases what it holds.
int64_t shared_memory_hold(struct linux_process *p, int object);
void shared_memory_release(struct linux_process *p, int object);
// It is held, and about to become so large. 0 or -ENOSPC.
int shared_memory_grow(struct linux_process *p, int object, uint64_t bytes);

#endif
