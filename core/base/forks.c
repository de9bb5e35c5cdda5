// SPDX-License-Identifier: MIT
#include "forks.h"

#include <pthread.h>
#include <sys/single_threaded.h>

static unsigned count, seen;
static bool has_threads, lost_threads;

static void look_for_threads(void)
{
    has_threads = !__libc_single_threaded;
}

static void note_copy(void)
{
    seen++;
}

static void note_fork(void)
{
    seen++;
    count++;
    lost_threads |= has_threads;
}

static void watch(void)
{
    pthread_atfork(look_for_threads, note_copy, note_fork);
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

bool forks_lost_threads(void)
{
    return lost_threads;
}
