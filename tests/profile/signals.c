// SPDX-License-Identifier: MIT
// A program with signals of its own while samples of it are taken: every signal has a handler, and what comes
// in is counted. Prints what has to come, which is the same with samples and without.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 400, PIPE_BYTES = 4 << 20 };

static volatile unsigned counts[65];
static sigjmp_buf back;

static void count(int number)
{
    counts[number]++;
}

static void repair(int number)
{
    counts[number]++;
    siglongjmp(back, 1);
}

static uint32_t work(uint32_t x)
{
    for (unsigned i = 0; i < 300000; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

static void touch(volatile char *p)
{
    if (!sigsetjmp(back, 1))
        *p = 1;
}

// A write that fills the pipe again and again, to a reader who takes his time: all of it, in one piece.
static void fill_pipe(void)
{
    static char bytes[PIPE_BYTES];
    int ends[2], status;
    if (pipe(ends))
        return;
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        for (ssize_t n = 1; n > 0;) {
            n = read(ends[0], bytes, 60000);
            work(1);
        }
        _exit(0);
    }
    close(ends[0]);
    printf("pipe: %ld\n", (long)write(ends[1], bytes, sizeof bytes));
    close(ends[1]);
    while (waitpid(child, &status, 0) != child) {
    }
}

int main(void)
{
    uint32_t x = 1;
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    for (int n = 1; n <= 64; n++)
        sigaction(n, &action, NULL);
    fill_pipe();
    action.sa_handler = repair;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = open("short", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct itimerval timer = {{0, 2000}, {0, 2000}}, processor = {{0, 9000}, {0, 9000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    setitimer(ITIMER_PROF, &processor, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        x = work(x);
        touch(nowhere);
        touch(beyond);
        kill(getpid(), SIGUSR1);
    }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
    printf("timers: %d %d\n", counts[SIGALRM] > 20, counts[SIGPROF] > 3);
    printf("faults: %u %u\n", counts[SIGSEGV], counts[SIGBUS]);
    printf("sent: %u, children: %u\n", counts[SIGUSR1], counts[SIGCHLD]);
    counts[SIGALRM] = counts[SIGPROF] = counts[SIGSEGV] = counts[SIGBUS] = counts[SIGUSR1] = counts[SIGCHLD] =
        0;
    for (int n = 1; n <= 64; n++)
        if (counts[n])
            printf("unexpected: %u times %d\n", counts[n], n);
    printf("%u\n", x);
    unlink("short");
    return 0;
}
