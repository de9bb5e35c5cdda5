// SPDX-License-Identifier: MIT
// The commands of neuromodel for the three loop nets, and what they share.
#ifndef MODELS_LOOP_TRAIN_H
#define MODELS_LOOP_TRAIN_H

#include "core/loops/propose/iteration_predictor.h"
#include "core/loops/propose/loop_detector.h"
#include "core/nn/model_file.h"
#include "loop_data.h"
#include "tool.h"

tool_command detector_train, recognizer_train, predictor_train;
// The five-way table of one net.
tool_command detector_eval, recognizer_eval, predictor_eval;
// Fine-tunes the heads of all three nets by the online log of a machine.
tool_command loops_train_online;

// ---- data ----

// Samples are told apart by their program, and by the compiler and level that made them; never by row.
enum loop_part {
    LOOP_TRAIN,
    LOOP_VALIDATION, // programs that are not trained on
    LOOP_TEST, // other such programs, by compilers and levels that are not trained on either
    LOOP_REAL, // programs that were not generated: test data only
    LOOP_PARTS,
};
extern const char *const loop_part_names[LOOP_PARTS];
extern const char loop_split[]; // the same in words

struct loop_set {
    struct loop_data data;
    const struct loop_sample **part[LOOP_PARTS];
    unsigned count[LOOP_PARTS];
};

// Reads the files, drops duplicates, and divides the rest; what is in no part is only in data. False with
// *error if a file is damaged, or if there is nothing.
bool loop_set_read(struct loop_set *set, char **files, int count, struct error *error);
void loop_set_free(struct loop_set *set);

// Other code for the same loop, for training: its registers X0..X28 numbered differently (unless it calls),
// neighbours exchanged that do not need each other, comparisons turned round, instructions between them that
// have nothing to do with the rest, or calls, with what these change in the labels. classless: also branches
// and streams, with which the class may not be right any more. Leaves it as it is if it has an instruction
// whose registers are not known.
void loop_vary(struct loop_sample *sample, bool classless, struct rng *random);

// ---- models ----

struct loop_models {
    struct loop_detector detector;
    struct pattern_recognizer recognizer;
    struct iteration_predictor predictor;
};
void loop_models_create(struct loop_models *m, uint64_t seed);
void loop_models_destroy(struct loop_models *m);

enum loop_net { NET_DETECTOR, NET_RECOGNIZER, NET_PREDICTOR, LOOP_NETS };
struct loop_net_info {
    const char *name; // of the files
    const char *architecture;
};
extern const struct loop_net_info loop_net_infos[LOOP_NETS];
struct params *loop_net_params(struct loop_models *m, enum loop_net net);
// To the numbers that a file of 16 bits holds, so that what is measured is what is saved.
void loop_net_round(struct params *p);
bool loop_models_load(struct loop_models *m, enum loop_net net, const char *folder, struct error *error);

// What the nets say of count samples: that one alone, the predictor with both others that it hangs on.
void loop_guess_all(const struct loop_models *m, enum loop_net net, const struct loop_sample *const *samples,
                    unsigned count, struct loop_guess *guesses);

// Cross-entropy of the probability that the class is right; class and classes: what was named and what is
// right.
struct tensor *recognizer_confidence_loss(struct graph *g, struct tensor *confidence,
                                          const struct tensor *class, const int *classes);

// The hand rule: the same inputs, no net. trips: log2, as loop_guess.predicted_trips.
void loop_rule(const struct loop_body *body, struct loop_guess *guess);

// ---- scores ----

struct loop_score {
    unsigned n, type, counter, class; // samples, and rightly named ones
    unsigned entries, detector_trips,
        trips; // with a count fixed at the entry, and those within a factor of 2
};
void loop_score(const struct loop_sample *const *samples, const struct loop_guess *guesses, unsigned count,
                struct loop_score *score);
bool loop_has_trips(const struct loop_sample *sample);
float loop_log2_trips(const struct loop_sample *sample); // of the entry whose registers stand in body
float loop_trips_weight(const struct loop_sample *sample); // of its trips in a loss
#define LOG10_2 0.30103f

struct cJSON;
// The score of one net as a JSON object.
struct cJSON *loop_score_json(const struct loop_score *score, enum loop_net net);

#endif
