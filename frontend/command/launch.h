// SPDX-License-Identifier: MIT
// From options to a machine that is ready to be created: which files the guest may see, under which names,
// and the engine's command line.
//
// A WAD, demo or patch that the user names is granted by itself, for reading, at its own absolute path.
// /saves is the user's save folder; /demos, where the engine runs, is the demo folder, so that a recorded
// demo lands there. A recording that was asked for with a path is moved there when the game has ended.
#ifndef FRONTEND_LAUNCH_H
#define FRONTEND_LAUNCH_H

#include "config.h"
#include "core/core.h"
#include "options.h"
#include "wad.h"

struct launch {
    struct machine_config machine; // without callbacks
    char *program, *cache, *library; // host paths
    char dispatch_model[4096]; // base path of the dispatch net, "" if there is none
    char loop_models[4096]; // folder of the nets for loops, "" if there is none
    char *iwad;
    struct wad_info iwad_info;
    char *demo; // what -timedemo or -playdemo names, else NULL
    bool timed_demo;
    int speed; // percent or SPEED_MAX
    struct text_list arguments, environment;
    struct machine_grant *grants; // their strings belong to them
    size_t grant_count;
    char *recorded; // host path that the engine writes a recording to, or NULL
    int64_t recorded_before; // when a file of that name was last written, before this run
    char *recorded_target; // where it is wanted, or NULL: it stays
};

// The host folder for a kind of the user's files below $XDG_DATA_HOME/neurodoom, created if it is missing;
// NULL if that is impossible. The caller frees it.
char *launch_data_folder(const char *name);

// Finds everything. False: *failure, with STATUS_NO_WAD if there is nothing to play. In either case
// launch_free is due. options and settings have to outlive launch.
bool launch_prepare(struct launch *launch, const struct options *options, const struct settings *settings,
                    struct failure *failure);

// After the game has ended: puts a recording where it is wanted and tells where it is.
void launch_finish(const struct launch *launch);

void launch_free(struct launch *launch);

// Plays by run, with the run's log open and signals caught; returns what it returns, the exit status.
int launch_play(const struct options *options, struct settings *settings,
                int (*run)(const struct options *options, struct settings *settings));

#endif
