// SPDX-License-Identifier: MIT
// The translator's inside, shared by the files that are no interface.
#ifndef CORE_ENGINE_TRANSLATE_INTERNAL_H
#define CORE_ENGINE_TRANSLATE_INTERNAL_H

#include <pthread.h>

#include "core/base/cache_file.h"
#include "core/engine/engine.h"
#include "core/loops/optimizer.h"
#include "glue.h"
#include "llvm_jit.h"
#include "object.h"
#include "object_names.h"
#include "shared_history.h"
#include "translate.h"

enum {
    CODE_BYTES = 64 << 20,
    STACK_BYTES = 16 << 20,
    STACK_RESERVE = 256 << 10, // below it, translated code makes no more calls
    SLOTS = 1 << 15,
    SLOT_PLACES = 1 << 16, // in the table that finds them
    QUEUE = 4096,
    HELPERS_MAX = 7, // each has an LLVM of its own
    THUNK_BYTES = 16,
    HASHED_PAGES = 512, // a power of two: what is known of pages of code
    EXECUTED_BYTES = GUEST_PAGE / 4 / 8,
    EXECUTED_PAGES_MAX = 4096,
    BRANCHES_MAX = 1 << 16, // that are remembered
    HEAT = 20000, // instructions that are interpreted: so many ns or so
    HEAT_NS = 10000,
    HEAT_MOST = 400, // by one request: what was counted may be another state's
    HEAT_COUNTED = 1 << 24, // of a slot, at most
    RENEWED_MIN = 256, // regions: beginning anew costs as much as compiling a few
    WORTH_SAVING = 200, // heat that is worth writing the cache anew
    // Of cached objects that hold no code, which begins elsewhere: what was executed; what was asked for in
    // vain; what branches did; where regions are entered besides.
    EXECUTED_ENTRY = 1,
    REQUESTS_ENTRY = 2,
    BRANCHES_ENTRY = 3,
    ENTRIES_ENTRY = 4,
};

#define LEISURE_NS 60000000000ull // of compiling at most: what is left is left to the next run

_Static_assert((int)REGION_PAGES_MAX <= (int)CACHED_PAGES_MAX &&
                   (int)REGION_LEFT_OUT_MAX <= (int)CACHED_LEFT_OUT_MAX,
               "a region fits into a cached object");

#define BRANCH_COUNTS_BYTES (BRANCH_COUNTS * sizeof(struct branch_counts))

enum slot_state {
    SLOT_COLD,
    SLOT_CACHED, // an earlier run left code for it, which is installed when it is first entered
    SLOT_QUEUED,
    SLOT_DONE,
    SLOT_FAILED, // not installed in this run
    SLOT_HOPELESS, // nothing there can be compiled: not asked for in later runs either
};

struct slot {
    uint32_t pc;
    uint32_t call_thunk, exit_thunk; // the code that stands in
    uint32_t cached; // SLOT_CACHED: the object's index in the cache
    _Atomic uint8_t state; // enum slot_state
    _Atomic uint32_t home; // the first entry of the region that it leads into
    atomic_uint heat; // what has been interpreted of it so far, in earlier runs, too, in units of HEAT
    uint32_t wanted; // so much before it is looked at once more; 0: choose_first_look
    bool is_missed; // translated code has looked for code there in vain: noted by who prepares
    bool is_called; // by its address: known at leisure
    bool is_target; // of indirect branches, or longjmp: likewise
    atomic_bool in_work; // a region with this entry is being compiled, or has been and is not yet installed
    bool has_loops; // its region replaces some, whose instructions a stay does not count
    bool is_brief; // not worth entering from what is interpreted: it is left too soon
    uint16_t stays; // that were looked at
    uint32_t stayed; // instructions of these
};

// The instructions of a page that have run.
struct executed_page {
    uint32_t address;
    uint8_t bits[EXECUTED_BYTES];
};

// A request that was not granted, as the cache holds it.
struct cold_request {
    uint32_t pc, heat; // HOPELESS: it cannot be
};
enum { HOPELESS = HEAT_COUNTED + 1 };

// An entry of the region whose first one is home, as the cache holds it.
struct further_entry {
    uint32_t pc, home;
};

// What a conditional branch did, as the cache holds it, in the order of pc.
struct branch_record {
    uint32_t pc;
    uint16_t not_taken, taken; // up to BRANCH_COUNT_MAX
};

// A translated region that is installed, or was.
struct installed {
    uint32_t entries[REGION_ENTRIES_MAX];
    unsigned entry_count;
    struct linked_object object;
    uint32_t page_count;
    uint32_t pages[REGION_PAGES_MAX];
    bool dropped;
    unsigned char *bytes; // of its object, unless the cache owns them
};

