// SPDX-License-Identifier: MIT
// Arrays of little-endian floats of 32 or 16 bits in NumPy's .npy format: mapped for reading, written whole
// or not at all.
#ifndef NN_NPY_H
#define NN_NPY_H

#include "tensor.h"

struct npy {
    const float *data; // read-only, inside the mapping or (16 bits) converted
    int rank;
    int shape[NN_RANK];
    size_t count;
    void *mapping;
    size_t mapped;
    float *converted;
};

// Refuses, and says why in *error: what is no .npy file, another element type or order, more dimensions than
// NN_RANK, a size that does not match the shape (truncated or with something behind), NaN or infinity.
bool npy_open(struct npy *n, const char *path, struct error *error);
void npy_close(struct npy *n);

// The same, and refuses any shape but this one.
bool npy_open_shape(struct npy *n, const char *path, int rank, const int *shape, struct error *error);

// Writes beside path and renames: path is the old file or the whole new one at every moment. Refuses NaN and
// infinity. sha256: NULL, or where the 64 hex digits of the file's hash go.
bool npy_write(const char *path, const float *data, int rank, const int *shape, char sha256[65],
               struct error *error);
// The same in 16 bits: rounded to the nearest, which for values beyond 65,504 is infinity and refused.
bool npy_write_half(const char *path, const float *data, int rank, const int *shape, char sha256[65],
                    struct error *error);
uint16_t nn_half_of_float(float value);
float nn_float_of_half(uint16_t half);

// The same for a file of any content, for what stands beside an array.
bool nn_write_file(const char *path, const void *bytes, size_t size, struct error *error);

#endif
