// SPDX-License-Identifier: MIT
// Path resolution. A path is tried as it is below the folder that it starts from, where the kernel itself
// refuses to leave (openat2 with RESOLVE_BENEATH). What it refuses is walked link by link in the guest's own
// name space, and the result, free of links, is opened below the grant that it falls in. So a link or ".."
// that stays inside the grants works, and a race cannot lead outside.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "blocking.h"
#include "core/state/guest.h"
#include "path_text.h"
#include "process.h"
#include "special_files.h"

#define LINKS_MAX 40 // symbolic links in one path, as in Linux
#define WALK_SIZE (2 * PATH_MAX)
#define NOT_IN_GRANT 1 // a path that no grant covers

void files_host_path(int host, char path[HOST_FD_PATH_SIZE])
{
    snprintf(path, HOST_FD_PATH_SIZE, "/proc/self/fd/%d", host);
}

static struct grant *find_grant(const struct files *f, const char *canonical)
{
    struct grant *best = NULL;
    for (size_t i = 0; i < f->grant_count; i++) {
        struct grant *g = &f->grants[i];
        if (path_has_prefix(canonical, g->path, g->length) && (g->is_folder || !canonical[g->length]) &&
            (!best || g->length > best->length))
            best = g;
    }
    return best;
}

// Whether a grant lies below the path, which then is a folder even if nothing else says so.
bool files_leads_to_grant(const struct files *f, const char *canonical)
{
    size_t length = strlen(canonical);
    for (size_t i = 0; i < f->grant_count; i++)
        if (f->grants[i].length > length && path_has_prefix(f->grants[i].path, canonical, length))
            return true;
    return false;
}

// Whether another grant or a special file may lie below the grant, so that its host folder does not tell
// everything about what the guest sees there.
static bool is_plain(const struct files *f, const struct grant *g)
{
    for (size_t i = 0; i < f->grant_count; i++)
        if (&f->grants[i] != g && path_has_prefix(f->grants[i].path, g->path, g->length))
            return false;
    return !special_below(g->path);
}

// For a device, and a file of the kernel's, to be opened is to do something: what the guest may not have is
// only looked at.
static int look_before_opening(const struct grant *g, int folder, const char *path, int flags,
                               uint64_t resolve)
{
    const struct open_how how = {.flags = (uint32_t)(O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)),
                                 .resolve = resolve};
    const int found = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    struct stat s;
    if (found < 0)
        return 0;
    const int result = fstat(found, &s) ? -errno : special_check_granted(found, &s, g->device);
    close(found);
    return result;
}

static int open_beneath(struct files *f, const struct grant *g, int folder, const char *path, int flags,
                        mode_t mode, uint64_t resolve)
{
    mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode & 01777 : 0;
    resolve |= RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    // or nothing that was there, or a folder only
    const bool opens_nothing = flags & (O_PATH | O_DIRECTORY) || (flags & O_CREAT && flags & O_EXCL);
    const int result = opens_nothing ? 0 : look_before_opening(g, folder, path, flags, resolve);
    if (result)
        return result;
    // The kernel gives up with EAGAIN where ".." meets a folder that is being renamed.
    for (int attempt = 0; attempt < 100; attempt++) {
        const int fd = blocking_open(f->guest->process, folder, path, flags, mode, resolve);
        if (fd != -EAGAIN)
            return fd;
    }
    return -EAGAIN;
}

