// SPDX-License-Identifier: MIT
#include "files_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/devices/devices.h"
#include "core/state/guest.h"

#define FILES_PART 0x454c4946u
#define STATUS_FLAGS (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_SYNC) // of open files, kept
#define NO_DESCRIPTOR UINT32_MAX

// How a descriptor comes to be again.
enum source {
    FROM_PATH, // opened by its guest path
    FROM_STANDARD, // a copy of the host program's own descriptor 0, 1 or 2
    FROM_OUTPUT, // config.output
    FROM_DEVICE,
    FROM_OTHER, // a copy of another one of the guest's, which shares offset and flags
};

// A descriptor as it is written.
struct record {
    uint32_t number; // of the guest; NO_DESCRIPTOR: its current folder
    uint32_t kind; // enum descriptor_kind
    uint32_t source; // enum source
    uint32_t which; // STANDARD, OUTPUT: 0, 1 or 2; OTHER: number of the other one, which is smaller
    uint8_t close_on_exec;
    int32_t flags; // as open takes them
    int64_t offset; // -1: it has none
    char *path; // PATH
};

static void transfer_record(struct record *r, struct saved *s)
{
    SAVED(s, r->number);
    SAVED(s, r->kind);
    SAVED(s, r->source);
    SAVED(s, r->which);
    SAVED(s, r->close_on_exec);
    SAVED(s, r->flags);
    SAVED(s, r->offset);
    saved_text(s, &r->path, PATH_MAX - 1);
}

// ---- describing ----

// Whether the host's descriptor is one of those that the guest got: 1 to 2 where nothing takes its output.
static bool is_given(const struct machine_config *config, int standard)
{
    return standard == 0 ? config->host_stdin : config->output == NULL;
}

static int find_standard(const struct files *f, const struct stat *s)
{
    struct stat own;
    for (int i = 0; i <= 2; i++)
        if (is_given(&f->guest->config, i) && !fstat(i, &own) && own.st_dev == s->st_dev &&
            own.st_ino == s->st_ino && own.st_rdev == s->st_rdev)
            return i;
    return -1;
}

static uint32_t find_sharer(const struct files *f, uint32_t number)
{
    pid_t own = getpid();
    for (uint32_t i = 0; i < number; i++)
        if (f->table[i].kind == f->table[number].kind &&
            !syscall(SYS_kcmp, own, own, KCMP_FILE, f->table[i].host, f->table[number].host))
            return i;
    return NO_DESCRIPTOR;
}

// The path of a harmless device, or else of nothing.
static bool device_path(int host, const struct stat *s, char path[PATH_MAX])
{
    char link[HOST_FD_PATH_SIZE];
    files_host_path(host, link);
    ssize_t length = S_ISCHR(s->st_mode) ? readlink(link, path, PATH_MAX - 1) : -1;
    path[length < 0 ? 0 : length] = 0;
    return !strncmp(path, "/dev/", 5);
}

static const char *what_is(mode_t mode)
{
    return S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a special file";
}

static void describe_path(struct files *f, const struct descriptor *d, struct record *r, struct saved *s)
{
    char path[PATH_MAX] = "";
    struct stat info;
    bool folder = descriptor_is_folder(d), named;
    if (fstat(d->host, &info)) {
        saved_fail(s, "an open file of the program cannot be saved: %s", strerror(errno));
        return;
    }
    int standard = d->kind == DESCRIPTOR_FILE ? find_standard(f, &info) : -1;
    if (standard >= 0) {
        r->source = FROM_STANDARD;
        r->which = (uint32_t)standard;
        return;
    }
    if (folder)
        named = files_folder_path(f, d, path, sizeof path) == 0;
    else
        named = S_ISREG(info.st_mode) ? info.st_nlink && files_name(f, d->host, path, sizeof path)
                                      : device_path(d->host, &info, path);
    if (!named)
        saved_fail(s, "the program has %s open, which cannot be saved",
                   S_ISREG(info.st_mode) ? "a file that has been deleted or moved away, or one of /proc"
                                         : what_is(info.st_mode));
    r->source = FROM_PATH;
    int flags = fcntl(d->host, F_GETFL);
    r->flags = (flags & (O_ACCMODE | STATUS_FLAGS | O_PATH)) | (folder ? O_DIRECTORY : 0);
    r->offset = S_ISREG(info.st_mode) || folder ? lseek(d->host, 0, SEEK_CUR) : -1;
    r->path = strdup(path);
    if (!r->path)
        saved_fail(s, "there is not enough memory to save the state");
}

