// SPDX-License-Identifier: MIT
// What the translator takes from earlier runs of a program, and leaves for later ones: objects, and which
// code has run.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "core/base/forks.h"
#include "core/engine/level.h"
#include "translate_internal.h"
#include "translator_identity.h"

// The interpreter decodes what it executes. (The other thread may be doing so right now, or run another
// program: a guess is good enough, and ops that were accessible stay so.)
static bool was_decoded(const struct translator *t, uint32_t pc)
{
    const uint64_t *words = (const uint64_t *)&t->guest->memory.ops[pc / 4];
    return t->guest->memory.pages[pc / GUEST_PAGE] & MEMORY_CODE && (words[0] || words[1]);
}

// What an earlier run knew of the page, for translated code decodes nothing; NULL: nothing of it had run.
static const struct executed_page *page_executed_earlier(const struct translator *t, uint32_t pc)
{
    for (unsigned i = 0; i < t->executed_count; i++)
        if (t->executed[i].address == (pc & ~(uint32_t)(GUEST_PAGE - 1)))
            return &t->executed[i];
    return NULL;
}

static bool was_executed_earlier(const struct translator *t, uint32_t pc)
{
    const struct executed_page *page = page_executed_earlier(t, pc);
    return page && page->bits[pc / 4 / 8 % EXECUTED_BYTES] >> (pc / 4 % 8) & 1;
}

uint64_t next_page_decoded(const struct translator *t, uint64_t page)
{
    const uint8_t *pages = t->guest->memory.pages;
    uint64_t at = page / GUEST_PAGE, eight;
    while (at < GUEST_SPACE / GUEST_PAGE && !(pages[at] & MEMORY_CODE))
        at += at % 8 == 0 && (memcpy(&eight, pages + at, sizeof eight), !eight) ? 8 : 1;
    return at * GUEST_PAGE;
}

// The first page from that one on whose code has run, be it in an earlier run only; GUEST_SPACE if there is
// none.
static uint64_t next_page_executed(const struct translator *t, uint64_t page)
{
    uint64_t next = next_page_decoded(t, page);
    for (unsigned i = 0; i < t->executed_count; i++)
        if (t->executed[i].address >= page && t->executed[i].address < next)
            next = t->executed[i].address;
    return next;
}

void executed_page_add(struct executed_page *p, const struct translator *t)
{
    for (uint32_t pc = p->address; pc - p->address < GUEST_PAGE; pc += 4)
        if (was_decoded(t, pc))
            p->bits[pc / 4 / 8 % EXECUTED_BYTES] |= (uint8_t)(1u << (pc / 4 % 8));
}

bool was_executed(const struct translator *t, uint32_t pc)
{
    return was_decoded(t, pc) || was_executed_earlier(t, pc);
}

// Whatever host code depends on besides the guest: the definitions, LLVM, this processor.
static uint64_t cache_identity(void)
{
    return XXH3_64bits_withSeed(TRANSLATOR_IDENTITY, strlen(TRANSLATOR_IDENTITY), level_identity());
}

// The next note of [*at, end), which moves behind it; NULL if there is none.
static const Elf64_Nhdr *next_note(const unsigned char **at, const unsigned char *end)
{
    const Elf64_Nhdr *note = (const Elf64_Nhdr *)*at;
    if ((size_t)(end - *at) < sizeof *note)
        return NULL;
    uint64_t size =
        sizeof *note + (((uint64_t)note->n_namesz + 3) & ~3ull) + (((uint64_t)note->n_descsz + 3) & ~3ull);
    if (size > (size_t)(end - *at))
        return NULL;
    *at += size;
    return note;
}

