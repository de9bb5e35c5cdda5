// SPDX-License-Identifier: MIT
// The machine: one AArch64 Linux program on our core. The only header of core/ that the programs include.
//
// One thread, the emulation thread, calls machine_run; functions marked "any thread" may be called while it
// runs.
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct machine machine;

// A file or folder that the guest may open: host at its guest path. A folder grants what is below it.
// Nothing else of the host's files can be reached.
struct machine_grant {
    const char *host;
    const char *guest; // absolute
    bool writable;
};

enum machine_clock {
    MACHINE_CLOCK_REAL, // follows the host, scaled by the speed, stopped while paused
    MACHINE_CLOCK_VIRTUAL, // advances by what the guest does; every run is identical
};

enum machine_engine { MACHINE_ENGINE_INTERP, MACHINE_ENGINE_TRANSLATE };
const char *machine_engine_name(enum machine_engine engine);
// False if this build has no engine of that name.
bool machine_engine_by_name(const char *name, enum machine_engine *engine);
// The names of the engines in this build, separated by commas.
const char *machine_engine_names(void);
// The fastest engine in this build.
enum machine_engine machine_default_engine(void);

// Who picks the kernel of an instruction (engine/dispatch_modes.h): the tables; the tables, with the net's
// answers counted; the net alone; or as hybrid, the net being evaluated again for every executed instruction.
enum machine_dispatch {
    MACHINE_DISPATCH_OFF,
    MACHINE_DISPATCH_HYBRID,
    MACHINE_DISPATCH_PURE,
    MACHINE_DISPATCH_LIVE, // interprets
    MACHINE_DISPATCH_MODES,
};
extern const char *const machine_dispatch_names[MACHINE_DISPATCH_MODES]; // "off", …
// Whether the files of the dispatch net at base can be used; if not, error (size bytes) says why not.
bool machine_check_dispatch(const char *base, char *error, size_t size);
// False if there is no mode of that name.
bool machine_dispatch_by_name(const char *name, enum machine_dispatch *dispatch);

// A presented frame: valid during the call only.
struct machine_frame {
    const uint8_t *indices; // [200][320]
    const uint8_t (*palette)[3]; // [256] R G B
    uint32_t number; // the first frame is 1
    uint32_t gametic;
};

// A loop was gone round trips times: its header was come to that often, first from outside and then by the
// backward branch at branch.
struct machine_loop_entry {
    uint32_t header, branch; // guest addresses
    uint64_t trips;
    uint64_t x[32]; // X0..X30 and SP at the first arrival
};

// All pointers have to stay valid for the machine's life. Zero is a sensible value for every field but
// program, argv and envp.
struct machine_config {
    const char *program; // host path of a static aarch64 ELF
    const char *const *argv; // as the guest sees it, NULL-terminated
    const char *const *envp;
    const char *cwd; // the guest's current folder, as a guest path; NULL = "/"
    const struct machine_grant *grants;
    size_t grant_count;
    uint64_t ram; // bytes the guest may map; 0 = 1 GiB
    bool device; // offer the device page
    bool deterministic; // AT_RANDOM, getrandom, pid and stack address are fixed
    bool host_stdin; // the guest reads the host's standard input, else it is empty
    enum machine_clock clock;
    enum machine_engine engine;
    const char
        *cache_folder; // where translated code is kept, absolute; NULL = nowhere. Made if need be (0700)
    const char *dispatch_model; // base path of the dispatch net's files; NULL = mode off for good
    enum machine_dispatch dispatch;
    const char *loop_models; // folder of the three nets for loops; NULL = no loop is ever replaced
    bool loops; // replace what is proved, from the start on
    bool verify; // run the plain loop beside every replaced one and compare; config.log tells what differs
    bool idle; // see machine_set_idle
    void *user;
    // On the emulation thread, for each presented frame. May block (vsync, pause).
    void (*present)(void *user, const struct machine_frame *frame);
    // Text for the user from the machine (an unknown system call, …), without newline. NULL = stderr.
    void (*log)(void *user, const char *line);
    // For the collection of data: called for every entry of every loop (a backward branch and its target),
    // when the loop is next entered or the machine destroyed. Everything is interpreted then, slowly.
    void (*loop_entered)(void *user, const struct machine_loop_entry *entry);
    // What the guest writes to its standard output and error; NULL = the host's descriptors 1 and 2.
    void (*output)(void *user, int fd, const char *text, size_t length);
};

// Creates a machine with its program loaded. On failure returns NULL and writes a message of what happened
// and what to do to error (size bytes); *reason tells which kind it is.
enum machine_error {
    MACHINE_ERROR_HOST, // the host denied memory or threads
    MACHINE_ERROR_NO_FILE, // no such program, or not readable
    MACHINE_ERROR_NOT_PROGRAM, // not a static aarch64 program
};
machine *machine_create(const struct machine_config *config, enum machine_error *reason, char *error,
                        size_t size);
void machine_destroy(machine *m);

enum machine_state {
    MACHINE_RUNNING, // the budget is used up or a stop was requested: call again
    MACHINE_EXITED, // exit status in machine_exit_status
    MACHINE_FAULTED, // killed by a signal that the guest did not handle: machine_fault
};

// Runs up to budget guest instructions (UINT64_MAX: until something happens).
enum machine_state machine_run(machine *m, uint64_t budget);

