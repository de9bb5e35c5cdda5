// SPDX-License-Identifier: MIT
// The one BLAS routine that the nets need.
#ifndef NN_BLAS_H
#define NN_BLAS_H

#include <cblas.h>

#include "tensor.h"

typedef __typeof__(cblas_sgemm) blas_gemm;

// cblas_sgemm, after nn_blas_load.
extern blas_gemm *nn_sgemm;

// Loads OpenBLAS with one thread and the kernels of this CPU (or those that OPENBLAS_CORETYPE
// names). Changes the environment for a moment: call it while no other thread
// reads that. A second call does nothing.
bool nn_blas_load(struct nn_error *error);

#endif
