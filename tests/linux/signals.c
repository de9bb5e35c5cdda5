// SPDX-License-Identifier: MIT
// Signals: faults that a handler sees and repairs, interrupted calls, masks, queues, stacks.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "report.h"

static sigjmp_buf back;
static volatile sig_atomic_t count;
static siginfo_t last;

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    last = *info;
    siglongjmp(back, 1);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    last = *info;
    count++;
}

// Runs the statement, which should fault, and tells what the handler got.
#define FAULT(statement, base)                                                                               \
    do {                                                                                                     \
        if (!sigsetjmp(back, 1)) {                                                                           \
            statement;                                                                                       \
            printf("%s: no fault\n", #statement);                                                            \
        } else {                                                                                             \
            /* qemu 7.2 tells ILL_ILLOPN where Linux has ILL_ILLOPC */                                       \
            if (last.si_signo == SIGILL)                                                                     \
                last.si_code = 0;                                                                            \
            printf("%s: signal %d code %d address +%lx\n", #statement, last.si_signo, last.si_code,          \
                   (unsigned long)((uintptr_t)last.si_addr - (uintptr_t)(base)));                            \
        }                                                                                                    \
    } while (0)

static void faults(void)
{
    install(SIGSEGV, on_fault, 0);
    install(SIGBUS, on_fault, 0);
    install(SIGILL, on_fault, 0);
    install(SIGTRAP, on_fault, 0);
    char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    FAULT(*(volatile char *)8 = 1, 0);
    FAULT((void)*(volatile char *)16, 0);
    FAULT(page[5] = 1, page);
    FAULT((void)*(volatile char *)(page + 4096 + 7), page);
    FAULT((void)*(volatile long *)(page + 4092), page);
    mprotect(page, 4096, PROT_NONE);
    FAULT((void)*(volatile char *)(page + 3), page);
    FAULT(((void (*)(void))page)(), page);
    FAULT(((void (*)(void))0x20)(), 0);
    FAULT(__asm__ volatile("udf #7"), last.si_addr);
    FAULT(__asm__ volatile("brk #3"), last.si_addr);
}

// ---- a handler that repairs ----

static void on_skip(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    ucontext_t *u = context;
    u->uc_mcontext.pc += 4;
    u->uc_mcontext.regs[0] = 4711;
    u->uc_mcontext.pstate = 0x60000000;
    count++;
}

static void on_map(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    count++;
    mprotect((void *)((uintptr_t)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}

struct fpsimd {
    uint32_t magic, size, fpsr, fpcr;
    __uint128_t v[32];
};

static void on_change_vector(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    struct fpsimd *f = (struct fpsimd *)((ucontext_t *)context)->uc_mcontext.__reserved;
    printf("record %x size %d v8 %lx fpcr %x\n", f->magic, f->size, (long)f->v[8], f->fpcr);
    f->v[8] = f->v[8] + 1;
    __asm__ volatile("movi v8.16b, #0\n movi v9.16b, #0\n cmp x0, x0" ::: "v8", "v9", "cc");
    double volatile d = 1.0;
    d /= 3;
}

static void repairs(void)
{
    long x, flags;
    install(SIGSEGV, on_skip, 0);
    __asm__ volatile("mov x0, #0\n ldr x0, [x0]\n mrs %1, nzcv\n mov %0, x0"
                     : "=r"(x), "=r"(flags)::"x0", "cc");
    printf("after skipping: x0 %ld nzcv %lx\n", x, flags);
    install(SIGSEGV, on_map, 0);
    char *p = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    count = 0;
    for (int i = 0; i < 65536; i += 100)
        p[i] = (char)i;
    printf("pages opened one by one: %d, %d\n", count, p[400]);
    install(SIGUSR1, on_change_vector, 0);
    long a, b, pid = getpid(), nzcv, tid = pid;
    __asm__ volatile("mov x1, #77\n fmov d8, x1\n mov x1, #88\n fmov d9, x1\n"
                     "mov x0, %4\n mov x1, %5\n mov x2, #10\n mov x8, #131\n"
                     "mov x3, #0xf0000000\n msr nzcv, x3\n"
                     "svc #0\n"
                     "fmov %0, d8\n fmov %1, d9\n mrs %2, nzcv\n mov %3, x0"
                     : "=r"(a), "=r"(b), "=r"(nzcv), "=r"(x)
                     : "r"(pid), "r"(tid)
                     : "x0", "x1", "x2", "x3", "x8", "v8", "v9", "cc");
    printf("after the handler: d8 %ld d9 %ld nzcv %lx result %ld\n", a, b, nzcv, x);
}

// ---- asynchronous ----

static void alarm_in(int milliseconds)
{
    struct itimerval t = {{0, 0}, {0, milliseconds * 1000}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static void interruptions(void)
{
    char text[10];
    int ends[2];
    pipe(ends);
    install(SIGALRM, on_signal, 0);
    count = 0;
    alarm_in(20);
    while (!count) // no system call: the loop itself has to be interrupted
        ;
    printf("a loop was interrupted, code %d\n", last.si_code);
    alarm_in(20);
    SHOW(read(ends[0], text, 1));
    alarm_in(20);
    struct timespec t = {5, 0}, left = {0, 0};
    SHOW(nanosleep(&t, &left));
    printf("left %d\n", left.tv_sec == 4);
    alarm_in(20);
    SHOW(pause());
    install(SIGALRM, on_signal, SA_RESTART);
    count = 0;
    pid_t child = fork();
    if (!child) {
        usleep(100000);
        write(ends[1], "x", 1);
        _exit(3);
    }
    alarm_in(20);
    SHOW(read(ends[0], text, 1));
    printf("restarted after %d\n", count);
    alarm_in(20);
    int status;
    SHOW(waitpid(child, &status, 0) == child);
    alarm_in(0);
    printf("status %x\n", status);
}

// What does not wait is not interrupted, however many signals come.
static void no_interruptions(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
    int file = open("calls", O_RDWR | O_CREAT, 0600), null = open("/dev/null", O_RDWR), failed = 0;
    int maps = open("/proc/self/maps", O_RDONLY), ends[2], interrupted = 0;
    char text[100] = "";
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    pipe2(ends, O_NONBLOCK);
    install(SIGALRM, on_signal, 0);
    count = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    while (count < 300) {
        failed += pwrite(file, text, sizeof text, 0) < 0;
        failed += pread(file, text, sizeof text, 0) < 0;
        failed += write(null, text, sizeof text) < 0;
        failed += pread(maps, text, sizeof text, 0) < 0;
        failed += waitpid(child, NULL, WNOHANG) < 0;
        failed += flock(file, LOCK_SH | LOCK_NB) < 0;
        interrupted += read(ends[0], text, sizeof text) < 0 && errno == EINTR;
        interrupted += write(ends[1], text, 1) < 0 && errno == EINTR;
        interrupted += poll(&(struct pollfd){ends[1], POLLOUT}, 1, 1000) < 0;
    }
    setitimer(ITIMER_REAL, &off, NULL);
    printf("%d calls failed, %d were interrupted\n", failed, interrupted);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void masks(void)
{
    sigset_t set, old, pending;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN + 3);
    install(SIGUSR1, on_signal, 0);
    install(SIGUSR2, on_signal, 0);
    install(SIGRTMIN + 3, on_signal, 0);
    count = 0;
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    for (int i = 0; i < 3; i++)
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = 100 + i});
    sigpending(&pending);
    printf("pending %d %d %d, handled %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2),
           sigismember(&pending, SIGRTMIN + 3), count);
    SHOW(sigwaitinfo(&set, &info));
    printf("code %d\n", info.si_code);
    for (int i = 0; i < 2; i++) {
        SHOW(sigwaitinfo(&set, &info) == SIGRTMIN + 3);
        printf("code %d value %d\n", info.si_code, info.si_value.sival_int);
    }
    struct timespec soon = {0, 10000000};
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("handled %d value %d\n", count, last.si_value.sival_int);
    sigprocmask(SIG_BLOCK, &set, &old);
    SHOW(sigtimedwait(&set, &info, &soon));
    raise(SIGUSR2);
    sigset_t none;
    sigemptyset(&none);
    SHOW(sigsuspend(&none));
    printf("handled %d\n", count);
    sigprocmask(SIG_SETMASK, NULL, &pending);
    printf("blocked again %d\n", sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_SETMASK, &old, NULL);
    struct sigaction action;
    install(SIGUSR1, on_signal, SA_RESETHAND);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &action);
    printf("reset %d\n", action.sa_handler == SIG_DFL);
    SHOW(sigaction(SIGKILL, &action, NULL));
    SHOW(kill(getpid(), 0));
    SHOW(kill(getpid(), 100));
    SHOW(kill(INT_MIN, 0));
    signal(SIGUSR1, SIG_IGN);
    SHOW(raise(SIGUSR1));
}

// ---- how many can wait ----

static void block(int first, int last, int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (int n = first; n <= last; n++)
        sigaddset(&set, n);
    sigprocmask(how, &set, NULL);
}

// What waits of that number, taken in turn; they have to carry 0, 1, 2, …
static int take_all(int number)
{
    sigset_t set;
    siginfo_t info;
    int taken = 0;
    sigemptyset(&set);
    sigaddset(&set, number);
    while (sigtimedwait(&set, &info, &(struct timespec){0, 0}) == number)
        if (info.si_value.sival_int != taken++ && info.si_code == SI_QUEUE)
            printf("number %d carries %d\n", taken - 1, info.si_value.sival_int);
    return taken;
}

static void limits(void)
{
    struct rlimit before, few;
    siginfo_t info;
    sigset_t set;
    int sent = 0;
    getrlimit(RLIMIT_SIGPENDING, &before);
    few = (struct rlimit){20, before.rlim_max};
    SHOW(setrlimit(RLIMIT_SIGPENDING, &few));
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
    block(SIGUSR1, SIGRTMIN + 5, SIG_BLOCK);
    while (sent < 1000 && sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = sent}) == 0)
        sent++;
    printf("%d wait, then %s\n", sent > 0 && sent <= 20, strerrorname_np(errno));
    SHOW(sigqueue(getpid(), SIGRTMIN + 4, (union sigval){0}));
    SHOW(tgkill(getpid(), getpid(), SIGRTMIN + 4));
    SHOW(kill(getpid(), SIGRTMIN + 5));
    SHOW(kill(getpid(), SIGRTMIN + 5));
    SHOW(kill(getpid(), SIGUSR1));
    SHOW(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 7}));
    for (int i = 0; i < 2; i++) {
        sigemptyset(&set);
        sigaddset(&set, i ? SIGUSR2 : SIGUSR1);
        SHOW(sigwaitinfo(&set, &info) == (i ? SIGUSR2 : SIGUSR1));
        printf("code %d from itself %d\n", info.si_code, info.si_pid == getpid());
    }
    SHOW(take_all(SIGRTMIN + 3) == sent);
    SHOW(take_all(SIGRTMIN + 4));
    SHOW(take_all(SIGRTMIN + 5));
    SHOW(sigqueue(getpid(), SIGRTMIN + 4, (union sigval){0}));
    SHOW(take_all(SIGRTMIN + 4));
    setrlimit(RLIMIT_SIGPENDING, &before);

    // None is lost that another process was told to have sent, however many there are.
    pid_t child = fork();
    if (!child) {
        for (sent = 0; sent < 2000; sent++)
            if (sigqueue(getppid(), SIGRTMIN + 3, (union sigval){.sival_int = sent}))
                _exit(1);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("another process sent all of them: %d\n", WEXITSTATUS(status) == 0);
    SHOW(take_all(SIGRTMIN + 3));
    SHOW(take_all(SIGUSR1));
    block(SIGUSR1, SIGRTMIN + 5, SIG_UNBLOCK);
}

