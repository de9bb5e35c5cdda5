// SPDX-License-Identifier: MIT
#include "special_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/devices/devices.h"
#include "guest/device_page.h"
#include "proc_texts.h"
#include "process.h"
#include "shared_memory.h"

enum { UNCOUNTED = 16384 };

static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && path[length] == '/';
}

bool special_below(const char *folder)
{
    return !*folder || !strcmp(folder, "/dev") || !strcmp(folder, "/proc") || is_below(folder, "/dev") ||
           is_below(folder, "/proc");
}

// What the link of /dev at path leads to; NULL if there is none.
static const char *device_link(const char *path)
{
    static const char *const links[][2] = {{"/dev/fd", "/proc/self/fd"},
                                           {"/dev/stdin", "/proc/self/fd/0"},
                                           {"/dev/stdout", "/proc/self/fd/1"},
                                           {"/dev/stderr", "/proc/self/fd/2"}};
    for (size_t i = 0; i < COUNT(links); i++)
        if (!strcmp(path, links[i][0]))
            return links[i][1];
    return NULL;
}

// The path with /proc/<own pid> and /proc/thread-self written as /proc/self, and /dev/fd, /dev/stdin, …
// as what they are links to.
static void normalize(struct files *f, const char *path, char normal[PATH_MAX])
{
    const char *link = device_link(path);
    char own[32];
    size_t length = (size_t)snprintf(own, sizeof own, "/proc/%d", process_pid(f->guest));
    snprintf(normal, PATH_MAX, "%s", link ? link : path);
    if (is_below(path, "/dev/fd"))
        snprintf(normal, PATH_MAX, "/proc/self/fd%s", path + 7);
    else if (!strcmp(path, own) || is_below(path, own))
        snprintf(normal, PATH_MAX, "/proc/self%s", path + length);
    else if (!strcmp(path, "/proc/thread-self") || is_below(path, "/proc/thread-self"))
        snprintf(normal, PATH_MAX, "/proc/self%s", path + 17);
}

// Whether the path is that of the terminal that the guest has got as its standard input, output or error.
static bool is_own_terminal(struct files *f, const char *path)
{
    char link[HOST_FD_PATH_SIZE], name[PATH_MAX];
    if (!f || !f->guest->config.host_stdin || (!is_below(path, "/dev/pts") && strncmp(path, "/dev/tty", 8)))
        return false;
    for (int fd = 0; fd <= 2; fd++) {
        files_host_path(fd, link);
        ssize_t length = readlink(link, name, sizeof name - 1);
        name[length < 0 ? 0 : length] = 0;
        if (!strcmp(name, path) && isatty(fd))
            return true;
    }
    return false;
}

// Whether the path names a device that is offered (f NULL: that may be).
static bool find_device(struct files *f, const char *path, bool *is_page)
{
    *is_page = f && f->device && !strcmp(path, DEVICE_PATH);
    if (*is_page)
        return true;
    if (is_own_terminal(f, path))
        return true;
    for (size_t i = 0; i < COUNT(devices); i++) {
        if (strncmp(path, "/dev/", 5) || strcmp(path + 5, devices[i]))
            continue;
        if (!f)
            return true;
        bool random = strstr(devices[i], "random"), terminal = !strcmp(devices[i], "tty");
        if (random && f->guest->config.deterministic)
            return false; // getrandom is the repeatable source
        return !terminal || (f->guest->config.host_stdin && isatty(0));
    }
    return false;
}

bool special_covers(const char *path)
{
    bool page;
    return !strcmp(path, "/proc") || is_below(path, "/proc") || !strcmp(path, "/dev/fd") ||
           is_below(path, "/dev/fd") || !strncmp(path, "/dev/std", 8) || !strcmp(path, DEVICE_PATH) ||
           find_device(NULL, path, &page);
}

