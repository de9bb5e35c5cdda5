// SPDX-License-Identifier: MIT
// A guest that polls words of the device page. For run_waits.
//
//   polls clock     works and waits in turn, until the clock word has gone on by 30 ms, twenty times
//   polls input     waits for an event
//   polls alarm     waits for the clock word or one of its own, which a signal handler writes
//   polls fault     waits as clock, then with a second word where nothing is mapped
//   polls end       waits for a time that never comes
//   polls steps     makes the virtual clock go on, and waits for the word to do so, 400 times
//
// Prints what it has computed and whether it saw what it waited for.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "../../guest/device_page.h"

static struct device_page *page;
static volatile uint64_t rung;

static uint64_t work(uint64_t sum, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sum = (sum ^ i) * 0x9e3779b97f4a7c15u;
    return sum;
}

static __attribute__((noinline)) uint64_t until(const volatile uint64_t *clock, uint64_t end)
{
    uint64_t now;
    while ((now = *clock) < end)
        ;
    return now;
}

static __attribute__((noinline)) void until_either(const volatile uint64_t *clock, uint64_t end,
                                                   const volatile uint64_t *word)
{
    while (*clock < end && !*word)
        __asm__ volatile("yield");
}

static void ring_bell(int number)
{
    (void)number;
    rung = 1;
}

static uint64_t wait_for_clock(unsigned rounds)
{
    uint64_t sum = 1, next = page->ring.clock_us;
    for (unsigned i = 0; i < rounds; i++) {
        sum = work(sum, 100000);
        next += 30000;
        if (until(&page->ring.clock_us, next) < next)
            puts("too soon");
    }
    return sum;
}

static void wait_for_input(void)
{
    const uint32_t *head = &page->ring.event_head;
    while (__atomic_load_n(head, __ATOMIC_ACQUIRE) == page->ring.event_tail)
        ;
    printf("event %u\n", page->ring.events[page->ring.event_tail % DEVICE_EVENTS].type);
}

static void wait_for_alarm(void)
{
    const struct itimerval once = {.it_value.tv_usec = 300000};
    signal(SIGALRM, ring_bell);
    setitimer(ITIMER_REAL, &once, NULL);
    until_either(&page->ring.clock_us, UINT64_MAX, &rung);
}

static void wait_for_nothing(void)
{
    for (unsigned i = 0; i < 10; i++)
        until_either(&page->ring.clock_us, page->ring.clock_us + 30000, &rung);
    puts("now it faults");
    fflush(stdout);
    until_either(&page->ring.clock_us, UINT64_MAX, (const volatile uint64_t *)64);
}

static void wait_for_steps(void)
{
    for (unsigned i = 0; i < 400; i++) {
        struct timespec now;
        uint64_t before = page->ring.clock_us;
        clock_gettime(CLOCK_MONOTONIC, &now);
        until(&page->ring.clock_us, before + 1);
    }
}

int main(int argc, char **argv)
{
    int fd = open(DEVICE_PATH, O_RDWR);
    const char *mode = argv[argc - 1]; // of an option that the host leaves alone
    page = mmap(NULL, DEVICE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || page == MAP_FAILED)
        return 2;
    if (!strcmp(mode, "clock"))
        printf("%llx\n", (unsigned long long)wait_for_clock(20));
    else if (!strcmp(mode, "input"))
        wait_for_input();
    else if (!strcmp(mode, "alarm"))
        wait_for_alarm();
    else if (!strcmp(mode, "fault"))
        wait_for_nothing();
    else if (!strcmp(mode, "end"))
        until(&page->ring.clock_us, UINT64_MAX);
    else if (!strcmp(mode, "steps"))
        wait_for_steps();
    puts("done");
    return 0;
}
