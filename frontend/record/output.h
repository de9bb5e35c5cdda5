// SPDX-License-Identifier: MIT
// What a run leaves behind, with a window or without: frame hashes, pictures of chosen frames, recorded frame
// times, and counters.
#ifndef FRONTEND_OUTPUT_H
#define FRONTEND_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/command/config.h"
#include "frontend/command/launch.h"
#include "frontend/command/options.h"
#include "frontend/session/session.h"

struct output;

// Opens the files that options name, so that a wrong path shows before the run. NULL: *failure. The arguments
// have to outlive the output.
struct output *output_open(const struct options *options, const struct settings *settings,
                           const struct launch *launch, struct failure *failure);

// Brings a machine that has not run to where options have it start. False: *failure.
bool output_begin(struct output *o, machine *m, struct failure *failure);

// What is to be done between two frames: see session_callbacks.between.
void output_between(struct output *o, struct session *s);

// Takes a presented frame: on the emulation thread. False: it was the last that options ask for.
bool output_frame(struct output *o, struct session *s, const struct machine_frame *frame,
                  const struct frame_figures *figures);

// The game has been gone back in and stands behind that frame: what was recorded of its input after that
// goes. On the emulation thread.
void output_rewound(struct output *o, struct session *s, uint32_t frame);

// Whether options ask for what the guest sounds like, if only because a recorded one always makes sound; then
// its samples, on the emulation thread.
bool output_wants_audio(const struct output *o);
void output_audio(struct output *o, const int16_t (*samples)[2], size_t count);

// Main thread: starts or ends a recording into the benchmarks folder, besides one of --csv and --json.
// *saved: on the heap, where the ended recording is, or NULL if none was running or it could not be written.
// *told: on the heap, what it says (record_tell), or NULL if none was running.
// Returns whether one is running now.
bool output_toggle_recording(struct output *o, char **saved, char **told);
bool output_recording(struct output *o, uint32_t *frames);

// Puts a label into the marker column of whatever is being recorded. Any thread.
void output_marker(struct output *o, const char *label);

// Main thread: renews the file of --stats if it is a second old.
void output_renew_stats(struct output *o, struct session *s);

// Completes all files, after the session has stopped; o is freed. False if one could not be written: that has
// been logged.
bool output_close(struct output *o, struct session *s);

// Frees o where no session has come about: what earlier runs have left in the places of its files stays.
void output_abandon(struct output *o);

// XXH3-64 of the 64,000 picture bytes and the 768 palette bytes, in this order.
uint64_t output_frame_hash(const struct machine_frame *frame);

#endif
