// SPDX-License-Identifier: GPL-2.0-or-later
#include "effects.h"

#include <stdlib.h>
#include <string.h>

#include "deh_str.h"
#include "i_system.h"
#include "m_misc.h"
#include "tables.h"
#include "w_wad.h"
#include "z_zone.h"

#include "platform.h"

enum {
    CHANNELS = 16,
    NORMAL_PITCH = 128, // the engine's NORM_PITCH
    DMX_HEADER = 8, // format 3, rate, length
    DMX_PADDING = 16, // samples at either end that DMX does not play
    DMX_SHORTEST = 49, // samples that DMX plays at least
    TAPS = 16, // of the low-pass
    PHASES = 256, // places between two samples of a lump
    KERNEL_ONE = 1 << 14,
};

// A sound as its lump has it, behind sfxinfo_t.driver_data.
struct recording {
    unsigned rate, length; // length 0: no sound that DMX would play
    struct effect *normal; // at the normal pitch, once it has been played; else NULL
    byte *samples; // in lump
    byte lump[];
};

// A sound at the rate of the output.
struct effect {
    unsigned length;
    int16_t samples[];
};

static struct channel {
    struct effect *effect; // NULL: silent
    boolean owned; // nobody else has this effect
    unsigned position;
    int left, right; // 0..255
} channels[CHANNELS];

static boolean prefixed;

// A sine cardinal under a Hann window, TAPS samples of the lump wide: what is above half the lump's rate
// goes.
static int16_t kernel[PHASES][TAPS];

// At a distance of x / PHASES samples; 16.16.
static int64_t kernel_at(int x)
{
    enum { HALF_TURN = FINEANGLES / 2, WIDTH = TAPS / 2 * PHASES };
    const int64_t pi = 205887; // 16.16
    x = abs(x);
    if (x == 0) {
        return FRACUNIT;
    }
    int64_t sine = finesine[x * (HALF_TURN / PHASES) & FINEMASK];
    int64_t window = (FRACUNIT + (int64_t)finecosine[x * HALF_TURN / WIDTH & FINEMASK]) / 2;
    return sine * FRACUNIT / (pi * x / PHASES) * window / FRACUNIT;
}

static void make_kernel(void)
{
    for (int phase = 0; phase < PHASES; phase++) {
        int64_t tap[TAPS], sum = 0;
        for (int i = 0; i < TAPS; i++) {
            tap[i] = kernel_at((i - TAPS / 2 + 1) * PHASES - phase);
            sum += tap[i];
        }
        int rest = KERNEL_ONE; // what stands still stays as loud
        for (int i = 0; i < TAPS; i++) {
            kernel[phase][i] = (int16_t)(tap[i] * KERNEL_ONE / sum);
            rest -= kernel[phase][i];
        }
        kernel[phase][TAPS / 2 - 1] += (int16_t)rest;
    }
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL) {
        I_Error("No memory for a sound");
    }
    return memory;
}

// A higher pitch shortens a sound by as much of its length as it is above normal.
static struct effect *resample(const struct recording *r, int pitch)
{
    uint64_t step = ((uint64_t)r->rate << 32) * NORMAL_PITCH /
                    (DEVICE_AUDIO_RATE * (2u * NORMAL_PITCH - (unsigned)pitch));
    unsigned wanted = (unsigned)(((uint64_t)r->length << 32) / step);
    struct effect *e = allocate(sizeof *e + wanted * sizeof e->samples[0]);
    int16_t *from = allocate((r->length + 2 * TAPS) * sizeof *from); // between TAPS zeroes
    for (unsigned i = 0; i < r->length; i++) {
        from[TAPS + i] = (int16_t)(r->samples[i] * 257 - 32768);
    }
    e->length = wanted;
    uint64_t at = 0;
    for (unsigned i = 0; i < wanted; i++, at += step) {
        const int16_t *taps = kernel[(uint32_t)at / (UINT32_MAX / PHASES + 1)];
        const int16_t *first = from + TAPS / 2 + 1 + (at >> 32);
        int sum = 0;
        for (int k = 0; k < TAPS; k++) {
            sum += first[k] * taps[k];
        }
        e->samples[i] = (int16_t)clamp(sum / KERNEL_ONE, INT16_MIN, INT16_MAX);
    }
    free(from);
    return e;
}

