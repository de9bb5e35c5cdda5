// SPDX-License-Identifier: MIT
// What the translator takes from earlier runs of a program, and leaves for later ones: objects, and which
// code has run.
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

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

// The first page from that one on whose code has run, be it in an earlier run only; GUEST_SPACE if there is
// none.
static uint64_t next_page_executed(const struct translator *t, uint64_t page)
{
    uint64_t earlier = GUEST_SPACE;
    for (unsigned i = 0; i < t->executed_count; i++)
        if (t->executed[i].address >= page && t->executed[i].address < earlier)
            earlier = t->executed[i].address;
    while (page < earlier && !(t->guest->memory.pages[page / GUEST_PAGE] & MEMORY_CODE))
        page += GUEST_PAGE;
    return page;
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

// What the program's file is called by, 0 if it cannot be read. Others may have the same: objects are
// compared with guest memory, all else are guesses.
static uint64_t program_key(const char *path)
{
    uint64_t key = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t length = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    size_t size = length > 0 ? (size_t)length : 0;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        const Elf64_Nhdr *id = find_build_id(bytes, size);
        key = id ? XXH3_64bits_withSeed(id + 1, (size_t)4 + id->n_descsz, size) : XXH3_64bits(bytes, size);
        munmap(bytes, size);
    }
    if (fd >= 0)
        close(fd);
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

// (The interpreter may be counting right now: a guess is good enough.)
struct branch_counts branch_seen(const struct translator *t, uint32_t pc)
{
    struct branch_counts now = t->guest->cpu.branch_counts[BRANCH_COUNTS_AT(pc)];
    const struct branch_record key = {.pc = pc};
    const struct branch_record *earlier =
        t->branches ? bsearch(&key, t->branches, t->branch_count, sizeof key, compare_branches) : NULL;
    if (earlier) {
        now.taken += earlier->taken;
        now.not_taken += earlier->not_taken;
    }
    while (now.taken > BRANCH_COUNT_MAX || now.not_taken > BRANCH_COUNT_MAX) {
        now.taken /= 2;
        now.not_taken /= 2;
    }
    return now;
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
        for (uint32_t pc = p->address; pc - p->address < GUEST_PAGE; pc += 4)
            if (was_decoded(t, pc))
                p->bits[pc / 4 / 8 % EXECUTED_BYTES] |= (uint8_t)(1u << (pc / 4 % 8));
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

void translate_load_cache(struct translator *t, const char *folder)
{
    uint64_t program = program_key(t->guest->config.program);
    if (program) {
        struct error error;
        t->cache = cache_file_open(folder, t->guest->config.prepared_folder,
                                   program ^ (t->precise | t->checked << 1), cache_identity(), &error);
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
