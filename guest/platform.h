// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of the DOOM platform share with each other and with the patched engine.
// The engine's side of each file is the engine's own header of that name (i_video.h, i_timer.h, …).
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdint.h>

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

// Moves the virtual clock past one presented frame (no effect in real time).
void clock_frame_presented(void);

// One line a presented frame, `frame gametic hash`, goes to `path` from now on; an engine error
// if it cannot be written.
void framehash_open(const char *path);

// Writes the line of the frame in the page, if framehash_open has been called.
void framehash_write(void);

// The folder for configuration and saves, with a slash at its end, made if it is missing: the
// environment's NEURODOOM_SAVEDIR (an engine error if it cannot be made), else `application` in the
// user's data folder. The caller frees it. Null if there is no place for it.
char *platform_save_folder(const char *application);

// Called by the patched engine when a timed demo has ended after `gametics` tics.
void platform_timed_demo_ended(int gametics);

#endif