bool special_device_allowed(dev_t device)
{
    // null, zero, full, random, urandom, kmsg is 11 and not among them; /dev/tty
    unsigned n = minor(device);
    return (major(device) == 1 && (n == 3 || n == 5 || (n >= 7 && n <= 9))) || (major(device) == 5 && n == 0);
}

// Whether the file system shows the host's kernel, and mostly has it do something.
static bool is_of_kernel(int host)
{
    static const uint32_t magic[] = {
        PROC_SUPER_MAGIC,
        SYSFS_MAGIC,
        DEBUGFS_MAGIC,
        TRACEFS_MAGIC,
        CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC,
        SECURITYFS_MAGIC,
        SELINUX_MAGIC,
        SMACK_MAGIC,
        BPF_FS_MAGIC,
        EFIVARFS_MAGIC,
        PSTOREFS_MAGIC,
        BINDERFS_SUPER_MAGIC,
        RDTGROUP_SUPER_MAGIC,
        0x62656570 /* configfs */,
        0x65735543 /* fusectl */,
    };
    struct statfs fs;
    if (fstatfs(host, &fs))
        return false;
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if ((uint32_t)fs.f_type == magic[i])
            return true;
    return false;
}

int special_check_granted(int host, const struct stat *s, dev_t grant)
{
    const bool device = S_ISBLK(s->st_mode) || (S_ISCHR(s->st_mode) && !special_device_allowed(s->st_rdev));
    return device || (s->st_dev != grant && is_of_kernel(host)) ? -EACCES : 0;
}

static const struct proc_text *find_text(const char *path)
{
    for (size_t i = 0; i < proc_text_count; i++)
        if (!strcmp(path, proc_texts[i].path))
            return &proc_texts[i];
    return NULL;
}

// The descriptor that /proc/self/fd/N or /proc/self/cwd names, or NULL.
static struct descriptor *find_descriptor(struct files *f, const char *path)
{
    if (!strcmp(path, "/proc/self/cwd"))
        return &f->cwd;
    if (!is_below(path, "/proc/self/fd"))
        return NULL;
    char *end;
    unsigned long fd = strtoul(path + 14, &end, 10);
    return *end || end == path + 14 || fd >= DESCRIPTOR_MAX ? NULL : descriptor_get(f, fd);
}

bool special_folder_link(struct files *f, const char *path, char target[PATH_MAX])
{
    char normal[PATH_MAX];
    normalize(f, path, normal);
    if (!strcmp(normal, "/proc/self/root"))
        return strcpy(target, "/");
    const struct descriptor *d = find_descriptor(f, normal);
    return d && descriptor_is_folder(d) && !files_folder_path(f, d, target, PATH_MAX);
}

static bool is_folder(struct files *f, const char *path)
{
    if (!*path || !strcmp(path, "/dev") || !strcmp(path, "/proc") || !strcmp(path, "/proc/self") ||
        !strcmp(path, "/proc/self/fd") || !strcmp(path, "/proc/self/root"))
        return true;
    return files_leads_to_grant(f, path);
}

bool special_exists(struct files *f, const char *path)
{
    char normal[PATH_MAX];
    bool page;
    normalize(f, path, normal);
    return is_folder(f, normal) || find_device(f, normal, &page) || find_text(normal) ||
           find_descriptor(f, normal) || !strcmp(normal, "/proc/self/exe");
}

// ---- folders ----

uint64_t special_virtual_inode(const char *path)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a: any number that differs from folder to folder
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * 1099511628211u;
    return hash | 1;
}

// Writes one record of getdents64 to the file; its offset is that of the next.
static void add_entry(FILE *out, const char *folder, const char *name, size_t length, uint8_t type)
{
    char record[sizeof(struct dirent64) + 8] = "", path[PATH_MAX + NAME_MAX];
    size_t size = (offsetof(struct dirent64, d_name) + length + 1 + 7) & ~(size_t)7;
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)length, name);
    struct dirent64 *entry = (struct dirent64 *)record;
    entry->d_ino = special_virtual_inode(path);
    entry->d_off = ftell(out) + (long)size;
    entry->d_reclen = (uint16_t)size;
    entry->d_type = type;
    memcpy(entry->d_name, name, length);
    fwrite(record, size, 1, out);
}

