// SPDX-License-Identifier: MIT
// Cached objects are host code, so the folder has to be private, and no link in it is followed. What a file
// holds is checked by length and hash before use: truncated and foreign files count as empty.
#include "cache_file.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "file.h"

enum {
    FORMAT_VERSION = 3,
    FILE_BYTES_MAX = 16 << 20,
    FOLDER_BYTES_MAX = 64 << 20,
    NAME_SIZE = 40,
};

static const char magic[8] = "neurodm";

struct file_header {
    char magic[8];
    uint64_t version, program, identity;
};

struct record_header {
    uint64_t hash; // of what follows, the object's bytes included
    uint32_t entry, page_count;
    uint64_t size; // of the object
    struct cached_page pages[CACHED_PAGES_MAX];
    uint32_t left_out_count, left_out[CACHED_LEFT_OUT_MAX], reserved;
    uint64_t trusted_by;
};

struct cache_file {
    char *path; // of the folder
    int folder;
    char name[NAME_SIZE];
    struct file_header header;
    unsigned char *file; // mapped
    size_t file_size;
    struct cached_object *objects;
    size_t count, room;
    bool changed;
};

static void free_bytes(const struct cache_file *c, const struct cached_object *o)
{
    if (!c->file || o->bytes < c->file || o->bytes >= c->file + c->file_size)
        free((void *)(uintptr_t)o->bytes);
}

static bool append(struct cache_file *c, const struct cached_object *o)
{
    if (c->count == c->room) {
        size_t room = c->room ? c->room * 2 : 256;
        struct cached_object *more = realloc(c->objects, room * sizeof *more);
        if (!more)
            return false;
        c->objects = more;
        c->room = room;
    }
    c->objects[c->count++] = *o;
    return true;
}

static uint64_t record_hash(const struct record_header *r, const unsigned char *bytes)
{
    XXH64_hash_t head = XXH3_64bits((const char *)r + sizeof r->hash, sizeof *r - sizeof r->hash);
    return XXH3_64bits_withSeed(bytes, r->size, head);
}

// Takes over the records of a file's contents, up to the first that is damaged.
static void parse(struct cache_file *c, size_t size)
{
    struct file_header h;
    if (size < sizeof h || (memcpy(&h, c->file, sizeof h), memcmp(&h, &c->header, sizeof h) != 0))
        return;
    size_t at = sizeof h;
    while (size - at > sizeof(struct record_header)) {
        struct record_header r;
        memcpy(&r, c->file + at, sizeof r);
        at += sizeof r;
        if (r.size > size - at || r.page_count > CACHED_PAGES_MAX || r.left_out_count > CACHED_LEFT_OUT_MAX ||
            r.hash != record_hash(&r, c->file + at))
            return;
        struct cached_object o = {.entry = r.entry,
                                  .page_count = r.page_count,
                                  .trusted_by = r.trusted_by,
                                  .bytes = c->file + at,
                                  .size = r.size};
        memcpy(o.pages, r.pages, sizeof o.pages);
        o.left_out_count = r.left_out_count;
        memcpy(o.left_out, r.left_out, sizeof o.left_out);
        if (!append(c, &o))
            return;
        at += (r.size + 7) & ~(uint64_t)7;
        if (at > size)
            return;
    }
}

// The folder, made if it is not there: a real one, ours, and nobody else's to write.
static int open_folder(const char *path, struct error *error)
{
    int fd = mkdir(path, 0700) != 0 && errno != EEXIST
                 ? -1
                 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    if (fd < 0) {
        error_set(error, "nothing is kept for the next start: %s: %s", path, strerror(errno));
    } else if (fstat(fd, &s) != 0 || s.st_uid != geteuid() || s.st_mode & 077) {
        error_set(error,
                  "nothing is kept for the next start: the folder %s has to be yours alone (chmod 700)",
                  path);
        close(fd);
        fd = -1;
    }
    return fd;
}

static void unmap_file(struct cache_file *c)
{
    if (c->file)
        munmap(c->file, c->file_size);
    c->file = NULL;
}

// Of what is open; 0 of nothing.
static size_t size_of(int fd)
{
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0 ? (size_t)s.st_size : 0;
}

// Takes over what is in the file. (Files are replaced, never changed: the mapping stays.)
static void read_objects(struct cache_file *c, int fd)
{
    size_t size = size_of(fd);
    if (size && size <= FILE_BYTES_MAX) {
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        unmap_file(c);
        if (file != MAP_FAILED) {
            c->file = file;
            c->file_size = size;
            parse(c, size);
        }
    }
}

static int open_kept(const struct cache_file *c, struct error *error)
{
    int fd = file_open_own(c->folder, c->name);
    if (fd < 0) {
        if (errno == EINVAL)
            error_set(error, "%s/%s is not used, and will be replaced: it is no file, or not yours", c->path,
                      c->name);
        else if (errno != ENOENT)
            error_set(error, "%s/%s is not used: %s", c->path, c->name, strerror(errno));
    }
    return fd;
}

