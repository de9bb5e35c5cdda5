// SPDX-License-Identifier: MIT
// Guest program: parent and child that come to code for the first time when both are there, each to another
// function, and the child then to its own once more. With an argument: alone, each function once.
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000000 };

__attribute__((noipa)) static uint64_t mix(uint64_t n)
{
    uint64_t h = 1;
    for (uint64_t i = 0; i < n; i++)
        h = h * 31 + (i ^ h >> 7);
    return h;
}

__attribute__((noipa)) static uint64_t blend(uint64_t n)
{
    uint64_t h = 2;
    for (uint64_t i = 0; i < n; i++)
        h = h * 37 - (i & h >> 9) + 5;
    return h;
}

static void tell(const char *who, uint64_t value)
{
    printf("%s: %016llx\n", who, (unsigned long long)value);
    fflush(stdout);
}

// Waits for the other one, and lets it go on.
static void wait_at(int fd)
{
    char c;
    if (read(fd, &c, 1) != 1)
        _exit(1);
}

static void go_on(int fd)
{
    if (write(fd, "", 1) != 1)
        _exit(1);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        tell("mix", mix(ROUNDS));
        tell("blend", blend(ROUNDS));
        return 0;
    }
    int to_parent[2], to_child[2], status;
    if (pipe(to_parent) || pipe(to_child))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        tell("mix in the child", mix(ROUNDS));
        go_on(to_parent[1]);
        wait_at(to_child[0]);
        tell("mix in the child", mix(ROUNDS));
        tell("blend in the child", blend(ROUNDS));
        _exit(0);
    }
    wait_at(to_parent[0]);
    tell("blend in the parent", blend(ROUNDS));
    tell("mix in the parent", mix(ROUNDS));
    go_on(to_child[1]);
    if (waitpid(child, &status, 0) != child || status)
        printf("the child's status: %x\n", status);
    return 0;
}
