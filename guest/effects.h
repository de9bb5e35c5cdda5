// SPDX-License-Identifier: GPL-2.0-or-later
// Sound effects: DMX lumps brought to the rate of the output once, and the channels that play them. Integers
// only, so that every machine mixes the same samples.
#ifndef EFFECTS_H
#define EFFECTS_H

#include <stdint.h>

#include "i_sound.h"

// Lump names get the prefix DS, as DOOM's do.
void effects_open(boolean use_sfx_prefix);

int effects_lump(const sfxinfo_t *sound);
// Reads the lumps of all sounds, so that none is read in the middle of a game.
void effects_load(sfxinfo_t *sounds, int count);

// Plays sound on the channel in place of what played there: volume 0..127, separation 0 (left) .. 254
// (right), pitch NORM_PITCH = as recorded. Returns the channel, or -1 if the lump is no sound.
int effects_start(sfxinfo_t *sound, int channel, int volume, int separation, int pitch);
void effects_place(int channel, int volume, int separation);
void effects_stop(int channel);
boolean effects_play(int channel);

// Adds the next count samples of all channels to mix: [count][2], left and right, as of 16 bits.
void effects_mix(int32_t (*mix)[2], unsigned count);

#endif
