// SPDX-License-Identifier: MIT
// Clocks, timers, poll, select, epoll and the files that go with them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

static volatile sig_atomic_t count;

static void on_signal(int number)
{
    (void)number;
    count++;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void clocks(void)
{
    struct timespec t = {0, 30000000}, r;
    struct timeval v;
    double start = now(CLOCK_MONOTONIC);
    SHOW(nanosleep(&t, NULL));
    double passed = now(CLOCK_MONOTONIC) - start;
    printf("slept %d\n", passed >= 0.03 && passed < 3);
    start = now(CLOCK_MONOTONIC);
    r.tv_sec = (time_t)start;
    r.tv_nsec = (long)((start - (double)r.tv_sec) * 1e9);
    r.tv_sec++;
    r.tv_nsec = 0;
    SHOW(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &r, NULL));
    printf("absolute %d\n", now(CLOCK_MONOTONIC) >= (double)r.tv_sec);
    t.tv_nsec = 1000000000;
    SHOW(nanosleep(&t, NULL));
    SHOW(clock_gettime(99, &t));
    SHOW(clock_getres(CLOCK_MONOTONIC, &t));
    printf("resolution %ld\n", t.tv_nsec);
    gettimeofday(&v, NULL);
    printf("time of day %d\n", (double)v.tv_sec <= now(CLOCK_REALTIME) && v.tv_sec > 1700000000);
    start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (volatile int i = 0; i < 3000000; i++)
        ;
    printf("processor time %d\n", now(CLOCK_PROCESS_CPUTIME_ID) > start);
    struct tms b;
    SHOW(times(&b) > 0);
    SHOW(clock() >= 0);
    SHOW(settimeofday(&v, NULL) == 0 || errno == EPERM);
}

// What stops a process and lets it go on does not end its sleep.
static void stops(void)
{
    struct timespec t = {0, 400000000}, r = {7, 7};
    int status, ends[2];
    char c;
    fflush(stdout);
    pipe(ends);
    pid_t child = fork();
    if (!child) {
        setpgid(0, 0); // its parent is in another group, so that SIGTSTP stops it
        double start = now(CLOCK_MONOTONIC);
        write(ends[1], "x", 1);
        SHOW(nanosleep(&t, &r));
        double passed = now(CLOCK_MONOTONIC) - start;
        printf("slept %d\n", passed >= 0.4 && passed < 30);
        fflush(stdout);
        _exit(0);
    }
    read(ends[0], &c, 1);
    usleep(100000);
    kill(child, SIGTSTP);
    waitpid(child, &status, WUNTRACED);
    printf("stopped %d\n", WIFSTOPPED(status));
    fflush(stdout);
    kill(child, SIGCONT);
    waitpid(child, &status, 0);
    printf("ended %x\n", status);
    close(ends[0]);
    close(ends[1]);
}

// Nor do signals that are ignored make a wait for a futex begin anew.
static void ignored_signals(void)
{
    struct timespec t = {0, 300000000};
    const int word = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 100; i++) {
            usleep(100000);
            kill(getppid(), SIGWINCH);
        }
        _exit(0);
    }
    const double start = now(CLOCK_MONOTONIC);
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0));
    const double passed = now(CLOCK_MONOTONIC) - start;
    printf("waited %d\n", passed >= 0.3 && passed < 5);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    t.tv_nsec = 1000000000;
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0));
    SHOW(syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0));
}

// What stops a process and lets it go on does not make its wait for a futex longer.
static void stopped_futex(void)
{
    struct timespec t = {1, 0};
    const int word = 0;
    int status, ends[2];
    char c;
    pipe(ends);
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        setpgid(0, 0);
        const double start = now(CLOCK_MONOTONIC);
        write(ends[1], "x", 1);
        SHOW(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0));
        const double passed = now(CLOCK_MONOTONIC) - start;
        printf("waited %d\n", passed >= 1 && passed < 5);
        fflush(stdout);
        _exit(0);
    }
    read(ends[0], &c, 1);
    for (int i = 0; i < 20; i++) {
        usleep(300000);
        if (kill(child, SIGTSTP) || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
            break;
        kill(child, SIGCONT);
    }
    printf("ended %x\n", status);
    close(ends[0]);
    close(ends[1]);
}

// The processor time of another process is not one's own.
static void others_time(void)
{
    clockid_t clock;
    struct timespec t;
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    const double start = now(CLOCK_PROCESS_CPUTIME_ID);
    while (now(CLOCK_PROCESS_CPUTIME_ID) < start + 0.4)
        ;
    SHOW(clock_getcpuclockid(child, &clock));
    SHOW(clock_getres(clock, &t));
    printf("resolution %ld\n", t.tv_nsec);
    SHOW(clock_gettime(clock, &t));
    printf("little %d\n", t.tv_sec == 0 && t.tv_nsec < 300000000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    SHOW(clock_gettime(clock, &t));
    SHOW(clock_getcpuclockid(getpid(), &clock));
    SHOW(clock_gettime(clock, &t));
    printf("much %d\n", t.tv_sec > 0 || t.tv_nsec >= 400000000);
}

static void timers(void)
{
    timer_t timer;
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 5};
    struct itimerspec t = {{0, 5000000}, {0, 5000000}}, left;
    struct itimerval v = {{0, 0}, {10, 0}}, old;
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 33; i++) // as many as there may be, and one more
        SHOW(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, (void *)8));
    SHOW(timer_create(CLOCK_MONOTONIC, &event, &timer));
    SHOW(timer_settime(timer, 0, &t, NULL));
    while (count < 3)
        pause();
    SHOW(timer_gettime(timer, &left));
    printf("interval %ld\n", left.it_interval.tv_nsec);
    SHOW(timer_getoverrun(timer) >= 0);
    SHOW(timer_delete(timer));
    SHOW(timer_settime(timer, 0, &t, NULL));
    SHOW(setitimer(ITIMER_REAL, &v, NULL));
    v.it_value.tv_sec = 0;
    SHOW(setitimer(ITIMER_REAL, &v, &old));
    printf("left %d\n", old.it_value.tv_sec == 9);
    SHOW(alarm(100));
    SHOW(alarm(0));
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t expirations;
    SHOW(timerfd_settime(fd, 0, &t, NULL));
    SHOW(read(fd, &expirations, 8));
    printf("expired %d\n", expirations >= 1);
    close(fd);
}

