// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "translate_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/base/log.h"

enum { WORTH_NS = 10 * 1000 * 1000 }; // loading LLVM takes 7 ms

extern char **environ;

bool translate_behind_is_wanted(void)
{
    const char *answer = getenv("NEURODOOM_TRANSLATE_BEHIND");
    return !answer || strcmp(answer, "off") != 0;
}

// The arguments, NULL without memory.
static char **arguments_for(const struct translate_behind *behind, const char *program)
{
    static char option[] = "--translate-rest";
    size_t count = 0;
    while (behind->argv[count]) {
        count++;
    }
    char **arguments = calloc(count + 3, sizeof *arguments);
    if (!arguments) {
        return NULL;
    }
    const size_t own = program ? (size_t)(behind->program - behind->argv) : count;
    arguments[0] = behind->argv[0];
    arguments[1] = option;
    memcpy(arguments + 2, behind->argv + 1, (own - 1) * sizeof *arguments);
    arguments[own + 1] = (char *)(uintptr_t)program;
    return arguments;
}

// Not what the program has set for itself: a process that it has forked may be this one.
static void restore_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
}

void translate_behind_start(void *user, const char *program, uint64_t interpreted_ns)
{
    char **arguments = interpreted_ns >= WORTH_NS ? arguments_for(user, program) : NULL;
    if (!arguments) {
        return;
    }
    posix_spawn_file_actions_t silent;
    posix_spawnattr_t apart;
    pid_t pid;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&apart);
    posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    restore_signals(&apart);
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

// ---- whose turn it is ----

// In the cache's folder, of locks only (fcntl(2), open file description locks): byte 0 is had by who is at
// work; the others by those that wait for it, one of each program. Who finds that taken has nothing to add:
// the other one will see what its run has left. (Of two programs that share a byte, one is translated later.)
static const char locks_name[] = "behind";
enum { WAITING_MOST = 64 };

static bool lock(int file, int how, off_t byte, short type)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int status;
    while ((status = fcntl(file, how, &l)) != 0 && errno == EINTR) {
    }
    return status == 0;
}

static off_t place_of(const char *program)
{
    struct stat about = {0};
    stat(program, &about);
    return 1 + (off_t)(about.st_ino % WAITING_MOST);
}

static int open_locks(const char *cache_folder)
{
    int folder = open(cache_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int file = openat(folder, locks_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    const int why = errno;
    close(folder);
    errno = why;
    return file;
}

// Waits for the program's turn, which ends when what is returned is closed; -1 on failure.
static int take_turn(const struct machine_config *config, struct failure *failure)
{
    int file = open_locks(config->cache_folder);
    const off_t place = place_of(config->program);
    if (file >= 0 && lock(file, F_OFD_SETLK, place, F_WRLCK) && lock(file, F_OFD_SETLKW, 0, F_WRLCK)) {
        lock(file, F_OFD_SETLK, place, F_UNLCK);
        return file;
    }
    if (file >= 0 && (errno == EAGAIN || errno == EACCES))
        fail(failure, STATUS_USAGE, "--translate-rest: another process will do it: wait for that");
    else
        fail(failure, STATUS_USAGE, "--translate-rest: there is nowhere to keep translated code: %s/%s: %s",
             config->cache_folder, locks_name, strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

bool translate_behind_run(const struct machine_config *config, struct failure *failure)
{
    if (!config->cache_folder)
        return fail(failure, STATUS_USAGE, "--translate-rest: there is nowhere to keep translated code");
    prctl(PR_SET_NAME, program_invocation_short_name); // or lists of processes would call it "exe"
    stand_back();
    int turn = take_turn(config, failure);
    if (turn < 0)
        return false;
    struct error error;
    machine *m = machine_create(config, &error);
    if (m) {
        machine_translate_rest(m);
        machine_destroy(m);
    }
    close(turn);
    return m || fail(failure, STATUS_USAGE, "%s", error.text);
}
