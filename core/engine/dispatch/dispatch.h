// SPDX-License-Identifier: MIT
// Instruction dispatch by neural network: which of seven kernels executes an instruction word.
//
// The net sees the word's top byte and twelve features of the word. A feature is one bit, or the test of one
// contiguous field for one constant; so the net's input takes finitely many values, and what the net says of
// all 2^32 words can be listed, not sampled.
//
//   word ─┬─ 31:24 ─► embedding 256 × 32 ──┐
//         └─ 12 features ──────────────────┴─ 44 ─► 32 ReLU ─► 16 ReLU ─► 7
//
// The parameters lie flat in the file: embedding, then weights [out][in] and bias of each layer.
#ifndef CORE_ENGINE_DISPATCH_DISPATCH_H
#define CORE_ENGINE_DISPATCH_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

// In the order of enum insn_group of the instruction tables.
enum dispatch_kernel {
    DISPATCH_ARITHMETIC, // with all SIMD and FP data processing
    DISPATCH_LOGICAL,
    DISPATCH_LOAD_STORE,
    DISPATCH_BRANCH,
    DISPATCH_MULTIPLY,
    DISPATCH_SHIFT,
    DISPATCH_SYSTEM,
    DISPATCH_KERNELS,
};

extern const char *const dispatch_kernel_names[DISPATCH_KERNELS];

// FEATURE(lsb, width, value): the field of width bits from bit lsb equals value. The first nine are the
// opcode bits below the top byte in the tables of the Arm manual (C4.1); the last three tell register fields
// that stand for an opcode from true registers: opcode2 of one-source forms and branches, Rd or Rt = ZR.
// `neuromodel generate dispatch` shows which of them today's classes need.
#define DISPATCH_FEATURE_LIST(FEATURE)                                                                       \
    FEATURE(23, 1, 1)                                                                                        \
    FEATURE(22, 1, 1)                                                                                        \
    FEATURE(21, 1, 1)                                                                                        \
    FEATURE(15, 1, 1)                                                                                        \
    FEATURE(14, 1, 1)                                                                                        \
    FEATURE(13, 1, 1)                                                                                        \
    FEATURE(12, 1, 1)                                                                                        \
    FEATURE(11, 1, 1)                                                                                        \
    FEATURE(10, 1, 1)                                                                                        \
    FEATURE(16, 5, 0)                                                                                        \
    FEATURE(16, 5, 31)                                                                                       \
    FEATURE(0, 5, 31)

struct dispatch_feature {
    uint8_t lsb, width;
    uint32_t value;
};

enum {
    DISPATCH_FEATURES = 12,
    DISPATCH_VECTORS = 256 << DISPATCH_FEATURES, // values of the input: top byte, then the features
    DISPATCH_EMBEDDING = 32,
    DISPATCH_HIDDEN1 = 32,
    DISPATCH_HIDDEN2 = 16,
    // offsets in the flat layout
    DISPATCH_AT_WEIGHT1 = 256 * DISPATCH_EMBEDDING,
    DISPATCH_AT_BIAS1 = DISPATCH_AT_WEIGHT1 + DISPATCH_HIDDEN1 * (DISPATCH_EMBEDDING + DISPATCH_FEATURES),
    DISPATCH_AT_WEIGHT2 = DISPATCH_AT_BIAS1 + DISPATCH_HIDDEN1,
    DISPATCH_AT_BIAS2 = DISPATCH_AT_WEIGHT2 + DISPATCH_HIDDEN2 * DISPATCH_HIDDEN1,
    DISPATCH_AT_WEIGHT3 = DISPATCH_AT_BIAS2 + DISPATCH_HIDDEN2,
    DISPATCH_AT_BIAS3 = DISPATCH_AT_WEIGHT3 + DISPATCH_KERNELS * DISPATCH_HIDDEN2,
    DISPATCH_PARAMETERS = DISPATCH_AT_BIAS3 + DISPATCH_KERNELS,
};

extern const struct dispatch_feature dispatch_features[DISPATCH_FEATURES];

// The net's input for word: the top byte in bits 19..12, feature i in bit i.
static inline uint32_t dispatch_vector(uint32_t word)
{
    uint32_t vector = 0, bit = 1;
#define FEATURE(lsb, width, value)                                                                           \
    vector |= (word >> lsb & ((1u << width) - 1)) == value ? bit : 0;                                        \
    bit <<= 1;
    DISPATCH_FEATURE_LIST(FEATURE)
#undef FEATURE
    return word >> 24 << DISPATCH_FEATURES | vector;
}

// A net ready to be evaluated: the embedding is multiplied out with the first layer, and so are all sums of
// the features' columns, six features at a time.
struct dispatch_net {
    float by_top_byte[256][DISPATCH_HIDDEN1]; // with the first layer's bias
    float by_features[2][64][DISPATCH_HIDDEN1];
    float weight2[DISPATCH_HIDDEN1][DISPATCH_HIDDEN2]; // transposed
    float bias2[DISPATCH_HIDDEN2];
    float weight3[DISPATCH_HIDDEN2][8]; // transposed, padded to a vector
    float bias3[8];
};

// Prepares net from the flat layout.
void dispatch_prepare(struct dispatch_net *net, const float parameters[DISPATCH_PARAMETERS]);

// The seven outputs for an input vector.
void dispatch_logits(const struct dispatch_net *net, uint32_t vector, float logits[DISPATCH_KERNELS]);

// The kernel that the net names for each of count words. Any thread.
void dispatch_predict(const struct dispatch_net *net, const uint32_t *words, size_t count, uint8_t *kernels);

// The same for input vectors below DISPATCH_VECTORS. margins (NULL: not wanted) gets by how much each winning
// output exceeds the next.
void dispatch_predict_vectors(const struct dispatch_net *net, const uint32_t *vectors, size_t count,
                              uint8_t *kernels, float *margins);

#endif
