// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prefix.h"
#include "text.h"

static const char *home(void)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/') {
        return home;
    }
    const struct passwd *user = getpwuid(getuid());
    return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir : "/tmp";
}

// The specification says that a relative path in one of its variables is to be ignored.
static char *base(const char *variable, const char *fallback)
{
    const char *value = getenv(variable);
    if (value && value[0] == '/') {
        return text_copy(value);
    }
    return text_format("%s/%s", home(), fallback);
}

char *path_data_home(void)
{
    return base("XDG_DATA_HOME", ".local/share");
}

char *path_user(enum path_kind kind, const char *below)
{
    static const struct {
        const char *variable, *fallback;
    } bases[] = {
        [PATH_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
        [PATH_STATE] = {"XDG_STATE_HOME", ".local/state"},
        [PATH_DATA] = {"XDG_DATA_HOME", ".local/share"},
        [PATH_CACHE] = {"XDG_CACHE_HOME", ".cache"},
    };
    char *folder = base(bases[kind].variable, bases[kind].fallback);
    char *path = below ? text_format("%s/neurodoom/%s", folder, below) : text_format("%s/neurodoom", folder);
    free(folder);
    return path;
}

char *path_installed(const char *name)
{
    char path[PATH_MAX];
    return text_copy(prefix_path(name, path, sizeof path) ? path : name);
}

char *path_absolute(const char *path)
{
    return realpath(path, NULL);
}

// Likewise of a file that is not there yet; as it is given where its folder is not either.
static char *absolute_new(const char *path)
{
    char *whole = path_absolute(path), *folder = text_copy(path), *slash = strrchr(folder, '/');
    if (!whole) {
        *(slash ? slash + 1 : folder) = '\0';
        char *parent = path_absolute(slash ? folder : ".");
        whole = parent ? text_format("%s/%s", parent, path_name(path)) : text_copy(path);
        free(parent);
    }
    free(folder);
    return whole;
}

bool path_same(const char *a, const char *b)
{
    char *one = absolute_new(a), *other = absolute_new(b);
    bool same = strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

bool path_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *path_tell_no_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        return text_format("%s is %s", path, S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
    }
    bool missing = errno == ENOENT || errno == ENOTDIR;
    return missing ? text_format("there is no file %s", path)
                   : text_format("cannot look at %s: %s", path, strerror(errno));
}

bool path_is_at_or_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/' || length == 1);
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_shown(const char *path)
{
    size_t length = strlen(home());
    if (strncmp(path, home(), length) == 0 && path[length] == '/') {
        return text_format("~%s", path + length);
    }
    return text_copy(path);
}

bool path_make_folder(const char *path)
{
    char *copy = text_copy(path);
    bool made = true;
    for (char *p = copy + 1; made && *p; p++) {
        if (*p == '/') {
            *p = '\0';
            made = mkdir(copy, 0700) == 0 || errno == EEXIST;
            *p = '/';
        }
    }
    if (made) {
        made = mkdir(copy, 0700) == 0 || (errno == EEXIST && path_is_folder(copy));
    }
    int why = errno;
    free(copy);
    errno = why;
    return made;
}

bool new_file_open(struct new_file *file, const char *path)
{
    *file = (struct new_file){0};
    if (strcmp(path, "-") == 0) {
        int fd = dup(1);
        file->stream = fd < 0 ? NULL : fdopen(fd, "w");
        return file->stream != NULL;
    }
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        file->stream = fopen(path, "we");
        return file->stream != NULL;
    }
    // A link stays a link: what it points to is replaced.
    char *target = path_absolute(path);
    if (file_new_open(&file->whole, AT_FDCWD, target ? target : path, 0666)) {
        file->stream = file->whole.stream;
    }
    free(target);
    return file->stream != NULL;
}

bool new_file_try(const char *path)
{
    struct new_file file;
    struct stat info;
    // To open a pipe would wait for who reads it, to close it end what that one reads.
    if (strcmp(path, "-") == 0 ||
        (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))) {
        return true;
    }
    if (!new_file_open(&file, path)) {
        return false;
    }
    new_file_discard(&file);
    return true;
}

static bool commit(struct new_file *file, bool durable)
{
    bool good = file->whole.stream ? file_new_commit(&file->whole, durable)
                                   : !ferror(file->stream) & (fclose(file->stream) == 0);
    file->stream = NULL;
    return good;
}

bool new_file_commit(struct new_file *file)
{
    return commit(file, false);
}

bool new_file_commit_durably(struct new_file *file)
{
    return commit(file, true);
}

void new_file_discard(struct new_file *file)
{
    if (file->whole.stream) {
        file_new_discard(&file->whole);
    } else if (file->stream) {
        fclose(file->stream);
    }
    file->stream = NULL;
}

bool copy_file(const char *from, const char *to)
{
    FILE *stream = fopen(from, "re");
    struct new_file copy;
    if (!stream || !new_file_open(&copy, to)) {
        if (stream) {
            fclose(stream);
        }
        return false;
    }
    char buffer[65536];
    size_t n;
    do {
        n = fread(buffer, 1, sizeof buffer, stream);
        fwrite(buffer, 1, n, copy.stream);
    } while (n == sizeof buffer);
    bool good = !ferror(stream);
    fclose(stream);
    if (!good) {
        new_file_discard(&copy);
        return false;
    }
    return new_file_commit(&copy);
}

bool write_whole_file(const char *path, const void *data, size_t size)
{
    struct new_file file;
    if (!new_file_open(&file, path)) {
        return false;
    }
    fwrite(data, 1, size, file.stream);
    return new_file_commit(&file);
}

struct bytes {
    const void *data;
    size_t size;
};

static bool write_bytes(FILE *to, const void *user)
{
    const struct bytes *bytes = user;
    return fwrite(bytes->data, 1, bytes->size, to) == bytes->size;
}

bool write_own_file(const char *path, const void *data, size_t size)
{
    const struct bytes bytes = {data, size};
    return file_replace(AT_FDCWD, path, 0666, false, write_bytes, &bytes);
}
