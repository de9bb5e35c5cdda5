// SPDX-License-Identifier: MIT
// Where the host's time goes, as samples of the emulation thread, and how often instructions have run, for
// core.h and for what finds out.
#ifndef CORE_STATE_MACHINE_PROFILE_H
#define CORE_STATE_MACHINE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

// What the emulation thread was at.
enum machine_profile_kind {
    MACHINE_PROFILE_TRANSLATED, // a function of the guest, translated
    MACHINE_PROFILE_INTERPRETED, // the same, interpreted
    MACHINE_PROFILE_KERNEL, // the same: what stands in for one of its loops
    MACHINE_PROFILE_ENGINE, // decoding, putting translated code in its place, taking these samples
    MACHINE_PROFILE_SYSTEM, // the guest's system calls, devices and signals
    MACHINE_PROFILE_PROGRAM, // the host's program: what it does with frames and sound
    MACHINE_PROFILE_KINDS,
};

// A function that has called what is in a row, or another such function.
struct machine_profile_caller {
    const char *function;
    uint32_t start;
    uint32_t outer; // who called that: index into machine_profile.callers
};

// In place of a caller: there is none; it is not known who it is.
enum { MACHINE_PROFILE_OUTERMOST, MACHINE_PROFILE_UNKNOWN_CALLER, MACHINE_PROFILE_CALLERS };

// What is known of one place. Places differ in kind, function, loop or callers.
struct machine_profile_row {
    enum machine_profile_kind kind;
    const char *function; // of the guest; NULL: it has no name, or this is none
    uint32_t start; // its first instruction, or of what has no name the page; 0: no code of the guest
    uint32_t header, branch; // of its innermost loop around the sample; header 0: in none
    uint32_t caller; // index into machine_profile.callers; of counted instructions nobody asks
    uint64_t samples; // config.profile
    uint64_t instructions; // config.count: how many have run
};

struct machine_profile {
    const struct machine_profile_row *rows; // the machine's
    size_t row_count;
    const struct machine_profile_caller *callers; // from MACHINE_PROFILE_CALLERS on; the machine's, too
    uint64_t samples, instructions; // of all rows
    uint64_t lost; // that there was no room for
    uint64_t cpu_ns; // CPU time of the emulation thread since machine_run was first called
};

#endif
