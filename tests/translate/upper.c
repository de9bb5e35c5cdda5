// SPDX-License-Identifier: MIT
// Guest program: what its handler is told of accesses and jumps beyond its memory, with and without a tag,
// once the code that makes them is hot.
#define _GNU_SOURCE
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

enum { ROUNDS = 300000 };

static sigjmp_buf back;
static uint64_t memory[2];

uint64_t load(uint64_t at, uint64_t value), store(uint64_t at, uint64_t value),
    call(uint64_t at, uint64_t value);
void nothing(void);
__asm__(".text\n.global load, store, call, nothing\n"
        ".type load, %function\nload: ldr x0, [x0]\n add x0, x0, x1\n ret\n"
        ".type store, %function\nstore: str x1, [x0]\n add x0, x0, x1\n ret\n"
        ".type call, %function\ncall: stp x29, x30, [sp, #-16]!\n blr x0\n ldp x29, x30, [sp], #16\n ret\n"
        ".type nothing, %function\nnothing: ret\n");

static void on_fault(int signal, siginfo_t *info, void *host_context)
{
    const ucontext_t *c = host_context;
    const uint64_t pc = c->uc_mcontext.pc, address = (uint64_t)(uintptr_t)info->si_addr;
    printf("signal %d, code %d, address %" PRIx64 ", pc %" PRIx64 "\n", signal, info->si_code, address, pc);
    siglongjmp(back, 1);
}

static void try(const char *name, uint64_t access(uint64_t at, uint64_t value), uint64_t good, uint64_t bad)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += access(good, i);
    printf("%s: %s, then ", name, sum ? "good" : "nothing");
    if (!sigsetjmp(back, 1))
        access(bad, 0);
}

int main(void)
{
    static const uint64_t wild[] = {-UINT64_C(8), 0xfffffffffffff000, 0xffff800000000010, 0x00007fff00000010,
                                    0xab00000000001230};
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        try("load", load, (uint64_t)(uintptr_t)&memory[0], wild[i]);
        try("store", store, (uint64_t)(uintptr_t)&memory[1], wild[i]);
        try("call", call, (uint64_t)(uintptr_t)nothing, wild[i]);
    }
    try("call", call, (uint64_t)(uintptr_t)nothing, 0x0080000000001230); // the kernel's, and none of them
    return 0;
}
