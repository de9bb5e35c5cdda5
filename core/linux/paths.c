// SPDX-License-Identifier: MIT
// System calls that name files by paths. files.c says what a path reaches; the host's kernel then works on
// the descriptor that it gives.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "paths.h"
#include "special_files.h"

// open flags that have the same value on both sides
#define SAME_FLAGS                                                                                           \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC |          \
     O_NOATIME | O_CLOEXEC | O_PATH)
#define HOST_O_LARGEFILE 0100000 // as the x86-64 kernel has it; 0 in its libc
#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)

int paths_host_flags(uint64_t flags)
{
    return (int)(flags & (SAME_FLAGS | TMPFILE_BIT)) | (flags & GUEST_O_DIRECTORY ? O_DIRECTORY : 0) |
           (flags & GUEST_O_NOFOLLOW ? O_NOFOLLOW : 0) | (flags & GUEST_O_DIRECT ? O_DIRECT : 0);
}

uint64_t paths_guest_flags(int flags)
{
    return ((uint64_t)flags & (SAME_FLAGS | TMPFILE_BIT) & ~(uint64_t)O_CLOEXEC) |
           (flags & HOST_O_LARGEFILE ? GUEST_O_LARGEFILE : 0) |
           (flags & O_DIRECTORY ? GUEST_O_DIRECTORY : 0) | (flags & O_NOFOLLOW ? GUEST_O_NOFOLLOW : 0) |
           (flags & O_DIRECT ? GUEST_O_DIRECT : 0);
}

static int64_t host_result(int result)
{
    return result < 0 ? -errno : result;
}

static int path_at(struct linux_process *p, uint64_t address, char path[PATH_MAX])
{
    return copy_string(p, address, path, PATH_MAX);
}

int64_t sys_openat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    struct descriptor d;
    int flags = paths_host_flags(a[2]);
    int result = path_at(p, a[1], path);
    if (result)
        return result;
    if (flags & O_PATH)
        flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if ((flags & O_TMPFILE) == O_TMPFILE && !(flags & O_ACCMODE))
        return -EINVAL;
    if (descriptor_lowest_free(p->files, 0) < 0) // an open that fails creates and cuts no file
        return -EMFILE;
    result = files_open(p->files, (int)a[0], path, flags, (mode_t)a[3] & 07777 & ~p->umask, &d);
    if (result == -EINTR)
        return RESTART;
    if (result)
        return result;
    d.close_on_exec = flags & O_CLOEXEC;
    return descriptor_add(p->files, &d, 0);
}

// ---- status ----

// struct stat of asm-generic/stat.h, which aarch64 uses
struct guest_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad1;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks;
    int64_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    uint32_t unused[2];
};
_Static_assert(sizeof(struct guest_stat) == 128, "struct stat");

static int64_t write_stat(struct linux_process *p, uint64_t address, const struct stat *s)
{
    const struct guest_stat g = {.dev = s->st_dev,
                                 .ino = s->st_ino,
                                 .mode = s->st_mode,
                                 .nlink = (uint32_t)s->st_nlink,
                                 .uid = s->st_uid,
                                 .gid = s->st_gid,
                                 .rdev = s->st_rdev,
                                 .size = s->st_size,
                                 .blksize = (int32_t)s->st_blksize,
                                 .blocks = s->st_blocks,
                                 .atime = s->st_atim.tv_sec,
                                 .atime_nsec = s->st_atim.tv_nsec,
                                 .mtime = s->st_mtim.tv_sec,
                                 .mtime_nsec = s->st_mtim.tv_nsec,
                                 .ctime = s->st_ctim.tv_sec,
                                 .ctime_nsec = s->st_ctim.tv_nsec};
    return copy_out(p, address, &g, sizeof g) ? 0 : -EFAULT;
}

