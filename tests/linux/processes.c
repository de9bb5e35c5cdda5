// SPDX-License-Identifier: MIT
// fork, execve, wait, pipes between processes, process groups.
#define _GNU_SOURCE
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

static volatile sig_atomic_t children;
static siginfo_t last;

static void on_child(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    last = *info;
    children++;
}

static void waiting(void)
{
    int status = 0;
    struct rusage usage;
    siginfo_t info;
    SHOW(wait(&status));
    pid_t child = fork();
    if (!child)
        _exit(42);
    SHOW(wait4(child, &status, 0, &usage) == child);
    printf("exited %d %d\n", WIFEXITED(status), WEXITSTATUS(status));
    SHOW(waitpid(child, &status, 0));
    child = fork();
    if (!child) {
        raise(SIGSTOP);
        _exit(1);
    }
    SHOW(waitpid(child, &status, WUNTRACED) == child);
    printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    SHOW(waitpid(child, &status, WNOHANG));
    SHOW(kill(child, SIGCONT));
    SHOW(waitid(P_PID, child, &info, WEXITED | WNOWAIT));
    printf("code %d status %d pid %d\n", info.si_code, info.si_status, info.si_pid == child);
    SHOW(kill(child, SIGTERM));
    SHOW(kill(-child, 0));
    SHOW(getpgid(child) == getpgrp());
    SHOW(waitid(P_ALL, 0, &info, WEXITED));
    SHOW(kill(child, SIGTERM));
    SHOW(getpgid(child));
    SHOW(waitid(P_ALL, 0, &info, WEXITED));
    SHOW(waitid(P_PIDFD, open("/dev/null", O_RDONLY), &info, WEXITED));
    SHOW(waitid(P_PIDFD, 100, &info, WEXITED));
    SHOW(waitid(P_PIDFD, -1, &info, WEXITED));
    pid_t leader = fork();
    if (!leader)
        _exit(setpgid(0, 0));
    waitid(P_PID, leader, &info, WEXITED | WNOWAIT);
    child = fork();
    if (!child)
        for (;;)
            pause();
    SHOW(setpgid(child, leader)); // whose number is that of the group as long as somebody may wait for it
    SHOW(getpgid(child) == leader);
    SHOW(kill(-leader, SIGKILL));
    SHOW(waitpid(child, NULL, 0) == child);
    SHOW(waitpid(leader, NULL, 0) == leader);
    struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
    sigaction(SIGCHLD, &action, NULL);
    sigset_t block, old;
    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    sigprocmask(SIG_BLOCK, &block, &old);
    child = fork();
    if (!child)
        _exit(9);
    while (!children)
        sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("SIGCHLD code %d status %d pid %d\n", last.si_code, last.si_status, last.si_pid == child);
    SHOW(waitpid(-1, &status, 0) == child);
    signal(SIGCHLD, SIG_IGN);
    child = fork();
    if (!child)
        _exit(0);
    SHOW(waitpid(child, &status, 0));
    signal(SIGCHLD, SIG_DFL);
}