static struct record describe(struct files *f, const struct descriptor *d, uint32_t number, struct saved *s)
{
    struct record r = {.number = number,
                       .kind = d->kind,
                       .source = FROM_OTHER,
                       .which = NO_DESCRIPTOR,
                       .close_on_exec = d->close_on_exec,
                       .offset = -1};
    if (number != NO_DESCRIPTOR && d->kind != DESCRIPTOR_OUTPUT)
        r.which = find_sharer(f, number);
    if (d->kind == DESCRIPTOR_OUTPUT) {
        r.source = FROM_OUTPUT;
        r.which = d->output;
    } else if (r.which != NO_DESCRIPTOR) {
        return r;
    } else if (d->kind == DESCRIPTOR_DEVICE) {
        r.source = FROM_DEVICE;
    } else if (d->kind == DESCRIPTOR_EPOLL) {
        saved_fail(s, "the program waits for files with epoll, which cannot be saved");
    } else {
        describe_path(f, d, &r, s);
    }
    return r;
}

static void save_descriptor(struct files *f, const struct descriptor *d, uint32_t number, struct saved *s)
{
    struct record r = describe(f, d, number, s);
    transfer_record(&r, s);
    free(r.path);
}

void files_save(struct files *f, struct saved *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < DESCRIPTOR_MAX; i++)
        count += f->table[i].kind != DESCRIPTOR_FREE;
    saved_part(s, FILES_PART);
    save_descriptor(f, &f->cwd, NO_DESCRIPTOR, s);
    SAVED(s, count);
    for (uint32_t i = 0; i < DESCRIPTOR_MAX; i++)
        if (f->table[i].kind != DESCRIPTOR_FREE)
            save_descriptor(f, &f->table[i], i, s);
}

// ---- opening ----

struct files_plan {
    struct descriptor cwd;
    struct descriptor table[DESCRIPTOR_MAX];
    bool kept[DESCRIPTOR_MAX + 1]; // host is the one that the guest has now; the last is the current folder
    int64_t offset[DESCRIPTOR_MAX + 1];
};

// Whether what the guest has open there is what the record says, but for its offset.
static bool is_open(struct files *f, const struct descriptor *d, const struct record *r)
{
    struct saved unused = saved_writer();
    struct record now = describe(f, d, r->number, &unused);
    bool same = !unused.failed && now.kind == r->kind && now.source == r->source && now.which == r->which &&
                now.close_on_exec == r->close_on_exec && now.flags == r->flags &&
                !strcmp(now.path ? now.path : "", r->path ? r->path : "");
    free(now.path);
    free(unused.data);
    return same;
}

static void open_path(struct files *f, const struct record *r, struct descriptor *d, struct saved *s)
{
    saved_expect(s, !(r->flags & ~(O_ACCMODE | STATUS_FLAGS | O_PATH | O_DIRECTORY)) && *r->path == '/',
                 "an open file");
    if (s->failed)
        return;
    const int flags = r->flags | (r->flags & O_PATH ? 0 : O_NONBLOCK); // it may be a pipe
    int result = files_open(f, GUEST_AT_FDCWD, r->path, flags, 0, d);
    if (result) {
        d->host = -1;
        saved_fail(s, "%s, which the program had open, cannot be opened again: %s", r->path,
                   strerror(-result));
        return;
    }
    struct stat info;
    if (!(r->flags & (O_NONBLOCK | O_PATH)))
        fcntl(d->host, F_SETFL, r->flags & STATUS_FLAGS);
    if (d->kind != (enum descriptor_kind)r->kind)
        saved_fail(s, "%s, which the program had open, is something else now", r->path);
    else if (fstat(d->host, &info) || S_ISFIFO(info.st_mode))
        saved_fail(s, "%s, which the program had open, is a pipe now", r->path);
    else if ((S_ISREG(info.st_mode) && d->kind == DESCRIPTOR_FILE && info.st_size < r->offset))
        saved_fail(s, "%s, which the program had open, is shorter now than what it had read of it", r->path);
}

