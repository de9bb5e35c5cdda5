// SPDX-License-Identifier: MIT
// What qemu 7.2 has otherwise than Linux: compared with the same program natively.
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

// What a call of waitid writes and what it leaves.
static void show_wait(int which, int id, int options)
{
    siginfo_t info;
    struct rusage usage;
    memset(&info, 0x55, sizeof info);
    memset(&usage, 0x55, sizeof usage);
    SHOW(syscall(SYS_waitid, which, id, &info, options, &usage));
    bool used = false;
    for (size_t i = 0; i < sizeof usage; i++)
        used |= ((char *)&usage)[i] != 0x55;
    printf("signal %d code %d pid %d status %d, usage %d\n", info.si_signo, info.si_code, info.si_pid > 0,
           info.si_status, used);
}

static void waiting(void)
{
    show_wait(P_ALL, 0, WEXITED);
    show_wait(77, 0, WEXITED);
    show_wait(P_PIDFD, 100, WEXITED);
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    show_wait(P_ALL, 0, 0);
    show_wait(P_ALL, 0, WEXITED | WNOHANG);
    SHOW(syscall(SYS_waitid, P_ALL, 0, 1, WEXITED | WNOHANG, NULL));
    kill(child, SIGKILL);
    show_wait(P_PID, child, WEXITED | WNOWAIT);
    show_wait(P_ALL, 0, WEXITED);
}

// Programs ask with no memory at all what they may advise.
static void advice(void)
{
    char *area = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(madvise(NULL, 0, MADV_DONTNEED));
    SHOW(madvise(NULL, 0, -1));
    SHOW(madvise(NULL, 0, 99));
    SHOW(madvise(area, 4096, -1));
    SHOW(madvise(area + 1, 4096, MADV_DONTNEED));
    SHOW(madvise(area, 4096, MADV_FREE));
    SHOW(munmap(area + 8192, 4096));
    const int all[] = {MADV_NORMAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_COLD};
    for (int i = 0; i < 5; i++)
        SHOW(madvise(area, 65536, all[i]));
}

// A signal that comes just before a program waits for the other end of a pipe, at some time while it
// computes.
static void pipes(void)
{
    int ended = 0;
    char *const arguments[] = {"pipe", NULL};
    SHOW(mkfifo("pipe", 0700));
    SHOW(execv("./pipe", arguments));
    fflush(stdout);
    for (int i = 0; i < 200; i++) {
        int status;
        if (!fork()) {
            const struct itimerval t = {{0, 0}, {0, 1000 + i % 20 * 100}};
            setitimer(ITIMER_REAL, &t, NULL);
            for (volatile int spin = i % 7 * 100000; spin < 700000; spin++)
                ;
            open("pipe", O_RDONLY);
            _exit(0);
        }
        wait(&status);
        ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    }
    printf("%d ended\n", ended);
    unlink("pipe");
}

