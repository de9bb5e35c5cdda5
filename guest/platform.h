// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of the DOOM platform share with each other and with the patched engine.
// The engine's side of each file is the engine's own header of that name (i_video.h, i_timer.h, …).
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdint.h>

#include "doomtype.h"

#include "device_page.h"

// The device page of the host, or a private one of the same layout where there is no host
// (plain Linux, qemu-aarch64). Valid once platform_open has returned.
extern struct device_page *page;

// Maps the device page. Ends the program with the engine's error status if there is a device
// that this guest cannot use.
void platform_open(void);

// Tells the host that the page holds a new frame. Returns when the guest may go on.
void platform_present(void);

// Gives the host up to `milliseconds` of real time; returns early when an input event arrives.
void platform_wait(unsigned milliseconds);

// The host takes the sound in the page's ring. False where there is no host.
boolean platform_take_audio(void);

enum { CLOCK_FRAME_US = 29000 }; // a presented frame, by the virtual clock

// Guest time in microseconds since the first call; never goes back.
int64_t clock_now(void);

// Moves the virtual clock past one presented frame (no effect in real time).
void clock_frame_presented(void);

// Opens what -framehash FILE and -audiohash FILE name; an engine error if it cannot be written.
void fingerprints_open(void);
// Writes the line `frame gametic hash` of the frame in the page.
void fingerprints_of_frame(void);
// Whether seconds of sound get a line `second hash`, and the samples that come next in it: [count][2].
boolean fingerprints_want_audio(void);
void fingerprints_of_audio(const int16_t (*samples)[2], unsigned count);

// Whether anybody listens: known from the start, and as it is to the end. Else no sound is made.
boolean audio_is_heard(void);

// Makes all sound up to one frame ahead of the clock, and hands it to the host: at each presented frame, and
// what starts in a tic is heard with the frame that shows it.
void audio_advance(void);

// The folder for configuration and saves, with a slash at its end, made if it is missing: the
// environment's NEURODOOM_SAVEDIR (an engine error if it cannot be made), else `application` in the
// user's data folder. The caller frees it. Null if there is no place for it.
char *platform_save_folder(const char *application);

// Called by the patched engine when a timed demo has ended after `gametics` tics.
void platform_timed_demo_ended(int gametics);

#endif
