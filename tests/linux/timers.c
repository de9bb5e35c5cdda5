// SPDX-License-Identifier: MIT
// Timers that fire as often as they can, and signals that other processes send as often as they can: blocked
// and ignored, they leave the program its time. Usage: timers [endless], which has a handler for each
// instead.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

static const int numbers[] = {SIGHUP, SIGILL, SIGBUS, SIGSEGV, SIGALRM, 36};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void on_signal(int number)
{
    (void)number;
}

static timer_t start(int number)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    const struct itimerspec often = {{0, 1}, {0, 1}};
    SHOW(timer_create(CLOCK_MONOTONIC, &event, &timer));
    SHOW(timer_settime(timer, 0, &often, NULL));
    return timer;
}

static void work(void)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 3000000; i++)
        sum += i;
    printf("sum %lu\n", sum);
}

// The signal is blocked; what waits is one of it.
static void blocked(int number)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &old);
    timer_t timer = start(number);
    work();
    timer_delete(timer);
    sigpending(&set);
    printf("%d waits: %d\n", number, sigismember(&set, number));
    signal(number, SIG_IGN);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void ignored(int number)
{
    signal(number, SIG_IGN);
    timer_t timer = start(number);
    work();
    timer_delete(timer);
}

// Sent by others without an end, and blocked.
static void sent(int number)
{
    pid_t children[3], self = getpid();
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &old);
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (!children[i]) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (!kill(self, number))
                ;
            _exit(1);
        }
    }
    work();
    for (int i = 0; i < 3; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    signal(number, SIG_IGN);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

// The number that a signal says its timer has.
static void numbered(void)
{
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 3; i++) {
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
        const struct itimerspec once = {.it_value = {0, 1}};
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &once, NULL);
        sigwaitinfo(&set, &info);
        printf("timer %d fires\n", info.si_timerid);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        for (int i = 0; i < NUMBERS; i++) {
            signal(numbers[i], on_signal);
            start(numbers[i]);
        }
        for (;;)
            pause();
    }
    numbered();
    for (int i = 0; i < NUMBERS; i++) {
        blocked(numbers[i]);
        ignored(numbers[i]);
        sent(numbers[i]);
    }
    return 0;
}
