// SPDX-License-Identifier: MIT
#include "memory_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <zstd.h>

#include "core/base/host_mappings.h"
#include "guest/device_page.h"
#include "journal.h"
#include "memory_internal.h"

#define LEVEL 1 // of zstd: time counts
#define SAVED_FLAGS (PROT_ALL | MEMORY_MAPPED | MEMORY_SHARED | MEMORY_FILE | MEMORY_STEADY)
#define NO_MEMORY "there is not enough memory to load the state"
#define STEPS 256u // pages that are read or written at a time

// ---- single pages ----

bool memory_is_backed(const struct memory *m, uint64_t page)
{
    return !(m->pages[page] & MEMORY_FILE) ||
           !madvise(m->base + page * GUEST_PAGE, GUEST_PAGE, MADV_POPULATE_READ);
}

bool memory_replace(struct memory *m, uint64_t address, const uint8_t *contents, bool difference)
{
    uint8_t flags = m->pages[address / GUEST_PAGE], new[GUEST_PAGE], *page = m->base + address;
    uint64_t start = address, end = address + GUEST_PAGE;
    bool hidden = !(flags & PROT_READ), good = true;
    if (!memory_is_backed(m, address / GUEST_PAGE))
        return true;
    if (hidden && !memory_protect_host(m, &start, &end, PROT_READ))
        return false;
    memcpy(new, contents, sizeof new);
    if (difference)
        page_xor(new, page);
    if (memcmp(new, page, sizeof new)) {
        memory_open(m, address, GUEST_PAGE);
        if (m->journal)
            journal_note(m, address, GUEST_PAGE);
        if (flags & PROT_WRITE) {
            memcpy(page, new, sizeof new);
        } else {
            uint64_t first = address, last = address + GUEST_PAGE;
            good = memory_protect_host(m, &first, &last, PROT_READ | PROT_WRITE);
            if (good)
                memcpy(page, new, sizeof new);
            good &= memory_protect_host(m, &first, &last, PROT_READ);
        }
    }
    if (hidden)
        good &= memory_protect_host(m, &start, &end, PROT_NONE);
    return good;
}

bool memory_change_flags(struct memory *m, uint64_t page, uint64_t count, uint8_t from, uint8_t to)
{
    uint64_t address = page * GUEST_PAGE, length = count * GUEST_PAGE;
    int error = 0, prot = to & PROT_ALL;
    if (!(to & MEMORY_MAPPED))
        error = memory_unmap(m, address, length);
    else if (is_other_mapping(from, to))
        error = memory_map(m, address, length, prot);
    else if ((from ^ to) & PROT_ALL)
        error = memory_protect(m, address, length, prot);
    const uint64_t counted = memory_counted(m, address, length);
    for (uint64_t i = page; i < page + count && !error; i++)
        m->pages[i] = (uint8_t)(to | (m->pages[i] & MEMORY_CODE));
    m->mapped += memory_counted(m, address, length) - counted;
    return !error;
}

// ---- shared memory ----

// A mapping of the device's file.
struct shared_run {
    uint32_t page, count; // of the guest
    uint32_t offset; // in the file, in pages
};

struct shared {
    struct shared_run *runs;
    size_t count;
};

static bool add_run(struct shared *shared, const struct shared_run *run)
{
    struct shared_run *last = shared->count ? &shared->runs[shared->count - 1] : NULL;
    if (last && last->page + last->count == run->page && last->offset + last->count == run->offset) {
        last->count += run->count; // the host may have split what the guest mapped at once
        return true;
    }
    struct shared_run *runs = realloc(shared->runs, (shared->count + 1) * sizeof *runs);
    if (!runs)
        return false;
    shared->runs = runs;
    runs[shared->count++] = *run;
    return true;
}

static bool has_file_pages(const struct memory *m)
{
    for (uint64_t page = 0; page < PAGE_COUNT; page++)
        if (m->pages[page] & (MEMORY_FILE | MEMORY_SHARED))
            return true;
    return false;
}

struct search {
    const struct memory *memory;
    const struct stat *file; // the device's; NULL: there is none
    struct shared *found;
    const char *wrong; // NULL: nothing
};

// Takes the mapping if it is one of the guest's and of the file.
static bool take_mapping(const struct host_mapping *h, void *user)
{
    struct search *search = user;
    const struct stat *file = search->file;
    uint64_t base = (uint64_t)(uintptr_t)search->memory->base;
    if (!h->shared || h->start - base >= GUEST_SPACE)
        return true;
    const struct shared_run run = {.page = (uint32_t)((h->start - base) / GUEST_PAGE),
                                   .count = (uint32_t)((h->end - h->start) / GUEST_PAGE),
                                   .offset = (uint32_t)(h->offset / GUEST_PAGE)};
    if (!file || h->inode != file->st_ino || makedev(h->device_major, h->device_minor) != file->st_dev)
        search->wrong = "the program shares memory with a file or another process";
    else if (!add_run(search->found, &run))
        search->wrong = "there is not enough memory";
    return !search->wrong;
}

