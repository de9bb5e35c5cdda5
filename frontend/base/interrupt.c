// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;

static void note(int signal)
{
    (void)signal;
    seen = 1;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) { // else nohup: it goes on
        sigaction(SIGHUP, &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

void interrupt_raise(void)
{
    seen = 1;
}

bool interrupt_seen(void)
{
    return seen;
}