// The next component of path below folder, which it must be below.
static const char *next_component(const char *path, const char *folder, size_t *length)
{
    const char *name = path + strlen(folder) + 1;
    *length = strcspn(name, "/");
    return name;
}

static void write_folder(struct files *f, const char *folder, FILE *out)
{
    add_entry(out, folder, ".", 1, DT_DIR);
    add_entry(out, folder, "..", 2, DT_DIR);
    size_t length, other;
    for (size_t i = 0; i < f->grant_count; i++) {
        if (!is_below(f->grants[i].path, folder))
            continue;
        const char *name = next_component(f->grants[i].path, folder, &length);
        bool repeated = false;
        for (size_t j = 0; j < i && !repeated; j++)
            if (is_below(f->grants[j].path, folder)) {
                const char *earlier = next_component(f->grants[j].path, folder, &other);
                repeated = other == length && !memcmp(earlier, name, length);
            }
        if (!repeated)
            add_entry(out, folder, name, length, name[length] || f->grants[i].is_folder ? DT_DIR : DT_REG);
    }
    if (!*folder) {
        add_entry(out, folder, "dev", 3, DT_DIR);
        add_entry(out, folder, "proc", 4, DT_DIR);
    } else if (!strcmp(folder, "/dev")) {
        for (size_t i = 0; i < COUNT(devices); i++)
            add_entry(out, folder, devices[i], strlen(devices[i]), DT_CHR);
    } else if (!strcmp(folder, "/proc")) {
        char own[16];
        const int n = snprintf(own, sizeof own, "%d", process_pid(f->guest));
        add_entry(out, folder, "self", 4, DT_LNK);
        add_entry(out, folder, own, (size_t)n, DT_DIR);
    } else if (!strcmp(folder, "/proc/self")) {
        add_entry(out, folder, "cwd", 3, DT_LNK);
        add_entry(out, folder, "exe", 3, DT_LNK);
        add_entry(out, folder, "root", 4, DT_LNK);
        add_entry(out, folder, "fd", 2, DT_DIR);
    } else if (!strcmp(folder, "/proc/self/fd")) {
        const int own = descriptor_lowest_free(f, 0); // what this folder is being opened as
        for (int fd = 0; fd < DESCRIPTOR_MAX; fd++)
            if (f->table[fd].kind != DESCRIPTOR_FREE || fd == own) {
                char name[16];
                int n = snprintf(name, sizeof name, "%d", fd);
                add_entry(out, folder, name, (size_t)n, DT_LNK);
            }
    }
    for (size_t i = 0; i < proc_text_count; i++)
        if (is_below(proc_texts[i].path, folder)) {
            const char *name = next_component(proc_texts[i].path, folder, &length);
            if (!name[length])
                add_entry(out, folder, name, length, DT_REG);
        }
}

// ---- opening ----

// Opens text that is made now, for reading. It is memory of the host's: what is longer than UNCOUNTED, such
// as the maps of who has many, counts as the guest's.
static int open_made(struct files *f, const char *folder, const struct proc_text *text,
                     struct descriptor *opened)
{
    char path[HOST_FD_PATH_SIZE];
    int writer = memfd_create("guest", MFD_CLOEXEC), result = -ENOMEM;
    FILE *out = writer < 0 ? NULL : fdopen(writer, "w");
    struct stat s;
    if (!out) {
        close(writer);
        return result;
    }
    if (text)
        text->write(f->guest->process, out);
    else
        write_folder(f, folder, out);
    if (!fflush(out) && !fchmod(writer, 0444) && !fstat(writer, &s)) {
        opened->object =
            s.st_size > UNCOUNTED ? shared_memory_add(f->guest->process, writer, (uint64_t)s.st_size) : 0;
        files_host_path(writer, path);
        opened->host = opened->object < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        result = opened->object < 0 ? opened->object : opened->host < 0 ? -errno : 0;
    }
    fclose(out);
    return result;
}

