// SPDX-License-Identifier: MIT
// The commands of neuromodel for the dispatch nets, and what they share.
#ifndef MODELS_DISPATCH_TOOL_H
#define MODELS_DISPATCH_TOOL_H

#include "core/engine/dispatch/dispatch_model.h"
#include "tool.h"
#include "words.h"

// Shows which features the kernels need.
tool_command dispatch_generate;
// Trains on every input vector that an allocated word has.
tool_command dispatch_train;
// Counts the words that the net names wrongly.
tool_command dispatch_verify;
// Net, rule, exhibit and shuffled net on real code, and what they cost.
tool_command dispatch_eval;
// Trains the exhibit on real code.
tool_command dispatch_exhibit_train;

// How a net does on a census.
struct dispatch_score {
    uint64_t wrong_words, wrong_by_kernel[DISPATCH_KERNELS]; // by true kernel
    uint32_t vectors, wrong_vectors; // of those that allocated words have
    float margin; // smallest of a right answer over the next output; below 0 if one is wrong
    uint32_t first_wrong; // vector, valid if wrong_vectors > 0
};
void dispatch_score(const struct dispatch_net *net, const struct word_census *census,
                    struct dispatch_score *score);

// ---- the exhibit: 135 parameters, no embedding, no features ----

#define EXHIBIT_NAME "dispatch-135"
enum { EXHIBIT_INPUTS = 8, EXHIBIT_HIDDEN = 8, EXHIBIT_PARAMETERS = 135 };

enum dispatch_kernel exhibit_predict(const float parameters[EXHIBIT_PARAMETERS], uint32_t word, uint64_t pc);
// Reads its weights. False with *error if they are missing or damaged.
bool exhibit_load(const char *base, float parameters[EXHIBIT_PARAMETERS], struct error *error);

#endif
