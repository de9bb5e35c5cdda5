// SPDX-License-Identifier: MIT
#include "audio_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "frontend/base/log.h"
#include "frontend/base/paths.h"
#include "frontend/base/text.h"
#include "guest/device_page.h"

struct audio_files {
    const char *wav_path, *hashes_path;
    struct new_file wav, hashes; // stream is NULL where there is no path
    uint64_t wav_bytes; // of samples, so far
    XXH3_state_t *state; // of the second under way
    uint32_t second, filled; // its number, and samples in it
};

static void little_endian(uint8_t *to, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

// Of 16-bit stereo PCM (Microsoft and IBM, "Multimedia Programming Interface and Data Specifications 1.0").
static void write_wav_header(FILE *stream, uint64_t bytes)
{
    enum { SIZE = 44, FORMAT_SIZE = 16, PCM = 1, STEREO = 2, BITS = 16, FRAME = STEREO * BITS / 8 };
    uint32_t size = bytes < UINT32_MAX - SIZE ? (uint32_t)bytes : UINT32_MAX - SIZE;
    uint8_t h[SIZE] = "RIFF....WAVEfmt ....................data";
    little_endian(h + 4, size + SIZE - 8, 4);
    little_endian(h + 16, FORMAT_SIZE, 4);
    little_endian(h + 20, PCM, 2);
    little_endian(h + 22, STEREO, 2);
    little_endian(h + 24, DEVICE_AUDIO_RATE, 4);
    little_endian(h + 28, DEVICE_AUDIO_RATE * FRAME, 4);
    little_endian(h + 32, FRAME, 2);
    little_endian(h + 34, BITS, 2);
    little_endian(h + 40, size, 4);
    fwrite(h, SIZE, 1, stream);
}

static bool open_file(struct new_file *file, const char *path, struct failure *failure)
{
    return !path || new_file_open(file, path) ||
           fail(failure, STATUS_USAGE, "cannot write %s: %s", path, strerror(errno));
}

static void release(struct audio_files *f)
{
    XXH3_freeState(f->state);
    free(f);
}

struct audio_files *audio_files_open(const char *wav, const char *hashes, struct failure *failure)
{
    struct audio_files *f = memory_resize(NULL, sizeof *f);
    *f = (struct audio_files){.wav_path = wav, .hashes_path = hashes, .state = XXH3_createState()};
    if (!open_file(&f->wav, wav, failure) || !open_file(&f->hashes, hashes, failure)) {
        audio_files_abandon(f);
        return NULL;
    }
    XXH3_64bits_reset(f->state);
    if (wav) {
        write_wav_header(f->wav.stream, UINT32_MAX); // what a reader of a pipe takes for "until it ends"
    }
    return f;
}

static void end_second(struct audio_files *f)
{
    fprintf(f->hashes.stream, "%u %016" PRIx64 "\n", f->second++, (uint64_t)XXH3_64bits_digest(f->state));
    XXH3_64bits_reset(f->state);
    f->filled = 0;
}

static void add_hashes(struct audio_files *f, const int16_t (*samples)[2], size_t count)
{
    while (count > 0) {
        size_t left = DEVICE_AUDIO_RATE - f->filled, part = count < left ? count : left;
        XXH3_64bits_update(f->state, samples, part * sizeof *samples);
        f->filled += (uint32_t)part;
        samples += part;
        count -= part;
        if (f->filled == DEVICE_AUDIO_RATE) {
            end_second(f);
        }
    }
}

void audio_files_add(struct audio_files *f, const int16_t (*samples)[2], size_t count)
{
    if (f->wav.stream) {
        fwrite(samples, sizeof *samples, count, f->wav.stream);
        f->wav_bytes += count * sizeof *samples;
    }
    if (f->hashes.stream) {
        add_hashes(f, samples, count);
    }
}

static bool commit(struct new_file *file, const char *path)
{
    if (!file->stream || new_file_commit(file)) {
        return true;
    }
    log_line(LOG_ERROR, "cannot write %s: %s", path, strerror(errno));
    return false;
}

bool audio_files_close(struct audio_files *f)
{
    if (f->hashes.stream && f->filled > 0) {
        end_second(f);
    }
    if (f->wav.stream && fseek(f->wav.stream, 0, SEEK_SET) == 0) {
        write_wav_header(f->wav.stream, f->wav_bytes);
    }
    bool good = commit(&f->wav, f->wav_path);
    good &= commit(&f->hashes, f->hashes_path);
    release(f);
    return good;
}

void audio_files_abandon(struct audio_files *f)
{
    new_file_discard(&f->wav);
    new_file_discard(&f->hashes);
    release(f);
}
