// SPDX-License-Identifier: MIT
// The Linux personality: the program's process, its system calls and signals.
#ifndef CORE_LINUX_LINUX_H
#define CORE_LINUX_LINUX_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/state/guest.h"

// The program's process state, which is g->process then; the ELF is loaded, the stack built, cpu.pc and SP
// set. NULL with *error on failure.
struct linux_process *linux_create(struct guest *g, struct error *error);
void linux_destroy(struct linux_process *p);
// Takes back what the guest has set for the host process (umask, limits), which from here on writes its own
// files. At the guest's end, or because it does not go on.
void linux_release_host(struct linux_process *p);

// Performs the system call that cpu.x[8] names; result in x[0]. cpu.pc is that of the next instruction and
// may be changed (sigreturn, execve). Ends the guest through guest_exit and guest_kill.
void linux_system_call(struct guest *g);

// Whether the system call that cpu.x[8] names changes nothing but files, memory and x[0], so that it can be
// made in the midst of translated code. (If that memory holds code, guest.code_changes tells.)
bool linux_is_plain_call(const struct guest *g);

// The guest raised a synchronous exception: delivers the signal to its handler, or ends it.
// signal: Linux number; code: si_code; cpu.pc is the faulting instruction.
void linux_exception(struct guest *g, int signal, int code, uint64_t address, const char *what);
// Delivers a pending, unblocked signal, if there is one (after system calls and at budget ends).
void linux_deliver_signals(struct guest *g);
// A process has sent a SIGSEGV or SIGBUS, as the second and third argument of a host's handler tell: takes it
// for the guest. False if no guest owns the host's signals. Async-signal-safe.
bool linux_note_host_signal(const void *siginfo, void *context);

// The process in a saved state, memory and cpu left out.
struct saved;
struct linux_plan;
void linux_save(struct linux_process *p, struct saved *s);
// What is to be loaded, with the files that it has open. NULL: s has failed. Nothing has changed so far.
struct linux_plan *linux_plan_load(struct linux_process *p, struct saved *s);
void linux_load(struct linux_process *p, struct linux_plan *plan);
void linux_plan_free(struct linux_plan *plan);
// The host descriptor of the program's file.
int linux_program(const struct linux_process *p);

// Name of the guest function that holds pc, from the ELF's symbols, or NULL. offset: from its start.
const char *linux_symbol(const struct guest *g, uint64_t pc, uint64_t *offset);

#endif
