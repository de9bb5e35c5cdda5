// SPDX-License-Identifier: MIT
// Signals of the guest: actions, masks, what is pending, and the frames that handlers run on.
#ifndef CORE_LINUX_SIGNAL_H
#define CORE_LINUX_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct linux_process;

#define SIGNAL_MAX 64
#define SIGNAL_QUEUE 128 // RLIMIT_SIGPENDING
#define SIGNAL_ARRIVALS 256 // of the host's, before they are queued
#define SIGNAL_ROOM (SIGNAL_QUEUE + SIGNAL_ARRIVALS + SIGNAL_MAX) // and one of each that nobody may refuse
#define GUEST_SIG_DFL 0ull
#define GUEST_SIG_IGN 1ull
#define SIGNAL_BIT(n) (1ull << ((n)-1))
// sa_flags
#define GUEST_SA_NOCLDSTOP 1u
#define GUEST_SA_NOCLDWAIT 2u
#define GUEST_SA_SIGINFO 4u
#define GUEST_SA_RESTORER 0x04000000u
#define GUEST_SA_ONSTACK 0x08000000u
#define GUEST_SA_RESTART 0x10000000u
#define GUEST_SA_NODEFER 0x40000000u
#define GUEST_SA_RESETHAND 0x80000000u
// Sets of signals.
#define NEVER_BLOCKED (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))
#define SYNCHRONOUS                                                                                          \
    (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGTRAP) |                   \
     SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSYS))

// struct sigaction of the aarch64 kernel
struct guest_action {
    uint64_t handler, flags, restorer, mask;
};

// Which members of siginfo are meant.
enum signal_kind { SIGNAL_SENT, SIGNAL_TIMER, SIGNAL_CHILD, SIGNAL_FAULT };

struct signal_info {
    int32_t number, code;
    enum signal_kind kind;
    int32_t pid; // SENT, CHILD; the timer's number of TIMER
    uint32_t uid; // SENT, CHILD; overruns of TIMER
    uint64_t value; // SENT, TIMER: sigval; FAULT: the address
    int32_t status; // CHILD
    int64_t user_time, system_time; // CHILD, clock ticks
};

struct guest_altstack {
    uint64_t base;
    uint32_t flags;
    uint64_t size;
};

struct signals {
    struct guest_action actions[SIGNAL_MAX + 1];
    uint64_t blocked;
    uint64_t waited; // what ends a wait although it is blocked (rt_sigtimedwait)
    uint64_t saved_mask; // restored when a call with a temporary mask (rt_sigsuspend, ppoll) is over
    bool restore_mask;
    uint64_t pending; // mask of what queue holds
    struct signal_info queue[SIGNAL_ROOM];
    unsigned queued;
    struct guest_altstack altstack;
};

// Takes over the host's signal dispositions and mask (if the guest owns the host process); host_signals_end
// gives them back.
void signals_create(struct linux_process *p);
// After fork in the child, which then has to block none of the host's signals; and at execve.
void signals_after_fork(struct linux_process *p);
void signals_after_exec(struct linux_process *p);
// Puts actions that have come from elsewhere in force.
void signals_after_load(struct linux_process *p);

// Queues a signal that the guest sends itself. False if as many wait as RLIMIT_SIGPENDING allows: then a
// real-time signal is refused; one of kill, and a standard signal, arrives in any case (signal(7)), if need
// be without what came with it.
bool signal_post(struct linux_process *p, const struct signal_info *info);
// Whether a signal waits that has a handler or ends the guest, so that a wait has to end. Discards those that
// are ignored.
bool signal_due(struct linux_process *p);
// Whether a signal waits that ends the guest.
bool signal_ends_guest(struct linux_process *p);
// The lowest signal of set that is pending is removed and put into *info; false if there is none.
bool signal_take(struct linux_process *p, uint64_t set, struct signal_info *info);
// Sets the guest's mask.
void signals_set_blocked(struct linux_process *p, uint64_t mask);
// Sets a temporary mask until the call in progress is over and its signals are delivered.
void signals_set_temporary_mask(struct linux_process *p, uint64_t mask);

// struct siginfo of the aarch64 kernel
#define GUEST_SIGINFO_SIZE 128
void signal_frame_siginfo(const struct signal_info *info, uint8_t to[GUEST_SIGINFO_SIZE]);

// Builds the frame of a handler (signal.c has chosen it) and points the cpu at it. False: it cannot be
// written.
bool signal_frame_push(struct linux_process *p, const struct signal_info *info,
                       const struct guest_action *action, uint64_t mask);
// rt_sigreturn: restores the cpu from the frame at SP. False: the frame is not sound.
bool signal_frame_pop(struct linux_process *p);
// Whether sp is on the alternate stack.
bool signal_frame_on_altstack(const struct linux_process *p, uint64_t sp);

#endif