// The object that a call with AT_EMPTY_PATH and AT_SYMLINK_NOFOLLOW means, and maybe more flags that it
// knows; the caller's to end.
static int find_object(struct linux_process *p, uint64_t at, uint64_t address, uint64_t flags, uint32_t more,
                       struct files_object *object)
{
    char path[PATH_MAX];
    int result = 0;
    *path = 0;
    if ((uint32_t)flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | more))
        return -EINVAL;
    if (address || !(flags & AT_EMPTY_PATH))
        result = path_at(p, address, path);
    if (result)
        return result;
    if (*path || !(flags & AT_EMPTY_PATH))
        return files_lookup(p->files, (int)at, path, !(flags & AT_SYMLINK_NOFOLLOW), object);
    const struct descriptor *d = (int)at == GUEST_AT_FDCWD ? &p->files->cwd : descriptor_get(p->files, at);
    if (!d)
        return -EBADF;
    descriptor_object(d, object);
    return 0;
}

// What a folder or a link shows that exists only for the guest.
static void show_virtual(const struct files_object *object, struct stat *s)
{
    if (!object->is_virtual)
        return;
    s->st_mode = object->is_link ? S_IFLNK | 0777 : S_IFDIR | 0555;
    s->st_ino = object->virtual_inode;
    s->st_size = 0;
    s->st_nlink = 1; // "unknown": programs that search trees do not count on it then
}

int64_t sys_newfstatat(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    struct stat s;
    int result = find_object(p, a[0], a[1], a[3], AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE, &object);
    if (result)
        return result;
    result = fstat(object.host, &s) ? -errno : 0;
    files_object_end(&object);
    show_virtual(&object, &s);
    return result ? result : write_stat(p, a[2], &s);
}

int64_t sys_fstat(struct linux_process *p, const uint64_t *a)
{
    const uint64_t arguments[] = {a[0], 0, a[1], AT_EMPTY_PATH};
    return descriptor_get(p->files, a[0]) ? sys_newfstatat(p, arguments) : -EBADF;
}

int64_t sys_statx(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    struct statx s;
    _Static_assert(sizeof s == 256, "struct statx is the same everywhere");
    int result = find_object(p, a[0], a[1], a[2], AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE, &object);
    if (result)
        return result;
    result = statx(object.host, "", AT_EMPTY_PATH | (int)(a[2] & AT_STATX_SYNC_TYPE), (unsigned)a[3], &s)
                 ? -errno
                 : 0;
    files_object_end(&object);
    if (object.is_virtual) {
        struct stat shown;
        show_virtual(&object, &shown);
        s.stx_mode = (uint16_t)shown.st_mode;
        s.stx_ino = shown.st_ino;
        s.stx_size = (uint64_t)shown.st_size;
        s.stx_nlink = (uint32_t)shown.st_nlink;
    }
    return result ? result : copy_out(p, a[4], &s, sizeof s) ? 0 : -EFAULT;
}

static int64_t file_system(struct linux_process *p, int host, uint64_t address)
{
    struct statfs s;
    _Static_assert(sizeof s == 120, "struct statfs is the same in every 64-bit ABI");
    if (fstatfs(host, &s))
        return -errno;
    return copy_out(p, address, &s, sizeof s) ? 0 : -EFAULT;
}

int64_t sys_statfs(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    int64_t result = find_object(p, (uint64_t)GUEST_AT_FDCWD, a[0], 0, 0, &object);
    if (result)
        return result;
    result = file_system(p, object.host, a[1]);
    files_object_end(&object);
    return result;
}

int64_t sys_fstatfs(struct linux_process *p, const uint64_t *a)
{
    const struct descriptor *d = descriptor_get(p->files, a[0]);
    return d ? file_system(p, d->host, a[1]) : -EBADF;
}

