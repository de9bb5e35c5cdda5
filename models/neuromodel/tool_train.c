// SPDX-License-Identifier: MIT
#include "tool_train.h"

#include <string.h>

bool tool_train(const struct tool_options *options, const struct tool_training *t, struct error *error)
{
    char own[1024], base[1100], checkpoint[1120];
    snprintf(base, sizeof base, "%s",
             options->out ? options->out : tool_path(own, sizeof own, options->folder, t->name));
    snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", base);
    struct training training = t->training;
    if (options->epochs_given)
        training.epochs = options->epochs;
    training.checkpoint = options->resume_off ? NULL : checkpoint;
    training.report = stderr;
    struct graph graph;
    struct optimizer optimizer;
    graph_create(&graph, t->kernels, true, t->seed);
    optimizer_create(&optimizer, t->params, t->decay > 0, t->decay, 1);
    struct training_result result;
    interrupt_note();
    enum training_end end = train(&training, t->params, &optimizer, &graph, &result, error);
    if (end == TRAINING_INTERRUPTED && result.best_epoch) {
        strncat(base, "-interrupted", sizeof base - strlen(base) - 1);
        fprintf(stderr, "interrupted: the best so far is %s; run the same command again to go on\n", base);
    }
    bool good =
        end != TRAINING_FAILED && (!result.best_epoch || t->save(training.context, base, &result, error));
    optimizer_destroy(&optimizer);
    graph_destroy(&graph);
    return good;
}
