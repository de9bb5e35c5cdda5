// SPDX-License-Identifier: MIT
// The machine's inside, for core/ only.
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "core.h"
#include "core/isa/cpu.h"
#include "core/state/memory.h"

struct linux_process; // linux.c: descriptors, signals, break, …
struct translator; // engine/translate.c
struct dispatch; // engine/dispatch_modes.c
struct loop_watch; // loops/watch.c
struct loops; // loops/: the loop optimizer
struct devices; // devices.c: the device page, clock, events

struct machine {
    struct machine_config config;
    cpu cpu;
    struct memory memory;
    struct linux_process *process;
    struct devices *devices;
    struct elf_symbols *symbols;
    struct translator *translator; // NULL: everything is interpreted
    atomic_int engine; // enum machine_engine that is wanted
    bool translating; // the engine that is in use
    // The guest handles SIGSEGV or SIGBUS itself: faults have to show every register, which only the
    // interpreter and a translator of precise code can.
    bool precise_faults;
    bool entering; // translated code is entered: the engine is in use, and faults are as precise as need be
    struct loop_watch *loop_watch; // NULL: loops are not watched
    struct dispatch *dispatch; // NULL: there is no net, and the mode is off
    atomic_int dispatch_wanted; // enum machine_dispatch, to be in force from the next slice on
    uint64_t dispatch_since, dispatch_before; // retired when counting began; instructions counted before
    struct loop_check *check; // of a loop's replacement, under way (config.verify)
    struct loops *loops; // NULL: no loop is ever replaced
    atomic_bool loops_wanted;
    atomic_bool idle_wanted;
    uint32_t call_counts[CALL_COUNTS];
    atomic_bool stop_requested; // leave machine_run at the end of the slice
    atomic_bool signal_pending; // a host signal for the guest has arrived
    enum machine_state state;
    int exit_status;
    struct machine_fault fault;
    struct machine_stats stats; // the emulation thread's own
    struct machine_stats published; // what other threads read, under publish_lock
    pthread_mutex_t publish_lock;
    uint64_t counted_ns, counted_idle_ns; // host time and idle up to which emulating_ns counts
};

// Ends the guest: state and status are set, and machine_run returns.
void machine_exit(machine *m, int status);
// Ends the guest by a signal, with the report that m->cpu and address give.
void machine_kill(machine *m, int signal, uint64_t address, const char *what);
// Brings emulating_ns up to now and lets other threads see the counters.
void machine_publish(machine *m);
// Leaves the time since machine_publish out of emulating_ns: a callback's, which is not the guest's.
void machine_skip_time(machine *m);
// A formatted line to config.log.
void machine_log(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- linux.c ----

// The program's process state; the ELF is loaded, the stack built, cpu.pc and SP set. NULL and *reason, error
// on failure.
struct linux_process *linux_create(machine *m, enum machine_error *reason, char *error, size_t size);
void linux_destroy(struct linux_process *p);
// Performs the system call that cpu.x[8] names; result in x[0]. cpu.pc is that of the next instruction and
// may be changed (sigreturn, execve). Ends the guest through machine_exit and machine_kill.
void linux_system_call(machine *m);
// The guest raised a synchronous exception: delivers the signal to its handler, or ends it.
// signal: Linux number; code: si_code; cpu.pc is the faulting instruction.
void linux_exception(machine *m, int signal, int code, uint64_t address, const char *what);
// Delivers a pending, unblocked signal, if there is one (after system calls and at budget ends).
void linux_deliver_signals(machine *m);

// ---- devices.c ----

struct devices *devices_create(machine *m);
void devices_destroy(struct devices *d);
// The host descriptor (memfd) of the device page, to be mapped shared, DEVICE_SIZE bytes. Owned by d.
int devices_fd(struct devices *d);
// ioctl on the device file: returns the guest's result (0 or negative errno).
int64_t devices_ioctl(machine *m, uint32_t request, uint64_t argument);
// The guest's clock for clock_gettime and friends: nanoseconds since the machine started, scaled and
// pausable. Without the device, the host's own clocks are used as they are.
uint64_t devices_clock_ns(machine *m);
// Sleeps for ns of guest time; returns false if interrupted (a signal or a requested stop).
bool devices_sleep(machine *m, uint64_t ns);
// The guest is about to look at its clock: sleeps if it only waits (machine_set_idle).
void devices_look(machine *m);
// Whether a guest that polls a word of the page may sleep: machine_set_idle, and the clock runs by itself.
bool devices_may_wait(machine *m);
// The guest only polls the page: sleeps until the guest's millisecond is over, or there is input, as far as
// it may; then the page is as devices_poll leaves it.
void devices_wait(machine *m);
// Any thread: ends a devices_sleep, devices_look, devices_wait or DEVICE_WAIT that is under way.
void devices_wake(struct devices *d);
// Copies queued events into the guest's ring and the clock into its page: at system calls and budget ends.
void devices_poll(machine *m);

#endif
