// SPDX-License-Identifier: MIT
// Prints which signals it finds ignored, blocked or waiting.
#include <signal.h>
#include <stdio.h>

int main(void)
{
    sigset_t blocked, pending;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    for (int n = 1; n < 65; n++) {
        struct sigaction action;
        if (sigaction(n, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            printf("%d is ignored\n", n);
        if (sigismember(&blocked, n) == 1)
            printf("%d is blocked\n", n);
        if (sigismember(&pending, n) == 1)
            printf("%d is waiting\n", n);
    }
    return 0;
}
