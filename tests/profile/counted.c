// SPDX-License-Identifier: MIT
// Functions of which every instruction that they execute can be counted by hand.
//
//   counted ROUNDS          calls each; those that trap or fault are left out if ROUNDS is below 1000
//   counted ROUNDS exec     the same, then becomes this program again, without the last argument
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// Instructions that one call executes stand beside each.
void straight(void); // 7
void looped(uint64_t rounds); // 2 rounds + 1
void skipped(uint64_t yes); // 2 if yes is 0, else 4
void calling(void); // 3
void faulting(const uint64_t *at); // 3: the load once more behind the handler
void trapping(void); // 2: a breakpoint and an undefined instruction do not count
void jumping(void *to); // 2, with nothing behind the branch if it goes wild
__asm__(".text\n"
        ".macro function name\n"
        ".balign 64\n"
        ".global \\name\n"
        ".type \\name, %function\n"
        "\\name:\n"
        ".endm\n"
        "function straight\n"
        "    .rept 6\n"
        "    nop\n"
        "    .endr\n"
        "    ret\n"
        ".size straight, .-straight\n"
        "function looped\n"
        "1:  subs x0, x0, 1\n"
        "    b.ne 1b\n"
        "    ret\n"
        ".size looped, .-looped\n"
        "function skipped\n"
        "    cbz x0, 1f\n"
        "    nop\n"
        "    nop\n"
        "1:  ret\n"
        ".size skipped, .-skipped\n"
        "function calling\n"
        "    mov x8, 172\n" // getpid
        "    svc 0\n"
        "    ret\n"
        ".size calling, .-calling\n"
        "function faulting\n"
        "    nop\n"
        "    ldr x0, [x0]\n"
        "    ret\n"
        ".size faulting, .-faulting\n"
        "function trapping\n"
        "    nop\n"
        "    brk 1\n"
        "    .word 0\n"
        "    ret\n"
        ".size trapping, .-trapping\n"
        "function jumping\n"
        "    nop\n"
        "    br x0\n"
        ".size jumping, .-jumping\n");

static uint64_t good;

static void handle(int signal, siginfo_t *info, void *user)
{
    ucontext_t *context = user;
    (void)info;
    if (signal != SIGSEGV)
        context->uc_mcontext.pc += 4;
    else if (context->uc_mcontext.pc == context->uc_mcontext.regs[0]) // back from where jumping went
        context->uc_mcontext.pc = context->uc_mcontext.regs[30];
    else
        context->uc_mcontext.regs[0] = (uint64_t)&good;
}

// Code that is written anew for each call: all of it lies in one page, whose address is printed.
static void write_and_call(unsigned rounds)
{
    uint32_t *code = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < rounds; i++) {
        const unsigned length = i % 3;
        for (unsigned k = 0; k < length; k++)
            code[k] = 0xd503201f; // nop
        code[length] = 0xd65f03c0; // ret
        __builtin___clear_cache((char *)code, (char *)(code + length + 1));
        ((void (*)(void))code)();
    }
    printf("written [%#lx]\n", (unsigned long)code);
}

int main(int argc, char **argv)
{
    const unsigned rounds = (unsigned)atoi(argv[1]);
    void (*volatile pointer)(void) = straight;
    for (unsigned i = 0; i < 10; i++)
        pointer();
    looped(rounds);
    for (unsigned i = 0; i < rounds / 10; i++)
        skipped(i % 2);
    calling();
    if (rounds >= 1000) {
        const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGTRAP, &action, NULL);
        sigaction(SIGILL, &action, NULL);
        for (unsigned i = 0; i < 20; i++) {
            faulting(NULL);
            trapping();
            jumping(i % 2 ? NULL : (void *)(1ull << 40));
        }
        write_and_call(300);
    }
    fflush(stdout);
    if (argc > 2)
        execl("/proc/self/exe", argv[0], argv[1], NULL);
    return 0;
}
