// SPDX-License-Identifier: MIT
// Cached objects are host code, so the folder has to be private, and no link in it is followed. What a file
// holds is checked by length and hash before use, each object's bytes when they are asked for.
#include "cache_file.h"

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
    FORMAT_VERSION = 4,
    FILE_BYTES_MAX = 16 << 20,
    FOLDER_BYTES_MAX = 64 << 20,
    NAME_SIZE = 40,
};

static const char magic[8] = "neurodm";

// A file: header, index, the objects' bytes one behind the other, each at a multiple of 8.
struct file_header {
    char magic[8];
    uint64_t version, program, identity;
    uint64_t count, index_size, index_hash; // of the index
};

// In the index, for each object; its pages and left_out follow, filled up to a multiple of 8.
struct record {
    uint64_t hash; // of the object's bytes
    uint64_t size, trusted_by;
    uint32_t entry, page_count, left_out_count, reserved;
};

struct kept {
    struct cached_object object;
    uint64_t hash; // of its bytes, if they are the file's
    bool was_read; // or added, in this run
};

struct cache_file {
    char *path; // of the folder
    int folder;
    char name[NAME_SIZE];
    struct file_header header;
    unsigned char *file; // mapped
    size_t file_size;
    int open_file; // the same
    unsigned char *buffer; // what was read of it last
    size_t buffer_room;
    struct kept *objects;
    size_t count, room;
    bool changed;
};

static bool is_in_file(const struct cache_file *c, const void *p)
{
    return c->file && (const unsigned char *)p >= c->file &&
           (const unsigned char *)p < c->file + c->file_size;
}

static struct kept *append(struct cache_file *c)
{
    if (c->count == c->room) {
        size_t room = c->room ? c->room * 2 : 256;
        struct kept *more = realloc(c->objects, room * sizeof *more);
        if (!more)
            return NULL;
        c->objects = more;
        c->room = room;
    }
    return &c->objects[c->count++];
}

static uint64_t padded(uint64_t size)
{
    return (size + 7) & ~(uint64_t)7;
}

static uint64_t extras_size(uint32_t page_count, uint32_t left_out_count)
{
    return padded(page_count * sizeof(struct cached_page) + left_out_count * sizeof(uint32_t));
}

