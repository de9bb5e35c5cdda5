// SPDX-License-Identifier: MIT
// --wav FILE and --audio-hash FILE: what the guest sounds like, as the guest makes it.
#ifndef FRONTEND_AUDIO_FILES_H
#define FRONTEND_AUDIO_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/base/status.h"

struct audio_files;

// Either path may be NULL, not both. NULL: *failure. Samples are 16-bit stereo at DEVICE_AUDIO_RATE.
struct audio_files *audio_files_open(const char *wav, const char *hashes, struct failure *failure);
void audio_files_add(struct audio_files *f, const int16_t (*samples)[2], size_t count);
// Puts the files in place and frees f. False: one of them could not be written; the log says which and why.
bool audio_files_close(struct audio_files *f);
// Frees f; what was in their places stays.
void audio_files_abandon(struct audio_files *f);

#endif
