// SPDX-License-Identifier: MIT
#include "blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "process.h"

#if !defined(__x86_64__)
#error "tell here how this host makes system calls"
#endif

#define LEAVE_WITH_TEXT(result) "    mov $" #result ", %rax\n    ret\n"
#define LEAVE_WITH(result) LEAVE_WITH_TEXT(result)

// The host's system call, unless *pending is set. Returns its result, RESTART_ALWAYS if it was not made.
long blocking_interruptible_call(const atomic_bool *pending, long number, long a, long b, long c, long d,
                                 long e, long f);
extern const char blocking_call_start[], blocking_call_end[], blocking_call_refused[];

// pending in rdi, number in rsi, then rdx, rcx, r8, r9 and two on the stack. From the label start to the
// system call instruction, which ends at the label end, nothing has happened yet that could not be undone.
__asm__(".text\n"
        ".globl blocking_interruptible_call\n"
        ".type blocking_interruptible_call, @function\n"
        "blocking_interruptible_call:\n"
        ".cfi_startproc\n"
        "    mov %rdi, %r11\n"
        "    mov %rsi, %rax\n"
        "    mov %rdx, %rdi\n"
        "    mov %rcx, %rsi\n"
        "    mov %r8, %rdx\n"
        "    mov %r9, %r10\n"
        "    mov 8(%rsp), %r8\n"
        "    mov 16(%rsp), %r9\n"
        "blocking_call_start:\n"
        "    cmpb $0, (%r11)\n"
        "    jne blocking_call_refused\n"
        "    syscall\n"
        "blocking_call_end:\n"
        "    ret\n"
        "blocking_call_refused:\n" LEAVE_WITH(
            RESTART_ALWAYS) ".cfi_endproc\n"
                            ".size blocking_interruptible_call, . - blocking_interruptible_call\n");

void blocking_interrupt(void *host_context)
{
    greg_t *pc = &((ucontext_t *)host_context)->uc_mcontext.gregs[REG_RIP];
    if (*pc >= (greg_t)blocking_call_start && *pc < (greg_t)blocking_call_end)
        *pc = (greg_t)blocking_call_refused;
}

// Whether a wait has to end now.
static bool must_return(struct linux_process *p)
{
    return signal_due(p) || atomic_load(&p->guest->stop_requested);
}

// As blocking_call, of what may wait.
static int64_t call_until_signal(struct linux_process *p, long number, long a, long b, long c, long d, long e,
                                 long f)
{
    bool made = false;
    while (!must_return(p)) {
        uint64_t start = clock_monotonic_ns();
        long result = blocking_interruptible_call(&p->guest->signal_pending, number, a, b, c, d, e, f);
        p->guest->stats.idle_ns += clock_monotonic_ns() - start;
        if (result != -EINTR && result != RESTART_ALWAYS)
            return result;
        made |= result == -EINTR;
    }
    return made ? RESTART : RESTART_ALWAYS;
}

int64_t blocking_call(struct linux_process *p, bool waits, long number, long a, long b, long c, long d,
                      long e, long f)
{
    if (!waits) {
        long result = syscall(number, a, b, c, d, e, f);
        return result < 0 ? -errno : result;
    }
    // A process in the background that blocks them gets EIO from its terminal, or goes on: the host's kernel
    // has to know, for the guest's mask is kept here.
    const uint64_t blocked = p->signals.blocked & (SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU));
    if (!blocked || !p->owns_host)
        return call_until_signal(p, number, a, b, c, d, e, f);
    sigset_t set;
    sigemptyset(&set);
    for (int n = SIGTTIN; n <= SIGTTOU; n++)
        if (blocked & SIGNAL_BIT(n))
            sigaddset(&set, n);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int64_t result = call_until_signal(p, number, a, b, c, d, e, f);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return result;
}

int blocking_open(struct linux_process *p, int folder, const char *path, int flags, mode_t mode,
                  uint64_t resolve)
{
    const struct open_how how = {.flags = (uint32_t)flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY),
                                 .mode = mode,
                                 .resolve = resolve};
    long fd;
    if (flags & (O_NONBLOCK | O_PATH)) {
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
        return fd < 0 ? -errno : (int)fd;
    }
    return (int)blocking_interruptible_call(&p->guest->signal_pending, SYS_openat2, folder, (long)path,
                                            (long)&how, sizeof how, 0, 0);
}

int64_t blocking_wait(struct linux_process *p, uint64_t deadline)
{
    while (!must_return(p)) {
        uint64_t now = clock_monotonic_ns();
        if (now >= deadline)
            return 0;
        uint64_t left = deadline - now;
        struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        // Beside a window no host signal ends the wait: look now and then whether a stop is requested.
        if (!p->owns_host && left > 5000000)
            t = (struct timespec){0, 5000000};
        blocking_interruptible_call(&p->guest->signal_pending, SYS_ppoll, 0, 0, (long)&t, 0, 8, 0);
        p->guest->stats.idle_ns += clock_monotonic_ns() - now;
    }
    return RESTART;
}

bool blocking_wait_readable(struct linux_process *p, int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    while (!signal_ends_guest(p)) {
        long result =
            blocking_interruptible_call(&p->guest->signal_pending, SYS_ppoll, (long)&wanted, 1, 0, 0, 8, 0);
        if (result != -EINTR && result != RESTART_ALWAYS)
            return true;
    }
    return false;
}