// The host's descriptor for the record. Nothing is open after a failure but what *d says.
static void open_record(struct files *f, const struct files_plan *plan, const struct record *r,
                        struct descriptor *d, struct saved *s)
{
    const struct descriptor *other =
        r->which < r->number && r->which < DESCRIPTOR_MAX ? &plan->table[r->which] : NULL;
    *d = (struct descriptor){.kind = (enum descriptor_kind)r->kind, .host = -1};
    switch (r->source) {
    case FROM_PATH: open_path(f, r, d, s); break;
    case FROM_STANDARD:
        saved_expect(s, r->which <= 2 && r->kind == DESCRIPTOR_FILE, "an open file");
        if (!s->failed && !is_given(&f->guest->config, (int)r->which))
            saved_fail(s, "the program of the state reads or writes the terminal, which it may not here");
        if (!s->failed)
            d->host = fcntl((int)r->which, F_DUPFD_CLOEXEC, 3);
        d->never_waits = descriptor_never_waits((int)r->which);
        break;
    case FROM_OUTPUT:
        saved_expect(s, (r->which == 1 || r->which == 2) && r->kind == DESCRIPTOR_OUTPUT, "an open file");
        d->output = r->which;
        if (!s->failed && !f->guest->config.output)
            saved_fail(s, "the state is that of a program whose output goes elsewhere");
        if (!s->failed)
            d->host = open("/dev/null", O_RDWR | O_CLOEXEC);
        break;
    case FROM_DEVICE:
        saved_expect(s, r->kind == DESCRIPTOR_DEVICE && f->device, "an open file");
        if (!s->failed)
            d->host = fcntl(devices_fd(f->guest->devices), F_DUPFD_CLOEXEC, 3);
        break;
    case FROM_OTHER:
        saved_expect(s, other && other->kind == (enum descriptor_kind)r->kind, "an open file");
        if (!s->failed && other) {
            *d = *other;
            d->path = other->path ? strdup(other->path) : NULL;
            d->host = fcntl(other->host, F_DUPFD_CLOEXEC, 3);
        }
        break;
    default: saved_expect(s, false, "an open file");
    }
    if (!s->failed && d->host < 0)
        saved_fail(s, "the host denies the program's open files: %s", strerror(errno));
    d->close_on_exec = r->close_on_exec;
}

static void load_record(struct files *f, struct files_plan *plan, bool is_cwd, struct saved *s)
{
    struct record r = {.path = NULL};
    transfer_record(&r, s);
    saved_expect(s, (is_cwd ? r.number == NO_DESCRIPTOR : r.number < DESCRIPTOR_MAX) && r.close_on_exec <= 1,
                 "an open file");
    if (!s->failed) {
        uint32_t i = is_cwd ? DESCRIPTOR_MAX : r.number;
        struct descriptor *to = is_cwd ? &plan->cwd : &plan->table[i], *now = is_cwd ? &f->cwd : &f->table[i];
        saved_expect(s, to->kind == DESCRIPTOR_FREE && r.offset >= -1, "an open file");
        saved_expect(s, !is_cwd || r.kind == DESCRIPTOR_DIRECTORY || r.kind == DESCRIPTOR_VIRTUAL,
                     "its folder");
        plan->offset[i] = r.offset;
        // One that shares what another one has goes with it.
        plan->kept[i] = !s->failed && now->kind != DESCRIPTOR_FREE && is_open(f, now, &r) &&
                        (r.source != FROM_OTHER || plan->kept[r.which]);
        if (plan->kept[i])
            *to = *now;
        else if (!s->failed)
            open_record(f, plan, &r, to, s);
    }
    free(r.path);
}

struct files_plan *files_plan_load(struct files *f, struct saved *s)
{
    struct files_plan *plan = calloc(1, sizeof *plan);
    uint32_t count = 0;
    if (!plan) {
        saved_fail(s, "there is not enough memory to load the state");
        return NULL;
    }
    plan->cwd.host = -1;
    for (int i = 0; i < DESCRIPTOR_MAX; i++)
        plan->table[i].host = -1;
    saved_part(s, FILES_PART);
    load_record(f, plan, true, s);
    SAVED(s, count);
    for (uint32_t i = 0; i < count && !s->failed; i++)
        load_record(f, plan, false, s);
    if (!s->failed)
        return plan;
    files_plan_free(plan);
    return NULL;
}

static void release(struct descriptor *d)
{
    if (d->host >= 0)
        close(d->host);
    free(d->path);
}

void files_plan_free(struct files_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < DESCRIPTOR_MAX; i++)
        if (!plan->kept[i])
            release(&plan->table[i]);
    if (!plan->kept[DESCRIPTOR_MAX])
        release(&plan->cwd);
    free(plan);
}

static void take_over(struct descriptor *now, struct descriptor *from, bool *kept, int64_t offset)
{
    if (!*kept && now->kind != DESCRIPTOR_FREE)
        release(now);
    *now = *from;
    *kept = true; // the plan's no longer
    if (offset >= 0)
        lseek(now->host, offset, SEEK_SET);
}

void files_load(struct files *f, struct files_plan *plan)
{
    for (int i = 0; i < DESCRIPTOR_MAX; i++)
        take_over(&f->table[i], &plan->table[i], &plan->kept[i],
                  plan->table[i].kind == DESCRIPTOR_FREE ? -1 : plan->offset[i]);
    take_over(&f->cwd, &plan->cwd, &plan->kept[DESCRIPTOR_MAX], plan->offset[DESCRIPTOR_MAX]);
}
