// SPDX-License-Identifier: MIT
// Recording frame times: a row a frame as CSV, and the summary as JSON.
//
// Of each frame's interval: credited and iterations_skipped are what kernels did in place of loops,
// loops_new and loops_rejected how many headers a net proposed or the checker refused; loops_active is how
// many replacements are in force. They stay empty, and null in JSON, where no loop can be replaced. phase has
// "warm-" in front while much code is being compiled.
#ifndef FRONTEND_RECORD_H
#define FRONTEND_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/command/config.h"
#include "frontend/command/launch.h"
#include "frontend/session/session.h"

struct recording;

struct recording *record_start(void);
void record_free(struct recording *r);

// Adds a frame: on the emulation thread. hash: of the picture, see output.h. phase: what the engine was doing
// (record_phase).
void record_frame(struct recording *r, const struct frame_figures *figures, const char *phase, uint64_t hash);

// Puts label (letters, digits, = and -) into the marker column of the next frame. Any thread.
void record_marker(struct recording *r, const char *label);

uint32_t record_count(struct recording *r);

// How many frames, and what they took, as a sentence on the heap: of those while code was being compiled only
// the number, if there are others.
char *record_tell(struct recording *r);

// "level", "intermission", "finale", "demoscreen", with "demo-" in front while a demo plays.
const char *record_phase(const struct device_info *info);

// The names of the columns.
extern const char record_csv_header[];

// Writes the rows so far, or their times as MangoHud does. False: errno tells why.
bool record_write_csv(struct recording *r, const char *path);
bool record_write_mangohud(struct recording *r, const char *path);

// Writes the summary. tics: of a timed demo, else 0.
bool record_write_json(struct recording *r, const char *path, const struct launch *launch,
                       const struct settings *settings, uint32_t tics);

#endif
