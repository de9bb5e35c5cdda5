// SPDX-License-Identifier: MIT
#include "code_memory.h"

#include <sys/mman.h>

#include "core/base/forks.h"

enum {
    PAGE_BYTES = 4096,
    POPULATED_BYTES = 32 << 10, // at a time
    STEP = 16 << 20, // between places that are tried
};

// Memory that is shared with forked processes. No file's: their size is limited (RLIMIT_FSIZE).
static void *map_code(void *at, size_t size, int flags)
{
    flags |= MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    return mmap(at, size, PROT_READ | PROT_EXEC, flags, -1, 0);
}

// Maps the same pages again, at a place of its own or, with MREMAP_FIXED in flags, at place: of an old length
// of 0 mremap makes another mapping. MAP_FAILED with errno.
static void *map_again(void *code, size_t size, int flags, void *place)
{
    return mremap(code, 0, size, MREMAP_MAYMOVE | flags, place);
}

static bool make_writable(void *write, size_t size)
{
    return mprotect(write, size, PROT_READ | PROT_WRITE) == 0;
}

// Below the image of the program, where nothing is mapped as a rule.
static void *map_near(const void *near, size_t size)
{
    const uintptr_t most = 1u << 30;
    for (uintptr_t away = size + STEP; away < most; away += STEP) {
        uintptr_t at = ((uintptr_t)near - away) & ~(uintptr_t)(PAGE_BYTES - 1);
        void *code = map_code((void *)at, size, MAP_FIXED_NOREPLACE);
        if (code == (void *)at)
            return code;
        if (code != MAP_FAILED) // a kernel that does not know the flag
            munmap(code, size);
    }
    return MAP_FAILED;
}

int code_memory_create(struct code_memory *m, size_t size, const void *near)
{
    forks_watch();
    *m = (struct code_memory){.size = size, .forks = forks_count(), .seen = forks_seen()};
    void *code = near ? map_near(near, size) : map_code(NULL, size, MAP_32BIT);
    void *write = code == MAP_FAILED ? MAP_FAILED : map_again(code, size, 0, NULL);
    m->code = code == MAP_FAILED ? NULL : code;
    m->write = write == MAP_FAILED ? NULL : write;
    if (m->write && make_writable(m->write, size))
        return 0;
    code_memory_destroy(m);
    return -1;
}

void code_memory_destroy(struct code_memory *m)
{
    if (m->code)
        munmap(m->code, m->size);
    if (m->write)
        munmap(m->write, m->size);
    *m = (struct code_memory){0};
}

// In a forked process: gives it pages of its own from the first on of which nothing has been taken. Without
// them there is nothing left to take.
static void part(struct code_memory *m)
{
    const size_t at = (m->used + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1), left = m->size - at;
    const bool has_parted = left && map_code(m->code + at, left, MAP_FIXED) != MAP_FAILED &&
                            map_again(m->code + at, left, MREMAP_FIXED, m->write + at) != MAP_FAILED &&
                            make_writable(m->write + at, left);
    m->used = m->populated = has_parted ? at : m->size;
    m->forks = forks_count();
}

size_t code_memory_take(struct code_memory *m, size_t size, size_t alignment)
{
    if (m->seen != forks_seen()) {
        m->seen = forks_seen();
        m->shared = m->used;
    }
    if (m->forks != forks_count())
        part(m);
    size_t at = (m->used + alignment - 1) & ~(alignment - 1);
    if (at > m->size || size > m->size - at) {
        m->is_full = true;
        return SIZE_MAX;
    }
    m->used = at + size;
    if (m->used > m->populated) // what has been written would be resident twice
        madvise(m->write, at & ~(size_t)(PAGE_BYTES - 1), MADV_DONTNEED);
    while (m->used > m->populated) {
        size_t step = m->size - m->populated < POPULATED_BYTES ? m->size - m->populated : POPULATED_BYTES;
        madvise(m->write + m->populated, step, MADV_POPULATE_WRITE); // where that is unknown: page by page
        m->populated += step;
    }
    return at;
}
