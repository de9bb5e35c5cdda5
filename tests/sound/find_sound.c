// SPDX-License-Identifier: MIT
// Finds sounds in a recording by normalized cross-correlation at 11,025 Hz, both mono.
//   find_sound RECORDING.raw lump WAD NAME      prints how often the lump is heard (correlation above HEARD),
//   and the highest correlation find_sound RECORDING.raw wav FILE.wav       prints how many of the pieces of
//   the file (a sixth of a second each)
//                                               that are not silent are heard (above HEARD), and how many
//                                               there are
// Recordings are 16-bit stereo at 44,100 Hz; a WAV file's header is 44 bytes.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of sounds that are not there, the highest correlations in minutes of music are about 0.35.
#define HEARD 0.45

enum { RATE = 11025, DECIMATION = 4, PIECE = RATE / 6, LUMP_PADDING = 24 };

struct sound {
    float *samples;
    long length;
};

static uint8_t *read_file(const char *path, long *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) || (*size = ftell(f)) < 0) {
        fprintf(stderr, "find_sound: cannot read %s\n", path);
        exit(2);
    }
    rewind(f);
    uint8_t *bytes = malloc((size_t)*size + 1);
    if (!bytes || fread(bytes, 1, (size_t)*size, f) != (size_t)*size)
        exit(2);
    fclose(f);
    return bytes;
}

static struct sound read_recording(const char *path, long header)
{
    long size;
    uint8_t *bytes = read_file(path, &size);
    struct sound s = {.length = (size - header) / 4 / DECIMATION};
    s.samples = calloc((size_t)s.length + 1, sizeof *s.samples);
    for (long i = 0; i < s.length * DECIMATION; i++) {
        int16_t side[2];
        memcpy(side, bytes + header + 4 * i, 4);
        s.samples[i / DECIMATION] += (float)(side[0] + side[1]) / (2 * DECIMATION);
    }
    free(bytes);
    return s;
}

static uint32_t little_endian(const uint8_t *p, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)p[i] << 8 * i;
    return value;
}

// A DMX lump (format, rate, length, 16 samples that are not played, samples).
static struct sound read_lump(const char *path, const char *name)
{
    long size;
    uint8_t *wad = read_file(path, &size);
    uint32_t count = little_endian(wad + 4, 4), directory = little_endian(wad + 8, 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *entry = wad + directory + 16 * i, *lump = wad + little_endian(entry, 4);
        if (strncmp((const char *)entry + 8, name, 8) != 0)
            continue;
        uint32_t rate = little_endian(lump + 2, 2), length = little_endian(lump + 4, 4) - 32;
        struct sound s = {.length = (long)((uint64_t)length * RATE / rate)};
        s.samples = calloc((size_t)s.length + 1, sizeof *s.samples);
        for (long k = 0; k < s.length; k++) { // the mean of the samples that fall into it
            uint64_t from = (uint64_t)k * rate / RATE, to = (uint64_t)(k + 1) * rate / RATE;
            for (uint64_t j = from; j < to || j == from; j++)
                s.samples[k] += (lump[LUMP_PADDING + j] - 128.0f) / (float)(to > from ? to - from : 1);
        }
        return s;
    }
    fprintf(stderr, "find_sound: %s has no lump %s\n", path, name);
    exit(2);
}

// Takes the mean of the sixteenth of a second around away: the steady part of music tells nothing.
static void take_mean(struct sound *s)
{
    enum { HALF = RATE / 32 };
    double *sum = calloc((size_t)s->length + 1, sizeof *sum);
    for (long i = 0; i < s->length; i++)
        sum[i + 1] = sum[i] + s->samples[i];
    for (long i = 0; i < s->length; i++) {
        long from = i > HALF ? i - HALF : 0, to = i + HALF < s->length ? i + HALF : s->length;
        s->samples[i] -= (float)((sum[to] - sum[from]) / (double)(to - from));
    }
    free(sum);
}

// How often pattern is heard in s: peaks of the correlation above HEARD, at least the pattern's length apart.
// Where best is not NULL, the highest correlation goes there.
static unsigned count_places(const struct sound *s, const float *pattern, long length, double *best)
{
    unsigned places = 0;
    double energy = 0, here = 0;
    for (long i = 0; i < length; i++)
        energy += (double)pattern[i] * pattern[i];
    for (long i = 0; i < length && i < s->length; i++)
        here += (double)s->samples[i] * s->samples[i];
    long last = -length;
    for (long at = 0; at + length < s->length; at++) {
        float product = 0;
        if (here > energy * 1e-4)
            for (long i = 0; i < length; i++)
                product += pattern[i] * s->samples[at + i];
        double correlation = product / sqrt(energy * here + 1);
        if (best && correlation > *best)
            *best = correlation;
        if (correlation > HEARD) {
            places += at - last >= length;
            last = at;
        }
        here += (double)s->samples[at + length] * s->samples[at + length] -
                (double)s->samples[at] * s->samples[at];
    }
    return places;
}

// The same at the rates that rate control may choose: as it is, or up to half a per cent faster or slower.
static unsigned count_at_rates(const struct sound *s, const float *samples, long length, double *best)
{
    unsigned most = 0;
    for (int rate = -2; rate <= 2; rate++) {
        float pattern[PIECE];
        for (long i = 0; i < length; i++) {
            double at = (double)i * (1 + rate * 0.0025);
            long k = (long)at < length - 1 ? (long)at : length - 2;
            pattern[i] = (float)(samples[k] + (samples[k + 1] - samples[k]) * (at - (double)k));
        }
        unsigned places = count_places(s, pattern, length, best);
        most = places > most ? places : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[2], "lump") == 0) {
        struct sound recording = read_recording(argv[1], 0), lump = read_lump(argv[3], argv[4]);
        take_mean(&recording);
        take_mean(&lump);
        long length = lump.length < PIECE ? lump.length : PIECE;
        double best = 0;
        unsigned most = count_at_rates(&recording, lump.samples, length, &best);
        printf("%u %.2f\n", most, best);
        return 0;
    }
    if (argc == 4 && strcmp(argv[2], "wav") == 0) {
        struct sound recording = read_recording(argv[1], 0), whole = read_recording(argv[3], 44);
        unsigned heard = 0, pieces = 0;
        take_mean(&recording);
        take_mean(&whole);
        for (long at = 0; at + PIECE <= whole.length; at += RATE) {
            double energy = 0;
            for (long i = 0; i < PIECE; i++)
                energy += (double)whole.samples[at + i] * whole.samples[at + i];
            if (energy / PIECE < 50 * 50)
                continue;
            pieces++;
            heard += count_at_rates(&recording, whole.samples + at, PIECE, NULL) > 0;
        }
        printf("%u %u\n", heard, pieces);
        return 0;
    }
    fprintf(stderr, "usage: find_sound RECORDING.raw lump WAD NAME | wav FILE.wav\n");
    return 2;
}
