// SPDX-License-Identifier: MIT
// Mappings: anonymous, of files, shared, moved, protected; code that is written at run time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

static sigjmp_buf back;
static siginfo_t last;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    last = *info;
    siglongjmp(back, 1);
}

static void touch(const char *what, volatile char *p, int write)
{
    if (!sigsetjmp(back, 1)) {
        char c = *p;
        if (write)
            *p = c;
        printf("%s: fine\n", what);
    } else {
        printf("%s: signal %d code %d\n", what, last.si_signo, last.si_code);
    }
}

static void anonymous(void)
{
    char *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 7, 5 * 4096);
    SHOW(munmap(p + 4096, 4096));
    touch("hole", p + 4096, 0);
    touch("after the hole", p + 8192, 1);
    SHOW(mmap(p + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 4096);
    printf("zeroed %d\n", p[4096]);
    SHOW((long)mmap(p + 1, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    SHOW((long)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 99, 0));
    SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0));
    SHOW((long)mmap(NULL, 1ul << 46, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1);
    SHOW(mprotect(p, 4096, PROT_READ));
    touch("read-only", p, 1);
    SHOW(mprotect(p, 4096, PROT_NONE));
    touch("nothing", p, 0);
    SHOW(mprotect(p, 4096, PROT_READ | PROT_WRITE));
    printf("kept %d\n", p[10]);
    SHOW(mprotect(p + 1, 4096, PROT_READ));
    SHOW(madvise(p + 2 * 4096, 4096, MADV_DONTNEED));
    printf("dropped %d\n", p[2 * 4096]);
    SHOW(munmap(p, 5 * 4096));
    SHOW(munmap(p, 5 * 4096));
    SHOW(munmap(p + 1, 4096));
    SHOW(mprotect(p, 4096, PROT_READ));
    char *low = sbrk(0);
    SHOW(sbrk(100000) == low);
    low[99999] = 1;
    SHOW(brk(low));
    SHOW(sbrk(0) == low);
}

static void moving(void)
{
    char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++)
        p[i * 4096] = (char)(i + 1);
    char *wall = p + 3 * 4096;
    mmap(wall, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    SHOW((long)mremap(p, 3 * 4096, 4 * 4096, 0));
    char *q = mremap(p, 3 * 4096, 100 * 4096, MREMAP_MAYMOVE);
    printf("moved %d: %d %d %d %d\n", q != p, q[0], q[4096], q[8192], q[99 * 4096]);
    touch("the old place", p, 0);
    SHOW(mremap(q, 100 * 4096, 4096, 0) == q);
    touch("cut off", q + 4096, 0);
    char *to = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(mremap(q, 4096, 2 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to + 4096) == to + 4096);
    printf("fixed %d %d\n", to[4096], to[8192]);
    SHOW((long)mremap(to, 4096, 4096, MREMAP_FIXED, q));
    SHOW((long)mremap(q, 4096, 8192, MREMAP_MAYMOVE));
    char *big = malloc(300000);
    memset(big, 5, 300000);
    big = realloc(big, 30000000);
    printf("realloc %d\n", big[299999]);
    free(big);
}

static void files(void)
{
    int fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    char text[20] = "";
    write(fd, "0123456789", 10);
    char *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    private[0] = 'p';
    shared[1] = 's';
    pread(fd, text, 10, 0);
    printf("file %s private %.10s shared %.10s zero %d\n", text, private, shared, shared[11]);
    touch("behind the end", shared + 4096, 0);
    SHOW(write(1, shared + 4096, 1) == -1 && errno == EFAULT);
    SHOW(read(fd, shared + 4096, 1));
    SHOW(msync(shared, 4096, MS_SYNC));
    SHOW(ftruncate(fd, 5000));
    touch("now inside", shared + 4096, 1);
    SHOW(munmap(shared, 8192));
    close(fd);
    fd = open("mapped", O_RDONLY);
    SHOW((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
    printf("at an offset %d\n", shared[0]);
    SHOW(mprotect(shared, 4096, PROT_READ | PROT_WRITE));
    SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 100));
    close(fd);
    printf("still %.10s\n", private);
    unlink("mapped");
    int folder = open(".", O_RDONLY);
    SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, folder, 0));
    int m = memfd_create("m", 0);
    ftruncate(m, 4096);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
    if (!fork()) {
        shared[0] = 'c';
        _exit(0);
    }
    wait(NULL);
    printf("from the child %c\n", shared[0]);
}

// Mappings of files that others see, too, longer than they were: where they are, and elsewhere.
static void growing_files(void)
{
    int fd = open("grown", O_RDWR | O_CREAT | O_TRUNC, 0600);
    ftruncate(fd, 6 * 4096 + 100);
    for (int i = 0; i < 7; i++)
        pwrite(fd, &(char){(char)(i + 1)}, 1, i * 4096);
    char *room = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(munmap(room + 2 * 4096, 4 * 4096));
    char *p = mmap(room, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 4096);
    SHOW(mremap(p, 2 * 4096, 4 * 4096, 0) == p);
    printf("in place %d %d %d\n", p[4096], p[2 * 4096], p[3 * 4096]);
    SHOW((long)mremap(p, 4 * 4096, 7 * 4096, 0));
    char *q = mremap(p, 4 * 4096, 7 * 4096, MREMAP_MAYMOVE);
    printf("moved %d: %d %d %d\n", q != p, q[0], q[4 * 4096], q[5 * 4096]);
    touch("behind the end", q + 6 * 4096, 0);
    touch("the old place", p, 0);
    q[3 * 4096] = q[5 * 4096] = 77;
    char written[2] = {0};
    pread(fd, written, 1, 4 * 4096);
    pread(fd, written + 1, 1, 6 * 4096);
    printf("written %d %d\n", written[0], written[1]);
    ftruncate(fd, 8 * 4096);
    q[6 * 4096] = 3;
    SHOW(mprotect(q + 5 * 4096, 2 * 4096, PROT_READ));
    SHOW(mremap(q + 5 * 4096, 2 * 4096, 3 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, room + 10 * 4096) ==
         room + 10 * 4096);
    printf("a part %d %d, %d\n", room[10 * 4096], room[11 * 4096], q[4 * 4096]);
    touch("a part", room + 10 * 4096, 1);
    touch("where the part was", q + 5 * 4096, 0);
    close(fd);
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *shared = 9;
    char *grown = mremap(shared, 4096, 2 * 4096, MREMAP_MAYMOVE);
    printf("nameless %d\n", *grown);
    touch("more than there is of it", grown + 4096, 1);
    unlink("grown");
}

