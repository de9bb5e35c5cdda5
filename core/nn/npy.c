// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sha256.h"

enum { HEADER = 128 }; // what npy_write puts in front of the data

static const char MAGIC[6] = "\x93NUMPY";

// The text behind 'key': in the header, or NULL.
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

// Reads "(2, 3)" or "(6,)".
static bool parse_shape(struct npy *n, const char *text)
{
    if (*text++ != '(')
        return false;
    n->count = 1;
    while (*text != ')') {
        char *end;
        if (n->rank == NN_RANK || *text < '1' || *text > '9')
            return false;
        unsigned long size = strtoul(text, &end, 10);
        if (size > 1 << 30 || n->count > ((size_t)1 << 40) / size)
            return false;
        n->shape[n->rank++] = (int)size;
        n->count *= size;
        end += *end == ',';
        text = end + strspn(end, " ");
    }
    return n->rank > 0;
}

float nn_float_of_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    float value;
    if (exponent == 0) // zero, or below the smallest normal number
        value = (float)fraction * 0x1p-24f;
    else {
        uint32_t bits = (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13;
        memcpy(&value, &bits, sizeof value);
    }
    return sign ? -value : value;
}

uint16_t nn_half_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    if (size > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (size < 0x38800000) { // below the smallest normal number: the sum is rounded to multiples of 2^-24
        float fraction = (value < 0 ? -value : value) + 0.5f;
        memcpy(&bits, &fraction, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000));
    }
    // To the nearest, ties to even; a carry goes into the exponent.
    uint32_t rounded = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    return (uint16_t)(sign | (rounded < 0x7c00 ? rounded : 0x7c00));
}

static bool convert(struct npy *n, const unsigned char *from)
{
    n->converted = malloc(n->count * sizeof *n->converted);
    for (size_t i = 0; n->converted && i < n->count; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        n->converted[i] = nn_float_of_half(half);
    }
    n->data = n->converted;
    return n->converted;
}

