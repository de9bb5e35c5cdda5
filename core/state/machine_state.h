// SPDX-License-Identifier: MIT
// How a machine stands, and what ended it, for core.h and for what ends it below.
#ifndef CORE_STATE_MACHINE_STATE_H
#define CORE_STATE_MACHINE_STATE_H

#include <stdint.h>

enum machine_state {
    MACHINE_RUNNING, // the budget is used up or a stop was requested: call again
    MACHINE_EXITED, // exit status in machine_exit_status
    MACHINE_FAULTED, // killed by a signal that the guest did not handle: machine_fault
};

struct machine_fault {
    int signal; // Linux number: 11 SIGSEGV, 4 SIGILL, 5 SIGTRAP, 7 SIGBUS, 6 SIGABRT, …
    uint64_t pc;
    uint64_t address; // of the access, for SIGSEGV and SIGBUS
    char what[160]; // one line: what the guest tried
    char report[4096]; // several lines: that, the function, the registers, the last instructions
};

#endif
