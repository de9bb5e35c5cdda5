// SPDX-License-Identifier: MIT
// What qemu 7.2 has otherwise than Linux: compared with the same program natively.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
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

int main(void)
{
    waiting();
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
