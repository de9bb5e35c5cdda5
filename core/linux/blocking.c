// SPDX-License-Identifier: MIT
#include "blocking.h"

#include <stdint.h>
#include <ucontext.h>

#if !defined(__x86_64__)
#error "tell here how this host makes system calls"
#endif

extern const char linux_call_start[], linux_call_end[], linux_call_refused[];

// pending in rdi, number in rsi, then rdx, rcx, r8, r9 and two on the stack. From the label start to the
// system call instruction, which ends at the label end, nothing has happened yet that could not be undone.
__asm__(".text\n"
        ".globl linux_interruptible_call\n"
        ".type linux_interruptible_call, @function\n"
        "linux_interruptible_call:\n"
        ".cfi_startproc\n"
        "    mov %rdi, %r11\n"
        "    mov %rsi, %rax\n"
        "    mov %rdx, %rdi\n"
        "    mov %rcx, %rsi\n"
        "    mov %r8, %rdx\n"
        "    mov %r9, %r10\n"
        "    mov 8(%rsp), %r8\n"
        "    mov 16(%rsp), %r9\n"
        "linux_call_start:\n"
        "    cmpb $0, (%r11)\n"
        "    jne linux_call_refused\n"
        "    syscall\n"
        "linux_call_end:\n"
        "    ret\n"
        "linux_call_refused:\n"
        "    mov $-4, %rax\n" // -EINTR
        "    ret\n"
        ".cfi_endproc\n"
        ".size linux_interruptible_call, . - linux_interruptible_call\n");

void linux_interrupt_call(void *host_context)
{
    greg_t *pc = &((ucontext_t *)host_context)->uc_mcontext.gregs[REG_RIP];
    if (*pc >= (greg_t)linux_call_start && *pc < (greg_t)linux_call_end)
        *pc = (greg_t)linux_call_refused;
}
