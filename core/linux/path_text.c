// SPDX-License-Identifier: MIT
#include "path_text.h"

#include <errno.h>
#include <string.h>

bool path_has_prefix(const char *path, const char *prefix, size_t length)
{
    return !strncmp(path, prefix, length) && (path[length] == '/' || !path[length]);
}

bool path_rises(const char *path)
{
    int depth = 0;
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && !memcmp(path, "..", 2))
            depth--;
        else if (length && !(length == 1 && *path == '.'))
            depth++;
        if (depth < 0)
            return true;
        path += length + (path[length] == '/');
    }
    return false;
}

bool path_has_dot_dot(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2)
        if ((p == path || p[-1] == '/') && (p[2] == '/' || !p[2]))
            return true;
    return false;
}

bool path_ends_with_slash(const char *path)
{
    size_t length = strlen(path);
    return length && path[length - 1] == '/';
}

const char *path_tail(const char *path)
{
    size_t length = strlen(path), end = length;
    while (end && path[end - 1] == '/')
        end--;
    if (end && path[end - 1] == '.' && (end == 1 || path[end - 2] == '/'))
        return "/.";
    return end < length ? "/" : "";
}

int path_append(char canonical[PATH_MAX], const char *name, size_t length)
{
    size_t used = strlen(canonical);
    if (!length || (length == 1 && *name == '.'))
        return 0;
    if (length == 2 && !memcmp(name, "..", 2)) {
        char *slash = strrchr(canonical, '/');
        if (slash)
            *slash = 0;
        return 0;
    }
    if (length > NAME_MAX || used + 1 + length + 1 > PATH_MAX)
        return -ENAMETOOLONG;
    canonical[used] = '/';
    memcpy(canonical + used + 1, name, length);
    canonical[used + 1 + length] = 0;
    return 0;
}

int path_append_all(char canonical[PATH_MAX], const char *path)
{
    int result = 0;
    while (*path && !result) {
        size_t length = strcspn(path, "/");
        result = path_append(canonical, path, length);
        path += length + (path[length] == '/');
    }
    return result;
}