static struct recording *load(int lump)
{
    unsigned size = (unsigned)W_LumpLength((lumpindex_t)lump);
    struct recording *r = allocate(sizeof *r + size);
    const byte *data = r->lump;
    W_ReadLump((lumpindex_t)lump, r->lump);
    if (size >= DMX_HEADER && data[0] == 3 && data[1] == 0) {
        unsigned rate = data[2] | (unsigned)data[3] << 8;
        unsigned length =
            data[4] | (unsigned)data[5] << 8 | (unsigned)data[6] << 16 | (unsigned)data[7] << 24;
        if (rate > 0 && length <= size - DMX_HEADER && length >= DMX_SHORTEST) {
            r->rate = rate;
            r->length = length - 2 * DMX_PADDING;
            r->samples = r->lump + DMX_HEADER + DMX_PADDING;
        }
    }
    return r;
}

void effects_open(boolean use_sfx_prefix)
{
    prefixed = use_sfx_prefix;
    make_kernel();
}

static void lump_name(const sfxinfo_t *sound, char name[9])
{
    const sfxinfo_t *named = sound->link != NULL ? sound->link : sound;
    M_snprintf(name, 9, "%s%s", prefixed ? "ds" : "", DEH_String(named->name));
}

int effects_lump(const sfxinfo_t *sound)
{
    char name[9];
    lump_name(sound, name);
    return W_GetNumForName(name);
}

void effects_load(sfxinfo_t *sounds, int count)
{
    char name[9];
    for (int i = 0; i < count; i++) {
        lump_name(&sounds[i], name);
        sounds[i].lumpnum = W_CheckNumForName(name);
        if (sounds[i].lumpnum >= 0) {
            sounds[i].driver_data = load(sounds[i].lumpnum);
        }
    }
}

void effects_stop(int channel)
{
    if (channel < 0 || channel >= CHANNELS) {
        return;
    }
    if (channels[channel].owned) {
        free(channels[channel].effect);
    }
    channels[channel] = (struct channel){0};
}

void effects_place(int channel, int volume, int separation)
{
    if (channel < 0 || channel >= CHANNELS) {
        return;
    }
    volume = clamp(volume, 0, 127);
    separation = clamp(separation, 0, 254);
    channels[channel].left = clamp((254 - separation) * volume / 127, 0, 255);
    channels[channel].right = clamp(separation * volume / 127, 0, 255);
}

int effects_start(sfxinfo_t *sound, int channel, int volume, int separation, int pitch)
{
    if (channel < 0 || channel >= CHANNELS) {
        return -1;
    }
    effects_stop(channel);
    if (sound->driver_data == NULL) {
        sound->driver_data = load(sound->lumpnum);
    }
    struct recording *r = sound->driver_data;
    if (r->length == 0) {
        return -1;
    }
    struct channel *c = &channels[channel];
    c->owned = pitch != NORMAL_PITCH;
    if (c->owned) {
        c->effect = resample(r, clamp(pitch, 0, 255));
    } else {
        c->effect = r->normal != NULL ? r->normal : (r->normal = resample(r, NORMAL_PITCH));
    }
    effects_place(channel, volume, separation);
    return channel;
}

boolean effects_play(int channel)
{
    return channel >= 0 && channel < CHANNELS && channels[channel].effect != NULL;
}

void effects_mix(int32_t (*mix)[2], unsigned count)
{
    for (int i = 0; i < CHANNELS; i++) {
        struct channel *c = &channels[i];
        if (c->effect == NULL) {
            continue;
        }
        const int16_t *from = c->effect->samples + c->position;
        unsigned left = c->effect->length - c->position;
        unsigned part = count < left ? count : left;
        for (unsigned k = 0; k < part; k++) {
            mix[k][0] += from[k] * c->left / 255;
            mix[k][1] += from[k] * c->right / 255;
        }
        c->position += part;
        if (part == left) {
            effects_stop(i);
        }
    }
}