// What the compile thread hands over.
struct compiled {
    struct compiled *next;
    bool tried; // false: it was not worth compiling; entries and what follows are of no account
    bool failed; // there is no object for it
    uint32_t asked; // whose request that was
    uint32_t wanted; // the heat to wait for, if not 0: nothing has been compiled
    unsigned entry_count, page_count, left_out_count; // of its region
    uint32_t entries[REGION_ENTRIES_MAX];
    struct cached_page pages[REGION_PAGES_MAX];
    uint32_t left_out[REGION_LEFT_OUT_MAX];
    struct jit_object object; // packed
};

struct translator {
    struct guest *guest;
    struct code_memory code;
    // low memory
    struct low {
        uint64_t indirect_table[INDIRECT_ENTRIES];
        uint32_t call_cells[SLOTS], exit_cells[SLOTS];
    } * low;
    uint8_t *stack;
    struct slot slots[SLOTS]; // one behind the other, so that what translated code reads of them is dense
    atomic_uint slot_count;
    uint16_t slot_of[SLOT_PLACES]; // by hash: 1 + the slot's index, 0 = free
    uint32_t enter_region, thunk_call, thunk_jump; // addresses of the glue
#define WAY_BACK(name) uint32_t host_##name;
    GLUE_HOST(WAY_BACK)
#undef WAY_BACK
    const struct glue_names *glue;
    uint32_t glue_addresses[GLUE_MAX];
    bool has_glue; // they are those
    struct installed *installed; // an array
    unsigned installed_count, installed_room;
    unsigned dropped_count; // of these
    unsigned installed_before, dropped_before; // that are no longer in there
    bool lacks_slots; // one has been asked for in vain
    // Of pages of code that have not changed since: their hashes, by number of the page; address 0: none.
    struct {
        uint32_t address;
        uint64_t hash;
    } hashed[HASHED_PAGES];
    struct {
        uint32_t pc, address;
    } received[REGION_ENTRIES_MAX]; // of the region being linked, where it is entered
    unsigned received_count;
    bool received_loops; // that one replaces some
    bool (*lockstep)(struct translator *t); // runs and checks what would be entered; NULL = just enter it
    // Which instructions have run, in this run or, by the cache, an earlier one: a bit each, by page.
    struct executed_page *executed;
    unsigned executed_count;
    // What conditional branches did in earlier runs; what they do in this one is counted in
    // cpu.branch_counts.
    struct branch_record *branches;
    unsigned branch_count;
    bool eager; // compiles what is asked for at once
    bool at_leisure; // while the program does not run (translate_rest.c)
    uint64_t interpreted; // instructions, when code was last asked for
    atomic_uint heat; // of this run
    unsigned earlier_heat; // of earlier ones, for what they asked for in vain
    bool compiled_any; // or tried to
    unsigned stays; // in what the interpreter has entered
    uint64_t code_changes; // guest.code_changes when that was entered which is first on the low stack
    bool assume_executed;
    bool precise, checked; // see struct region
    struct cache_file *cache; // NULL: nothing is kept
    struct shared_history *shared; // with other processes of the program; NULL likewise
    unsigned apart; // forks_count of the process that keeps nothing, and whose alone heat and branches are
    bool has_kept; // translate_keep
    uint64_t region_count, cached_count;
    atomic_uint_least64_t compile_ns;

    // shared with the compile thread
    pthread_t thread; // 0: nothing has been asked for yet, or it has ended
    pthread_t helpers[HELPERS_MAX]; // more of its kind, which it has started
    unsigned helper_count;
    bool has_no_thread; // the host denied it
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct slot *queue[QUEUE];
    unsigned queued;
    bool gathers; // what is asked for at leisure, all of it, before any is looked at
    struct compiled *ready, **ready_end;
    bool quit;
    bool compiles_nothing; // as has been told
    atomic_bool has_ready;
    const char *dump;
};

// The heat of what is asked for, and has no code so far; 0 of all else.
static inline unsigned slot_heat(const struct slot *s)
{
    bool is_asked = s->state == SLOT_COLD || s->state == SLOT_QUEUED;
    return is_asked ? atomic_load_explicit(&s->heat, memory_order_relaxed) : 0;
}

// Likewise, of what is not being compiled either, or has been when the program had ended.
static inline unsigned slot_heat_in_vain(const struct slot *s)
{
    return s->in_work ? 0 : slot_heat(s);
}

// Of what lies below 2 GiB.
static inline uint32_t low_address(const void *p)
{
    return (uint32_t)(uintptr_t)p;
}

