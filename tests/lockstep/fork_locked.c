// SPDX-License-Identifier: MIT
// Runs a program that forks, translated and with loops replaced, and holds at each fork the locks that the
// threads hold which compile and examine loops: fork_locked FOLDER_OF_LOOP_NETS PROGRAM. A child finds them
// locked for good. Ends with the program's status.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"
#include "core/engine/translate/translate_internal.h"
#include "core/loops/optimizer_internal.h"

static struct guest *guest;
static pthread_t holder;
static pthread_barrier_t both; // waited for when the locks are held, and when they are to be let go
static unsigned forks;

static void *hold(void *unused)
{
    pthread_mutex_lock(&guest->translator->lock);
    pthread_mutex_lock(&guest->loops->lock);
    pthread_mutex_lock(&guest->loops->examining);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    pthread_mutex_unlock(&guest->loops->examining);
    pthread_mutex_unlock(&guest->loops->lock);
    pthread_mutex_unlock(&guest->translator->lock);
    return unused;
}

static void before_fork(void)
{
    forks++;
    if (pthread_create(&holder, NULL, hold, NULL))
        abort();
    pthread_barrier_wait(&both);
}

static void behind_fork(void)
{
    pthread_barrier_wait(&both);
    pthread_join(holder, NULL);
}

int main(int argc, char **argv)
{
    const char *const environment[] = {NULL};
    char *program = argc == 3 ? realpath(argv[2], NULL) : NULL;
    if (!program) {
        fprintf(stderr, "usage: fork_locked FOLDER_OF_LOOP_NETS PROGRAM\n");
        return 125;
    }
    const struct machine_grant grant = {.host = program, .guest = program};
    const struct machine_config config = {
        .program = program,
        .argv = (const char *const *)argv + 2,
        .envp = environment,
        .grants = &grant,
        .grant_count = 1,
        .engine = MACHINE_ENGINE_TRANSLATE,
        .loop_models = argv[1],
        .loops = true,
    };
    struct error error;
    machine *m = machine_create(&config, &error);
    if (!m) {
        fprintf(stderr, "fork_locked: %s\n", error.text);
        return 125;
    }
    guest = (struct guest *)m; // a machine begins with its guest
    machine_run(m, 1); // starts the translator
    if (!guest->translator || !guest->loops) {
        fprintf(stderr, "fork_locked: nothing is translated, or no loop replaced\n");
        return 125;
    }
    pthread_barrier_init(&both, NULL, 2);
    pthread_atfork(before_fork, behind_fork, NULL);
    while (machine_run(m, UINT64_MAX) == MACHINE_RUNNING)
        ;
    int status = machine_exit_status(m);
    machine_destroy(m);
    printf("%u forks\n", forks);
    return status;
}
