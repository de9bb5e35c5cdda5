// SPDX-License-Identifier: MIT
// The translator: finds hot code, has it compiled on a thread of its own, and runs it.
#ifndef CORE_ENGINE_TRANSLATE_H
#define CORE_ENGINE_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/state/guest.h"
#include "object.h"

struct translator;
struct shared_history;

// How often a backward branch is taken, or a function called, between two requests to compile its target.
// Powers of two.
enum { HOT_LOOP = 2048, HOT_CALL = 512 };

#ifdef TRANSLATE

// The compile thread is started by the first request. precise: a fault finds every register and the count of
// instructions in the cpu as they have to be (llvm_exact.h); such code is slower. NULL where the host cannot
// (*error says why): the machine then interprets.
struct translator *translator_create(struct guest *g, bool precise, struct error *error);
bool translator_is_precise(const struct translator *t);
void translator_destroy(struct translator *t);

// Takes over what earlier runs of the program, whose file's host descriptor that is, have left in folder, and
// leaves there what this one compiles. Once, when the program has been loaded. *shared, the caller's, is the
// history of the program that this process has run until now, and then of this one; NULL: of none.
void translate_load_cache(struct translator *t, const char *folder, int program,
                          struct shared_history **shared);
// Keeps that, and what is known of the program's code, for later runs; or tells the process that does
// (shared_history.h). Before the translator is destroyed, which does it, too; nothing is translated after
// it. How long (ns) this run and earlier ones have interpreted code that no earlier run had left, roughly:
// what later ones could save; 0 where nothing is kept here.
uint64_t translate_keep(struct translator *t);
// Of a program that this process runs no more; others may go on to tell.
void shared_history_destroy(struct shared_history *h);

// The code at pc is hot: compile it once that is worth it, by how much of it has been interpreted so far. Of
// all that has been interpreted (instructions), what is new since the last request counts for this one.
// Emulation thread, as all below.
void translate_request(struct translator *t, uint32_t pc, uint64_t interpreted);

// Whether there is code that begins at pc, be it in the cache.
bool translate_is_entry(struct translator *t, uint32_t pc);

// Whether the interpreter should enter what begins at pc; not what it has left again and again before that
// was cheaper than to interpret it.
bool translate_is_worth_entering(struct translator *t, uint32_t pc);
// What was entered at pc has been left after so many instructions.
void translate_note_stay(struct translator *t, uint32_t pc, int64_t instructions);

// Lets the interpreter enter all translated code, or none.
void translate_set_entered(struct translator *t, bool entered);

// Makes code that has been compiled since reachable.
void translate_install(struct translator *t);
// Whether there is any, or what was entered has to be left at the end of the budget: to be checked, or for it
// is stale.
bool translate_has_to_leave(const struct translator *t);
// Whether code has changed since translated code was entered that waits for the caller: what it goes on with
// may be of the old.
bool translate_is_stale(const struct translator *t);

// Runs the translated code at cpu.pc with cpu.budget; false if there is none, or no host stack for it.
// Afterwards both say where and with how much left to go on.
bool translate_enter(struct translator *t);

// For tests: check runs in place of what translate_enter does, which it can have by translate_enter_code.
void translate_set_lockstep(struct translator *t, bool (*check)(struct translator *t));
bool translate_enter_code(struct translator *t);
// Translates the code at pc, also what has never run, and waits for it.
void translate_now(struct translator *t, uint32_t pc);

// Whether what is translated is kept for later runs.
bool translate_is_kept(const struct translator *t);
// Has what earlier runs have asked for, or all that they have run, translated before the translator is
// destroyed, without the program running: it is loaded, as is the cache.
void translate_rest(struct translator *t, bool all);

// Whether there is no room for more, and most of what takes it is for code that has changed since. A new
// translator would have room.
bool translate_is_used_up(const struct translator *t);

// Drops what was translated from the pages of [address, address + length). Async-signal-safe.
void translate_forget(struct translator *t, uint64_t address, uint64_t length);

// The guest instruction of an access in translated code, and whether the code is precise; false if host_pc is
// not in there.
bool translate_guest_pc(struct translator *t, uint64_t host_pc, uint32_t *pc, bool *is_precise);

// For samples, on the emulation thread, or when it has ended. Whether host_pc is in translated code, or in
// what that shares.
bool translate_is_code(const struct translator *t, uint64_t host_pc);
// The guest instruction that the translated code at host_pc is of, or one close by: what accesses no memory
// and does not branch, such as a short function that was inlined, may pass for its caller. False if it is of
// none.
bool translate_nearest_pc(const struct translator *t, uint64_t host_pc, uint32_t *pc);

