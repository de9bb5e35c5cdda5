// SPDX-License-Identifier: MIT
// Advanced SIMD data processing (Arm ARM C7.2), vector and scalar encodings.
//
// Names: the mnemonic, then _v for the vector form or _vs for the scalar one, with e if the last operand is
// an element, i if it is an immediate shift, z if it is zero.
#ifndef CORE_ISA_SEM_SIMD_H
#define CORE_ISA_SEM_SIMD_H

#include "sem_simd_lanes.h"
#include "sem_simd_int.h"
#include "sem_simd_shift.h"
#include "sem_simd_long.h"
#include "sem_simd_misc.h"
#include "sem_simd_move.h"
#include "sem_simd_fp.h"

#endif
