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

#include "core/base/error.h" // struct error: why something failed
#include "core/base/file.h" // files that are written whole or not at all
#include "core/base/scratch.h" // folders for temporary files
#include "core/base/sha256.h" // what names files by their contents
#include "core/state/loop_explanation.h" // struct machine_loop_explanation: what became of a loop
#include "core/state/machine_config.h" // struct machine_config: what a machine is made of
#include "core/state/machine_profile.h" // struct machine_profile: where time and instructions go
#include "core/state/machine_state.h" // struct machine_fault: how it stands
#include "core/state/machine_stats.h" // struct machine_stats, machine_loop: what it counts

typedef struct machine machine;

// ---- what this build can do ----

const char *machine_engine_name(enum machine_engine engine);
// False if this build has no engine of that name.
bool machine_engine_by_name(const char *name, enum machine_engine *engine);
// The names of the engines in this build, separated by commas.
const char *machine_engine_names(void);
// The fastest engine in this build.
enum machine_engine machine_default_engine(void);

extern const char *const machine_dispatch_names[MACHINE_DISPATCH_MODES]; // "off", …
// Whether the files of the dispatch net at base can be used; if not, *error says why not.
bool machine_check_dispatch(const char *base, struct error *error);
// False if there is no mode of that name.
bool machine_dispatch_by_name(const char *name, enum machine_dispatch *dispatch);

// ---- life ----

// Creates a machine with its program loaded. On failure returns NULL, with *error.
machine *machine_create(const struct machine_config *config, struct error *error);
// False if what m would have kept for later runs could not be: why has been logged.
bool machine_destroy(machine *m);

// Runs up to budget guest instructions (UINT64_MAX: until something happens).
enum machine_state machine_run(machine *m, uint64_t budget);

// Of a machine that is not run: has what earlier runs of the program have asked for in vain translated, for
// later ones, and after that whatever they have run, with config.cache_folder. machine_destroy comes back
// when that is done.
void machine_translate_rest(machine *m);
// Whether what m translates is kept for later runs, as far as is known before machine_destroy.
bool machine_keeps_code(const machine *m);

// The guest's exit status, 0..255; for MACHINE_FAULTED 128 + signal.
int machine_exit_status(const machine *m);
// What ended it, for MACHINE_FAULTED.
const struct machine_fault *machine_get_fault(const machine *m);

// Any thread: machine_run returns soon (at most about a millisecond later, sooner out of a wait).
void machine_request_stop(machine *m);

// ---- while it runs ----

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

// Checking: wherever a loop is replaced, the plain loop runs, too, and what they leave is compared. A
// replacement that differs is switched off for good, which config.log tells and verify_failures counts. Any
// thread; at the next look at requests, as machine_request_stop. Translated code is made anew for it.
void machine_set_verify(machine *m, bool on);
// As last set. Any thread.
bool machine_get_verify(const machine *m);

// Tracing: which pixels the loop that begins at address writes, whenever it runs (struct machine_frame); 0:
// no loop. Meanwhile the guest is interpreted, whatever the engine, and that loop is not replaced. A loop
// that cannot be summarised is not traced, nor are loops of a guest that does not tell where it draws
// (guest/device_page.h). Any thread; at the next look at requests, as machine_request_stop.
void machine_trace_loop(machine *m, uint64_t address);

// The loop that begins at address alone: whether it may be replaced while loops are on. Any thread.
void machine_set_loop(machine *m, uint64_t address, bool on);

// Copies the loops with the largest share, the largest first; returns how many, at most max. Any thread.
size_t machine_list_loops(const machine *m, struct machine_loop *loops, size_t max);
// Says what became of the loop that begins at address. False if there are no loops to be replaced at all
// (machine_has_loops). Any thread; takes about a millisecond.
bool machine_explain_loop(const machine *m, uint64_t address, struct machine_loop_explanation *explanation);

// Where the time of the emulation thread has gone so far, and the guest's instructions; false without
// config.profile or config.count. Instructions are those that ran in this machine, also where
// machine_get_stats knows nothing of them: running ahead, or before another state was loaded. Valid until the
// next call on the machine. When machine_run does not run.
bool machine_get_profile(const machine *m, struct machine_profile *profile);

// Idle: a guest that reads the clock over and over only waits, so a second look within the same millisecond
// of its time, with nothing else in between, sleeps until that millisecond is over, or there is input. So
// does a loop that is proved to poll the device page, while loops are on. Does nothing while the clock is
// virtual, or without the device: then the clock is the host's. Any thread.
void machine_set_idle(machine *m, bool on);
bool machine_get_idle(const machine *m);

// ---- what comes from outside, recorded and replayed ----
//
// A log holds what a guest with the device gets to see of its clock, and the events that reach it: with the
// program, its arguments, config.deterministic and the files that it reads, all that its run depends on. A
// replay of it is that run again, with whatever engine and switches. While there is a log, input reaches the
// guest at system calls only. Other sources are not in it: how the host's disk fills, say.

