// SPDX-License-Identifier: MIT
// The one BLAS routine that the nets need.
#ifndef NN_BLAS_H
#define NN_BLAS_H

#include <cblas.h>

typedef __typeof__(cblas_sgemm) blas_gemm;

// cblas_sgemm, after nn_blas_load (kernels.h).
extern blas_gemm *nn_sgemm;

#endif
