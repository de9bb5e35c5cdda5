// SPDX-License-Identifier: MIT
// OpenBLAS, loaded when a net first needs it: a program that only might use one starts without it.
#define _GNU_SOURCE
#include "blas.h"
#include "kernels.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

blas_gemm *nn_sgemm;

// The release that Debian 12 ships knows no x86 of 2023 or later and falls back to SSE3 kernels there: a
// third of the speed of its AVX-512 ones (30 and 91 Gflop/s for 2048x512x128 on a Xeon of that year). So the
// kernels are chosen by what the CPU can do. It also makes training give the same bytes on all CPUs of one
// such class.
static const char *core_type(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

bool nn_blas_load(struct error *error)
{
    if (nn_sgemm)
        return true;
    // OpenBLAS reads these two while it is loaded. One thread: no pool is started, and the order of additions
    // does not hang on the number of cores.
    const char *core = getenv("OPENBLAS_CORETYPE") ? NULL : core_type();
    if (core)
        setenv("OPENBLAS_CORETYPE", core, 1);
    char *threads = getenv("OPENBLAS_NUM_THREADS");
    threads = threads ? strdup(threads) : NULL;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (core)
        unsetenv("OPENBLAS_CORETYPE");
    if (threads)
        setenv("OPENBLAS_NUM_THREADS", threads, 1);
    else
        unsetenv("OPENBLAS_NUM_THREADS");
    free(threads);
    if (!library)
        return error_set(error, "OpenBLAS cannot be loaded (%s). On Debian: sudo apt install libopenblas0",
                         dlerror());
    void (*set_threads)(int) = (void (*)(int))dlsym(library, "openblas_set_num_threads");
    blas_gemm *gemm = (blas_gemm *)dlsym(library, "cblas_sgemm");
    if (!set_threads || !gemm)
        return error_set(error, "libopenblas.so.0 lacks cblas_sgemm or openblas_set_num_threads");
    set_threads(1);
    nn_sgemm = gemm;
    return true;
}
