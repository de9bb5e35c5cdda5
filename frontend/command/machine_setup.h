// SPDX-License-Identifier: MIT
// From options and settings to a machine's configuration: what neurodoom and a64run have in common.
#ifndef FRONTEND_MACHINE_SETUP_H
#define FRONTEND_MACHINE_SETUP_H

#include "config.h"
#include "core/core.h"
#include "grants.h"
#include "options.h"

struct machine_setup {
    struct machine_config config; // without callbacks; points to what follows, so that this must not be moved
    struct grants grants;
    char *cache, *prepared, *library;
    char dispatch_model[4096]; // base path of the dispatch net, "" if there is none
    char loop_models[4096]; // folder of the nets for loops, "" if there is none
};

// Fills in engine, folders, nets and setup->grants, which have to be complete by now.
// fixed: nobody can switch nets while the machine runs. Then those that are off are left out, and one that is
// on but missing is a failure; else all that are there go in, and one that is missing is only warned of.
bool machine_setup_fill(struct machine_setup *setup, const struct options *options,
                        const struct settings *settings, bool fixed, struct failure *failure);
void machine_setup_free(struct machine_setup *setup);

#endif
