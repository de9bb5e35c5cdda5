// SPDX-License-Identifier: GPL-2.0-or-later
// The one clock of the guest. Two modes, which the host may swap while the game runs:
//
// real     time is the system's monotonic clock; a sleep is handed to the host.
// virtual  time moves by what the game does: 29 ms a presented frame (a tic is 28.6 ms, so one
//          frame is one tic), n ms for a sleep of n. Every run sees the same times, on any machine
//          at any speed, and so draws the same frames.
//
// A swap neither jumps nor goes back: the new mode goes on from the last time that was told.
#include <time.h>

#include "doomtype.h"
#include "i_timer.h"

#include "platform.h"

static int64_t now_us; // the time that was told last
static uint32_t mode = DEVICE_CLOCK_VIRTUAL;
static int64_t real_origin_us; // real mode: the monotonic clock when guest time was 0

static int64_t monotonic_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_now(void)
{
    uint32_t wanted = __atomic_load_n(&page->info.clock_mode, __ATOMIC_RELAXED);
    if (wanted != mode) {
        mode = wanted;
        if (mode == DEVICE_CLOCK_REAL) {
            real_origin_us = monotonic_us() - now_us;
        }
    }
    if (mode == DEVICE_CLOCK_REAL) {
        int64_t real = monotonic_us() - real_origin_us;
        if (real > now_us) {
            now_us = real;
        }
    }
    return now_us;
}

void clock_frame_presented(void)
{
    clock_now();
    if (mode == DEVICE_CLOCK_VIRTUAL) {
        now_us += CLOCK_FRAME_US;
    }
}

void I_InitTimer(void)
{
    clock_now();
}

int I_GetTimeMS(void)
{
    return (int)(clock_now() / 1000);
}

int I_GetTime(void)
{
    return (int)(clock_now() / 1000 * TICRATE / 1000);
}

void I_Sleep(int ms)
{
    if (ms <= 0) {
        return;
    }
    clock_now();
    if (mode == DEVICE_CLOCK_VIRTUAL) {
        now_us += (int64_t)ms * 1000;
    } else {
        platform_wait((unsigned)ms);
    }
}

// Waits for `count` pictures of a 70 Hz screen, though an event may cut each sleep short.
void I_WaitVBL(int count)
{
    int end = I_GetTimeMS() + count * 1000 / 70;
    for (int left = count * 1000 / 70; left > 0; left = end - I_GetTimeMS()) {
        I_Sleep(left);
    }
}
