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
#include "demo_files.h"
#include "input_file.h"
#include "machine_setup.h"
#include "options.h"
#include "wad.h"

#define GUEST_SAVES "/saves"
// That the engine's files are there: two variables of its environment.
#define LAUNCH_SAVES_ENVIRONMENT "HOME=" GUEST_SAVES, "NEURODOOM_SAVEDIR=" GUEST_SAVES

struct launch {
    struct machine_setup setup; // its config points into launch
    char *program; // host path of the guest
    char *iwad;
    struct wad_info iwad_info;
    struct text_list wads; // absolute paths: the game's and its add-ons
    char *demo; // what -timedemo or -playdemo names, else NULL
    bool timed_demo;
    int speed; // percent or SPEED_MAX
    struct text_list arguments, environment;
    struct demo_recording recording;
    struct input_file *replayed; // what is replayed, or NULL
    struct scratch copies; // the folder of what a replay may write
};

// The host folder for a kind of the user's files below $XDG_DATA_HOME/neurodoom, created if it is missing;
// NULL if that is impossible. The caller frees it.
char *launch_data_folder(const char *name);

// Host path of the guest's program; the caller frees it.
char *launch_program(void);

// Finds everything. False: *failure, with STATUS_NO_WAD if there is nothing to play. In either case
// launch_free is due. options and settings have to outlive launch.
bool launch_prepare(struct launch *launch, const struct options *options, const struct settings *settings,
                    struct failure *failure);

// After a fault of the guest or an error of the engine: says in *failure, too, which WADs were played, and
// what is wrong with them, unless it is an error that they have no part in.
void launch_blame_wads(const struct launch *launch, struct failure *failure);

void launch_free(struct launch *launch);

#endif