// The program's file is not written while it runs, but may be replaced.
static void own_program(void)
{
    struct stat before, s;
    char path[40];
    SHOW(stat("native", &before));
    SHOW(open("native", O_WRONLY));
    SHOW(open("native", O_RDWR | O_TRUNC));
    SHOW(open("native", O_WRONLY | O_CREAT | O_TRUNC, 0700));
    SHOW(open("native", O_WRONLY | O_CREAT | O_EXCL, 0700));
    SHOW(truncate("native", 0));
    SHOW(open("native", O_RDONLY | O_TRUNC));
    SHOW(open("native", O_RDONLY | O_TRUNC | O_CREAT, 0700));
    snprintf(path, sizeof path, "/proc/self/fd/%d", open("native", O_PATH));
    SHOW(open(path, O_WRONLY));
    SHOW(open(path, O_RDONLY | O_TRUNC));
    SHOW(close(open(path, O_RDONLY)));
    SHOW(stat("native", &s) || s.st_size != before.st_size);
    SHOW(close(open("native", O_RDONLY)));
    SHOW(close(open("native", O_PATH)));
    SHOW(unlink("native"));
    const int new = open("native", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SHOW(write(new, "new", 3));
    SHOW(close(new));
    SHOW(close(open("native", O_WRONLY | O_CREAT)));
    SHOW(stat("native", &s) ? -1 : s.st_size);
    SHOW(close(open("native", O_WRONLY | O_TRUNC)));
    SHOW(stat("native", &s) ? -1 : s.st_size);
    unlink("native");
}

static int exceeded;

static void note_exceeded(int number)
{
    exceeded += number == SIGXFSZ;
}

#define SHOW_LIMITED(call)                                                                                   \
    do {                                                                                                     \
        exceeded = 0;                                                                                        \
        SHOW(call);                                                                                          \
        printf("signals %d\n", exceeded);                                                                    \
    } while (0)

// How large files may become: those that the program writes, whichever way, and no others.
static void file_limit(void)
{
    enum { LIMIT = 1 << 20 };
    static char text[LIMIT + 10];
    struct iovec words[2] = {{text, LIMIT - 1}, {text, 11}};
    struct rlimit limit = {LIMIT, RLIM_INFINITY};
    int fd = open("limited", O_RDWR | O_CREAT | O_TRUNC, 0600),
        source = open("source", O_RDWR | O_CREAT, 0600), memory = memfd_create("limited", 0),
        files[] = {fd, memory}, ends[2];
    loff_t to = LIMIT - 3;
    write(source, text, sizeof text);
    signal(SIGXFSZ, note_exceeded);
    SHOW(setrlimit(RLIMIT_FSIZE, &limit));
    for (int i = 0; i < 2; i++) {
        SHOW_LIMITED(pwrite(files[i], text, 10, LIMIT - 4));
        SHOW_LIMITED(pwrite(files[i], text, 10, LIMIT));
        SHOW_LIMITED(pwrite(files[i], text, 0, LIMIT));
        SHOW_LIMITED(writev(files[i], words, 2));
        SHOW_LIMITED(writev(files[i], words, 2));
        SHOW(lseek(files[i], -7, SEEK_CUR));
        SHOW(lseek(source, 0, SEEK_SET));
        SHOW(sendfile(files[i], source, NULL, 10));
        SHOW(lseek(source, 0, SEEK_CUR));
        SHOW_LIMITED(sendfile(files[i], source, NULL, 10));
        SHOW_LIMITED(copy_file_range(files[i], &(loff_t){0}, files[i], &to, 10, 0));
        SHOW_LIMITED(copy_file_range(files[i], &(loff_t){0}, files[i], &to, 10, 0));
        SHOW_LIMITED(ftruncate(files[i], LIMIT + 1));
        SHOW_LIMITED(ftruncate(files[i], LIMIT - 1));
        SHOW_LIMITED(fallocate(files[i], 0, 0, LIMIT + 1));
        SHOW(fcntl(files[i], F_SETFL, O_APPEND));
        SHOW_LIMITED(write(files[i], text, 2));
        SHOW_LIMITED(write(files[i], text, 2));
        SHOW_LIMITED(write(open("limited", O_RDONLY), text, 2));
    }
    SHOW_LIMITED(truncate("limited", LIMIT + 1));
    SHOW_LIMITED(ftruncate(source, LIMIT + 9));
    pipe(ends);
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &limit);
    exceeded = 0;
    const bool told = write(ends[1], "x", 1) == 1 && open("/proc/self/status", O_RDONLY) >= 0 &&
                      open("/proc", O_RDONLY | O_DIRECTORY) >= 0,
               mapped = mmap(NULL, 8192, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    limit.rlim_cur = RLIM_INFINITY;
    SHOW(setrlimit(RLIMIT_FSIZE, &limit));
    printf("told %d mapped %d signals %d\n", told, mapped, exceeded);
    signal(SIGXFSZ, SIG_DFL);
    unlink("limited");
    unlink("source");
}

// Cut by who only reads it.
static void cut_unwritten(void)
{
    struct stat s;
    int fd = open("cut", O_WRONLY | O_CREAT, 0600);
    SHOW(write(fd, "text", 4));
    SHOW(close(open("cut", O_RDONLY | O_TRUNC)));
    SHOW(fstat(fd, &s) ? -1 : s.st_size);
    SHOW(close(open("new", O_RDONLY | O_TRUNC | O_CREAT, 0600)));
    SHOW(open(".", O_RDONLY | O_TRUNC));
    SHOW(open(".", O_RDONLY | O_TRUNC | O_DIRECTORY));
    close(fd);
    unlink("cut");
    unlink("new");
}

// What is open for writing does not run.
static void written_program(void)
{
    const char text[] = "no program";
    int fd = open("written", O_WRONLY | O_CREAT, 0700), script = open("script", O_WRONLY | O_CREAT, 0700);
    char *const none[] = {NULL};
    write(fd, text, sizeof text);
    dprintf(script, "#!./written");
    SHOW(execl("written", "written", NULL));
    SHOW(execl("script", "script", NULL));
    close(script);
    SHOW(execl("script", "script", NULL));
    close(fd);
    SHOW(execl("written", "written", NULL));
    fd = memfd_create("written", 0);
    write(fd, text, sizeof text);
    SHOW(fexecve(fd, none, none));
    unlink("written");
    unlink("script");
}

static void linked_program(void)
{
    char *const none[] = {NULL};
    close(open("plain", O_WRONLY | O_CREAT, 0700));
    symlink("plain", "link");
    SHOW(syscall(SYS_execveat, AT_FDCWD, "plain", none, none, AT_SYMLINK_NOFOLLOW));
    SHOW(syscall(SYS_execveat, AT_FDCWD, "link", none, none, 0));
    SHOW(syscall(SYS_execveat, AT_FDCWD, "link", none, none, AT_SYMLINK_NOFOLLOW));
    unlink("plain");
    unlink("link");
}

// Who has lost its parent comes to the process that wants such.
static void orphans(void)
{
    int value = -1, status;
    const pid_t self = getpid();
    SHOW(prctl(PR_GET_CHILD_SUBREAPER, &value));
    printf("%d\n", value);
    SHOW(prctl(PR_SET_CHILD_SUBREAPER, 1));
    SHOW(prctl(PR_GET_CHILD_SUBREAPER, &value));
    printf("%d\n", value);
    fflush(stdout);
    if (!fork()) {
        prctl(PR_GET_CHILD_SUBREAPER, &value);
        if (!fork()) {
            while (getppid() != self)
                usleep(1000);
            _exit(7);
        }
        _exit(value);
    }
    SHOW(wait(&status) > 0 ? WEXITSTATUS(status) : -1);
    SHOW(wait(&status) > 0 ? WEXITSTATUS(status) : -1);
    SHOW(wait(&status));
    SHOW(prctl(PR_SET_PDEATHSIG, SIGUSR1));
    SHOW(prctl(PR_GET_PDEATHSIG, &value));
    printf("%d\n", value);
    SHOW(prctl(PR_GET_PDEATHSIG, 1));
}

// Who was being made when its parent was killed can be named as any other.
static void killed_parents(void)
{
    int unnamed = 0;
    for (int i = 0; i < 100; i++) {
        int ends[2];
        pid_t made;
        siginfo_t info = {0};
        pipe(ends);
        const pid_t parent = fork();
        if (!parent) {
            for (int child = 0; child < 3; child++)
                if (!fork()) {
                    made = getpid();
                    write(ends[1], &made, sizeof made);
                    sleep(10);
                    _exit(0);
                }
            for (;;)
                pause();
        }
        close(ends[1]);
        read(ends[0], &made, sizeof made);
        usleep(i * 2);
        kill(parent, SIGKILL);
        waitpid(parent, NULL, 0);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        usleep(10000);
        do {
            unnamed += kill(made, 0) && !waitid(P_PID, made, &info, WEXITED | WNOHANG | WNOWAIT);
            kill(made, SIGKILL);
        } while (read(ends[0], &made, sizeof made) > 0);
        close(ends[0]);
    }
    printf("%d processes cannot be named\n", unnamed);
    while (wait(NULL) > 0)
        ;
}

// The most that a process may use of the processor, and what it makes, ends it whatever it ignores.
static void processor_time(void)
{
    for (int inherits = 0; inherits < 2; inherits++) {
        int status;
        if (!fork()) {
            signal(SIGXCPU, SIG_IGN);
            setrlimit(RLIMIT_CPU, &(struct rlimit){1, 1});
            if (inherits && fork()) {
                wait(&status);
                _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
            }
            while (clock() < 3 * CLOCKS_PER_SEC)
                ;
            _exit(0);
        }
        wait(&status);
        printf("%x\n", status);
        fflush(stdout);
    }
}

// Who asks about which process, and what needs no rights.
static void scheduling(void)
{
    const struct sched_param zero = {0}, one = {1};
    struct sched_param got = {77};
    struct timespec t;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    const int pids[] = {-1, 99999999, 0, getpid()};
    for (int i = 0; i < 4; i++) {
        const int pid = pids[i];
        printf("pid %s\n", (const char *[]){"-1", "unknown", "0", "own"}[i]);
        SHOW(sched_getscheduler(pid));
        SHOW(sched_getparam(pid, &got));
        SHOW(sched_getparam(pid, NULL));
        SHOW(syscall(SYS_sched_getparam, pid, 1));
        SHOW(sched_setscheduler(pid, SCHED_OTHER, &zero));
        SHOW(sched_setscheduler(pid, SCHED_OTHER, &one));
        SHOW(sched_setscheduler(pid, SCHED_OTHER, NULL));
        SHOW(sched_setscheduler(pid, 77, &zero));
        SHOW(sched_setscheduler(pid, -1, &zero));
        SHOW(sched_setscheduler(pid, SCHED_FIFO, &zero));
        SHOW(sched_setparam(pid, &zero));
        SHOW(sched_setparam(pid, &one));
        SHOW(sched_setparam(pid, NULL));
        SHOW(sched_rr_get_interval(pid, &t));
        SHOW(sched_setaffinity(pid, sizeof set, &set));
    }
    printf("%d\n", got.sched_priority);
    for (int policy = -1; policy < 7; policy++) {
        printf("policy %d\n", policy);
        SHOW(sched_get_priority_min(policy));
        SHOW(sched_get_priority_max(policy));
    }
    gid_t groups[64];
    SHOW(setgroups(70000, groups));
    SHOW(setgroups((size_t)getgroups(64, groups), groups));
    const int policies[] = {SCHED_BATCH, SCHED_IDLE, SCHED_OTHER};
    fflush(stdout);
    if (fork()) { // who has no rights does not come back from SCHED_IDLE
        wait(NULL);
        return;
    }
    for (int i = 0; i < 3; i++) {
        int status;
        SHOW(sched_setscheduler(0, policies[i], &zero));
        SHOW(sched_getscheduler(0));
        fflush(stdout);
        if (!fork())
            _exit(sched_getscheduler(getpid()));
        wait(&status);
        printf("a child's %d\n", WEXITSTATUS(status));
    }
    fflush(stdout);
    _exit(0);
}

// How much of a script's first line is looked at. The program is run as the scripts' interpreter, too.
static void script_lines(char *own)
{
    char name[] = "./interpreter", line[700];
    SHOW(symlink(own, name));
    for (int i = 0; i < 9; i++) {
        int n = sprintf(line, "#!%s ", i == 5 || i == 6 ? "" : name);
        if (i < 5)
            n += sprintf(line + n, "%0*d", (int[]){239, 240, 241, 300, 241}[i], 1);
        else if (i < 7)
            n = sprintf(line, "#!%*s%s", (int[]){220, 300}[i - 5], "", name);
        else
            n = sprintf(line, "#!%s%*sword", name, (int[]){200, 300}[i - 7], "");
        if (i != 4)
            line[n++] = '\n';
        const int script = open("line", O_WRONLY | O_CREAT | O_TRUNC, 0700);
        SHOW(write(script, line, (size_t)n));
        close(script);
        fflush(stdout);
        if (!fork()) {
            execl("line", "line", "further", NULL);
            printf("%s\n", strerrorname_np(errno));
            fflush(stdout);
            _exit(0);
        }
        wait(NULL);
    }
    unlink(name);
    unlink("line");
}

static int as_interpreter(char **arguments)
{
    for (; *arguments; arguments++)
        printf("%zu %.20s\n", strlen(*arguments), *arguments);
    return 0;
}

// More at once than an answer usually has.
static void many_events(void)
{
    static struct epoll_event events[1000];
    const int e = epoll_create1(0);
    for (int i = 0; i < 400; i++)
        epoll_ctl(e, EPOLL_CTL_ADD, eventfd(1, 0), &(struct epoll_event){EPOLLIN, {.u32 = 1}});
    SHOW(epoll_wait(e, events, 1000, 0));
    SHOW(epoll_wait(e, events, 300, 0));
    SHOW(epoll_wait(e, events, INT_MAX, 0));
    struct timespec none = {0, 0}, wrong = {0, 1000000000};
    SHOW(syscall(SYS_epoll_pwait2, e, events, 1000, &none, NULL, 8));
    SHOW(syscall(SYS_epoll_pwait2, e, events, 1000, NULL, NULL, 8));
    SHOW(syscall(SYS_epoll_pwait2, e, events, 1000, &wrong, NULL, 8));
    for (int i = 0; i <= 400; i++)
        close(e + i);
}

// What has no name but a descriptor.
static void nameless(void)
{
    int pair[2], ends[2], value = 1, none = -1;
    struct stat status;
    char text[16];
    SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SHOW(pipe(ends));
    SHOW(fchmod(ends[0], 0640));
    SHOW(fstat(ends[1], &status));
    printf("%o\n", status.st_mode);
    SHOW(fchown(pair[0], -1, -1));
    SHOW(futimens(ends[1], NULL));
    SHOW(listen(pair[0], 1));
    SHOW(accept(pair[0], NULL, NULL));
    SHOW(accept4(pair[0], NULL, NULL, 0));
    const int others[] = {-1, ends[0]};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "none"};
        SHOW(bind(others[i], (void *)&name, sizeof name));
        SHOW(listen(others[i], 1));
        SHOW(accept(others[i], NULL, NULL));
        SHOW(connect(others[i], (void *)&name, sizeof name));
    }
    for (int option = SO_REUSEADDR; option <= SO_BROADCAST; option++)
        if (option != SO_DONTROUTE) {
            socklen_t size = sizeof value;
            SHOW(getsockopt(pair[0], SOL_SOCKET, option, &value, &size));
        }
    SHOW(getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &value, (void *)&none));
    SHOW(getsockname(pair[0], (void *)text, (void *)&none));
    value = 1;
    const int folder = open(".", O_RDONLY), only_named = open(".", O_PATH);
    SHOW(ioctl(folder, FIONBIO, &value));
    SHOW(fcntl(folder, F_GETFL) & O_NONBLOCK);
    SHOW(ioctl(only_named, FIOCLEX));
    SHOW(ioctl(only_named, FIONBIO, &value));
    SHOW(ioctl(only_named, FIONREAD, &value));
    close(folder);
    close(only_named);
    for (int i = 0; i < 2; i++)
        close(pair[i]), close(ends[i]);
    struct timespec t = {0, 1};
    const int clocks[] = {CLOCK_REALTIME,         CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                          CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,  CLOCK_TAI,           10};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        printf("%d: %d\n", clocks[i], clock_nanosleep(clocks[i], 0, &t, NULL));
    SHOW(prctl(PR_SET_TIMERSLACK, 70000));
    SHOW(prctl(PR_GET_TIMERSLACK));
    SHOW(prctl(PR_GET_SECCOMP));
    SHOW(prctl(PR_GET_SECUREBITS));
}

int main(int count, char **arguments)
{
    if (count > 1)
        return as_interpreter(arguments);
    waiting();
    scheduling();
    script_lines(arguments[0]);
    many_events();
    nameless();
    advice();
    pipes();
    own_program();
    file_limit();
    cut_unwritten();
    written_program();
    linked_program();
    orphans();
    killed_parents();
    processor_time();
    return 0;
}
