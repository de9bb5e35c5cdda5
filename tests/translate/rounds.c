// SPDX-License-Identifier: MIT
// Guest program: loops that go round as often as constants say. rounds: one in another, forwards and
// backwards, until a value is met in between; prints what that comes to. rounds loop, rounds functions: a
// loop whose header is that of the loop around it, too, and two functions that go on in each other, which
// only an alarm ends.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static uint16_t table[9][4];
static volatile uint64_t ended;

static __attribute__((noinline)) uint64_t all(uint64_t x)
{
    __asm__ volatile("mov x1, #0\n"
                     "1: mov x2, #0\n add x4, %1, x1, lsl #3\n"
                     "2: ldrh w3, [x4, x2, lsl #1]\n add x2, x2, #1\n add %0, %0, x3\n ror %0, %0, #3\n"
                     "cmp x2, #4\n b.ne 2b\n"
                     "add x1, x1, #1\n cmp x1, #9\n b.ne 1b"
                     : "+r"(x)
                     : "r"(table)
                     : "x1", "x2", "x3", "x4", "cc", "memory");
    return x;
}

static __attribute__((noinline)) uint64_t until(uint64_t x, uint64_t value)
{
    __asm__ volatile(
        "mov w1, #12\n"
        "1: add %0, %0, w1, uxtw\n eor %0, %0, %0, lsr #5\n and x3, %0, #15\n cmp x3, %1\n b.eq 2f\n"
        "sub w1, w1, #3\n cbnz w1, 1b\n"
        "2: add %0, %0, w1, uxtw"
        : "+r"(x)
        : "r"(value)
        : "x1", "x3", "cc");
    return x;
}

// Each round of the loop around it begins the other anew, at the same place.
static __attribute__((noinline)) uint64_t until_ended(const volatile uint64_t *end, uint64_t most)
{
    uint64_t x = 0;
    __asm__ volatile("mov x1, #0\n"
                     "1: add %0, %0, x1\n add x1, x1, #1\n cmp x1, #4\n b.ne 1b\n"
                     "mov x1, #0\n ldr x3, [%1]\n cbnz x3, 2f\n subs %2, %2, #1\n b.ne 1b\n"
                     "2:"
                     : "+r"(x), "+r"(end), "+r"(most)
                     :
                     : "x1", "x3", "cc", "memory");
    return x;
}

// Each goes on in the other, by an address: no loop of one function.
uint64_t ping(const volatile uint64_t *end, uint64_t most);
__asm__(".type ping, %function\n.type pong, %function\n"
        "ping: ldr x3, [x0]\n cbnz x3, 1f\n subs x1, x1, #1\n b.eq 1f\n adr x2, pong\n br x2\n"
        "1: mov x0, x1\n ret\n.size ping, . - ping\n"
        "pong: ldr x3, [x0]\n cbnz x3, 1f\n subs x1, x1, #1\n b.eq 1f\n adr x2, ping\n br x2\n"
        "1: mov x0, x1\n ret\n.size pong, . - pong");

static void end(int number)
{
    (void)number;
    ended = 1;
}

int main(int argc, char **argv)
{
    uint64_t x = 1;
    for (unsigned i = 0; i < 9 * 4; i++)
        table[i / 4][i % 4] = (uint16_t)(i * 40503);
    for (unsigned i = 0; i < 200000; i++)
        x = until(all(x), i & 15);
    printf("%llx %llx %llu\n", (unsigned long long)x, (unsigned long long)until_ended(&ended, 3000000),
           (unsigned long long)ping(&ended, 3000001));
    if (argc > 1) {
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 300000}}, NULL);
        x = strcmp(argv[1], "loop") == 0 ? until_ended(&ended, UINT64_MAX) : ping(&ended, UINT64_MAX);
        puts(x ? "ended" : "not begun");
    }
    return 0;
}