static void polling(void)
{
    int ends[2];
    pipe(ends);
    struct pollfd p[3] = {{ends[0], POLLIN, 0}, {ends[1], POLLOUT, 0}, {-1, POLLIN, 0}};
    SHOW(poll(p, 3, 0));
    printf("%x %x %x\n", p[0].revents, p[1].revents, p[2].revents);
    SHOW(poll(p, 1, 20));
    write(ends[1], "x", 1);
    SHOW(poll(p, 1, -1));
    p[2].fd = 500;
    SHOW(poll(p, 3, -1));
    printf("%x %x %x\n", p[0].revents, p[1].revents, p[2].revents);
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(ends[0], &in);
    FD_SET(ends[1], &out);
    struct timeval t = {0, 10000};
    SHOW(select(ends[1] + 1, &in, &out, NULL, &t));
    printf("%d %d\n", FD_ISSET(ends[0], &in), FD_ISSET(ends[1], &out));
    FD_SET(ends[1] + 1, &in);
    SHOW(select(ends[1] + 1, &in, NULL, NULL, &t));
    printf("behind the last %d\n", FD_ISSET(ends[1] + 1, &in));
    char c;
    read(ends[0], &c, 1);
    FD_ZERO(&out);
    FD_SET(ends[0], &in);
    SHOW(select(ends[1] + 1, &in, &out, NULL, &t));
    close(ends[1]);
    SHOW(poll(p, 1, -1));
    printf("%x\n", p[0].revents);
    struct timespec none = {0, 0};
    sigset_t mask, empty;
    sigemptyset(&empty);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    raise(SIGUSR1);
    count = 0;
    struct timespec long_time = {10, 0};
    SHOW(ppoll(NULL, 0, &none, NULL));
    SHOW(ppoll(NULL, 0, &long_time, &empty));
    printf("handled %d\n", count);
    // What is ready goes before a signal that only the temporary mask lets through.
    int full[2], e = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN}, got;
    pipe(full);
    write(full[1], "x", 1);
    epoll_ctl(e, EPOLL_CTL_ADD, full[0], &event);
    p[0].fd = full[0];
    FD_ZERO(&in);
    FD_SET(full[0], &in);
    raise(SIGUSR1);
    SHOW(ppoll(p, 1, &long_time, &empty));
    SHOW(pselect(full[0] + 1, &in, NULL, NULL, &long_time, &empty));
    SHOW(epoll_pwait(e, &got, 1, 1000, &empty));
    printf("handled %d\n", count);
    read(full[0], &c, 1);
    SHOW(ppoll(p, 1, &none, &empty));
    printf("handled %d\n", count);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

static void events(void)
{
    int e = epoll_create1(EPOLL_CLOEXEC), ends[2], v = eventfd(3, EFD_NONBLOCK);
    uint64_t value;
    pipe(ends);
    struct epoll_event event = {EPOLLIN, {.u64 = 0x123456789abcdef0}}, got[4];
    SHOW(epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &event));
    SHOW(epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &event));
    SHOW(epoll_wait(e, got, 4, 0));
    write(ends[1], "x", 1);
    SHOW(epoll_wait(e, got, 4, -1));
    printf("%x %lx\n", got[0].events, (long)got[0].data.u64);
    event.data.u64 = 2;
    SHOW(epoll_ctl(e, EPOLL_CTL_ADD, v, &event));
    SHOW(epoll_wait(e, got, 4, -1));
    SHOW(epoll_ctl(e, EPOLL_CTL_DEL, ends[0], NULL));
    SHOW(epoll_wait(e, got, 0, -1));
    SHOW(read(v, &value, 8));
    printf("value %ld\n", (long)value);
    SHOW(read(v, &value, 8));
    SHOW(epoll_wait(e, got, 4, 10));
    int pair[2];
    char text[20] = "";
    SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SHOW(send(pair[0], "abcdef", 6, 0));
    SHOW(recv(pair[1], text, 3, MSG_PEEK));
    SHOW(read(pair[1], text, 20));
    printf("%s\n", text);
    struct iovec vector[2] = {{"12", 2}, {"345", 3}}, into = {text, 20};
    struct msghdr m = {.msg_iov = vector, .msg_iovlen = 2}, r = {.msg_iov = &into, .msg_iovlen = 1};
    SHOW(sendmsg(pair[1], &m, 0));
    SHOW(recvmsg(pair[0], &r, 0));
    int type;
    socklen_t size = sizeof type;
    SHOW(getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &size));
    printf("%.5s type %d\n", text, type);
    SHOW(shutdown(pair[0], SHUT_WR));
    SHOW(read(pair[1], text, 20));
    SHOW(send(e, "x", 1, 0));
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    clocks();
    stops();
    ignored_signals();
    stopped_futex();
    others_time();
    timers();
    polling();
    events();
    return 0;
}
