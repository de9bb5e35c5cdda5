// SPDX-License-Identifier: GPL-2.0-or-later
// Sound follows the guest's clock: by when a frame is presented, everything has been made that is heard until
// the next one. So what is heard hangs on nothing but what the game does, on any machine.
#include <string.h>

#include "effects.h"
#include "opl_driver.h"
#include "platform.h"

enum { BLOCK = 256 };

// In real time, what a guest that was held up has missed for longer than this is left out.
#define MISSED_MOST (DEVICE_AUDIO_RATE / 5)

static uint64_t made; // samples, since the clock began

static void hand_over(const int16_t (*samples)[2], unsigned count)
{
    struct device_audio *ring = &page->audio;
    fingerprints_of_audio(samples, count);
    for (unsigned i = 0; ring->wanted && i < count; i++) {
        uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        if (ring->head - tail == DEVICE_AUDIO_FRAMES && !platform_take_audio()) {
            return;
        }
        memcpy(ring->samples[ring->head % DEVICE_AUDIO_FRAMES], samples[i], sizeof samples[i]);
        __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
    }
}

static int16_t saturated(int32_t value)
{
    return (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
}

static void make(unsigned count)
{
    static int16_t samples[BLOCK][2];
    static int32_t mix[BLOCK][2];
    opl_driver_make(samples, count);
    for (unsigned i = 0; i < count; i++) {
        mix[i][0] = samples[i][0];
        mix[i][1] = samples[i][1];
    }
    effects_mix(mix, count);
    for (unsigned i = 0; i < count; i++) {
        samples[i][0] = saturated(mix[i][0]);
        samples[i][1] = saturated(mix[i][1]);
    }
    hand_over((const int16_t(*)[2])samples, count);
}

boolean audio_is_heard(void)
{
    return page->audio.wanted || fingerprints_want_audio();
}

void audio_advance(void)
{
    if (!audio_is_heard()) {
        return;
    }
    uint64_t due = (uint64_t)(clock_now() + CLOCK_FRAME_US) * DEVICE_AUDIO_RATE / 1000000;
    boolean real = page->info.clock_mode == DEVICE_CLOCK_REAL;
    if (real && due > made + MISSED_MOST) {
        made = due - MISSED_MOST;
    }
    while (made < due) {
        unsigned count = due - made < BLOCK ? (unsigned)(due - made) : BLOCK;
        make(count);
        made += count;
    }
}