static void pipes(void)
{
    int ends[2];
    char text[100] = "";
    pipe(ends);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        printf("from the child\n");
        exit(0);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    fgets(text, sizeof text, f);
    printf("got: %s", text);
    SHOW(fgets(text, sizeof text, f) != NULL);
    fclose(f);
    waitpid(child, NULL, 0);
    pipe(ends);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    SHOW(write(ends[1], "x", 1));
    fflush(stdout);
    child = fork();
    if (!child) {
        signal(SIGPIPE, SIG_DFL);
        write(ends[1], "x", 1);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("died of SIGPIPE %d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

// Memory that stays shared between parent and child, and what does not.
static void memory(void)
{
    volatile int private = 1;
    volatile int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_t *semaphore = (sem_t *)(shared + 100);
    sem_init(semaphore, 1, 0);
    *shared = 1;
    pid_t child = fork();
    if (!child) {
        private = 2;
        *shared = 2;
        usleep(20000);
        sem_post(semaphore);
        _exit(0);
    }
    SHOW(sem_wait(semaphore));
    waitpid(child, NULL, 0);
    printf("private %d shared %d\n", private, *shared);
    child = vfork();
    if (!child)
        _exit(6);
    int status;
    waitpid(child, &status, 0);
    printf("vfork child %d\n", WEXITSTATUS(status));
}

static void identities(void)
{
    SHOW(getpid() == (pid_t)syscall(SYS_gettid));
    int parent = getpid();
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        SHOW(getppid() == parent);
        SHOW(getpid() != parent);
        SHOW(setpgid(0, 0));
        SHOW(getpgrp() == getpid());
        SHOW(getpgid(parent) == getpgrp());
        SHOW(setsid());
        exit(0);
    }
    waitpid(child, NULL, 0);
    SHOW(kill(child, 0));
    child = fork();
    if (!child) {
        SHOW(setsid() == getpid());
        SHOW(getsid(0) == getpid());
        pause();
    }
    usleep(50000);
    SHOW(kill(-child, SIGTERM));
    int status;
    waitpid(child, &status, 0);
    printf("group killed by %d\n", WTERMSIG(status));
    char name[20] = "";
    SHOW(prctl(PR_SET_NAME, "a long name that is cut"));
    SHOW(prctl(PR_GET_NAME, name));
    printf("%s\n", name);
}

static void programs(const char *self)
{
    char *arguments[] = {"zero", "one", "", "three words here", NULL};
    char *environment[] = {"A=1", "EMPTY=", NULL};
    int status;
    fflush(stdout);
    int kept = open("/dev/null", O_RDONLY), closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char numbers[40];
    snprintf(numbers, sizeof numbers, "FDS=%d,%d", kept, closed);
    environment[1] = numbers;
    signal(SIGUSR1, SIG_IGN);
    pid_t child = fork();
    if (!child) {
        execve(self, arguments, environment);
        _exit(127);
    }
    waitpid(child, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
    fflush(stdout);
    child = fork();
    if (!child) {
        fexecve(open(self, O_PATH), arguments, environment);
        _exit(127);
    }
    waitpid(child, &status, 0);
    printf("named only: status %d\n", WEXITSTATUS(status));
    SHOW(getpriority(99, 0));
    SHOW(execve("none", arguments, environment));
    SHOW(execve("/", arguments, environment));
    FILE *f = fopen("script", "w");
    fprintf(f, "#! %s  an option \nrest\n", self);
    fclose(f);
    SHOW(execve("script", arguments, environment));
    chmod("script", 0755);
    char *script[] = {"script", "x", NULL};
    fflush(stdout);
    child = fork();
    if (!child) {
        execve("./script", script, environment);
        _exit(127);
    }
    waitpid(child, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
    f = fopen("script", "w");
    fprintf(f, "no program\n");
    fclose(f);
    SHOW(execve("script", script, environment));
    unlink("script");
    fflush(stdout);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT, 0600);
    SHOW(posix_spawn(&child, self, &actions, NULL, arguments, environment));
    waitpid(child, &status, 0);
    struct stat s;
    stat("spawned", &s);
    printf("status %d, wrote %d\n", WEXITSTATUS(status), s.st_size > 50);
    unlink("spawned");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        for (int i = 1; i < argc; i++) // the first one is not the same where a script starts qemu
            printf("argument %d: %s\n", i, argv[i]);
        printf("environment %s %s\n", getenv("A"), getenv("SELF") ? "kept" : "new");
        int kept, closed;
        if (getenv("FDS") && sscanf(getenv("FDS"), "%d,%d", &kept, &closed) == 2)
            printf("kept %d closed %d\n", fcntl(kept, F_GETFD) >= 0, fcntl(closed, F_GETFD) < 0);
        struct sigaction action;
        sigaction(SIGUSR1, NULL, &action);
        printf("SIGUSR1 ignored %d\n", action.sa_handler == SIG_IGN);
        return 33;
    }
    waiting();
    pipes();
    memory();
    identities();
    programs(getenv("SELF"));
    return 0;
}
