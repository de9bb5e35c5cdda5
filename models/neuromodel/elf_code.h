// SPDX-License-Identifier: MIT
// The instruction words of aarch64 programs and libraries.
#ifndef MODELS_ELF_CODE_H
#define MODELS_ELF_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/nn/tensor.h"

struct code_word {
    uint32_t word;
    uint64_t pc; // as the file is linked
};

// Appends the words of every executable section of the file to *words, which grows; the caller frees it.
// Literals and padding between the instructions are among them. False with *error if the file cannot be read
// or is no 64-bit little-endian aarch64 ELF with sections.
bool elf_code_append(const char *path, struct code_word **words, size_t *count, struct error *error);

#endif
