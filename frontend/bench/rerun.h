// SPDX-License-Identifier: MIT
// --rerun: a recording of input again and again in one process, with two settings in turns. The window's
// instant replay runs it in a process of its own.
//
// Behind each run the machine goes back to where the recording begins, with what it has compiled and proved:
// the times are those of a game that has been running for a while. They are CPU time of the thread that
// emulates. Each frame is compared with what the recording says of it, and the sound with the first run's.
//
// On standard output comes a line for each thing that is known:
//   frames N            so many has the recording
//   warm SIDE MS        a run before times had settled: its side, 0 or 1; ms a frame
//   blocks N FRAMES     so many blocks will be measured, of so many frames each run
//   run BLOCK SIDE MS   one of a block, from 1 on; each block is a run of either side, which come first in
//   turns differs SIDE FRAME WHY   frame, from 1 on, is not what it was; then nothing follows end
#ifndef FRONTEND_RERUN_H
#define FRONTEND_RERUN_H

#include "frontend/command/config.h"
#include "frontend/command/options.h"

// How a side has the machine, as ENGINE,DISPATCH,LOOPS; both with a semicolon between are what --rerun takes.
#define RERUN_SIDE "%s,%s,%s"

enum { RERUN_BLOCKS = 24 }; // at most

// Does what options ask for; returns the exit status, STATUS_DIFFERS if the sides do not show the same.
// Failures are reported.
int rerun_run(const struct options *options, const struct settings *settings);

#endif