// ---- translate_slots.c ----
// The slot for pc, NULL if there is none. translate_slot takes one then; NULL when there is no room.
struct slot *slot_at(struct translator *t, uint32_t pc);
struct slot *translate_slot(struct translator *t, uint32_t pc);
// Has the table of indirect branches, which is all zeroes, find nothing.
void slots_begin(struct translator *t);
// Takes the slot for pc and gives it cells that lead to the interpreter; false when there is no room.
bool slot_prepare(struct translator *t, uint32_t pc);
// From here on, calls of pc, for which that has been done, go to code, of the region named home; or to the
// interpreter again.
void slot_fill(struct translator *t, uint32_t pc, uint32_t code, uint32_t home);
void slot_empty(struct translator *t, struct slot *s);
// Has indirect branches find the slot's code, and no other one's whose place in their table is the same.
void slot_offer(struct translator *t, const struct slot *s);
// The code that they find for pc; 0 if none.
uint32_t slot_offered(struct translator *t, uint32_t pc);
// For object_link: the addresses that objects refer to, 0 for what there is not; and what becomes of theirs:
// the glue's are noted, a region's are left in t->received. user, here, too: the translator.
uint32_t translate_resolve(void *user, const struct object_symbol *symbol);
void translate_receive(void *user, const struct object_symbol *symbol, uint32_t address);
// Of a function of the glue; 0 if there is none of that name.
uint32_t translate_glue_address(const struct translator *t, const char *name);

// ---- translate_objects.c ----
// Whether guest memory still holds what the object was translated from; its pages are watched from here on.
bool translate_is_current(struct translator *t, const struct cached_object *o);
// Links an object and makes its code reachable, by cells, table and interpreter; false if it fits the guest
// no more, or is damaged. Read from bytes, which are those of the object; that alone lasts.
bool translate_install_object(struct translator *t, const struct cached_object *o,
                              const unsigned char *bytes);
// The same of what regions share; false if that is damaged.
bool translate_install_glue(struct translator *t);

// ---- translate.c ----
// Has the region at pc compiled once more; the one that is there serves until then.
void translate_again(struct translator *t, uint32_t pc);
// Has the code at the slot compiled, unless that has been asked for.
void request_if_cold(struct translator *t, struct slot *s);
// Asks for every function that has been called, and wherever translated code has looked for code in vain,
// however seldom: what is never hot, but runs at each start, is neither decoded nor interpreted then. And for
// what forked processes have asked for, as they told earlier rounds.
void request_all(struct translator *t);
// Ends the compile thread, when what it is at, or at leisure and where the run prepares, all that is asked
// for, is finished.
void end_threads(struct translator *t);

// ---- choose.c ----
// What is worth compiling. The compile thread asks the first three, to which slots are guesses.
//
// Finds the region that is best compiled for the code at s: that, or what it is a part of, with the entries
// that are asked for. False if nothing there can be compiled.
bool choose_region(struct translator *t, const struct slot *s, const struct region_source *source,
                   struct region *r);
// At leisure: whether *r is to be entered at s, which is in it and has been asked for: something from
// elsewhere leads there, or it was hot, or asked for although the region had been compiled. Else it is come
// to from where the region begins, as its loops always are.
bool choose_needs_entry(struct translator *t, const struct slot *s, const struct region *r);
// Whether that has been interpreted for so long that compiling it pays (and loading LLVM, unless is_loaded).
// If not, *wanted is the heat of s to wait for.
bool choose_now(struct translator *t, const struct slot *s, const struct region *r, bool is_loaded,
                uint32_t *wanted);
// The heat at which it is first asked whether code is worth compiling.
unsigned choose_first_look(const struct translator *t);
// Before LLVM is loaded, by any thread: whether all that has been asked for could pay for that. If not,
// nobody need look at a request.
bool choose_may_load(const struct translator *t);
// Has the interpreter enter everything again: with what has been installed, stays may be longer.
void choose_anew_what_to_enter(struct translator *t);

// ---- translate_rest.c ----
// At leisure the region is going to be compiled: where it is not entered any more, nothing is asked for.
void rest_cover(struct translator *t, const struct region *r);

// ---- compile_thread.c ----
// The thread's function; its argument is the translator.
void *compile_thread(void *translator);

// ---- translate_cache.c ----
// Whether the instruction at pc has been executed, in this run or an earlier one.
bool was_executed(const struct translator *t, uint32_t pc);
// Whether code that the object's region left out has run since: compiled anew, it takes that in.
bool has_grown(const struct translator *t, const struct cached_object *o);
// What the conditional branch at pc did, in this run and earlier ones.
struct branch_counts branch_seen(const struct translator *t, uint32_t pc);
// Adds more to what a branch did: of too much, both sides are halved.
void branch_record_add(struct branch_record *r, struct branch_counts more);
// Of records in the order of pc: that of pc, NULL if there is none; the first function makes the order.
void branch_records_sort(struct branch_record *records, unsigned count);
struct branch_record *branch_record_find(struct branch_record *records, unsigned count, uint32_t pc);
// The first page from that one on of which the interpreter has decoded something, in this process or before
// it was forked; GUEST_SPACE if there is none.
uint64_t next_page_decoded(const struct translator *t, uint64_t page);
// Adds what it has decoded of that page.
void executed_page_add(struct executed_page *p, const struct translator *t);
// Puts into the cache what has run, and what was asked for, this time and earlier.
void save_history(struct translator *t);

#endif
