// SPDX-License-Identifier: MIT
// Prints what it has from where it was started: which signals are ignored, blocked or waiting, which limits
// there are, which descriptors.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

static void show_limit(const char *name, int which)
{
    struct rlimit r;
    getrlimit(which, &r);
    printf("%s %ld of %ld\n", name, (long)r.rlim_cur, (long)r.rlim_max);
}

// 12 MB of stack
static int use_stack(void)
{
    volatile char room[12 << 20];
    for (unsigned i = 0; i < sizeof room; i += 4096)
        room[i] = 1;
    return room[4096];
}

int main(void)
{
    struct rlimit stack, files;
    show_limit("processor time", RLIMIT_CPU);
    show_limit("file", RLIMIT_FSIZE);
    show_limit("stack", RLIMIT_STACK);
    getrlimit(RLIMIT_STACK, &stack);
    if (stack.rlim_cur >= 16 << 20)
        printf("used %d\n", use_stack());
    getrlimit(RLIMIT_NOFILE, &files);
    printf("descriptors %ld\n", files.rlim_cur < 500 ? (long)files.rlim_cur : 500); // there are 1,024 at most
    for (int fd = 0; fd < 3; fd++)
        printf("%d is %s\n", fd, fcntl(fd, F_GETFL) < 0 ? "closed" : "open");
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
