// SPDX-License-Identifier: MIT
// Guest memory: 4 GiB of address space in one host reservation, protected page by page by the host's
// MMU, and beside it one op for each possible instruction.
#ifndef CORE_MEMORY_H
#define CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa/op.h"
#include "reservation.h"

#define GUEST_PAGE 4096ull
#define GUEST_SPACE (1ull << 32) // guest addresses are below this
#define GUEST_MMAP_MIN 0x10000ull // nothing is mapped below
#define GUEST_MMAP_END (GUEST_SPACE - 0xf000) // nor above
#define MEMORY_NEAR 0x7f00 // what is so far from mapped memory, with up to 256 bytes, is in the space

// The reservation: guard, guest space, guard, ops, guard. The ops of a page that the guest may not execute
// are inaccessible, or in a chunk where it may execute another one and zero, that is, not decoded: so that a
// wild jump faults in the host's MMU or when it is decoded, and costs no check.
#define MEMORY_GUARD 0x10000ull
#define MEMORY_OPS_OFFSET (GUEST_SPACE + MEMORY_GUARD) // from memory.base to memory.ops
#define MEMORY_OPS_CHUNKS 1024

// What memory.pages holds for each guest page. The low three bits are PROT_READ, PROT_WRITE and
// PROT_EXEC as the guest asked for them; the host's protection never includes PROT_EXEC, and a page
// that holds decoded code (MEMORY_CODE) is kept write-protected on the host until it is written.
enum {
    MEMORY_MAPPED = 1 << 3,
    MEMORY_CODE = 1 << 4, // ops of this page, or of one that is protected with it, have been decoded
    MEMORY_SHARED = 1 << 5, // a device or a shared file mapping: not counted against the limit
    MEMORY_FILE = 1 << 6, // backed by something else than zeroes: may end before the mapping
    MEMORY_STEADY = 1 << 7, // of MEMORY_FILE: does not end before the mapping, and only the guest writes it
    MEMORY_HELD =
        MEMORY_STEADY, // of other memory, without rights: it had some, so that it may hold something
};

// What is done to guest memory for the guest, in order (memory_effects.c).
enum memory_effect_kind { MEMORY_WRITTEN, MEMORY_MAP, MEMORY_UNMAP, MEMORY_PROTECT, MEMORY_DISCARD };
enum { MEMORY_EFFECTS = 8 };
struct memory_effects {
    bool incomplete; // there was more, or what is in no such list, or failed
    unsigned count;
    struct memory_effect {
        enum memory_effect_kind kind;
        int prot;
        uint64_t address, length;
    } list[MEMORY_EFFECTS];
};

struct memory {
    uint8_t *base; // host address of guest address 0; GUEST_SPACE bytes and a guard behind
    op *ops; // the op of the instruction at guest address P is ops[P / 4]
    // [GUEST_SPACE / GUEST_PAGE] and a 0 behind, for who looks at two at once; below 2 GiB
    uint8_t *pages;
    uint64_t limit; // bytes that the guest may have, mapped privately and in shared_bytes
    uint64_t mapped; // bytes that it has mapped privately, other than PROT_NONE all the time
    bool used; // something has been mapped, counted or not
    bool has_frame; // a device's is mapped, or was: what maps it first is MEMORY_STEADY
    bool shares; // the guest has, or had, mappings of files, or of memory that others share
    bool has_ops[MEMORY_OPS_CHUNKS]; // the chunk's ops are accessible
    uint64_t shared_code, shared_code_end; // between them are all MEMORY_SHARED pages that are MEMORY_CODE
    struct reservation host;
    struct memory_effects *effects; // NULL: nobody asks
    struct journal *journal; // NULL: nobody has ever wanted to come back to a moment
    // How much memory the guest has in files that are nothing else; NULL: none. collects: after looking for
    // what has been given back.
    uint64_t (*shared_bytes)(void *owner, bool collects);
    void *shared_owner;
    // Told of every range whose decoded code is forgotten; may be called in a signal handler.
    void (*on_forget)(void *owner, uint64_t address, uint64_t length);
    void *owner;
};

// Reserves the address space. Returns 0, or -1 with errno.
int memory_create(struct memory *m, uint64_t limit);
void memory_destroy(struct memory *m);

// Drops every mapping (execve). Returns 0 or a negative errno.
int memory_clear(struct memory *m);

