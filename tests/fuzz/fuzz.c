// SPDX-License-Identifier: MIT
// fuzz: hostile programs for a64run, which must report each and never die itself.
//
//   fuzz headers A64RUN PROGRAM SEED COUNT   flips bytes in the ELF and program headers of PROGRAM
//   fuzz code A64RUN SEED COUNT              programs of random instruction words, some of them nearly
//   sensible
//
// A run fails when a64run is ended by a signal or does not end within ten seconds. (A guest that spins for
// ever is ended by its own CPU limit.) As a guest may end with any status, a sanitizer has to abort, and a
// program that is known comes first. Prints one line "ok …" or "not ok …"; a failing program is kept as
// ./fuzz-failure.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state;

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t random64(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void write_program(const char *path, const void *bytes, size_t size)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
        perror(path);
        exit(2);
    }
    close(fd);
}

// Runs a64run on path. Returns its wait status.
static int run(const char *a64run, const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        struct rlimit cpu = {1, 1}, core = {0, 0}, file = {1 << 20, 1 << 20};
        setrlimit(RLIMIT_CPU, &cpu);
        setrlimit(RLIMIT_CORE, &core);
        setrlimit(RLIMIT_FSIZE, &file);
        alarm(10);
        execl(a64run, a64run, path, (char *)NULL);
        _exit(127);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("fuzz");
        exit(2);
    }
    return status;
}

// False if a64run is ended by a signal other than that of the CPU limit.
static bool survives(const char *a64run, const char *path)
{
    int status = run(a64run, path);
    bool killed_by_limit =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
    return WIFEXITED(status) || killed_by_limit;
}

static unsigned char *read_file(const char *path, size_t *size)
{
    struct stat s;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &s) != 0) {
        perror(path);
        exit(2);
    }
    *size = (size_t)s.st_size;
    unsigned char *bytes = malloc(*size);
    if (!bytes || read(fd, bytes, *size) != (ssize_t)*size) {
        perror(path);
        exit(2);
    }
    close(fd);
    return bytes;
}

// Values that break careless arithmetic.
static uint64_t nasty(void)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0xfff,
                                      0x1000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0xfffff000,
                                      ~0ull,
                                      0x7fffffffffffffff,
                                      1ull << 63,
                                      ~0xfffull,
                                      0xffff0000,
                                      0x10000,
                                      0xfffffffff,
                                      0x400000};
    return random64() % 4 ? values[random64() % (sizeof values / sizeof values[0])] : random64();
}

static void mutate_headers(unsigned char *bytes, size_t size)
{
    Elf64_Ehdr *e = (Elf64_Ehdr *)bytes;
    size_t headers = sizeof *e + (size_t)e->e_phnum * sizeof(Elf64_Phdr);
    for (unsigned n = 1 + (unsigned)(random64() % 3); n; n--) {
        size_t at = random64() % (headers < size ? headers : size);
        if (random64() % 2) {
            bytes[at] = (unsigned char)random64();
        } else {
            uint64_t value = nasty();
            at &= ~(size_t)7;
            memcpy(bytes + at, &value, sizeof value);
        }
    }
}

static int fuzz_headers(const char *a64run, const char *program, unsigned long count)
{
    size_t size;
    unsigned char *original = read_file(program, &size), *mutated = malloc(size);
    unsigned long i = 0;
    for (bool good = true; good && i < count; i += good) {
        memcpy(mutated, original, size);
        mutate_headers(mutated, size);
        write_program("fuzz-failure", mutated, random64() % 16 ? size : random64() % size);
        good = survives(a64run, "fuzz-failure");
    }
    free(mutated);
    free(original);
    if (i < count) {
        printf("not ok fuzzed ELF headers: a64run died on program %lu, kept as fuzz-failure\n", i);
        return 1;
    }
    unlink("fuzz-failure");
    printf("ok fuzzed ELF headers (%lu programs)\n", count);
    return 0;
}

