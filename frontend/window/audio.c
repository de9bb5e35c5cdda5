// SPDX-License-Identifier: MIT
#include "audio.h"

#include <SDL.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/base/text.h"
#include "guest/device_page.h"

enum {
    QUEUE = 16384, // samples; a power of two
    CHUNK = 441, // samples that SDL asks for at a time: 10 ms
    // What is left in the queue when a frame's sound comes in, 40 ms: how late a frame may be, and with a
    // chunk what a new sound waits for. Each time that it was too little it becomes a chunk more, up to 100
    // ms; each calm minute takes one away again.
    LEVEL = 1764,
    LEVEL_MOST = 4410,
    CALM = 60 * 35, // frames
    FRAME = 1279, // what comes in at a time: 29 ms
    STANDSTILL = 3, // levels: after one, what is more than a level and a frame is dropped
    FADE = 441, // samples, 10 ms
    SEEK_MS = 2000, // between two looks for a device
};
#define CONTROL_MOST 0.005 // of the rate: 9 cents, which nobody hears
#define CONTROL_SLOW 0.00002 // and for clocks that differ for good, by each frame's sound
#define LEVEL_SMOOTHING 0.05

struct audio {
    SDL_AudioDeviceID device; // 0: it has gone
    uint64_t sought; // SDL_GetTicks64, when one was last looked for
    int16_t queue[QUEUE][2];
    atomic_uint head, tail; // samples put in and taken out so far
    atomic_bool on;
    atomic_int volume; // percent
    atomic_uint under_runs;
    atomic_uint level_wanted; // LEVEL to LEVEL_MOST
    _Atomic double rate; // samples of the queue for one of the card
    _Atomic double latency_ms; // see struct session_sound
    // The emulation thread's.
    double level, drift;
    unsigned under_runs_seen, calm; // of which level_wanted knows; frames since the last
    // SDL's thread's.
    double position; // between the samples at tail and behind it, 0..1
    double gain; // what the last sample was multiplied with
    bool flowing; // the queue had filled up to its level and a frame, and has not been empty since
    double last[2]; // the last sample that was played, for a fade where nothing follows
};

// ---- SDL's thread ----

static double interpolate(const struct audio *a, unsigned tail, unsigned side)
{
    double from = a->queue[tail % QUEUE][side], to = a->queue[(tail + 1) % QUEUE][side];
    return from + (to - from) * a->position;
}

static double step_gain(double gain, double wanted)
{
    double difference = wanted - gain, most = 1.0 / FADE;
    return gain + (difference > most ? most : difference < -most ? -most : difference);
}

static void play(void *user, Uint8 *stream, int size)
{
    struct audio *a = user;
    int16_t(*to)[2] = (int16_t(*)[2])stream;
    unsigned count = (unsigned)size / sizeof *to, head = atomic_load_explicit(&a->head, memory_order_acquire);
    unsigned tail = atomic_load_explicit(&a->tail, memory_order_relaxed);
    unsigned level = atomic_load(&a->level_wanted);
    bool on = atomic_load(&a->on);
    double wanted = on ? atomic_load(&a->volume) / 100.0 : 0, rate = atomic_load(&a->rate);
    if (!on && a->gain == 0) { // what comes after this starts anew
        tail = head;
        a->flowing = false;
    }
    if (head - tail > STANDSTILL * level) {
        tail = head - level - FRAME;
    }
    a->flowing |= head - tail >= level + FRAME;
    for (unsigned i = 0; i < count; i++) {
        if (a->flowing && head - tail < 2) {
            a->flowing = false;
            a->position = 0;
            if (on) {
                atomic_fetch_add(&a->under_runs, 1);
            }
        }
        a->gain = step_gain(a->gain, a->flowing ? wanted : 0);
        for (unsigned side = 0; side < 2; side++) {
            if (a->flowing) {
                a->last[side] = interpolate(a, tail, side);
            }
            to[i][side] = (int16_t)lrint(a->last[side] * a->gain);
        }
        if (a->flowing) {
            a->position += rate;
            tail += (unsigned)a->position;
            a->position -= (unsigned)a->position;
        }
    }
    atomic_store_explicit(&a->tail, tail, memory_order_release);
}