// The mappings of the device's file. False with *error where other shared memory is mapped.
static bool find_shared(const struct memory *m, int device_fd, struct shared *shared, struct error *error)
{
    struct stat file;
    *shared = (struct shared){0};
    if (!has_file_pages(m))
        return true;
    const bool known = device_fd >= 0 && !fstat(device_fd, &file);
    struct search search = {.memory = m, .file = known ? &file : NULL, .found = shared};
    if (host_mappings(take_mapping, &search))
        return true;
    free(shared->runs);
    return error_set(error, "%s",
                     search.wrong ? search.wrong
                                  : "the host does not tell what is mapped: /proc/self/maps cannot be read");
}

bool memory_check_shared(const struct memory *m, int device_fd, struct error *error)
{
    struct shared shared;
    if (!find_shared(m, device_fd, &shared, error))
        return false;
    free(shared.runs);
    return true;
}

// ---- saving ----

// Pages with the same flags. Their contents follow all runs, those of private pages.
struct run {
    uint32_t page, count;
    uint32_t offset; // of a shared run
    uint8_t flags, reserved[3];
};

static uint8_t flags_of(const struct memory *m, uint64_t page)
{
    return m->pages[page] & SAVED_FLAGS;
}

// The run that begins at page, which is mapped.
static struct run run_at(const struct memory *m, uint64_t page, const struct shared *shared)
{
    struct run run = {.page = (uint32_t)page, .flags = flags_of(m, page)};
    uint64_t end = PAGE_COUNT;
    for (size_t i = 0; run.flags & MEMORY_SHARED && i < shared->count; i++) {
        const struct shared_run *r = &shared->runs[i];
        if (page - r->page < r->count) {
            run.offset = (uint32_t)(r->offset + page - r->page);
            end = r->page + r->count;
        }
    }
    while (page + run.count < end && flags_of(m, page + run.count) == run.flags)
        run.count++;
    return run;
}

// Whether the host can be told to read the pages, which may take a change of their protection.
static bool begin_access(struct memory *m, const struct run *run)
{
    uint64_t start = run->page * GUEST_PAGE, end = start + run->count * GUEST_PAGE;
    return run->flags & PROT_READ || memory_protect_host(m, &start, &end, PROT_READ);
}

static void end_access(struct memory *m, const struct run *run)
{
    uint64_t start = run->page * GUEST_PAGE, end = start + run->count * GUEST_PAGE;
    if (!(run->flags & PROT_READ))
        memory_protect_host(m, &start, &end, PROT_NONE);
}

// Compresses size bytes into s; last: and ends the stream.
static void compress(ZSTD_CCtx *z, struct saved *s, const void *bytes, size_t size, bool last)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 1;
    while (!s->failed && (in.pos < in.size || (last && left))) {
        size_t room = ZSTD_CStreamOutSize();
        uint8_t *to = saved_extend(s, room);
        ZSTD_outBuffer out = {to, room, 0};
        if (!to)
            return;
        left = ZSTD_compressStream2(z, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        s->size -= room - out.pos;
        if (ZSTD_isError(left))
            saved_fail(s, "the state cannot be compressed: %s", ZSTD_getErrorName(left));
    }
}

static void compress_run(struct memory *m, const struct run *run, ZSTD_CCtx *z, struct saved *s)
{
    static const uint8_t zero[GUEST_PAGE];
    if (run->flags & MEMORY_SHARED)
        return;
    if (!begin_access(m, run)) {
        saved_fail(s, "the host denied access to the program's memory");
        return;
    }
    for (uint32_t i = 0; i < run->count && !s->failed;) {
        uint32_t count = run->count - i < STEPS ? run->count - i : STEPS;
        if (run->flags & MEMORY_FILE) {
            count = 1;
            bool backed = memory_is_backed(m, run->page + i);
            compress(z, s, backed ? m->base + (run->page + i) * GUEST_PAGE : zero, GUEST_PAGE, false);
        } else {
            compress(z, s, m->base + (run->page + i) * GUEST_PAGE, count * GUEST_PAGE, false);
        }
        i += count;
    }
    end_access(m, run);
}

