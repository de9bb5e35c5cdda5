// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "translate_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/base/log.h"

enum { WORTH_NS = 10 * 1000 * 1000 }; // loading LLVM takes 7 ms

extern char **environ;

bool translate_behind_is_wanted(void)
{
    const char *answer = getenv("NEURODOOM_TRANSLATE_BEHIND");
    return !answer || strcmp(answer, "off") != 0;
}

void translate_behind_start(uint64_t interpreted_ns, int argc, char *const *argv)
{
    static char option[] = "--translate-rest";
    bool is_worth_it = interpreted_ns >= WORTH_NS && translate_behind_is_wanted();
    char **arguments = is_worth_it ? calloc((size_t)argc + 2, sizeof *arguments) : NULL;
    if (!arguments) {
        return;
    }
    arguments[0] = argv[0];
    arguments[1] = option;
    memcpy(arguments + 2, argv + 1, (size_t)(argc - 1) * sizeof *arguments);
    posix_spawn_file_actions_t silent;
    posix_spawnattr_t apart;
    pid_t pid;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&apart);
    posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETSID);
    int error = posix_spawn(&pid, "/proc/self/exe", &silent, &apart, arguments, environ);
    if (error) {
        log_line(LOG_INFO, "nothing is translated behind this run: %s", strerror(error));
    }
    posix_spawnattr_destroy(&apart);
    posix_spawn_file_actions_destroy(&silent);
    free(arguments);
}

// Lets everybody else go first.
static void stand_back(void)
{
    const struct sched_param none = {0};
    setpriority(PRIO_PROCESS, 0, 19);
    sched_setscheduler(0, SCHED_IDLE, &none);
}

bool translate_behind_run(const struct machine_config *config, struct failure *failure)
{
    int folder = config->cache_folder ? open(config->cache_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0)
        return fail(failure, STATUS_USAGE, "--translate-rest: there is nowhere to keep translated code");
    if (flock(folder, LOCK_EX | LOCK_NB) != 0) {
        close(folder);
        return fail(failure, STATUS_USAGE, "--translate-rest: another process is at it: wait for that");
    }
    struct error error;
    prctl(PR_SET_NAME, program_invocation_short_name); // or lists of processes would call it "exe"
    stand_back();
    machine *m = machine_create(config, &error);
    if (m) {
        machine_translate_rest(m);
        machine_destroy(m);
    }
    close(folder);
    return m || fail(failure, STATUS_USAGE, "%s", error.text);
}