static int64_t access_path(struct linux_process *p, uint64_t at, uint64_t address, uint64_t mode,
                           uint64_t flags)
{
    struct files_object object;
    if (mode & ~7ull)
        return -EINVAL;
    int64_t result = find_object(p, at, address, flags, AT_EACCESS, &object);
    if (result)
        return result;
    if (object.is_virtual)
        result = mode & W_OK ? -EROFS : 0;
    else
        result = host_result(
            (int)syscall(SYS_faccessat2, object.host, "", mode, AT_EMPTY_PATH | (int)(flags & AT_EACCESS)));
    struct stat s;
    const bool writable = object.may_change || (object.lent && fcntl(object.host, F_GETFL) & O_ACCMODE);
    if (!result && mode & W_OK && !writable && !fstat(object.host, &s) &&
        (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode)))
        result = -EROFS;
    files_object_end(&object);
    return result;
}

int64_t sys_faccessat(struct linux_process *p, const uint64_t *a)
{
    return access_path(p, a[0], a[1], a[2], 0);
}

int64_t sys_faccessat2(struct linux_process *p, const uint64_t *a)
{
    return access_path(p, a[0], a[1], a[2], a[3]);
}

int64_t sys_readlinkat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX], text[PATH_MAX];
    int result = path_at(p, a[1], path);
    uint64_t size = a[3] < sizeof text ? a[3] : sizeof text;
    if (result)
        return result;
    if ((int64_t)a[3] <= 0)
        return -EINVAL;
    int64_t length;
    const struct descriptor *d = *path ? NULL : descriptor_get(p->files, a[0]);
    if (!*path && !d) {
        length = (int)a[0] == GUEST_AT_FDCWD ? -ENOENT : -EBADF;
    } else if (d) {
        length = readlinkat(d->host, "", text, size);
        length = length < 0 ? -errno : length;
    } else {
        length = files_readlink(p->files, (int)a[0], path, text, size);
    }
    return length >= 0 && !copy_out(p, a[2], text, (uint64_t)length) ? -EFAULT : length;
}

// ---- the current folder ----

int64_t sys_getcwd(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    int result = files_folder_path(p->files, &p->files->cwd, path, sizeof path);
    if (result)
        return result;
    size_t length = strlen(path) + 1;
    if (length > a[1])
        return -ERANGE;
    return copy_out(p, a[0], path, length) ? (int64_t)length : -EFAULT;
}

int64_t sys_chdir(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    int result = path_at(p, a[0], path);
    return result ? result : files_chdir(p->files, path);
}

int64_t sys_fchdir(struct linux_process *p, const uint64_t *a)
{
    return files_fchdir(p->files, (int)a[0]);
}

int64_t sys_umask(struct linux_process *p, const uint64_t *a)
{
    mode_t old = p->umask;
    p->umask = (mode_t)a[0] & 0777;
    if (p->owns_host)
        umask(p->umask);
    return old;
}

// ---- changing folders ----

// Finds where path is to be created; an existing object is reported as such, whatever the reason for refusal.
static int64_t find_place(struct linux_process *p, uint64_t at, const char *path, bool creates,
                          struct files_place *place)
{
    int result = files_parent(p->files, (int)at, path, place);
    struct files_object object;
    if (!result && !place->writable) {
        close(place->folder);
        result = -EROFS;
    }
    const bool nameless = result == -EBUSY && !*place->name; // "." or "..", of what is there or not
    if (nameless || (result && creates && (result == -EROFS || result == -EACCES || result == -EBUSY))) {
        const int missing = files_lookup(p->files, (int)at, path, false, &object);
        if (!missing)
            files_object_end(&object);
        if (missing ? nameless : creates)
            result = missing ? missing : -EEXIST;
    }
    return result;
}

int64_t sys_mkdirat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    struct files_place place;
    int64_t result = path_at(p, a[1], path);
    if (!result)
        result = find_place(p, a[0], path, true, &place);
    if (result)
        return result;
    result = host_result(mkdirat(place.folder, place.name, a[2] & 01777 & ~p->umask));
    close(place.folder);
    return result;
}