static int depth;

static void on_nested(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    printf("enter %d at depth %d\n", number, depth);
    if (++depth < 3)
        raise(number);
    printf("leave %d\n", number);
    depth--;
}

// ---- stacks ----

static char stack[65536];
static volatile int sink;

static void on_overflow(int number, siginfo_t *info, void *context)
{
    char here;
    (void)context;
    printf("overflow: signal %d on the alternate stack %d, address %d\n", number,
           &here >= stack && &here < stack + sizeof stack, info->si_addr != NULL);
    siglongjmp(back, 1);
}

static void on_no_room(int number, siginfo_t *info, void *context)
{
    char here;
    (void)context;
    printf("no room: signal %d code %d on the alternate stack %d\n", number, info->si_code,
           &here >= stack && &here < stack + sizeof stack);
    siglongjmp(back, 1);
}

// A signal with a handler while the stack pointer leads nowhere. qemu looks for what comes of that at the
// next call.
static void signal_nowhere(void)
{
    if (!sigsetjmp(back, 1))
        __asm__ volatile(
            "mov x0, %0\n mov x1, %1\n mov x8, %2\n mov sp, %3\n svc #0\n svc #0" ::"r"((long)getpid()),
            "r"((long)SIGUSR1), "r"((long)SYS_kill), "r"(4096l)
            : "x0", "x1", "x8", "memory");
}

