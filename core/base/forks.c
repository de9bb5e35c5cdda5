// SPDX-License-Identifier: MIT
#include "forks.h"

#include <pthread.h>

static unsigned count, seen;

static void note_copy(void)
{
    seen++;
}

static void note_fork(void)
{
    seen++;
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

unsigned forks_seen(void)
{
    return seen;
}