// Hands over what has been recorded since the last call: *bytes on the heap, the caller's, or NULL. The log
// is these pieces behind one another. When machine_run does not run, or in present.
void machine_take_input(machine *m, uint8_t **bytes, size_t *size);

// Begins a log of what comes from outside, as config.record_input does at the start: it can be cut behind any
// frame that is presented from now on. Without effect if there is a log. When machine_run does not run.
void machine_record_input(machine *m);
// As config.replay_input, again and from the start of that log, which stays the caller's. Before m becomes
// what it was where the log began.
void machine_replay_input(machine *m, const void *log, size_t size);

// How far a log reaches: to its last whole frame, or to the program's end.
struct machine_input {
    size_t size; // bytes that count; what follows them is of a frame that was not presented any more
    uint64_t frames;
    bool to_end;
};
// Measures a log up to its frame number most at the furthest. False: it is damaged.
bool machine_measure_input(const void *log, size_t size, uint64_t most, struct machine_input *input);

// How the replay of config.replay_input or config.more_input stands. When machine_run does not run, or in
// present.
enum machine_replay {
    MACHINE_REPLAY_NONE, // there is none, or it has reached the end of its log: the guest lives on
    MACHINE_REPLAY_ON,
    MACHINE_REPLAY_DIVERGED, // the guest did something else than in the recording; machine_run is pointless
};
// *why: for MACHINE_REPLAY_DIVERGED, which frame and what; the machine's.
enum machine_replay machine_get_replay(const machine *m, const char **why);

// ---- looking at it ----

// The picture in the device page: behind a present the frame that was presented. Valid until machine_run.
// False without the device. When machine_run does not run.
bool machine_get_frame(const machine *m, struct machine_frame *frame);

// What the guest last published in the device page. Any thread.
struct device_info;
bool machine_get_device_info(const machine *m, struct device_info *info);

// ---- putting it away ----
//
// On the emulation thread, while machine_run does not run. A stop that is requested in config.present makes
// machine_run return right behind the system call that presented the frame.

// Of the machine_save that made them: on the heap, the caller's to free.
struct machine_bytes {
    uint8_t *data;
    size_t size;
};

// The whole machine but what is derived (decoded and translated code, loops): registers, memory, signals,
// device page, clocks and counters, names and offsets of open files. False with *error where that cannot be
// done: pipes, sockets, other processes, memory shared with files.
bool machine_save(machine *m, struct machine_bytes *bytes, struct error *error);

// Makes m, which was created from the same program with the same grants, what the saved one was; its own
// program may have ended. The bytes may be anybody's: whatever they hold, the guest can do no more than
// before. Engine, speed, pause and the like stay as they are. False with *error: nothing has changed, unless
// the host denied memory midway: then the guest is MACHINE_FAULTED.
bool machine_load(machine *m, const void *data, size_t size, struct error *error);

// Moments: states of the last seconds, each kept as its difference to the next. They take up to limit bytes,
// the oldest going first; 0, as it is at first: none are kept. False with *error if the host denies it.
bool machine_keep_moments(machine *m, size_t limit, struct error *error);
// The state of now becomes a moment. Its number, one more than that of the newest so far (the first is 1); 0
// with *error.
uint64_t machine_add_moment(machine *m, struct error *error);
// Makes m what it was at that moment, which is the newest then: later ones are forgotten. False with *error
// as machine_load.
bool machine_return_to(machine *m, uint64_t moment, struct error *error);

// Runs on from the newest moment, which is now, as if no more input came, until the program has presented so
// many frames more: config.present gets the last of them. Then m is what it was; clock, sound, counters and
// log have known nothing of it. False, without that frame, if the program wants to do what cannot be taken
// back (*error is empty), or with *error as machine_return_to.
bool machine_run_ahead(machine *m, unsigned frames, struct error *error);

// The moments from first to the newest, as bytes: with machine_save of the same stand another machine can go
// back to them. False with *error: they are not kept, or there is not enough memory.
bool machine_save_moments(machine *m, uint64_t first, struct machine_bytes *bytes, struct error *error);
// m keeps moments, and has just become what machine_save said at the newest of these, which take the place of
// its own. The bytes are our own. False with *error.
bool machine_load_moments(machine *m, const void *data, size_t size, struct error *error);

struct machine_moments {
    uint64_t first, last; // their numbers: 0 and 0, if there are none
    size_t bytes; // that they take
};
void machine_get_moments(const machine *m, struct machine_moments *moments);

// Name of the guest function that holds pc, from the ELF's symbols, or NULL. offset: from its start.
const char *machine_symbol(const machine *m, uint64_t pc, uint64_t *offset);

#endif