// The guest's exit status, 0..255; for MACHINE_FAULTED 128 + signal.
int machine_exit_status(const machine *m);

struct machine_fault {
    int signal; // Linux number: 11 SIGSEGV, 4 SIGILL, 5 SIGTRAP, 7 SIGBUS, 6 SIGABRT, …
    uint64_t pc;
    uint64_t address; // of the access, for SIGSEGV and SIGBUS
    char what[160]; // one line: what the guest tried
    char report[4096]; // several lines: that, the function, the registers, the last instructions
};
const struct machine_fault *machine_get_fault(const machine *m);

// Any thread: machine_run returns soon (at most about a millisecond later, sooner out of a wait).
void machine_request_stop(machine *m);

// Any thread: queues one event for the device page's ring (struct device_event of guest/device_page.h) and
// wakes a waiting guest. Returns false when 256 events are waiting already.
struct device_event;
bool machine_post_event(machine *m, const struct device_event *event);

// Any thread; in effect within a millisecond or so. An engine that this build lacks, or that cannot start,
// leaves the interpreter.
void machine_set_engine(machine *m, enum machine_engine engine);
enum machine_engine machine_get_engine(const machine *m);

// Any thread. percent: 100 = as fast as the wall clock; 0 = as fast as possible (virtual clock).
void machine_set_speed(machine *m, unsigned percent);
// Any thread. Stops and restarts the guest's clock; the caller stops calling machine_run or blocks in
// present.
void machine_set_clock_paused(machine *m, bool paused);

// Any thread; each number is exact at the last stop, system call or budget end.
struct machine_stats {
    uint64_t retired; // guest instructions executed
    uint64_t emulating_ns; // host time spent executing them (system calls included, waits not)
    uint64_t idle_ns; // host time given back while the guest waited
    uint64_t system_calls;
    uint64_t frames; // presented
    uint64_t memory_mapped; // bytes of guest memory mapped
    uint64_t translated_regions; // installed, of which
    uint64_t cached_regions; // came from the cache
    uint64_t compile_ns; // CPU time of the compile thread
    // While dispatch is not off: instructions executed, those of them whose kernel the net named rightly, and
    // the same by distinct instruction words decoded.
    uint64_t dispatch_total, dispatch_hit;
    uint64_t dispatch_words, dispatch_words_hit;
    // Instructions and iterations of replaced loops, which nobody executed: never part of retired.
    uint64_t credited, iterations_skipped;
    // Distinct loop headers: proposed by a net as something, of which proved and installed, and refused.
    uint64_t loops_detected, loops_proved, loops_rejected;
    uint64_t verify_failures; // entries of replaced loops that differed from the plain loop (config.verify)
};
void machine_get_stats(const machine *m, struct machine_stats *stats);

// False if there is no dispatch net: none was configured, or its files are unusable (config.log has said
// why).
bool machine_has_dispatch(const machine *m);
// Any thread; at the next look at requests, as machine_request_stop. Without a net nothing happens.
void machine_set_dispatch(machine *m, enum machine_dispatch dispatch);
// As last set. Any thread.
enum machine_dispatch machine_get_dispatch(const machine *m);

// False if no loop is ever replaced: no nets were configured, they are unusable (config.log has said why), or
// this build has no LLVM.
bool machine_has_loops(const machine *m);
// Any thread; from the next entry of a loop on.
void machine_set_loops(machine *m, bool on);
// As last set. Any thread.
bool machine_get_loops(const machine *m);

// A loop that a net has proposed as something.
enum machine_loop_verdict { MACHINE_LOOP_PROPOSED, MACHINE_LOOP_PROVED, MACHINE_LOOP_REJECTED };
struct machine_loop {
    uint32_t header; // pc of its first instruction
    char function[32]; // that holds it, cut to fit; "" if that is unknown
    const char *class_name; // as proposed
    enum machine_loop_verdict verdict;
    char reason[80]; // of a rejection, else ""
    uint64_t entries, iterations; // counted so far, replaced or not: iterations / entries is its trip count
    uint64_t credited; // instructions that its replacement stood in for
    double share; // of all instructions, executed and credited, those of this loop: 0..1
};
// Copies the loops with the largest share, the largest first; returns how many, at most max. Any thread.
size_t machine_list_loops(const machine *m, struct machine_loop *loops, size_t max);

// Idle: a guest that reads the clock over and over only waits, so a second look within the same millisecond
// of its time, with nothing else in between, sleeps until that millisecond is over, or there is input. So
// does a loop that is proved to poll the device page, while loops are on. Does nothing while the clock is
// virtual, or without the device: then the clock is the host's. Any thread.
void machine_set_idle(machine *m, bool on);
bool machine_get_idle(const machine *m);

// What the guest last published in the device page. Any thread.
struct device_info;
bool machine_get_device_info(const machine *m, struct device_info *info);

// Name of the guest function that holds pc, from the ELF's symbols, or NULL. offset: from its start.
const char *machine_symbol(const machine *m, uint64_t pc, uint64_t *offset);

// Copies length bytes of guest memory; false if the guest could not read them. Emulation thread.
bool machine_read_memory(machine *m, uint64_t address, void *to, size_t length);

// One line of disassembly of word at pc, as the Arm manual writes it; "udf"-like text for unallocated words.
void machine_disassemble(uint32_t word, uint64_t pc, char *text, size_t size);

#endif
