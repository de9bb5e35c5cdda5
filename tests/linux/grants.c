// SPDX-License-Identifier: MIT
// Runs a program with the grants that are named: grants [r|w]:HOST:GUEST… PROGRAM [ARG…]. The first one's
// guest path is its current folder. Ends with its status.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

int main(int argc, char **argv)
{
    static struct machine_grant grants[16];
    const char *const environment[] = {NULL};
    size_t count = 0;
    int i = 1;
    for (; i < argc && count < 15 && (argv[i][0] == 'r' || argv[i][0] == 'w') && argv[i][1] == ':'; i++) {
        strtok(argv[i], ":");
        const char *host = strtok(NULL, ":"), *guest = strtok(NULL, ":");
        grants[count++] = (struct machine_grant){.host = host, .guest = guest, .writable = argv[i][0] == 'w'};
    }
    if (i >= argc || !count) {
        fprintf(stderr, "usage: grants [r|w]:HOST:GUEST… PROGRAM [ARG…]\n");
        return 125;
    }
    grants[count++] = (struct machine_grant){.host = argv[i], .guest = argv[i]};
    const struct machine_config config = {
        .program = argv[i],
        .argv = (const char *const *)argv + i,
        .envp = environment,
        .cwd = grants[0].guest,
        .grants = grants,
        .grant_count = count,
        .engine = MACHINE_ENGINE_INTERP,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    if (!m) {
        fprintf(stderr, "grants: %s\n", error.text);
        return 125;
    }
    while (machine_run(m, UINT64_MAX) == MACHINE_RUNNING)
        ;
    int status = machine_exit_status(m);
    machine_destroy(m);
    return status;
}
