// SPDX-License-Identifier: MIT
// What this process has mapped, as the host lists it in /proc/self/maps.
#ifndef CORE_BASE_HOST_MAPPINGS_H
#define CORE_BASE_HOST_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct host_mapping {
    uint64_t start, end; // host addresses
    uint64_t offset, inode; // in a file, and of it; 0: there is none
    unsigned device_major, device_minor; // on which it lies
    bool shared;
};

// Calls take for each mapping, by rising addresses, until it returns false. False then, or if the list cannot
// be read to its end.
bool host_mappings(bool (*take)(const struct host_mapping *mapping, void *user), void *user);

#endif
