// SPDX-License-Identifier: MIT
// Guest program: direct branches to beyond the 4 GiB that guests have here, and to in front of address 0.
// They fault where they lead to, not where their lower halves would, though there is code, too.
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, ROUNDS = 300, TIMES = 2000 };

static uint64_t faults, address, pc, lr;

// As if the branch had returned 7.
static void on_fault(int signal, siginfo_t *info, void *host_context)
{
    ucontext_t *c = host_context;
    (void)signal;
    faults++;
    address = (uint64_t)info->si_addr;
    pc = c->uc_mcontext.pc;
    lr = c->uc_mcontext.regs[30];
    c->uc_mcontext.pc = c->uc_mcontext.regs[10];
    c->uc_mcontext.regs[0] = 7;
}

static void put(uint64_t at, const uint32_t *words, size_t size)
{
    uint8_t *page = (uint8_t *)(at & ~(uint64_t)(PAGE - 1));
    mmap(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy((void *)at, words, size);
    __builtin___clear_cache((char *)at, (char *)at + size);
}

// A loop, then the branch; 9 is returned where it is not taken. Where its lower half leads, unless that is 0,
// other code is.
static void try(const char *name, uint64_t at, uint32_t branch, uint64_t lower_half)
{
    const uint32_t code[] = {0xaa1e03ea, // mov x10, x30
                             0xf1000421, // 1: subs x1, x1, #1
                             0x54ffffe1, // b.ne 1b
                             branch,
                             0xd2800120, // mov x0, #9
                             0xd65f0140}; // ret x10
    const uint32_t other[] = {0xd2800540, // mov x0, #42
                              0xd65f0140}; // ret x10
    uint64_t (*function)(uint64_t x0, uint64_t times) = (void *)at;
    uint64_t sum = 0;
    put(at, code, sizeof code);
    if (lower_half)
        put(lower_half, other, sizeof other);
    faults = address = pc = lr = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += function(i % 3, TIMES);
    printf("%s: %" PRIu64 ", %" PRIu64 " faults, at %" PRIx64 ", pc %" PRIx64 ", x30 %s\n", name, sum, faults,
           address, pc, lr == at + 16 ? "of the call" : "as before");
}

int main(void)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    try("b", 0xfa000000, 0x15ffffff, 0x2000008); // by 128 MiB less 4
    try("bl", 0xfb000000, 0x95ffffff, 0x3000008);
    try("b back", 0x1000000, 0x16000000, 0xf900000c);
    try("bl back", 0x1800000, 0x96000000, 0xf980000c);
    try("cbz back", 0x80000, 0xb4800000, 0); // by 1 MiB
    try("cbnz back", 0x90000, 0xb5800000, 0);
    try("b.eq back", 0xa0000, 0x54800000, 0);
    return 0;
}
