// SPDX-License-Identifier: MIT
// What this program and this machine are, for --version, --doctor and the reports.
#ifndef FRONTEND_HOST_H
#define FRONTEND_HOST_H

#include <stdint.h>
#include <stdio.h>

// From the build.
extern const char host_version[];
extern const char host_git[]; // abbreviated commit, "unknown" outside a checkout
extern const char host_flags[]; // compiler and flags

// What --version of a program says.
void host_print_version(const char *program, FILE *stream);

struct host_machine {
    char cpu[96];
    char kernel[128];
    char system[96]; // the distribution
    char governor[32], turbo[8]; // of the first core; turbo: on, off; "unknown" where the kernel does not say
    char blas[64]; // file of the library that the nets use, or "none"
    unsigned cores; // that this process may use
    uint64_t memory; // bytes
};
void host_describe_machine(struct host_machine *machine);

// The most memory this process has had resident, in bytes.
uint64_t host_peak_memory(void);

#endif