enum { WORDS = 1024, BASE = 0x400000 };

// A static program: one segment, readable, executable and at random writable, of headers and words, which are
// returned.
static uint32_t *build_program(unsigned char *image, size_t size)
{
    memset(image, 0, size);
    Elf64_Ehdr *e = (Elf64_Ehdr *)image;
    Elf64_Phdr *p = (Elf64_Phdr *)(e + 1);
    uint32_t *words = (uint32_t *)(p + 1);
    memcpy(e->e_ident, ELFMAG "\2\1\1", 7);
    e->e_type = ET_EXEC;
    e->e_machine = EM_AARCH64;
    e->e_version = 1;
    e->e_phoff = sizeof *e;
    e->e_ehsize = sizeof *e;
    e->e_phentsize = sizeof *p;
    e->e_phnum = 1;
    e->e_entry = BASE + (uint64_t)((unsigned char *)words - image);
    *p = (Elf64_Phdr){.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_X | (random64() % 2 ? PF_W : 0),
                      .p_vaddr = BASE,
                      .p_filesz = size,
                      .p_memsz = size,
                      .p_align = 4096};
    return words;
}

static void build_code(unsigned char *image, size_t size)
{
    uint32_t *words = build_program(image, size);
    unsigned sense = (unsigned)(random64() % 4);
    for (unsigned i = 0; i < WORDS; i++) {
        uint32_t word = (uint32_t)random64();
        // With sense: registers hold small numbers, addresses and the stack pointer more often than not.
        if (sense && random64() % 4 < sense) {
            switch (random64() % 6) {
            case 0: word = 0xd2800000 | (word & 0x1fffff); break; // movz x, #imm
            case 1: word = 0x10000000 | (word & 0x60ffffe0) | (word & 31); break; // adr
            case 2: word = 0x910003e0 | (word & 0x3ffc1f); break; // add x, sp, #imm
            case 3: word = 0xd4000001; break; // svc #0
            case 4: word = 0xd2800008 | (word & 0x1ff) << 5; break; // mov x8, #number
            default: word = 0x14000000 | (word & 0xff) | (word & 0x80 ? 0x3ffff00 : 0); break; // b nearby
            }
        }
        words[i] = word;
    }
}

static unsigned char image[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + WORDS * 4];

static bool runs_known_program(const char *a64run)
{
    static const uint32_t known[] = {0xd2800540, 0xd2800ba8, 0xd4000001}; // exit(42)
    memcpy(build_program(image, sizeof image), known, sizeof known);
    write_program("known", image, sizeof image);
    int status = run(a64run, "known");
    return WIFEXITED(status) && WEXITSTATUS(status) == 42;
}

static int fuzz_code(const char *a64run, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        build_code(image, sizeof image);
        write_program("fuzz-failure", image, sizeof image);
        if (!survives(a64run, "fuzz-failure")) {
            printf("not ok random code: a64run died on program %lu, kept as fuzz-failure\n", i);
            return 1;
        }
    }
    unlink("fuzz-failure");
    printf("ok random code (%lu programs)\n", count);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 5 && !runs_known_program(argv[2])) {
        printf("not ok fuzz: %s does not end as a program that is known does\n", argv[2]);
        return 1;
    }
    if (argc == 6 && strcmp(argv[1], "headers") == 0) {
        state = strtoull(argv[4], NULL, 0);
        return fuzz_headers(argv[2], argv[3], strtoul(argv[5], NULL, 10));
    }
    if (argc == 5 && strcmp(argv[1], "code") == 0) {
        state = strtoull(argv[3], NULL, 0);
        return fuzz_code(argv[2], strtoul(argv[4], NULL, 10));
    }
    fprintf(stderr, "usage: fuzz headers A64RUN PROGRAM SEED COUNT | fuzz code A64RUN SEED COUNT\n");
    return 2;
}