int64_t sys_mknodat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    struct files_place place;
    mode_t type = a[2] & S_IFMT;
    int64_t result = path_at(p, a[1], path);
    if (result)
        return result;
    if (type != 0 && type != S_IFREG && (type != S_IFIFO || !p->owns_host))
        return -EPERM;
    result = find_place(p, a[0], path, true, &place);
    if (result)
        return result;
    result = host_result(mknodat(place.folder, place.name, type | (a[2] & 01777 & ~p->umask), 0));
    close(place.folder);
    return result;
}

int64_t sys_unlinkat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX];
    struct files_place place = {.folder = -1};
    int64_t result = path_at(p, a[1], path);
    bool folder = a[2] & AT_REMOVEDIR;
    if (!result && a[2] & ~(uint64_t)AT_REMOVEDIR)
        return -EINVAL;
    if (!result)
        result = find_place(p, a[0], path, false, &place);
    if (result == -EBUSY && !*place.name) { // the last component is "." or "..", or there is none
        size_t length = strlen(path);
        while (length && path[length - 1] == '/')
            length--;
        if (!folder)
            return -EISDIR;
        return !length ? -EBUSY : length >= 2 && path[length - 2] == '.' ? -ENOTEMPTY : -EINVAL;
    }
    if (result)
        return result;
    result = host_result(unlinkat(place.folder, place.name, folder ? AT_REMOVEDIR : 0));
    close(place.folder);
    return result;
}

int64_t sys_symlinkat(struct linux_process *p, const uint64_t *a)
{
    char target[PATH_MAX], path[PATH_MAX];
    struct files_place place;
    int64_t result = path_at(p, a[0], target);
    if (!result)
        result = path_at(p, a[2], path);
    if (!result)
        result = find_place(p, a[1], path, true, &place);
    if (result)
        return result;
    result = host_result(symlinkat(target, place.folder, place.name));
    close(place.folder);
    return result;
}

static int64_t rename_path(struct linux_process *p, const uint64_t *a, unsigned flags)
{
    char from_path[PATH_MAX], to_path[PATH_MAX];
    struct files_place from, to;
    int64_t result = path_at(p, a[1], from_path);
    if (!result)
        result = path_at(p, a[3], to_path);
    if (!result)
        result = find_place(p, a[0], from_path, false, &from);
    if (result)
        return result;
    result = find_place(p, a[2], to_path, false, &to);
    if (!result) {
        result = host_result((int)syscall(SYS_renameat2, from.folder, from.name, to.folder, to.name, flags));
        close(to.folder);
    }
    close(from.folder);
    return result;
}

int64_t sys_renameat(struct linux_process *p, const uint64_t *a)
{
    return rename_path(p, a, 0);
}

int64_t sys_renameat2(struct linux_process *p, const uint64_t *a)
{
    return a[4] & ~3ull ? -EINVAL : rename_path(p, a, (unsigned)a[4]); // RENAME_NOREPLACE, RENAME_EXCHANGE
}