// ---- emulation thread ----

// Returns what should be left in the queue.
static unsigned control_level(struct audio *a)
{
    unsigned wanted = atomic_load(&a->level_wanted), under_runs = atomic_load(&a->under_runs);
    if (under_runs != a->under_runs_seen) {
        wanted += wanted < LEVEL_MOST ? CHUNK : 0;
        a->calm = 0;
    } else if (++a->calm % CALM == 0) {
        wanted -= wanted > LEVEL ? CHUNK : 0;
    }
    a->under_runs_seen = under_runs;
    atomic_store(&a->level_wanted, wanted);
    return wanted;
}

static void control_rate(struct audio *a, unsigned level, unsigned wanted)
{
    a->level += (level - a->level) * LEVEL_SMOOTHING;
    double off = (a->level - wanted) / wanted;
    a->drift = fmax(-CONTROL_MOST, fmin(CONTROL_MOST, a->drift + off * CONTROL_SLOW));
    double control = fmax(-CONTROL_MOST, fmin(CONTROL_MOST, off * CONTROL_MOST + a->drift));
    atomic_store(&a->rate, 1 + control);
    atomic_store(&a->latency_ms, a->level * 1000 / DEVICE_AUDIO_RATE);
}

void audio_put(struct audio *a, const int16_t (*samples)[2], size_t count)
{
    unsigned head = atomic_load_explicit(&a->head, memory_order_relaxed);
    unsigned level = head - atomic_load_explicit(&a->tail, memory_order_acquire);
    unsigned wanted = control_level(a);
    if (level < STANDSTILL * wanted) {
        control_rate(a, level, wanted);
    }
    // Faster than it is played: the oldest is lost, when SDL's thread sees how much there is.
    if (level + count >= QUEUE) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(a->queue[(head + i) % QUEUE], samples[i], sizeof samples[i]);
    }
    atomic_store_explicit(&a->head, head + (unsigned)count, memory_order_release);
}

// ---- main thread ----

static bool open_device(struct audio *a)
{
    SDL_AudioSpec spec = {.freq = DEVICE_AUDIO_RATE,
                          .format = AUDIO_S16SYS,
                          .channels = 2,
                          .samples = CHUNK,
                          .callback = play,
                          .userdata = a};
    a->device = SDL_OpenAudioDevice(NULL, 0, &spec, NULL, 0);
    a->sought = SDL_GetTicks64();
    if (a->device) {
        SDL_PauseAudioDevice(a->device, 0);
    }
    return a->device;
}

struct audio *audio_open(char *error, size_t size)
{
    if (SDL_InitSubSystem(SDL_INIT_AUDIO)) {
        snprintf(error, size, "%s", SDL_GetError());
        return NULL;
    }
    struct audio *a = memory_zeroed(sizeof *a);
    a->rate = 1;
    a->level = LEVEL;
    a->level_wanted = LEVEL;
    if (!open_device(a)) {
        snprintf(error, size, "%s", SDL_GetError());
        SDL_QuitSubSystem(SDL_INIT_AUDIO);
        free(a);
        return NULL;
    }
    return a;
}

bool audio_gone(struct audio *a, uint32_t device)
{
    if (!a->device || a->device != device) {
        return false;
    }
    SDL_CloseAudioDevice(a->device);
    a->device = 0;
    return true;
}

bool audio_seek(struct audio *a)
{
    return !a->device && SDL_GetTicks64() - a->sought >= SEEK_MS && open_device(a);
}

void audio_close(struct audio *a)
{
    if (!a) {
        return;
    }
    SDL_CloseAudioDevice(a->device);
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    free(a);
}

const char *audio_driver(void)
{
    const char *name = SDL_GetCurrentAudioDriver();
    return name ? name : "none";
}

void audio_play(struct audio *a, bool on, int volume)
{
    atomic_store(&a->on, on);
    atomic_store(&a->volume, volume);
}

void audio_get_figures(const struct audio *a, struct session_sound *figures)
{
    *figures = (struct session_sound){
        .heard = a->device,
        .under_runs = atomic_load(&a->under_runs),
        .latency_ms = atomic_load(&a->latency_ms),
    };
}
