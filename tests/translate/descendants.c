// SPDX-License-Identifier: MIT
// Loops that only other processes than the first one run, or another program. With OTHER, that program.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 60000000 }; // of four instructions: worth loading LLVM

#define LOOP(name, by)                                                                                       \
    __attribute__((noipa)) static unsigned name(unsigned x)                                                  \
    {                                                                                                        \
        for (unsigned i = 0; i < TIMES; i++) {                                                               \
            x = x * (by) + i;                                                                                \
            __asm__ volatile("" : "+r"(x));                                                                  \
        }                                                                                                    \
        return x;                                                                                            \
    }

#ifdef OTHER
LOOP(elsewhere, 7)

int main(void)
{
    printf("%u\n", elsewhere(1));
}
#else
LOOP(in_child, 3)
LOOP(in_own, 5)
LOOP(anew, 11)

static void say(unsigned x)
{
    printf("%u\n", x);
    fflush(stdout);
}

static void child(const char *what)
{
    if (!strcmp(what, "again"))
        execl("/proc/self/exe", "descendants", "anew", (char *)NULL);
    if (!strcmp(what, "child_replaced")) {
        umask(0777); // the program's own affair
        execl("other", "other", (char *)NULL);
    }
    say(in_child(1));
    if (!strcmp(what, "nested")) {
        if (fork() == 0) {
            say(in_own(1));
            _exit(0);
        }
        wait(NULL);
    }
    if (!strcmp(what, "killed"))
        raise(SIGTERM);
    _exit(0);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "anew")) {
        say(anew(1));
        return 0;
    }
    if (!strcmp(what, "replaced")) {
        in_own(1);
        umask(0777);
        execl("other", "other", (char *)NULL);
    }
    if (fork() == 0)
        child(what);
    int status;
    wait(&status);
    printf("%x\n", status);
}
#endif
