// SPDX-License-Identifier: MIT
// What a machine is made of: the configuration, for core.h and for what runs below it.
#ifndef CORE_STATE_MACHINE_CONFIG_H
#define CORE_STATE_MACHINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file or folder that the guest may open: host at its guest path. A folder grants what is below it.
// Nothing else of the host's files can be reached.
struct machine_grant {
    const char *host; // NULL: a folder that is made
    const char *guest; // absolute
    bool writable;
    // Makes that folder when the guest first asks for it, or before it has a child, which shares it. Its
    // path, or NULL with errno.
    const char *(*make)(void *maker);
    void *maker;
};

enum machine_clock {
    MACHINE_CLOCK_REAL, // follows the host, scaled by the speed, stopped while paused
    MACHINE_CLOCK_VIRTUAL, // advances by what the guest does; every run is identical
};

enum machine_engine { MACHINE_ENGINE_INTERP, MACHINE_ENGINE_TRANSLATE };

// Who picks the kernel of an instruction (engine/dispatch_modes.h): the tables; the tables, with the net's
// answers counted; the net alone; or as hybrid, the net being evaluated again for every executed instruction.
enum machine_dispatch {
    MACHINE_DISPATCH_OFF,
    MACHINE_DISPATCH_HYBRID,
    MACHINE_DISPATCH_PURE,
    MACHINE_DISPATCH_LIVE, // interprets
    MACHINE_DISPATCH_MODES,
};

// A presented frame: valid during the call only.
struct machine_frame {
    const uint8_t *indices; // [200][320]
    const uint8_t (*palette)[3]; // [256] R G B
    uint32_t number; // the first frame is 1
    uint32_t gametic;
    // [200][320], not 0 where the loop that begins at traced_loop has written in this frame
    // (machine_trace_loop); NULL: none is traced
    const uint8_t *traced;
    uint32_t traced_loop;
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
    const char *library_folder; // holds the translator's module; NULL = the folder of the running program
    // Where translated code is kept, absolute; NULL = nowhere, as where the guest may write. Made if need be
    // (0700).
    const char *cache_folder;
    // Holds what an earlier run with `prepare` kept, and is only read: where cache_folder has nothing of the
    // program, that is taken from here. NULL = nowhere.
    const char *prepared_folder;
    // Compiles at once whatever turns out to be hot, and before the machine is destroyed everything that was
    // asked for, so that the cache is good for later runs.
    bool prepare;
    // When a run ends that has interpreted for so long (ns) what later runs could have translated: then
    // machine_translate_rest can have that done for them, and this one compiles no more than what pays for
    // itself. program: the host path of one that has taken the machine's place (execve), else NULL. The run
    // may be a process's of its own (fork), which ends behind this. NULL: nobody translates for later runs.
    void (*leave_rest)(void *user, const char *program, uint64_t interpreted_ns);
    const char *dispatch_model; // base path of the dispatch net's files; NULL = mode off for good
    enum machine_dispatch dispatch;
    const char *loop_models; // folder of the three nets for loops; NULL = no loop is ever replaced
    bool loops; // replace what is proved, from the start on
    bool verify; // replaced loops are checked from the start on: machine_set_verify
    bool idle; // see machine_set_idle
    bool profile; // samples are taken of where time goes: machine_get_profile
    // Every instruction is counted: machine_get_profile. Everything is interpreted then, and no loop
    // replaced.
    bool count;
    bool record_input; // what reaches the guest from outside is written down: machine_take_input
    const void *replay_input; // such a log, replay_size bytes, takes the outside's place; NULL = none
    size_t replay_size;
    // Or a log that is still being made, that of a machine which is some frames ahead: fetches the next piece
    // of it, which ends behind a frame (machine_take_input) and stays valid until the next call; waits for it
    // as long as it takes. False: there is none any more. NULL = there is no such log.
    bool (*more_input)(void *user, const void **log, size_t *size);
    void *user;
    // On the emulation thread, for each presented frame. May block (vsync, pause).
    void (*present)(void *user, const struct machine_frame *frame);
    // On the emulation thread: samples that the guest has made, 16-bit stereo at DEVICE_AUDIO_RATE, in the
    // order in which they are heard; what a frame sounds like comes before it is presented. Their number is
    // not the host's to choose. NULL: the guest makes no sound.
    void (*audio)(void *user, const int16_t (*samples)[2], size_t count);
    // Text for the user from the machine (an unknown system call, …), without newline. NULL = stderr.
    void (*log)(void *user, const char *line);
    // For the collection of data: called for every entry of every loop (a backward branch and its target),
    // when the loop is next entered or the machine destroyed. Everything is interpreted then, slowly.
    void (*loop_entered)(void *user, const struct machine_loop_entry *entry);
    // What the guest writes to its standard output and error; NULL = the host's descriptors 1 and 2.
    void (*output)(void *user, int fd, const char *text, size_t length);
};

#endif
