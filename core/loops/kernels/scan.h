// SPDX-License-Identifier: MIT
// Exits that compare what a stream loads with a fixed value, or with what another one loads: found without a
// lane program.
#ifndef CORE_LOOPS_SCAN_H
#define CORE_LOOPS_SCAN_H

#include "kernel.h"

enum { SCAN_TESTS = 3 };

struct scan {
    unsigned count; // 0: some exit is of another form
    struct scan_test {
        bool equal; // leaves when they are equal, else when they differ
        bool is_signed; // extended from size to bits before it is compared with value
        uint8_t exit, size, bits;
        uint8_t load, other; // ranges; other = load: compared with value
        struct quantity value;
    } tests[SCAN_TESTS];
};

// Whether the streams are without gaps at this entry, so that the scan can be used.
bool scan_fits(const struct scan *s, const struct entry *e);

// How many iterations to look at after these. With several tests the first one may go far beyond what the
// others find.
static inline unsigned scan_more(const struct scan *s, unsigned iterations)
{
    return iterations < 1 << 15 ? iterations * (s->count == 1 ? 128 : 4) : iterations;
}

// How many of the n iterations from first on go by before one in which an exit is taken: *exit; n if in none.
unsigned scan_find(const struct scan *s, const struct entry *e, uint64_t first, unsigned n, unsigned *exit);

#endif
