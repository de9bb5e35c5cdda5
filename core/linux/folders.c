// SPDX-License-Identifier: MIT
// What open folders and files are called in the guest, and its current folder.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "path_text.h"

// Where the host's descriptor is now, even if it has been renamed. -ENOENT: nowhere among the files;
// -ENAMETOOLONG: deeper than PATH_MAX.
static int host_name(int host, char name[PATH_MAX])
{
    char link[HOST_FD_PATH_SIZE];
    files_host_path(host, link);
    const ssize_t length = readlink(link, name, PATH_MAX - 1);
    if (length < 0)
        return -errno;
    name[length] = 0;
    return *name == '/' ? 0 : -ENOENT;
}

// The guest path of what the host calls name; -ENOENT if that is not in the grant.
static int name_in_grant(const struct grant *g, const char *name, char *path, size_t size)
{
    char top[PATH_MAX];
    const int result = host_name(g->host, top);
    if (result)
        return result;
    const size_t length = strcmp(top, "/") ? strlen(top) : 0;
    if (!path_has_prefix(name, top, length) || (!g->is_folder && name[length]))
        return -ENOENT;
    const char *below = strcmp(name + length, "/") ? name + length : "";
    const char *root = !g->length && !*below ? "/" : "";
    return (size_t)snprintf(path, size, "%s%s%s", g->path, below, root) < size ? 0 : -ERANGE;
}

int files_folder_path(struct files *f, const struct descriptor *d, char *path, size_t size)
{
    char name[PATH_MAX];
    struct stat s;
    if (d->kind == DESCRIPTOR_VIRTUAL)
        return (size_t)snprintf(path, size, "%s", *d->path ? d->path : "/") < size ? 0 : -ERANGE;
    const int result = host_name(d->host, name);
    if (result || fstat(d->host, &s) || !s.st_nlink)
        return result ? result : -ENOENT;
    return name_in_grant(&f->grants[d->grant], name, path, size);
}

bool files_name(struct files *f, int host, char *path, size_t size)
{
    char name[PATH_MAX];
    bool found = false;
    if (!host_name(host, name))
        for (size_t i = 0; i < f->grant_count && !found; i++)
            found = !name_in_grant(&f->grants[i], name, path, size);
    return found;
}

// ---- the current folder ----

static int set_cwd(struct files *f, struct descriptor *d)
{
    int result = 0;
    // The right to search is asked of the host's kernel, as chdir does.
    if (d->kind == DESCRIPTOR_DIRECTORY)
        result = faccessat(d->host, ".", X_OK, AT_EACCESS) ? -errno : 0;
    else if (!descriptor_is_folder(d))
        result = -ENOTDIR;
    if (result) {
        close(d->host);
        return result;
    }
    close(f->cwd.host);
    free(f->cwd.path);
    f->cwd = *d;
    return 0;
}

int files_chdir(struct files *f, const char *path)
{
    struct descriptor d;
    int result = files_open(f, GUEST_AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, &d);
    return result ? result : set_cwd(f, &d);
}

int files_fchdir(struct files *f, int fd)
{
    const struct descriptor *d = descriptor_get(f, (uint32_t)fd);
    if (!d)
        return -EBADF;
    if (!descriptor_is_folder(d))
        return -ENOTDIR;
    struct descriptor copy = *d;
    copy.host = fcntl(d->host, F_DUPFD_CLOEXEC, 3);
    if (copy.host < 0)
        return -errno;
    copy.path = d->path ? strdup(d->path) : NULL;
    return set_cwd(f, &copy);
}