static void on_damage(int number, siginfo_t *info, void *context)
{
    (void)info;
    ucontext_t *c = context;
    memset(c->uc_mcontext.__reserved, 0xff, 16);
    printf("a frame is damaged in the handler of %d\n", number);
}

static void on_damaged(int number, siginfo_t *info, void *context)
{
    char here;
    (void)info, (void)context;
    printf("damaged: signal %d on the alternate stack %d\n", number,
           &here >= stack && &here < stack + sizeof stack);
    siglongjmp(back, 1);
}

// What rt_sigreturn refuses is a SIGSEGV like any other.
static void damage(void)
{
    install(SIGSEGV, on_damaged, SA_ONSTACK);
    install(SIGUSR1, on_damage, 0);
    if (!sigsetjmp(back, 1))
        raise(SIGUSR1);
}

__attribute__((noinline)) static int recurse(int n)
{
    volatile char room[1000];
    room[n % 1000] = (char)n;
    return recurse(n + 1) + room[0];
}

static void stacks(void)
{
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack}, old;
    SHOW(sigaltstack(&s, &old));
    printf("old flags %d\n", old.ss_flags);
    install(SIGSEGV, on_overflow, SA_ONSTACK);
    for (int i = 0; i < 2; i++)
        if (!sigsetjmp(back, 1))
            sink = recurse(0);
    install(SIGSEGV, on_no_room, SA_ONSTACK);
    install(SIGUSR1, on_signal, 0);
    signal_nowhere();
    damage();
    sigaltstack(NULL, &old);
    printf("flags %d size %ld\n", old.ss_flags, (long)old.ss_size);
    s.ss_size = 100;
    SHOW(sigaltstack(&s, NULL));
    s.ss_flags = SS_DISABLE;
    SHOW(sigaltstack(&s, NULL));
    install(SIGUSR2, on_nested, SA_NODEFER);
    raise(SIGUSR2);
}

