// SPDX-License-Identifier: MIT
#include "forks.h"

#include <pthread.h>

static unsigned count;
static bool has_copies;

static void note_copy(void)
{
    has_copies = true;
}

static void note_fork(void)
{
    count++;
}

static void watch(void)
{
    pthread_atfork(NULL, note_copy, note_fork);
}

void forks_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

unsigned forks_count(void)
{
    return count;
}

bool forks_has_copies(void)
{
    return has_copies;
}