static bool parse(struct npy *n, const char *path, struct error *error)
{
    const unsigned char *bytes = n->mapping;
    if (n->mapped < 12 || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return error_set(error, "%s: not a .npy file", path);
    size_t start = bytes[6] == 1 ? 10 : 12, size = bytes[8] | (size_t)bytes[9] << 8;
    if (start == 12)
        size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (bytes[6] < 1 || bytes[6] > 3)
        return error_set(error, "%s: .npy version %d is unknown (1 to 3 are read)", path, bytes[6]);
    if (size > n->mapped - start)
        return error_set(error, "%s: truncated: it ends inside its header", path);
    char *header = strndup((const char *)bytes + start, size);
    if (!header)
        nn_die("no memory for a header of %zu bytes", size);
    const char *type = value_of(header, "descr"), *order = value_of(header, "fortran_order");
    const char *shape = value_of(header, "shape");
    bool good = true;
    size_t bytes_each = type && strncmp(type, "'<f2'", 5) == 0 ? sizeof(uint16_t) : sizeof(float);
    if (!type || (bytes_each == sizeof(float) && strncmp(type, "'<f4'", 5) != 0))
        good = error_set(error, "%s: its elements are %.*s, not '<f4' or '<f2' (little-endian floats)", path,
                         type ? (int)strcspn(type, ",}") : 16, type ? type : "of no known type");
    else if (!order || strncmp(order, "False", 5) != 0)
        good = error_set(error, "%s: not in row-major order", path);
    else if (!shape || !parse_shape(n, shape))
        good = error_set(error, "%s: not an array of 1 to %d dimensions, none empty", path, NN_RANK);
    free(header);
    if (!good)
        return false;
    size_t expected = start + size + n->count * bytes_each;
    if (n->mapped < expected)
        return error_set(error, "%s: truncated: %zu bytes, but its header announces %zu", path, n->mapped,
                         expected);
    if (n->mapped > expected)
        return error_set(error, "%s: %zu bytes too long for the shape in its header", path,
                         n->mapped - expected);
    if ((start + size) % bytes_each != 0)
        return error_set(error, "%s: its data are not aligned to %zu bytes", path, bytes_each);
    n->data = (const float *)(bytes + start + size);
    if (bytes_each == sizeof(uint16_t) && !convert(n, bytes + start + size))
        return error_set(error, "%s: no memory for %zu elements", path, n->count);
    size_t bad = nn_first_not_finite(n->data, n->count);
    if (bad < n->count)
        return error_set(error, "%s: element %zu is %f", path, bad, (double)n->data[bad]);
    return true;
}

bool npy_open(struct npy *n, const char *path, struct error *error)
{
    *n = (struct npy){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0)
        return error_set(error, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(file);
        return error_set(error, "%s: empty, or not a regular file", path);
    }
    n->mapped = (size_t)status.st_size;
    n->mapping = mmap(NULL, n->mapped, PROT_READ, MAP_PRIVATE, file, 0);
    int why = errno;
    close(file);
    if (n->mapping == MAP_FAILED) {
        *n = (struct npy){0};
        return error_set(error, "%s: cannot be mapped: %s", path, strerror(why));
    }
    if (parse(n, path, error))
        return true;
    npy_close(n);
    return false;
}

void npy_close(struct npy *n)
{
    if (n->mapping)
        munmap(n->mapping, n->mapped);
    free(n->converted);
    *n = (struct npy){0};
}

static void print_shape(char *text, size_t size, int rank, const int *shape)
{
    size_t at = 0;
    for (int i = 0; i < rank && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, i ? ", %d" : "%d", shape[i]);
    if (rank == 1 && at < size)
        snprintf(text + at, size - at, ",");
}

bool npy_open_shape(struct npy *n, const char *path, int rank, const int *shape, struct error *error)
{
    if (!npy_open(n, path, error))
        return false;
    if (n->rank == rank && memcmp(n->shape, shape, rank * sizeof *shape) == 0)
        return true;
    char has[64], wanted[64];
    print_shape(has, sizeof has, n->rank, n->shape);
    print_shape(wanted, sizeof wanted, rank, shape);
    npy_close(n);
    return error_set(error, "%s: its shape is (%s), not (%s)", path, has, wanted);
}

struct contents {
    const void *bytes;
    size_t size;
};

static bool write_contents(FILE *to, const void *user)
{
    const struct contents *c = user;
    return fwrite(c->bytes, 1, c->size, to) == c->size;
}

bool nn_write_file(const char *path, const void *bytes, size_t size, struct error *error)
{
    const struct contents contents = {bytes, size};
    return file_replace(AT_FDCWD, path, 0644, true, write_contents, &contents) ||
           error_set(error, "%s: cannot be written: %s", path, strerror(errno));
}

static bool write_array(const char *path, const float *data, bool half, int rank, const int *shape,
                        char sha256[65], struct error *error)
{
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (size_t)shape[i];
    size_t bad = nn_first_not_finite(data, count);
    for (size_t i = 0; half && i < bad; i++)
        if (nn_half_of_float(data[i] < 0 ? -data[i] : data[i]) == 0x7c00)
            bad = i;
    size_t size = HEADER + count * (half ? sizeof(uint16_t) : sizeof(float));
    if (bad < count)
        return error_set(error, "%s: not written: element %zu is %f", path, bad, (double)data[bad]);
    char *bytes = malloc(size), text[64];
    if (!bytes)
        nn_die("no memory for %zu bytes", size);
    print_shape(text, sizeof text, rank, shape);
    memset(bytes, ' ', HEADER);
    memcpy(bytes, MAGIC, sizeof MAGIC);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = HEADER - 10;
    bytes[9] = 0;
    int length = snprintf(bytes + 10, HEADER - 10,
                          "{'descr': '<f%d', 'fortran_order': False, 'shape': (%s), }", half ? 2 : 4, text);
    bytes[10 + length] = ' ';
    bytes[HEADER - 1] = '\n';
    if (!half)
        memcpy(bytes + HEADER, data, count * sizeof(float));
    for (size_t i = 0; half && i < count; i++) {
        uint16_t value = nn_half_of_float(data[i]);
        memcpy(bytes + HEADER + i * sizeof value, &value, sizeof value);
    }
    if (sha256)
        sha256_bytes(bytes, size, sha256);
    bool good = nn_write_file(path, bytes, size, error);
    free(bytes);
    return good;
}

bool npy_write(const char *path, const float *data, int rank, const int *shape, char sha256[65],
               struct error *error)
{
    return write_array(path, data, false, rank, shape, sha256, error);
}

bool npy_write_half(const char *path, const float *data, int rank, const int *shape, char sha256[65],
                    struct error *error)
{
    return write_array(path, data, true, rank, shape, sha256, error);
}
