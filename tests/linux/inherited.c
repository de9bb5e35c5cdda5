// SPDX-License-Identifier: MIT
// Prints which signals it finds ignored or blocked.
#include <signal.h>
#include <stdio.h>

int main(void)
{
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int n = 1; n < 65; n++) {
        struct sigaction action;
        if (sigaction(n, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            printf("%d is ignored\n", n);
        if (sigismember(&blocked, n) == 1)
            printf("%d is blocked\n", n);
    }
    return 0;
}