// A frame of translated code on the host's stack, which is a call of the guest.
struct translate_frame {
    uint32_t entry; // where the region is entered that its code is of
    struct object_place at; // close by what it is at
};
// The frames from that of host_pc on, which is in translated code, with the stack pointer stack: the
// innermost first, at most max; returns how many. *entered: they reach to where the host entered translated
// code; else what comes next is not known. Async-signal-safe, on the emulation thread.
unsigned translate_frames(const struct translator *t, uint64_t host_pc, uint64_t stack,
                          struct translate_frame *frames, unsigned max, bool *entered);

// Tells places in the code of the region that is entered at entry, of each of its blocks some.
void translate_tell_places(const struct translator *t, uint32_t entry, object_place_receiver *tell,
                           void *user);

// Fills in the translator's part of the counters.
void translate_get_stats(struct translator *t, struct machine_stats *stats);

#else

struct translate_frame {
    uint32_t entry;
    struct object_place at;
};

// Built without LLVM: there is never a translator.
static inline struct translator *translator_create(struct guest *g, bool precise, struct error *error)
{
    (void)g, (void)precise;
    error_set(error, "this build has no translator: it was made without LLVM 19 and clang-19");
    return NULL;
}
static inline bool translator_is_precise(const struct translator *t)
{
    (void)t;
    return false;
}
static inline uint64_t translate_keep(struct translator *t)
{
    (void)t;
    return 0;
}
static inline void shared_history_destroy(struct shared_history *h)
{
    (void)h;
}
static inline void translator_destroy(struct translator *t)
{
    (void)t;
}
static inline bool translate_is_kept(const struct translator *t)
{
    (void)t;
    return false;
}
static inline void translate_rest(struct translator *t, bool all)
{
    (void)t;
    (void)all;
}
static inline void translate_load_cache(struct translator *t, const char *folder, int program,
                                        struct shared_history **shared)
{
    (void)t, (void)folder, (void)program, (void)shared;
}
static inline void translate_request(struct translator *t, uint32_t pc, uint64_t interpreted)
{
    (void)t, (void)pc, (void)interpreted;
}
static inline bool translate_is_entry(struct translator *t, uint32_t pc)
{
    (void)t, (void)pc;
    return false;
}
static inline bool translate_is_worth_entering(struct translator *t, uint32_t pc)
{
    (void)t, (void)pc;
    return false;
}
static inline void translate_note_stay(struct translator *t, uint32_t pc, int64_t instructions)
{
    (void)t, (void)pc, (void)instructions;
}
static inline void translate_set_entered(struct translator *t, bool entered)
{
    (void)t, (void)entered;
}
static inline bool translate_has_to_leave(const struct translator *t)
{
    (void)t;
    return false;
}
static inline bool translate_is_used_up(const struct translator *t)
{
    (void)t;
    return false;
}
static inline bool translate_is_stale(const struct translator *t)
{
    (void)t;
    return false;
}
static inline void translate_install(struct translator *t)
{
    (void)t;
}
static inline bool translate_enter(struct translator *t)
{
    (void)t;
    return false;
}
static inline void translate_forget(struct translator *t, uint64_t address, uint64_t length)
{
    (void)t, (void)address, (void)length;
}
static inline void translate_get_stats(struct translator *t, struct machine_stats *stats)
{
    (void)t, (void)stats;
}
static inline bool translate_guest_pc(struct translator *t, uint64_t host_pc, uint32_t *pc, unsigned *left)
{
    (void)t, (void)host_pc, (void)pc, (void)left;
    return false;
}
static inline bool translate_is_code(const struct translator *t, uint64_t host_pc)
{
    (void)t, (void)host_pc;
    return false;
}
static inline unsigned translate_frames(const struct translator *t, uint64_t host_pc, uint64_t stack,
                                        struct translate_frame *frames, unsigned max, bool *entered)
{
    (void)t, (void)host_pc, (void)stack, (void)frames, (void)max;
    *entered = false;
    return 0;
}
static inline void translate_tell_places(const struct translator *t, uint32_t entry,
                                         object_place_receiver *tell, void *user)
{
    (void)t, (void)entry, (void)tell, (void)user;
}
static inline bool translate_nearest_pc(const struct translator *t, uint64_t host_pc, uint32_t *pc)
{
    (void)t, (void)host_pc, (void)pc;
    return false;
}

#endif

#endif