// Takes over the objects of a file, as far as it goes.
static void parse(struct cache_file *c)
{
    struct file_header h;
    if (c->file_size < sizeof h)
        return;
    memcpy(&h, c->file, sizeof h);
    const unsigned char *index = c->file + sizeof h;
    if (memcmp(&h, &c->header, offsetof(struct file_header, count)) != 0 ||
        h.index_size > c->file_size - sizeof h || h.index_size % 8 ||
        h.index_hash != XXH3_64bits_withSeed(index, h.index_size, h.count) || !h.count ||
        h.count > h.index_size / sizeof(struct record))
        return;
    free(c->objects);
    c->objects = malloc(h.count * sizeof *c->objects);
    c->room = c->objects ? h.count : 0;
    const unsigned char *end = index + h.index_size, *bytes = end;
    while (c->count < c->room && (size_t)(end - index) >= sizeof(struct record)) {
        const struct record *r = (const struct record *)index;
        index += sizeof *r;
        uint64_t left = c->file_size - (size_t)(bytes - c->file);
        if (r->page_count > CACHED_PAGES_MAX || r->left_out_count > CACHED_LEFT_OUT_MAX ||
            extras_size(r->page_count, r->left_out_count) > (size_t)(end - index) || !r->size ||
            r->size > left || padded(r->size) > left)
            return;
        const struct cached_page *pages = (const struct cached_page *)index;
        *append(c) = (struct kept){
            .object = {.entry = r->entry,
                       .page_count = r->page_count,
                       .left_out_count = r->left_out_count,
                       .pages = pages,
                       .left_out = (const uint32_t *)(pages + r->page_count),
                       .trusted_by = r->trusted_by,
                       .bytes = bytes,
                       .size = r->size},
            .hash = r->hash,
        };
        index += extras_size(r->page_count, r->left_out_count);
        bytes += padded(r->size);
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

static void leave_file(struct cache_file *c)
{
    if (!c->file)
        return;
    munmap(c->file, c->file_size);
    close(c->open_file);
    c->file = NULL;
}

// Of what is open; 0 of nothing.
static size_t size_of(int fd)
{
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0 ? (size_t)s.st_size : 0;
}

// Takes over the file, and what is in it. (Files are replaced, never changed: the mapping stays.)
static void read_objects(struct cache_file *c, int fd)
{
    size_t size = size_of(fd);
    void *file =
        size && size <= FILE_BYTES_MAX ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (file == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return;
    }
    leave_file(c);
    c->file = file;
    c->file_size = size;
    c->open_file = fd;
    parse(c);
}

static int open_kept(const struct cache_file *c, struct error *error)
{
    int fd = file_open_own(c->folder, c->name);
    if (fd < 0) {
        if (errno == EINVAL)
            error_set(error,
                      "%s/%s is not used: it is no file, or not yours; what is no folder will be replaced",
                      c->path, c->name);
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
    else if (files[!first] >= 0)
        close(files[!first]);
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
    return &c->objects[index].object;
}

static bool make_room(struct cache_file *c, size_t size)
{
    if (size <= c->buffer_room)
        return true;
    free(c->buffer);
    c->buffer = malloc(size);
    c->buffer_room = c->buffer ? size : 0;
    return c->buffer;
}

const unsigned char *cache_file_read(struct cache_file *c, size_t index)
{
    struct kept *k = &c->objects[index];
    const struct cached_object *o = &k->object;
    if (!o->size || !is_in_file(c, o->bytes))
        return o->size ? o->bytes : NULL;
    if (!make_room(c, o->size) ||
        pread(c->open_file, c->buffer, o->size, o->bytes - c->file) != (ssize_t)o->size ||
        XXH3_64bits(c->buffer, o->size) != k->hash) {
        cache_file_drop(c, index);
        return NULL;
    }
    k->was_read = true;
    return c->buffer;
}

bool cache_file_add(struct cache_file *c, const struct cached_object *object)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->objects[i].object.entry == object->entry)
            cache_file_drop(c, i);
    struct cached_page *pages = malloc(extras_size(object->page_count, object->left_out_count) + 1);
    struct kept *k = pages ? append(c) : NULL;
    if (!k) {
        free(pages);
        return false;
    }
    uint32_t *left_out = (uint32_t *)(pages + object->page_count);
    if (object->page_count)
        memcpy(pages, object->pages, object->page_count * sizeof *pages);
    if (object->left_out_count)
        memcpy(left_out, object->left_out, object->left_out_count * sizeof *left_out);
    *k = (struct kept){.object = *object, .was_read = true};
    k->object.pages = pages;
    k->object.left_out = left_out;
    c->changed = true;
    return true;
}

void cache_file_drop(struct cache_file *c, size_t index)
{
    c->objects[index].object.size = 0;
    c->changed = true;
}

// What is going to be written: objects that were read or added in this run first, since the next one will
// want them, too; the others need not become resident.
struct written {
    const struct kept **objects;
    size_t count;
    unsigned char *index;
    size_t index_size;
};

static void add_record(const struct cache_file *c, struct written *w, const struct kept *k)
{
    const struct cached_object *o = &k->object;
    struct record r = {.hash = is_in_file(c, o->bytes) ? k->hash : XXH3_64bits(o->bytes, o->size),
                       .size = o->size,
                       .trusted_by = o->trusted_by,
                       .entry = o->entry,
                       .page_count = o->page_count,
                       .left_out_count = o->left_out_count};
    size_t pages = o->page_count * sizeof *o->pages;
    unsigned char *at = w->index + w->index_size;
    memcpy(at, &r, sizeof r);
    memcpy(at + sizeof r, o->pages, pages);
    memcpy(at + sizeof r + pages, o->left_out, o->left_out_count * sizeof *o->left_out);
    w->index_size += sizeof r + extras_size(o->page_count, o->left_out_count);
    w->objects[w->count++] = k;
}

// Its arrays are malloc'd. False without memory for them.
static bool choose_written(const struct cache_file *c, struct written *w)
{
    const size_t most = sizeof(struct record) + extras_size(CACHED_PAGES_MAX, CACHED_LEFT_OUT_MAX);
    *w = (struct written){.objects = malloc((c->count + 1) * sizeof *w->objects),
                          .index = calloc(c->count + 1, most)};
    size_t total = sizeof c->header;
    for (unsigned was_used = 2; w->objects && w->index && was_used-- > 0;) {
        for (size_t i = 0; i < c->count; i++) {
            const struct kept *k = &c->objects[i];
            const struct cached_object *o = &k->object;
            size_t size =
                sizeof(struct record) + extras_size(o->page_count, o->left_out_count) + padded(o->size);
            if (!o->size || k->was_read != was_used || size > FILE_BYTES_MAX - total)
                continue;
            total += size;
            add_record(c, w, k);
        }
    }
    return w->objects && w->index;
}

static bool write_chosen(FILE *f, const struct cache_file *c, const struct written *w)
{
    struct file_header h = c->header;
    h.count = w->count;
    h.index_size = w->index_size;
    h.index_hash = XXH3_64bits_withSeed(w->index, w->index_size, w->count);
    bool good = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(w->index, 1, w->index_size, f) == w->index_size;
    for (size_t i = 0; i < w->count && good; i++) {
        static const char padding[8];
        const struct cached_object *o = &w->objects[i]->object;
        size_t rest = padded(o->size) - o->size;
        good = fwrite(o->bytes, 1, o->size, f) == o->size && fwrite(padding, 1, rest, f) == rest;
    }
    return good;
}

static bool write_objects(FILE *f, const void *user)
{
    const struct cache_file *c = user;
    struct written w;
    bool good = choose_written(c, &w);
    fchmod(fileno(f), 0644); // who may read it the folder says, and the program's umask does not
    if (good)
        good = write_chosen(f, c, &w);
    else
        errno = ENOMEM;
    free(w.objects);
    free(w.index);
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

void cache_file_abandon(struct cache_file *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        const struct cached_object *o = &c->objects[i].object;
        if (!is_in_file(c, o->pages)) {
            free((void *)(uintptr_t)o->pages);
            free((void *)(uintptr_t)o->bytes);
        }
    }
    free(c->objects);
    free(c->buffer);
    leave_file(c);
    free(c->path);
    close(c->folder);
    free(c);
}

bool cache_file_close(struct cache_file *c, struct error *error)
{
    bool good = true;
    if (c && c->changed) {
        good = file_replace(c->folder, c->name, 0644, false, write_objects, c);
        if (!good)
            error_set(error,
                      "nothing is kept for the next start, which will be as slow as the first: %s/%s: %s",
                      c->path, c->name, strerror(errno));
        shrink_folder(c);
    }
    cache_file_abandon(c);
    return good;
}
