// SPDX-License-Identifier: GPL-2.0-or-later
// The driver of the engine's OPL library: a synthesized chip, whose time is the sound that it makes.
#ifndef OPL_DRIVER_H
#define OPL_DRIVER_H

#include <stdint.h>

// Makes the next count samples of music: [count][2], left and right; silence while there is no chip.
void opl_driver_make(int16_t (*samples)[2], unsigned count);

// Lets the time until the next callback pass without a sound, and calls it: for OPL_Delay.
void opl_driver_wait(void);

#endif