// A file that cannot be mapped leaves what is there.
static void refused_files(void)
{
    int fd = open("refused", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write(fd, "file", 4);
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(p, "data");
    SHOW((long)mmap(p, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0));
    touch("kept where a file is not for reading", p, 1);
    close(fd);
    fd = open("refused", O_RDONLY);
    SHOW((long)mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
    touch("kept where a file is not for writing", p, 1);
    printf("%s\n", p);
    close(fd);
    unlink("refused");
}

// ---- code ----

static uint32_t *code;

static void put(int i, uint32_t word)
{
    code[i] = word;
    __builtin___clear_cache((char *)&code[i], (char *)&code[i + 1]);
}

static void writing_code(void)
{
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*f)(void) = (int (*)(void))code;
    put(1, 0xd65f03c0); // ret
    int sum = 0;
    for (unsigned i = 0; i < 100; i++) {
        put(0, 0x52800000 | i << 5); // mov w0, #i
        sum += f();
    }
    printf("rewritten code: %d\n", sum);
    // Data beside code, written without a word to anyone.
    volatile uint32_t *data = code + 500;
    for (unsigned i = 0; i < 100; i++) {
        *data = i;
        sum += f();
    }
    printf("data beside code: %d %d\n", sum, *data);
    int fd = open("code", O_RDWR | O_CREAT, 0600);
    put(0, 0x52800000 | 11 << 5);
    write(fd, code, 8);
    put(0, 0x52800000 | 22 << 5);
    printf("from a file: before %d", f());
    SHOW(pread(fd, code, 8, 0)); // the kernel writes over code that has run
    __builtin___clear_cache((char *)code, (char *)code + 8);
    printf("after %d\n", f());
    unlink("code");
    mprotect(code, 4096, PROT_READ | PROT_WRITE);
    if (!sigsetjmp(back, 1))
        f();
    else
        printf("not executable: signal %d code %d at code %d\n", last.si_signo, last.si_code,
               last.si_addr == code);
    code[0] = 0x52800000 | 33 << 5;
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)code, (char *)code + 8);
    printf("executable again: %d\n", f());
    mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    put(0, 0x52800000 | 44 << 5);
    put(1, 0xd65f03c0);
    printf("mapped over: %d\n", f());
    uint32_t *moved = mremap(code, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
                             mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    printf("moved: %d\n", ((int (*)(void))moved)());
    code = moved;
    if (!fork()) {
        put(0, 0x52800000 | 55 << 5);
        _exit(((int (*)(void))code)());
    }
    int status;
    wait(&status);
    printf("in a child %d, here %d\n", WEXITSTATUS(status), ((int (*)(void))code)());
}

// What has run stays decoded when its file is cut: nobody reads the word again that is no instruction.
static void vanishing_code(void)
{
    static const uint32_t words[1024];
    int fd = open("vanishing", O_RDWR | O_CREAT | O_TRUNC, 0600);
    write(fd, words, sizeof words);
    void (*f)(void) = (void (*)(void))mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    for (int i = 0; i < 2; i++) {
        if (!sigsetjmp(back, 1))
            f();
        printf("undefined: signal %d at code %d\n", last.si_signo, last.si_addr == f);
        SHOW(ftruncate(fd, 0));
    }
    unlink("vanishing");
    close(fd);
}

static int apply(int (*f)(int), int x)
{
    return f(x);
}

static void trampolines(void)
{
    int base = 100;
    int add(int x)
    {
        return base + x;
    }
    int sum = 0;
    for (base = 0; base < 50; base++)
        sum += apply(add, base);
    printf("nested functions: %d\n", sum);
}

// What the system has does not depend on how much of it a program may have.
static void amounts(void)
{
    static char text[4096];
    struct rlimit old, little;
    struct sysinfo info;
    unsigned long long total = 0, left = 0;
    getrlimit(RLIMIT_AS, &old);
    little = (struct rlimit){1 << 16, old.rlim_max};
    SHOW(setrlimit(RLIMIT_AS, &little));
    SHOW(sysinfo(&info));
    printf("total %d, free %d\n", info.totalram > 1 << 20, info.freeram <= info.totalram);
    const int fd = open("/proc/meminfo", O_RDONLY);
    SHOW(read(fd, text, sizeof text - 1) > 0);
    SHOW(sscanf(text, "MemTotal: %llu kB MemFree: %llu kB", &total, &left));
    printf("total %d, free %d\n", total > 1 << 10, left <= total);
    close(fd);
    SHOW(setrlimit(RLIMIT_AS, &old));
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    setvbuf(stdout, NULL, _IONBF, 0);
    anonymous();
    moving();
    files();
    growing_files();
    refused_files();
    writing_code();
    vanishing_code();
    trampolines();
    amounts();
    return 0;
}
