// SPDX-License-Identifier: MIT
// Guest program that handles its faults: a loop crosses pages that are not there when it comes, another's
// pointer goes astray beyond 4 GiB, and the handler sees every register as the loop had left them. Prints a
// hash of all that it saw.
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, PAGES = 32, ROUNDS = 300, WORDS = 4096 };
static uint8_t *const area = (uint8_t *)0x20000000;
static uint64_t hash = 1, faults;
extern char loop_begin[], loop_end[];

// Loads, stores, pairs, vectors, flags and a call, with much that is newer in registers than anywhere else.
uint64_t walk(uint8_t *at, uint8_t *end);
__asm__(".text\n.global walk, loop_begin, loop_end\n.type walk, %function\nwalk:\nloop_begin:\n"
        "stp x29, x30, [sp, #-16]!\n mov x2, #1\n mov x3, #7\n movi v0.4s, #3\n movi v1.16b, #5\n"
        "mov x9, #0\n mov x10, #0\n mov x11, #0\n mov x12, #0\n"
        "1: ldr x4, [x0], #8\n add x2, x2, x4\n eor x3, x3, x2, lsl #3\n"
        "ldrb w5, [x0, #3]\n subs x6, x2, x5\n csel x7, x2, x3, lt\n adds w6, w6, w5\n"
        "str x7, [x0, #8]!\n add v0.4s, v0.4s, v1.4s\n ldp x8, x9, [x0, #-16]\n cmp x8, x9\n"
        "add x10, x8, x9\n str q0, [x0, #16]\n add v1.16b, v1.16b, v0.16b\n ldr d2, [x0, #24]\n"
        "add x2, x2, x10\n bl 2f\n strh w2, [x0, #30]\n add x0, x0, #40\n cmp x0, x1\n b.lo 1b\n"
        "mov x0, x2\n ldp x29, x30, [sp], #16\n ret\n"
        "2: ror x11, x2, #13\n eor x3, x3, x11\n ldr w12, [x0, #4]\n add x2, x3, x12\n ret\n"
        // stray(at, words, end of words): a word for each access is put into its pointer's upper half.
        "stray:\n mov x4, #1\n mov x6, #5\n"
        "1: ldr x3, [x1], #8\n eor x0, x0, x3\n ldr x7, [x0], #8\n add x4, x4, x7\n"
        "ldr x3, [x1], #8\n eor x0, x0, x3\n stp x4, x7, [x0, #8]!\n eor x4, x4, x4, ror #7\n"
        "ldr x3, [x1], #8\n eor x0, x0, x3\n ldr q0, [x0, #-16]\n subs x8, x4, x7\n"
        "ldr x3, [x1], #8\n eor x0, x0, x3\n strb w4, [x0, x6]\n sub x0, x0, #16\n"
        "cmp x1, x2\n b.ne 1b\n mov x0, x4\n ret\n"
        "loop_end:\n");
uint64_t stray(uint8_t *at, const uint64_t *words, const uint64_t *end);

static void add(uint64_t value)
{
    hash = (hash ^ value) * 0x9fb21c651e98df25u;
    hash ^= hash >> 29;
}

static void on_fault(int signal, siginfo_t *info, void *host_context)
{
    ucontext_t *c = host_context;
    const struct fpsimd_context *simd = (const void *)c->uc_mcontext.__reserved;
    uint8_t *address = info->si_addr;
    char *pc = (char *)c->uc_mcontext.pc;
    if (pc < loop_begin || pc >= loop_end) {
        printf("signal %d at %p, outside the loop\n", signal, (void *)pc);
        fflush(stdout);
        _Exit(1);
    }
    add((uint64_t)(pc - loop_begin));
    add((uint64_t)address);
    add((uint64_t)info->si_code);
    add(c->uc_mcontext.pstate >> 28);
    for (unsigned i = 0; i <= 12; i++)
        add(c->uc_mcontext.regs[i]);
    for (unsigned i = 0; i < 4; i++) {
        add((uint64_t)simd->vregs[i]);
        add((uint64_t)(simd->vregs[i] >> 64));
    }
    faults++;
    if ((uint64_t)address >> 32) {
        c->uc_mcontext.regs[0] &= 0xffffffff;
        return;
    }
    mprotect((void *)((uint64_t)address & ~(uint64_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    if (mmap(area, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != area)
        return 2;
    memset(area, 17, PAGES * PAGE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        mprotect(area, PAGES * PAGE, round % 3 ? PROT_NONE : PROT_READ);
        for (unsigned again = 0; again < 8; again++) // of every alignment
            add(walk(area + (round + again) % 7, area + PAGES * PAGE - 64));
        static uint64_t words[WORDS];
        mprotect(area, PAGES * PAGE, PROT_READ | PROT_WRITE);
        for (unsigned again = 0; again < 8; again++) {
            for (unsigned i = 0; i < WORDS; i++) // now and then, on other places each time
                words[i] = (i * 2654435761u + round * 8 + again) >> 5 & 127 ? 0 : 1ull << (32 + i % 12);
            add(stray(area + 1024, words, words + WORDS));
        }
    }
    printf("%" PRIu64 " faults, %016" PRIx64 "\n", faults, hash);
    return 0;
}