// The runs, once to write them down and once to compress what is in them (z not NULL); returns how many.
static uint32_t each_run(struct memory *m, const struct shared *shared, ZSTD_CCtx *z, struct saved *s)
{
    uint32_t count = 0;
    for (uint64_t page = 0; page < PAGE_COUNT && !s->failed;) {
        if (!m->pages[page]) {
            page++;
            continue;
        }
        struct run run = run_at(m, page, shared);
        if (z)
            compress_run(m, &run, z, s);
        else
            SAVED(s, run);
        page += run.count;
        count++;
    }
    return count;
}

void memory_save(struct memory *m, int device_fd, struct saved *s)
{
    struct shared shared;
    struct error error;
    if (!find_shared(m, device_fd, &shared, &error)) {
        saved_fail(s, "%s", error.text);
        return;
    }
    uint32_t count = 0;
    size_t at = s->size;
    SAVED(s, m->has_frame);
    SAVED(s, count); // put right below
    count = each_run(m, &shared, NULL, s);
    if (!s->failed)
        memcpy(s->data + at + sizeof m->has_frame, &count, sizeof count);
    ZSTD_CCtx *z = ZSTD_createCCtx();
    if (!z) {
        saved_fail(s, "there is not enough memory to save the state");
    } else {
        ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL);
        each_run(m, &shared, z, s);
        compress(z, s, NULL, 0, true);
    }
    ZSTD_freeCCtx(z);
    free(shared.runs);
}

// ---- loading ----

struct memory_plan {
    struct run *runs;
    uint32_t count;
    bool has_frame;
    int device_fd;
    const uint8_t *stream; // compressed contents
    size_t size;
};

void memory_plan_free(struct memory_plan *plan)
{
    if (plan)
        free(plan->runs);
    free(plan);
}

// Gives the contents of the plan's private pages, a page at a time.
struct reader {
    ZSTD_DCtx *z;
    ZSTD_inBuffer in;
};

static bool read_page(struct reader *r, uint8_t page[GUEST_PAGE])
{
    ZSTD_outBuffer out = {page, GUEST_PAGE, 0};
    while (out.pos < out.size) {
        size_t in = r->in.pos, before = out.pos;
        if (ZSTD_isError(ZSTD_decompressStream(r->z, &out, &r->in)) || (in == r->in.pos && before == out.pos))
            return false;
    }
    return true;
}

// Calls use, if there is one, for each private page. False: the stream is damaged, or use says so.
static bool each_page(struct memory *m, const struct memory_plan *plan,
                      bool (*use)(struct memory *m, uint64_t page, const uint8_t *contents))
{
    struct reader r = {ZSTD_createDCtx(), {plan->stream, plan->size, 0}};
    uint8_t page[GUEST_PAGE];
    bool good = r.z;
    for (uint32_t i = 0; good && i < plan->count; i++)
        for (uint32_t k = 0; good && !(plan->runs[i].flags & MEMORY_SHARED) && k < plan->runs[i].count; k++)
            good = read_page(&r, page) && (!use || use(m, plan->runs[i].page + k, page));
    ZSTD_freeDCtx(r.z);
    return good;
}

// A run that memory_save could have written; end: of the one before.
static bool is_sound(const struct run *run, uint64_t end, bool device)
{
    int prot = run->flags & PROT_ALL;
    bool shared = run->flags & MEMORY_SHARED, steady = run->flags & MEMORY_STEADY;
    bool in_frame = shared && run->offset >= offsetof(struct device_page, frame) / GUEST_PAGE &&
                    run->offset + run->count <= offsetof(struct device_page, ring) / GUEST_PAGE;
    return run->count && run->page >= end && run->page >= GUEST_MMAP_MIN / GUEST_PAGE &&
           run->page < GUEST_MMAP_END / GUEST_PAGE && run->count <= GUEST_MMAP_END / GUEST_PAGE - run->page &&
           !(run->flags & ~SAVED_FLAGS) && run->flags & MEMORY_MAPPED && effective_prot(prot) == prot &&
           (shared ? device && run->flags & MEMORY_FILE && run->offset < PAGE_COUNT : !run->offset) &&
           (!steady || (shared ? in_frame : run->flags & MEMORY_FILE || !prot));
}

static bool read_runs(struct memory_plan *plan, uint64_t limit, struct saved *s)
{
    uint64_t end = 0, counted = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct run *run = &plan->runs[i];
        SAVED(s, *run);
        if (s->failed || !is_sound(run, end, plan->device_fd >= 0)) {
            saved_expect(s, false, "its map of memory");
            return false;
        }
        end = run->page + run->count;
        counted += is_counted(run->flags) ? run->count * GUEST_PAGE : 0;
    }
    if (counted > limit)
        saved_fail(
            s, "the program of the state has %" PRIu64 " MiB of memory, and may have %" PRIu64 ": see --ram",
            counted >> 20, limit >> 20);
    return counted <= limit;
}