// The note with the build ID that linkers make of a program's contents; NULL if it has none.
static const Elf64_Nhdr *find_build_id(const unsigned char *bytes, size_t size)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)bytes;
    if (size < sizeof *h || h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff > size || h->e_phoff % 8 ||
        h->e_phnum > (size - h->e_phoff) / sizeof(Elf64_Phdr))
        return NULL;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(bytes + h->e_phoff);
    for (unsigned i = 0; i < h->e_phnum; i++) {
        if (p[i].p_type != PT_NOTE || p[i].p_offset > size || p[i].p_offset % 4 ||
            p[i].p_filesz > size - p[i].p_offset)
            continue;
        const unsigned char *at = bytes + p[i].p_offset, *end = at + p[i].p_filesz;
        for (const Elf64_Nhdr *note; (note = next_note(&at, end)) != NULL;)
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0)
                return note;
    }
    return NULL;
}

// What the program whose file that is is called by, 0 if it cannot be read. Others may have the same: objects
// are compared with guest memory, all else are guesses.
static uint64_t program_key(int program)
{
    uint64_t key = 0;
    struct stat about;
    size_t size = fstat(program, &about) == 0 && about.st_size > 0 ? (size_t)about.st_size : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, program, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        const Elf64_Nhdr *id = find_build_id(bytes, size);
        key = id ? XXH3_64bits_withSeed(id + 1, (size_t)4 + id->n_descsz, size) : XXH3_64bits(bytes, size);
        munmap(bytes, size);
    }
    return key;
}

static void load_executed(struct translator *t, const void *bytes, size_t size)
{
    size_t count = size / sizeof *t->executed;
    t->executed = count <= EXECUTED_PAGES_MAX ? malloc(size) : NULL;
    if (t->executed) {
        memcpy(t->executed, bytes, count * sizeof *t->executed);
        t->executed_count = (unsigned)count;
    }
}