// Opens what rest names below folder, as far as the grant permits writing.
static int open_checked(struct files *f, const struct grant *g, int folder, const char *rest, int flags,
                        mode_t mode, uint64_t resolve)
{
    if (!g->writable && !(flags & O_PATH)) {
        if (flags & (O_ACCMODE | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE)
            return -EROFS;
        if (flags & O_CREAT) {
            int fd = open_beneath(f, g, folder, rest, flags & ~(O_CREAT | O_EXCL), 0, resolve);
            return fd == -ENOENT ? -EROFS : fd >= 0 && flags & O_EXCL ? (close(fd), -EEXIST) : fd;
        }
    }
    return open_beneath(f, g, folder, rest, flags, mode, resolve);
}

static int open_host(struct grant *g, const char *host)
{
    struct stat s;
    g->host = open(host, O_PATH | O_CLOEXEC);
    if (g->host < 0 || fstat(g->host, &s))
        return -errno;
    g->is_folder = S_ISDIR(s.st_mode);
    g->device = s.st_dev;
    return 0;
}

static int make_folder(struct grant *g)
{
    const char *host = g->make(g->maker);
    return host ? open_host(g, host) : -errno;
}

void files_make_folders(struct files *f)
{
    for (size_t i = 0; i < f->grant_count; i++)
        if (f->grants[i].host < 0)
            make_folder(&f->grants[i]);
}

// Opens canonical, which lies in g.
static int open_in_grant(struct files *f, struct grant *g, const char *canonical, int flags, mode_t mode,
                         uint64_t resolve)
{
    const int result = g->host < 0 ? make_folder(g) : 0;
    if (result)
        return result;
    if (g->is_folder) {
        const char *rest = canonical + g->length;
        while (*rest == '/')
            rest++;
        return open_checked(f, g, g->host, *rest ? rest : ".", flags, mode, resolve);
    }
    if (flags & O_DIRECTORY || canonical[g->length])
        return -ENOTDIR;
    if (flags & O_CREAT && flags & O_EXCL)
        return -EEXIST;
    if (flags & O_PATH) {
        int fd = fcntl(g->host, F_DUPFD_CLOEXEC, 3);
        return fd < 0 ? -errno : fd;
    }
    if (!g->writable && flags & (O_ACCMODE | O_TRUNC))
        return -EROFS;
    struct stat s;
    const int permitted = fstat(g->host, &s) ? -errno : special_check_granted(g->host, &s, g->device);
    if (permitted)
        return permitted;
    char path[HOST_FD_PATH_SIZE];
    files_host_path(g->host, path);
    return blocking_open(f->guest->process, AT_FDCWD, path, flags & ~(O_CREAT | O_NOFOLLOW), 0, 0);
}

// Fills *out for a host descriptor from grant g, or closes it if the guest may not have it.
static int accept_host(struct files *f, int host, const struct grant *g, struct descriptor *out)
{
    struct stat s;
    int result = fstat(host, &s) ? -errno : special_check_granted(host, &s, g->device);
    if (result) {
        close(host);
        return result;
    }
    *out = (struct descriptor){.kind = S_ISDIR(s.st_mode) ? DESCRIPTOR_DIRECTORY : DESCRIPTOR_FILE,
                               .host = host,
                               .never_waits = file_never_waits(&s),
                               .may_change = g->writable,
                               .grant = (int)(g - f->grants)};
    return 0;
}

// The folder from which path starts; its canonical path if text is not NULL.
static int base_of(struct files *f, int at, struct descriptor **base, char text[PATH_MAX])
{
    *base = at == GUEST_AT_FDCWD ? &f->cwd : descriptor_get(f, (uint32_t)at);
    if (!*base)
        return -EBADF;
    if (!descriptor_is_folder(*base))
        return -ENOTDIR;
    if (!text)
        return 0;
    int result = files_folder_path(f, *base, text, PATH_MAX);
    // A folder that has been removed still has one above it; " (deleted)" is behind its name then.
    if (result == -ENOENT && files_name(f, (*base)->host, text, PATH_MAX))
        result = 0;
    if (!result && !strcmp(text, "/"))
        *text = 0;
    return result;
}

// ---- the walk ----

enum component { MISSING, FOLDER, LINK, OTHER };

// What canonical is; its folders are free of links. The target of a link goes to target. Outside the grants
// everything else passes as a folder: that nothing is there shows in the end.
static int look(struct files *f, const char *canonical, char target[PATH_MAX])
{
    struct grant *g = find_grant(f, canonical);
    if (!g || special_covers(canonical))
        return special_folder_link(f, canonical, target) ? LINK : FOLDER;
    int fd = open_in_grant(f, g, canonical, O_PATH | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
    if (fd < 0)
        return fd != -ENOENT ? fd : files_leads_to_grant(f, canonical) ? FOLDER : MISSING;
    struct stat s;
    int result = fstat(fd, &s) ? -errno : S_ISDIR(s.st_mode) ? FOLDER : S_ISLNK(s.st_mode) ? LINK : OTHER;
    if (result == LINK) {
        ssize_t n = readlinkat(fd, "", target, PATH_MAX - 1);
        target[n < 0 ? 0 : n] = 0;
        if (n <= 0)
            result = n ? -errno : -ENOENT;
    }
    close(fd);
    return result;
}

// Resolves path from the canonical path in canonical, which receives the result: a path free of links, the
// last component of which may not exist. follow: also a link at the end. *linked tells whether links led
// there.
static int walk(struct files *f, const char *path, bool follow, char canonical[PATH_MAX], bool *linked)
{
    char rest[WALK_SIZE], joined[WALK_SIZE], target[PATH_MAX] = "";
    int links = 0;
    if ((size_t)snprintf(rest, sizeof rest, "%s", path) >= sizeof rest)
        return -ENAMETOOLONG;
    follow |= path_ends_with_slash(path);
    if (*path == '/')
        *canonical = 0;
    while (*rest) {
        size_t length = strcspn(rest, "/"), skip = length + strspn(rest + length, "/");
        size_t used = strlen(canonical);
        bool last = !rest[skip];
        int result = path_append(canonical, rest, length);
        if (!result)
            result = look(f, canonical, target);
        if (result < 0)
            return result;
        if (!last && (result == MISSING || result == OTHER))
            return result == MISSING ? -ENOENT : -ENOTDIR;
        memmove(rest, rest + skip, strlen(rest + skip) + 1);
        if (result != LINK || (last && !follow))
            continue;
        if (++links > LINKS_MAX)
            return -ELOOP;
        canonical[*target == '/' ? 0 : used] = 0;
        if ((size_t)snprintf(joined, sizeof joined, "%s%s%s", target, last ? "" : "/", rest) >= sizeof joined)
            return -ENAMETOOLONG;
        memcpy(rest, joined, strlen(joined) + 1);
    }
    *linked = links > 0;
    return 0;
}

// Opens canonical, which lies in g. What path says to be a folder in its tail is found out by the kernel.
static int open_as(struct files *f, struct grant *g, char canonical[PATH_MAX], const char *path, int flags,
                   mode_t mode, uint64_t resolve)
{
    const char *tail = path_tail(path);
    const size_t length = strlen(canonical);
    if (length + strlen(tail) >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(canonical + length, tail, strlen(tail) + 1);
    int fd = open_in_grant(f, g, canonical, flags, mode, resolve);
    canonical[length] = 0;
    return fd;
}

// Whether to open it so would make a file where a folder is for the guest, because a grant lies below.
static bool makes_folder(const struct files *f, const char *canonical, int flags)
{
    return flags & O_CREAT && files_leads_to_grant(f, canonical);
}

// Opens path in the grants. NOT_IN_GRANT with the canonical path if no grant covers it. canonical is as well
// that of what has been opened, unless its grant is plain.
static int open_path(struct files *f, int at, const char *path, int flags, mode_t mode,
                     struct descriptor *out, char canonical[PATH_MAX])
{
    struct descriptor *base = NULL;
    struct grant *g;
    if (!*path)
        return -ENOENT;
    if (*path != '/') {
        int result = base_of(f, at, &base, NULL);
        if (result)
            return result;
        g = base->kind == DESCRIPTOR_DIRECTORY ? &f->grants[base->grant] : NULL;
        if (g && is_plain(f, g) && !path_rises(path)) {
            int fd = open_checked(f, g, base->host, path, flags, mode, 0);
            if (fd != -EXDEV)
                return fd < 0 ? fd : accept_host(f, fd, g, out);
        }
        result = base_of(f, at, &base, canonical);
        if (result)
            return result;
    } else {
        *canonical = 0;
    }
    if (!path_has_dot_dot(path)) {
        size_t used = strlen(canonical);
        int result = path_append_all(canonical, path);
        if (result)
            return result;
        if (!special_covers(canonical)) {
            g = find_grant(f, canonical);
            if (!g || makes_folder(f, canonical, flags))
                return NOT_IN_GRANT;
            const bool plain = is_plain(f, g);
            // A link may lead to another grant within this one, which the kernel does not know.
            const int fd = open_as(f, g, canonical, path, flags, mode, plain ? 0 : RESOLVE_NO_SYMLINKS);
            if (fd >= 0)
                return accept_host(f, fd, g, out);
            if (fd != -EXDEV && (plain || (fd != -ENOENT && fd != -ELOOP && fd != -EROFS)))
                return fd;
        }
        canonical[used] = 0;
    }
    bool linked, follow = !(flags & O_NOFOLLOW) && !(flags & O_CREAT && flags & O_EXCL);
    int result = walk(f, path, follow, canonical, &linked);
    if (result)
        return result;
    g = special_covers(canonical) ? NULL : find_grant(f, canonical);
    if (!g)
        return linked && !special_exists(f, canonical) ? -EACCES : NOT_IN_GRANT;
    if (makes_folder(f, canonical, flags))
        return NOT_IN_GRANT;
    int fd = open_as(f, g, canonical, path, flags, mode, RESOLVE_NO_SYMLINKS);
    if (fd == -ENOENT && files_leads_to_grant(f, canonical))
        return NOT_IN_GRANT;
    return fd == -EXDEV ? -EACCES : fd < 0 ? fd : accept_host(f, fd, g, out);
}

static bool is_same_file(int host, int other)
{
    struct stat s, t;
    return !fstat(host, &s) && !fstat(other, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

bool files_is_program(const struct files *f, int host)
{
    return is_same_file(host, f->program_host);
}

bool files_is_written(const struct files *f, int host)
{
    for (int fd = 0; fd < DESCRIPTOR_MAX; fd++) {
        const struct descriptor *d = &f->table[fd];
        // What memfd_create opens does not count, in Linux either.
        if (d->kind == DESCRIPTOR_FILE && !d->object && fcntl(d->host, F_GETFL) & O_ACCMODE &&
            is_same_file(host, d->host))
            return true;
    }
    return false;
}

// Cuts what has been opened with these flags, as O_TRUNC does.
static int cut(const struct descriptor *d, int flags)
{
    char link[HOST_FD_PATH_SIZE];
    struct stat s;
    if (fstat(d->host, &s))
        return -errno;
    if (!S_ISREG(s.st_mode))
        return S_ISDIR(s.st_mode) ? -EISDIR : 0;
    if (flags & O_ACCMODE)
        return ftruncate(d->host, 0) ? -errno : 0;
    files_host_path(d->host, link);
    return !d->may_change ? -EROFS : truncate(link, 0) ? -errno : 0;
}

int files_open(struct files *f, int at, const char *path, int flags, mode_t mode, struct descriptor *out)
{
    char canonical[PATH_MAX];
    const bool writes = flags & (O_ACCMODE | O_TRUNC) && !(flags & O_PATH);
    // What may turn out to be the program is not cut before that is known.
    int result = open_path(f, at, path, writes ? flags & ~O_TRUNC : flags, mode, out, canonical);
    if (result == NOT_IN_GRANT)
        return special_open(f, canonical, flags | (*path_tail(path) ? O_DIRECTORY : 0), out);
    if (result || !writes)
        return result;
    if (files_is_program(f, out->host))
        result = -ETXTBSY;
    else if (flags & O_TRUNC)
        result = cut(out, flags);
    if (result)
        close(out->host);
    return result;
}

int files_lookup(struct files *f, int at, const char *path, bool follow, struct files_object *object)
{
    char canonical[PATH_MAX];
    struct descriptor d;
    int result = open_path(f, at, path, O_PATH | (follow ? 0 : O_NOFOLLOW), 0, &d, canonical);
    if (result == NOT_IN_GRANT)
        return special_lookup(f, canonical, *path_tail(path), follow, object);
    if (!result)
        *object = (struct files_object){.host = d.host, .may_change = d.may_change};
    return result;
}

// Whether the name in the folder that open_path has opened is that of a grant, or of a folder on the way to
// one: what these names stand for is not the guest's to change.
static bool is_fixed(const struct files *f, const struct descriptor *folder, char canonical[PATH_MAX],
                     const char *name)
{
    if (is_plain(f, &f->grants[folder->grant]))
        return false;
    if (path_append(canonical, name, strlen(name)))
        return false; // longer than the path of any grant
    const struct grant *g = find_grant(f, canonical);
    return files_leads_to_grant(f, canonical) || (g && !canonical[g->length]);
}

int files_parent(struct files *f, int at, const char *path, struct files_place *place)
{
    char folder[PATH_MAX];
    size_t end = strlen(path);
    *place->name = 0;
    if (!end)
        return -ENOENT;
    while (end && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start && path[start - 1] != '/')
        start--;
    size_t length = end - start;
    if (!length || (length <= 2 && !memcmp(path + start, "..", length)))
        return -EBUSY;
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    snprintf(place->name, sizeof place->name, "%.*s", (int)length, path + start);
    snprintf(folder, sizeof folder, "%.*s", (int)start, path);
    struct descriptor d;
    char canonical[PATH_MAX];
    int result = open_path(f, at, start ? folder : ".", O_PATH | O_DIRECTORY, 0, &d, canonical);
    if (result == NOT_IN_GRANT)
        return special_exists(f, canonical) ? -EACCES : -ENOENT;
    if (result)
        return result;
    if (is_fixed(f, &d, canonical, place->name)) {
        close(d.host);
        return -EBUSY;
    }
    if (path_ends_with_slash(path))
        strcat(place->name, "/");
    place->folder = d.host;
    place->writable = d.may_change;
    return 0;
}

int64_t files_readlink(struct files *f, int at, const char *path, char *text, size_t size)
{
    char canonical[PATH_MAX];
    struct descriptor d;
    int result = open_path(f, at, path, O_PATH | O_NOFOLLOW, 0, &d, canonical);
    if (result == NOT_IN_GRANT)
        return special_readlink(f, canonical, text, size);
    if (result)
        return result;
    ssize_t n = readlinkat(d.host, "", text, size);
    int64_t length = n < 0 ? errno == ENOENT ? -EINVAL : -errno : n; // ENOENT: it is no link
    close(d.host);
    return length;
}

// ---- creation ----

static int open_grant(struct grant *g, const struct machine_grant *source)
{
    char canonical[PATH_MAX] = "";
    g->host = -1;
    if (*source->guest != '/' || path_append_all(canonical, source->guest) || !(g->path = strdup(canonical)))
        return -EINVAL;
    g->length = strlen(g->path);
    g->writable = source->writable;
    if (source->host)
        return open_host(g, source->host);
    g->is_folder = true;
    g->make = source->make;
    g->maker = source->maker;
    return 0;
}

// Guest descriptors 0 to 2. Where the host's is closed, or was until the program itself has opened it (what
// comes through execve is not closed by it), so is the guest's.
static void open_standard(struct files *f, const struct machine_config *config)
{
    for (int fd = 0; fd <= 2; fd++) {
        bool replaced = fd == 0 ? !config->host_stdin : config->output != NULL;
        struct descriptor d = {.kind = DESCRIPTOR_FILE};
        if (replaced) {
            d.host = open("/dev/null", O_RDWR | O_CLOEXEC);
            d.kind = fd ? DESCRIPTOR_OUTPUT : DESCRIPTOR_FILE;
            d.output = (uint32_t)fd;
        } else {
            const int flags = fcntl(fd, F_GETFD);
            d.host = flags < 0 || flags & FD_CLOEXEC ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
        d.never_waits = descriptor_never_waits(d.host);
        if (d.host >= 0)
            f->table[fd] = d;
    }
}

struct files *files_create(struct guest *g, struct error *error)
{
    const struct machine_config *config = &g->config;
    struct files *f = calloc(1, sizeof *f);
    if (!f || !(f->grants = calloc(config->grant_count + 1, sizeof *f->grants))) {
        error_set(error, "out of memory");
        free(f);
        return NULL;
    }
    f->guest = g;
    f->device = config->device;
    f->descriptor_limit = (int)g->process->limits[RLIMIT_NOFILE].current;
    f->cwd.host = f->program_host = -1;
    for (int fd = 0; fd < DESCRIPTOR_MAX; fd++)
        f->table[fd].host = -1;
    for (size_t i = 0; i < config->grant_count; i++) {
        int result = open_grant(&f->grants[i], &config->grants[i]);
        f->grant_count++;
        if (result) {
            error_set(error, "%s cannot be granted to the program: %s", config->grants[i].host,
                      strerror(-result));
            files_destroy(f);
            return NULL;
        }
    }
    int result = files_chdir(f, config->cwd ? config->cwd : "/");
    if (result) {
        error_set(error, "%s cannot be the program's current folder: %s", config->cwd, strerror(-result));
        files_destroy(f);
        return NULL;
    }
    open_standard(f, config);
    return f;
}

void files_destroy(struct files *f)
{
    if (!f)
        return;
    for (int fd = 0; fd < DESCRIPTOR_MAX; fd++)
        descriptor_close(f, (uint64_t)fd);
    for (size_t i = 0; i < f->grant_count; i++) {
        if (f->grants[i].host >= 0)
            close(f->grants[i].host);
        free(f->grants[i].path);
    }
    if (f->cwd.host >= 0)
        close(f->cwd.host);
    free(f->cwd.path);
    if (f->program_host >= 0)
        close(f->program_host);
    free(f->program);
    free(f->grants);
    free(f);
}
