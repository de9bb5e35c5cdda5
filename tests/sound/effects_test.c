// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's effects on this machine: recordings made here, in place of a WAD's, go through guest/effects.c.
//
// Of a tone at a lump's rate, what comes out has to be that tone, no weaker than what a one-pole low-pass at
// half the lump's rate leaves (Chocolate Doom's, for rates that are no power of two apart), and its mirror
// images above half the lump's rate weaker than that filter leaves them.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deh_str.h"
#include "effects.h"
#include "i_system.h"
#include "w_wad.h"

#include "platform.h"

enum { LENGTH = 4000, HEADER = 8, PADDING = 16, CHANNEL = 3 };

static byte lump[HEADER + LENGTH];

// ---- the WAD, of which effects.c asks ----

int W_LumpLength(lumpindex_t index)
{
    (void)index;
    return sizeof lump;
}

void W_ReadLump(lumpindex_t index, void *to)
{
    (void)index;
    memcpy(to, lump, sizeof lump);
}

lumpindex_t W_GetNumForName(const char *name)
{
    return strcmp(name, "dstest") == 0 ? 7 : -1;
}

lumpindex_t W_CheckNumForName(const char *name)
{
    return W_GetNumForName(name);
}

const char *DEH_String(const char *text)
{
    return text;
}

int M_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return length;
}

void I_Error(const char *text, ...)
{
    puts(text);
    exit(1);
}

// ---- sounds ----

static void make_lump(unsigned rate, double frequency)
{
    memset(lump, 0, sizeof lump);
    lump[0] = 3;
    lump[2] = (byte)rate;
    lump[3] = (byte)(rate >> 8);
    lump[4] = (byte)LENGTH;
    lump[5] = (byte)(LENGTH >> 8);
    for (int i = 0; i < LENGTH; i++)
        lump[HEADER + i] = (byte)lrint(127.5 + 100 * sin(2 * M_PI * frequency * i / rate));
}

static int32_t mix[8 * LENGTH][2];

// Plays the lump from the start to the end; returns its length in samples.
static unsigned play(int volume, int separation, int pitch)
{
    static sfxinfo_t sound;
    unsigned length = 0;
    sound = (sfxinfo_t){.name = "test"};
    sound.lumpnum = effects_lump(&sound);
    memset(mix, 0, sizeof mix);
    effects_start(&sound, CHANNEL, volume, separation, pitch);
    while (effects_play(CHANNEL)) {
        effects_mix(mix + length, 1);
        length++;
    }
    return length;
}

// The amplitude of a frequency on the right side, in the middle half (Goertzel).
static double amplitude(unsigned length, double frequency)
{
    double w = 2 * M_PI * frequency / DEVICE_AUDIO_RATE, re = 0, im = 0, weight = 0;
    for (unsigned i = length / 4; i < length * 3 / 4; i++) {
        double window = 0.5 - 0.5 * cos(2 * M_PI * (i - length / 4) / (length / 2));
        re += window * mix[i][1] * cos(w * i);
        im += window * mix[i][1] * sin(w * i);
        weight += window;
    }
    return 2 * hypot(re, im) / weight;
}

static bool all_good = true;

static void check(bool good, const char *name, double value)
{
    printf("%s %s (%.4g)\n", good ? "ok" : "not ok", name, value);
    all_good &= good;
}

static double one_pole(double frequency, double rate)
{
    double dt = 1.0 / DEVICE_AUDIO_RATE, rc = 1 / (M_PI * rate), alpha = dt / (rc + dt);
    double w = 2 * M_PI * frequency / DEVICE_AUDIO_RATE;
    return alpha / sqrt(1 + (1 - alpha) * (1 - alpha) - 2 * (1 - alpha) * cos(w));
}

static void check_rate(unsigned rate)
{
    char name[80];
    double tone = rate / 8.0, full = 100 * 257 * 254 / 255.0;
    make_lump(rate, tone);
    unsigned length = play(127, 254, 128);
    double expected = (double)(LENGTH - 2 * PADDING) * DEVICE_AUDIO_RATE / rate;
    snprintf(name, sizeof name, "%u Hz: it lasts as long as the recording", rate);
    check(fabs(length - expected) < 2, name, length / expected);
    double kept = amplitude(length, tone) / full;
    snprintf(name, sizeof name, "%u Hz: the tone is as loud as in the recording", rate);
    check(fabs(kept - 1) < 0.02 && kept >= one_pole(tone, rate), name, kept);
    double image = amplitude(length, rate - tone) / full;
    if (rate - tone < DEVICE_AUDIO_RATE / 2.0) {
        snprintf(name, sizeof name, "%u Hz: its mirror image is gone", rate);
        check(image < 0.02 && image < one_pole(rate - tone, rate), name, image);
    }
}

static double loudness(unsigned length, unsigned side)
{
    double sum = 0;
    for (unsigned i = 0; i < length; i++)
        sum += (double)mix[i][side] * mix[i][side];
    return sqrt(sum / length);
}

int main(void)
{
    static const unsigned rates[] = {8000, 11025, 16000, 22050, 32000, 44100};
    effects_open(true);
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        check_rate(rates[i]);
    make_lump(11025, 700);
    unsigned length = play(127, 200, 128);
    check(loudness(length, 1) > 2 * loudness(length, 0), "what is on the right is louder there",
          loudness(length, 1) / loudness(length, 0));
    length = play(127, 54, 128);
    check(loudness(length, 0) > 2 * loudness(length, 1), "what is on the left is louder there",
          loudness(length, 0) / loudness(length, 1));
    double loud = loudness(length, 0);
    play(60, 54, 128);
    check(fabs(loudness(length, 0) / loud - 60.0 / 127) < 0.01, "half the volume is half as loud",
          loudness(length, 0) / loud);
    unsigned higher = play(127, 128, 144);
    check(fabs((double)higher / length - 0.875) < 0.001, "a higher pitch is shorter",
          (double)higher / length);
    check(fabs(amplitude(higher, 800) / amplitude(higher, 700)) > 5, "and higher",
          amplitude(higher, 800) / amplitude(higher, 700));
    lump[0] = 4;
    check(play(127, 128, 128) == 0, "a lump of another format is silent", 0);
    return !all_good;
}