static int compare_branches(const void *a, const void *b)
{
    const struct branch_record *x = a, *y = b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

void branch_records_sort(struct branch_record *records, unsigned count)
{
    qsort(records, count, sizeof *records, compare_branches);
}

struct branch_record *branch_record_find(struct branch_record *records, unsigned count, uint32_t pc)
{
    const struct branch_record key = {.pc = pc};
    return count ? bsearch(&key, records, count, sizeof key, compare_branches) : NULL;
}

void branch_record_add(struct branch_record *r, struct branch_counts more)
{
    more.taken += r->taken;
    more.not_taken += r->not_taken;
    while (more.taken > BRANCH_COUNT_MAX || more.not_taken > BRANCH_COUNT_MAX) {
        more.taken /= 2;
        more.not_taken /= 2;
    }
    r->taken = (uint16_t)more.taken;
    r->not_taken = (uint16_t)more.not_taken;
}

// (The interpreter may be counting right now: a guess is good enough.)
struct branch_counts branch_seen(const struct translator *t, uint32_t pc)
{
    const struct branch_record *earlier = branch_record_find(t->branches, t->branch_count, pc);
    struct branch_record r = earlier ? *earlier : (struct branch_record){.pc = pc};
    branch_record_add(&r, t->guest->cpu.branch_counts[BRANCH_COUNTS_AT(pc)]);
    return (struct branch_counts){.taken = r.taken, .not_taken = r.not_taken};
}

static void load_branches(struct translator *t, const void *bytes, size_t size)
{
    t->branches = malloc(size);
    if (t->branches) {
        memcpy(t->branches, bytes, size);
        t->branch_count = (unsigned)(size / sizeof *t->branches);
    }
}

static void load_requests(struct translator *t, const void *bytes, size_t size)
{
    const struct cold_request *list = bytes;
    for (size_t i = 0; i < size / sizeof *list; i++) {
        struct slot *s = translate_slot(t, list[i].pc);
        if (!s)
            return;
        if (list[i].heat == HOPELESS) {
            s->state = SLOT_HOPELESS;
            continue;
        }
        atomic_store_explicit(&s->heat, list[i].heat, memory_order_relaxed);
        t->earlier_heat += list[i].heat;
    }
}

// Puts the list, which is malloc'd, or NULL without memory for it, in the place of an older one, also if it
// is empty.
static void save_list(struct translator *t, uint32_t entry, void *list, size_t size)
{
    const struct cached_object o = {.entry = entry, .bytes = list, .size = size};
    if (!list || !cache_file_add(t->cache, &o))
        free(list);
}

// What was asked for, but not often enough so far; and what the compile thread had no time for.
static void save_requests(struct translator *t)
{
    struct cold_request *list = malloc(t->slot_count * sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < t->slot_count; i++) {
        const struct slot *s = &t->slots[i];
        unsigned heat = slot_heat_in_vain(s);
        if (heat)
            list[count++] = (struct cold_request){s->pc, heat};
        else if (s->state == SLOT_HOPELESS)
            list[count++] = (struct cold_request){s->pc, HOPELESS};
    }
    save_list(t, REQUESTS_ENTRY, list, count * sizeof *list);
}

// Where regions are entered but at their first entries, which their objects tell.
static void save_entries(struct translator *t)
{
    struct further_entry *list = malloc(t->slot_count * sizeof *list);
    size_t count = 0;
    for (size_t i = 0; list && i < t->slot_count; i++) {
        const struct slot *s = &t->slots[i];
        if ((s->state == SLOT_DONE || s->state == SLOT_CACHED) && s->home != s->pc)
            list[count++] = (struct further_entry){s->pc, s->home};
    }
    save_list(t, ENTRIES_ENTRY, list, count * sizeof *list);
}

// Adds what branches did to the cache.
static void save_branches(struct translator *t)
{
    struct branch_record *list = malloc(BRANCHES_MAX * sizeof *list);
    size_t count = 0;
    for (uint64_t page = 0; list && (page = next_page_executed(t, page)) < GUEST_SPACE; page += GUEST_PAGE) {
        for (uint32_t pc = (uint32_t)page; pc - page < GUEST_PAGE && count < BRANCHES_MAX; pc += 4) {
            struct branch_counts seen = branch_seen(t, pc);
            if (seen.taken || seen.not_taken)
                list[count++] = (struct branch_record){pc, (uint16_t)seen.not_taken, (uint16_t)seen.taken};
        }
    }
    save_list(t, BRANCHES_ENTRY, list, count * sizeof *list);
}

// Adds what has run to the cache, this time and earlier.
static void save_executed(struct translator *t)
{
    struct executed_page *pages = calloc(EXECUTED_PAGES_MAX, sizeof *pages);
    size_t count = 0;
    for (uint64_t page = 0; pages && (page = next_page_executed(t, page)) < GUEST_SPACE; page += GUEST_PAGE) {
        if (count == EXECUTED_PAGES_MAX)
            break;
        struct executed_page *p = &pages[count++];
        const struct executed_page *earlier = page_executed_earlier(t, (uint32_t)page);
        if (earlier)
            *p = *earlier;
        p->address = (uint32_t)page;
        executed_page_add(p, t);
    }
    save_list(t, EXECUTED_ENTRY, pages, count * sizeof *pages);
}

void save_history(struct translator *t)
{
    save_executed(t);
    save_branches(t);
    save_requests(t);
    save_entries(t);
}

bool has_grown(const struct translator *t, const struct cached_object *o)
{
    for (unsigned i = 0; i < o->left_out_count; i++)
        if (was_executed_earlier(t, o->left_out[i]))
            return true;
    return false;
}

// Has the object be installed when pc is first come to.
static bool offer(struct translator *t, uint32_t pc, uint32_t index)
{
    struct slot *s = translate_slot(t, pc);
    if (s) {
        s->state = SLOT_CACHED;
        s->home = cache_file_get(t->cache, index)->entry;
        s->cached = index;
    }
    return s;
}

static void load_entries(struct translator *t, const void *bytes, size_t size)
{
    const struct further_entry *list = bytes;
    for (size_t i = 0; i < size / sizeof *list; i++) {
        const struct slot *home = slot_at(t, list[i].home), *s = slot_at(t, list[i].pc);
        if (home && home->state == SLOT_CACHED && (!s || s->state == SLOT_COLD))
            offer(t, list[i].pc, home->cached);
    }
}

// Whether there is one to tell, or to be told by; this process's if *shared is another program's, or NULL.
static bool share_history(struct translator *t, uint64_t program, struct shared_history **shared)
{
    if (!shared_history_is_of(*shared, program)) {
        shared_history_destroy(*shared);
        *shared = shared_history_create(program);
    }
    t->shared = *shared;
    return t->shared;
}

void translate_load_cache(struct translator *t, const char *folder, int program,
                          struct shared_history **shared)
{
    const uint64_t key = program_key(program);
    if (key && share_history(t, key, shared)) {
        struct error error;
        t->cache = cache_file_open(folder, t->guest->config.prepared_folder,
                                   key ^ (t->precise | t->checked << 1), cache_identity(), &error);
        guest_log_unkept(t->guest, &error);
    }
    size_t count = t->cache ? cache_file_count(t->cache) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct cached_object *o = cache_file_get(t->cache, i);
        const void *bytes = o->entry < ENTRIES_ENTRY ? cache_file_read(t->cache, i) : NULL;
        if (bytes && o->entry == EXECUTED_ENTRY)
            load_executed(t, bytes, o->size);
        else if (bytes && o->entry == REQUESTS_ENTRY)
            load_requests(t, bytes, o->size);
        else if (bytes && o->entry == BRANCHES_ENTRY)
            load_branches(t, bytes, o->size);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cached_object *o = cache_file_get(t->cache, i);
        if (o->entry > ENTRIES_ENTRY && offer(t, o->entry, (uint32_t)i))
            t->cached_count++;
    }
    t->region_count = t->cached_count;
    for (size_t i = 0; i < count; i++) {
        const struct cached_object *o = cache_file_get(t->cache, i);
        const void *bytes = o->entry == ENTRIES_ENTRY ? cache_file_read(t->cache, i) : NULL;
        if (bytes)
            load_entries(t, bytes, o->size);
    }
}