// /proc/self/fd/N: opens again what descriptor N has open, never with more rights than N has, or with O_PATH
// than its grant gives.
static int reopen(struct files *f, const struct descriptor *d, int flags, struct descriptor *out)
{
    char path[HOST_FD_PATH_SIZE];
    int access = flags & O_ACCMODE, has = fcntl(d->host, F_GETFL);
    const bool only_named = has & O_PATH;
    if (flags & O_DIRECTORY && !descriptor_is_folder(d))
        return -ENOTDIR;
    if (d->kind == DESCRIPTOR_FILE) {
        has = only_named ? d->may_change ? O_RDWR : O_RDONLY : has & O_ACCMODE;
        if ((has != O_RDWR && has != access) || (flags & O_TRUNC && has == O_RDONLY))
            return -EACCES;
        if (flags & (O_ACCMODE | O_TRUNC) && !(flags & O_PATH) && files_is_program(f, d->host))
            return -ETXTBSY;
    } else if (d->kind == DESCRIPTOR_DIRECTORY && access != O_RDONLY) {
        return -EISDIR;
    }
    *out = *d;
    out->path = d->path ? strdup(d->path) : NULL;
    out->host = -1;
    if (d->kind == DESCRIPTOR_FILE || d->kind == DESCRIPTOR_DIRECTORY) {
        files_host_path(d->host, path);
        out->host =
            blocking_open(f->guest->process, AT_FDCWD, path, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0, 0);
    }
    const bool interrupted = out->host == -EINTR || out->host == RESTART_ALWAYS;
    if (out->host < 0 && !only_named && !interrupted) { // another user's terminal or pipe, a socket
        out->host = fcntl(d->host, F_DUPFD_CLOEXEC, 3);
        out->host = out->host < 0 ? -errno : out->host;
    }
    if (out->host < 0)
        free(out->path);
    return out->host < 0 ? out->host : 0;
}

