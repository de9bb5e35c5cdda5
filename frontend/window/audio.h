// SPDX-License-Identifier: MIT
// Sound through SDL. The emulation thread puts in what the guest makes; SDL's thread takes it out at the rate
// of the sound card, which is never quite the guest's: the play rate follows the level of the queue by half a
// per cent at most (H.-K. Arntzen, "Dynamic Rate Control for Retro Game Emulators", 2012).
#ifndef FRONTEND_AUDIO_H
#define FRONTEND_AUDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/session/session.h"

struct audio;

// NULL: error (size bytes) says why there is no sound. It starts silent: see audio_play.
struct audio *audio_open(char *error, size_t size);
void audio_close(struct audio *a);

// SDL says that this device has gone, such as one that was pulled out. False: it was none of ours.
bool audio_gone(struct audio *a, uint32_t device);
// Once one has gone: looks for another, every two seconds however often it is called. True: there is one now.
bool audio_seek(struct audio *a);

// The name of SDL's driver.
const char *audio_driver(void);

// Emulation thread: samples in the order in which they are heard, at DEVICE_AUDIO_RATE.
void audio_put(struct audio *a, const int16_t (*samples)[2], size_t count);

// Whether sound is to be heard (not while paused, at another speed, …), and how loud, 0..100 %. Fades within
// some milliseconds.
void audio_play(struct audio *a, bool on, int volume);

void audio_get_figures(const struct audio *a, struct session_sound *figures);

#endif
