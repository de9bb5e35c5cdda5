// SPDX-License-Identifier: MIT
// All 2^32 instruction words, decoded, and sorted by what the dispatch net sees of them.
#ifndef MODELS_WORDS_H
#define MODELS_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/engine/dispatch/dispatch.h"
#include "core/nn/tensor.h"

struct word_census {
    uint64_t words; // decoded, or stood for by one that was: always 2^32 at the end
    uint64_t decoded;
    uint64_t allocated;
    uint64_t by_kernel[DISPATCH_KERNELS]; // allocated words
    uint32_t (
        *count)[DISPATCH_KERNELS]; // [DISPATCH_VECTORS]: allocated words by input vector and true kernel
    double seconds;
};

enum words_method {
    WORDS_EVERY, // decodes every word: the proof
    // Decodes one word for each combination of the bits that the decoder, within 2048 ranges of words, or a
    // feature can look at; it stands for all words that differ in other bits. Which bits these are is read
    // from the instruction tables. Seconds instead of a minute.
    WORDS_REPRESENTED,
};

// Counts all words on up to `threads` threads. Progress goes to report (NULL: nowhere). False with *error if
// there is no memory for it, or if the user interrupted.
bool words_count(struct word_census *census, enum words_method method, unsigned threads, FILE *report,
                 struct error *error);
void words_free(struct word_census *census);

// Whether any vector has words of two kernels: then no function of the input is exact. *vector: the first.
bool words_conflict(const struct word_census *census, uint32_t *vector);

// Bits 20..0 that decide what the words of bucket (their bits 31..21) decode to.
uint32_t words_relevant_bits(uint32_t bucket);

// Threads that this machine runs at a time.
unsigned words_threads(void);

#endif
