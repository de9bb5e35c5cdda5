// SPDX-License-Identifier: MIT
// A stretch of the host's address space that is all ours, and a bound for the mappings that the host keeps
// for it: Linux lets a process have vm.max_map_count of them (Documentation/admin-guide/sysctl/vm.rst), and
// denies mmap, munmap and mprotect with ENOMEM beyond.
//
// Nothing outside the stretch ever changes place, and no part of it is ever left unmapped, or the host could
// put its own data there.
//
// Which neighbours the kernel merges depends on who wrote them first, and on forks. So nothing is assumed:
// each end of a range that the host was asked to treat apart counts as a seam until a fresh mapping covers
// it, or until the host's own list does not have it.
#ifndef CORE_RESERVATION_H
#define CORE_RESERVATION_H

#include <stdbool.h>
#include <stdint.h>

#define RESERVATION_PAGE 4096ull // addresses and lengths below are multiples of it

struct reservation {
    uint8_t *start;
    uint64_t size;
    uint64_t *seams; // bit i: one of the host's mappings may end, and another begin, at page i
    int64_t seam_count; // of them: the host has at most one mapping more
    int64_t changes; // calls since reservation_recount: some seams may have gone
    int64_t limit; // vm.max_map_count
};

// Reserves size bytes, inaccessible. Returns 0, or -1 with errno.
int reservation_create(struct reservation *r, uint64_t size);
void reservation_destroy(struct reservation *r);

// The seams that treating the range apart would add: 0, 1 or 2.
int64_t reservation_new_seams(const struct reservation *r, const uint8_t *at, uint64_t length);

// The seams within the range, its ends left out.
int64_t reservation_seams_inside(const struct reservation *r, const uint8_t *at, uint64_t length);

// How many seams may be added. A reservation may have as many as all those of the process together leave
// free: one gets a half of the limit, n greedy ones 1/(n + 1) each, and as much is left to the rest of the
// program. The calls below do not ask: their callers do.
int64_t reservation_room(const struct reservation *r);

// Whether enough has changed for reservation_recount to be worth its price: about 1 us a mapping.
bool reservation_has_changed(const struct reservation *r);

// Takes the seams from the host's own list, /proc/self/maps. False if it cannot be read: nothing has changed.
bool reservation_recount(struct reservation *r);

void reservation_add_seam(struct reservation *r, const uint8_t *at);

// The stretch around at that has no seam inside: to treat it apart adds none.
void reservation_piece(const struct reservation *r, const uint8_t *at, uint8_t **start, uint8_t **end);

// The calls below return 0 or a negative errno.

// mmap. After an error the range is inaccessible, or as it was.
int reservation_map(struct reservation *r, uint8_t *at, uint64_t length, int prot, int flags, int fd,
                    uint64_t offset);

// Maps what comes behind the page last in the file that is mapped there, for all to see (MAP_SHARED). After
// an error the range is inaccessible, or as it was.
int reservation_continue(struct reservation *r, uint8_t *at, uint64_t length, int prot, uint8_t *last);

// mprotect. After an error a first part of the range may have been changed.
int reservation_protect(struct reservation *r, uint8_t *at, uint64_t length, int prot);

// Makes the range inaccessible and gives its memory back. After an error the range is as it was.
int reservation_drop(struct reservation *r, uint8_t *at, uint64_t length);

// Moves the mappings of a range to another that does not overlap it, and leaves memory behind that reads as
// zero. After an error a first part has been moved.
int reservation_move(struct reservation *r, uint8_t *from, uint64_t length, uint8_t *to);

#endif
