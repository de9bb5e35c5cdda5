// SPDX-License-Identifier: MIT
// The guest: what all floors below the machine share. The machine owns it and everything it points at.
#ifndef CORE_STATE_GUEST_H
#define CORE_STATE_GUEST_H

#include <stdatomic.h>

#include "core/base/error.h"
#include "core/isa/cpu.h"
#include "machine_config.h"
#include "machine_state.h"
#include "machine_stats.h"
#include "memory.h"

struct linux_process; // linux/: descriptors, signals, break, …
struct devices; // devices/: the device page, clock, events
struct translator; // engine/translate/
struct blocks; // engine/stencil/
struct dispatch; // engine/dispatch/
struct loop_check; // engine/interp/
struct loop; // loops/
struct loops;
struct loop_watch;
struct loop_trace;
struct counts; // counts.h
struct guest;

// What lower floors ask of those above. All are there.
struct guest_host {
    // Name of the guest function that holds pc, or NULL. offset: from its start. The guest's program owns it.
    const char *(*symbol)(const struct guest *g, uint64_t pc, uint64_t *offset);
    // The guest has presented this frame. Emulation thread.
    void (*present)(struct guest *g, const struct machine_frame *frame);
    // The guest instruction of an access that translated code makes at host_pc, as translate_guest_pc.
    // Async-signal-safe.
    bool (*translated_pc)(struct translator *t, uint64_t host_pc, uint32_t *pc, bool *is_precise);
    // The guest instruction of an access that a block makes at host_pc, as blocks_guest_pc.
    bool (*block_pc)(const struct blocks *b, uint64_t host_pc, uint32_t *pc);
    // Makes the system call behind which cpu.pc is, without leaving translated code: STOP_NONE, if guest code
    // can go on at cpu.pc at once; STOP_SERVED, if that has to be left first; STOP_SVC, if also for the call,
    // which has not been made.
    enum stop_reason (*system_call)(struct guest *g);
    // How many more instructions guest code may run at once, where stats.retired and granted are up to date:
    // 0 if what is between two slices has to be done.
    uint64_t (*more)(struct guest *g);
    // Whether guest code may go on, where replaced loops have done so much since the slice began that it
    // ought to be over: false if what is between two slices has to be done.
    bool (*may_go_on)(struct guest *g);
    // CNTVCT_EL0, in ns.
    uint64_t (*counter)(struct guest *g);
    // From now on the interpreter lets the loop's plan run at its header, or no longer does. Emulation
    // thread, while no guest code runs.
    void (*patch_loop)(struct guest *g, struct loop *loop, bool replaced);
    // A process that the program has made by fork is about to end.
    void (*process_ends)(struct guest *g);
};

enum { AHEAD_BLOCKED = -1 };

// What the emulation thread is at, for samples of it (profile.c), which a signal handler takes.
enum activity {
    ACTIVITY_PROGRAM, // what is no business of the machine
    ACTIVITY_ENGINE, // what is done for the guest's code, before it runs
    ACTIVITY_GUEST, // its code
    ACTIVITY_KERNEL, // what stands in for its loop at activity_header
    ACTIVITY_SYSTEM, // its system calls and the like
};

struct guest {
    cpu cpu; // first: semantic functions get a pointer to this alone
    struct memory memory;
    struct machine_config config;
    const struct guest_host *host;

    struct linux_process *process;
    struct devices *devices;
    struct translator *translator; // NULL: everything is interpreted
    struct shared_history *shared_history; // of the program's code; NULL: none is kept
    struct blocks *blocks; // NULL: none has been made yet
    struct dispatch *dispatch; // NULL: there is no net, and the mode is off
    struct loops *loops; // NULL: no loop is ever replaced
    struct loop_watch *loop_watch; // NULL: loops are not watched
    struct loop_check *check; // of a loop's replacement, under way
    struct loop_trace *trace; // NULL: no loop is traced (machine_trace_loop)
    struct counts *counts; // NULL: instructions are not counted one by one (config.count)

    // Iterations that replaced loops may do before the engine looks at requests again: they retire nothing.
    int64_t skips_left;
    int64_t granted; // the budget of the interp_run under way, but for what has been added to stats.retired
    uint64_t interpreted; // instructions, and CHANGE_COST; not those in front of system calls and faults
    int64_t interpreting_since; // the budget when the interpreter was come to last
    uint64_t code_changes; // how often code has been written or unmapped
    bool translating; // the engine that is in use
    // The guest handles SIGSEGV or SIGBUS itself: its faults have to show every register (way_back.h).
    bool handles_faults;
    bool program_is_new; // another one has taken its place (execve), which the engine has not yet followed
    bool verify; // what is done in place of loops is checked (machine_set_verify)
    bool told_unkept; // why something is not kept for later runs
    bool entering; // translated code is entered: the engine is in use, and faults are as precise as need be

    // Set by other threads.
    atomic_bool stop_requested; // leave machine_run at the end of the slice
    atomic_bool signal_pending; // a host signal for the guest has arrived
    atomic_bool loops_wanted; // machine_set_loops
    atomic_bool idle_wanted; // machine_set_idle

    // Running ahead (machine_run_ahead): frames to go; AHEAD_BLOCKED: the program wants what could not be
    // taken back.
    bool ahead;
    int ahead_frames;

    volatile uint32_t activity; // enum activity
    volatile uint32_t activity_header;
    // As the translated code that is running was entered, for samples of it.
    struct guest_entry {
        uint64_t pc, sp, x29, x30;
    } entered;

    enum machine_state state;
    int exit_status;
    struct machine_fault fault;
    struct machine_stats stats; // the emulation thread's own
};

// The guest of a cpu, which is part of one.
static inline struct guest *guest_of(cpu *c)
{
    return (struct guest *)c;
}
_Static_assert(offsetof(struct guest, cpu) == 0, "guest_of");

// From now on code of the calling thread that is made for a guest finds this one's memory: relative to gs.
// Nothing else on this host uses that register.
void guest_make_current(const struct guest *g);
// Ends the guest: state and exit status are set, and machine_run returns.
void guest_exit(struct guest *g, int status);
// Ends the guest by a signal, with the report that the cpu and address give. what: one line, what it tried.
void guest_kill(struct guest *g, int signal, uint64_t address, const char *what);
// For threads beside the emulation thread, which alone takes the host's signals.
void guest_refuse_signals(void);
// A formatted line to config.log, or to stderr. Any thread, if config.log takes that.
void guest_log(const struct guest *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Tells, once a run, that something cannot be kept for the next one. error->text may be empty: then nothing.
void guest_log_unkept(struct guest *g, const struct error *error);

#endif