// The calls below take page-aligned addresses and lengths, and return 0 or a negative errno: EINVAL for a
// range outside the space; ENOMEM over the limit, out of address space, or where the host would need more
// mappings than the guest may have. A guest may have 15/32 of the host's vm.max_map_count, less where the
// process has more than one (reservation_room): as under Linux, only what splits mappings is denied.

// Maps zeroed private memory at address, replacing what was there.
int memory_map(struct memory *m, uint64_t address, uint64_t length, int prot);
// The same of what is seldom touched as a whole, such as a program's variables: not in the host's huge pages.
int memory_map_sparse(struct memory *m, uint64_t address, uint64_t length, int prot);

// Maps a host file (MAP_PRIVATE or MAP_SHARED in flags); fd is a host descriptor. Where the file cannot be
// mapped so, that is the error, and what was there stays.
int memory_map_file(struct memory *m, uint64_t address, uint64_t length, int prot, int flags, int fd,
                    uint64_t offset);
// Maps what comes behind the page last, which is MEMORY_SHARED, in its file; it may be used as that page.
int memory_continue_file(struct memory *m, uint64_t address, uint64_t length, uint64_t last);
int memory_unmap(struct memory *m, uint64_t address, uint64_t length);
// Whether the guest may have so many bytes mapped privately.
bool memory_within_limit(struct memory *m, uint64_t mapped);
int memory_protect(struct memory *m, uint64_t address, uint64_t length, int prot);

// Moves the pages at from to to, which becomes mapped with the same protection; from is left unmapped. When
// the host fails midway, to is unmapped and the first pages at from have become zero.
int memory_move(struct memory *m, uint64_t from, uint64_t length, uint64_t to);

// The highest free range of that length at or below ceiling, 0 if there is none. Never below GUEST_MMAP_MIN.
uint64_t memory_find_free(const struct memory *m, uint64_t length, uint64_t ceiling);

// What is mapped there is MEMORY_STEADY.
void memory_set_steady(struct memory *m, uint64_t address, uint64_t length);

// Whether the guest itself could access all of [address, address + length) with prot (PROT_READ, PROT_WRITE).
bool memory_allows(const struct memory *m, uint64_t address, uint64_t length, int prot);

// Its contents change to those of fresh memory (MADV_DONTNEED), but for private file pages, which are read
// anew. 0 or a negative errno.
int memory_discard(struct memory *m, uint64_t address, uint64_t length);

// For the host's own accesses on behalf of the guest (system calls): the host pointer to the range, or NULL
// if the guest could not access it so. With PROT_WRITE, decoded code in the range is forgotten first and the
// host page made writable, so that the kernel may write there too. The top byte of address is ignored.
void *memory_access(struct memory *m, uint64_t address, uint64_t length, int prot);

// As memory_access, for calls that may transfer less than they were asked to: *length is cut to what is
// accessible; NULL if that is nothing.
void *memory_access_prefix(struct memory *m, uint64_t address, uint64_t *length, int prot);

// Reads or writes length bytes of guest memory; false if the guest could not. Unlike accesses through
// memory_access they never raise a host signal for pages behind the end of a mapped file.
bool memory_read(struct memory *m, uint64_t address, void *to, uint64_t length);
bool memory_write(struct memory *m, uint64_t address, const void *from, uint64_t length);

// Does again what effect says, unless it is MEMORY_WRITTEN. False if the host denied it.
bool memory_repeat(struct memory *m, const struct memory_effect *effect);

// For the host's SIGSEGV handler: a store to guest address failed. True if it may be retried, because the
// page was write-protected for the sake of decoded code (which is forgotten) or of the journal (which notes
// it) only. Async-signal-safe.
bool memory_handle_write(struct memory *m, uint64_t address);

// Forgets decoded ops of whole pages that touch [address, address + length): unmapping, writes to code.
void memory_forget_code(struct memory *m, uint64_t address, uint64_t length);

// IC IVAU: forgets those of the address, and where that is of a shared file, of all such pages: one may be
// the same by another address, for caches that CTR_EL0 calls PIPT know only one (Arm ARM, "VIPT and PIPT
// instruction caches").
void memory_invalidate_code(struct memory *m, uint64_t address);

// Marks the page of pc as holding decoded code and write-protects it on the host; code of other pages may be
// forgotten for it. False when the guest may not execute there.
bool memory_mark_code(struct memory *m, uint64_t pc);

#endif