// Whether nobody else may write what is open: host code is taken from there.
static bool is_trusted(int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && (s.st_uid == geteuid() || s.st_uid == 0) && !(s.st_mode & 022);
}

static int open_prepared(const struct cache_file *c, const char *folder)
{
    int at = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int fd = at < 0 || !is_trusted(at)
                 ? -1
                 : openat(at, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && !is_trusted(fd)) {
        close(fd);
        fd = -1;
    }
    if (at >= 0)
        close(at);
    return fd;
}

// Takes over the larger file, which knows more: what is kept began with what was prepared, unless that came
// later. If it is no use, the other.
static void read_file(struct cache_file *c, const char *prepared, struct error *error)
{
    int files[2] = {open_kept(c, error), open_prepared(c, prepared)};
    unsigned first = size_of(files[1]) > size_of(files[0]);
    read_objects(c, files[first]);
    if (!c->count)
        read_objects(c, files[!first]);
    for (unsigned i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
}

struct cache_file *cache_file_open(const char *folder, const char *prepared, uint64_t program,
                                   uint64_t identity, struct error *error)
{
    struct cache_file *c = calloc(1, sizeof *c);
    error->text[0] = '\0';
    if (!c)
        return NULL;
    c->path = strdup(folder);
    c->folder = c->path ? open_folder(folder, error) : -1;
    if (c->folder < 0) {
        free(c->path);
        free(c);
        return NULL;
    }
    snprintf(c->name, sizeof c->name, "%016" PRIx64 ".code", program);
    memcpy(c->header.magic, magic, sizeof magic);
    c->header.version = FORMAT_VERSION;
    c->header.program = program;
    c->header.identity = identity;
    read_file(c, prepared, error);
    return c;
}

size_t cache_file_count(const struct cache_file *c)
{
    return c->count;
}

const struct cached_object *cache_file_get(const struct cache_file *c, size_t index)
{
    return &c->objects[index];
}

bool cache_file_add(struct cache_file *c, const struct cached_object *object)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->objects[i].entry == object->entry)
            cache_file_drop(c, i);
    if (!append(c, object))
        return false;
    c->changed = true;
    return true;
}

void cache_file_drop(struct cache_file *c, size_t index)
{
    c->objects[index].size = 0;
    c->changed = true;
}

static bool write_objects(FILE *f, const void *user)
{
    const struct cache_file *c = user;
    static const char padding[8];
    size_t total = sizeof c->header;
    bool good = fwrite(&c->header, sizeof c->header, 1, f) == 1;
    for (size_t i = 0; i < c->count && good; i++) {
        const struct cached_object *o = &c->objects[i];
        struct record_header r = {.entry = o->entry, .page_count = o->page_count, .size = o->size};
        size_t padded = (o->size + 7) & ~(size_t)7;
        if (!o->size || total + sizeof r + padded > FILE_BYTES_MAX)
            continue;
        memcpy(r.pages, o->pages, sizeof r.pages);
        r.left_out_count = o->left_out_count;
        r.trusted_by = o->trusted_by;
        memcpy(r.left_out, o->left_out, sizeof r.left_out);
        r.hash = record_hash(&r, o->bytes);
        good = fwrite(&r, sizeof r, 1, f) == 1 && fwrite(o->bytes, 1, o->size, f) == o->size &&
               fwrite(padding, 1, padded - o->size, f) == padded - o->size;
        total += sizeof r + padded;
    }
    return good;
}

// Removes the file that was written longest ago, until what is left fits the cap.
static void shrink_folder(const struct cache_file *c)
{
    for (;;) {
        off_t total = 0;
        time_t oldest = 0;
        char name[NAME_SIZE] = "";
        DIR *d = file_list(c->folder);
        if (!d)
            return;
        for (struct dirent *e; (e = readdir(d)) != NULL;) {
            struct stat s;
            if (strlen(e->d_name) >= NAME_SIZE || !strstr(e->d_name, ".code") ||
                fstatat(c->folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0)
                continue;
            total += s.st_size;
            if (!name[0] || s.st_mtime < oldest) {
                oldest = s.st_mtime;
                strcpy(name, e->d_name);
            }
        }
        closedir(d);
        if (total <= FOLDER_BYTES_MAX || !name[0] || unlinkat(c->folder, name, 0) != 0)
            return;
    }
}

bool cache_file_close(struct cache_file *c, struct error *error)
{
    bool good = true;
    if (!c)
        return good;
    if (c->changed) {
        good = file_replace(c->folder, c->name, 0600, false, write_objects, c);
        if (!good)
            error_set(error,
                      "nothing is kept for the next start, which will be as slow as the first: %s/%s: %s",
                      c->path, c->name, strerror(errno));
        shrink_folder(c);
    }
    for (size_t i = 0; i < c->count; i++)
        free_bytes(c, &c->objects[i]);
    free(c->objects);
    unmap_file(c);
    free(c->path);
    close(c->folder);
    free(c);
    return good;
}