static int open_device(struct files *f, const char *path, bool page, int flags, struct descriptor *out)
{
    *out = (struct descriptor){.kind = page ? DESCRIPTOR_DEVICE : DESCRIPTOR_FILE};
    if (page)
        out->host = fcntl(devices_fd(f->guest->devices), F_DUPFD_CLOEXEC, 3);
    else
        out->host = open(path, (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC | O_NOCTTY);
    if (out->host < 0)
        return -errno;
    out->never_waits = descriptor_never_waits(out->host);
    return 0;
}

// Nothing can be made outside of the grants: what that gives, in a folder that there is and in one that there
// is not.
static int refuse_new(struct files *f, const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return is_folder(f, folder) ? -EACCES : -ENOENT;
}

int special_open(struct files *f, const char *path, int flags, struct descriptor *out)
{
    char normal[PATH_MAX];
    bool page;
    normalize(f, path, normal);
    const struct descriptor *d = find_descriptor(f, normal);
    if (d)
        return reopen(f, d, flags, out);
    if (is_folder(f, normal)) {
        if (flags & (O_ACCMODE | O_CREAT | O_TRUNC))
            return -EISDIR;
        *out = (struct descriptor){.kind = DESCRIPTOR_VIRTUAL, .path = strdup(normal)};
        const int result = open_made(f, normal, NULL, out);
        if (result)
            free(out->path);
        return result;
    }
    const struct proc_text *text = find_text(normal);
    bool exe = !strcmp(normal, "/proc/self/exe");
    const bool device = find_device(f, normal, &page);
    if (!device && !text && !exe)
        return flags & O_CREAT ? refuse_new(f, normal) : -ENOENT;
    if (flags & O_DIRECTORY)
        return -ENOTDIR;
    if (device)
        return open_device(f, normal, page, flags, out);
    if (flags & (O_ACCMODE | O_TRUNC))
        return -EACCES;
    *out = (struct descriptor){.kind = DESCRIPTOR_FILE, .never_waits = true};
    if (exe) {
        char host[HOST_FD_PATH_SIZE];
        files_host_path(f->program_host, host);
        out->host = open(host, O_RDONLY | O_CLOEXEC);
        return out->host < 0 ? -errno : 0;
    }
    return open_made(f, NULL, text, out);
}

static int look_up(struct files *f, const char *path, struct files_object *object)
{
    char normal[PATH_MAX];
    bool page;
    *object = (struct files_object){0};
    normalize(f, path, normal);
    const struct descriptor *d = find_descriptor(f, normal);
    if (!d && find_device(f, normal, &page) && !page) {
        object->host = open(normal, O_PATH | O_CLOEXEC);
        return object->host < 0 ? -errno : 0;
    }
    if (d) {
        descriptor_object(d, object);
        return 0;
    }
    struct descriptor opened;
    int result = special_open(f, normal, O_RDONLY, &opened);
    if (result)
        return result;
    object->host = opened.host;
    object->is_virtual = opened.kind == DESCRIPTOR_VIRTUAL;
    if (object->is_virtual)
        object->virtual_inode = special_virtual_inode(opened.path);
    free(opened.path);
    return 0;
}

int special_lookup(struct files *f, const char *path, bool folder, bool follow, struct files_object *object)
{
    struct stat s;
    char first;
    int result = look_up(f, path, object);
    if (!result && !folder && !follow && special_readlink(f, path, &first, 1) >= 0) {
        object->is_virtual = object->is_link = true;
        object->may_change = false;
        object->virtual_inode = special_virtual_inode(path);
    }
    if (result || !folder || object->is_virtual || fstat(object->host, &s) || S_ISDIR(s.st_mode))
        return result;
    files_object_end(object);
    return -ENOTDIR;
}

// What /proc/self/fd/N points to, in the guest's names as far as there are any.
static int64_t describe(struct files *f, const struct descriptor *d, char *text, size_t size)
{
    char link[HOST_FD_PATH_SIZE], name[PATH_MAX];
    if (descriptor_is_folder(d) && !files_folder_path(f, d, text, size))
        return (int64_t)strlen(text);
    if (files_name(f, d->host, text, size))
        return (int64_t)strlen(text);
    files_host_path(d->host, link);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0)
        return -errno;
    name[length] = 0;
    const bool tells = *name != '/' || is_below(name, "/dev") || (d->object && !strncmp(name, "/memfd:", 7));
    return snprintf(text, size, "%s", tells ? name : "(host file)");
}

int64_t special_readlink(struct files *f, const char *path, char *text, size_t size)
{
    char normal[PATH_MAX], target[2 * PATH_MAX];
    int64_t length = 0;
    normalize(f, path, normal);
    const struct descriptor *d = find_descriptor(f, normal);
    if (device_link(path))
        length = snprintf(target, sizeof target, "%s", normal);
    else if (!strcmp(path, "/proc/self") || !strcmp(path, "/proc/thread-self"))
        length = snprintf(target, sizeof target, "%d", process_pid(f->guest));
    else if (!strcmp(normal, "/proc/self/exe"))
        length = snprintf(target, sizeof target, "%s", f->program);
    else if (!strcmp(normal, "/proc/self/root"))
        length = snprintf(target, sizeof target, "/");
    else if (d)
        length = describe(f, d, target, sizeof target);
    else
        return special_exists(f, path) ? -EINVAL : -ENOENT;
    if (length < 0)
        return length;
    size_t copied = (size_t)length < size ? (size_t)length : size;
    memcpy(text, target, copied);
    return (int64_t)copied;
}