// ---- the end of a run ----

static void forget_requests(struct translator *t)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        struct slot *s = &t->slots[i];
        atomic_store_explicit(&s->heat, 0, memory_order_relaxed);
        s->state = s->state == SLOT_HOPELESS ? SLOT_COLD : s->state;
    }
}

// About how long this run and earlier ones have interpreted code that no earlier run had left. It counts as
// well if it has been compiled since: a function that is hot is asked for more often than those that call it,
// whose code may take the time.
static uint64_t interpreted_ns(const struct translator *t)
{
    uint64_t heat = 0;
    for (unsigned i = 0; i < t->slot_count; i++) {
        const struct slot *s = &t->slots[i];
        if (s->state != SLOT_FAILED && s->state != SLOT_HOPELESS)
            heat += atomic_load_explicit(&s->heat, memory_order_relaxed);
    }
    return heat * HEAT_NS;
}

// False if it could not be written.
static bool save(struct translator *t)
{
    if (t->compiled_any || t->heat > WORTH_SAVING || t->queued)
        save_history(t);
    struct error error;
    const bool is_saved = cache_file_close(t->cache, &error);
    if (!is_saved)
        guest_log_unkept(t->guest, &error);
    t->cache = NULL;
    return is_saved;
}

bool translate_is_kept(const struct translator *t)
{
    return t->cache;
}

uint64_t translate_keep(struct translator *t)
{
    const bool keeps = t->cache && shared_history_is_kept_here(t->shared);
    if (t->has_kept)
        return 0;
    t->has_kept = true;
    if (t->cache && !keeps && t->apart == forks_count())
        shared_history_tell(t->shared, t);
    if (!keeps)
        return 0;
    if (t->guest->config.prepare)
        request_all(t);
    end_threads(t);
    if (translate_is_used_up(t)) // of what has changed: the next one would have no room either
        forget_requests(t);
    shared_history_take(t->shared, t); // the threads read what that changes
    const uint64_t ns = interpreted_ns(t);
    return save(t) ? ns : 0;
}
