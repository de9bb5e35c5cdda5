// SPDX-License-Identifier: MIT
#include "prepare_beside.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/core.h"
#include "frontend/base/log.h"
#include "frontend/command/doom_options.h"
#include "frontend/command/prepared.h"

extern char **environ;

static bool is_timed(const struct options *options)
{
    return doom_options_given(options, "-timedemo") || options->csv || options->json || options->stats ||
           options->profile || options->count || options->split;
}

pid_t prepare_beside_start(const struct options *options, const struct settings *settings, char *iwad)
{
    if (is_timed(options) || settings->engine != MACHINE_ENGINE_TRANSLATE || !prepared_is_due()) {
        return 0;
    }
    static char name[] = "neurodoom", option[] = "--prepare", game_option[] = "-iwad";
    char *arguments[] = {name, option, game_option, iwad, NULL};
    posix_spawn_file_actions_t silent;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&pid, "/proc/self/exe", &silent, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&silent);
    if (error) {
        log_line(LOG_INFO, "the game cannot be translated ahead while it runs: %s", strerror(error));
        return 0;
    }
    setpriority(PRIO_PROCESS, (id_t)pid, 19);
    log_line(LOG_INFO, "the game is translated ahead while it runs: later starts are faster");
    return pid;
}

void prepare_beside_end(pid_t pid)
{
    if (pid > 0 && waitpid(pid, NULL, WNOHANG) == 0) {
        kill(pid, SIGTERM);
    }
}
