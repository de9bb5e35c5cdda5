// SPDX-License-Identifier: MIT
// Guest program: way_back WHAT. Does WHAT with a handler of SIGSEGV (nothing: it computes for longer than
// there is a way back; calls: for nearly as long, with system calls), comes to a fault, and prints what the
// handler finds: registers, memory, and what the host has been told.
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, AREA = 64 * PAGE };

static sigjmp_buf back;
static uint8_t *area; // the page behind it is not there
static volatile unsigned sent;

static uint64_t hash_of(const void *bytes, size_t size)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < size; i++)
        hash = hash * 31 + ((const uint8_t *)bytes)[i];
    return hash;
}

// ---- registers ----

// Reads x0[x1 % x2], stores into x0[x1 % 4096], x3 times; numbers come from x4. What is in between is in
// registers, vectors and flags, and most of it is of no use to the code that comes next.
__asm__(".text\n.globl walk\n.type walk, %function\nwalk:\n"
        " mov x5, #0\n mov x6, #1\n movi v0.16b, #3\n movi v1.16b, #5\n mov x11, #0\n mov w12, #13\n mov "
        "x13, #0\n"
        "1: madd x6, x6, x4, x12\n lsr x7, x6, #33\n udiv x8, x7, x2\n msub x8, x8, x2, x7\n"
        " ldrb w9, [x0, x8]\n"
        "walk_loads:\n add x5, x5, x9\n dup v1.8b, w9\n add v0.8h, v0.8h, v1.8h\n"
        " and x10, x7, #4095\n strb w5, [x0, x10]\n adds x11, x11, x6\n adc x13, x13, x5\n"
        " subs x3, x3, #1\n b.ne 1b\n"
        " ret\n.size walk, .-walk\n");
uint64_t walk(uint8_t *bytes, uint64_t unused, uint64_t size, uint64_t times, uint64_t factor);

static void on_registers(int signal, siginfo_t *info, void *user)
{
    const ucontext_t *u = user;
    printf("signal %d code %d at +%#lx pc +%#lx flags %#llx\n", signal, info->si_code,
           (unsigned long)((uint8_t *)info->si_addr - area),
           (unsigned long)(u->uc_mcontext.pc - (uintptr_t)walk), (unsigned long long)u->uc_mcontext.pstate);
    for (int i = 1; i < 14; i++)
        printf(" x%d %llx", i, (unsigned long long)u->uc_mcontext.regs[i]);
    const struct fpsimd_context *v = (const void *)u->uc_mcontext.__reserved;
    for (int i = 0; i < 2; i++)
        printf(" v%d %016llx%016llx", i, (unsigned long long)(v->vregs[i] >> 64),
               (unsigned long long)v->vregs[i]);
    printf("\n");
    siglongjmp(back, 1);
}

static void walk_off(uint64_t times)
{
    walk(area, 0, AREA, times, 6364136223846793005ull);
    walk(area, 0, AREA + 40, times, 6364136223846793005ull); // one byte in 6,500 lies behind
}

static void on_sent(int signal)
{
    (void)signal;
    sent = sent * 3 + (unsigned)area[sent % 4096];
}

// ---- what comes from outside ----

struct record {
    uint64_t number, random, counter, file, sent;
    struct timespec time;
    struct tms ticks;
    struct rusage usage;
    char folder[256];
    int copy; // of a descriptor
};

static uint64_t read_counter(void)
{
    uint64_t counter;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
    return counter;
}

enum { RECORDS = 3000 };
static struct record records[RECORDS];
static int file;

static void on_records(int signal)
{
    static struct record written[RECORDS];
    ssize_t size = pread(file, written, sizeof written, 0);
    printf("\nsignal %d, %zd bytes, they are %s, the next at %ld\n", signal, size,
           memcmp(written, records, sizeof records) ? "others" : "the same", (long)lseek(file, 0, SEEK_CUR));
    siglongjmp(back, 1);
}

static void record(void)
{
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_sent, .sa_flags = SA_RESTART}, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}},
              NULL); // how often varies from run to run
    file = open("records", O_RDWR | O_CREAT | O_TRUNC, 0600);
    mkdir("inner", 0700);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct record *r = &records[i];
        r->number = walk(area, i, 200, 2000, 2 * i + 5) - (uint64_t)(uintptr_t)area + i;
        if (getrandom(&r->random, sizeof r->random, 0) != sizeof r->random)
            return;
        clock_gettime(CLOCK_REALTIME, &r->time);
        r->counter = read_counter();
        times(&r->ticks);
        getrusage(RUSAGE_SELF, &r->usage);
        if (chdir(i % 2 ? ".." : "inner") || !getcwd(r->folder, sizeof r->folder))
            return;
        r->copy = dup(file);
        if (i % 50)
            close(r->copy);
        r->sent = sent;
        if (i)
            pread(file, &r->file, sizeof r->file, (off_t)((r->random % i) * sizeof *r));
        write(file, r, sizeof *r);
        if (i % 100 == 0)
            write(1, ".", 1);
    }
    *(volatile int *)8 = 0;
}

