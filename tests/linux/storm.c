// SPDX-License-Identifier: MIT
// Many mappings, or more than a host has: holes and alternating protections, or code that is written page by
// page. What is denied is denied with ENOMEM and leaves everything as it was; afterwards all is as before.
// How many are granted is not printed; the status is 0 if nothing was wrong. Usage: storm [PAIRS [code]]
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

#define PAGE 4096l
#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

static long pairs = 12000, all_wrong;
static sigjmp_buf back;
static volatile sig_atomic_t trying;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (!trying)
        _exit(99);
    siglongjmp(back, info->si_code);
}

// 0, or the si_code of the fault.
static int try_write(volatile char *p)
{
    int code = sigsetjmp(back, 1);
    trying = !code;
    if (!code)
        *p = 1;
    trying = 0;
    return code;
}

static char *map(long pages, int prot)
{
    return mmap(NULL, (size_t)(pages * PAGE), prot, PRIVATE, -1, 0);
}

// Asks for a change of each second page, then for the way back where it was granted. What was granted shows,
// what was denied does not.
static void storm(const char *name, char *p, int (*change)(char *), int (*undo)(char *), int code)
{
    static char granted[200000];
    long count = 0, wrong = 0, errors = 0;
    for (long i = 0; i < pairs; i++) {
        granted[i] = change(p + (2 * i + 1) * PAGE) == 0;
        count += granted[i];
        errors += !granted[i] && errno != ENOMEM;
    }
    for (long i = 0; i < pairs; i += 7) {
        wrong += try_write(p + 2 * i * PAGE) != 0;
        wrong += try_write(p + (2 * i + 1) * PAGE) != (granted[i] ? code : 0);
    }
    all_wrong += wrong + errors + (count <= 10000);
    printf("%s: %s granted, %ld other errors, %ld wrong pages\n", name, count > 10000 ? "enough" : "too few",
           errors, wrong);
    if (undo) {
        for (long i = errors = wrong = 0; i < pairs; i++)
            errors += granted[i] && undo(p + (2 * i + 1) * PAGE) != 0;
        for (long i = 0; i < 2 * pairs; i += 7)
            wrong += try_write(p + i * PAGE) != 0;
        all_wrong += wrong + errors;
        printf("%s: undone, %ld errors, %ld wrong pages\n", name, errors, wrong);
    }
}

static int unmap(char *p)
{
    return munmap(p, PAGE);
}

static int fill(char *p)
{
    return mmap(p, PAGE, RW, PRIVATE | MAP_FIXED, -1, 0) == p ? 0 : -1;
}

static int forbid_writing(char *p)
{
    return mprotect(p, PAGE, PROT_READ);
}

static int allow_writing(char *p)
{
    return mprotect(p, PAGE, RW);
}

static int forbid_all(char *p)
{
    return mprotect(p, PAGE, PROT_NONE);
}

static int allow_running(char *p)
{
    return mprotect(p, PAGE, PROT_READ | PROT_EXEC);
}

// Writes a function into each page from p on, step pages apart, and calls it; does so again with others.
static void write_code(const char *name, char *p, long count, long step)
{
    long wrong = 0;
    for (unsigned round = 0; round < 2; round++)
        for (long i = 0; i < count; i++) {
            uint32_t *code = (uint32_t *)(p + i * step * PAGE);
            unsigned value = (unsigned)(i + round) & 0xffff;
            code[0] = 0x52800000 | value << 5; // mov w0, #value
            code[1] = 0xd65f03c0; // ret
            __builtin___clear_cache((char *)code, (char *)(code + 2));
            wrong += ((unsigned (*)(void))code)() != value;
            code[500] = value; // data beside it
            if (i % 3 == 0) // the first page's code is still there
                wrong += ((unsigned (*)(void))p)() != (i ? round : value);
        }
    all_wrong += wrong;
    printf("%s: %ld wrong results\n", name, wrong);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int apply(int (*f)(int), int x)
{
    return f(x);
}

// What programs do all the time.
static void work(void)
{
    int count = 100000, wrong = 0, sum = 0, base = 0, status;
    int *numbers = malloc((size_t)count * sizeof *numbers);
    for (int i = 0; i < count; i++)
        numbers[i] = (int)((unsigned)i * 2654435761u >> 8);
    numbers = realloc(numbers, (size_t)count * 4 * sizeof *numbers);
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    for (int i = 1; i < count; i++)
        wrong += numbers[i - 1] > numbers[i];
    free(numbers);
    int add(int x) // called through code on the stack
    {
        return base + x;
    }
    for (base = 0; base < 50; base++)
        sum += apply(add, base);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char *p = map(3, RW | PROT_EXEC);
        int result = munmap(p + PAGE, PAGE);
        write_code("in the child", p, 2, 2);
        _exit(result == 0 && !all_wrong && fflush(stdout) == 0 ? 7 : 8);
    }
    waitpid(child, &status, 0);
    all_wrong += wrong + (WEXITSTATUS(status) != 7);
    char *p = map(2, RW);
    p[PAGE] = 1;
    p = mremap(p, 2 * PAGE, 1000 * PAGE, MREMAP_MAYMOVE);
    printf("work: %d wrong, sum %d, child %d, moved %d, unmapped %d\n", wrong, sum, WEXITSTATUS(status),
           p[PAGE], munmap(p, 1000 * PAGE));
}

static void mappings(void)
{
    char *p = map(2 * pairs, RW);
    storm("read-only pages", p, forbid_writing, allow_writing, SEGV_ACCERR);
    work();
    storm("inaccessible pages", p, forbid_all, allow_writing, SEGV_ACCERR);
    storm("executable pages", p, allow_running, allow_writing, SEGV_ACCERR);
    work();
    storm("holes", p, unmap, fill, SEGV_MAPERR);
    SHOW(munmap(p, 2 * pairs * PAGE));
    SHOW(munmap(p, 2 * pairs * PAGE));
    work();
}

static void running(void)
{
    char *p = map(2 * pairs, RW), *code = map(2000, RW | PROT_EXEC);
    storm("as many holes as there may be", p, unmap, NULL, SEGV_MAPERR);
    write_code("code beside them", code, 1000, 2);
    SHOW(munmap(code, 2000 * PAGE));
    SHOW(munmap(p, 2 * pairs * PAGE));
    p = map(2 * pairs, RW | PROT_EXEC);
    write_code("code in each page", p, pairs, 1);
    SHOW(munmap(p, 2 * pairs * PAGE));
    p = map(2 * pairs, RW | PROT_EXEC);
    write_code("code in each second page", p, pairs, 2);
    work();
    SHOW(munmap(p, 2 * pairs * PAGE));
    work();
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    if (argc > 1)
        pairs = atol(argv[1]);
    if (argc > 2)
        running();
    else
        mappings();
    return all_wrong != 0;
}
