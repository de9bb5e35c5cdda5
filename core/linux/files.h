// SPDX-License-Identifier: MIT
// What a guest may open: the granted files and folders, a few device files, and what /proc tells a
// program about itself. Every path is resolved here; no path of the guest reaches the host otherwise.
#ifndef CORE_FILES_H
#define CORE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/state/machine_config.h"

struct linux_process;

#define DESCRIPTOR_MAX 1024 // guest descriptors are below this
#define GUEST_AT_FDCWD (-100)

enum descriptor_kind {
    DESCRIPTOR_FREE,
    DESCRIPTOR_FILE, // anything that the host's descriptor can do by itself
    DESCRIPTOR_DIRECTORY, // of a grant
    DESCRIPTOR_VIRTUAL, // a folder that exists only for the guest; the host's file holds its entries
    DESCRIPTOR_OUTPUT, // config.output
    DESCRIPTOR_DEVICE, // the device page
    DESCRIPTOR_EPOLL,
};

// An open file of the guest.
struct descriptor {
    enum descriptor_kind kind;
    int host; // owned
    bool close_on_exec;
    bool never_waits; // to be read or written: see file_never_waits
    bool may_change; // mode, owner and times may be changed: the file is in a writable grant
    int grant; // of a DESCRIPTOR_DIRECTORY: index of the grant
    char *path; // of a DESCRIPTOR_VIRTUAL: owned; of others NULL
    uint32_t output; // of a DESCRIPTOR_OUTPUT: 1 or 2
    int object; // of what memfd_create made: its number in the guest's shared memory; 0 of others
};

struct grant {
    char *path; // guest path without a trailing slash; "" stands for "/"
    size_t length; // of path
    int host; // O_PATH descriptor of the host's file or folder; -1: it has not been made yet
    bool is_folder;
    bool writable;
    dev_t device;
    const char *(*make)(void *maker); // see struct machine_grant
    void *maker;
};

struct files {
    struct grant *grants;
    size_t grant_count;
    struct descriptor cwd; // a DESCRIPTOR_DIRECTORY or DESCRIPTOR_VIRTUAL
    char *program; // guest path of the program, for /proc/self/exe; owned
    int program_host; // the program, opened for reading
    bool device; // offer DEVICE_PATH
    struct guest *guest; // for what /proc tells about the program
    int descriptor_limit; // RLIMIT_NOFILE
    struct descriptor table[DESCRIPTOR_MAX];
};

// Opens the grants and descriptors 0 to 2. NULL with a message in error if a grant cannot be opened.
struct files *files_create(struct guest *g, struct error *error);
void files_destroy(struct files *f);

// Makes what is granted and has not been made yet, so that children get the same.
void files_make_folders(struct files *f);

// ---- paths: all return 0 or a negative errno; at is a guest descriptor or GUEST_AT_FDCWD ----

// Opens path with the host's open flags and mode. On success *out is filled; out->host is the caller's.
int files_open(struct files *f, int at, const char *path, int flags, mode_t mode, struct descriptor *out);

// Whether that is the file of the program that runs, which cannot be written.
bool files_is_program(const struct files *f, int host);
// Whether the guest has it open for writing, so that it cannot be run.
bool files_is_written(const struct files *f, int host);

// The object that path names, without opening it.
struct files_object {
    int host; // O_PATH descriptor, or that of an open file, which is lent
    bool lent; // not to be closed: that would take away the locks that the guest has on the file (fcntl(2))
    bool may_change; // it is in a writable grant
    bool is_virtual; // exists only for the guest: a folder, host is that of its entries; or a link
    bool is_link; // and then host is what it leads to
    uint64_t virtual_inode;
    int object; // see struct descriptor
};
// follow: whether a symbolic link at the end is followed.
int files_lookup(struct files *f, int at, const char *path, bool follow, struct files_object *object);
// The object that d has open, lent for as long as it is.
void descriptor_object(const struct descriptor *d, struct files_object *object);
void files_object_end(const struct files_object *object);

// Whether a grant lies below the canonical path ("" for "/").
bool files_leads_to_grant(const struct files *f, const char *canonical);

// The folder in which the last component of path is to be created, removed or renamed.
struct files_place {
    int folder; // O_PATH descriptor, the caller's
    bool writable; // the grant's
    char name[NAME_MAX + 2]; // never empty, "." or ".."; with a slash behind if path has one
};
// -EBUSY if that is the path of a grant or leads to one, or if there is no such component: it is "." or "..",
// or path is the root's. Then place->name is empty.
int files_parent(struct files *f, int at, const char *path, struct files_place *place);

// What readlink of path gives, not terminated; the length, or a negative errno.
int64_t files_readlink(struct files *f, int at, const char *path, char *text, size_t size);

int files_chdir(struct files *f, const char *path);
int files_fchdir(struct files *f, int fd);
// The guest path of an open folder, zero-terminated.
int files_folder_path(struct files *f, const struct descriptor *d, char *path, size_t size);

// The guest path of a host descriptor's file; false if it lies in no grant.
bool files_name(struct files *f, int host, char *path, size_t size);

// A host path under which the object can be opened again or changed by calls that take no descriptor.
#define HOST_FD_PATH_SIZE 32
void files_host_path(int host, char path[HOST_FD_PATH_SIZE]);

// ---- descriptors ----

// Whether a file of the host's is one that nobody waits for: a regular one, or a device that is always ready.
bool file_never_waits(const struct stat *s);
bool descriptor_never_waits(int host);
// The lowest number at or above lowest that is free, or -EMFILE.
int descriptor_lowest_free(const struct files *f, int lowest);
// Puts d at the lowest free number at or above lowest. On failure d's host descriptor is closed.
int descriptor_add(struct files *f, const struct descriptor *d, int lowest);
// A plain descriptor for a host descriptor that is now owned by the table.
int descriptor_add_host(struct files *f, int host, bool close_on_exec);
// Two plain descriptors for host descriptors that are now owned by the table, their numbers written to the
// guest's int[2] at address: 0 or a negative errno, and then neither is open.
int descriptor_add_pair(struct linux_process *p, const int host[2], bool close_on_exec, uint64_t address);
// The open descriptor fd, or NULL.
struct descriptor *descriptor_get(struct files *f, uint64_t fd);
// The same; NULL, too, of one that names a file without opening it (O_PATH).
struct descriptor *descriptor_get_opened(struct files *f, uint64_t fd);
bool descriptor_is_folder(const struct descriptor *d);
int descriptor_close(struct files *f, uint64_t fd);
// Makes a duplicate at the lowest free number from lowest on, or exactly at to (closing what is there).
int descriptor_dup(struct files *f, uint64_t fd, int lowest, bool close_on_exec);
int descriptor_dup_to(struct files *f, uint64_t fd, uint64_t to, bool close_on_exec);
void descriptors_close_on_exec(struct files *f);

#endif