// ---- mappings ----

enum { MAPPINGS = 40 };
static uint8_t *mappings[MAPPINGS];
static uint8_t *begin;

static void on_mappings(int signal)
{
    printf("signal %d, break +%#lx:", signal, (unsigned long)((uint8_t *)sbrk(0) - begin));
    for (unsigned i = 0; i < MAPPINGS; i++)
        printf(" %llx", mappings[i] ? (unsigned long long)hash_of(mappings[i], 8 * PAGE) : 0);
    printf(" %llx\n", (unsigned long long)hash_of(begin, (size_t)((uint8_t *)sbrk(0) - begin)));
    siglongjmp(back, 1);
}

static void change_mappings(void)
{
    begin = sbrk(0);
    for (unsigned i = 0; i < MAPPINGS; i++) {
        uint8_t *m = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uint8_t *b = sbrk(PAGE + 16);
        mappings[i] = m;
        walk(m, i, PAGE, 100000, 2 * i + 5);
        walk(b, i, PAGE, 1000, 2 * i + 5);
        memset(m + PAGE, (int)i, 7 * PAGE);
        if (i % 4 == 0)
            mprotect(m + PAGE, 2 * PAGE, PROT_READ);
        if (i % 4 == 1)
            madvise(m + 4 * PAGE, PAGE, MADV_DONTNEED);
        if (i % 4 == 2 && !munmap(m, 8 * PAGE))
            mappings[i] = NULL;
        if (i == 7)
            mappings[i] = mremap(m, 8 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
        walk(area, i, AREA, 10000, 2 * i + 5);
    }
    mprotect(area + AREA, PAGE, PROT_READ); // fails
    for (unsigned i = 0; i < MAPPINGS; i++)
        if (mappings[i])
            mappings[i][0]++;
    mappings[36][PAGE + 5] = 1; // read-only
}

// ---- others ----

static void on_lazy(int signal, siginfo_t *info, void *user)
{
    if (mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE))
        on_registers(signal, info, user);
    sent++;
}

static void fill_lazily(void)
{
    uint8_t *lazy = mmap(NULL, AREA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < 64; i++)
        walk(lazy + i * PAGE, i, PAGE - 1, 100000, 2 * i + 5);
    printf("%u faults, %llx\n", sent, (unsigned long long)hash_of(lazy, AREA));
}

static void send(void)
{
    signal(SIGUSR1, on_sent);
    for (unsigned i = 0; i < 50; i++) {
        walk(area, i, AREA, 20000, 2 * i + 5);
        if (i % 7 == 3)
            raise(SIGUSR1);
    }
    printf("%u\n", sent);
}

static void on_alarm(int signal)
{
    (void)signal;
    walk_off(2000000);
}

static void wait_for_alarm(void)
{
    signal(SIGALRM, on_alarm);
    ualarm(50000, 0);
    for (;;)
        getppid();
}

static void part(void)
{
    fflush(stdout);
    walk(area, 0, AREA, 500000, 5);
    pid_t pid = fork();
    if (pid == 0)
        area[5] += 3;
    walk(area, 0, AREA, 500000, 7);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    printf("%s: ", pid ? "parent" : "child");
}

static void share(void)
{
    volatile uint32_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0) {
        usleep(20000); // before there is another moment, as the end of a child makes one
        *shared = 1;
        usleep(500000);
        _exit(0);
    }
    while (!*shared)
        shared[1]++;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void (*plain)(int) = strcmp(what, "records") == 0    ? on_records
                         : strcmp(what, "mappings") == 0 ? on_mappings
                                                         : NULL;
    struct sigaction action = {.sa_sigaction = on_registers, .sa_flags = SA_SIGINFO};
    if (strcmp(what, "lazy") == 0)
        action.sa_sigaction = on_lazy;
    if (plain)
        action = (struct sigaction){.sa_handler = plain};
    area = mmap((void *)0x50000000, AREA + PAGE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    munmap(area + AREA, PAGE);
    for (unsigned i = 0; i < AREA; i++)
        area[i] = (uint8_t)(i * 7 + i / 256);
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0) {
        if (plain == on_records)
            record();
        else if (plain)
            change_mappings();
        else if (strcmp(what, "lazy") == 0)
            fill_lazily();
        else if (strcmp(what, "signals") == 0)
            send();
        else if (strcmp(what, "alarm") == 0)
            wait_for_alarm();
        else if (strcmp(what, "children") == 0)
            part();
        else if (strcmp(what, "shared") == 0)
            share();
        else if (strcmp(what, "calls") == 0)
            for (unsigned i = 0; i < 10; i++)
                walk(area, (uint64_t)getppid(), AREA, 6000000, 2 * i + 5);
        walk_off(strcmp(what, "nothing") == 0 ? 80000000 : 2000000);
    }
    printf("%llx\n", (unsigned long long)hash_of(area, AREA));
    return 0;
}