struct memory_plan *memory_plan_load(struct memory *m, int device_fd, uint64_t limit, struct saved *s)
{
    uint32_t count = 0;
    uint8_t has_frame = false;
    SAVED(s, has_frame);
    SAVED(s, count);
    saved_expect(s, has_frame <= 1 && count <= (s->size - s->at) / sizeof(struct run), "its map of memory");
    struct memory_plan *plan = s->failed ? NULL : calloc(1, sizeof *plan);
    if (!plan) {
        saved_fail(s, NO_MEMORY);
        return NULL;
    }
    *plan = (struct memory_plan){.count = count, .has_frame = has_frame, .device_fd = device_fd};
    plan->runs = malloc((count + 1) * sizeof *plan->runs);
    if (!plan->runs)
        saved_fail(s, NO_MEMORY);
    if (!s->failed && read_runs(plan, limit, s)) {
        plan->stream = s->data + s->at;
        plan->size = s->size - s->at;
        saved_expect(s, each_page(m, plan, NULL), "its contents of memory");
    }
    if (!s->failed)
        return plan;
    memory_plan_free(plan);
    return NULL;
}

static bool is_mapped_so(const struct memory *m, const struct run *run, const struct shared *shared)
{
    struct run now = run_at(m, run->page, shared);
    return m->pages[run->page] & MEMORY_SHARED && now.offset == run->offset && now.flags == run->flags &&
           now.count >= run->count;
}

// Unmaps what is not in the plan, or is mapped otherwise.
static bool unmap_rest(struct memory *m, const struct memory_plan *plan, const struct shared *shared)
{
    uint64_t page = 0;
    bool good = true;
    for (uint32_t i = 0; good && i <= plan->count; i++) {
        const struct run *run = i < plan->count ? &plan->runs[i] : NULL;
        uint64_t start = run ? run->page : PAGE_COUNT, end = run ? start + run->count : PAGE_COUNT;
        good = page == start || memory_unmap(m, page * GUEST_PAGE, (start - page) * GUEST_PAGE) == 0;
        bool kept = run && run->flags & MEMORY_SHARED && is_mapped_so(m, run, shared);
        for (page = start; good && !kept && page < end; page++) {
            uint64_t first = page;
            while (page < end && m->pages[page] &&
                   (is_other_mapping(m->pages[page], run->flags) || run->flags & MEMORY_SHARED))
                page++;
            if (page > first)
                good = memory_unmap(m, first * GUEST_PAGE, (page - first) * GUEST_PAGE) == 0;
        }
        page = end;
    }
    return good;
}

static bool map_shared(struct memory *m, const struct memory_plan *plan, const struct run *run)
{
    uint64_t address = run->page * GUEST_PAGE, length = run->count * GUEST_PAGE;
    if (!m->pages[run->page] && memory_map_file(m, address, length, run->flags & PROT_ALL, MAP_SHARED,
                                                plan->device_fd, run->offset * GUEST_PAGE))
        return false;
    for (uint64_t page = run->page; page < run->page + run->count; page++)
        m->pages[page] = run->flags;
    return true;
}

// Every page of the run gets its flags; it is unmapped, or mapped as it is to be.
static bool map_run(struct memory *m, const struct memory_plan *plan, const struct run *run)
{
    uint64_t end = run->page + run->count;
    if (run->flags & MEMORY_SHARED)
        return map_shared(m, plan, run);
    for (uint64_t page = run->page; page < end;) {
        uint64_t next = page;
        uint8_t now = flags_of(m, page);
        while (next < end && flags_of(m, next) == now)
            next++;
        if (now != run->flags && !memory_change_flags(m, page, next - page, now, run->flags))
            return false;
        page = next;
    }
    return true;
}

static bool put_page(struct memory *m, uint64_t page, const uint8_t *contents)
{
    return memory_replace(m, page * GUEST_PAGE, contents, false);
}

bool memory_load(struct memory *m, const struct memory_plan *plan)
{
    struct shared shared;
    struct error unused;
    if (!find_shared(m, plan->device_fd, &shared, &unused))
        shared = (struct shared){0}; // then all of it is unmapped
    uint64_t limit = m->limit;
    m->limit = UINT64_MAX; // what is mapped comes before what is protected otherwise
    bool good = unmap_rest(m, plan, &shared);
    for (uint32_t i = 0; good && i < plan->count; i++)
        good = map_run(m, plan, &plan->runs[i]);
    good = good && each_page(m, plan, put_page);
    m->limit = limit;
    m->has_frame = plan->has_frame;
    free(shared.runs);
    return good;
}
