// SPDX-License-Identifier: MIT
// What the parts of nn_test share.
#ifndef NN_TEST_H
#define NN_TEST_H

#include "../../core/nn/layers.h"

// Prints "ok NAME" or "not ok NAME: why" and counts.
void report(bool good, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

// A net of one layer or loss, for every layer and loss. Inputs are parameters too, so that their gradients
// are looked at like all others. big: sizes that leave remainders in every vector and block.
struct layer_case {
    const char *name;
    // Creates the parameters; computes the output. The same big goes to both.
    void (*create)(struct params *p, bool big);
    struct tensor *(*forward)(struct graph *g, struct params *p, bool big);
};
extern const struct layer_case layer_cases[];
extern const int layer_case_count;

// Σ r·y with a fixed pseudo-random r, as the loss that everything is differentiated by. *exact: the same in
// double.
struct tensor *project(struct graph *g, struct tensor *y, double *exact);

// Computes a case and its gradients once, with the given kernels. The output's values are copied to y (if not
// NULL).
void run_case(const struct layer_case *c, const struct kernels *k, bool separate, struct params *p, bool big,
              float *y, size_t *count);

void test_kernels(void);
void test_gradients(void);
void test_files(const char *folder);
void test_training(void);

// The exit status of the program: 0 done, 130 interrupted.
int train_command(uint64_t seed, const char *checkpoint, const char *weights, uint64_t interrupt_at);

#endif