// ---- waiting ----

// What is ignored, by default or not, waits while it is blocked, and can be waited for.
static void ignored(void)
{
    static const int numbers[] = {SIGCHLD, SIGWINCH, SIGUSR1};
    const struct timespec most = {5, 0}, none = {0, 0};
    sigset_t set, old;
    siginfo_t info;
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < 3; i++) {
        sigemptyset(&set);
        sigaddset(&set, numbers[i]);
        SHOW(sigtimedwait(&set, &info, &none));
        sigprocmask(SIG_BLOCK, &set, &old);
        pid_t child = fork();
        if (!child) {
            usleep(100000);
            _exit(numbers[i] != SIGCHLD && kill(getppid(), numbers[i]));
        }
        SHOW(sigtimedwait(&set, &info, &most));
        printf("from the child %d\n", info.si_pid == child);
        waitpid(child, NULL, 0);
        if (numbers[i] != SIGCHLD) {
            child = fork();
            if (!child)
                _exit(kill(getppid(), numbers[i]));
            waitpid(child, NULL, 0);
            install(numbers[i], on_signal, 0);
        }
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    signal(SIGUSR1, SIG_IGN);
}

// ---- stopping ----

static void show_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    printf("pending stop %d continue %d\n", sigismember(&pending, SIGTSTP), sigismember(&pending, SIGCONT));
}

// One that stops and one that continues undo each other.
static void stops(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    sigaddset(&set, SIGCONT);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGTSTP);
    show_pending();
    raise(SIGCONT);
    show_pending();
    raise(SIGTSTP);
    show_pending();
    signal(SIGCONT, SIG_IGN);
    kill(getpid(), SIGCONT);
    show_pending();
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGCONT, SIG_DFL);
}

// ---- death ----

static void die(int number)
{
    struct rlimit none = {0, 0};
    int status;
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_CORE, &none);
        signal(number, SIG_DFL);
        if (number == SIGSEGV)
            *(volatile int *)0 = 0;
        else
            raise(number);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child: signaled %d by %d\n", WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    faults();
    repairs();
    interruptions();
    no_interruptions();
    masks();
    limits();
    stacks();
    ignored();
    stops();
    die(SIGTERM);
    die(SIGABRT);
    die(SIGKILL);
    die(SIGSEGV);
    return 0;
}
