// SPDX-License-Identifier: MIT
// Tests of core/nn.
// usage: nn_test FOLDER                                  all tests; files go to FOLDER
//        nn_test train SEED CHECKPOINT WEIGHTS.npy [N]   a small training, interrupted at step N
//        nn_test digest                                  a hash of what the fast kernels compute
#include "nn_test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/base/sha256.h"

static int failures;

void report(bool good, const char *name, const char *format, ...)
{
    printf("%s %s", good ? "ok" : "not ok", name);
    if (!good) {
        va_list arguments;
        va_start(arguments, format);
        printf(": ");
        vprintf(format, arguments);
        va_end(arguments);
        failures++;
    }
    putchar('\n');
    fflush(stdout);
}

uint64_t allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Only calls from this program's own code count: OpenBLAS takes and gives back a buffer for some small
// products.
extern const char __executable_start, etext;
#define COUNT_CALL()                                                                                         \
    (allocations += (const char *)__builtin_return_address(0) >= &__executable_start &&                      \
                    (const char *)__builtin_return_address(0) < &etext)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    COUNT_CALL();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    COUNT_CALL();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    COUNT_CALL();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    COUNT_CALL();
    return __libc_memalign(alignment, size);
}
#endif

static void test_threads(void)
{
    int threads = -2; // "." and ".."
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks))
        threads++;
    closedir(tasks);
    report(threads == 1, "BLAS starts no threads", "%d threads", threads);
}

// Outputs and gradients of every layer, in one hash.
static void digest(void)
{
    enum { ROOM = 1 << 16 };
    static float values[2 * ROOM];
    for (int i = 0; i < layer_case_count; i++) {
        struct params p;
        size_t count;
        char hash[65];
        memset(values, 0, sizeof values);
        params_create(&p, ROOM, 7);
        layer_cases[i].create(&p, true);
        run_case(&layer_cases[i], &nn_kernels_fast, false, &p, true, values, &count);
        memcpy(values + count, p.grad, p.count * sizeof *values);
        sha256_bytes(values, (count + p.count) * sizeof *values, hash);
        printf("%s %s\n", hash, layer_cases[i].name);
        params_destroy(&p);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "digest") == 0) {
        digest();
        return 0;
    }
    if (argc >= 5 && strcmp(argv[1], "train") == 0)
        return train_command(strtoull(argv[2], NULL, 10), argv[3], argv[4],
                             argc > 5 ? strtoull(argv[5], NULL, 10) : UINT64_MAX);
    if (argc != 2) {
        fprintf(stderr, "usage: nn_test FOLDER | train SEED CHECKPOINT WEIGHTS.npy [N] | digest\n");
        return 2;
    }
    struct error error;
    if (!nn_blas_load(&error)) {
        report(false, "BLAS", "%s", error.text);
        return 1;
    }
    test_kernels();
    test_gradients();
    test_threads();
    test_files(argv[1]);
    test_training();
    return failures != 0;
}
