// SPDX-License-Identifier: MIT
// Branches that lead, before a fork, to what has not run: parent, children and grandchildren come to it each
// by themselves, all at once.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 24, TIMES = 2000 };

#define STEP(n)                                                                                              \
    if (ways >> (n)&1) {                                                                                     \
        x = x * 31 + (n);                                                                                    \
        __asm__ volatile("" : "+r"(x)); /* a branch, no select */                                            \
    }
#define STEPS(n) STEP(n) STEP((n) + 1) STEP((n) + 2) STEP((n) + 3) STEP((n) + 4) STEP((n) + 5)

__attribute__((noinline)) static unsigned go(unsigned x, unsigned ways)
{
    STEPS(0)
    STEPS(6)
    STEPS(12)
    STEPS(18)
    return x;
}

static unsigned go_often(unsigned ways)
{
    unsigned x = ways;
    for (unsigned i = 0; i < TIMES; i++)
        x = go(x, ways);
    return x;
}

// What a child, and its own, come to, as an exit status.
static int child(unsigned round)
{
    int status = 0;
    const pid_t own = round % 3 ? -1 : fork();
    const unsigned x = go_often(1u << round | (own ? 0 : 1u << (round * 5 + 3) % ROUNDS));
    if (own > 0)
        wait(&status);
    return (int)((x + (unsigned)WEXITSTATUS(status)) % 251);
}

int main(void)
{
    pid_t children[ROUNDS];
    unsigned mine = go_often(0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        children[round] = fork();
        if (children[round] == 0)
            _exit(child(round));
        mine = mine * 7 + go_often(1u << (round * 7 + 1) % ROUNDS);
        printf("%u\n", mine);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        int status;
        waitpid(children[round], &status, 0);
        printf("%u: %x\n", round, status);
    }
    return 0;
}