// A link gives its folder's rights to the file: both have to be writable.
int64_t sys_linkat(struct linux_process *p, const uint64_t *a)
{
    char path[PATH_MAX], link[HOST_FD_PATH_SIZE];
    struct files_object object;
    struct files_place place;
    if (a[4] & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    uint64_t flags = (a[4] & AT_EMPTY_PATH) | (a[4] & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW);
    int64_t result = find_object(p, a[0], a[1], flags, 0, &object);
    if (result)
        return result;
    result = path_at(p, a[3], path);
    if (!result)
        result = object.may_change ? find_place(p, a[2], path, true, &place) : -EXDEV;
    if (!result) {
        files_host_path(object.host, link);
        result = host_result(linkat(AT_FDCWD, link, place.folder, place.name, AT_SYMLINK_FOLLOW));
        close(place.folder);
    }
    files_object_end(&object);
    return result;
}

// ---- changing files ----

static int64_t change_object(struct linux_process *p, uint64_t at, uint64_t address, uint64_t flags,
                             struct files_object *object)
{
    int64_t result = find_object(p, at, address, flags, 0, object);
    if (!result && !object->may_change) {
        files_object_end(object);
        result = -EROFS;
    }
    return result;
}

int64_t sys_truncate(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    char link[HOST_FD_PATH_SIZE];
    int64_t result = change_object(p, (uint64_t)GUEST_AT_FDCWD, a[0], 0, &object);
    if (result)
        return result;
    files_host_path(object.host, link);
    result = shared_memory_hold(p, object.object);
    if (!result) {
        if (files_is_program(p->files, object.host))
            result = -ETXTBSY;
        else
            result = transfer_check_size(p, object.host, object.object, a[1]);
        if (!result)
            result = host_result(truncate(link, (off_t)a[1]));
        shared_memory_release(p, object.object);
    }
    files_object_end(&object);
    return result;
}

static int64_t change_mode(struct linux_process *p, const uint64_t *a, uint64_t flags)
{
    struct files_object object;
    char link[HOST_FD_PATH_SIZE];
    struct stat s;
    int64_t result = change_object(p, a[0], a[1], flags, &object);
    if (result)
        return result;
    files_host_path(object.host, link);
    if (a[2] & (S_ISUID | S_ISGID))
        result = -EPERM;
    else if (!fstat(object.host, &s) && S_ISLNK(s.st_mode))
        result = -EOPNOTSUPP;
    else
        result = host_result(chmod(link, a[2] & 01777));
    files_object_end(&object);
    return result;
}

int64_t sys_fchmodat(struct linux_process *p, const uint64_t *a)
{
    return change_mode(p, a, 0);
}

int64_t sys_fchmodat2(struct linux_process *p, const uint64_t *a)
{
    return change_mode(p, a, a[3]);
}

int64_t sys_fchownat(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    int64_t result = change_object(p, a[0], a[1], a[4], &object);
    if (result)
        return result;
    result = host_result(fchownat(object.host, "", (uid_t)a[2], (gid_t)a[3], AT_EMPTY_PATH));
    files_object_end(&object);
    return result;
}

int64_t sys_utimensat(struct linux_process *p, const uint64_t *a)
{
    struct files_object object;
    struct timespec times[2];
    if (a[2] && !copy_in(p, a[2], times, sizeof times))
        return -EFAULT;
    if (!a[1] && (uint32_t)a[3])
        return -EINVAL;
    if (a[2] && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
        return 0;
    const struct descriptor *d = a[1] ? NULL : descriptor_get(p->files, a[0]);
    if (d && fcntl(d->host, F_GETFL) & O_PATH)
        return -EBADF;
    int64_t result = change_object(p, a[0], a[1], a[1] ? a[3] : AT_EMPTY_PATH, &object);
    if (result)
        return result;
    result = host_result((int)syscall(SYS_utimensat, object.host, "", a[2] ? times : NULL, AT_EMPTY_PATH));
    files_object_end(&object);
    return result;
}

// ---- extended attributes: no file has any ----

static int64_t no_attributes(struct linux_process *p, const uint64_t *a)
{
    (void)p, (void)a;
    return -EOPNOTSUPP;
}

#define NO_ATTRIBUTES(name)                                                                                  \
    int64_t sys_##name(struct linux_process *p, const uint64_t *a)                                           \
    {                                                                                                        \
        return no_attributes(p, a);                                                                          \
    }
NO_ATTRIBUTES(setxattr)
NO_ATTRIBUTES(lsetxattr)
NO_ATTRIBUTES(fsetxattr)
NO_ATTRIBUTES(getxattr)
NO_ATTRIBUTES(lgetxattr)
NO_ATTRIBUTES(fgetxattr)
NO_ATTRIBUTES(listxattr)
NO_ATTRIBUTES(llistxattr)
NO_ATTRIBUTES(flistxattr)
NO_ATTRIBUTES(removexattr)
NO_ATTRIBUTES(lremovexattr)
NO_ATTRIBUTES(fremovexattr)
