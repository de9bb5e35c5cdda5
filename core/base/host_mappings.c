// SPDX-License-Identifier: MIT
#include "host_mappings.h"

#include <stdio.h>
#include <stdlib.h>

// START-END rwxp OFFSET MAJOR:MINOR INODE and a name. (sscanf takes as long as the kernel for its part.)
static struct host_mapping parse(const char *line)
{
    struct host_mapping h;
    char *at;
    h.start = strtoull(line, &at, 16);
    h.end = strtoull(at + 1, &at, 16);
    h.shared = at[4] == 's';
    h.offset = strtoull(at + 5, &at, 16);
    h.device_major = (unsigned)strtoul(at, &at, 16);
    h.device_minor = (unsigned)strtoul(at + 1, &at, 16);
    h.inode = strtoull(at, NULL, 10);
    return h;
}

bool host_mappings(bool (*take)(const struct host_mapping *mapping, void *user), void *user)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool good = maps;
    while (good && getline(&line, &room, maps) > 0) {
        const struct host_mapping h = parse(line);
        good = take(&h, user);
    }
    good = good && feof(maps);
    free(line);
    if (maps)
        fclose(maps);
    return good;
}
